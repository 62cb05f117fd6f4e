//! What parent and child say to each other: one message down, several up.

use std::ffi::OsString;

use serde::{Deserialize, Serialize};

use crate::model::{DocumentFacts, Encryption, Finding, PageRange, Sha256, TextLayer};

/// What the inspection of a file found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inspection {
    /// The file's size in bytes; 0 when it can't be read.
    pub bytes: u64,
    /// Its digest, also of a file that is no PDF; `None` when it can't be read or is too large to be.
    pub sha256: Option<Sha256>,
    /// When it was last changed: milliseconds since 1970; 0 when there is no such file.
    pub modified_ms: i64,
    /// Its pages; `None` when they could not be counted.
    pub pages: Option<u32>,
    /// How it is encrypted.
    pub encryption: Encryption,
    /// Whether one of the pages that were read has text; `None` when it was not looked at.
    pub has_text: Option<bool>,
    /// What else was learned of it.
    pub facts: DocumentFacts,
    /// What each page holds, of documents that may be longer than one call takes: those of more than 40
    /// pages or more than 16 MiB. `None` above 50,000 pages too.
    pub measures: Option<Measures>,
    /// What speaks against sending it.
    pub finding: Option<Finding>,
}

/// What a page holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMeasure {
    /// Characters of scripts of letters.
    pub letters: u32,
    /// Characters of scripts that take about a token each.
    pub ideographs: u32,
    /// Bytes of the file that only this page needs.
    pub bytes: u64,
}

/// What the pages of a document hold, by which it is split into parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measures {
    /// Bytes that several pages need, such as fonts.
    pub shared_bytes: u64,
    /// Each page, from the first.
    pub pages: Vec<PageMeasure>,
}

/// The text of a PDF.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DocumentText {
    /// One text a page, from the first page asked for on. Paragraphs are separated by a blank line; a single line
    /// break is one that the page means (lists, tables, verse). Fewer than were asked for when
    /// `truncated`.
    pub pages: Vec<String>,
    /// How many of the glyphs, from 0 to 1, have no known character: above 0.05 the text should not be
    /// relied on.
    pub untrusted_glyph_share: f32,
    /// Whether reading stopped early, at the limit of characters or of time.
    pub truncated: bool,
}

/// A copy of pages that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PdfCopy {
    /// Its size.
    pub bytes: u64,
    /// Its pages.
    pub pages: u32,
    /// Whether annotations were lost, and with them the values of fields: a broken file could be copied
    /// only by writing its pages anew.
    pub without_annotations: bool,
}

/// What the child is asked. Never printed: it holds passwords.
#[derive(Serialize, Deserialize)]
pub(super) struct Request {
    /// The file. Not a `PathBuf`, which JSON can't carry when it isn't Unicode.
    pub(super) path: OsString,
    /// Tried in this order when the empty password doesn't open the file.
    pub(super) passwords: Vec<String>,
    /// What to do with it.
    pub(super) operation: Operation,
}

/// What can be done with a file.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Operation {
    /// Is it a PDF that can be sent, and what is in it?
    Inspect,
    /// Its text.
    Text {
        /// The pages; all when `None`.
        pages: Option<PageRange>,
        /// Where to stop, in characters of all pages together.
        max_chars: usize,
    },
    /// A copy of pages.
    Copy {
        /// Which; all without.
        pages: Option<PageRange>,
        /// The file to write over. Not a `PathBuf`, which JSON can't carry when it isn't Unicode.
        into: OsString,
    },
    /// A picture of a page.
    Picture {
        /// Which, counted from 1.
        page: u32,
        /// Pixels of the longer side.
        largest_side: u32,
    },
}

/// What the child says, in this order, each left out when there is nothing to say.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Message {
    /// The file could be read: its bytes, before anybody looks into them.
    File {
        bytes: u64,
        sha256: Option<Sha256>,
        modified_ms: i64,
    },
    /// Its structure could be read.
    Structure {
        pages: Option<u32>,
        encryption: Encryption,
        /// Which of the passwords opened it; `None` for the empty one, or for none at all.
        password: Option<usize>,
    },
    /// What its structure tells besides, without its text.
    Facts(DocumentFacts),
    /// Something speaks against it.
    Finding(Finding),
    /// What text it has.
    Layer {
        text: TextLayer,
        language: Option<String>,
    },
    /// What each page holds.
    Measures(Measures),
    /// Its text.
    Text(DocumentText),
    /// The copy is written.
    Copied(PdfCopy),
    /// The copy could not be written, through no fault of the file.
    NotWritten(String),
    /// The picture, as a PNG.
    Picture(#[serde(with = "base64_bytes")] Vec<u8>),
    /// That was all of this file. Without this message the child died on the way.
    End {
        /// Whether it can be asked about another one.
        more: bool,
    },
}

/// Bytes in JSON, at four thirds of their length.
mod base64_bytes {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map_err(D::Error::custom)
    }
}
