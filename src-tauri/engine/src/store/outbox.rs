//! What has to reach the world outside: written with the change it tells of, delivered afterwards.
//!
//! A row is one event for one receiver, and is written once, whatever is tried again.

mod batches;
mod due;

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::{Value, json};

use super::{Lease, Result, policy, rows};
use crate::model::{Cause, JobId, Provider, Timestamp};

pub(crate) use batches::{BatchFile, BatchToLeave};
pub(crate) use due::{
    CopyOutcome, FailedJob, FinishedBatch, OpenedCircuit, ResultToCopy, ToTell, WebhookMessage,
};

struct Entry<'entry> {
    receiver: &'entry str,
    event: &'entry str,
    subject: String,
    job: Option<(&'entry JobId, u32)>,
    batch_id: Option<&'entry str>,
    body: Option<Value>,
    /// How long it is kept back, in milliseconds.
    delay: i64,
}

/// How long a failure waits for the end of its batch, to be told with it, in milliseconds.
const WAIT_FOR_BATCH: i64 = 10_000;

fn put(connection: &Connection, entry: &Entry<'_>, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO outbox (receiver, event, subject, job_id, generation, batch_id, body,
                                 created_at, available_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (receiver, event, subject) DO NOTHING",
        )?
        .execute((
            entry.receiver,
            entry.event,
            &entry.subject,
            entry.job.map(|(job_id, _)| job_id.as_str()),
            entry.job.map(|(_, generation)| generation),
            entry.batch_id,
            entry.body.as_ref().map(Value::to_string),
            now.0,
            now.0 + entry.delay,
        ))?;
    Ok(())
}

/// Takes copies of results and the files of batches.
pub(super) const FOLDER: &str = "folder";
/// Takes uploads.
pub(super) const BUCKET: &str = "bucket";

/// Asks for a stored result to be copied to a folder or uploaded to a bucket.
pub(super) fn result_stored(
    connection: &Connection,
    receiver: &str,
    lease: &Lease,
    now: Timestamp,
) -> Result<()> {
    let entry = Entry {
        receiver,
        event: "result.stored",
        subject: format!("{}/{}", lease.job_id, lease.generation),
        job: Some((&lease.job_id, lease.generation)),
        batch_id: None,
        body: None,
        delay: 0,
    };
    put(connection, &entry, now)
}

/// Asks for the PDF of a job to be uploaded.
pub(super) fn document_added(
    connection: &Connection,
    job_id: &JobId,
    now: Timestamp,
) -> Result<()> {
    let entry = Entry {
        receiver: BUCKET,
        event: "document.added",
        subject: job_id.to_string(),
        job: Some((job_id, 1)),
        batch_id: None,
        body: None,
        delay: 0,
    };
    put(connection, &entry, now)
}

/// Tells of a job that failed for good.
pub(super) fn job_failed(connection: &Connection, lease: &Lease, now: Timestamp) -> Result<()> {
    let mut entry = Entry {
        receiver: "desktop",
        event: "job.failed",
        subject: format!("{}/{}", lease.job_id, lease.generation),
        job: Some((&lease.job_id, lease.generation)),
        batch_id: None,
        body: None,
        delay: WAIT_FOR_BATCH,
    };
    put(connection, &entry, now)?;
    if policy::webhook_wanted(connection)? {
        entry.receiver = "webhook";
        entry.delay = 0;
        entry.body = Some(failure_body(connection, &lease.job_id, now)?);
        put(connection, &entry, now)?;
    }
    Ok(())
}

/// What the webhook is told of a failed job: the seed's four fields, and what a receiver asks next.
fn failure_body(connection: &Connection, job_id: &JobId, now: Timestamp) -> Result<Value> {
    Ok(connection
        .prepare_cached(
            "SELECT j.user_id, j.created_at, j.status, j.title, j.batch_id, b.name, j.queue, j.provider,
                    j.model, j.attempts, j.error_code, j.error
             FROM jobs AS j JOIN batches AS b USING (batch_id) WHERE j.job_id = ?1",
        )?
        .query_row([job_id.as_str()], |row| {
            let cause = rows::cause(row, 10)?;
            Ok(json!({
                "event": "job.failed",
                "jobId": job_id.as_str(),
                "userId": row.get::<_, String>(0)?,
                "createdAt": row.get::<_, i64>(1)?,
                "status": row.get::<_, String>(2)?,
                "title": row.get::<_, String>(3)?,
                "batchId": row.get::<_, String>(4)?,
                "batchName": row.get::<_, String>(5)?,
                "queue": row.get::<_, String>(6)?,
                "provider": row.get::<_, String>(7)?,
                "model": row.get::<_, String>(8)?,
                "attempts": row.get::<_, i64>(9)?,
                "cause": cause.map(Cause::key),
                "error": row.get::<_, Option<String>>(11)?,
                "hint": cause.map(Cause::hint),
                "failedAt": now.0,
            }))
        })?)
}

