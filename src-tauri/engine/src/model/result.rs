//! Stored results.

use serde::{Deserialize, Serialize};

use super::{JobId, Provider, Sha256, Timestamp, UploadView};

/// What a stored result is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum ResultFormat {
    /// Markdown.
    #[default]
    Markdown,
    /// A JSON object with the fields of a template.
    Json,
}

/// The job whose result was reused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ReusedFrom {
    /// The job, which may have been removed since.
    pub job_id: JobId,
    /// When its result was stored.
    pub stored_at: Timestamp,
}

/// A result of an earlier run of the same job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct OlderResult {
    /// Which run.
    pub generation: u32,
    /// The model that answered.
    pub model: String,
    /// The template's id with its version.
    pub template: String,
    /// Where the file lies in the library.
    pub path: String,
    /// When it was stored.
    pub created_at: Timestamp,
}

/// A stored result with its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ResultView {
    /// The text, as Markdown; fields as a table. Untrusted: a model or a PDF wrote it.
    pub markdown: String,
    /// What the stored file is written in.
    pub format: ResultFormat,
    /// Which run of the job it comes from.
    pub generation: u32,
    /// What answered.
    pub provider: Provider,
    /// The model that answered, as it names itself.
    pub model: String,
    /// The template's id with its version.
    pub template: String,
    /// Why the model stopped; `None` for the offline provider.
    pub stop_reason: Option<String>,
    /// Digest of the stored file.
    pub sha256: Sha256,
    /// Size of the stored file.
    pub bytes: u64,
    /// Where the file lies in the library.
    pub path: String,
    /// Where its copy lies, if one was made.
    pub copy_path: Option<String>,
    /// Why no copy could be made, or why it got another name, if so.
    pub copy_error: Option<String>,
    /// When the copy is tried again, if it is.
    pub copy_retry_at: Option<Timestamp>,
    /// Where its upload stands; `None` when it is not to be uploaded.
    pub upload: Option<UploadView>,
    /// The job that it was taken from for nothing, if it was.
    pub reused_from: Option<ReusedFrom>,
    /// Results of earlier runs, newest first.
    pub older: Vec<OlderResult>,
    /// When it was stored.
    pub created_at: Timestamp,
}
