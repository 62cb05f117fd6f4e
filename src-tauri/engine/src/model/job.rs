//! Jobs as the fronts see them.

use serde::{Deserialize, Serialize};

use super::{
    AttemptView, BatchId, Cause, Delivery, DocumentView, JobId, PageRange, Provider, QueueName,
    ResultView, Sends, Timestamp, Variables,
};

/// The state of a job (product rules, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum JobStatus {
    /// Waits in its queue.
    Pending,
    /// A call is under way.
    Running,
    /// Handed to the provider's batch API.
    Submitted,
    /// Complete, and its result stored.
    Completed,
    /// An answer is stored, but a person has to look at it.
    NeedsReview,
    /// A permanent error of this item.
    Failed,
    /// Out of retries.
    DeadLettered,
    /// Called off by a person.
    Cancelled,
}

impl JobStatus {
    /// Every state, in the order of the product's table.
    pub const ALL: [Self; 8] = [
        Self::Pending,
        Self::Running,
        Self::Submitted,
        Self::Completed,
        Self::NeedsReview,
        Self::Failed,
        Self::DeadLettered,
        Self::Cancelled,
    ];

    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Submitted => "submitted",
            Self::Completed => "completed",
            Self::NeedsReview => "needs-review",
            Self::Failed => "failed",
            Self::DeadLettered => "dead-lettered",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the state of a stored word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == word)
    }

    /// Says whether the job has ended.
    #[must_use]
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Pending | Self::Running | Self::Submitted)
    }
}

/// What a job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum JobKind {
    /// One PDF with a template.
    Pdf,
    /// A prompt alone.
    Prompt,
}

/// Why a pending job does not run at this moment (product rules, section 2).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "reason",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum WaitingReason {
    /// Nothing holds it but the jobs before it.
    Ready,
    /// Its queue's delivery delay has not passed.
    Delayed {
        /// When it becomes visible.
        until: Timestamp,
    },
    /// An attempt failed in a way that can pass.
    Retrying {
        /// When it is delivered again.
        at: Timestamp,
        /// What the last attempt met.
        cause: Option<Cause>,
    },
    /// The tokens of the last 60 s leave no room for it.
    TokenBudget {
        /// When there is room, if nothing else takes it.
        until: Timestamp,
    },
    /// The requests of the last 60 s leave no room for it.
    RequestsBudget {
        /// When there is room, if nothing else takes it.
        until: Timestamp,
    },
    /// It is larger than the whole budget of a minute: it runs alone, when nothing else does.
    LargerThanBudget,
    /// Its worst case does not fit under a spend cap any more.
    SpendCap {
        /// Which cap.
        scope: CapScope,
        /// The cap, in micro-dollars.
        cap_micros: i64,
        /// The lowest cap that would let it start, in micro-dollars.
        needed_micros: i64,
        /// When the cap begins anew; `None` for a batch's.
        until: Option<Timestamp>,
    },
    /// Nobody knows what its model costs.
    PriceUnknown {
        /// The model.
        model: String,
    },
    /// Jobs of the high lane wait for budget, and go first.
    BehindHigh,
    /// Its queue is paused.
    QueuePaused,
    /// Its batch is paused.
    BatchPaused,
    /// A person paused it.
    JobPaused,
    /// It waits until the pilot of its batch has ended and a person has seen what it came to.
    Pilot {
        /// Jobs of the pilot that have not ended; 0 when only the person's word is missing.
        left: u64,
    },
    /// Bulk runs at other hours.
    OutsideQuietHours {
        /// When they begin.
        until: Timestamp,
    },
    /// The circuit is open: something would hit every job of this provider.
    CircuitOpen {
        /// What.
        cause: Cause,
    },
    /// The provider can't be reached.
    Offline {
        /// When that is tried again.
        until: Timestamp,
    },
    /// It is answered and stored, and counts as completed when its result is in the bucket.
    Uploading {
        /// What the last upload met, if it was tried.
        message: Option<String>,
    },
    /// It waits for others, to be handed to the provider's batch API together with them.
    FillingBatch {
        /// Until when, at most.
        until: Timestamp,
    },
    /// The provider's batch API took nothing the last time.
    BatchApi {
        /// What it met.
        cause: Cause,
        /// The same in a sentence.
        message: String,
        /// When that is tried again.
        until: Timestamp,
    },
    /// Its file is not where it was.
    FileMissing,
    /// No program is consuming the queue.
    NoConsumer,
}

