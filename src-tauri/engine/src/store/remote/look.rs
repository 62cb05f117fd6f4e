//! Looking after what the batch API has.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::state;
use crate::model::{JobId, RemoteView, SubmittedView, Timestamp};
use crate::store::{Result, Store, rows};

/// Where a remote batch stands that is not over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RemoteState {
    /// About to be created, or created without anybody knowing its id.
    Sending,
    /// The provider has it.
    UnderWay,
}

impl RemoteState {
    pub(super) fn from_word(word: &str) -> Option<Self> {
        match word {
            "sending" => Some(Self::Sending),
            "under-way" => Some(Self::UnderWay),
            _ => None,
        }
    }
}

/// A remote batch that is not over.
#[derive(Clone, Debug)]
pub(crate) struct RemoteBatch {
    pub(crate) remote_no: i64,
    pub(crate) state: RemoteState,
    /// What the ids of its requests begin with.
    pub(crate) prefix: String,
    pub(crate) requests: u64,
    pub(crate) address: String,
    pub(crate) key_mark: String,
    pub(crate) sent_at: Timestamp,
    /// Since when nothing of it is on its way any more.
    pub(crate) left_at: Option<Timestamp>,
    pub(crate) remote_id: Option<String>,
    /// Whether the provider was asked to call it off.
    pub(crate) called_off: bool,
    /// Looks since its state changed.
    pub(crate) looks: u32,
    /// When its results could be read first, if they could.
    pub(crate) results_at: Option<Timestamp>,
    /// Since when the provider does not know it.
    pub(crate) missing_since: Option<Timestamp>,
    /// When it is looked at next.
    pub(crate) look_at: Timestamp,
    /// Whether nobody wants any of its results.
    pub(crate) unwanted: bool,
}

impl RemoteBatch {
    /// Says whether the provider is to be told that nobody wants it any more.
    pub(crate) fn is_to_be_called_off(&self) -> bool {
        self.unwanted
            && !self.called_off
            && self.state == RemoteState::UnderWay
            && self.results_at.is_none()
    }
}

/// A remote batch as the provider created it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Created {
    pub(crate) remote_id: String,
    pub(crate) created_at: Timestamp,
}

/// What a look came to.
#[derive(Clone, Debug)]
pub(crate) struct Looked {
    /// When to look next.
    pub(crate) look_at: Timestamp,
    /// What it met, where it did not go well.
    pub(crate) trouble: Option<String>,
    /// Whether the provider does not know it.
    pub(crate) missing: bool,
    /// Whether its results are there.
    pub(crate) has_results: bool,
}

/// Which remote batches are looked at: not one that is being sent.
const TO_LOOK_AT: &str =
    "state IN ('sending', 'under-way') AND (state = 'under-way' OR left_at IS NOT NULL)";

const COLUMNS: &str = "remote_no, state, replace(lease_id, '-', ''), requests, address, key_mark, sent_at, \
     remote_id, called_off, looks, results_at, look_at, missing_since, left_at, \
     NOT EXISTS (SELECT 1 FROM remote_items AS i JOIN jobs AS j USING (job_id) \
                 WHERE i.remote_no = b.remote_no AND i.settled_at IS NULL AND j.status <> 'cancelled' \
                   AND j.generation = i.generation)";

fn remote(row: &Row<'_>) -> rusqlite::Result<RemoteBatch> {
    Ok(RemoteBatch {
        remote_no: row.get(0)?,
        state: state(row, 1)?,
        prefix: row.get(2)?,
        requests: rows::unsigned(row, 3)?,
        address: row.get(4)?,
        key_mark: row.get(5)?,
        sent_at: rows::timestamp(row, 6)?,
        remote_id: row.get(7)?,
        called_off: row.get(8)?,
        looks: row.get(9)?,
        results_at: rows::optional_timestamp(row, 10)?,
        look_at: rows::timestamp(row, 11)?,
        missing_since: rows::optional_timestamp(row, 12)?,
        left_at: rows::optional_timestamp(row, 13)?,
        unwanted: row.get(14)?,
    })
}

impl Looked {
    /// It went well, and is looked at again at a moment.
    pub(crate) fn again_at(look_at: Timestamp) -> Self {
        Self {
            look_at,
            trouble: None,
            missing: false,
            has_results: false,
        }
    }
}

