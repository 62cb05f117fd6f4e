//! Why nothing is handed over for a while.

use rusqlite::{Connection, OptionalExtension as _};

use crate::model::{Cause, Timestamp};
use crate::store::{Result, Store, rows};

/// What the provider's batch API met the last time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::store) struct Hold {
    pub(in crate::store) cause: Cause,
    pub(in crate::store) message: String,
    pub(in crate::store) retry_at: Timestamp,
    /// So many requests at most the next time; `None` for as many as the queue allows.
    pub(in crate::store) requests: Option<u32>,
}

impl Store {
    /// Returns how often handing over was refused in a row.
    pub(crate) async fn refusals_in_a_row(&self) -> Result<u32> {
        self.read(|connection| {
            Ok(connection
                .query_row("SELECT tries FROM remote_hold", [], |row| row.get(0))
                .optional()?
                .unwrap_or(0))
        })
        .await
    }

    /// Has nothing handed over until a moment, and then at most so many requests.
    pub(crate) async fn hold_handing_over(
        &self,
        cause: Cause,
        message: String,
        retry_at: Timestamp,
        requests: Option<u32>,
    ) -> Result<()> {
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO remote_hold (one, cause, message, tries, retry_at, requests)
                 VALUES (1, ?1, ?2, 1, ?3, ?4)
                 ON CONFLICT DO UPDATE SET cause = excluded.cause, message = excluded.message,
                     tries = tries + 1, retry_at = excluded.retry_at, requests = excluded.requests",
                (cause.key(), &message, retry_at.0, requests),
            )?;
            Ok(())
        })
        .await
    }
}

/// Returns what holds the handing over, or held it last.
pub(in crate::store) fn hold(connection: &Connection) -> Result<Option<Hold>> {
    Ok(connection
        .prepare_cached("SELECT cause, message, retry_at, requests FROM remote_hold")?
        .query_row([], |row| {
            Ok(Hold {
                cause: rows::cause(row, 0)?.unwrap_or(Cause::UnexpectedStatus),
                message: row.get(1)?,
                retry_at: rows::timestamp(row, 2)?,
                requests: row.get(3)?,
            })
        })
        .optional()?)
}

/// Has jobs handed over again.
pub(in crate::store) fn release(connection: &Connection) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM remote_hold")?
        .execute([])?;
    Ok(())
}
