//! Completing a job with its result.

use rusqlite::{Connection, named_params};

use super::finish::{close_attempt, holds, is_known};
use super::ledger::{self, Settlement};
use super::{Lease, NewAnswer, Result, Store, circuits, outbox, policy, rows};
use crate::model::{AttemptOutcome, JobStatus, Provider, Timestamp};

/// A result that lies in the store already.
#[derive(Clone, Debug)]
pub(crate) struct NewResult {
    pub(crate) key: String,
    pub(crate) sha256: String,
    pub(crate) bytes: u64,
    pub(crate) provider: Provider,
    pub(crate) template: Option<(String, u32)>,
    pub(crate) document_sha256: Option<String>,
    /// Digest of all that the answer depends on; `None` where it does not serve again.
    pub(crate) reuse_key: Option<String>,
    pub(crate) answer: NewAnswer,
    /// Whether a copy outside the library is wanted.
    pub(crate) copy_wanted: bool,
}

/// What becomes of a result after it was stored, beside its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Uploads {
    /// It stays on this machine.
    Nowhere,
    /// It is uploaded; the job is completed without it.
    Later,
    /// It is uploaded, and the job is completed with it.
    BeforeCompletion,
}

impl Store {
    /// Records the result and completes the job, in one transaction. Says whether the lease held.
    pub(crate) async fn complete(
        &self,
        lease: Lease,
        result: NewResult,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(move |connection| complete(connection, &lease, &result, now))
            .await
    }
}

pub(super) fn complete(
    connection: &Connection,
    lease: &Lease,
    result: &NewResult,
    now: Timestamp,
) -> Result<bool> {
    if !holds(connection, lease)? {
        return Ok(false);
    }
    let answer = &result.answer;
    let is_known = is_known(connection, lease)?;
    if result.provider != Provider::Offline && !is_known {
        // An attempt that only published a kept answer has asked nobody.
        ledger::settle(connection, lease, Settlement::Nothing { asked: false }, now)?;
    }
    let result_id: i64 = connection
        .prepare_cached(
            "INSERT INTO results (job_id, generation, store, key, sha256, bytes, provider, model,
                 template_id, template_version, stop_reason, request_id, document_sha256,
                 input_tokens, output_tokens, cost_micros, format, reuse_key, reused_from, reused_at,
                 passages, created_at)
             VALUES (:job, :generation, 'local', :key, :sha256, :bytes, :provider, :model,
                 :template, :version, :stop_reason, :request_id, :document,
                 :input, :output, :cost, :format, :reuse_key, :reused_from, :reused_at,
                 :passages, :now)
             RETURNING result_id",
        )?
        .query_row(
            named_params! {
                ":job": lease.job_id.as_str(),
                ":generation": lease.generation,
                ":key": result.key,
                ":sha256": result.sha256,
                ":bytes": result.bytes.cast_signed(),
                ":provider": result.provider.as_str(),
                ":model": answer.model,
                ":template": result.template.as_ref().map(|(id, _)| id.as_str()),
                ":version": result.template.as_ref().map(|(_, version)| *version),
                ":stop_reason": answer.stop_reason,
                ":request_id": answer.request_id,
                ":document": result.document_sha256,
                ":input": answer.input_tokens.cast_signed(),
                ":output": answer.output_tokens.cast_signed(),
                ":cost": answer.cost_micros,
                ":format": rows::result_format_word(answer.format),
                // Only what is complete serves again.
                ":reuse_key": result.reuse_key.as_ref().filter(|_| answer.review.is_none()),
                ":reused_from": answer.reused_from.as_ref().map(|from| from.job_id.as_str()),
                ":reused_at": answer.reused_from.as_ref().map(|from| from.stored_at.0),
                ":passages": rows::to_json(&answer.passages)?,
                ":now": now.0,
            },
            |row| row.get(0),
        )?;
    let uploads = match policy::bucket(connection)? {
        None => Uploads::Nowhere,
        Some(bucket) if bucket.wait_for_upload => Uploads::BeforeCompletion,
        Some(_) => Uploads::Later,
    };
    let (status, outcome) = match answer.review {
        Some(_) => (JobStatus::NeedsReview, AttemptOutcome::NeedsReview),
        None => (JobStatus::Completed, AttemptOutcome::Completed),
    };
    let (error_code, error) = answer
        .review
        .as_ref()
        .map_or((None, None), |(cause, message)| {
            (Some(cause.key()), Some(message.as_str()))
        });
    connection
        .prepare_cached(
            "UPDATE jobs SET status = CASE WHEN ?8 THEN 'pending' ELSE ?3 END, lease_id = NULL,
                 lease_expires_at = NULL, completed_at = CASE WHEN ?8 THEN NULL ELSE ?4 END,
                 held = CASE WHEN ?8 THEN held | 32 ELSE held END, waiting_since = ?4,
                 result_id = ?5, reused = ?9, error_code = ?6, error = ?7,
                 reviewed_at = NULL, review_code = NULL, review = NULL,
                 ran_ms = ran_ms + max(0, ?4 - started_at)
             WHERE job_id = ?1 AND status = 'running' AND lease_id = ?2",
        )?
        .execute((
            lease.job_id.as_str(),
            &lease.lease_id,
            status.as_str(),
            now.0,
            result_id,
            &error_code,
            error,
            uploads == Uploads::BeforeCompletion,
            answer.reused_from.is_some(),
        ))?;
    close_attempt(
        connection,
        lease,
        outcome,
        error_code.as_deref(),
        error,
        now,
    )?;
    connection
        .prepare_cached("DELETE FROM answers WHERE job_id = ?1 AND generation = ?2")?
        .execute((lease.job_id.as_str(), lease.generation))?;
    if result.copy_wanted {
        outbox::result_stored(connection, outbox::FOLDER, lease, now)?;
    }
    if uploads != Uploads::Nowhere {
        outbox::result_stored(connection, outbox::BUCKET, lease, now)?;
    }
    if result.provider == Provider::Offline || (is_known && answer.reused_from.is_none()) {
        circuits::passed(connection, lease, result.provider)?;
    } else {
        circuits::stored(connection, lease, result.provider)?;
    }
    outbox::batch_completed(connection, &lease.job_id, now)?;
    Ok(true)
}
