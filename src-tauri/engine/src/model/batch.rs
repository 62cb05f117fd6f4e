//! Batches: the jobs of one submission.

use serde::{Deserialize, Serialize};

use super::{BatchId, JobCounts, Money, PilotView, Timestamp};

/// A batch with its counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct BatchView {
    /// The batch.
    pub batch_id: BatchId,
    /// Its name: the dropped folder, the first file, or "Prompt".
    pub name: String,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// Its jobs by state.
    pub counts: JobCounts,
    /// Whether a person paused it.
    pub paused: bool,
    /// What it has cost and may still cost.
    pub money: Money,
    /// Where its pilot stands; `None` for a batch without one.
    pub pilot: Option<PilotView>,
}
