//! What has to reach the world outside: written with the change it tells of, delivered afterwards.
//!
//! A row is one event for one receiver, and is written once, whatever is tried again.

use rusqlite::{Connection, OptionalExtension as _, named_params};
use serde_json::{Value, json};

use super::{Lease, Result, Store, policy, rows};
use crate::model::{BatchId, Cause, JobId, Provider, Timestamp};

/// A job that ended for good, to be told to a person.
#[derive(Clone, Debug)]
pub(crate) struct FailedJob {
    pub(crate) outbox_id: i64,
    pub(crate) batch_id: BatchId,
    pub(crate) title: String,
    pub(crate) cause: Option<Cause>,
    pub(crate) error: Option<String>,
}

/// A batch whose jobs have all ended, to be told to a person.
#[derive(Clone, Debug)]
pub(crate) struct FinishedBatch {
    pub(crate) outbox_id: i64,
    pub(crate) batch_id: BatchId,
    pub(crate) name: String,
    pub(crate) done: u64,
    pub(crate) needs_review: u64,
    pub(crate) failed: u64,
}

/// A circuit that wants a person.
#[derive(Clone, Debug)]
pub(crate) struct OpenedCircuit {
    pub(crate) outbox_id: i64,
    pub(crate) message: String,
    pub(crate) cause: Cause,
}

/// Everything that waits to be told to the person at the machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToTell {
    pub(crate) failures: Vec<FailedJob>,
    pub(crate) batches: Vec<FinishedBatch>,
    pub(crate) circuits: Vec<OpenedCircuit>,
}

/// A message for the webhook.
#[derive(Clone, Debug)]
pub(crate) struct WebhookMessage {
    pub(crate) outbox_id: i64,
    pub(crate) event: String,
    pub(crate) subject: String,
    pub(crate) body: String,
    pub(crate) tries: u32,
}

/// A result that is wanted beside its PDF.
#[derive(Clone, Debug)]
pub(crate) struct ResultToCopy {
    pub(crate) outbox_id: i64,
    pub(crate) job_id: JobId,
    pub(crate) result_id: i64,
    pub(crate) key: String,
    pub(crate) source_path: String,
}

/// How the webhook came on last.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebhookHistory {
    pub(crate) waiting: u64,
    pub(crate) last_at: Option<Timestamp>,
    pub(crate) last_error: Option<String>,
}

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

