//! Uploads of results and PDFs to a bucket: what is due, what came of it, what stands in the way of all.
//!
//! An upload is a row of the outbox for the receiver `bucket`. Trouble that would meet every upload
//! (no connection, a wrong secret) is a hold: none is tried before its end, and then one alone is.

mod hold;

use rusqlite::{Connection, Row};

use hold::{hold, put_off};

use super::{Result, Store, held, outbox, policy, rows};
use crate::model::{FailedUpload, JobId, ResultFormat, Timestamp, UploadsView};

/// Failures that are told of.
const FAILURES: u32 = 20;
/// Uploads that are queued in one transaction.
const QUEUED_AT_ONCE: u32 = 1_000;

pub(super) use hold::trouble;

/// What is uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UploadContent {
    /// A result, from the library.
    Result {
        key: String,
        sha256: String,
        format: ResultFormat,
        generation: u32,
        model: String,
        template: Option<String>,
    },
    /// A PDF, from where it lies.
    Document {
        path: String,
        sha256: String,
        batch_id: String,
    },
}

/// An upload that is due.
#[derive(Clone, Debug)]
pub(crate) struct Upload {
    pub(crate) outbox_id: i64,
    pub(crate) job_id: JobId,
    pub(crate) title: String,
    pub(crate) tries: u32,
    pub(crate) content: UploadContent,
}

/// How many results lie in a bucket.
#[derive(Clone, Debug, Default)]
pub(crate) struct UploadCounts {
    pub(crate) uploaded: u64,
    pub(crate) not_uploaded: u64,
    pub(crate) failures: Vec<FailedUpload>,
}

impl Store {
    /// Returns the uploads that are due, oldest first: none while a hold lasts, one to see whether it has
    /// passed, else at most `limit`.
    pub(crate) async fn uploads_due(&self, now: Timestamp, limit: u32) -> Result<Vec<Upload>> {
        self.read(move |connection| {
            let limit = match hold(connection)? {
                Some(hold) if hold.retry_at > now => return Ok(Vec::new()),
                Some(_) => 1,
                None => limit,
            };
            due(connection, now, limit)
        })
        .await
    }

    /// Returns how uploads come on, in short.
    pub(crate) async fn uploads_view(&self) -> Result<UploadsView> {
        self.read(view).await
    }

    /// Returns when the next upload may be tried; `None` when none waits.
    pub(crate) async fn next_upload_at(&self) -> Result<Option<Timestamp>> {
        self.read(|connection| {
            let next: Option<i64> = connection
                .prepare_cached(
                    "SELECT min(available_at) FROM outbox
                     WHERE receiver = 'bucket' AND ended_at IS NULL",
                )?
                .query_row([], |row| row.get(0))?;
            let held_until = hold(connection)?.map(|hold| hold.retry_at);
            Ok(next.map(|next| Timestamp(next).max(held_until.unwrap_or(Timestamp(0)))))
        })
        .await
    }

    /// Records that an upload is there, and completes the job that waited for it. Says whether one did.
    pub(crate) async fn uploaded(
        &self,
        upload: Upload,
        address: String,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(move |connection| {
            end(connection, upload.outbox_id, None, now)?;
            connection.execute("DELETE FROM upload_hold", [])?;
            let UploadContent::Result { generation, .. } = upload.content else {
                return Ok(false);
            };
            connection
                .prepare_cached(
                    "UPDATE results SET remote_address = ?3, remote_at = ?4
                     WHERE job_id = ?1 AND generation = ?2",
                )?
                .execute((upload.job_id.as_str(), generation, &address, now.0))?;
            release(connection, &upload.job_id, now)
        })
        .await
    }

