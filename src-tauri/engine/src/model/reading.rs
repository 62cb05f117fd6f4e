//! What a reader is shown beside a summary: where it comes from, and whether its quotes hold.

use serde::{Deserialize, Serialize};

/// A result against its PDF.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Reading {
    /// The PDF's pages, when they could be counted.
    pub pages: Option<u32>,
    /// What the provider cited, in the order of the text.
    pub passages: Vec<Passage>,
    /// What the text quotes, in its order.
    pub quotes: Vec<Quote>,
    /// Pages that the text or the passages name, ascending, each once.
    pub cited_pages: Vec<u32>,
    /// The page that the list of references begins on, where that is certain.
    pub references_from: Option<u32>,
    /// Why nothing could be checked; `None` when the quotes were.
    pub unchecked: Option<Unchecked>,
}

/// A passage that the provider cited.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Passage {
    /// Its first page, from 1.
    pub first_page: u32,
    /// Its last page, itself included.
    pub last_page: u32,
    /// Its words, as the provider read them.
    pub text: String,
}

/// A quote of a text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    /// Its words as the Markdown has them, without the marks around them; the lines of a block joined by spaces.
    pub text: String,
    /// The page that is named beside it.
    pub page: Option<u32>,
    /// Whether the PDF says so.
    pub verdict: QuoteVerdict,
}

/// Whether a PDF says what is quoted from it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "verdict",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum QuoteVerdict {
    /// Word for word, but for spaces, hyphens at ends of lines and the forms of quotation marks.
    Found {
        /// Where, from 1.
        page: u32,
    },
    /// Not in these words.
    Differs {
        /// Where the closest passage is, from 1.
        page: u32,
        /// That passage.
        words: String,
    },
    /// Nothing like it.
    NotFound,
    /// Nobody could look.
    Unchecked,
}

/// Why quotes can't be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Unchecked {
    /// The job has no PDF.
    NoDocument,
    /// The PDF has no text that can be relied on.
    NoText,
    /// The file is not where it was.
    FileMissing,
    /// Another file lies there by now.
    FileChanged,
    /// It needs a password that nobody gave.
    Locked,
    /// It could not be read.
    Failed,
}

/// A job's PDF, ready to be read in pieces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct DocumentFile {
    /// Its size; that of the copy, for one that needs a password.
    pub bytes: u64,
    /// Its pages, when they could be counted.
    pub pages: Option<u32>,
    /// Where it lies.
    pub path: String,
}
