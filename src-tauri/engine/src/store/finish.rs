//! Ending attempts: every change here names the lease it expects.
//!
//! A finisher whose lease was lost changes nothing but the record of what its call cost.

use std::time::Duration;

use rusqlite::{Connection, named_params};

use super::ledger::{self, Settlement};
use super::{Lease, Result, Store, circuits, outbox};
use crate::model::{AttemptOutcome, Cause, JobStatus, Provider, Timestamp};

/// How an attempt ends without a result.
#[derive(Clone, Debug)]
pub(crate) struct AttemptEnd {
    pub(crate) outcome: AttemptOutcome,
    pub(crate) cause: Cause,
    pub(crate) message: String,
    pub(crate) http_status: Option<u16>,
    pub(crate) request_id: Option<String>,
    pub(crate) told_to_wait_ms: Option<u64>,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
    /// What it cost; `None` when that is unknown.
    pub(crate) cost_micros: Option<i64>,
    /// What becomes of what the call was promised.
    pub(crate) settlement: Settlement,
    /// What becomes of the job.
    pub(crate) next: AfterAttempt,
}

/// What becomes of a job after an attempt without a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AfterAttempt {
    /// Delivered again at a moment.
    RetryAt(Timestamp),
    /// Delivered again; the attempt is not counted.
    Deferred {
        /// Whether something stands in the way of every job of the provider.
        open_circuit: bool,
    },
    /// A permanent error.
    Failed,
    /// Out of retries.
    DeadLettered,
    /// Called off.
    Cancelled,
}

impl AfterAttempt {
    /// Says whether the job goes back in its queue.
    fn delivers_again(self) -> bool {
        matches!(self, Self::RetryAt(_) | Self::Deferred { .. })
    }
}

impl Store {
    /// Ends an attempt without a result. Says whether the lease held.
    pub(crate) async fn end_attempt(
        &self,
        lease: Lease,
        provider: Provider,
        end: AttemptEnd,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(move |connection| end_attempt(connection, &lease, provider, &end, now))
            .await
    }
}

/// Says whether the lease still holds its job.
pub(super) fn holds(connection: &Connection, lease: &Lease) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM jobs
                            WHERE job_id = ?1 AND status = 'running' AND lease_id = ?2)",
        )?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| row.get(0))?)
}

/// Says whether somebody wants the job cancelled, and no answer of it is paid for.
pub(super) fn is_unwanted(connection: &Connection, lease: &Lease) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM jobs WHERE job_id = ?1 AND cancel_requested = 1)
                AND NOT EXISTS (SELECT 1 FROM answers WHERE job_id = ?1 AND generation = ?2)",
        )?
        .query_row((lease.job_id.as_str(), lease.generation), |row| row.get(0))?)
}

/// Says whether what an attempt used is recorded already.
pub(super) fn is_known(connection: &Connection, lease: &Lease) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM attempts
                            WHERE job_id = ?1 AND lease_id = ?2 AND input_tokens IS NOT NULL)",
        )?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| row.get(0))?)
}

/// Adds what an attempt used to itself and to its job, once.
pub(super) fn record_cost(
    connection: &Connection,
    lease: &Lease,
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cost_micros: Option<i64>,
) -> Result<()> {
    let recorded = connection
        .prepare_cached(
            "UPDATE attempts SET input_tokens = ?3, output_tokens = ?4, cost_micros = ?5
             WHERE job_id = ?1 AND lease_id = ?2 AND input_tokens IS NULL",
        )?
        .execute((
            lease.job_id.as_str(),
            &lease.lease_id,
            input_tokens.map(u64::cast_signed),
            output_tokens.map(u64::cast_signed),
            cost_micros,
        ))?;
    if recorded == 1 {
        connection
            .prepare_cached(
                "UPDATE jobs SET input_tokens = input_tokens + coalesce(?2, 0),
                     output_tokens = output_tokens + coalesce(?3, 0),
                     cost_micros = cost_micros + coalesce(?4, 0),
                     cost_unknown = max(cost_unknown, ?4 IS NULL)
                 WHERE job_id = ?1",
            )?
            .execute((
                lease.job_id.as_str(),
                input_tokens.map(u64::cast_signed),
                output_tokens.map(u64::cast_signed),
                cost_micros,
            ))?;
    }
    Ok(())
}

pub(super) fn close_attempt(
    connection: &Connection,
    lease: &Lease,
    outcome: AttemptOutcome,
    error_code: Option<&str>,
    message: Option<&str>,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE attempts SET outcome = ?3, ended_at = ?4, error_code = ?5, message = ?6,
                 -- One that only published an answer from before has cost nothing itself.
                 cost_micros = CASE WHEN input_tokens IS NULL AND ?7 THEN 0 ELSE cost_micros END,
                 output_tokens = CASE WHEN input_tokens IS NULL AND ?7 THEN 0 ELSE output_tokens END,
                 input_tokens = CASE WHEN input_tokens IS NULL AND ?7 THEN 0 ELSE input_tokens END
             WHERE job_id = ?1 AND lease_id = ?2 AND outcome = 'running'",
        )?
        .execute((
            lease.job_id.as_str(),
            &lease.lease_id,
            outcome.as_str(),
            now.0,
            error_code,
            message,
            matches!(
                outcome,
                AttemptOutcome::Completed | AttemptOutcome::NeedsReview
            ),
        ))?;
    Ok(())
}

