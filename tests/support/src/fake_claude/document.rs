//! Reads documents: PDFs as base64, and texts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::check::invalid;
use super::fault::Canned;
use super::files::Files;
use super::journal::RecordedDocument;

/// The largest PDF whose text is read: it takes time, and tests with larger ones are about their bytes.
const MOST_READ_BYTES: usize = 4 * 1024 * 1024;
const MOST_READ_PAGES: u64 = 1_000;

/// Where documents are that a request only names.
pub(super) struct Library<'a> {
    pub(super) files: &'a Files,
    pub(super) workspace: &'a str,
    pub(super) now: Timestamp,
}

/// Reads a document block; `None` for one whose content is elsewhere.
pub(super) fn read(
    library: &Library<'_>,
    place: &str,
    block: &Value,
) -> Result<Option<RecordedDocument>, Canned> {
    let source = &block["source"];
    match source["type"].as_str() {
        Some("base64") => read_pdf(place, block).map(Some),
        Some("text") => read_text(place, block).map(Some),
        Some("file") => {
            let Some(id) = source["file_id"].as_str() else {
                return Err(invalid(format!(
                    "{place}.document.source.file.file_id: Field required"
                )));
            };
            let document = library
                .files
                .read(library.workspace, place, id, library.now)?;
            Ok(Some(RecordedDocument {
                title: title(block),
                ..document
            }))
        }
        Some("content" | "url") => Ok(None),
        _ => Err(invalid(format!(
            "{place}.document.source.type: Field required"
        ))),
    }
}

fn read_text(place: &str, block: &Value) -> Result<RecordedDocument, Canned> {
    let source = &block["source"];
    if source["media_type"] != "text/plain" {
        return Err(invalid(format!(
            "{place}.document.source.text.media_type: Input should be 'text/plain'"
        )));
    }
    let Some(text) = source["data"].as_str() else {
        return Err(invalid(format!(
            "{place}.document.source.text.data: Field required"
        )));
    };
    let document = of_text(text.as_bytes())
        .map_err(|words| invalid(format!("{place}.document.source.text.data: {words}")))?;
    Ok(RecordedDocument {
        title: title(block),
        ..document
    })
}

/// Reads a text document, or says what is wrong with it.
pub(super) fn of_text(bytes: &[u8]) -> Result<RecordedDocument, &'static str> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    if text.trim().is_empty() {
        return Err("String should have at least 1 character");
    }
    Ok(RecordedDocument {
        title: None,
        file_id: None,
        sha256: hex::encode(Sha256::digest(bytes)),
        pages: 0,
        bytes: bytes.len(),
        text: Some(text),
        page_texts: Vec::new(),
    })
}

fn title(block: &Value) -> Option<String> {
    block["title"].as_str().map(str::to_owned)
}

fn read_pdf(place: &str, block: &Value) -> Result<RecordedDocument, Canned> {
    let source = &block["source"];
    if source["media_type"] != "application/pdf" {
        return Err(invalid(format!(
            "{place}.document.source.base64.media_type: Input should be 'application/pdf'"
        )));
    }
    let data = source["data"].as_str().unwrap_or_default();
    let bytes = STANDARD.decode(data).map_err(|_| {
        invalid(format!(
            "{place}.document.source.base64.data: Invalid base64 data"
        ))
    })?;
    let document = of_pdf(&bytes)
        .map_err(|words| invalid(format!("{place}.pdf.source.base64.data: {words}")))?;
    Ok(RecordedDocument {
        title: title(block),
        ..document
    })
}

/// Reads a PDF, or says what is wrong with it.
pub(super) fn of_pdf(bytes: &[u8]) -> Result<RecordedDocument, &'static str> {
    // As readers do: a header may stand anywhere in the first kilobyte.
    let head = &bytes[..bytes.len().min(1024)];
    if !head.windows(5).any(|window| window == b"%PDF-") {
        return Err("The PDF specified was not valid.");
    }
    if count(bytes, b"/Encrypt") > 0 {
        return Err("The PDF specified is password protected.");
    }
    let pages = pages(bytes);
    Ok(RecordedDocument {
        title: None,
        file_id: None,
        sha256: hex::encode(Sha256::digest(bytes)),
        bytes: bytes.len(),
        text: None,
        page_texts: page_texts(bytes, pages),
        pages,
    })
}

/// Reads the text of each page, as far as lopdf can.
fn page_texts(bytes: &[u8], pages: u64) -> Vec<String> {
    if bytes.len() > MOST_READ_BYTES || pages > MOST_READ_PAGES {
        return Vec::new();
    }
    let Ok(document) = lopdf::Document::load_mem(bytes) else {
        return Vec::new();
    };
    document
        .get_pages()
        .into_keys()
        .map(|page| document.extract_text(&[page]).unwrap_or_default())
        .collect()
}

/// Counts pages; where the page tree can't be read, the page objects that stand in the open.
fn pages(bytes: &[u8]) -> u64 {
    let read =
        lopdf::Document::load_metadata_mem(bytes).map_or(0, |found| u64::from(found.page_count));
    if read > 0 {
        return read;
    }
    let pages = count(bytes, b"/Type /Page") + count(bytes, b"/Type/Page");
    let trees = count(bytes, b"/Type /Pages") + count(bytes, b"/Type/Pages");
    pages.saturating_sub(trees).max(1)
}

fn count(bytes: &[u8], wanted: &[u8]) -> u64 {
    // Most bytes are not a slash; skipping them early keeps 20 MB documents quick.
    let mut found = 0;
    let mut rest = bytes;
    while let Some(at) = rest.iter().position(|byte| *byte == b'/') {
        found += u64::from(rest[at..].starts_with(wanted));
        rest = &rest[at + 1..];
    }
    found
}
