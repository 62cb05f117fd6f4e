//! PDFs that lie at the provider while they are asked about.

use super::{Result, Store};
use crate::model::Timestamp;

/// After this time in milliseconds a file has ended by itself.
const LENT_FOR: i64 = 60 * 60 * 1_000;

impl Store {
    /// Remembers a file, so that it is removed even where this program does not live to see its answer.
    pub(crate) async fn lend(&self, file_id: String, now: Timestamp) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "INSERT OR REPLACE INTO lent_files (file_id, lent_at) VALUES (?1, ?2)",
                )?
                .execute((&file_id, now.0))?;
            Ok(())
        })
        .await
    }

    /// Forgets a file that is removed.
    pub(crate) async fn given_back(&self, file_id: String) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM lent_files WHERE file_id = ?1")?
                .execute([&file_id])?;
            Ok(())
        })
        .await
    }

    /// Returns the files that may still lie at the provider, after forgetting those that have ended by themselves.
    pub(crate) async fn lent(&self, now: Timestamp) -> Result<Vec<String>> {
        self.write(move |connection| {
            // Where the clock went back, a file may be older than it seems; removing it does no harm.
            connection
                .prepare_cached("DELETE FROM lent_files WHERE lent_at < ?1")?
                .execute([now.0 - LENT_FOR])?;
            let mut statement =
                connection.prepare_cached("SELECT file_id FROM lent_files ORDER BY lent_at")?;
            let found = statement.query_map([], |row| row.get(0))?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}
