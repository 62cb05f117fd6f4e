//! Counts, lanes, batches, circuits and what the last minutes used.

use rusqlite::Connection;

use super::{Result, Store, rows};
use crate::model::{
    BatchId, BatchView, Cause, CircuitView, JobCounts, JobStatus, LaneView, QueueName, Timestamp,
};

/// Batches shown.
const BATCHES: u32 = 10;
/// Minutes of throughput shown.
const MINUTES: i64 = 30;
/// A minute in milliseconds.
const MINUTE: i64 = 60_000;

/// Everything around a list that the database knows, in one snapshot.
#[derive(Clone, Debug)]
pub(crate) struct OverviewRow {
    pub(crate) counts: JobCounts,
    pub(crate) lanes: Vec<LaneView>,
    pub(crate) batches: Vec<BatchView>,
    pub(crate) circuits: Vec<CircuitView>,
    /// When the next pending job that nothing else holds becomes visible.
    pub(crate) next_available: Option<(Timestamp, bool)>,
    pub(crate) spent_micros: i64,
    pub(crate) requests: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) finished_per_minute: Vec<u32>,
}

impl Store {
    /// Returns everything around a list. `spent_since` is where the day of spending began.
    pub(crate) async fn overview(
        &self,
        now: Timestamp,
        spent_since: Timestamp,
    ) -> Result<OverviewRow> {
        self.read(move |connection| {
            let lanes = lanes(connection)?;
            let (requests, input_tokens, output_tokens) = last_minute(connection, now)?;
            Ok(OverviewRow {
                counts: counts(connection)?,
                lanes,
                batches: batches(connection)?,
                circuits: circuits(connection)?,
                next_available: next_available(connection)?,
                spent_micros: spent(connection, spent_since)?,
                requests,
                input_tokens,
                output_tokens,
                finished_per_minute: finished(connection, now)?,
            })
        })
        .await
    }

    /// Returns the causes of the circuits that are open.
    pub(crate) async fn open_circuits(&self) -> Result<Vec<CircuitView>> {
        self.read(circuits).await
    }
}

fn add(counts: &mut JobCounts, status: JobStatus, jobs: u64) {
    counts.total += jobs;
    let place = match status {
        JobStatus::Pending => &mut counts.waiting,
        JobStatus::Running | JobStatus::Submitted => &mut counts.running,
        JobStatus::Completed => &mut counts.done,
        JobStatus::NeedsReview => &mut counts.needs_review,
        JobStatus::Failed | JobStatus::DeadLettered => &mut counts.dead_letters,
        JobStatus::Cancelled => &mut counts.cancelled,
    };
    *place += jobs;
}

fn counts(connection: &Connection) -> Result<JobCounts> {
    let mut statement = connection.prepare_cached("SELECT status, jobs FROM lane_counts")?;
    let mut counts = JobCounts::default();
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        add(&mut counts, rows::status(row, 0)?, rows::unsigned(row, 1)?);
    }
    Ok(counts)
}

