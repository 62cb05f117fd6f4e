//! Results as files for other programs.

use serde::{Deserialize, Serialize};

use super::Selection;

/// What an export is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum ExportFormat {
    /// A table, one row a job; fields are columns.
    Csv,
    /// One JSON object a line.
    Jsonl,
    /// All results in one document.
    Markdown,
}

impl ExportFormat {
    /// Returns the ending of its files, without a dot.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Markdown => "md",
        }
    }
}

/// What is exported, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ExportRequest {
    /// Which jobs.
    pub selection: Selection,
    /// As what.
    pub format: ExportFormat,
    /// Whether a table begins with a byte order mark, which Excel needs to read it as UTF-8.
    pub byte_order_mark: bool,
}

/// What was exported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Exported {
    /// The file.
    pub path: String,
    /// Jobs in it.
    pub jobs: u64,
    /// How many of them have a result.
    pub results: u64,
    /// Results that could not be read; their jobs are in it without a text.
    pub unreadable: u64,
    /// Its size.
    pub bytes: u64,
}
