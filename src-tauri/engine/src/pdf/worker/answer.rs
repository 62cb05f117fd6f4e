//! What is said of one file.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hayro::hayro_syntax::Pdf;

use super::copy::{self, NoCopy};
use super::weigh::{Weights, weigh};
use super::{facts, finding, kind, picture, source, structure};
use crate::model::{Cause, Finding};
use crate::pdf::protocol::{Measures, Message, Operation, PageMeasure, Request};
use crate::pdf::text;

/// How long the processor may work on the text of a file for an inspection.
const TEXT_BUDGET: Duration = Duration::from_millis(150);

/// How long that of a file may take which may be longer than one call takes.
const LONG_TEXT_BUDGET: Duration = Duration::from_secs(5);

/// A file with more pages than this may be longer than one call takes.
const LONG_PAGES: u32 = 40;

/// A file of more bytes than this may be longer than one call takes.
const LONG_BYTES: u64 = 16 << 20;

/// Most pages that are measured one by one.
const MAX_MEASURED_PAGES: u32 = 50_000;

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
pub(super) fn examine(content: &Arc<Vec<u8>>, request: &Request, say: &mut dyn FnMut(&Message)) {
    if let Some(finding) = kind::objection(content) {
        return say(&Message::Finding(finding));
    }
    let structure = structure::read(content, &request.passwords);
    say(&Message::Structure {
        pages: structure.pages,
        encryption: structure.encryption,
        password: structure.password.as_ref().map(|(index, _)| *index),
    });
    if let Operation::Inspect = request.operation {
        say(&Message::Facts(facts::collect(content, &structure)));
    }
    if let Some(finding) = structure.finding {
        return say(&Message::Finding(finding));
    }
    match &request.operation {
        Operation::Inspect => {
            let pages = structure.pages.unwrap_or(0);
            measure(structure.pdf.as_ref(), pages, content.len() as u64, say);
        }
        Operation::Text { pages, max_chars } => say(&match structure.pdf {
            Some(pdf) => Message::Text(text::document_text(&pdf, *pages, *max_chars)),
            None => Message::Finding(without_text()),
        }),
        Operation::Copy { pages, into } => {
            let opened = copy::Opened {
                content,
                password: structure.password.as_ref().map(|(_, form)| form.as_str()),
                pages: structure.pages.unwrap_or(0),
                pdf: structure.pdf,
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
        Operation::Picture { page, largest_side } => {
            let drawn = match &structure.pdf {
                Some(pdf) => picture::of(pdf, *page, *largest_side),
                None => Err(picture::not_shown()),
            };
            match drawn {
                Ok(Some(png)) => say(&Message::Picture(png)),
                Ok(None) => {}
                Err(finding) => say(&Message::Finding(finding)),
            }
        }
    }
}

fn without_text() -> Finding {
    finding(
        Cause::PdfDamaged,
        "This PDF is damaged: its pages can be counted, but its text can't be read.",
    )
}

/// Says what text there is, and of a document that may be long what each page holds.
fn measure(pdf: Option<&Pdf>, pages: u32, bytes: u64, say: &mut dyn FnMut(&Message)) {
    let long = pages > LONG_PAGES || bytes > LONG_BYTES;
    let survey = pdf.map(|pdf| {
        let budget = if long { LONG_TEXT_BUDGET } else { TEXT_BUDGET };
        let survey = text::survey(pdf, budget);
        say(&Message::Layer {
            text: survey.layer,
            language: survey.language.clone(),
        });
        survey
    });
    if !long || pages == 0 || pages > MAX_MEASURED_PAGES {
        return;
    }
    let weights = pdf.map_or_else(Weights::default, |pdf| weigh(pdf, bytes));
    let texts = survey.map(|survey| survey.pages).unwrap_or_default();
    // Pages that only one of the parsers finds are taken for average ones.
    let usual = bytes / u64::from(pages);
    let measures = (0..pages as usize)
        .map(|page| {
            let (letters, ideographs) = texts.get(page).copied().unwrap_or_default();
            PageMeasure {
                letters,
                ideographs,
                bytes: weights.own.get(page).copied().unwrap_or(usual),
            }
        })
        .collect();
    say(&Message::Measures(Measures {
        shared_bytes: weights.shared,
        pages: measures,
    }));
}