/// What a spend cap is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum CapScope {
    /// One submission.
    Batch,
    /// A day, from midnight to midnight where the person lives.
    Day,
    /// A calendar month.
    Month,
}

/// How far the parts of a long document have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct PartsDone {
    /// Parts that are answered.
    pub done: u32,
    /// All parts.
    pub total: u32,
}

/// Where a part of a long document stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum PartState {
    /// Not asked yet, or to be asked again.
    Waiting,
    /// A call is under way.
    Running,
    /// Answered, paid and kept: it is not asked again.
    Answered,
}

/// A part of a long document, which is asked by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct PartView {
    /// Its pages.
    pub pages: PageRange,
    /// Where it stands.
    pub state: PartState,
    /// Input tokens of its answer; 0 until then.
    pub input_tokens: u64,
    /// Output tokens of its answer; 0 until then.
    pub output_tokens: u64,
    /// What its answer cost in micro-dollars; `None` when unknown.
    pub cost_micros: Option<i64>,
    /// What a person should know of its answer (cut off, declined), if anything.
    pub review: Option<String>,
}

/// One job, as a row of a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct JobView {
    /// The job.
    pub job_id: JobId,
    /// The submission it came with.
    pub batch_id: BatchId,
    /// That submission's name, as shown.
    pub batch_name: String,
    /// What it works on.
    pub kind: JobKind,
    /// The file's name, or the beginning of the prompt.
    pub title: String,
    /// Where the file lies; `None` for prompts.
    pub source_path: Option<String>,
    /// Its state.
    pub status: JobStatus,
    /// Why it waits; `Some` exactly for pending jobs.
    pub waiting: Option<WaitingReason>,
    /// Whether a person paused this very job.
    pub paused: bool,
    /// Its queue.
    pub queue: QueueName,
    /// Whether it is asked by a call of its own, or by the batch API at half price.
    pub delivery: Delivery,
    /// Number of pages, when known.
    pub pages: Option<u32>,
    /// How far its parts have come; `None` for a job that is asked as a whole.
    pub parts: Option<PartsDone>,
    /// The template's id with its version (`pdf-summarize-v1`).
    pub template: String,
    /// Whether its answer is a set of fields.
    pub has_fields: bool,
    /// What answers.
    pub provider: Provider,
    /// The model asked for (for the offline provider the method's name).
    pub model: String,
    /// Deliveries so far, since the last redrive: of all parts and of combining them, for a job in parts.
    pub attempts: u32,
    /// Deliveries allowed in all; for a job in parts those that were, and those allowed of its present step.
    pub max_attempts: u32,
    /// When it was accepted.
    pub created_at: Timestamp,
    /// When its present or last attempt began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub completed_at: Option<Timestamp>,
    /// Input tokens of all its attempts, cache reads and writes included.
    pub input_tokens: u64,
    /// Output tokens of all its attempts.
    pub output_tokens: u64,
    /// Cost of all its attempts in micro-dollars; `None` when a price or an outcome is unknown.
    pub cost_micros: Option<i64>,
    /// What its call under way may cost at worst, in micro-dollars: held against the caps until it ends; 0 while none is.
    pub reserved_micros: i64,
    /// Whether its result was taken from an earlier job, for nothing.
    pub reused: bool,
    /// Whether it is completed because a person reviewed it.
    #[serde(default)]
    pub reviewed: bool,
    /// Milliseconds that its ended attempts ran.
    pub ran_ms: u64,
    /// Milliseconds that it waited before its attempts.
    pub waited_ms: u64,
    /// Why it ended as it did, or what the last attempt met.
    pub cause: Option<Cause>,
    /// The same in a sentence.
    pub error: Option<String>,
}

