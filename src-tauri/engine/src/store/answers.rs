//! Answers that were paid for and whose results are not stored yet.

use rusqlite::{Connection, OptionalExtension as _, named_params};

use super::finish::{holds, record_cost};
use super::ledger::{self, Settlement};
use super::{Lease, Result, Store, rows};
use crate::model::{Cause, Passage, ResultFormat, ReusedFrom, Timestamp};

/// An answer to be kept before its result is stored.
#[derive(Clone, Debug)]
pub(crate) struct NewAnswer {
    pub(crate) body: String,
    pub(crate) model: String,
    pub(crate) stop_reason: Option<String>,
    pub(crate) request_id: Option<String>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    /// `None` when the model has no known price.
    pub(crate) cost_micros: Option<i64>,
    pub(crate) review: Option<(Cause, String)>,
    pub(crate) format: ResultFormat,
    /// The job whose result this was, where nobody was asked.
    pub(crate) reused_from: Option<ReusedFrom>,
    /// What the provider cited of the document.
    pub(crate) passages: Vec<Passage>,
}

impl Store {
    /// Keeps an answer that came, before its result is stored. Says whether the lease still holds.
    pub(crate) async fn keep_answer(
        &self,
        lease: Lease,
        answer: NewAnswer,
        settlement: Settlement,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(move |connection| keep_answer(connection, &lease, &answer, settlement, now))
            .await
    }

    /// Returns the answer that was kept for this run of the job, if there is one.
    pub(crate) async fn kept_answer(&self, lease: Lease) -> Result<Option<NewAnswer>> {
        self.read(move |connection| {
            Ok(connection
                .prepare_cached(
                    "SELECT body, model, stop_reason, request_id, input_tokens, output_tokens,
                            cost_micros, review_code, review, format, reused_from, reused_at,
                            passages
                     FROM answers WHERE job_id = ?1 AND generation = ?2",
                )?
                .query_row((lease.job_id.as_str(), lease.generation), |row| {
                    let review_cause = rows::cause(row, 7)?;
                    let review: Option<String> = row.get(8)?;
                    Ok(NewAnswer {
                        body: row.get(0)?,
                        model: row.get(1)?,
                        stop_reason: row.get(2)?,
                        request_id: row.get(3)?,
                        input_tokens: rows::unsigned(row, 4)?,
                        output_tokens: rows::unsigned(row, 5)?,
                        cost_micros: row.get(6)?,
                        review: review_cause.zip(review),
                        format: rows::result_format(row, 9)?,
                        reused_from: super::results::reused_from(row, 10)?,
                        passages: rows::json(row, 12)?,
                    })
                })
                .optional()?)
        })
        .await
    }
}

pub(super) fn keep_answer(
    connection: &Connection,
    lease: &Lease,
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
    insert(
        connection,
        lease.job_id.as_str(),
        lease.generation,
        answer,
        now,
    )?;
    Ok(true)
}

/// Keeps an answer for a run of a job.
pub(super) fn insert(
    connection: &Connection,
    job_id: &str,
    generation: u32,
    answer: &NewAnswer,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT OR IGNORE INTO answers (job_id, generation, body, model, stop_reason, request_id,
                 input_tokens, output_tokens, cost_micros, review_code, review, format, reused_from,
                 reused_at, passages, created_at)
             VALUES (:job, :generation, :body, :model, :stop_reason, :request_id,
                 :input, :output, :cost, :review_code, :review, :format, :reused_from, :reused_at,
                 :passages, :now)",
        )?
        .execute(named_params! {
            ":job": job_id,
            ":generation": generation,
            ":body": answer.body,
            ":model": answer.model,
            ":stop_reason": answer.stop_reason,
            ":request_id": answer.request_id,
            ":input": answer.input_tokens.cast_signed(),
            ":output": answer.output_tokens.cast_signed(),
            ":cost": answer.cost_micros,
            ":review_code": answer.review.as_ref().map(|(cause, _)| cause.key()),
            ":review": answer.review.as_ref().map(|(_, message)| message.as_str()),
            ":format": rows::result_format_word(answer.format),
            ":reused_from": answer.reused_from.as_ref().map(|from| from.job_id.as_str()),
            ":reused_at": answer.reused_from.as_ref().map(|from| from.stored_at.0),
            ":passages": rows::to_json(&answer.passages)?,
            ":now": now.0,
        })?;
    Ok(())
}
