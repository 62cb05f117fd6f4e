//! The parts of long documents: planned with the job, asked one at a time, each answer kept for good.
//!
//! A part that is answered is never asked again while the question stays the same: its answer, its
//! settlement and the job's way back in line are one transaction.

mod planning;

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};

use super::candidate::document_text;
use super::finish::{AttemptEnd, close_attempt, end_attempt, holds, record_cost};
use super::ledger::{self, Settlement};
use super::{Changes, Lease, NewAnswer, Result, Store, circuits, rows};
use crate::model::{AttemptOutcome, Cause, Finding, PageRange, Passage, Provider, Timestamp};
use crate::parts::{self, Part};

use planning::measures_of_job;
pub(super) use planning::{calls_left, plan_again, planned, remember_measures};

/// Most parts that a document is divided into after it turned out to be larger than expected.
const MOST_DIVIDED: u32 = 256;

/// The answer of a part, as it is put together with the others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartAnswer {
    pub(crate) pages: PageRange,
    pub(crate) body: String,
    pub(crate) review: Option<(Cause, String)>,
    pub(crate) passages: Vec<Passage>,
}

impl Store {
    /// Keeps the answer of a part and puts its job back in line, for the next part or for combining. Says
    /// whether the lease held.
    pub(crate) async fn keep_part(
        &self,
        lease: Lease,
        pages: PageRange,
        answer: NewAnswer,
        settlement: Settlement,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(move |connection| keep_part(connection, &lease, pages, &answer, settlement, now))
            .await
    }

    /// Returns the answers of a job's parts, in the order of their pages.
    pub(crate) async fn part_answers(&self, lease: Lease) -> Result<Vec<PartAnswer>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT first_page, last_page, body, review_code, review, passages FROM parts
                 WHERE job_id = ?1 AND body IS NOT NULL ORDER BY first_page",
            )?;
            let found = statement.query_map([lease.job_id.as_str()], |row| {
                Ok(PartAnswer {
                    pages: range(row, 0)?,
                    body: row.get(2)?,
                    review: rows::cause(row, 3)?.zip(row.get(4)?),
                    passages: rows::json(row, 5)?,
                })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Divides what an attempt asked about, since one call does not take it, and ends the attempt uncounted:
    /// a part in two halves, a whole document in parts. Says whether it could be divided; what is not, has an
    /// attempt that goes on.
    pub(crate) async fn divide(
        &self,
        lease: Lease,
        provider: Provider,
        pages: Option<PageRange>,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(move |connection| divide(connection, &lease, provider, pages, &end, now))
            .await
    }

    /// Returns the parts that a job would be asked in, as far as its document is known, or what speaks
    /// against it.
    pub(crate) async fn planned_parts(
        &self,
        lease: Lease,
    ) -> Result<std::result::Result<Vec<Part>, Finding>> {
        self.read(move |connection| planned(connection, lease.job_id.as_str(), &Changes::default()))
            .await
    }
}

fn range(row: &Row<'_>, at: usize) -> rusqlite::Result<PageRange> {
    Ok(PageRange {
        first: row.get(at)?,
        last: row.get(at + 1)?,
    })
}

/// Returns the first part of a job that has no answer.
pub(super) fn next(connection: &Connection, job_id: &str) -> Result<Option<PageRange>> {
    Ok(connection
        .prepare_cached(
            "SELECT first_page, last_page FROM parts
             WHERE job_id = ?1 AND answered_at IS NULL ORDER BY first_page LIMIT 1",
        )?
        .query_row([job_id], |row| range(row, 0))
        .optional()?)
}

pub(super) fn keep_part(
    connection: &Connection,
    lease: &Lease,
    pages: PageRange,
    answer: &NewAnswer,
    settlement: Settlement,
    now: Timestamp,
) -> Result<bool> {
    // What it cost is recorded in any case, also for a finisher whose lease was lost.
    record_cost(
        connection,
        lease,
        Some(answer.input_tokens),
        Some(answer.output_tokens),
        answer.cost_micros,
    )?;
    ledger::settle(connection, lease, settlement, now)?;
    connection
        .prepare_cached("UPDATE attempts SET request_id = ?3 WHERE job_id = ?1 AND lease_id = ?2")?
        .execute((lease.job_id.as_str(), &lease.lease_id, &answer.request_id))?;
    if !holds(connection, lease)? {
        return Ok(false);
    }
    let kept = connection
        .prepare_cached(
            "UPDATE parts SET body = :body, model = :model, stop_reason = :stop_reason,
                 request_id = :request_id, input_tokens = :input, output_tokens = :output,
                 cost_micros = :cost, review_code = :review_code, review = :review, passages = :passages,
                 answered_at = :now
             WHERE job_id = :job AND first_page = :first AND last_page = :last AND answered_at IS NULL",
        )?
        .execute(named_params! {
            ":job": lease.job_id.as_str(),
            ":first": pages.first,
            ":last": pages.last,
            ":body": answer.body,
            ":model": answer.model,
            ":stop_reason": answer.stop_reason,
            ":request_id": answer.request_id,
            ":input": answer.input_tokens.cast_signed(),
            ":output": answer.output_tokens.cast_signed(),
            ":cost": answer.cost_micros,
            ":review_code": answer.review.as_ref().map(|(cause, _)| cause.key()),
            ":review": answer.review.as_ref().map(|(_, message)| message.as_str()),
            ":passages": rows::to_json(&answer.passages)?,
            ":now": now.0,
        })?;
    let outcome = match answer.review {
        Some(_) => AttemptOutcome::NeedsReview,
        None => AttemptOutcome::Completed,
    };
    let review = answer.review.as_ref();
    close_attempt(
        connection,
        lease,
        outcome,
        review.map(|(cause, _)| cause.key()).as_deref(),
        review.map(|(_, message)| message.as_str()),
        now,
    )?;
    // It keeps its place in line, so that the document under way is finished first.
    connection
        .prepare_cached(
            "UPDATE jobs SET status = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'pending' END,
                 completed_at = CASE WHEN cancel_requested THEN ?3 END,
                 lease_id = NULL, lease_expires_at = NULL, waiting_since = ?3,
                 attempts_before = attempts, parts_done = parts_done + ?4,
                 error_code = NULL, error = NULL, ran_ms = ran_ms + max(0, ?3 - started_at)
             WHERE job_id = ?1 AND status = 'running' AND lease_id = ?2",
        )?
        .execute((lease.job_id.as_str(), &lease.lease_id, now.0, kept == 1))?;
    circuits::passed(connection, lease, Provider::Claude)?;
    if is_cancelled(connection, lease)? {
        super::outbox::batch_completed(connection, &lease.job_id, now)?;
    }
    Ok(true)
}

fn is_cancelled(connection: &Connection, lease: &Lease) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT status = 'cancelled' FROM jobs WHERE job_id = ?1")?
        .query_row([lease.job_id.as_str()], |row| row.get(0))?)
}

