//! Putting right what a program that died has left of remote batches.

use rusqlite::Connection;

use super::handing::undone;
use crate::model::{AttemptOutcome, Cause, JobId, Provider, Timestamp};
use crate::store::finish::end_attempt;
use crate::store::ledger::Settlement;
use crate::store::{AfterAttempt, AttemptEnd, Lease, Result};

/// Puts back what was gathered and not sent, and what was taken in and not kept. Returns how many jobs that
/// were.
pub(in crate::store) fn recover(connection: &Connection, now: Timestamp) -> Result<u64> {
    let mut put_back = not_sent(connection, now)?;
    // Nobody sends any more; what arrived is on the list soon.
    connection.execute(
        "UPDATE remote_batches SET left_at = ?1, look_at = min(look_at, ?1) WHERE state = 'sending'",
        [now.0],
    )?;
    // Their results can be read again.
    put_back += connection.execute(
        "UPDATE jobs SET status = CASE WHEN cancel_requested THEN 'cancelled' ELSE 'submitted' END,
             completed_at = CASE WHEN cancel_requested THEN ?1 END,
             lease_id = NULL, lease_expires_at = NULL
         WHERE status = 'running'
           AND EXISTS (SELECT 1 FROM remote_items AS i
                       WHERE i.job_id = jobs.job_id AND i.lease_id = jobs.lease_id
                         AND i.settled_at IS NULL)
           AND NOT EXISTS (SELECT 1 FROM answers AS a
                           WHERE a.job_id = jobs.job_id AND a.generation = jobs.generation)",
        [now.0],
    )? as u64;
    Ok(put_back)
}

/// Puts back what was gathered: nothing of it was sent.
fn not_sent(connection: &Connection, now: Timestamp) -> Result<u64> {
    let mut statement = connection.prepare(
        "SELECT r.remote_no, j.job_id, r.lease_id, j.generation, j.attempts
         FROM remote_batches AS r LEFT JOIN jobs AS j
              ON j.lease_id = r.lease_id AND j.status = 'running'
                 AND NOT EXISTS (SELECT 1 FROM answers AS a
                                 WHERE a.job_id = j.job_id AND a.generation = j.generation)
         WHERE r.state = 'gathering'",
    )?;
    let left = statement
        .query_map([], |row| {
            let job_id: Option<String> = row.get(1)?;
            let lease_id = row.get(2)?;
            let lease = match job_id {
                Some(job_id) => Some(Lease {
                    job_id: JobId(job_id),
                    lease_id,
                    generation: row.get(3)?,
                    number: row.get(4)?,
                }),
                None => None,
            };
            Ok((row.get(0)?, lease))
        })?
        .collect::<rusqlite::Result<Vec<(i64, Option<Lease>)>>>()?;
    let mut put_back = 0;
    for (remote_no, lease) in left {
        if let Some(lease) = lease {
            let end = AttemptEnd {
                outcome: AttemptOutcome::Deferred,
                cause: Cause::Interrupted,
                message: "Gistmill stopped before it was handed over. Nothing was sent.".to_owned(),
                http_status: None,
                request_id: None,
                told_to_wait_ms: None,
                input_tokens: None,
                output_tokens: None,
                cost_micros: Some(0),
                settlement: Settlement::Nothing { asked: false },
                next: AfterAttempt::Deferred {
                    open_circuit: false,
                },
            };
            end_attempt(connection, &lease, Provider::Claude, &end, now)?;
            put_back += 1;
        }
        undone(connection, remote_no, now)?;
    }
    Ok(put_back)
}
