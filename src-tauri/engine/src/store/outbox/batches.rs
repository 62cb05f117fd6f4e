//! Files that finished batches leave beside the copies of their results.

use rusqlite::named_params;

use crate::model::{BatchId, ExportFormat, Sha256, Timestamp};
use crate::store::{Result, Store, policy};

/// A finished batch whose files are due.
#[derive(Clone, Debug)]
pub(crate) struct BatchToLeave {
    pub(crate) outbox_id: i64,
    pub(crate) batch_id: BatchId,
    pub(crate) name: String,
    /// The folder that holds all of its PDFs.
    pub(crate) folder: Option<String>,
    pub(crate) tries: u32,
}

/// A file that a batch left, or why it could not.
#[derive(Clone, Debug)]
pub(crate) struct BatchFile {
    pub(crate) path: Option<String>,
    pub(crate) sha256: Option<Sha256>,
    pub(crate) error: Option<String>,
}

impl Store {
    /// Returns the finished batches whose files are due, oldest first, at most twenty.
    pub(crate) async fn batches_to_leave(&self, now: Timestamp) -> Result<Vec<BatchToLeave>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT o.outbox_id, b.batch_id, b.name, b.folder, o.tries
                 FROM outbox AS o JOIN batches AS b USING (batch_id)
                 WHERE o.receiver = 'folder' AND o.event = 'batch.completed' AND o.ended_at IS NULL
                   AND o.available_at <= ?1
                 ORDER BY o.outbox_id LIMIT 20",
            )?;
            let found = statement.query_map([now.0], |row| {
                Ok(BatchToLeave {
                    outbox_id: row.get(0)?,
                    batch_id: BatchId(row.get(1)?),
                    name: row.get(2)?,
                    folder: row.get(3)?,
                    tries: row.get(4)?,
                })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Returns which files finished batches leave.
    pub(crate) async fn batch_files_wanted(&self) -> Result<Vec<ExportFormat>> {
        self.read(policy::batch_files).await
    }

    /// Returns the file of a format that a batch left before, with its digest as it was written.
    pub(crate) async fn batch_file(
        &self,
        batch_id: BatchId,
        format: ExportFormat,
    ) -> Result<Option<(String, Sha256)>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT path, sha256 FROM batch_files
                 WHERE batch_id = ?1 AND format = ?2 AND path IS NOT NULL",
            )?;
            let mut found = statement.query_map((batch_id.as_str(), word(format)), |row| {
                Ok((row.get(0)?, Sha256(row.get(1)?)))
            })?;
            Ok(found.next().transpose()?)
        })
        .await
    }

    /// Records a file that a batch left, or why it could not.
    pub(crate) async fn batch_file_left(
        &self,
        batch_id: BatchId,
        format: ExportFormat,
        file: BatchFile,
    ) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT INTO batch_files (batch_id, format, path, sha256, error)
                     VALUES (:batch, :format, :path, :sha256, :error)
                     ON CONFLICT (batch_id, format) DO UPDATE SET
                         path = coalesce(excluded.path, path),
                         sha256 = coalesce(excluded.sha256, sha256), error = excluded.error",
                )?
                .execute(named_params! {
                    ":batch": batch_id.as_str(),
                    ":format": word(format),
                    ":path": file.path,
                    ":sha256": file.sha256.as_ref().map(Sha256::as_str),
                    ":error": file.error,
                })?;
            Ok(())
        })
        .await
    }
}

fn word(format: ExportFormat) -> &'static str {
    match format {
        ExportFormat::Csv => "csv",
        ExportFormat::Jsonl => "jsonl",
        ExportFormat::Markdown => "markdown",
    }
}
