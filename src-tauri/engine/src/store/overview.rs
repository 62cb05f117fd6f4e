//! Counts, lanes, batches, circuits and what the last minutes used.

use rusqlite::Connection;

use super::outlook::{Outlook, outlook};
use super::{Result, Store, batches, circuits, queues, remote, rows, uploads};
use crate::calendar::LocalTime;
use crate::model::{
    BatchView, BudgetView, CircuitView, JobCounts, JobStatus, LaneView, QueueName, Timestamp,
    UploadsView,
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
    /// Without their answers.
    pub(crate) lanes: Vec<LaneView>,
    pub(crate) batches: Vec<BatchView>,
    pub(crate) circuits: Vec<CircuitView>,
    pub(crate) budget: BudgetView,
    pub(crate) finished_per_minute: Vec<u32>,
    pub(crate) uploads: UploadsView,
}

impl Store {
    /// Returns everything around a list.
    pub(crate) async fn overview(&self, local: LocalTime) -> Result<OverviewRow> {
        self.read(move |connection| {
            let outlook = outlook(connection, &local)?;
            Ok(OverviewRow {
                counts: counts(connection)?,
                lanes: lanes(connection, &outlook)?,
                batches: batches::newest(connection, None, BATCHES)?,
                circuits: circuits::views(connection)?,
                budget: outlook.budget,
                finished_per_minute: finished(connection, local.now)?,
                uploads: uploads::view(connection)?,
            })
        })
        .await
    }
}

/// Adds jobs of a state to the counts.
pub(super) fn add(counts: &mut JobCounts, status: JobStatus, jobs: u64) {
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

fn lanes(connection: &Connection, outlook: &Outlook) -> Result<Vec<LaneView>> {
    let mut statement = connection.prepare_cached(
        "SELECT coalesce(sum(jobs) FILTER (WHERE status IN ('running', 'submitted')), 0),
                coalesce(sum(jobs) FILTER (WHERE status = 'pending'), 0)
         FROM lane_counts WHERE queue = ?1",
    )?;
    let mut lanes = Vec::new();
    for lane in queues::read(connection)? {
        let (running, waiting) = statement.query_row([lane.queue.as_str()], |row| {
            Ok((rows::unsigned(row, 0)?, rows::unsigned(row, 1)?))
        })?;
        lanes.push(LaneView {
            queue: lane.queue,
            paused: lane.paused,
            running,
            submitted: match lane.queue {
                QueueName::High => None,
                QueueName::Bulk => remote::submitted(connection)?,
            },
            waiting,
            settings: lane.settings,
            obstacle: outlook.lane_obstacle(lane.queue).cloned(),
            answer: None,
        });
    }
    Ok(lanes)
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
