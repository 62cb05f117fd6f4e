//! What is kept and what goes: events that were told, unused pages of the file.

use super::{Result, Store};
use crate::model::Timestamp;

/// Ledger rows and told events older than this serve nobody, in milliseconds (400 days: a month's cap
/// never looks further back, and a year's accounts can still be made).
const KEPT: i64 = 400 * 24 * 3_600_000;
/// Pages given back to the disk at once, so that nobody waits for long.
const PAGES: u32 = 256;

impl Store {
    /// Removes what nobody needs any more, besides jobs.
    pub(crate) async fn forget_old(&self, now: Timestamp) -> Result<()> {
        self.write(move |connection| {
            let before = now.0 - KEPT;
            connection.execute(
                "DELETE FROM ledger WHERE reserved_at < ?1 AND state <> 'reserved'",
                [before],
            )?;
            connection.execute(
                "DELETE FROM outbox WHERE ended_at IS NOT NULL AND ended_at < ?1",
                [before],
            )?;
            connection.execute(
                "DELETE FROM remote_items WHERE remote_no IN
                     (SELECT remote_no FROM remote_batches WHERE ended_at < ?1)",
                [before],
            )?;
            connection.execute("DELETE FROM remote_batches WHERE ended_at < ?1", [before])?;
            connection.execute(
                "DELETE FROM batches WHERE created_at < ?1
                     AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.batch_id = batches.batch_id)",
                [before],
            )?;
            Ok(())
        })
        .await
    }

    /// Gives some unused pages back to the disk. Says whether there are more.
    pub(crate) async fn give_back_pages(&self) -> Result<bool> {
        self.write_alone(|connection| {
            let free = |connection: &rusqlite::Connection| {
                connection.query_row("PRAGMA freelist_count", [], |row| row.get::<_, u32>(0))
            };
            if free(connection)? == 0 {
                return Ok(false);
            }
            let mut statement =
                connection.prepare(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
            let mut pages = statement.query([])?;
            // Each row is a page: the work is done by reading them.
            while pages.next()?.is_some() {}
            Ok(free(connection)? > 0)
        })
        .await
    }
}
