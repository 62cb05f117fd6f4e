//! Jobs with their results as other programs get them, a page at a time.

use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::results::reused_from;
use super::{Result, Store, actions, rows, search};
use crate::model::{
    Cause, JobKind, JobStatus, Provider, ResultFormat, ReusedFrom, Selection, Sha256,
    TemplateField, Timestamp, Variables,
};

/// A job as it is exported.
#[derive(Clone, Debug)]
pub(crate) struct ExportRow {
    /// Its place: the next page begins after it.
    pub(crate) seq: i64,
    pub(crate) job_id: String,
    pub(crate) batch_id: String,
    pub(crate) batch_name: String,
    pub(crate) kind: JobKind,
    pub(crate) title: String,
    pub(crate) source_path: Option<String>,
    pub(crate) prompt: Option<String>,
    pub(crate) status: JobStatus,
    /// Id with version; that of the result, where there is one.
    pub(crate) template: Option<String>,
    pub(crate) variables: Variables,
    pub(crate) provider: Provider,
    /// The model that answered, else the one that is asked.
    pub(crate) model: String,
    pub(crate) pages: Option<u32>,
    /// Deliveries of all its runs.
    pub(crate) attempts: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// `None` when a part of it is not known.
    pub(crate) cost_micros: Option<i64>,
    pub(crate) created_at: Timestamp,
    pub(crate) completed_at: Option<Timestamp>,
    pub(crate) cause: Option<Cause>,
    pub(crate) error: Option<String>,
    pub(crate) document_sha256: Option<String>,
    pub(crate) result: Option<ExportResult>,
}

/// The newest result of a job.
#[derive(Clone, Debug)]
pub(crate) struct ExportResult {
    pub(crate) key: String,
    pub(crate) format: ResultFormat,
    pub(crate) sha256: Sha256,
    pub(crate) generation: u32,
    pub(crate) stop_reason: Option<String>,
    pub(crate) copy_path: Option<String>,
    pub(crate) remote_address: Option<String>,
    pub(crate) reused_from: Option<ReusedFrom>,
    pub(crate) created_at: Timestamp,
}

/// A job in the contents of a document.
#[derive(Clone, Debug)]
pub(crate) struct ExportTitle {
    pub(crate) seq: i64,
    pub(crate) title: String,
    pub(crate) status: JobStatus,
    pub(crate) error: Option<String>,
    pub(crate) has_result: bool,
}

/// What is known of a selection before its jobs are read.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExportOutline {
    /// The newest place; jobs that are added later are not meant.
    pub(crate) up_to: i64,
    /// How many jobs there are in each state.
    pub(crate) counts: Vec<(JobStatus, u64)>,
    /// Templates with fields (id with version), in the order of the first job of each.
    pub(crate) templates: Vec<(String, Vec<TemplateField>)>,
}

/// A result is that of its own template, which a later run may have changed.
const TABLES: &str = "jobs AS j LEFT JOIN results AS r USING (result_id)";
const TEMPLATE_ID: &str = "coalesce(r.template_id, j.template_id)";
const TEMPLATE_VERSION: &str = "coalesce(r.template_version, j.template_version)";

impl Store {
    /// Returns what is known of a selection before its jobs are read.
    pub(crate) async fn export_outline(&self, selection: Selection) -> Result<ExportOutline> {
        self.read(move |connection| outline(connection, &selection))
            .await
    }

    /// Returns at most `limit` jobs of a selection behind the place `after`, in their order.
    pub(crate) async fn export_page(
        &self,
        selection: Selection,
        after: i64,
        up_to: i64,
        limit: u32,
    ) -> Result<Vec<ExportRow>> {
        self.read(move |connection| {
            let columns = format!(
                "j.seq, j.job_id, j.batch_id,
                 (SELECT name FROM batches AS b WHERE b.batch_id = j.batch_id), j.kind, j.title,
                 j.source_path, j.prompt, j.status, {TEMPLATE_ID} || '-v' || {TEMPLATE_VERSION},
                 j.variables, coalesce(r.provider, j.provider), coalesce(r.model, j.model),
                 (SELECT pages FROM documents WHERE sha256 = j.document_sha256),
                 (SELECT count(*) FROM attempts AS a WHERE a.job_id = j.job_id),
                 j.input_tokens, j.output_tokens, CASE WHEN j.cost_unknown THEN NULL
                 ELSE j.cost_micros END, j.created_at, j.completed_at, j.error_code, j.error,
                 j.document_sha256, r.key, r.format, r.sha256, r.generation, r.stop_reason,
                 r.copy_path, r.remote_address, r.reused_from, r.reused_at, r.created_at"
            );
            page(connection, &selection, &columns, [after, up_to], limit, row)
        })
        .await
    }