/// The remote batch that the provider's batch API has a request of a job in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct RemoteView {
    /// The provider's id of it; `None` until it is known.
    pub remote_id: Option<String>,
    /// The id of the request in it.
    pub custom_id: String,
    /// How many requests it has.
    pub requests: u64,
    /// When it was sent.
    pub sent_at: Timestamp,
    /// What looking after it met last, in a sentence; `None` while it goes well.
    pub trouble: Option<String>,
}

/// One job with everything known about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct JobDetail {
    /// The row.
    pub job: JobView,
    /// The prompt of a prompt job.
    pub prompt: Option<String>,
    /// Values that were given for the template's variables.
    pub variables: Variables,
    /// What the inspection found in the PDF.
    pub document: Option<DocumentView>,
    /// What is sent of the PDF.
    pub sends: Sends,
    /// The parts that it is asked in, in order; empty for one that is asked as a whole.
    pub parts: Vec<PartView>,
    /// Where it stands with the provider's batch API; `None` for a job that is not there.
    pub remote: Option<RemoteView>,
    /// Every attempt, newest first.
    pub attempts: Vec<AttemptView>,
    /// The newest stored result, if there is one.
    pub result: Option<ResultView>,
}

/// Which jobs a list shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum JobsShown {
    /// Every job.
    #[default]
    All,
    /// Running, or handed to the provider's batch API.
    Running,
    /// Pending.
    Waiting,
    /// Needs review.
    NeedsReview,
    /// Failed or dead-lettered.
    DeadLetters,
    /// Completed.
    Done,
    /// Cancelled.
    Cancelled,
}

impl JobsShown {
    /// Returns the states that belong to it.
    #[must_use]
    pub fn statuses(self) -> &'static [JobStatus] {
        match self {
            Self::All => &JobStatus::ALL,
            Self::Running => &[JobStatus::Running, JobStatus::Submitted],
            Self::Waiting => &[JobStatus::Pending],
            Self::NeedsReview => &[JobStatus::NeedsReview],
            Self::DeadLetters => &[JobStatus::Failed, JobStatus::DeadLettered],
            Self::Done => &[JobStatus::Completed],
            Self::Cancelled => &[JobStatus::Cancelled],
        }
    }
}

/// A question for a list of jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase", default)]
pub struct JobFilter {
    /// Which states.
    pub shown: JobsShown,
    /// Only this queue.
    pub queue: Option<QueueName>,
    /// Only this submission.
    pub batch_id: Option<BatchId>,
    /// Only this cause of an end.
    pub cause: Option<Cause>,
    /// Only this template, in any version.
    pub template: Option<String>,
    /// Only this provider.
    pub provider: Option<Provider>,
    /// Only this model.
    pub model: Option<String>,
    /// Only jobs that were added at this moment or later.
    pub added_since: Option<Timestamp>,
    /// Only jobs whose file name, batch, template, error or result has words that begin like these.
    pub text: Option<String>,
}

/// A page of a list, newest job first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct JobPage {
    /// The rows.
    pub jobs: Vec<JobView>,
    /// How many jobs match in all.
    pub total: u64,
    /// Hand this in as `after` for the next page; `None` at the end.
    pub next: Option<i64>,
}

/// What a list is sorted by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum OrderBy {
    /// When it was added. Where all jobs are shown newest first, those that run come before them.
    Added,
    /// What is under way, then what waits as its turn comes, then what ended, newest end first. It has one direction.
    #[default]
    Line,
    /// State: what moves, what waits, what wants a person, what is over; the newest first in each.
    Status,
    /// The file's name, or the beginning of the prompt; large and small letters are the same.
    Title,
    /// Pages of the document; jobs without are last in both directions.
    Pages,
    /// What its attempts cost, as far as that is known.
    Cost,
    /// How long its ended attempts ran.
    Ran,
}

/// The order of a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct JobOrder {
    /// By what.
    pub by: OrderBy,
    /// The largest, latest or last first.
    pub descending: bool,
}

/// Rows of a list, read from any place of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct JobRows {
    /// The rows.
    pub jobs: Vec<JobView>,
    /// How many jobs match in all.
    pub total: u64,
}
