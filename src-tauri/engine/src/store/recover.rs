//! Putting right what a program that died has left.

use rusqlite::Connection;

use super::ledger::{self, Settlement};
use super::{Lease, Result, Store, circuits, outbox, remote};
use crate::model::{Cause, JobId, JobStatus, Timestamp};

/// What the attempt of a program that died is said to have met.
const INTERRUPTED: &str =
    "Gistmill stopped while the call was under way. It may have run and may be billed.";

impl Store {
    /// Ends every attempt that is still marked as running, and returns how many there were.
    ///
    /// Called at start-up by the one consumer, who knows that nobody else runs anything. The attempt
    /// counts; its cost is unknown unless its answer was kept, in which case the job needs no new call.
    pub(crate) async fn recover_interrupted(&self, now: Timestamp) -> Result<u64> {
        self.write(move |connection| recover_all(connection, now))
            .await
    }
}

pub(super) fn recover_all(connection: &Connection, now: Timestamp) -> Result<u64> {
    // What goes by the batch API can be found out, or was never sent: none of it is interrupted.
    let put_back = remote::recover(connection, now)?;
    let left = running(connection)?;
    for job in &left {
        recover(connection, job, now)?;
    }
    circuits::release_probes(connection)?;
    // What was promised by nobody who lives may have been spent.
    ledger::settle_orphans(connection, now)?;
    Ok(left.len() as u64 + put_back)
}

struct LeftRunning {
    lease: Lease,
    calls_cost: bool,
    has_answer: bool,
    retries_left: bool,
    cancel_requested: bool,
}

fn running(connection: &Connection) -> Result<Vec<LeftRunning>> {
    let mut statement = connection.prepare(
        "SELECT j.job_id, j.lease_id, j.generation, j.attempts, j.provider <> 'offline',
                EXISTS (SELECT 1 FROM answers AS a
                        WHERE a.job_id = j.job_id AND a.generation = j.generation),
                j.attempts - j.attempts_before < q.max_retries + 1, j.cancel_requested
         FROM jobs AS j JOIN queues AS q USING (queue)
         WHERE j.status = 'running' ORDER BY j.seq",
    )?;
    let found = statement.query_map([], |row| {
        Ok(LeftRunning {
            lease: Lease {
                job_id: JobId(row.get(0)?),
                lease_id: row.get(1)?,
                generation: row.get(2)?,
                number: row.get(3)?,
            },
            calls_cost: row.get(4)?,
            has_answer: row.get(5)?,
            retries_left: row.get(6)?,
            cancel_requested: row.get(7)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn recover(connection: &Connection, job: &LeftRunning, now: Timestamp) -> Result<()> {
    let interrupted = Cause::Interrupted.key();
    connection
        .prepare_cached(
            "UPDATE attempts SET outcome = 'interrupted', ended_at = max(?3, started_at),
                 error_code = ?4, message = ?5,
                 -- An attempt that only published an answer from before has asked nobody.
                 cost_micros = CASE WHEN input_tokens IS NULL AND NOT ?6 THEN 0 ELSE cost_micros END,
                 output_tokens = CASE WHEN input_tokens IS NULL AND NOT ?6 THEN 0 ELSE output_tokens END,
                 input_tokens = CASE WHEN input_tokens IS NULL AND NOT ?6 THEN 0 ELSE input_tokens END
             WHERE job_id = ?1 AND lease_id = ?2 AND outcome = 'running'",
        )?
        .execute((
            job.lease.job_id.as_str(),
            &job.lease.lease_id,
            now.0,
            &interrupted,
            INTERRUPTED,
            job.calls_cost && !job.has_answer,
        ))?;
    ledger::settle(connection, &job.lease, Settlement::Unknown, now)?;
    let status = if job.cancel_requested && !job.has_answer {
        JobStatus::Cancelled
    } else if job.retries_left || job.has_answer {
        JobStatus::Pending
    } else {
        JobStatus::DeadLettered
    };
    connection
        .prepare_cached(
            "UPDATE jobs SET status = ?3, lease_id = NULL, lease_expires_at = NULL,
                 -- Its place in line is what it was.
                 available_at = min(available_at, ?4), waiting_since = ?4,
                 completed_at = CASE WHEN ?3 = 'pending' THEN NULL ELSE ?4 END,
                 error_code = ?5, error = ?6,
                 cost_unknown = max(cost_unknown, ?7 AND NOT ?8),
                 ran_ms = ran_ms + max(0, ?4 - started_at)
             WHERE job_id = ?1 AND status = 'running' AND lease_id = ?2",
        )?
        .execute((
            job.lease.job_id.as_str(),
            &job.lease.lease_id,
            status.as_str(),
            now.0,
            &interrupted,
            INTERRUPTED,
            job.calls_cost,
            job.has_answer,
        ))?;
    if status == JobStatus::DeadLettered {
        outbox::job_failed(connection, &job.lease, now)?;
    }
    if status.is_final() {
        outbox::batch_completed(connection, &job.lease.job_id, now)?;
    }
    Ok(())
}
