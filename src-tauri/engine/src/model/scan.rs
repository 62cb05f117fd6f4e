//! Intake: what a drop holds, and what is submitted.

use serde::{Deserialize, Serialize};

use super::{
    BatchId, Delivery, DocumentView, Finding, JobId, ModelNotice, Notice, Provider, QueueName,
    Variables,
};

/// Why something dropped is not among the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// Its name begins with a dot.
    Hidden,
    /// Its name does not end in `.pdf`.
    OtherKind,
    /// A symbolic link back to a folder on the way, or one that leads nowhere.
    LinkLoop,
    /// The same content as a file before it.
    Duplicate,
    /// It can't be read.
    Unreadable,
    /// It does not exist.
    Missing,
    /// More files than one drop takes.
    TooMany,
    /// It lies in Gistmill's own data directory.
    OwnOutput,
    /// A pipe, a socket or a device.
    NotAFile,
    /// Its name or that of a folder around it is no text (UTF-8), so that it could not be found again.
    NameNotText,
    /// It is still being written, as by a copy or a download under way.
    StillWritten,
}

/// A path that was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct SkippedPath {
    /// The path.
    pub path: String,
    /// Why.
    pub reason: SkipReason,
    /// The file that holds the same content, for [`SkipReason::Duplicate`].
    #[serde(default)]
    pub same_as: Option<String>,
}

/// A file that can become a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ScannedFile {
    /// Where it lies.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its place within what was added, such as `reports/2026/q1.pdf`; copies are mirrored by it.
    pub relative_path: String,
    /// When it was last changed: milliseconds since 1970.
    pub modified_ms: i64,
    /// What the inspection found.
    pub document: DocumentView,
    /// What is worth knowing though it can be sent.
    #[serde(default)]
    pub notices: Vec<Notice>,
}

/// A scan that can be submitted, kept by the engine until then or until it closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(transparent)]
pub struct ScanId(pub u32);

/// What a drop holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ScanReport {
    /// Hand this in to submit the files.
    pub scan_id: ScanId,
    /// A name for the batch: the dropped folder or the first file.
    pub name: String,
    /// Files, in the order they were found; those with a finding can't be summarized as they are.
    pub files: Vec<ScannedFile>,
    /// What was left out, and why.
    pub skipped: Vec<SkippedPath>,
    /// Pages of the files without a finding.
    pub pages: u64,
    /// Expected to cost about this many micro-dollars with the chosen model; `None` without a known price.
    pub expected_micros: Option<i64>,
    /// At most this many micro-dollars with the chosen model, at one attempt each; `None` without a known price.
    pub at_worst_micros: Option<i64>,
}

/// What a person wants done with scanned files or with a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Submission {
    /// A name for the batch.
    pub name: String,
    /// The queue.
    pub queue: QueueName,
    /// How its jobs are delivered to Claude; `None` as the queue's settings say. Only bulk can be handed to the
    /// batch API.
    #[serde(default)]
    pub delivery: Option<Delivery>,
    /// The template with its version (`pdf-summarize-v1`).
    pub template: String,
    /// What answers.
    pub provider: Provider,
    /// The model; `None` for the one of the settings.
    pub model: Option<String>,
    /// Most that the batch may cost, in micro-dollars; `None` for the cap of the settings.
    pub cap_micros: Option<i64>,
    /// Whether the batch is added paused.
    pub paused: bool,
    /// Values for the template's variables; what it has none for stays empty.
    #[serde(default)]
    pub variables: Variables,
    /// Whether files that have a result already are asked again, and paid again.
    #[serde(default)]
    pub fresh: bool,
    /// Jobs that run first, while the others wait for a person's word; `None` for all at once.
    #[serde(default)]
    pub pilot: Option<u32>,
}

/// What a submission would come to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct SubmissionPlan {
    /// Jobs that would be asked.
    pub to_run: u64,
    /// Jobs that would get an earlier result for nothing.
    pub reused: u64,
    /// Jobs that would fail at once, since their files can't be used.
    pub to_fail: u64,
    /// Those of them whose files have no finding, but can't be asked as is wanted here.
    #[serde(default)]
    pub refused: Vec<RefusedFile>,
    /// Jobs that would be asked part by part, being longer than one call takes.
    pub in_parts: u64,
    /// Calls at one attempt each: one a job, and for long ones one a part and one to combine them.
    pub calls: u64,
    /// Input tokens of all calls: as counted, else as estimated.
    pub input_tokens: u64,
    /// What should be known of the end of the model; `None` where none is near.
    #[serde(default)]
    pub model_notice: Option<ModelNotice>,
    /// Jobs that would be asked and whose tokens the provider counted.
    #[serde(default)]
    pub counted: u64,
    /// How such estimates compared with what was counted; `None` until anything was.
    pub estimates: Option<EstimateCheck>,
    /// Expected to cost about this many micro-dollars; `None` without a known price.
    pub expected_micros: Option<i64>,
    /// At most this many micro-dollars, at one attempt each; `None` without a known price.
    pub at_worst_micros: Option<i64>,
}

/// A file that can't be asked as is wanted, though it could be in another way: one of its pages is more than a
/// call to this model takes, or it has more parts than can be put together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct RefusedFile {
    /// Where it lies.
    pub path: String,
    /// What speaks against it.
    pub finding: Finding,
}

/// How estimates of input tokens compared with what the provider counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct EstimateCheck {
    /// Calls that were compared.
    pub calls: u64,
    /// What was counted of them all, in percent of what was estimated: 110 for a tenth more.
    pub counted_percent: u32,
    /// The middle one of how far single estimates were off, in percent of what was counted.
    pub usually_off_percent: u32,
}

/// What was stored for a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Submitted {
    /// The batch.
    pub batch_id: BatchId,
    /// Its jobs, in order.
    pub job_ids: Vec<JobId>,
}
