//! Queues and lanes.

use serde::{Deserialize, Serialize};

use super::{JobId, Timestamp, WaitingReason};

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
    /// How its jobs of Claude are delivered where nothing else is said when they are added; only bulk can be
    /// anything else than [`Delivery::Each`]. Changing it changes all jobs that are not completed.
    pub delivery: Delivery,
    /// Most jobs that are handed over at once, from 1 to 100,000.
    pub remote_requests: u32,
    /// How long the first of them waits for others, in milliseconds, up to a day.
    pub remote_wait_ms: u32,
}

/// How jobs are delivered to Claude.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// A call for each job.
    #[default]
    Each,
    /// Many jobs together by the provider's batch API: for half the price, usually within an hour, at most
    /// within a day.
    Batch,
}

impl Delivery {
    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Each => "each",
            Self::Batch => "batch",
        }
    }

    /// Returns the delivery of a stored word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Each, Self::Batch]
            .into_iter()
            .find(|delivery| delivery.as_str() == word)
    }
}

/// Jobs that are with the provider's batch API.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct SubmittedView {
    /// How many jobs.
    pub jobs: u64,
    /// In how many remote batches.
    pub remote_batches: u64,
    /// Since when the oldest of them is there.
    pub since: Timestamp,
    /// What looking after them met last, in a sentence; `None` while it goes well.
    pub trouble: Option<String>,
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
    /// Jobs that run, and those that are with the provider's batch API.
    pub running: u64,
    /// Those of them that are with the provider's batch API; `None` for none.
    pub submitted: Option<SubmittedView>,
    /// Jobs that wait.
    pub waiting: u64,
    /// What a person can set of it.
    pub settings: LaneSettings,
    /// What holds the job that would be next; `None` where nothing waits, or nothing holds it.
    pub obstacle: Option<WaitingReason>,
    /// The same in one sentence.
    pub answer: Option<String>,
}

/// Where jobs go in their line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "place",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Place {
    /// Before all others.
    Top,
    /// Before the one before the first of them.
    Up,
    /// Behind the one behind the last of them.
    Down,
    /// Behind all others.
    Bottom,
    /// Just before a waiting job, in its lane.
    Before {
        /// That job.
        job_id: JobId,
    },
    /// Just behind a waiting job, in its lane.
    After {
        /// That job.
        job_id: JobId,
    },
}