    /// Returns the titles of at most `limit` jobs of a selection behind the place `after`, in their order.
    pub(crate) async fn export_titles(
        &self,
        selection: Selection,
        after: i64,
        up_to: i64,
        limit: u32,
    ) -> Result<Vec<ExportTitle>> {
        self.read(move |connection| {
            let columns = "j.seq, j.title, j.status, j.error, r.result_id IS NOT NULL";
            page(
                connection,
                &selection,
                columns,
                [after, up_to],
                limit,
                title,
            )
        })
        .await
    }
}

/// Reads `columns` of the jobs of a selection within places.
fn page<T>(
    connection: &Connection,
    selection: &Selection,
    columns: &str,
    [after, up_to]: [i64; 2],
    limit: u32,
    read: fn(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>> {
    let (condition, mut values) = actions::chosen(selection);
    values.extend([after, up_to, i64::from(limit)].map(Value::from));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {columns} FROM {TABLES}
         WHERE {condition} AND j.seq > ? AND j.seq <= ? ORDER BY j.seq LIMIT ?"
    ))?;
    let found = statement.query_map(params_from_iter(values), read)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn outline(connection: &Connection, selection: &Selection) -> Result<ExportOutline> {
    let (condition, values) = actions::chosen(selection);
    let up_to = connection
        .prepare_cached("SELECT coalesce(max(seq), 0) FROM jobs")?
        .query_row([], |row| row.get(0))?;
    let mut counts = Vec::new();
    for status in JobStatus::ALL {
        let sql = format!(
            "SELECT count(*) FROM jobs AS j WHERE {condition} AND j.status = '{}'",
            status.as_str()
        );
        let jobs = search::count(connection, &sql, &values)?;
        if jobs > 0 {
            counts.push((status, jobs));
        }
    }
    // Only these read the results; most selections have none of them.
    let has_fields: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM templates WHERE kind = 'fields')")?
        .query_row([], |row| row.get(0))?;
    let mut templates = Vec::new();
    if has_fields {
        let mut statement = connection.prepare_cached(&format!(
            "SELECT t.template_id || '-v' || t.version, t.fields
             FROM (SELECT {TEMPLATE_ID} AS template_id, {TEMPLATE_VERSION} AS version,
                          min(j.seq) AS first
                   FROM {TABLES} WHERE {condition} GROUP BY 1, 2) AS u
                  JOIN templates AS t USING (template_id, version)
             WHERE t.kind = 'fields' ORDER BY u.first"
        ))?;
        templates = statement
            .query_map(params_from_iter(&values), |row| {
                Ok((row.get(0)?, rows::json(row, 1)?))
            })?
            .collect::<rusqlite::Result<_>>()?;
    }
    Ok(ExportOutline {
        up_to,
        counts,
        templates,
    })
}

fn row(row: &Row<'_>) -> rusqlite::Result<ExportRow> {
    let key: Option<String> = row.get(23)?;
    Ok(ExportRow {
        seq: row.get(0)?,
        job_id: row.get(1)?,
        batch_id: row.get(2)?,
        batch_name: row.get(3)?,
        kind: rows::kind(row, 4)?,
        title: row.get(5)?,
        source_path: row.get(6)?,
        prompt: row.get(7)?,
        status: rows::status(row, 8)?,
        template: row.get(9)?,
        variables: rows::json(row, 10)?,
        provider: rows::provider(row, 11)?,
        model: row.get(12)?,
        pages: row.get(13)?,
        attempts: rows::unsigned(row, 14)?,
        input_tokens: rows::unsigned(row, 15)?,
        output_tokens: rows::unsigned(row, 16)?,
        cost_micros: row.get(17)?,
        created_at: rows::timestamp(row, 18)?,
        completed_at: rows::optional_timestamp(row, 19)?,
        cause: rows::cause(row, 20)?,
        error: row.get(21)?,
        document_sha256: row.get(22)?,
        result: key.map(|key| result(row, key)).transpose()?,
    })
}

fn result(row: &Row<'_>, key: String) -> rusqlite::Result<ExportResult> {
    Ok(ExportResult {
        key,
        format: rows::result_format(row, 24)?,
        sha256: Sha256(row.get(25)?),
        generation: row.get(26)?,
        stop_reason: row.get(27)?,
        copy_path: row.get(28)?,
        remote_address: row.get(29)?,
        reused_from: reused_from(row, 30)?,
        created_at: rows::timestamp(row, 32)?,
    })
}

fn title(row: &Row<'_>) -> rusqlite::Result<ExportTitle> {
    Ok(ExportTitle {
        seq: row.get(0)?,
        title: row.get(1)?,
        status: rows::status(row, 2)?,
        error: row.get(3)?,
        has_result: row.get(4)?,
    })
}
