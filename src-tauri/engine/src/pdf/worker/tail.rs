//! Files that break off before their end, as downloads do that were not finished.

use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Array, Dict, MaybeRef, ObjRef, Object};
use hayro::hayro_syntax::page::Page;
use memchr::memmem;

use super::{finding, kind};
use crate::model::{Cause, Finding};

/// Where the end of a PDF is looked for: rubbish after it is common.
const END_WITHIN: usize = 4096;

/// Where a first object is looked for: what has none there is something else than half a PDF.
const OBJECT_WITHIN: usize = 64 << 10;

/// Most pages that are looked at.
const MAX_PAGES: usize = 20_000;

/// Says whether the file has the beginning of a PDF, but not its end.
pub(super) fn is_missing(content: &[u8]) -> bool {
    let head = &content[..content.len().min(OBJECT_WITHIN)];
    let end = &content[content.len().saturating_sub(END_WITHIN)..];
    let ends = [&b"%%EOF"[..], b"startxref"]
        .iter()
        .any(|mark| memmem::find(end, mark).is_some());
    memmem::find(head, b" obj").is_some()
        && (!ends || kind::linearized(content).is_some_and(|bytes| bytes > content.len() as u64))
}

/// What is said of a file of which nothing can be read.
pub(super) fn nothing_left() -> Finding {
    finding(
        Cause::PdfTruncated,
        "This PDF breaks off before its end, as after a download that was not finished: nothing of it \
         can be read.",
    )
}

/// Says which pages are missing of a file that breaks off, though the rest of it can be read.
pub(super) fn missing_pages(
    content: &[u8],
    pdf: Option<&Pdf>,
    pages: u32,
    claimed: u32,
) -> Option<Finding> {
    if !is_missing(content) {
        return None;
    }
    // The tree of pages says how many there were; a parser that mends the file may not.
    let claimed = pdf.and_then(count_in_tree).unwrap_or(0).max(claimed);
    let empty = pdf.map_or(0, |pdf| {
        let pages = pdf.pages().iter().take(MAX_PAGES);
        pages.filter(|page| has_lost_content(page)).count()
    });
    // A page that is only referred to is counted by one parser and left out by the other.
    let found = pdf.map_or(pages, |pdf| {
        u32::try_from(pdf.pages().len())
            .unwrap_or(u32::MAX)
            .min(pages)
    });
    let missing = (claimed - found).saturating_add(u32::try_from(empty).unwrap_or(u32::MAX));
    (missing > 0).then(|| {
        finding(
            Cause::PdfTruncated,
            format!(
                "This PDF breaks off before its end, as after a download that was not finished: \
                 {missing} of its {claimed} pages are missing."
            ),
        )
    })
}

fn count_in_tree(pdf: &Pdf) -> Option<u32> {
    let root = pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())?;
    let count = root.get::<Dict<'_>>("Pages")?.get::<i64>("Count")?;
    count.try_into().ok()
}

/// Whether a page refers to content that is not there.
fn has_lost_content(page: &Page<'_>) -> bool {
    let is_lost = |id: ObjRef| {
        let object = page.xref().get::<Object<'_>>(id.into());
        matches!(object, None | Some(Object::Null(_)))
    };
    match page.raw().get_raw::<Object<'_>>("Contents") {
        Some(MaybeRef::Ref(id)) => match page.xref().get::<Array<'_>>(id.into()) {
            Some(parts) => parts
                .raw_iter()
                .filter_map(|part| part.as_obj_ref())
                .any(is_lost),
            None => is_lost(id),
        },
        Some(MaybeRef::NotRef(Object::Array(parts))) => parts
            .raw_iter()
            .filter_map(|part| part.as_obj_ref())
            .any(is_lost),
        _ => false,
    }
}