pub(super) fn divide(
    connection: &Connection,
    lease: &Lease,
    provider: Provider,
    pages: Option<PageRange>,
    end: &AttemptEnd,
    now: Timestamp,
) -> Result<bool> {
    let job_id = lease.job_id.as_str();
    if !holds(connection, lease)? || has_many(connection, job_id)? {
        return Ok(false);
    }
    match pages {
        Some(pages) => {
            let Some(part) = part(connection, job_id, pages)? else {
                return Ok(false);
            };
            let measures = measures_of_job(connection, job_id)?;
            let Some(halves) = parts::halves(&part, measures.as_ref()) else {
                return Ok(false);
            };
            connection
                .prepare_cached("DELETE FROM parts WHERE job_id = ?1 AND first_page = ?2")?
                .execute((job_id, pages.first))?;
            insert(connection, job_id, &halves)?;
        }
        None => {
            let whole = whole(connection, job_id)?;
            let parts = match planned(connection, job_id, &Changes::default())? {
                Ok(parts) if !parts.is_empty() => parts,
                Ok(_) => match whole.and_then(|whole| parts::halves(&whole, None)) {
                    Some(halves) => halves.to_vec(),
                    None => return Ok(false),
                },
                Err(_) => return Ok(false),
            };
            insert(connection, job_id, &parts)?;
        }
    }
    count(connection, job_id)?;
    end_attempt(connection, lease, provider, end, now)
}

fn has_many(connection: &Connection, job_id: &str) -> Result<bool> {
    Ok(connection
        .prepare_cached("SELECT parts >= ?2 FROM jobs WHERE job_id = ?1")?
        .query_row((job_id, MOST_DIVIDED), |row| row.get(0))?)
}

/// Gives a job the parts that it is asked in, all of them without an answer.
pub(super) fn insert(connection: &Connection, job_id: &str, parts: &[Part]) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO parts (job_id, first_page, last_page, text_pages, letters, ideographs)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for part in parts {
        statement.execute((
            job_id,
            part.pages.first,
            part.pages.last,
            part.text.map(|text| text.pages.cast_signed()),
            part.text.map(|text| text.letters.cast_signed()),
            part.text.map(|text| text.ideographs.cast_signed()),
        ))?;
    }
    Ok(())
}

/// Counts the parts of a job anew.
pub(super) fn count(connection: &Connection, job_id: &str) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET (parts, parts_done) =
                 (SELECT count(*), count(answered_at) FROM parts AS p WHERE p.job_id = jobs.job_id)
             WHERE job_id = ?1",
        )?
        .execute([job_id])?;
    Ok(())
}

fn part(connection: &Connection, job_id: &str, pages: PageRange) -> Result<Option<Part>> {
    Ok(connection
        .prepare_cached(
            "SELECT json_array(last_page - first_page + 1, text_pages, letters, ideographs,
                        (SELECT all_read FROM documents AS d JOIN jobs AS j ON d.sha256 = j.document_sha256
                         WHERE j.job_id = parts.job_id))
             FROM parts
             WHERE job_id = ?1 AND first_page = ?2 AND last_page = ?3 AND answered_at IS NULL",
        )?
        .query_row((job_id, pages.first, pages.last), |row| {
            Ok(Part {
                pages,
                text: document_text(rows::json(row, 0)?),
            })
        })
        .optional()?)
}

/// Returns a whole document as if it were a part; `None` where nobody could count its pages.
fn whole(connection: &Connection, job_id: &str) -> Result<Option<Part>> {
    Ok(connection
        .prepare_cached(
            "SELECT d.pages, json_array(d.pages, d.text_pages, d.letters, d.ideographs, d.all_read)
             FROM jobs AS j JOIN documents AS d ON d.sha256 = j.document_sha256 WHERE j.job_id = ?1",
        )?
        .query_row([job_id], |row| {
            let pages: Option<u32> = row.get(0)?;
            let text = document_text(rows::json(row, 1)?);
            Ok(pages.filter(|pages| *pages > 0).map(|last| Part {
                pages: PageRange { first: 1, last },
                text,
            }))
        })
        .optional()?
        .flatten())
}
