//! What a forecast has to know of the queue: limits and what is used of them, who is in line before, and what
//! only a person can change.

use rusqlite::Connection;

use super::candidate::{Line, in_line};
use super::outlook::outlook;
use super::{Result, Store, queues};
use crate::calendar::LocalTime;
use crate::forecast::{Limits, Used};
use crate::model::{Delivery, Money, Provider, QueueName, QuietHours, Timestamp, WaitingReason};
use crate::pricing::Estimate;

/// Jobs in line that are looked at; the others are taken to be like them.
const LOOKED_AT: usize = 200;

/// How the queue stands at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    /// The limits in force for a model.
    pub(crate) limits: Limits,
    /// What each tenth of a second of the last minute used, oldest first.
    pub(crate) used: Vec<(i64, Used)>,
    pub(crate) day: Money,
    pub(crate) month: Money,
    /// The hours at which bulk runs.
    pub(crate) quiet_hours: Option<QuietHours>,
    /// High first.
    pub(crate) lanes: Vec<LaneConditions>,
}

/// How a lane stands.
#[derive(Clone, Debug)]
pub(crate) struct LaneConditions {
    pub(crate) queue: QueueName,
    pub(crate) concurrency: u32,
    pub(crate) delay_ms: u32,
    /// Claude's jobs that run.
    pub(crate) running: u32,
    /// Claude's jobs that wait for a call of their own and that nothing holds. What is handed to the batch API
    /// takes no place of the lane and nothing of the minute.
    pub(crate) waiting: u64,
    /// What the call of one of them is like, on average.
    pub(crate) average: Estimate,
    /// How its new jobs go.
    pub(crate) delivery: Delivery,
    /// What holds all new jobs of Claude's.
    pub(crate) obstacle: Option<WaitingReason>,
}

impl Store {
    /// Returns how the queue stands for jobs that ask a model.
    pub(crate) async fn conditions(&self, local: LocalTime, model: String) -> Result<Conditions> {
        self.read(move |connection| conditions(connection, &local, &model))
            .await
    }
}

fn conditions(connection: &Connection, local: &LocalTime, model: &str) -> Result<Conditions> {
    let outlook = outlook(connection, local)?;
    let gate = &outlook.gate;
    let limits = gate.limits_of(model);
    let circuit = outlook
        .open
        .get(&Provider::Claude)
        .filter(|open| !open.cause.passes_by_itself())
        .map(|open| WaitingReason::CircuitOpen { cause: open.cause });
    let mut lanes = Vec::new();
    for lane in queues::read(connection)? {
        lanes.push(LaneConditions {
            queue: lane.queue,
            concurrency: lane.settings.max_concurrency,
            delay_ms: lane.settings.delivery_delay_ms,
            running: running(connection, lane.queue)?,
            waiting: waiting(connection, lane.queue)?,
            average: average(connection, lane.queue)?,
            delivery: lane.settings.delivery,
            obstacle: if lane.paused {
                Some(WaitingReason::QueuePaused)
            } else {
                circuit.clone()
            },
        });
    }
    Ok(Conditions {
        limits: Limits {
            requests: limits.requests,
            input: limits.input,
            output: limits.output,
            tokens: limits.tokens,
        },
        used: gate
            .windows
            .by_tenth()
            .into_iter()
            .map(|(tenth, amount)| {
                let used = Used {
                    requests: amount.requests,
                    input: amount.input,
                    output: amount.output,
                };
                (tenth, used)
            })
            .collect(),
        day: gate.day,
        month: gate.month,
        quiet_hours: gate.policy.quiet_hours,
        lanes,
    })
}

fn running(connection: &Connection, queue: QueueName) -> Result<u32> {
    Ok(connection
        .prepare_cached(
            "SELECT coalesce(sum(jobs), 0) FROM lane_counts
             WHERE queue = ?1 AND provider = 'claude' AND status = 'running'",
        )?
        .query_row([queue.as_str()], |row| row.get(0))?)
}

fn waiting(connection: &Connection, queue: QueueName) -> Result<u64> {
    Ok(connection
        .prepare_cached(
            "SELECT count(*) FROM jobs
             WHERE status = 'pending' AND held = 0 AND queue = ?1 AND provider = 'claude'
               AND delivery = 'each'",
        )?
        .query_row([queue.as_str()], |row| super::rows::unsigned(row, 0))?)
}

fn average(connection: &Connection, queue: QueueName) -> Result<Estimate> {
    let first = in_line(
        connection,
        Line::Ordinary,
        queue,
        Provider::Claude,
        Delivery::Each,
        // Also those that are not visible yet.
        Timestamp(i64::MAX),
        LOOKED_AT,
    )?;
    let estimates: Vec<Estimate> = first
        .iter()
        .map(super::candidate::Candidate::estimate)
        .collect();
    let count = estimates.len().max(1) as u64;
    let mean = |of: fn(&Estimate) -> u64| {
        estimates
            .iter()
            .map(of)
            .fold(0, u64::saturating_add)
            .div_ceil(count)
    };
    Ok(Estimate {
        expected_input: mean(|one| one.expected_input),
        dense_input: mean(|one| one.dense_input),
        likely_input: mean(|one| one.likely_input),
        worst_input: mean(|one| one.worst_input),
        expected_output: mean(|one| one.expected_output),
        likely_output: mean(|one| one.likely_output),
        worst_output: mean(|one| one.worst_output),
        is_counted: false,
    })
}
