//! Stored results.

use serde::{Deserialize, Serialize};

use super::{Provider, Sha256, Timestamp};

/// A stored result with its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ResultView {
    /// The text, as Markdown. Untrusted: a model or a PDF wrote it.
    pub markdown: String,
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
    /// Where its copy beside the PDF lies, if one was made.
    pub copy_path: Option<String>,
    /// Why no copy could be made beside the PDF, if that was wanted and failed.
    pub copy_error: Option<String>,
    /// When it was stored.
    pub created_at: Timestamp,
}
