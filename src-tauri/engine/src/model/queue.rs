//! Queues and lanes.

use serde::{Deserialize, Serialize};

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
    /// Most jobs that run at once.
    pub max_concurrency: u32,
}
