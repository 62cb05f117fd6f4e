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

/// The text that a PDF carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct TextLayer {
    /// Pages whose text was read; fewer than the document has where that would have taken too long.
    pub pages_read: u32,
    /// Those of them that have text.
    pub pages_with_text: u32,
    /// Characters of scripts of letters (Latin, Cyrillic, …), carried forward to all pages.
    pub letters: u64,
    /// Characters of scripts that take about a token each (Chinese, Japanese, Korean), carried forward to all pages.
    pub ideographs: u64,
    /// How many of a hundred glyphs have no known character: above 5 the text should not be relied on.
    pub unknown_percent: u8,
}

/// What the inspection learned of a PDF besides whether it can be sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentFacts {
    /// The title that it gives itself.
    pub title: Option<String>,
    /// The language that its text seems to have (`en`, `ja`), as ISO 639-1 where it has a code there.
    pub language: Option<String>,
    /// Its text; `None` when it was not looked at.
    pub text: Option<TextLayer>,
    /// How it is encrypted, in the words of the field (`AES-256`, `RC4 40-bit`).
    pub cipher: Option<String>,
    /// Files that are attached to it, which nobody is sent.
    pub attachments: u32,
    /// Filled-in form fields that have no appearance, so that their values may not be seen.
    pub fields_unseen: u32,
    /// Whether it is laid out for being shown while it loads.
    pub linearized: bool,
    /// Bytes before its header.
    pub bytes_before: u32,
    /// Whether its table of objects is broken and was made anew, so that a repaired copy is sent.
    pub repaired: bool,
    /// Whether two ways to count its pages disagree.
    pub pages_uncertain: bool,
    /// Whether a copy of it was sent that lacks its comments, the values of its form and its layers, since it
    /// could not be copied as it is. Known only once it was sent.
    pub annotations_lost: bool,
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
    /// What else was learned of it.
    #[serde(default)]
    pub facts: DocumentFacts,
    /// What speaks against it.
    pub finding: Option<Finding>,
}

/// A range of pages, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct PageRange {
    /// The first page.
    pub first: u32,
    /// The last page.
    pub last: u32,
}

impl PageRange {
    /// Returns the number of its pages.
    #[must_use]
    pub fn pages(self) -> u32 {
        self.last.saturating_sub(self.first).saturating_add(1)
    }
}

/// What is sent of a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Sends {
    /// The PDF: text and a picture of each page.
    #[default]
    Pdf,
    /// The text that was extracted from it, with page numbers: cheaper, and blind to pictures.
    Text,
}

impl Sends {
    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
            Self::Text => "text",
        }
    }

    /// Returns what a stored word says.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Pdf, Self::Text]
            .into_iter()
            .find(|sends| sends.as_str() == word)
    }
}

/// Something worth knowing of a file that can be sent all the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Notice {
    /// It opens without a password though it is encrypted: a decrypted copy is sent.
    Decrypted,
    /// It was opened with a password that was given: a decrypted copy is sent, and the password is kept
    /// until Gistmill is closed.
    Unlocked,
    /// It is broken, and a repaired copy is sent.
    Repaired,
    /// It is longer than one call takes, and is asked part by part.
    Long,
    /// None of its pages has text: it seems to be scanned.
    Scanned,
    /// Many of its letters have no known meaning: its text is not to be relied on.
    TextUnreliable,
    /// Values of its form may not be seen.
    FieldsUnseen,
    /// Files are attached to it that nobody is sent.
    Attachments,
    /// Its pages could not be counted with certainty.
    PagesUncertain,
}
