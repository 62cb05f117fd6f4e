//! What of a question is kept until its answer is there: the file may be gone by then.

use serde::{Deserialize, Serialize};

use super::super::document::Prepared;
use super::super::worker::part_answers;
use super::super::{Shared, question};
use crate::model::{AttemptStep, JobKind};
use crate::provider::{DocumentContent, Failure, Request, RequestDocument};
use crate::store::ClaimedJob;

/// What was sent of a document.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Asked {
    pages: Option<u32>,
    first_page: u32,
    pages_in_all: Option<u32>,
    /// The characters of each page, where its text was sent: citations count them.
    characters: Option<Vec<usize>>,
}

/// Returns what is to be kept of a question, as JSON.
pub(super) fn remembered(prepared: Option<&Prepared>) -> String {
    let asked = prepared.map_or_else(Asked::default, |prepared| Asked {
        pages: prepared.document.pages,
        first_page: prepared.document.first_page,
        pages_in_all: prepared.pages_in_all,
        characters: match &prepared.document.content {
            DocumentContent::File { .. } | DocumentContent::Uploaded { .. } => None,
            DocumentContent::Text(pages) => Some(
                pages
                    .iter()
                    .map(|page| page.trim_end().chars().count())
                    .collect(),
            ),
        },
    });
    serde_json::to_string(&asked).unwrap_or_else(|_| "{}".to_owned())
}

/// Returns a question as far as its answer is read with it.
pub(super) async fn request(
    shared: &Shared,
    job: &ClaimedJob,
    asked: &str,
) -> Result<Request, Failure> {
    if job.kind == JobKind::Prompt {
        return Ok(question::request(job, None));
    }
    if job.step == AttemptStep::Combine {
        return Ok(question::combining(job, &part_answers(shared, job).await?));
    }
    let Asked {
        pages,
        first_page,
        pages_in_all,
        characters,
    } = serde_json::from_str(asked).unwrap_or_default();
    let content = match characters {
        // Where something stands in a text depends on its length alone.
        Some(characters) => DocumentContent::Text(
            characters
                .into_iter()
                .map(|count| "x".repeat(count))
                .collect(),
        ),
        None => DocumentContent::File {
            path: job.source_path.clone().unwrap_or_default().into(),
            bytes: job.source_bytes.unwrap_or_default(),
        },
    };
    let document = RequestDocument {
        content,
        pages,
        first_page: first_page.max(1),
        name: job.title.clone(),
    };
    let prepared = Prepared::remembered(document, pages_in_all);
    Ok(question::request(job, Some(&prepared)))
}
