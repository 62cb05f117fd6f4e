//! Which jobs an action is for, and what it would do before it does it.

use serde::{Deserialize, Serialize};

use super::{Cause, Delivery, Fix, JobFilter, JobId, ModelNotice, Provider, QueueName};

/// Which jobs an action is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "select",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Selection {
    /// These.
    Jobs {
        /// Which.
        job_ids: Vec<JobId>,
    },
    /// Every job that matches, also those that no list has shown yet.
    Matching {
        /// What.
        filter: JobFilter,
    },
}

impl Selection {
    /// Selects one job.
    #[must_use]
    pub fn one(job_id: JobId) -> Self {
        Self::Jobs {
            job_ids: vec![job_id],
        }
    }
}

/// What is different when jobs are put back in the queue; `None` leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase", default)]
pub struct RetryChanges {
    /// What answers.
    pub provider: Option<Provider>,
    /// The model.
    pub model: Option<String>,
    /// The template with its version, for PDFs.
    pub template: Option<String>,
    /// The queue.
    pub queue: Option<QueueName>,
    /// How they are delivered to Claude; `None` leaves it as it is, or with another queue as its settings say.
    #[serde(default)]
    pub delivery: Option<Delivery>,
    /// Most output tokens.
    pub max_tokens: Option<u32>,
    /// Whether jobs that are completed run again, too. Their results stay as those of an earlier run.
    pub completed: bool,
}

/// What putting jobs back in the queue would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct RetryPlan {
    /// Jobs that would be put back.
    pub would_run: u64,
    /// Jobs that would not, or that would fail again at once, by reason.
    pub would_not: Vec<LeftOut>,
    /// What one attempt at each would cost, as expected; `None` without a price.
    pub expected_micros: Option<i64>,
    /// What one attempt at each can cost at worst; `None` without a price.
    pub at_worst_micros: Option<i64>,
    /// What should be known of the ends of their models.
    #[serde(default)]
    pub model_notices: Vec<ModelNotice>,
}

/// Jobs that an action leaves out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct LeftOut {
    /// Why.
    pub reason: LeftOutReason,
    /// How many.
    pub jobs: u64,
}

/// Why an action leaves a job out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "why",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum LeftOutReason {
    /// It has a result already.
    Completed,
    /// It waits or runs.
    Live,
    /// Its file is not where it was.
    FileMissing,
    /// Its PDF can't be summarized as it is.
    Finding {
        /// What speaks against it.
        cause: Cause,
    },
    /// Its template asks for fields, which only Claude can fill in.
    FieldsNeedClaude,
    /// Nobody knows what the model costs.
    PriceUnknown {
        /// The model.
        model: String,
    },
}

/// What an action did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Affected {
    /// Jobs that change.
    pub jobs: u64,
    /// Jobs of the selection that stay as they are, since the action does not fit their state.
    pub unchanged: u64,
}

/// An action on a selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "action",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum BulkAction {
    /// Let pending jobs run without waiting for their delay or countdown.
    RunNow,
    /// Call pending jobs off, and running ones where that saves anything.
    Cancel,
    /// Hold pending jobs.
    Pause,
    /// Let held jobs go on.
    Resume,
    /// Put pending jobs in another queue, at its end.
    MoveTo {
        /// Which queue.
        queue: QueueName,
    },
    /// Take what needs a review for done, since a person looked at it; its cause is kept.
    MarkReviewed,
    /// Undo that.
    UnmarkReviewed,
    /// Remove jobs that don't run from the database, with their history and their stored results.
    Purge,
}

/// Failed and dead-lettered jobs of one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterGroup {
    /// The cause; also the filter's.
    pub cause: Cause,
    /// How many.
    pub jobs: u64,
    /// The newest job's words about it.
    pub message: String,
    /// What to do, in a sentence.
    pub hint: String,
    /// What to do, as data.
    pub fix: Fix,
    /// Titles of the newest, at most three.
    pub titles: Vec<String>,
}
