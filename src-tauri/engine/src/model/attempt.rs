//! Attempts: the history of a job, kept for ever.

use serde::{Deserialize, Serialize};

use super::{Cause, PageRange, Provider, Timestamp};

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum AttemptOutcome {
    /// Still under way.
    Running,
    /// A complete answer was stored.
    Completed,
    /// An answer was stored that needs a look.
    NeedsReview,
    /// Ended in a way that can pass; the job was delivered again or dead-lettered.
    Retryable,
    /// Ended for good.
    Failed,
    /// Not the job's fault: the circuit opened, the attempt does not count.
    Deferred,
    /// The program died meanwhile: outcome unknown, may be billed.
    Interrupted,
    /// A person called it off.
    Cancelled,
}

impl AttemptOutcome {
    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::NeedsReview => "needs-review",
            Self::Retryable => "retryable",
            Self::Failed => "failed",
            Self::Deferred => "deferred",
            Self::Interrupted => "interrupted",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the outcome of a stored word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [
            Self::Running,
            Self::Completed,
            Self::NeedsReview,
            Self::Retryable,
            Self::Failed,
            Self::Deferred,
            Self::Interrupted,
            Self::Cancelled,
        ]
        .into_iter()
        .find(|outcome| outcome.as_str() == word)
    }
}

/// What an attempt asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(tag = "of", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum AttemptStep {
    /// The whole document, or the prompt.
    #[default]
    Whole,
    /// A part of a long document.
    Part {
        /// Its pages.
        pages: PageRange,
    },
    /// The answers to all parts, to make one answer of them.
    Combine,
}

/// One delivery of a job to a provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct AttemptView {
    /// Which run of the job: 1, and one more after each redrive.
    pub generation: u32,
    /// Which delivery within the run, from 1.
    pub number: u32,
    /// What it asked about.
    pub step: AttemptStep,
    /// What answered.
    pub provider: Provider,
    /// The model asked for.
    pub model: String,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended; `None` while it runs.
    pub ended_at: Option<Timestamp>,
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// Why, unless it completed.
    pub cause: Option<Cause>,
    /// The same in a sentence, as the provider worded it where it did.
    pub message: Option<String>,
    /// The HTTP status, when there was an answer.
    pub http_status: Option<u16>,
    /// The provider's id of the call.
    pub request_id: Option<String>,
    /// Milliseconds the job waited before it.
    pub waited_ms: u64,
    /// Milliseconds the provider told to wait after it.
    pub told_to_wait_ms: Option<u64>,
    /// When the job is delivered again because of it.
    pub retry_at: Option<Timestamp>,
    /// Input tokens that were estimated before it; `None` where none were.
    pub estimated_input_tokens: Option<u64>,
    /// Input tokens, cache reads and writes included; `None` when unknown.
    pub input_tokens: Option<u64>,
    /// Output tokens; `None` when unknown.
    pub output_tokens: Option<u64>,
    /// Cost in micro-dollars; `None` when unknown.
    pub cost_micros: Option<i64>,
}