    /// Records that an upload is given up, and why. A job that waited for it is completed all the same: its
    /// result is in the library, and waiting longer would bring nothing.
    pub(crate) async fn upload_given_up(
        &self,
        upload: Upload,
        message: String,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            end(connection, upload.outbox_id, Some(&message), now)?;
            // It was answered: nothing stands in the way of all.
            connection.execute("DELETE FROM upload_hold", [])?;
            if matches!(upload.content, UploadContent::Result { .. }) {
                release(connection, &upload.job_id, now)?;
            }
            Ok(())
        })
        .await
    }

    /// Records that an upload broke off, and tries it again later; the others go on.
    pub(crate) async fn upload_later(
        &self,
        upload: Upload,
        message: String,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| put_off(connection, &upload, &message, now))
            .await
    }

    /// Queues the uploads again that were given up. Returns how many.
    pub(crate) async fn retry_uploads(&self, now: Timestamp) -> Result<u64> {
        self.write(move |connection| {
            let queued = connection.execute(
                "UPDATE outbox SET ended_at = NULL, last_error = NULL, tries = 0, available_at = ?1
                 WHERE receiver = 'bucket' AND ended_at IS NOT NULL AND last_error IS NOT NULL",
                [now.0],
            )?;
            Ok(queued as u64)
        })
        .await
    }

    /// Queues some of the results that do not lie under `address` and are not on their way. Returns how
    /// many; 0 when none is left.
    pub(crate) async fn queue_missing_uploads(
        &self,
        address: String,
        now: Timestamp,
    ) -> Result<u64> {
        self.write(move |connection| {
            let queued = connection.execute(
                &format!(
                    "INSERT INTO outbox (receiver, event, subject, job_id, generation, created_at,
                                         available_at)
                     SELECT 'bucket', 'result.stored', r.job_id || '/' || r.generation, r.job_id,
                            r.generation, ?2, ?2
                     FROM results AS r WHERE {NOT_UPLOADED} ORDER BY r.result_id LIMIT ?3
                     ON CONFLICT (receiver, event, subject) DO UPDATE SET ended_at = NULL,
                         last_error = NULL, tries = 0, created_at = excluded.created_at,
                         available_at = excluded.available_at"
                ),
                (format!("{address}/"), now.0, QUEUED_AT_ONCE),
            )?;
            Ok(queued as u64)
        })
        .await
    }

    /// Counts results by whether they lie under `address`.
    pub(crate) async fn upload_counts(&self, address: Option<String>) -> Result<UploadCounts> {
        self.read(move |connection| {
            let failures = failures(connection)?;
            let Some(address) = address else {
                return Ok(UploadCounts {
                    failures,
                    ..UploadCounts::default()
                });
            };
            let prefix = format!("{address}/");
            let uploaded = connection.query_row(
                "SELECT count(*) FROM results WHERE substr(remote_address, 1, length(?1)) = ?1",
                [&prefix],
                |row| rows::unsigned(row, 0),
            )?;
            let not_uploaded = connection.query_row(
                &format!("SELECT count(*) FROM results AS r WHERE {NOT_UPLOADED}"),
                [&prefix],
                |row| rows::unsigned(row, 0),
            )?;
            Ok(UploadCounts {
                uploaded,
                not_uploaded,
                failures,
            })
        })
        .await
    }

    /// Completes the jobs that wait for uploads which nobody wants any more. Returns them.
    pub(crate) async fn stop_waiting_for_uploads(&self, now: Timestamp) -> Result<Vec<JobId>> {
        self.write(move |connection| {
            let waiting = connection
                .prepare_cached(
                    "SELECT job_id FROM jobs
                     WHERE status = 'pending' AND held <> 0 AND held & 32 <> 0 ORDER BY seq",
                )?
                .query_map([], |row| row.get(0).map(JobId))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            for job_id in &waiting {
                release(connection, job_id, now)?;
            }
            Ok(waiting)
        })
        .await
    }
}

/// Results that don't lie under the address `?1` and are not on their way there.
const NOT_UPLOADED: &str = "(r.remote_address IS NULL OR substr(r.remote_address, 1, length(?1)) <> ?1) \
     AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.receiver = 'bucket' \
         AND o.event = 'result.stored' AND o.subject = r.job_id || '/' || r.generation \
         AND o.ended_at IS NULL)";