pub(super) fn end_attempt(
    connection: &Connection,
    lease: &Lease,
    provider: Provider,
    end: &AttemptEnd,
    now: Timestamp,
) -> Result<bool> {
    // Where its answer was kept, only storing the result has failed: the call is settled.
    if !is_known(connection, lease)? {
        record_cost(
            connection,
            lease,
            // Zero marks the attempt as settled when it is known to have cost nothing.
            end.input_tokens.or(end.cost_micros.map(|_| 0)),
            end.output_tokens.or(end.cost_micros.map(|_| 0)),
            end.cost_micros,
        )?;
        ledger::settle(connection, lease, end.settlement, now)?;
    }
    if !holds(connection, lease)? {
        return Ok(false);
    }
    let error_code = end.cause.key();
    let next = if end.next.delivers_again() && is_unwanted(connection, lease)? {
        // Another program called it off, and the attempt ended before it heard of that.
        AfterAttempt::Cancelled
    } else {
        end.next
    };
    let retry_at = match next {
        AfterAttempt::RetryAt(moment) => Some(moment.0),
        _ => None,
    };
    connection
        .prepare_cached(
            "UPDATE attempts SET http_status = :status, request_id = coalesce(:request_id, request_id),
                 told_to_wait_ms = :told, retry_at = :retry_at
             WHERE job_id = :job AND lease_id = :lease",
        )?
        .execute(named_params! {
            ":status": end.http_status,
            ":request_id": end.request_id,
            ":told": end.told_to_wait_ms.map(u64::cast_signed),
            ":retry_at": retry_at,
            ":job": lease.job_id.as_str(),
            ":lease": lease.lease_id,
        })?;
    close_attempt(
        connection,
        lease,
        end.outcome,
        Some(&error_code),
        Some(&end.message),
        now,
    )?;
    move_job(connection, lease, end, next, &error_code, now)?;
    let told = end.told_to_wait_ms.map(Duration::from_millis);
    match end.next {
        AfterAttempt::Deferred { open_circuit: true } => {
            circuits::trip(
                connection,
                lease,
                provider,
                end.cause,
                &end.message,
                told,
                now,
            )?;
        }
        AfterAttempt::Deferred { .. } | AfterAttempt::Cancelled => {
            circuits::release_probe(connection, lease, provider)?;
        }
        // Who was not asked can't have shown that it answers again.
        _ if end.settlement == (Settlement::Nothing { asked: false }) => {
            circuits::release_probe(connection, lease, provider)?;
        }
        AfterAttempt::RetryAt(_) | AfterAttempt::Failed | AfterAttempt::DeadLettered => {
            circuits::passed(connection, lease, provider)?;
        }
    }
    if matches!(next, AfterAttempt::Failed | AfterAttempt::DeadLettered) {
        outbox::job_failed(connection, lease, now)?;
    }
    if !next.delivers_again() {
        outbox::batch_completed(connection, &lease.job_id, now)?;
    }
    Ok(true)
}

/// Puts the job where the end of its attempt sends it.
fn move_job(
    connection: &Connection,
    lease: &Lease,
    end: &AttemptEnd,
    next: AfterAttempt,
    error_code: &str,
    now: Timestamp,
) -> Result<()> {
    // What is put off keeps its place in line.
    let (status, available_at) = match next {
        AfterAttempt::RetryAt(moment) => (JobStatus::Pending, Some(moment)),
        AfterAttempt::Deferred { .. } => (JobStatus::Pending, None),
        AfterAttempt::Failed => (JobStatus::Failed, None),
        AfterAttempt::DeadLettered => (JobStatus::DeadLettered, None),
        AfterAttempt::Cancelled => (JobStatus::Cancelled, None),
    };
    let counted = !matches!(end.next, AfterAttempt::Deferred { .. });
    connection
        .prepare_cached(
            "UPDATE jobs SET status = :status, lease_id = NULL, lease_expires_at = NULL,
                 available_at = coalesce(:available, available_at),
                 waiting_since = :now,
                 attempts = attempts - (NOT :counted),
                 completed_at = CASE WHEN :final THEN :now END,
                 error_code = :error_code, error = :error,
                 ran_ms = ran_ms + max(0, :now - started_at)
             WHERE job_id = :job AND status = 'running' AND lease_id = :lease",
        )?
        .execute(named_params! {
            ":status": status.as_str(),
            ":final": status.is_final(),
            ":available": available_at.map(|moment| moment.0),
            ":now": now.0,
            ":counted": counted,
            ":error_code": error_code,
            ":error": end.message,
            ":job": lease.job_id.as_str(),
            ":lease": lease.lease_id,
        })?;
    Ok(())
}
