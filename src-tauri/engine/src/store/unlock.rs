//! Jobs that failed for want of a password.

use rusqlite::params_from_iter;

use super::{Result, Store, actions, submit};
use crate::model::{Cause, DocumentView, JobId, Selection, Sha256, Timestamp};

/// A job that failed since its file needs a password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LockedJob {
    pub(crate) job_id: JobId,
    pub(crate) path: String,
    pub(crate) sha256: Sha256,
}

impl Store {
    /// Returns how many jobs are selected, and those of them that failed since their files need a password.
    pub(crate) async fn locked_jobs(&self, selection: Selection) -> Result<(u64, Vec<LockedJob>)> {
        self.read(move |connection| {
            let (condition, values) = actions::chosen(&selection);
            let selected: i64 = connection
                .prepare_cached(&format!("SELECT count(*) FROM jobs AS j WHERE {condition}"))?
                .query_row(params_from_iter(&values), |row| row.get(0))?;
            let mut statement = connection.prepare_cached(&format!(
                "SELECT j.job_id, j.source_path, j.document_sha256 FROM jobs AS j
                 WHERE {condition} AND j.status IN ('failed', 'dead-lettered') AND j.error_code = '{}'
                   AND j.source_path IS NOT NULL AND j.document_sha256 IS NOT NULL
                 ORDER BY j.seq",
                Cause::PdfEncrypted.key()
            ))?;
            let locked = statement.query_map(params_from_iter(&values), |row| {
                Ok(LockedJob {
                    job_id: JobId(row.get(0)?),
                    path: row.get(1)?,
                    sha256: Sha256(row.get(2)?),
                })
            })?;
            Ok((
                selected.cast_unsigned(),
                locked.collect::<rusqlite::Result<_>>()?,
            ))
        })
        .await
    }

    /// Remembers what documents turned out to be that were inspected anew.
    pub(crate) async fn inspected_anew(
        &self,
        documents: Vec<DocumentView>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            for document in &documents {
                submit::remember_document(connection, document, now)?;
            }
            Ok(())
        })
        .await
    }
}