/// Asks for a copy of a stored result beside its PDF.
pub(super) fn result_stored(connection: &Connection, lease: &Lease, now: Timestamp) -> Result<()> {
    let entry = Entry {
        receiver: "folder",
        event: "result.stored",
        subject: format!("{}/{}", lease.job_id, lease.generation),
        job: Some((&lease.job_id, lease.generation)),
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

impl Store {
    /// Returns what the person at the machine was not told of yet, oldest first, a thousand of each kind.
    pub(crate) async fn to_tell(&self, now: Timestamp) -> Result<ToTell> {
        self.read(move |connection| {
            Ok(ToTell {
                failures: failures(connection, now)?,
                batches: finished_batches(connection, now)?,
                circuits: opened_circuits(connection, now)?,
            })
        })
        .await
    }

    /// Returns the messages for the webhook that are due, oldest first, at most a hundred.
    pub(crate) async fn webhook_messages(&self, now: Timestamp) -> Result<Vec<WebhookMessage>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT outbox_id, event, subject, body, tries FROM outbox
                 WHERE receiver = 'webhook' AND ended_at IS NULL AND available_at <= ?1
                 ORDER BY outbox_id LIMIT 100",
            )?;
            let found = statement.query_map([now.0], |row| {
                Ok(WebhookMessage {
                    outbox_id: row.get(0)?,
                    event: row.get(1)?,
                    subject: row.get(2)?,
                    body: row.get::<_, Option<String>>(3)?.unwrap_or_default(),
                    tries: row.get(4)?,
                })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Returns how the webhook came on last.
    pub(crate) async fn webhook_history(&self) -> Result<WebhookHistory> {
        self.read(|connection| {
            let waiting = connection.query_row(
                "SELECT count(*) FROM outbox WHERE receiver = 'webhook' AND ended_at IS NULL",
                [],
                |row| rows::unsigned(row, 0),
            )?;
            let last = connection
                .query_row(
                    "SELECT ended_at, last_error FROM outbox
                     WHERE receiver = 'webhook' AND ended_at IS NOT NULL
                     ORDER BY ended_at DESC, outbox_id DESC LIMIT 1",
                    [],
                    |row| Ok((rows::optional_timestamp(row, 0)?, row.get(1)?)),
                )
                .optional()?;
            let (last_at, last_error) = last.unwrap_or_default();
            Ok(WebhookHistory {
                waiting,
                last_at,
                last_error,
            })
        })
        .await
    }

    /// Returns the results that are wanted beside their PDFs, oldest first, at most a hundred.
    pub(crate) async fn results_to_copy(&self, now: Timestamp) -> Result<Vec<ResultToCopy>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT o.outbox_id, j.job_id, r.result_id, r.key, j.source_path
                 FROM outbox AS o JOIN jobs AS j USING (job_id)
                      JOIN results AS r ON r.job_id = o.job_id AND r.generation = o.generation
                 WHERE o.receiver = 'folder' AND o.ended_at IS NULL AND o.available_at <= ?1
                   AND j.source_path IS NOT NULL
                 ORDER BY o.outbox_id LIMIT 100",
            )?;
            let found = statement.query_map([now.0], |row| {
                Ok(ResultToCopy {
                    outbox_id: row.get(0)?,
                    job_id: JobId(row.get(1)?),
                    result_id: row.get(2)?,
                    key: row.get(3)?,
                    source_path: row.get(4)?,
                })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Records that entries were delivered.
    pub(crate) async fn delivered(&self, outbox_ids: Vec<i64>, now: Timestamp) -> Result<()> {
        self.end_entries(outbox_ids, None, Some(now), now).await
    }

    /// Records that entries could not be delivered and are not tried again, and why.
    pub(crate) async fn gave_up(
        &self,
        outbox_ids: Vec<i64>,
        error: String,
        now: Timestamp,
    ) -> Result<()> {
        self.end_entries(outbox_ids, Some(error), Some(now), now)
            .await
    }

    /// Records that entries could not be delivered, why, and when they are tried again.
    pub(crate) async fn deliver_later(
        &self,
        outbox_ids: Vec<i64>,
        error: String,
        at: Timestamp,
    ) -> Result<()> {
        self.end_entries(outbox_ids, Some(error), None, at).await
    }

    async fn end_entries(
        &self,
        outbox_ids: Vec<i64>,
        error: Option<String>,
        ended_at: Option<Timestamp>,
        available_at: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            let mut statement = connection.prepare_cached(
                "UPDATE outbox SET tries = tries + 1, last_error = :error, ended_at = :ended,
                     available_at = :available
                 WHERE outbox_id = :id AND ended_at IS NULL",
            )?;
            for outbox_id in &outbox_ids {
                statement.execute(named_params! {
                    ":id": outbox_id,
                    ":error": error,
                    ":ended": ended_at.map(|moment| moment.0),
                    ":available": available_at.0,
                })?;
            }
            Ok(())
        })
        .await
    }

    /// Records where the copy beside the PDF lies, or why there is none.
    pub(crate) async fn copied(
        &self,
        result_id: i64,
        outcome: std::result::Result<String, String>,
    ) -> Result<()> {
        self.write(move |connection| {
            let (path, error) = match &outcome {
                Ok(path) => (Some(path), None),
                Err(error) => (None, Some(error)),
            };
            connection.execute(
                "UPDATE results SET copy_path = ?2, copy_error = ?3 WHERE result_id = ?1",
                (result_id, path, error),
            )?;
            Ok(())
        })
        .await
    }
}

/// The rows that are due for the desktop.
const DUE: &str = "o.receiver = 'desktop' AND o.ended_at IS NULL AND o.available_at <= ?1";
/// The failures that are due: a batch that ended takes its own along.
const DUE_FAILURES: &str = "o.receiver = 'desktop' AND o.ended_at IS NULL AND o.event = 'job.failed' \
     AND (o.available_at <= ?1 OR EXISTS (SELECT 1 FROM outbox AS b WHERE b.receiver = 'desktop' \
          AND b.ended_at IS NULL AND b.event = 'batch.completed' AND b.batch_id = j.batch_id))";

fn failures(connection: &Connection, now: Timestamp) -> Result<Vec<FailedJob>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT o.outbox_id, j.batch_id, j.title, j.error_code, j.error
         FROM outbox AS o JOIN jobs AS j USING (job_id)
         WHERE {DUE_FAILURES} ORDER BY o.outbox_id LIMIT 1000"
    ))?;
    let found = statement.query_map([now.0], |row| {
        Ok(FailedJob {
            outbox_id: row.get(0)?,
            batch_id: BatchId(row.get(1)?),
            title: row.get(2)?,
            cause: rows::cause(row, 3)?,
            error: row.get(4)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn finished_batches(connection: &Connection, now: Timestamp) -> Result<Vec<FinishedBatch>> {
    let jobs = |statuses| {
        format!(
            "coalesce((SELECT sum(jobs) FROM batch_counts AS c
                       WHERE c.batch_id = b.batch_id AND c.status IN ({statuses})), 0)"
        )
    };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT o.outbox_id, b.batch_id, b.name, {}, {}, {}
         FROM outbox AS o JOIN batches AS b USING (batch_id)
         WHERE {DUE} AND o.event = 'batch.completed' ORDER BY o.outbox_id LIMIT 1000",
        jobs("'completed'"),
        jobs("'needs-review'"),
        jobs("'failed', 'dead-lettered'"),
    ))?;
    let found = statement.query_map([now.0], |row| {
        Ok(FinishedBatch {
            outbox_id: row.get(0)?,
            batch_id: BatchId(row.get(1)?),
            name: row.get(2)?,
            done: rows::unsigned(row, 3)?,
            needs_review: rows::unsigned(row, 4)?,
            failed: rows::unsigned(row, 5)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn opened_circuits(connection: &Connection, now: Timestamp) -> Result<Vec<OpenedCircuit>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT o.outbox_id, o.body ->> 'message', o.body ->> 'cause' FROM outbox AS o
         WHERE {DUE} AND o.event = 'circuit.opened' ORDER BY o.outbox_id LIMIT 1000"
    ))?;
    let found = statement.query_map([now.0], |row| {
        Ok(OpenedCircuit {
            outbox_id: row.get(0)?,
            message: row.get(1)?,
            cause: rows::cause(row, 2)?.unwrap_or(Cause::UnexpectedStatus),
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
