//! The queues and what a person sets of them.

use rusqlite::Connection;

use super::{Result, Store, held, remote, rows};
use crate::model::{Delivery, LaneSettings, QueueName};

/// A queue with its settings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lane {
    pub(super) queue: QueueName,
    pub(super) paused: bool,
    pub(super) settings: LaneSettings,
}

/// Returns the queues in serving order.
pub(super) fn read(connection: &Connection) -> Result<Vec<Lane>> {
    let mut statement = connection.prepare_cached(
        "SELECT queue, paused, max_batch_size, max_batch_timeout_ms, max_retries, max_concurrency,
                delivery_delay_ms, delivery, remote_requests, remote_wait_ms
         FROM queues ORDER BY serving_order",
    )?;
    let found = statement.query_map([], |row| {
        Ok(Lane {
            queue: rows::queue(row, 0)?,
            paused: row.get(1)?,
            settings: LaneSettings {
                max_batch_size: row.get(2)?,
                max_batch_timeout_ms: row.get(3)?,
                max_retries: row.get(4)?,
                max_concurrency: row.get(5)?,
                delivery_delay_ms: row.get(6)?,
                delivery: rows::delivery(row, 7)?,
                remote_requests: row.get(8)?,
                remote_wait_ms: row.get(9)?,
            },
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

impl Store {
    /// Pauses or resumes a queue. Says whether that changed anything.
    pub(crate) async fn pause(&self, queue: QueueName, paused: bool) -> Result<bool> {
        self.write(move |connection| pause(connection, queue, paused))
            .await
    }

    /// Returns how new jobs of a queue go that ask Claude, where nothing else is said of them.
    pub(crate) async fn delivery(&self, queue: QueueName) -> Result<Delivery> {
        self.read(move |connection| delivery(connection, queue))
            .await
    }

    /// Has the jobs of a queue go another way, whatever was said when they were added.
    pub(crate) async fn deliver_lane(&self, queue: QueueName, delivery: Delivery) -> Result<()> {
        self.write(move |connection| deliver(connection, queue, delivery))
            .await
    }

    /// Stores a queue's settings, which were checked before.
    pub(crate) async fn save_lane(&self, queue: QueueName, settings: LaneSettings) -> Result<()> {
        self.write(move |connection| save_lane(connection, queue, settings))
            .await
    }
}

pub(super) fn pause(connection: &Connection, queue: QueueName, paused: bool) -> Result<bool> {
    Ok(connection.execute(
        "UPDATE queues SET paused = ?2 WHERE queue = ?1 AND paused <> ?2",
        (queue.as_str(), paused),
    )? == 1)
}

/// Returns how new jobs of a queue go that ask Claude.
pub(super) fn delivery(connection: &Connection, queue: QueueName) -> Result<Delivery> {
    Ok(connection
        .prepare_cached("SELECT delivery FROM queues WHERE queue = ?1")?
        .query_row([queue.as_str()], |row| rows::delivery(row, 0))?)
}

/// Has the jobs of a queue go another way, whatever was said when they were added. Pilots are asked call by
/// call.
fn deliver(connection: &Connection, queue: QueueName, delivery: Delivery) -> Result<()> {
    connection.execute(
        "UPDATE jobs SET delivery = ?2
         WHERE status <> 'completed' AND queue = ?1 AND provider = 'claude' AND delivery <> ?2
           AND pilot = 0",
        (queue.as_str(), delivery.as_str()),
    )?;
    // What is left of a cap may be enough now.
    held::look_again(connection, held::BATCH_CAPPED)
}

pub(super) fn save_lane(
    connection: &Connection,
    queue: QueueName,
    settings: LaneSettings,
) -> Result<()> {
    if delivery(connection, queue)? != settings.delivery {
        deliver(connection, queue, settings.delivery)?;
    }
    connection.execute(
        "UPDATE queues SET max_batch_size = ?2, max_batch_timeout_ms = ?3, max_retries = ?4,
             max_concurrency = ?5, delivery_delay_ms = ?6, delivery = ?7, remote_requests = ?8,
             remote_wait_ms = ?9
         WHERE queue = ?1",
        (
            queue.as_str(),
            settings.max_batch_size,
            settings.max_batch_timeout_ms,
            settings.max_retries,
            settings.max_concurrency,
            settings.delivery_delay_ms,
            settings.delivery.as_str(),
            settings.remote_requests,
            settings.remote_wait_ms,
        ),
    )?;
    // What the batch API refused has to do with how it was handed over.
    remote::release(connection)
}
