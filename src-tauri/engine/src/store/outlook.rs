//! Why nothing moves, and when it will: what holds the job that would be next in each lane.

mod look;
mod reasons;

use std::collections::HashMap;

use rusqlite::Connection;

use super::circuits::{self, Open};
use super::gate::Gate;
use super::{Result, Store, queues, remote, uploads};
use crate::calendar::LocalTime;
use crate::model::{
    BudgetView, Delivery, Gauge, JobStatus, Provider, QueueName, Timestamp, WaitingReason,
};
use look::Look;

pub(super) use reasons::{held_reason, reason_of};

/// What holds a lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneOutlook {
    pub(crate) queue: QueueName,
    /// What holds the job that would be next; `None` where nothing waits, or nothing holds it.
    pub(crate) obstacle: Option<WaitingReason>,
    /// What holds the next one of those that are asked by a call of their own, and of those that are handed
    /// to the batch API.
    by_delivery: [(Delivery, Option<WaitingReason>); 2],
}

/// What holds the lanes, and what is left of limits and caps.
#[derive(Clone, Debug)]
pub(crate) struct Outlook {
    /// High first.
    pub(crate) lanes: Vec<LaneOutlook>,
    /// When something may be ready that is not now; `None` while only a person can change that.
    pub(crate) wake_at: Option<Timestamp>,
    /// Whether a job runs, or will run without a person's doing before the next day.
    pub(crate) live: bool,
    /// Whether jobs wait that go by the batch API.
    pub(crate) hands_over: bool,
    /// Whether the batch API has something, or may have.
    pub(crate) has_remotes: bool,
    pub(crate) budget: BudgetView,
    /// The open circuits.
    pub(super) open: HashMap<Provider, Open>,
    /// What stands in the way of all uploads.
    pub(super) upload_message: Option<String>,
    pub(super) gate: Gate,
}

impl LaneOutlook {
    /// The same holds all jobs of a lane.
    fn all(queue: QueueName, obstacle: Option<WaitingReason>) -> Self {
        Self {
            queue,
            obstacle: obstacle.clone(),
            by_delivery: [
                (Delivery::Each, obstacle.clone()),
                (Delivery::Batch, obstacle),
            ],
        }
    }
}

impl Outlook {
    /// Returns what holds a lane.
    pub(super) fn lane_obstacle(&self, queue: QueueName) -> Option<&WaitingReason> {
        let lane = self.lanes.iter().find(|lane| lane.queue == queue)?;
        lane.obstacle.as_ref()
    }

    /// Returns what holds the jobs of a lane that go one way.
    pub(super) fn obstacle(&self, queue: QueueName, delivery: Delivery) -> Option<&WaitingReason> {
        let lane = self.lanes.iter().find(|lane| lane.queue == queue)?;
        lane.by_delivery
            .iter()
            .find(|(of, _)| *of == delivery)
            .and_then(|(_, obstacle)| obstacle.as_ref())
    }
}

impl Store {
    /// Returns why nothing moves, and when it will.
    pub(crate) async fn outlook(&self, local: LocalTime) -> Result<Outlook> {
        self.read(move |connection| outlook(connection, &local))
            .await
    }
}

/// Looks at the lanes as a claim would.
pub(super) fn outlook(connection: &Connection, local: &LocalTime) -> Result<Outlook> {
    let gate = Gate::read(connection, local)?;
    let open = circuits::open(connection)?;
    let settings = queues::read(connection)?;
    let upload_trouble = uploads::trouble(connection)?;
    let trouble = upload_trouble.as_ref();
    let mut look = Look::begin(connection, local, &gate, &open, trouble, &settings)?;
    look.live = is_running(connection)?;
    let mut lanes = Vec::new();
    let mut high_short = false;
    for lane in settings {
        let behind_high = lane.queue == QueueName::Bulk && high_short;
        lanes.push(look.lane(&lane, behind_high)?);
        high_short |= lane.queue == QueueName::High && look.short;
    }
    let (wake_at, live) = (look.wake_at(), look.live);
    Ok(Outlook {
        lanes,
        wake_at,
        live,
        hands_over: remote::are_waiting(connection)?,
        has_remotes: remote::are_out(connection)?,
        budget: budget(&gate),
        open,
        upload_message: upload_trouble.map(|trouble| trouble.message),
        gate,
    })
}

fn is_running(connection: &Connection) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(sum(jobs), 0) > 0 FROM lane_counts WHERE status IN (?1, ?2)",
        )?
        .query_row(
            (JobStatus::Running.as_str(), JobStatus::Submitted.as_str()),
            |row| row.get(0),
        )?)
}

fn budget(gate: &Gate) -> BudgetView {
    let used = gate.windows.used(None);
    let limits = gate.tightest_limits();
    BudgetView {
        requests: Gauge {
            used: used.requests,
            limit: limits.requests,
        },
        input_tokens: Gauge {
            used: used.input,
            limit: limits.input,
        },
        output_tokens: Gauge {
            used: used.output,
            limit: limits.output,
        },
        tokens: Gauge {
            used: used.tokens(),
            limit: limits.tokens,
        },
        day: gate.day,
        month: gate.month,
        day_ends_at: gate.local.day_ends_at,
        month_ends_at: gate.local.month_ends_at,
    }
}
