//! The words of the product as types: what is stored, and what the fronts are shown.
//!
//! Types that cross to the window are exported to TypeScript with the feature `ts`. Times are
//! [`Timestamp`]s (milliseconds since 1970, UTC), money is integer micro-dollars, sizes are bytes.

mod about;
mod attempt;
mod batch;
mod bucket;
mod budget;
mod cause;
mod document;
mod endpoint;
mod event;
mod export;
mod forecast;
mod id;
mod job;
mod overview;
mod problem;
mod profile;
mod queue;
mod reading;
mod report;
mod result;
mod scan;
mod selection;
mod settings;
mod template;
mod usage;
mod word;

pub use about::About;
pub use attempt::{AttemptOutcome, AttemptStep, AttemptView};
pub use batch::BatchView;
pub use bucket::{
    BucketAddress, BucketSettings, BucketStatus, BucketTest, FailedUpload, Jurisdiction,
    UploadCause, UploadTrouble, UploadView, UploadsView,
};
pub use budget::{BudgetView, Gauge, LongPromptPrice, ModelPrice, Money, PriceTable, PriceView};
pub use cause::{Cause, CauseClass, Fix};
pub use document::{
    DocumentFacts, DocumentView, Encryption, Finding, Notice, PageRange, Sends, TextLayer,
};
pub use endpoint::{AuthScheme, EndpointAbilities, EndpointKind, EndpointView};
pub use event::{EngineEvent, JobPhase};
pub use export::{ExportFormat, ExportRequest, Exported};
pub use forecast::{
    CapFit, DeliveryForecast, DeliveryWay, Finish, Forecast, ForecastPrice, InputForecast,
    LimitedBy, OutputForecast, PilotReport, PilotView, TokenCounting,
};
pub use id::{BatchId, JobId, Sha256, Timestamp};
pub use job::{
    CapScope, JobDetail, JobFilter, JobKind, JobOrder, JobPage, JobRows, JobStatus, JobView,
    JobsShown, OrderBy, PartState, PartView, PartsDone, RemoteView, WaitingReason,
};
pub use overview::{CircuitView, ConsumerPlace, JobCounts, Overview};
pub use problem::{Problem, ProblemCode};
pub use profile::{Effort, Lifecycle, ModelNotice, ModelProfile, ProfileSource};
pub use queue::{Delivery, LaneSettings, LaneView, Place, QueueName, SubmittedView};
pub use reading::{DocumentFile, Passage, Quote, QuoteVerdict, Reading, Unchecked};
pub use report::{BatchReport, NextStep, RankedJob};
pub use result::{OlderResult, ResultFormat, ResultView, ReusedFrom};
pub use scan::{
    EstimateCheck, RefusedFile, ScanId, ScanReport, ScannedFile, SkipReason, SkippedPath,
    Submission, SubmissionPlan, Submitted,
};
pub use selection::{
    Affected, BulkAction, DeadLetterGroup, LeftOut, LeftOutReason, RetryChanges, RetryPlan,
    Selection,
};
pub use settings::{
    CopiesTo, KeySource, KeyStatus, KeyTest, Language, NameTaken, Provider, QuietHours, Settings,
    Theme, WebhookStatus,
};
pub use template::{
    FieldKind, TemplateDraft, TemplateField, TemplateKind, TemplatePreview, TemplateView, Variables,
};
pub use usage::{Left, ToldLeft, ToldLimits, Usage};
