//! What became of a batch.

use serde::{Deserialize, Serialize};

use super::{BatchView, Cause, Fix, JobId, Timestamp};

/// A job among the slowest or the dearest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct RankedJob {
    /// The job.
    pub job_id: JobId,
    /// Its title.
    pub title: String,
    /// Milliseconds that its attempts ran.
    pub ran_ms: u64,
    /// What its attempts cost, in micro-dollars.
    pub cost_micros: i64,
}

/// Jobs of one cause that a person can do something about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct NextStep {
    /// Why they ended as they did; also the filter's.
    pub cause: Cause,
    /// Whether an answer is stored that wants a look; else they are dead letters.
    pub review: bool,
    /// How many.
    pub jobs: u64,
    /// What to do, in a sentence.
    pub hint: String,
    /// What to do, as data.
    pub fix: Fix,
    /// What running them again can cost at worst; `None` without a price.
    pub at_worst_micros: Option<i64>,
}

/// What became of a batch, and what to do next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct BatchReport {
    /// The batch with its counts and its money.
    pub batch: BatchView,
    /// The template that most of its jobs were asked with.
    pub template: Option<String>,
    /// The model that most of its jobs were asked of.
    pub model: String,
    /// When its first attempt began.
    pub started_at: Option<Timestamp>,
    /// When its last job ended; `None` while one is left.
    pub ended_at: Option<Timestamp>,
    /// Pages of its documents.
    pub pages: u64,
    /// What it was expected to cost when it was added, in micro-dollars.
    pub expected_micros: Option<i64>,
    /// What it could cost at worst, at one attempt each, when it was added.
    pub at_worst_micros: Option<i64>,
    /// Input tokens of all attempts.
    pub input_tokens: u64,
    /// Output tokens of all attempts.
    pub output_tokens: u64,
    /// Jobs whose results came from earlier ones, for nothing.
    pub reused: u64,
    /// Jobs that have cost something and have no result.
    pub without_result: u64,
    /// What attempts cost that brought no result, those of unknown outcome included.
    pub wasted_micros: i64,
    /// Attempts made.
    pub attempts: u64,
    /// Attempts after the first of a run.
    pub retries: u64,
    /// Median of the milliseconds that its ended jobs waited.
    pub typical_waited_ms: Option<u64>,
    /// Median of the milliseconds that its ended jobs ran.
    pub typical_ran_ms: Option<u64>,
    /// Longer than this ran the slowest twentieth.
    pub slow_ran_ms: Option<u64>,
    /// The five that ran longest, longest first.
    pub slowest: Vec<RankedJob>,
    /// The five that cost most, dearest first.
    pub dearest: Vec<RankedJob>,
    /// What to do next, most jobs first.
    pub next_steps: Vec<NextStep>,
    /// The files that the batch left beside its results.
    pub files: Vec<String>,
    /// Why files of the batch could not be written, if they could not.
    pub files_error: Option<String>,
    /// The folder that its copies are in, when they are in one.
    pub folder: Option<String>,
}
