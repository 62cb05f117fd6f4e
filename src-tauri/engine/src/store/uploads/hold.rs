//! What keeps uploads back: all of them at once, or one that broke off.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _};

use super::Upload;
use crate::model::{Timestamp, UploadCause, UploadTrouble};
use crate::store::{Result, Store, rows};

/// Wait after the first trouble that meets all uploads; doubled each time.
const FIRST_HOLD: Duration = Duration::from_secs(10);
/// Longest such wait.
const LONGEST_HOLD: Duration = Duration::from_secs(600);
/// Wait after the first trouble of one upload; doubled each time.
const FIRST_DELAY: Duration = Duration::from_secs(5);
/// Longest such wait.
const LONGEST_DELAY: Duration = Duration::from_secs(300);
impl Store {
    /// Records what stands in the way of all uploads, and when the next one is tried.
    pub(crate) async fn hold_uploads(
        &self,
        upload: Option<Upload>,
        trouble: UploadTrouble,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            if let Some(upload) = &upload {
                put_off(connection, upload, &trouble.message, now)?;
            }
            let present = hold(connection)?;
            // Uploads that were under way together met the same: that is one trouble.
            if present.as_ref().is_some_and(|hold| hold.retry_at > now) {
                return Ok(());
            }
            let tries = present.as_ref().map_or(0, |hold| hold.tries);
            let since = present.as_ref().map_or(now, |hold| hold.since);
            let retry_at = now.after(doubled(FIRST_HOLD, tries, LONGEST_HOLD));
            connection
                .prepare_cached(
                    "INSERT INTO upload_hold (one, cause, message, hint, since, tries, retry_at)
                     VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
                     ON CONFLICT (one) DO UPDATE SET cause = excluded.cause,
                         message = excluded.message, hint = excluded.hint, tries = excluded.tries,
                         retry_at = excluded.retry_at",
                )?
                .execute((
                    trouble.cause.key(),
                    &trouble.message,
                    &trouble.hint,
                    since.0,
                    tries + 1,
                    retry_at.0,
                ))?;
            Ok(())
        })
        .await
    }

    /// Has uploads tried now, since what stood in their way may have been mended.
    pub(crate) async fn release_uploads(&self, now: Timestamp) -> Result<()> {
        self.write(move |connection| {
            connection.execute("DELETE FROM upload_hold", [])?;
            connection.execute(
                "UPDATE outbox SET available_at = ?1
                 WHERE receiver = 'bucket' AND ended_at IS NULL AND available_at > ?1",
                [now.0],
            )?;
            Ok(())
        })
        .await
    }
}

pub(super) struct Hold {
    pub(super) trouble: UploadTrouble,
    since: Timestamp,
    tries: u32,
    pub(super) retry_at: Timestamp,
}

/// Returns the hold, if there is one.
pub(super) fn hold(connection: &Connection) -> Result<Option<Hold>> {
    Ok(connection
        .prepare_cached("SELECT cause, message, hint, since, tries, retry_at FROM upload_hold")?
        .query_row([], |row| {
            let cause: String = row.get(0)?;
            Ok(Hold {
                trouble: UploadTrouble {
                    cause: UploadCause::from_key(&cause).unwrap_or(UploadCause::Refused),
                    message: row.get(1)?,
                    hint: row.get(2)?,
                },
                since: rows::timestamp(row, 3)?,
                tries: row.get(4)?,
                retry_at: rows::timestamp(row, 5)?,
            })
        })
        .optional()?)
}

/// Returns what stands in the way of all uploads.
pub(in crate::store) fn trouble(connection: &Connection) -> Result<Option<UploadTrouble>> {
    Ok(hold(connection)?.map(|hold| hold.trouble))
}

/// Has an upload wait for its next try.
pub(super) fn put_off(
    connection: &Connection,
    upload: &Upload,
    message: &str,
    now: Timestamp,
) -> Result<()> {
    let wait = doubled(FIRST_DELAY, upload.tries, LONGEST_DELAY);
    connection
        .prepare_cached(
            "UPDATE outbox SET tries = tries + 1, last_error = ?2, available_at = ?3
             WHERE outbox_id = ?1 AND ended_at IS NULL",
        )?
        .execute((upload.outbox_id, message, now.after(wait).0))?;
    Ok(())
}

fn doubled(first: Duration, times: u32, longest: Duration) -> Duration {
    first
        .saturating_mul(2_u32.saturating_pow(times.min(16)))
        .min(longest)
}
