//! Message batches: what they are made of, and what becomes of them as the clock goes on.

mod asked;
mod lines;
mod routes;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bill::{BilledCall, BilledTokens};
use super::clock::later;
use super::journal::Recorded;

pub(super) use routes::{cancel, create, delete, list, results, retrieve};

/// After this a batch ends, whatever was done of it.
const LIFETIME: Duration = Duration::from_secs(24 * 3600);
/// So long after the creation its results can be had.
const KEPT: Duration = Duration::from_secs(29 * 24 * 3600);

/// How batches behave. Times are seconds of the double's clock.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BatchSettings {
    /// How long a batch is worked, its requests one after the other. From 24 h on the rest expires.
    pub seconds: u64,
    /// How long a batch that is cancelled takes to end.
    pub cancel_seconds: u64,
    /// How long a new batch is missing from the list.
    pub listed_after_seconds: u64,
    /// How long a new batch can't be retrieved: 404.
    pub found_after_seconds: u64,
    /// How long the results of a batch that ended can't be had: 404.
    pub results_after_seconds: u64,
    /// The most requests of a batch.
    pub most_requests: usize,
    /// The largest body of a create call.
    pub most_bytes: usize,
    /// The most requests that wait in all batches; any number when left out.
    pub most_queued: Option<u64>,
}

impl Default for BatchSettings {
    fn default() -> Self {
        Self {
            seconds: 600,
            cancel_seconds: 0,
            listed_after_seconds: 0,
            found_after_seconds: 0,
            results_after_seconds: 0,
            most_requests: 100_000,
            most_bytes: 256 * 1024 * 1024,
            most_queued: None,
        }
    }
}

/// A batch as the double has it.
#[derive(Clone, Debug)]
pub struct RecordedBatch {
    /// `msgbatch_…`.
    pub id: String,
    /// When it was created, by the double's clock.
    pub created_at: Timestamp,
    /// When its end comes or came.
    pub ends_at: Timestamp,
    /// Whether it has ended.
    pub ended: bool,
    /// When it was cancelled.
    pub cancelled_at: Option<Timestamp>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// Its requests, in their order.
    pub requests: Vec<RecordedBatchRequest>,
}

/// A request of a batch as the double has it.
#[derive(Clone, Debug)]
pub struct RecordedBatchRequest {
    /// The sender's id.
    pub custom_id: String,
    /// What arrived.
    pub request: Recorded,
    /// `processing`, `succeeded`, `errored`, `canceled` or `expired`, as the list of results will say it.
    pub status: &'static str,
    /// What it is billed, in millionths of a dollar.
    pub micro_dollars: u64,
}

/// What becomes of a request that is worked.
#[derive(Clone, Debug)]
enum Outcome {
    /// It is answered by this message.
    Answered(Value),
    /// It fails with this error object.
    Failed(Value),
    /// It is never worked.
    Forgotten,
}

/// What a request has come to at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Processing,
    Succeeded,
    Errored,
    Canceled,
    Expired,
}

impl Fate {
    fn word(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Succeeded => "succeeded",
            Self::Errored => "errored",
            Self::Canceled => "canceled",
            Self::Expired => "expired",
        }
    }
}

#[derive(Clone, Debug)]
struct Item {
    custom_id: String,
    request: Recorded,
    outcome: Outcome,
    /// What is billed if it is answered.
    tokens: BilledTokens,
    micro_dollars: u64,
}

#[derive(Clone, Debug)]
struct Batch {
    id: String,
    workspace: String,
    created_at: Timestamp,
    /// How long its requests take, one after the other.
    work: Duration,
    cancelled: Option<(Timestamp, Duration)>,
    deleted: bool,
    items: Vec<Item>,
    /// Whether one of them is never worked, so that only its lifetime ends the batch.
    has_forgotten: bool,
}

impl Batch {
    /// When request number `at` is done.
    fn done_at(&self, at: usize) -> Timestamp {
        let share = (at + 1) as f64 / self.items.len().max(1) as f64;
        later(self.created_at, self.work.mul_f64(share))
    }

    fn expires_at(&self) -> Timestamp {
        later(self.created_at, LIFETIME)
    }

    fn ends_at(&self) -> Timestamp {
        let natural = if self.has_forgotten {
            self.expires_at()
        } else {
            later(self.created_at, self.work).min(self.expires_at())
        };
        match self.cancelled {
            Some((at, wait)) => natural.min(later(at, wait)),
            None => natural,
        }
    }

