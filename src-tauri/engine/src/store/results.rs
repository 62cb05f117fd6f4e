//! Stored results of a job, without their texts.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{Result, Store, rows};
use crate::model::{
    JobId, Passage, Provider, ResultFormat, ReusedFrom, Sha256, Timestamp, UploadView,
};

/// A stored result.
#[derive(Clone, Debug)]
pub(crate) struct ResultRow {
    pub(crate) key: String,
    pub(crate) generation: u32,
    pub(crate) format: ResultFormat,
    pub(crate) provider: Provider,
    pub(crate) model: String,
    pub(crate) template: Option<String>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) sha256: Sha256,
    pub(crate) bytes: u64,
    pub(crate) copy_path: Option<String>,
    pub(crate) copy_error: Option<String>,
    pub(crate) copy_retry_at: Option<Timestamp>,
    pub(crate) upload: Option<UploadView>,
    pub(crate) reused_from: Option<ReusedFrom>,
    pub(crate) created_at: Timestamp,
}

/// A result that may serve again.
#[derive(Clone, Debug)]
pub(crate) struct Reusable {
    pub(crate) job_id: JobId,
    pub(crate) key: String,
    pub(crate) sha256: Sha256,
    pub(crate) format: ResultFormat,
    pub(crate) model: String,
    pub(crate) stop_reason: Option<String>,
    pub(crate) stored_at: Timestamp,
    pub(crate) passages: Vec<Passage>,
}

impl Store {
    /// Returns the newest result of each key that has one.
    pub(crate) async fn reusable(&self, keys: Vec<String>) -> Result<Vec<(String, Reusable)>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                // One that was reused itself names the job that was really asked.
                "SELECT coalesce(r.reused_from, r.job_id), r.key, r.sha256, r.format, r.model, r.stop_reason,
                        coalesce(r.reused_at, r.created_at), r.passages
                 FROM results AS r WHERE r.reuse_key = ?1 ORDER BY r.result_id DESC LIMIT 1",
            )?;
            let mut found = Vec::new();
            for key in keys {
                let mut rows_of_key = statement.query_map([&key], |row| {
                    Ok(Reusable {
                        job_id: JobId(row.get(0)?),
                        key: row.get(1)?,
                        sha256: Sha256(row.get(2)?),
                        format: rows::result_format(row, 3)?,
                        model: row.get(4)?,
                        stop_reason: row.get(5)?,
                        stored_at: rows::timestamp(row, 6)?,
                        passages: rows::json(row, 7)?,
                    })
                })?;
                if let Some(result) = rows_of_key.next().transpose()? {
                    found.push((key, result));
                }
            }
            Ok(found)
        })
        .await
    }

    /// Returns what the provider cited for the newest result of a job; nothing where there is no result.
    pub(crate) async fn passages(&self, job_id: JobId) -> Result<Vec<Passage>> {
        self.read(move |connection| {
            let passages = connection
                .prepare_cached(
                    "SELECT passages FROM results WHERE job_id = ?1 ORDER BY generation DESC LIMIT 1",
                )?
                .query_row([job_id.as_str()], |row| rows::json(row, 0))
                .optional()?;
            Ok(passages.unwrap_or_default())
        })
        .await
    }
}

/// Most earlier runs that are told of.
const MOST: u32 = 100;

/// Returns the results of a job, the newest run first.
pub(super) fn of_job(connection: &Connection, job_id: &JobId) -> Result<Vec<ResultRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT r.key, r.generation, r.format, r.provider, r.model,
                r.template_id || '-v' || r.template_version, r.stop_reason, r.sha256, r.bytes,
                r.copy_path, r.copy_error, r.created_at, r.reused_from, r.reused_at,
                r.remote_address, r.remote_at,
                c.available_at, u.tries, u.last_error, u.available_at, u.ended_at
         FROM results AS r
              LEFT JOIN outbox AS c ON c.receiver = 'folder' AND c.event = 'result.stored'
                   AND c.subject = r.job_id || '/' || r.generation AND c.ended_at IS NULL
                   AND c.tries > 0
              LEFT JOIN outbox AS u ON u.receiver = 'bucket' AND u.event = 'result.stored'
                   AND u.subject = r.job_id || '/' || r.generation
         WHERE r.job_id = ?1 ORDER BY r.generation DESC LIMIT ?2",
    )?;
    let found = statement.query_map((job_id.as_str(), MOST), |row| {
        Ok(ResultRow {
            key: row.get(0)?,
            generation: row.get(1)?,
            format: rows::result_format(row, 2)?,
            provider: rows::provider(row, 3)?,
            model: row.get(4)?,
            template: row.get(5)?,
            stop_reason: row.get(6)?,
            sha256: Sha256(row.get(7)?),
            bytes: rows::unsigned(row, 8)?,
            copy_path: row.get(9)?,
            copy_error: row.get(10)?,
            created_at: rows::timestamp(row, 11)?,
            reused_from: reused_from(row, 12)?,
            copy_retry_at: rows::optional_timestamp(row, 16)?,
            upload: upload(row)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Reads the job that a result was taken from, and when that was stored, from column `at` on.
pub(super) fn reused_from(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<ReusedFrom>> {
    let job_id: Option<String> = row.get(at)?;
    let stored_at = rows::optional_timestamp(row, at + 1)?;
    Ok(job_id.zip(stored_at).map(|(job_id, stored_at)| ReusedFrom {
        job_id: JobId(job_id),
        stored_at,
    }))
}

/// Reads where an upload stands: what is on its way again counts more than where it lies already.
fn upload(row: &Row<'_>) -> rusqlite::Result<Option<UploadView>> {
    let tries: Option<u32> = row.get(17)?;
    let message: Option<String> = row.get(18)?;
    let ended_at = rows::optional_timestamp(row, 20)?;
    let address: Option<String> = row.get(14)?;
    if let (Some(tries), None) = (tries, ended_at) {
        return Ok(Some(UploadView::Waiting {
            tries,
            message,
            at: rows::timestamp(row, 19)?,
        }));
    }
    if let (Some(message), Some(at)) = (message, ended_at) {
        return Ok(Some(UploadView::Failed { message, at }));
    }
    Ok(address
        .zip(rows::optional_timestamp(row, 15)?)
        .map(|(address, at)| UploadView::Uploaded { address, at }))
}
