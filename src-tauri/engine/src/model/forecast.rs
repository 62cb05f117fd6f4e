//! What jobs will come to before they run: tokens, money and time.

use serde::{Deserialize, Serialize};

use super::{BatchView, CapScope, QueueName, Timestamp, WaitingReason};

/// What jobs will come to, said before anything is paid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Forecast {
    /// Jobs that would be asked.
    pub jobs: u64,
    /// Calls at one attempt each.
    pub calls: u64,
    /// The model that is asked; of several the one that most jobs ask.
    pub model: String,
    /// Input tokens of all calls.
    pub input: InputForecast,
    /// Output tokens of one call.
    pub output: OutputForecast,
    /// Price and time by the way that the jobs may go: high, bulk, and handed over as a batch.
    pub deliveries: Vec<DeliveryForecast>,
}

/// Input tokens of all calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct InputForecast {
    /// As counted, else as estimated.
    pub tokens: u64,
    /// At most.
    pub worst_tokens: u64,
    /// Jobs whose tokens the provider counted.
    pub counted_jobs: u64,
    /// Jobs whose tokens are estimated.
    pub estimated_jobs: u64,
    /// The middle one of how far such estimates were off, in percent; `None` until one was compared.
    pub usually_off_percent: Option<u32>,
}

/// Output tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct OutputForecast {
    /// A tenth of the answers have fewer.
    pub low: u64,
    /// The middle.
    pub expected: u64,
    /// A tenth of the answers have more.
    pub high: u64,
    /// The output limit.
    pub worst: u64,
    /// Earlier answers to the same template by the same model that say so; 0 for a guess.
    pub answers: u64,
}

/// A way that jobs may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryWay {
    /// The high lane.
    High,
    /// The bulk lane.
    Bulk,
    /// Handed to the provider's batch API at its lower price.
    Batch,
}

impl DeliveryWay {
    /// Returns the lane whose jobs go this way.
    #[must_use]
    pub fn queue(self) -> QueueName {
        match self {
            Self::High => QueueName::High,
            Self::Bulk | Self::Batch => QueueName::Bulk,
        }
    }
}

/// What one attempt at each job costs, in micro-dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ForecastPrice {
    /// With short answers.
    pub low_micros: i64,
    /// As expected.
    pub expected_micros: i64,
    /// With dense documents and long answers.
    pub high_micros: i64,
    /// At most: what caps reserve.
    pub worst_micros: i64,
}

/// Price and time of one way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct DeliveryForecast {
    /// Which way.
    pub delivery: DeliveryWay,
    /// What it costs; `None` without a known price.
    pub price: Option<ForecastPrice>,
    /// When the jobs will have ended; `None` where nobody can tell.
    pub finish: Option<Finish>,
    /// What only a person can change and holds the lane now. The time is that without it.
    pub obstacle: Option<WaitingReason>,
    /// How many of the jobs, in their order, fit under each cap that is set.
    pub caps: Vec<CapFit>,
}

/// When jobs will have ended, if each is asked once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Finish {
    /// Usually about then.
    pub usually_at: Timestamp,
    /// At the latest; `None` where there is no such promise.
    pub at_latest: Option<Timestamp>,
    /// What takes most of the time.
    pub limited_by: LimitedBy,
}

/// What takes most of the time until jobs have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum LimitedBy {
    /// Writing the answers: all jobs run.
    Answers,
    /// The number of jobs that run at once.
    Concurrency,
    /// The tokens of a minute.
    Tokens,
    /// The requests of a minute.
    Requests,
    /// The hours at which the lane runs, and the delay before new jobs.
    Hours,
    /// The provider's batch API.
    Provider,
}

/// How many jobs, in their order, fit under a cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct CapFit {
    /// Which cap.
    pub scope: CapScope,
    /// The cap, in micro-dollars.
    pub cap_micros: i64,
    /// What counts against it already.
    pub committed_micros: i64,
    /// Jobs that would start if each before them cost what is expected.
    pub jobs_expected: u64,
    /// Jobs that would start if each before them cost the most that it can.
    pub jobs_at_worst: u64,
}

/// How counting the tokens of a scan's files went. It costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct TokenCounting {
    /// Files whose tokens are known now.
    pub counted: u64,
    /// Files that could be counted: whole, open, not too large.
    pub countable: u64,
    /// Files that are to be asked.
    pub files: u64,
}

/// Where the pilot of a batch stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct PilotView {
    /// Jobs of the pilot.
    pub jobs: u64,
    /// Those of them that have not ended.
    pub left: u64,
    /// Jobs that wait for it.
    pub waiting: u64,
    /// Whether a person has let the others go on, or called them off.
    pub released: bool,
}

/// What the pilot of a batch showed, and what the rest will come to by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct PilotReport {
    /// The batch with its counts, its money and where the pilot stands.
    pub batch: BatchView,
    /// Jobs of the pilot that are completed.
    pub done: u64,
    /// Jobs of the pilot whose answers want a look.
    pub needs_review: u64,
    /// Jobs of the pilot that ended without an answer.
    pub failed: u64,
    /// Input tokens that were expected of the calls that were answered.
    pub expected_input_tokens: u64,
    /// Input tokens that they had.
    pub input_tokens: u64,
    /// Output tokens that they had.
    pub output_tokens: u64,
    /// What the pilot's attempts cost, in micro-dollars; `None` when one of them is unknown.
    pub cost_micros: Option<i64>,
    /// What the jobs that wait will come to, measured by the pilot.
    pub rest: Forecast,
}
