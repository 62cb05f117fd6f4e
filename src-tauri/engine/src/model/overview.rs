//! What a front shows around its list.

use serde::{Deserialize, Serialize};

use super::{
    BatchView, BudgetView, Cause, Fix, KeyStatus, LaneView, ModelNotice, Problem, Provider,
    Timestamp, UploadsView,
};

/// Jobs by state; dead letters are the failed and the dead-lettered together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct JobCounts {
    /// All of them.
    pub total: u64,
    /// Pending.
    pub waiting: u64,
    /// Running or submitted.
    pub running: u64,
    /// Completed.
    pub done: u64,
    /// Needs review.
    pub needs_review: u64,
    /// Failed or dead-lettered.
    pub dead_letters: u64,
    /// Cancelled.
    pub cancelled: u64,
}

/// Who works the queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum ConsumerPlace {
    /// This program.
    Here,
    /// Another program on the same data directory.
    Elsewhere,
    /// Nobody: jobs wait until a program with a consumer starts.
    Nowhere,
}

/// Something that would hit every job of a provider, so none is delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct CircuitView {
    /// The provider that is not called.
    pub provider: Provider,
    /// Why.
    pub cause: Cause,
    /// The provider's own words, or ours where it was never asked.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// What to do, as data.
    pub fix: Fix,
    /// The model that was asked for when it opened.
    pub model: Option<String>,
    /// Since when.
    pub opened_at: Timestamp,
    /// When one job tries whether it has passed; `None` where only a person can tell.
    pub probe_at: Option<Timestamp>,
    /// How many jobs it holds.
    pub waiting: u64,
}

/// Everything a front shows around its list, read in one snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Overview {
    /// All jobs by state.
    pub counts: JobCounts,
    /// Both lanes, high first.
    pub lanes: Vec<LaneView>,
    /// The latest batches, newest first, at most ten.
    pub batches: Vec<BatchView>,
    /// Who works the queues.
    pub consumer: ConsumerPlace,
    /// Circuits that are open.
    pub circuits: Vec<CircuitView>,
    /// Why nothing moves, in one sentence; `None` while something runs or nothing waits.
    pub answer: Option<String>,
    /// Limits, caps, and what they are used for.
    pub budget: BudgetView,
    /// Why the database or the disk can't be used at this moment; jobs wait until they can.
    pub storage_problem: Option<Problem>,
    /// Jobs finished in each of the last 30 minutes, oldest first.
    pub finished_per_minute: Vec<u32>,
    /// Whether a key is set, and where.
    pub key: KeyStatus,
    /// What should be known of the end of the model that new jobs ask for; `None` where none is near.
    pub model_notice: Option<ModelNotice>,
    /// How uploads of results come on.
    pub uploads: UploadsView,
}
