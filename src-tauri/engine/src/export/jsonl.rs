//! One JSON object a line, for programs.

use std::io;

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Content, Item, words};
use crate::model::{Cause, JobKind, JobStatus, Provider, ResultFormat, Variables};
use crate::results::Library;

/// Lines under way.
pub(super) struct Lines {
    pub(super) library: Library,
}

/// A job. Moments are RFC 3339 in UTC; what there is none of is null.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'item> {
    job_id: &'item str,
    batch_id: &'item str,
    batch: &'item str,
    kind: JobKind,
    file: &'item str,
    path: Option<&'item str>,
    prompt: Option<&'item str>,
    status: JobStatus,
    template: Option<&'item str>,
    variables: &'item Variables,
    provider: Provider,
    model: &'item str,
    pages: Option<u32>,
    attempts: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// Null when a part of it is not known.
    cost_micros: Option<i64>,
    created_at: String,
    completed_at: Option<String>,
    cause: Option<Cause>,
    error: Option<&'item str>,
    document_sha256: Option<&'item str>,
    result: Option<ResultPart<'item>>,
    /// The fields by name.
    fields: Option<Map<String, Value>>,
    /// The text, without the line that says where it comes from.
    summary: Option<&'item str>,
}

/// The newest result of a job.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultPart<'item> {
    path: String,
    copy_path: Option<&'item str>,
    upload_address: Option<&'item str>,
    format: ResultFormat,
    sha256: &'item str,
    generation: u32,
    stop_reason: Option<&'item str>,
    created_at: String,
    reused_from: Option<&'item str>,
    /// Why it could not be read, if it could not.
    unreadable: Option<&'item str>,
}

impl Lines {
    pub(super) fn items(&self, out: &mut dyn io::Write, items: &[Item]) -> io::Result<()> {
        for item in items {
            serde_json::to_writer(&mut *out, &self.line(item))?;
            out.write_all(b"\n")?;
        }
        Ok(())
    }

    fn line<'item>(&self, item: &'item Item) -> Line<'item> {
        let row = &item.row;
        let (fields, summary, unreadable) = match &item.content {
            Content::None => (None, None, None),
            Content::Text(text) => (None, Some(text.as_str()), None),
            Content::Fields(values) => (Some(values.iter().cloned().collect()), None, None),
            Content::Unreadable(reason) => (None, None, Some(reason.as_str())),
        };
        Line {
            job_id: &row.job_id,
            batch_id: &row.batch_id,
            batch: &row.batch_name,
            kind: row.kind,
            file: &row.title,
            path: row.source_path.as_deref(),
            prompt: row.prompt.as_deref(),
            status: row.status,
            template: row.template.as_deref(),
            variables: &row.variables,
            provider: row.provider,
            model: &row.model,
            pages: row.pages,
            attempts: row.attempts,
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            cost_micros: row.cost_micros,
            created_at: words::moment(row.created_at),
            completed_at: row.completed_at.map(words::moment),
            cause: row.cause,
            error: row.error.as_deref(),
            document_sha256: row.document_sha256.as_deref(),
            result: row.result.as_ref().map(|result| ResultPart {
                path: self
                    .library
                    .path(&result.key)
                    .to_string_lossy()
                    .into_owned(),
                copy_path: result.copy_path.as_deref(),
                upload_address: result.remote_address.as_deref(),
                format: result.format,
                sha256: result.sha256.as_str(),
                generation: result.generation,
                stop_reason: result.stop_reason.as_deref(),
                created_at: words::moment(result.created_at),
                reused_from: result.reused_from.as_ref().map(|from| from.job_id.as_str()),
                unreadable,
            }),
            fields,
            summary,
        }
    }
}
