//! Templates: versioned prompts.

use serde::{Deserialize, Serialize};

/// A version of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct TemplateView {
    /// Id with version (`pdf-summarize-v1`).
    pub template: String,
    /// Its name, as shown.
    pub name: String,
    /// The prompt that follows the document.
    pub body: String,
}
