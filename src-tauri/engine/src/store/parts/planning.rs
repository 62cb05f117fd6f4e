//! What parts a job is asked in, and what its calls come to.

use rusqlite::{Connection, OptionalExtension as _};

use super::{count, insert};
use crate::error::EngineError;
use crate::model::{Finding, PageRange, Provider, Sha256};
use crate::parts::{self, Known, Part, Question};
use crate::pdf::{Measures, PageMeasure};
use crate::pricing::{DocumentWork, Estimate, Work, estimate_knowing};
use crate::store::candidate::document_text;
use crate::store::{Changes, Result, learned, models, policy, rows};

/// Returns the parts that a job would be asked in, as far as its document is known.
///
/// `changes` are those with which it would run again.
pub(in crate::store) fn planned(
    connection: &Connection,
    job_id: &str,
    changes: &Changes,
) -> Result<std::result::Result<Vec<Part>, Finding>> {
    let found = connection
        .prepare_cached(
            "SELECT d.pages, d.bytes, json_array(d.pages, d.text_pages, d.letters, d.ideographs, d.all_read),
                    j.model, j.sends, octet_length(t.body), length(t.body), j.max_tokens
             FROM jobs AS j JOIN documents AS d ON d.sha256 = j.document_sha256
                  JOIN templates AS t ON t.template_id = j.template_id AND t.version = j.template_version
             WHERE j.job_id = ?1 AND coalesce(?2, j.provider) = 'claude' AND j.kind = 'pdf'",
        )?
        .query_row((job_id, changes.provider.map(Provider::as_str)), |row| {
            let document = Known {
                pages: row.get(0)?,
                bytes: rows::unsigned(row, 1)?,
                text: document_text(rows::json(row, 2)?),
                measures: None,
            };
            let model: String = row.get(3)?;
            let asked = (
                rows::sends(row, 4)?,
                rows::unsigned(row, 5)?,
                rows::unsigned(row, 6)?,
                row.get(7)?,
            );
            Ok((document, model, asked))
        })
        .optional()?;
    let Some((document, model, (sends, prompt_bytes, prompt_characters, max_tokens))) = found
    else {
        return Ok(Ok(Vec::new()));
    };
    let measures = measures_of_job(connection, job_id)?;
    let ceiling = models::ceiling(connection, changes.model.as_deref().unwrap_or(&model))?;
    let document = Known {
        measures: measures.as_ref(),
        ..document
    };
    let question = changed(
        Question {
            model: &model,
            sends,
            prompt_bytes,
            prompt_characters,
            max_tokens,
            ceiling,
        },
        changes,
    );
    Ok(parts::plan(
        &document,
        &question,
        policy::minute(connection)?,
    ))
}

/// Plans the parts of a job that begins a new run. Answers that serve again are kept where `keep` says that
/// the question is the same, but for those that a person had to look at.
pub(in crate::store) fn plan_again(
    connection: &Connection,
    job_id: &str,
    keep: bool,
) -> Result<()> {
    let forget = if keep {
        "UPDATE parts SET body = NULL, answered_at = NULL, review_code = NULL, review = NULL,
             model = NULL, stop_reason = NULL, request_id = NULL, input_tokens = 0, output_tokens = 0,
             cost_micros = NULL, passages = '[]'
         WHERE job_id = ?1 AND review_code IS NOT NULL"
    } else {
        "DELETE FROM parts WHERE job_id = ?1"
    };
    connection.prepare_cached(forget)?.execute([job_id])?;
    let answered: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM parts WHERE job_id = ?1 AND answered_at IS NOT NULL)",
        )?
        .query_row([job_id], |row| row.get(0))?;
    if !answered {
        connection
            .prepare_cached("DELETE FROM parts WHERE job_id = ?1")?
            .execute([job_id])?;
        // What speaks against the document is said when it is sent.
        let parts = planned(connection, job_id, &Changes::default())?.unwrap_or_default();
        insert(connection, job_id, &parts)?;
    }
    count(connection, job_id)
}