impl Store {
    /// Returns the remote batches to look at now, at most `limit`: those whose time has come, and those that
    /// nobody wants any more and the provider was not told so.
    pub(crate) async fn remote_due(&self, now: Timestamp, limit: u32) -> Result<Vec<RemoteBatch>> {
        self.read(move |connection| {
            // Few are out at a time: one for each thousand jobs.
            let mut statement = connection.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM remote_batches AS b
                 WHERE {TO_LOOK_AT} ORDER BY look_at, remote_no"
            ))?;
            let mut due = Vec::new();
            let mut found = statement.query([])?;
            while due.len() < limit as usize
                && let Some(row) = found.next()?
            {
                let remote = remote(row)?;
                if remote.look_at <= now || remote.is_to_be_called_off() {
                    due.push(remote);
                }
            }
            Ok(due)
        })
        .await
    }

    /// Returns when a remote batch has to be looked at next.
    pub(crate) async fn next_remote_look(&self) -> Result<Option<Timestamp>> {
        self.read(|connection| {
            Ok(connection
                .prepare_cached(&format!(
                    "SELECT min(look_at) FROM remote_batches WHERE {TO_LOOK_AT}"
                ))?
                .query_row([], |row| rows::optional_timestamp(row, 0))?)
        })
        .await
    }

    /// Has every remote batch looked at now, since the key or the address is another one.
    pub(crate) async fn look_at_remotes(&self, now: Timestamp) -> Result<()> {
        self.write(move |connection| {
            connection.execute(
                "UPDATE remote_batches SET look_at = min(look_at, ?1)
                 WHERE state IN ('sending', 'under-way')",
                [now.0],
            )?;
            super::release(connection)
        })
        .await
    }

    /// Notes what a look came to.
    pub(crate) async fn looked(
        &self,
        remote_no: i64,
        looked: Looked,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE remote_batches SET look_at = ?2, trouble = ?3, looks = looks + 1,
                         results_at = CASE WHEN ?4 THEN coalesce(results_at, ?5) ELSE results_at END,
                         missing_since = CASE WHEN ?6 THEN coalesce(missing_since, ?5) END
                     WHERE remote_no = ?1 AND state IN ('sending', 'under-way')",
                )?
                .execute((
                    remote_no,
                    looked.look_at.0,
                    &looked.trouble,
                    looked.has_results,
                    now.0,
                    looked.missing,
                ))?;
            Ok(())
        })
        .await
    }

    /// Notes that the provider was asked to call a remote batch off.
    pub(crate) async fn called_off(&self, remote_no: i64) -> Result<()> {
        self.write(move |connection| {
            connection.execute(
                "UPDATE remote_batches SET called_off = 1 WHERE remote_no = ?1",
                [remote_no],
            )?;
            Ok(())
        })
        .await
    }

    /// Returns the ids of all remote batches that are known: no intent without an id is one of them.
    pub(crate) async fn known_remote_ids(&self) -> Result<Vec<String>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT remote_id FROM remote_batches WHERE remote_id IS NOT NULL
                 ORDER BY remote_no DESC LIMIT 10000",
            )?;
            let found = statement.query_map([], |row| row.get(0))?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }
}

/// Says whether the batch API has something, or may have.
pub(in crate::store) fn are_out(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM remote_batches WHERE state IN ('sending', 'under-way'))",
        )?
        .query_row([], |row| row.get(0))?)
}

/// Returns what the batch API has; `None` for nothing.
pub(in crate::store) fn submitted(connection: &Connection) -> Result<Option<SubmittedView>> {
    let jobs = connection
        .prepare_cached(
            "SELECT coalesce(sum(jobs), 0) FROM lane_counts WHERE status = 'submitted'",
        )?
        .query_row([], |row| rows::unsigned(row, 0))?;
    let (remote_batches, since, trouble) = connection
        .prepare_cached(
            "SELECT count(*), min(sent_at),
                    (SELECT trouble FROM remote_batches WHERE state IN ('sending', 'under-way')
                     AND trouble IS NOT NULL ORDER BY remote_no LIMIT 1)
             FROM remote_batches WHERE state IN ('sending', 'under-way')",
        )?
        .query_row([], |row| {
            Ok((
                rows::unsigned(row, 0)?,
                rows::optional_timestamp(row, 1)?,
                row.get(2)?,
            ))
        })?;
    Ok(since.filter(|_| jobs > 0).map(|since| SubmittedView {
        jobs,
        remote_batches,
        since,
        trouble,
    }))
}

/// Returns where a job stands with the batch API.
pub(in crate::store) fn of_job(
    connection: &Connection,
    job_id: &JobId,
) -> Result<Option<RemoteView>> {
    Ok(connection
        .prepare_cached(
            "SELECT r.remote_id, i.custom_id, r.requests, r.sent_at, r.trouble
             FROM remote_items AS i JOIN remote_batches AS r USING (remote_no)
             WHERE i.job_id = ?1 AND i.settled_at IS NULL LIMIT 1",
        )?
        .query_row([job_id.as_str()], |row| {
            Ok(RemoteView {
                remote_id: row.get(0)?,
                custom_id: row.get(1)?,
                requests: rows::unsigned(row, 2)?,
                sent_at: rows::timestamp(row, 3)?,
                trouble: row.get(4)?,
            })
        })
        .optional()?)
}

/// Condition over `jobs AS j`: a request of it is out whose outcome is not dealt with.
pub(in crate::store) fn is_out() -> &'static str {
    "EXISTS (SELECT 1 FROM remote_items AS i WHERE i.job_id = j.job_id AND i.settled_at IS NULL)"
}
