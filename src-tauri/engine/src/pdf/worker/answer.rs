//! What is said of one file.

use std::path::Path;
use std::sync::Arc;

use super::copy::{self, NoCopy};
use super::{finding, kind, picture, source, structure};
use crate::model::{Cause, TextLayer};
use crate::pdf::protocol::{Message, Operation, Request};
use crate::pdf::text;

/// Reads the file of a request and says what was asked, step by step.
pub(super) fn answer(request: &Request, say: &mut dyn FnMut(&Message)) {
    let source = match source::read(Path::new(&request.path)) {
        Ok(source) => source,
        Err(finding) => return say(&Message::Finding(finding)),
    };
    say(&Message::File {
        bytes: source.bytes,
        sha256: source.sha256,
        modified_ms: source.modified_ms,
    });
    match source.content {
        Ok(content) => examine(&Arc::new(content), request, say),
        Err(finding) => say(&Message::Finding(finding)),
    }
}

/// Does with the bytes of a file what was asked.
fn examine(content: &Arc<Vec<u8>>, request: &Request, say: &mut dyn FnMut(&Message)) {
    if let Some(finding) = kind::objection(content) {
        return say(&Message::Finding(finding));
    }
    let structure = structure::read(content, request.passwords.first().map(String::as_str));
    say(&Message::Structure {
        pages: structure.pages,
        encryption: structure.encryption,
        password: None,
    });
    if let Some(finding) = structure.finding {
        return say(&Message::Finding(finding));
    }
    match (&request.operation, structure.pdf) {
        (Operation::Inspect, None) => {}
        (Operation::Inspect, Some(pdf)) => {
            let has_text = text::has_text(&pdf);
            say(&Message::Layer {
                text: TextLayer {
                    pages_with_text: u32::from(has_text),
                    ..TextLayer::default()
                },
                language: None,
            });
        }
        (Operation::Text { pages, max_chars }, Some(pdf)) => {
            say(&Message::Text(text::document_text(
                &pdf, *pages, *max_chars,
            )));
        }
        (Operation::Text { .. }, None) => say(&Message::Finding(finding(
            Cause::PdfDamaged,
            "This PDF is damaged: its pages can be counted, but its text can't be read.",
        ))),
        (Operation::Copy { pages, into }, pdf) => {
            let opened = copy::Opened {
                content,
                password: request.passwords.first().map(String::as_str),
                pages: structure.pages.unwrap_or(0),
                pdf,
            };
            let (source, into) = (Path::new(&request.path), Path::new(into));
            match copy::copy(&opened, source, *pages, into) {
                Ok(Some(copied)) => say(&Message::Copied(copied)),
                // The parent knows how many pages there are, and says so.
                Ok(None) => {}
                Err(NoCopy::Refused(finding)) => say(&Message::Finding(finding)),
                Err(NoCopy::NotWritten(how)) => say(&Message::NotWritten(how)),
            }
        }
        (Operation::Picture { page, largest_side }, Some(pdf)) => {
            match picture::of(&pdf, *page, *largest_side) {
                Ok(Some(png)) => say(&Message::Picture(png)),
                Ok(None) => {}
                Err(finding) => say(&Message::Finding(finding)),
            }
        }
        (Operation::Picture { .. }, None) => say(&Message::Finding(finding(
            Cause::PdfDamaged,
            "This PDF is damaged: its pages can be counted, but not shown.",
        ))),
    }
}
