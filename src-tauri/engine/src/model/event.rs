//! What the engine tells its fronts.

use serde::{Deserialize, Serialize};

use super::{JobId, ScanId, TokenCounting};

/// What a running job is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum JobPhase {
    /// The document is being sent and read.
    Reading,
    /// The answer is being written.
    Writing,
}

/// Something changed. Sent after the commit; a front asks again for what it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "event",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum EngineEvent {
    /// These jobs changed; an empty list means "many, or unknown which".
    JobsChanged {
        /// Which.
        job_ids: Vec<JobId>,
    },
    /// Settings, key, queues or circuits changed.
    OverviewChanged,
    /// A running job came further. Not stored.
    JobProgress {
        /// Which.
        job_id: JobId,
        /// What it does.
        phase: JobPhase,
        /// Output tokens so far (counted from the stream: an estimate until the end).
        output_tokens: u64,
        /// Most output tokens it may write.
        max_tokens: u32,
    },
    /// A scan came further.
    ScanProgress {
        /// Files inspected so far.
        inspected: u64,
        /// Files found so far.
        found: u64,
        /// Those of the inspected that can't be summarized as they are.
        problems: u64,
        /// Whether folders are still being looked through, so that more may be found.
        walking: bool,
    },
    /// Counting the tokens of a scan's files came further, so that a forecast is surer.
    CountProgress {
        /// Whose files.
        scan_id: ScanId,
        /// How far.
        counting: TokenCounting,
    },
}
