//! What is handed to the provider's batch API: many jobs of bulk at once, each by one request.
//!
//! A remote batch is gathered by a claim (its jobs run while their files are read), sealed in the
//! transaction that makes its jobs `submitted` and writes down what is about to be sent, and only then
//! created at the provider. Whether an intent without an id became a remote batch is found out by looking,
//! never by sending it again. The outcome of each request is dealt with by itself: the job is held by the
//! lease of its attempt again, and everything goes on as after a call of its own.

mod collect;
mod gather;
mod handing;
mod hold;
mod look;
mod recover;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{Lease, Result, rows};
use crate::model::{JobId, Timestamp};

pub(crate) use collect::TakenIn;
#[cfg(test)]
pub(super) use collect::{settle_unwanted, take_in};
pub(crate) use gather::GatherRequest;
#[cfg(test)]
pub(crate) use gather::Gathered;
pub(super) use gather::filled_at;
#[cfg(test)]
pub(super) use gather::gather;
pub(crate) use handing::{NewRequest, Refused, Sealing};
#[cfg(test)]
pub(super) use handing::{handed, put_back, seal};
pub(super) use hold::{hold, release};
pub(crate) use look::{Created, Looked, RemoteBatch, RemoteState};
pub(super) use look::{are_out, is_out, of_job, submitted};
pub(super) use recover::recover;

/// A request of a remote batch whose outcome was not dealt with.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) custom_id: String,
    pub(super) lease: Lease,
    pub(super) asked: String,
}

const ITEM_COLUMNS: &str = "custom_id, job_id, lease_id, generation, number, asked";

fn item(row: &Row<'_>) -> rusqlite::Result<Item> {
    Ok(Item {
        custom_id: row.get(0)?,
        lease: Lease {
            job_id: JobId(row.get(1)?),
            lease_id: row.get(2)?,
            generation: row.get(3)?,
            number: row.get(4)?,
        },
        asked: row.get(5)?,
    })
}

/// Returns a request by its id, unless its outcome was dealt with.
fn open_item(connection: &Connection, custom_id: &str) -> Result<Option<Item>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {ITEM_COLUMNS} FROM remote_items WHERE custom_id = ?1 AND settled_at IS NULL"
        ))?
        .query_row([custom_id], item)
        .optional()?)
}

/// Returns requests of a remote batch whose outcome was not dealt with, at most `limit`.
fn open_items(connection: &Connection, remote_no: i64, limit: u32) -> Result<Vec<Item>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {ITEM_COLUMNS} FROM remote_items
         WHERE remote_no = ?1 AND settled_at IS NULL ORDER BY custom_id LIMIT ?2"
    ))?;
    let found = statement.query_map((remote_no, limit), item)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn settle_item(connection: &Connection, custom_id: &str, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE remote_items SET settled_at = ?2 WHERE custom_id = ?1 AND settled_at IS NULL",
        )?
        .execute((custom_id, now.0))?;
    Ok(())
}

/// Says whether jobs are in line that are to be handed to the batch API.
pub(super) fn are_waiting(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM jobs
                            WHERE status = 'pending' AND held = 0 AND queue = 'bulk'
                              AND provider = 'claude' AND delivery = 'batch')
                 OR EXISTS (SELECT 1 FROM jobs
                            WHERE status = 'pending' AND held = 16 AND queue = 'bulk'
                              AND provider = 'claude' AND delivery = 'batch')",
        )?
        .query_row([], |row| row.get(0))?)
}

/// Has the job of a request held by the lease of its attempt again: one that is with the batch API, or, with
/// `also_cancelled`, one that was called off meanwhile. Says whether it is.
fn hold_again(
    connection: &Connection,
    item: &Item,
    also_cancelled: bool,
    until: Timestamp,
) -> Result<bool> {
    let lease = &item.lease;
    let changed = connection
        .prepare_cached(
            // Pausing a batch passes over what is called off.
            "UPDATE jobs SET cancel_requested = status = 'cancelled', completed_at = NULL,
                 status = 'running', lease_id = ?3, lease_expires_at = ?4,
                 held = held & ~2 | 2 * (SELECT paused FROM batches AS b WHERE b.batch_id = jobs.batch_id)
             WHERE job_id = ?1 AND generation = ?2
               AND (status = 'submitted' OR (status = 'cancelled' AND ?5))",
        )?
        .execute((
            lease.job_id.as_str(),
            lease.generation,
            &lease.lease_id,
            until.0,
            also_cancelled,
        ))?;
    Ok(changed == 1)
}

/// Whether what became of an attempt is known: `None` where there is none any more, since its job was
/// removed.
fn is_dealt_with(connection: &Connection, lease: &Lease) -> Result<Option<bool>> {
    Ok(connection
        .prepare_cached(
            // A job that still waits for its outcome got none, whatever is known of its cost.
            "SELECT a.outcome <> 'running'
                 OR (a.input_tokens IS NOT NULL AND j.status NOT IN ('submitted', 'cancelled'))
             FROM attempts AS a JOIN jobs AS j USING (job_id)
             WHERE a.job_id = ?1 AND a.lease_id = ?2",
        )?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| row.get(0))
        .optional()?)
}

/// Has remote batches looked at in time, and handed over in time, where the clock went back.
pub(super) fn follow_clock(connection: &Connection, now: Timestamp) -> Result<()> {
    /// Nothing is put off for longer, in milliseconds.
    const LONGEST: i64 = 24 * 3_600_000;
    connection
        .prepare_cached(
            "UPDATE remote_batches SET sent_at = min(sent_at, ?1), look_at = ?1
             WHERE state IN ('sending', 'under-way') AND (sent_at > ?1 OR look_at > ?1 + ?2)",
        )?
        .execute((now.0, LONGEST))?;
    connection
        .prepare_cached("UPDATE remote_hold SET retry_at = ?1 WHERE retry_at > ?1 + ?2")?
        .execute((now.0, LONGEST))?;
    Ok(())
}

/// Reads a row of remote batches.
fn state(row: &Row<'_>, index: usize) -> rusqlite::Result<RemoteState> {
    rows::word(row, index, RemoteState::from_word)
}