    fn has_ended(&self, now: Timestamp) -> bool {
        now >= self.ends_at()
    }

    fn is_archived(&self, now: Timestamp) -> bool {
        now >= later(self.created_at, KEPT)
    }

    /// What request number `at` has come to, which the API tells once all have come to something.
    fn fate(&self, at: usize, now: Timestamp) -> Fate {
        let end = self.ends_at();
        let outcome = self.items.get(at).map(|item| &item.outcome);
        let worked = self.done_at(at) <= end && !matches!(outcome, Some(Outcome::Forgotten));
        match outcome {
            Some(Outcome::Answered(_)) if worked && self.done_at(at) <= now => Fate::Succeeded,
            Some(Outcome::Failed(_)) if worked && self.done_at(at) <= now => Fate::Errored,
            _ if now < end => Fate::Processing,
            _ if end < self.expires_at() => Fate::Canceled,
            _ => Fate::Expired,
        }
    }

    /// The batch as the API describes it to somebody who came by `base`.
    fn describe(&self, now: Timestamp, base: &str) -> Value {
        let ended = self.has_ended(now);
        let mut counts = json!({
            "processing": if ended { 0 } else { self.items.len() },
            "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0,
        });
        if ended {
            for at in 0..self.items.len() {
                let count = &mut counts[self.fate(at, now).word()];
                *count = json!(count.as_u64().unwrap_or_default() + 1);
            }
        }
        let archived = self.is_archived(now);
        let results = format!("{base}/v1/messages/batches/{}/results", self.id);
        json!({
            "id": self.id,
            "type": "message_batch",
            "processing_status": match (ended, self.cancelled) {
                (true, _) => "ended",
                (false, Some(_)) => "canceling",
                (false, None) => "in_progress",
            },
            "request_counts": counts,
            "created_at": self.created_at.to_string(),
            "expires_at": self.expires_at().to_string(),
            "ended_at": ended.then(|| self.ends_at().to_string()),
            "cancel_initiated_at": self.cancelled.map(|(at, _)| at.to_string()),
            "archived_at": archived.then(|| later(self.created_at, KEPT).to_string()),
            "results_url": (ended && !archived).then_some(results),
        })
    }

    fn record(&self, now: Timestamp) -> RecordedBatch {
        let requests = self.items.iter().enumerate().map(|(at, item)| {
            let fate = self.fate(at, now);
            RecordedBatchRequest {
                custom_id: item.custom_id.clone(),
                request: item.request.clone(),
                status: fate.word(),
                micro_dollars: match fate {
                    Fate::Succeeded => item.micro_dollars,
                    _ => 0,
                },
            }
        });
        RecordedBatch {
            id: self.id.clone(),
            created_at: self.created_at,
            ends_at: self.ends_at(),
            ended: self.has_ended(now),
            cancelled_at: self.cancelled.map(|(at, _)| at),
            deleted: self.deleted,
            requests: requests.collect(),
        }
    }
}

/// All batches, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Batches(Mutex<Vec<Batch>>);

impl Batches {
    fn lock(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self, now: Timestamp) -> Vec<RecordedBatch> {
        self.lock().iter().map(|batch| batch.record(now)).collect()
    }

    /// What is billed of all batches, deleted ones too.
    pub(super) fn billed(&self, now: Timestamp) -> Vec<BilledCall> {
        let batches = self.lock();
        let calls = batches.iter().flat_map(|batch| {
            let done = (0..batch.items.len()).filter(|at| batch.fate(*at, now) == Fate::Succeeded);
            done.map(|at| {
                let item = &batch.items[at];
                BilledCall {
                    id: item.custom_id.clone(),
                    batch: Some(batch.id.clone()),
                    model: item.request.model.clone().unwrap_or_default(),
                    title: item.request.title().cloned(),
                    tokens: item.tokens,
                    micro_dollars: item.micro_dollars,
                }
            })
        });
        calls.filter(|call| call.micro_dollars > 0).collect()
    }

    pub(super) fn billed_in_all(&self, now: Timestamp) -> u64 {
        let batches = self.lock();
        batches
            .iter()
            .flat_map(|batch| {
                let done = |at: &usize| batch.fate(*at, now) == Fate::Succeeded;
                (0..batch.items.len())
                    .filter(done)
                    .map(|at| batch.items[at].micro_dollars)
                    .collect::<Vec<_>>()
            })
            .sum()
    }
}
