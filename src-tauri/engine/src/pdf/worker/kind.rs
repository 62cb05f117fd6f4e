//! What a file is when it is not a PDF.

use hayro::hayro_syntax::object::{Dict, FromBytes as _};

use super::finding;
use crate::model::{Cause, Finding};

/// How far into a file its PDF header may lie: readers have always skipped a little rubbish.
const HEADER_WITHIN: usize = 1024;

/// How much of a file's beginning and end is searched for the names that tell kinds of archives apart.
const NAMES_WITHIN: usize = 64 << 10;

/// Beginnings of files, the more telling first, and what such a file is.
const BEGINNINGS: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"II*\0", "a TIFF image"),
    (b"MM\0*", "a TIFF image"),
    (b"BM", "a bitmap image"),
    (b"{\\rtf", "a rich-text document (RTF)"),
    (b"%!PS", "a PostScript file"),
    (
        b"\xd0\xcf\x11\xe0",
        "an older Word, Excel or PowerPoint document",
    ),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"SQLite format 3\0", "a database"),
];

/// Names within a ZIP archive, and what such an archive is.
const ARCHIVES: &[(&[u8], &str)] = &[
    (b"word/document.xml", "a Word document"),
    (b"xl/workbook.xml", "an Excel workbook"),
    (b"ppt/presentation.xml", "a PowerPoint presentation"),
    (b"application/epub+zip", "an e-book (EPUB)"),
    (
        b"application/vnd.oasis.opendocument",
        "an OpenDocument file",
    ),
    (
        b"Index/Document.iwa",
        "a Pages, Numbers or Keynote document",
    ),
];

/// Says why the content can't be a PDF, if so.
pub(super) fn objection(content: &[u8]) -> Option<Finding> {
    if content.is_empty() {
        return Some(finding(Cause::FileEmpty, "This file is empty."));
    }
    let head = &content[..content.len().min(HEADER_WITHIN)];
    if contains(head, b"%PDF-") {
        return None;
    }
    let message = looks_like(content).map_or_else(
        || "This is not a PDF: it doesn't begin like one.".to_owned(),
        |kind| format!("This is {kind}, not a PDF."),
    );
    Some(finding(Cause::NotAPdf, message))
}

/// How many bytes lie before the header.
pub(super) fn bytes_before(content: &[u8]) -> usize {
    let head = &content[..content.len().min(HEADER_WITHIN)];
    memchr::memmem::find(head, b"%PDF-").unwrap_or(0)
}

/// How long the file says it is, if it is laid out for being shown while it loads. A file that was changed
/// later has another length, and that layout no more.
pub(super) fn linearized(content: &[u8]) -> Option<u64> {
    let head = &content[..content.len().min(2 * HEADER_WITHIN)];
    let start = memchr::memmem::find(head, b"/Linearized")?;
    let begin = memchr::memmem::rfind(&head[..start], b"<<")?;
    let dictionary = Dict::from_bytes(&head[begin..])?;
    dictionary.get::<i64>("L")?.try_into().ok()
}

fn looks_like(content: &[u8]) -> Option<&'static str> {
    if content.starts_with(b"PK\x03\x04") || content.starts_with(b"PK\x05\x06") {
        let head = &content[..content.len().min(NAMES_WITHIN)];
        let tail = &content[content.len().saturating_sub(NAMES_WITHIN)..];
        return Some(
            ARCHIVES
                .iter()
                .find(|(name, _)| contains(head, name) || contains(tail, name))
                .map_or("a ZIP archive", |(_, kind)| kind),
        );
    }
    if let Some((_, kind)) = BEGINNINGS
        .iter()
        .find(|(beginning, _)| content.starts_with(beginning))
    {
        return Some(kind);
    }
    match content.get(4..12) {
        Some(b"ftypheic" | b"ftypheix" | b"ftypmif1") => return Some("a HEIC photo"),
        Some([b'f', b't', b'y', b'p', ..]) => return Some("a video"),
        _ => {}
    }
    if content.starts_with(b"RIFF") && content.get(8..12) == Some(b"WEBP") {
        return Some("a WebP image");
    }
    if content.iter().all(|byte| *byte == 0) {
        return Some("a file of nothing but zeros, as a broken download leaves it");
    }
    text_kind(&content[..content.len().min(HEADER_WITHIN)])
}

fn text_kind(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Some("plain text");
    }
    // The head may end in the middle of a character.
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return None,
    };
    let start = text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .to_ascii_lowercase();
    if start.starts_with("<!doctype html") || start.starts_with("<html") || start.contains("<head")
    {
        return Some("a web page (HTML)");
    }
    if start.starts_with("<svg") || (start.starts_with("<?xml") && start.contains("<svg")) {
        return Some("an SVG image");
    }
    if start.starts_with("<?xml") {
        return Some("an XML file");
    }
    text.chars()
        .all(|character| !character.is_control() || character.is_whitespace())
        .then_some("plain text")
}

fn contains(haystack: &[u8], needle: &[u8]) -> bool {
    haystack
        .windows(needle.len())
        .any(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_lie_within_the_first_kilobyte() {
        let mut content = vec![b'x'; 1019];
        content.extend_from_slice(b"%PDF-1.7");
        assert_eq!(objection(&content), None);
        content.insert(0, b'x');
        assert!(objection(&content).is_some());
    }

    #[test]
    fn other_files_are_named() {
        let cases: &[(&[u8], &str)] = &[
            (b"", "This file is empty."),
            (b"PK\x03\x04....", "This is a ZIP archive, not a PDF."),
            (
                b"PK\x03\x04....word/document.xml",
                "This is a Word document, not a PDF.",
            ),
            (b"\x89PNG\r\n\x1a\n", "This is a PNG image, not a PDF."),
            (
                b"\xef\xbb\xbf\n<!DOCTYPE html><p>",
                "This is a web page (HTML), not a PDF.",
            ),
            ("メモ".as_bytes(), "This is plain text, not a PDF."),
            (
                b"\x01\x02\x03",
                "This is not a PDF: it doesn't begin like one.",
            ),
        ];
        for (content, message) in cases {
            assert_eq!(objection(content).unwrap().message, *message);
        }
    }
}
