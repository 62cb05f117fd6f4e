//! What is due of the outbox, and how its delivery ended.

use rusqlite::{Connection, OptionalExtension as _, named_params};

use crate::model::{BatchId, Cause, JobId, ResultFormat, Selection, Sha256, Timestamp};
use crate::store::{Result, Store, actions, rows};

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
    pub(crate) format: ResultFormat,
    pub(crate) source_path: String,
    pub(crate) relative_path: Option<String>,
    pub(crate) tries: u32,
}

/// What became of the copy of a result.
#[derive(Clone, Debug)]
pub(crate) struct CopyOutcome {
    pub(crate) path: Option<String>,
    pub(crate) sha256: Option<Sha256>,
    /// Why there is none, or what a person may want to know of it.
    pub(crate) note: Option<String>,
}

/// How the webhook came on last.
#[derive(Clone, Debug, Default)]
pub(crate) struct WebhookHistory {
    pub(crate) waiting: u64,
    pub(crate) last_at: Option<Timestamp>,
    pub(crate) last_error: Option<String>,
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
                "SELECT o.outbox_id, j.job_id, r.result_id, r.key, j.source_path, r.format,
                        j.relative_path, o.tries
                 FROM outbox AS o JOIN jobs AS j USING (job_id)
                      JOIN results AS r ON r.job_id = o.job_id AND r.generation = o.generation
                 WHERE o.receiver = 'folder' AND o.event = 'result.stored' AND o.ended_at IS NULL
                   AND o.available_at <= ?1
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
                    format: rows::result_format(row, 5)?,
                    relative_path: row.get(6)?,
                    tries: row.get(7)?,
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

    /// Records what became of the copy of a result.
    pub(crate) async fn copied(&self, result_id: i64, outcome: CopyOutcome) -> Result<()> {
        self.write(move |connection| {
            connection.execute(
                "UPDATE results SET copy_path = coalesce(?2, copy_path),
                     copy_sha256 = coalesce(?3, copy_sha256), copy_error = ?4
                 WHERE result_id = ?1",
                (
                    result_id,
                    &outcome.path,
                    outcome.sha256.as_ref().map(Sha256::as_str),
                    &outcome.note,
                ),
            )?;
            Ok(())
        })
        .await
    }

    /// Records why a copy could not be made, and when it is tried again; `None` for never.
    pub(crate) async fn copy_failed(
        &self,
        result_id: i64,
        outbox_id: i64,
        reason: String,
        again: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            connection.execute(
                "UPDATE results SET copy_error = ?2 WHERE result_id = ?1",
                (result_id, &reason),
            )?;
            connection.execute(
                "UPDATE outbox SET tries = tries + 1, last_error = ?2, available_at = ?3, ended_at = ?4
                 WHERE outbox_id = ?1 AND ended_at IS NULL",
                (
                    outbox_id,
                    &reason,
                    again.unwrap_or(now).0,
                    again.is_none().then_some(now.0),
                ),
            )?;
            Ok(())
        })
        .await
    }

    /// Returns digests of the copies at a path, as they were written, that are of results of one PDF.
    pub(crate) async fn copies_at(
        &self,
        copy_path: String,
        source_path: String,
    ) -> Result<Vec<Sha256>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT r.copy_sha256 FROM results AS r JOIN jobs AS j USING (job_id)
                 WHERE r.copy_path = ?1 AND r.copy_sha256 IS NOT NULL AND j.source_path = ?2",
            )?;
            let found =
                statement.query_map([&copy_path, &source_path], |row| row.get(0).map(Sha256))?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Has the copies of the selected jobs tried again that could not be made. Returns how many.
    pub(crate) async fn retry_copies(&self, selection: Selection, now: Timestamp) -> Result<u64> {
        self.write(move |connection| {
            let (condition, mut values) = actions::chosen(&selection);
            values.push(rusqlite::types::Value::from(now.0));
            let queued = connection.execute(
                &format!(
                    "UPDATE outbox SET ended_at = NULL, tries = 0, available_at = ?
                     WHERE receiver = 'folder' AND event = 'result.stored'
                       AND job_id IN (SELECT j.job_id FROM jobs AS j WHERE {condition})
                       AND EXISTS (SELECT 1 FROM results AS r WHERE r.job_id = outbox.job_id
                                   AND r.generation = outbox.generation AND r.copy_path IS NULL)"
                ),
                rusqlite::params_from_iter(rotated(values)),
            )?;
            Ok(queued as u64)
        })
        .await
    }
}

/// Puts the last value first, where the statement has it.
fn rotated(mut values: Vec<rusqlite::types::Value>) -> Vec<rusqlite::types::Value> {
    values.rotate_right(1);
    values
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
