//! Dealing with the outcome of each request, by itself.

use rusqlite::{Connection, OptionalExtension as _};

use super::handing::close_unwanted;
use super::{Item, hold_again, is_dealt_with, open_item, open_items, settle_item};
use crate::model::{AttemptStep, Delivery, PageRange, Timestamp};
use crate::store::claim::{CLAIMED_COLUMNS, claimed, template_of};
use crate::store::ledger::Settlement;
use crate::store::{ClaimedJob, Lease, Result, Store, rows, templates};

/// What the outcome of a request belongs to.
#[derive(Clone, Debug)]
pub(crate) enum TakenIn {
    /// A job, which is held by the lease of its attempt again; and what its answer is read with.
    Job(Box<ClaimedJob>, String),
    /// A job that nobody wants any more, or that was removed: only what its call cost is left to record.
    Unwanted {
        lease: Lease,
        /// The model that was asked.
        model: String,
    },
    /// It was dealt with, or is none of ours.
    Done,
}

impl Store {
    /// Takes in the outcome of a request. With `answered` also that of a job which was called off: what was
    /// paid is kept.
    pub(crate) async fn take_in(
        &self,
        custom_id: String,
        answered: bool,
        lease_expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<TakenIn> {
        self.write(move |connection| {
            take_in(connection, &custom_id, answered, lease_expires_at, now)
        })
        .await
    }

    /// Records what a request cost that nobody wants the answer of.
    pub(crate) async fn settle_unwanted(
        &self,
        custom_id: String,
        lease: Lease,
        settlement: Settlement,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            settle_unwanted(connection, &custom_id, &lease, settlement, now)
        })
        .await
    }

    /// Notes that the outcome of a request was dealt with.
    pub(crate) async fn settle_request(&self, custom_id: String, now: Timestamp) -> Result<()> {
        self.write(move |connection| settle_item(connection, &custom_id, now))
            .await
    }

    /// Returns the ids of requests whose outcome was not dealt with, at most `limit`.
    pub(crate) async fn open_requests(&self, remote_no: i64, limit: u32) -> Result<Vec<String>> {
        self.read(move |connection| {
            let items = open_items(connection, remote_no, limit)?;
            Ok(items.into_iter().map(|item| item.custom_id).collect())
        })
        .await
    }

    /// Ends a remote batch of which every request was dealt with; `lost` where nobody could tell how.
    pub(crate) async fn end_remote(
        &self,
        remote_no: i64,
        lost: bool,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE remote_batches SET state = ?2, ended_at = ?3, trouble = NULL
                     WHERE remote_no = ?1 AND state IN ('sending', 'under-way')
                       AND NOT EXISTS (SELECT 1 FROM remote_items AS i
                                       WHERE i.remote_no = ?1 AND i.settled_at IS NULL)",
                )?
                .execute((remote_no, if lost { "lost" } else { "ended" }, now.0))?;
            Ok(())
        })
        .await
    }
}

pub(in crate::store) fn settle_unwanted(
    connection: &Connection,
    custom_id: &str,
    lease: &Lease,
    settlement: Settlement,
    now: Timestamp,
) -> Result<()> {
    close_unwanted(connection, lease, settlement, now)?;
    settle_item(connection, custom_id, now)
}

pub(in crate::store) fn take_in(
    connection: &Connection,
    custom_id: &str,
    answered: bool,
    lease_expires_at: Timestamp,
    now: Timestamp,
) -> Result<TakenIn> {
    let Some(item) = open_item(connection, custom_id)? else {
        return Ok(TakenIn::Done);
    };
    let dealt_with = is_dealt_with(connection, &item.lease)?;
    if dealt_with == Some(true) {
        // The program died after that, before it was noted here.
        settle_item(connection, custom_id, now)?;
        return Ok(TakenIn::Done);
    }
    if dealt_with.is_none() || !hold_again(connection, &item, answered, lease_expires_at)? {
        return Ok(TakenIn::Unwanted {
            model: model(connection, &item.lease)?,
            lease: item.lease,
        });
    }
    let job = taken(connection, &item)?;
    Ok(TakenIn::Job(Box::new(job), item.asked))
}

/// Returns a job that its lease holds again, as it was claimed.
fn taken(connection: &Connection, item: &Item) -> Result<ClaimedJob> {
    let lease = &item.lease;
    let (mut job, template) = connection
        .prepare_cached(&format!(
            "SELECT {CLAIMED_COLUMNS} FROM jobs WHERE job_id = ?1 AND lease_id = ?2"
        ))?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| {
            Ok((claimed(row, &lease.lease_id)?, template_of(row)?))
        })?;
    if let Some((template_id, version)) = template {
        job.template = templates::template(connection, &template_id, version)?;
    }
    job.delivery = Delivery::Batch;
    (job.step, job.estimated_input) = connection
        .prepare_cached(
            "SELECT step, first_page, last_page, estimated_input FROM attempts
             WHERE job_id = ?1 AND lease_id = ?2",
        )?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| {
            let step = match row.get::<_, String>(0)?.as_str() {
                "part" => AttemptStep::Part {
                    pages: PageRange {
                        first: row.get(1)?,
                        last: row.get(2)?,
                    },
                },
                "combine" => AttemptStep::Combine,
                _ => AttemptStep::Whole,
            };
            Ok((step, rows::optional_unsigned(row, 3)?))
        })?;
    Ok(job)
}

/// Returns the model that a lease was promised money for.
fn model(connection: &Connection, lease: &Lease) -> Result<String> {
    Ok(connection
        .prepare_cached("SELECT model FROM ledger WHERE job_id = ?1 AND lease_id = ?2")?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| row.get(0))
        .optional()?
        .unwrap_or_default())
}