/// Tells of the batch of a job that ended, if none of its jobs is left to run.
pub(super) fn batch_completed(
    connection: &Connection,
    job_id: &JobId,
    now: Timestamp,
) -> Result<()> {
    let finished: Option<(String, String, i64, u32)> = connection
        .prepare_cached(
            "UPDATE batches SET finishes = finishes + 1
             WHERE batch_id = (SELECT batch_id FROM jobs WHERE job_id = ?1)
               AND NOT EXISTS (SELECT 1 FROM batch_counts AS c WHERE c.batch_id = batches.batch_id
                               AND c.jobs > 0 AND c.status IN ('pending', 'running', 'submitted'))
             RETURNING batch_id, name, created_at, finishes",
        )?
        .query_row([job_id.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .optional()?;
    let Some((batch_id, name, created_at, finishes)) = finished else {
        return Ok(());
    };
    let mut entry = Entry {
        receiver: "desktop",
        event: "batch.completed",
        subject: format!("{batch_id}/{finishes}"),
        job: None,
        batch_id: Some(&batch_id),
        body: None,
        delay: 0,
    };
    if policy::batches_are_notified(connection)? {
        put(connection, &entry, now)?;
    }
    if !policy::batch_files(connection)?.is_empty() && leaves_files(connection, &batch_id)? {
        entry.receiver = FOLDER;
        put(connection, &entry, now)?;
    }
    if policy::webhook_wanted(connection)? && policy::webhook_hears_batches(connection)? {
        entry.receiver = "webhook";
        let counts = counts(connection, &batch_id)?;
        let cost_micros: Option<i64> = connection
            .prepare_cached("SELECT settled + unknown FROM batch_money WHERE batch_id = ?1")?
            .query_row([&batch_id], |row| row.get(0))
            .optional()?;
        entry.body = Some(json!({
            "event": "batch.completed",
            "batchId": batch_id,
            "name": name,
            "createdAt": created_at,
            "completedAt": now.0,
            "jobs": counts,
            "costMicros": cost_micros.unwrap_or(0),
        }));
        put(connection, &entry, now)?;
    }
    Ok(())
}

/// Says whether a batch has more results of PDFs than their own copies tell.
fn leaves_files(connection: &Connection, batch_id: &str) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT (SELECT count(*) FROM (SELECT 1 FROM jobs WHERE batch_id = ?1 AND kind = 'pdf' LIMIT 2)) = 2
                AND EXISTS (SELECT 1 FROM jobs WHERE batch_id = ?1 AND result_id IS NOT NULL)",
        )?
        .query_row([batch_id], |row| row.get(0))?)
}

/// Returns the jobs of a batch by state.
fn counts(connection: &Connection, batch_id: &str) -> Result<serde_json::Map<String, Value>> {
    let mut statement = connection
        .prepare_cached("SELECT status, jobs FROM batch_counts WHERE batch_id = ?1 AND jobs > 0")?;
    let found = statement.query_map([batch_id], |row| {
        Ok((row.get::<_, String>(0)?, Value::from(row.get::<_, i64>(1)?)))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Tells that something stands in the way of all jobs, unless it passes by itself unnoticed.
pub(super) fn circuit_opened(
    connection: &Connection,
    provider: Provider,
    cause: Cause,
    message: &str,
    now: Timestamp,
) -> Result<()> {
    // A network that is gone is no news to the person at the machine.
    if cause == Cause::Offline {
        return Ok(());
    }
    let entry = Entry {
        receiver: "desktop",
        event: "circuit.opened",
        subject: format!("{}/{}/{}", provider.as_str(), cause.key(), now.0),
        job: None,
        batch_id: None,
        body: Some(json!({ "cause": cause.key(), "message": message })),
        delay: 0,
    };
    put(connection, &entry, now)
}