/// Returns how uploads come on, in short.
pub(super) fn view(connection: &Connection) -> Result<UploadsView> {
    let hold = hold(connection)?;
    let (waiting, oldest) = connection
        .prepare_cached(
            "SELECT count(*), min(created_at) FROM outbox
             WHERE receiver = 'bucket' AND ended_at IS NULL",
        )?
        .query_row([], |row| {
            Ok((rows::unsigned(row, 0)?, rows::optional_timestamp(row, 1)?))
        })?;
    let failed = connection
        .prepare_cached(
            "SELECT count(*) FROM outbox
             WHERE receiver = 'bucket' AND ended_at IS NOT NULL AND last_error IS NOT NULL",
        )?
        .query_row([], |row| rows::unsigned(row, 0))?;
    Ok(UploadsView {
        enabled: policy::bucket(connection)?.is_some(),
        waiting,
        oldest_at: oldest,
        failed,
        retry_at: hold.as_ref().map(|hold| hold.retry_at),
        trouble: hold.map(|hold| hold.trouble),
    })
}

fn due(connection: &Connection, now: Timestamp, limit: u32) -> Result<Vec<Upload>> {
    let mut statement = connection.prepare_cached(
        "SELECT o.outbox_id, o.job_id, j.title, o.tries, o.event, o.generation,
                r.key, r.sha256, r.format, r.model, r.template_id || '-v' || r.template_version,
                j.source_path, j.document_sha256, j.batch_id
         FROM outbox AS o JOIN jobs AS j USING (job_id)
              LEFT JOIN results AS r ON o.event = 'result.stored' AND r.job_id = o.job_id
                   AND r.generation = o.generation
         WHERE o.receiver = 'bucket' AND o.ended_at IS NULL AND o.available_at <= ?1
         ORDER BY o.available_at, o.outbox_id LIMIT ?2",
    )?;
    let found = statement.query_map((now.0, limit), |row| {
        Ok(Upload {
            outbox_id: row.get(0)?,
            job_id: JobId(row.get(1)?),
            title: row.get(2)?,
            tries: row.get(3)?,
            content: content(row)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn content(row: &Row<'_>) -> rusqlite::Result<UploadContent> {
    let event: String = row.get(4)?;
    if event == "result.stored" {
        return Ok(UploadContent::Result {
            key: row.get(6)?,
            sha256: row.get(7)?,
            format: rows::result_format(row, 8)?,
            generation: row.get(5)?,
            model: row.get(9)?,
            template: row.get(10)?,
        });
    }
    Ok(UploadContent::Document {
        path: row.get::<_, Option<String>>(11)?.unwrap_or_default(),
        sha256: row.get::<_, Option<String>>(12)?.unwrap_or_default(),
        batch_id: row.get(13)?,
    })
}

fn end(connection: &Connection, outbox_id: i64, error: Option<&str>, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE outbox SET tries = tries + 1, last_error = ?2, ended_at = ?3
             WHERE outbox_id = ?1 AND ended_at IS NULL",
        )?
        .execute((outbox_id, error, now.0))?;
    Ok(())
}

/// Completes a job that waits for its upload. Says whether it did.
fn release(connection: &Connection, job_id: &JobId, now: Timestamp) -> Result<bool> {
    let released = connection
        .prepare_cached(&format!(
            "UPDATE jobs SET held = held & ~{bit}, completed_at = max(?2, created_at),
                 status = CASE WHEN error_code IS NULL THEN 'completed' ELSE 'needs-review' END
             WHERE job_id = ?1 AND status = 'pending' AND held & {bit} <> 0",
            bit = held::UPLOADING
        ))?
        .execute((job_id.as_str(), now.0))?
        == 1;
    if released {
        outbox::batch_completed(connection, job_id, now)?;
    }
    Ok(released)
}

fn failures(connection: &Connection) -> Result<Vec<FailedUpload>> {
    let mut statement = connection.prepare_cached(
        "SELECT o.job_id, j.title, o.last_error, o.ended_at
         FROM outbox AS o JOIN jobs AS j USING (job_id)
         WHERE o.receiver = 'bucket' AND o.ended_at IS NOT NULL AND o.last_error IS NOT NULL
         ORDER BY o.ended_at DESC, o.outbox_id DESC LIMIT ?1",
    )?;
    let found = statement.query_map([FAILURES], |row| {
        Ok(FailedUpload {
            job_id: JobId(row.get(0)?),
            title: row.get(1)?,
            message: row.get(2)?,
            at: rows::timestamp(row, 3)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
