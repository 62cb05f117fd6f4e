//! A copy of pages: unencrypted, whole, and with nothing else than what these pages need.
//!
//! Splitting, decrypting and repairing a PDF are this one operation. Objects are copied as they are, so
//! that fonts, fields and notes survive; where their parser can't open a file or finds other pages than
//! were counted, the pages are written anew by the second parser, which loses their annotations. A copy is
//! counted by a parser that had no part in it before it is said to be one.

mod fields;
mod objects;
mod rewrite;
mod target;
mod unused;

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use hayro::hayro_syntax::Pdf;

use self::target::Target;
use super::{finding, limits};
use crate::model::{Cause, Finding, PageRange};
use crate::pdf::protocol::PdfCopy;

/// Why there is no copy.
pub(super) enum NoCopy {
    /// The file's fault.
    Refused(Finding),
    /// The copy could not be written: what the system said.
    NotWritten(String),
}

/// A file whose pages were counted.
pub(super) struct Opened<'a> {
    /// Its bytes.
    pub(super) content: &'a Arc<Vec<u8>>,
    /// Opens it when the empty password doesn't.
    pub(super) password: Option<&'a str>,
    /// Its pages.
    pub(super) pages: u32,
    /// The file as the second parser opened it.
    pub(super) pdf: Option<Pdf>,
}

/// Writes a copy of these pages, of all without a range, over the file `into`, which is there already;
/// gives nothing when the file hasn't these pages.
///
/// `source` is where the file itself is, so that it can't be overwritten. Without a copy `into` is left empty.
pub(super) fn copy(
    opened: &Opened<'_>,
    source: &Path,
    range: Option<PageRange>,
    into: &Path,
) -> Result<Option<PdfCopy>, NoCopy> {
    let Some(range) = within(range, opened.pages) else {
        return Ok(None);
    };
    // The objects of the file, those of the copy, and the copy itself when it is counted.
    limits::allow_copy(opened.content.len() as u64);
    let mut target = Target::open(into, source)?;
    let copied = first_way(opened, range, &mut target).and_then(|bytes| match bytes {
        Some(bytes) => Ok(Some((bytes, false))),
        None => {
            let bytes = second_way(opened, range, &mut target)?;
            Ok(bytes.map(|bytes| (bytes, true)))
        }
    });
    match copied {
        Ok(Some((bytes, without_annotations))) => Ok(Some(PdfCopy {
            bytes,
            pages: range.pages(),
            without_annotations,
        })),
        Ok(None) => {
            target.empty();
            Err(NoCopy::Refused(finding(
                Cause::PdfDamaged,
                "This PDF is damaged: its pages can be counted, but no readable copy of them can be made.",
            )))
        }
        Err(trouble) => {
            target.empty();
            Err(trouble)
        }
    }
}

/// Copies objects; gives nothing when the file does not lend itself to it.
fn first_way(
    opened: &Opened<'_>,
    range: PageRange,
    target: &mut Target,
) -> Result<Option<u64>, NoCopy> {
    let Some(document) = objects::load(opened.content, opened.password) else {
        return Ok(None);
    };
    let pages: Vec<_> = document.page_iter().collect();
    let second = opened.pdf.as_ref().map(|pdf| pdf.pages().len());
    let counted = opened.pages as usize;
    // Where the parsers disagree, the pages are those of the one whose count was believed.
    if pages.len() < range.last as usize || (pages.len() != counted && second == Some(counted)) {
        return Ok(None);
    }
    let pages = &pages[range.first as usize - 1..range.last as usize];
    let mut copied = objects::copy(document, pages);
    let bytes = target.write(|out| copied.save_modern(out))?;
    drop(copied);
    Ok(target.holds(range.pages()).then_some(bytes))
}

/// Writes the pages anew; gives nothing when the second parser can't open the file either.
fn second_way(
    opened: &Opened<'_>,
    range: PageRange,
    target: &mut Target,
) -> Result<Option<u64>, NoCopy> {
    let Some(pdf) = &opened.pdf else {
        return Ok(None);
    };
    let Some(bytes) = rewrite::pages(pdf, range) else {
        return Ok(None);
    };
    let count = target.write(|out| out.write_all(&bytes))?;
    drop(bytes);
    Ok(target.holds(range.pages()).then_some(count))
}

/// Returns the pages that are meant, if they are there.
fn within(range: Option<PageRange>, pages: u32) -> Option<PageRange> {
    let range = range.unwrap_or(PageRange {
        first: 1,
        last: pages,
    });
    (range.first >= 1 && range.first <= range.last && range.last <= pages).then_some(range)
}