fn lanes(connection: &Connection) -> Result<Vec<LaneView>> {
    let mut statement = connection.prepare_cached(
        "SELECT q.queue, q.paused, q.max_concurrency,
                coalesce((SELECT sum(jobs) FROM lane_counts AS c
                          WHERE c.queue = q.queue AND status IN ('running', 'submitted')), 0),
                coalesce((SELECT jobs FROM lane_counts AS c
                          WHERE c.queue = q.queue AND status = 'pending'), 0)
         FROM queues AS q ORDER BY q.serving_order",
    )?;
    let found = statement.query_map([], |row| {
        Ok(LaneView {
            queue: rows::queue(row, 0)?,
            paused: row.get(1)?,
            max_concurrency: row.get(2)?,
            running: rows::unsigned(row, 3)?,
            waiting: rows::unsigned(row, 4)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn batches(connection: &Connection) -> Result<Vec<BatchView>> {
    let mut statement = connection.prepare_cached(
        "SELECT batch_id, name, created_at FROM batches
         ORDER BY created_at DESC, batch_id DESC LIMIT ?1",
    )?;
    let mut batches = statement
        .query_map([BATCHES], |row| {
            Ok(BatchView {
                batch_id: BatchId(row.get(0)?),
                name: row.get(1)?,
                created_at: rows::timestamp(row, 2)?,
                counts: JobCounts::default(),
            })
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let mut statement =
        connection.prepare_cached("SELECT status, jobs FROM batch_counts WHERE batch_id = ?1")?;
    for batch in &mut batches {
        let mut found = statement.query([batch.batch_id.as_str()])?;
        while let Some(row) = found.next()? {
            add(
                &mut batch.counts,
                rows::status(row, 0)?,
                rows::unsigned(row, 1)?,
            );
        }
    }
    Ok(batches)
}

fn circuits(connection: &Connection) -> Result<Vec<CircuitView>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.provider, c.cause, c.message, c.opened_at,
                (SELECT count(*) FROM jobs AS j WHERE j.provider = c.provider AND j.status = 'pending')
         FROM circuits AS c ORDER BY c.provider",
    )?;
    let found = statement.query_map([], |row| {
        let cause = rows::cause(row, 1)?.unwrap_or(Cause::UnexpectedStatus);
        Ok(CircuitView {
            provider: rows::provider(row, 0)?,
            cause,
            message: row.get(2)?,
            hint: cause.hint().to_owned(),
            opened_at: rows::timestamp(row, 3)?,
            waiting: rows::unsigned(row, 4)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns when the next pending job becomes visible, and whether it waits for a retry.
fn next_available(connection: &Connection) -> Result<Option<(Timestamp, bool)>> {
    let mut statement = connection.prepare_cached(
        "SELECT available_at, attempts > 0 FROM jobs
         WHERE status = 'pending' AND queue IN (SELECT queue FROM queues WHERE paused = 0)
           AND provider NOT IN (SELECT provider FROM circuits)
         ORDER BY available_at LIMIT 1",
    )?;
    let mut found = statement.query([])?;
    Ok(match found.next()? {
        Some(row) => Some((rows::timestamp(row, 0)?, row.get(1)?)),
        None => None,
    })
}

fn spent(connection: &Connection, since: Timestamp) -> Result<i64> {
    Ok(connection
        .prepare_cached("SELECT coalesce(sum(cost_micros), 0) FROM attempts WHERE ended_at >= ?1")?
        .query_row([since.0], |row| row.get(0))?)
}

fn last_minute(connection: &Connection, now: Timestamp) -> Result<(u64, u64, u64)> {
    let since = now.0 - MINUTE;
    let requests = connection
        .prepare_cached(
            "SELECT count(*) FROM attempts WHERE started_at > ?1 AND provider <> 'offline'",
        )?
        .query_row([since], |row| rows::unsigned(row, 0))?;
    let (input, output) = connection
        .prepare_cached(
            "SELECT coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0)
             FROM attempts WHERE ended_at > ?1",
        )?
        .query_row([since], |row| {
            Ok((rows::unsigned(row, 0)?, rows::unsigned(row, 1)?))
        })?;
    Ok((requests, input, output))
}

fn finished(connection: &Connection, now: Timestamp) -> Result<Vec<u32>> {
    // Whole minutes, so that a bar does not change while its minute is past.
    let this_minute = now.0.div_euclid(MINUTE);
    let first = this_minute - (MINUTES - 1);
    let mut statement = connection.prepare_cached(
        "SELECT completed_at / 60000, count(*) FROM jobs
         WHERE completed_at >= ?1 AND status IN ('completed', 'needs-review') GROUP BY 1",
    )?;
    let mut minutes = vec![0; usize::try_from(MINUTES).unwrap_or(0)];
    let mut found = statement.query([first * MINUTE])?;
    while let Some(row) = found.next()? {
        let place = usize::try_from(row.get::<_, i64>(0)? - first).unwrap_or(usize::MAX);
        if let Some(minute) = minutes.get_mut(place) {
            *minute = row.get(1)?;
        }
    }
    Ok(minutes)
}

/// Returns the queues that a person paused.
pub(crate) fn paused_lanes(lanes: &[LaneView]) -> Vec<QueueName> {
    lanes
        .iter()
        .filter(|lane| lane.paused && lane.waiting > 0)
        .map(|lane| lane.queue)
        .collect()
}
