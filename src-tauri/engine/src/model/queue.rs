//! Queues and lanes.

use serde::{Deserialize, Serialize};

use super::WaitingReason;

/// A queue that jobs are delivered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum QueueName {
    /// Served first.
    High,
    /// Served when high has nothing ready.
    Bulk,
}

impl QueueName {
    /// Both, in serving order.
    pub const ALL: [Self; 2] = [Self::High, Self::Bulk];

    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Bulk => "bulk",
        }
    }

    /// Returns the queue of a stored word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|queue| queue.as_str() == word)
    }
}

/// What a person can set of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct LaneSettings {
    /// Most jobs of one claim, from 1 to 100.
    pub max_batch_size: u32,
    /// How long a claim waits to be filled, in milliseconds, up to a minute.
    pub max_batch_timeout_ms: u32,
    /// Deliveries after the first, up to 100.
    pub max_retries: u32,
    /// Most jobs that run at once, from 1 to 250.
    pub max_concurrency: u32,
    /// How long a new job is held back, in milliseconds, up to a day.
    pub delivery_delay_ms: u32,
}

/// A queue as the window's lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct LaneView {
    /// Which queue.
    pub queue: QueueName,
    /// Whether a person paused it.
    pub paused: bool,
    /// Jobs that run.
    pub running: u64,
    /// Jobs that wait.
    pub waiting: u64,
    /// What a person can set of it.
    pub settings: LaneSettings,
    /// What holds the job that would be next; `None` where nothing waits, or nothing holds it.
    pub obstacle: Option<WaitingReason>,
    /// The same in one sentence.
    pub answer: Option<String>,
}

/// Where a job goes in its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Before all others.
    Top,
    /// Before the one before it.
    Up,
    /// Behind the one behind it.
    Down,
    /// Behind all others.
    Bottom,
}
