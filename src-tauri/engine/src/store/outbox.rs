//! What has to reach the world outside: written with the change it tells of, delivered afterwards.

use rusqlite::Connection;

use super::{Lease, Result, Store, rows};
use crate::model::{Cause, JobId, Timestamp};

/// A job that ended for good, to be told to a person.
#[derive(Clone, Debug)]
pub(crate) struct FailedJob {
    pub(crate) outbox_id: i64,
    pub(crate) title: String,
    pub(crate) cause: Option<Cause>,
    pub(crate) error: Option<String>,
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

/// Writes an entry, once for a kind, a job and a run of it.
pub(super) fn put(
    connection: &Connection,
    kind: &str,
    lease: &Lease,
    now: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO outbox (kind, job_id, generation, created_at, available_at)
             VALUES (?1, ?2, ?3, ?4, ?4)
             ON CONFLICT (kind, job_id, generation) DO NOTHING",
        )?
        .execute((kind, lease.job_id.as_str(), lease.generation, now.0))?;
    Ok(())
}

impl Store {
    /// Returns the failures that nobody was told of yet, oldest first, at most a thousand.
    pub(crate) async fn failures_to_tell(&self, now: Timestamp) -> Result<Vec<FailedJob>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT o.outbox_id, j.title, j.error_code, j.error
                 FROM outbox AS o JOIN jobs AS j USING (job_id)
                 WHERE o.kind = 'job-failed' AND o.delivered_at IS NULL AND o.available_at <= ?1
                 ORDER BY o.outbox_id LIMIT 1000",
            )?;
            let found = statement.query_map([now.0], |row| {
                Ok(FailedJob {
                    outbox_id: row.get(0)?,
                    title: row.get(1)?,
                    cause: rows::cause(row, 2)?,
                    error: row.get(3)?,
                })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
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
                 WHERE o.kind = 'copy-result' AND o.delivered_at IS NULL AND o.available_at <= ?1
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
        self.write(move |connection| {
            let mut statement = connection.prepare_cached(
                "UPDATE outbox SET delivered_at = ?2, tries = tries + 1, last_error = NULL
                 WHERE outbox_id = ?1",
            )?;
            for outbox_id in outbox_ids {
                statement.execute((outbox_id, now.0))?;
            }
            Ok(())
        })
        .await
    }

    /// Records that entries could not be delivered, and why; they are not tried again.
    pub(crate) async fn gave_up(
        &self,
        outbox_ids: Vec<i64>,
        error: String,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            let mut statement = connection.prepare_cached(
                "UPDATE outbox SET tries = tries + 1, last_error = ?2, delivered_at = ?3
                 WHERE outbox_id = ?1",
            )?;
            for outbox_id in outbox_ids {
                statement.execute((outbox_id, &error, now.0))?;
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
            let (path, error) = match outcome {
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
