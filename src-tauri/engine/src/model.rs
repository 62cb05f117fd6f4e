//! The words of the product as types: what is stored, and what the fronts are shown.
//!
//! Types that cross to the window are exported to TypeScript with the feature `ts`. Times are
//! [`Timestamp`]s (milliseconds since 1970, UTC), money is integer micro-dollars, sizes are bytes.

mod attempt;
mod batch;
mod budget;
mod cause;
mod document;
mod event;
mod id;
mod job;
mod overview;
mod problem;
mod queue;
mod result;
mod scan;
mod selection;
mod settings;
mod template;
mod usage;

pub use attempt::{AttemptOutcome, AttemptView};
pub use batch::BatchView;
pub use budget::{BudgetView, Gauge, LongPromptPrice, ModelPrice, Money, PriceTable, PriceView};
pub use cause::{Cause, CauseClass, Fix};
pub use document::{DocumentView, Encryption, Finding};
pub use event::{EngineEvent, JobPhase};
pub use id::{BatchId, JobId, Sha256, Timestamp};
pub use job::{
    CapScope, JobDetail, JobFilter, JobKind, JobPage, JobStatus, JobView, JobsShown, WaitingReason,
};
pub use overview::{CircuitView, ConsumerPlace, JobCounts, Overview};
pub use problem::{Problem, ProblemCode};
pub use queue::{LaneSettings, LaneView, Place, QueueName};
pub use result::ResultView;
pub use scan::{ScanId, ScanReport, ScannedFile, SkipReason, SkippedPath, Submission, Submitted};
pub use selection::{
    Affected, BulkAction, DeadLetterGroup, LeftOut, LeftOutReason, RetryChanges, RetryPlan,
    Selection,
};
pub use settings::{
    KeySource, KeyStatus, KeyTest, Language, Provider, QuietHours, Settings, Theme, WebhookStatus,
};
pub use template::TemplateView;
pub use usage::{ToldLimits, Usage};