/// Returns what the calls take that are left of a job when it runs again with changes: one for a job that is
/// asked as a whole, else one for each part without an answer that serves again, and one to combine them.
pub(in crate::store) fn calls_left(
    connection: &Connection,
    job_id: &str,
    whole: &Work,
    model: &str,
    keep: bool,
    changes: &Changes,
) -> Result<Vec<Estimate>> {
    let ceiling = models::ceiling(connection, changes.model.as_deref().unwrap_or(model))?;
    let question = changed(
        Question {
            model,
            sends: whole
                .document
                .map(|document| document.sends)
                .unwrap_or_default(),
            prompt_bytes: whole.prompt_bytes,
            prompt_characters: whole.prompt_characters,
            max_tokens: whole.max_tokens,
            ceiling,
        },
        changes,
    );
    let answered: Vec<(u64, u64)> = if keep {
        let mut statement = connection.prepare_cached(
            "SELECT octet_length(body), length(body) FROM parts
             WHERE job_id = ?1 AND body IS NOT NULL AND review_code IS NULL",
        )?;
        let found = statement.query_map([job_id], |row| {
            Ok((rows::unsigned(row, 0)?, rows::unsigned(row, 1)?))
        })?;
        found.collect::<rusqlite::Result<_>>()?
    } else {
        Vec::new()
    };
    let waiting = if answered.is_empty() {
        planned(connection, job_id, changes)?.unwrap_or_default()
    } else {
        let mut statement = connection.prepare_cached(
            "SELECT first_page, last_page,
                    json_array(last_page - first_page + 1, text_pages, letters, ideographs,
                        (SELECT all_read FROM documents AS d JOIN jobs AS j ON d.sha256 = j.document_sha256
                         WHERE j.job_id = parts.job_id))
             FROM parts WHERE job_id = ?1 AND (body IS NULL OR review_code IS NOT NULL)",
        )?;
        let found = statement.query_map([job_id], |row| {
            Ok(Part {
                pages: PageRange {
                    first: row.get(0)?,
                    last: row.get(1)?,
                },
                text: document_text(rows::json(row, 2)?),
            })
        })?;
        found.collect::<rusqlite::Result<_>>()?
    };
    let learned = learned::of_job(
        connection,
        job_id,
        question.model,
        question.sends,
        changes.template.as_ref(),
    )?;
    if answered.is_empty() && waiting.is_empty() {
        let document = whole.document.map(|document| DocumentWork {
            sends: question.sends,
            ..document
        });
        let work = Work {
            document,
            prompt_bytes: question.prompt_bytes,
            prompt_characters: question.prompt_characters,
            max_tokens: question.max_tokens,
        };
        return Ok(vec![estimate_knowing(question.model, &work, &learned)]);
    }
    let mut calls: Vec<Estimate> = waiting.iter().map(|part| question.part(part)).collect();
    calls.push(question.combining(&answered, waiting.len() as u64));
    let output = learned.output.as_ref();
    Ok(calls
        .into_iter()
        .map(|call| call.expecting(output))
        .collect())
}

/// Returns what is asked with changes. What a call takes is that of the changed model already.
fn changed<'question>(
    question: Question<'question>,
    changes: &'question Changes,
) -> Question<'question> {
    let body = changes
        .template
        .as_ref()
        .map(|template| template.body.as_str());
    Question {
        model: changes.model.as_deref().unwrap_or(question.model),
        sends: changes.sends.unwrap_or(question.sends),
        prompt_bytes: body.map_or(question.prompt_bytes, |body| body.len() as u64),
        prompt_characters: body.map_or(question.prompt_characters, |body| {
            body.chars().count() as u64
        }),
        max_tokens: changes.max_tokens.unwrap_or(question.max_tokens),
        ceiling: question.ceiling,
    }
}

/// Remembers what each page of a document holds.
pub(in crate::store) fn remember_measures(
    connection: &Connection,
    document: &Sha256,
    measures: &Measures,
) -> Result<()> {
    let pages: Vec<(u32, u32, u64)> = measures
        .pages
        .iter()
        .map(|page| (page.letters, page.ideographs, page.bytes))
        .collect();
    let pages =
        serde_json::to_string(&pages).map_err(|error| EngineError::Internal(error.to_string()))?;
    connection
        .prepare_cached(
            "INSERT INTO document_pages (sha256, shared_bytes, pages) VALUES (?1, ?2, ?3)
             ON CONFLICT DO UPDATE SET shared_bytes = excluded.shared_bytes, pages = excluded.pages",
        )?
        .execute((document.as_str(), measures.shared_bytes.cast_signed(), pages))?;
    Ok(())
}

pub(super) fn measures_of_job(connection: &Connection, job_id: &str) -> Result<Option<Measures>> {
    Ok(connection
        .prepare_cached(
            "SELECT m.shared_bytes, m.pages
             FROM jobs AS j JOIN document_pages AS m ON m.sha256 = j.document_sha256
             WHERE j.job_id = ?1",
        )?
        .query_row([job_id], |row| {
            let pages: Vec<(u32, u32, u64)> = rows::json(row, 1)?;
            Ok(Measures {
                shared_bytes: rows::unsigned(row, 0)?,
                pages: pages
                    .into_iter()
                    .map(|(letters, ideographs, bytes)| PageMeasure {
                        letters,
                        ideographs,
                        bytes,
                    })
                    .collect(),
            })
        })
        .optional()?)
}
