//! PDFs as the inspection found them.

use serde::{Deserialize, Serialize};

use super::{Cause, Sha256};

/// How a PDF is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Encryption {
    /// Not at all.
    #[default]
    None,
    /// Encrypted, but it opens with the empty password.
    EmptyPassword,
    /// It needs a password.
    NeedsPassword,
    /// In a way that can't be opened here.
    Unsupported,
}

/// What speaks against sending a file, if anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Why; always of the class `item`.
    pub cause: Cause,
    /// The same in a sentence, with what the file looks like.
    pub message: String,
}

/// A PDF, known by its SHA-256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct DocumentView {
    /// The document.
    pub sha256: Sha256,
    /// Its size.
    pub bytes: u64,
    /// Its pages; `None` when they could not be counted.
    pub pages: Option<u32>,
    /// How it is encrypted.
    pub encryption: Encryption,
    /// Whether it has a text layer; `None` when it was not looked at.
    pub has_text: Option<bool>,
    /// What speaks against it.
    pub finding: Option<Finding>,
}
