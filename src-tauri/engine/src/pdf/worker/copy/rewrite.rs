//! Pages written anew from what the second parser reads, without their annotations.

use hayro::hayro_syntax::Pdf;
use hayro_write::pdf_writer::{self, Ref};
use hayro_write::{ChunkSettings, ExtractionQuery};

use crate::model::PageRange;

/// Writes a range that the file has.
pub(super) fn pages(pdf: &Pdf, range: PageRange) -> Option<Vec<u8>> {
    let queries: Vec<_> = (range.first..=range.last)
        .map(|page| ExtractionQuery::new_page(page as usize - 1))
        .collect();
    let mut next = Ref::new(1);
    let catalog = next.bump();
    let extracted = hayro_write::extract(
        pdf,
        Box::new(|| next.bump()),
        ChunkSettings::default(),
        &queries,
    )
    .ok()?;
    let pages: Vec<Ref> = extracted
        .root_refs
        .into_iter()
        .collect::<Result<_, _>>()
        .ok()?;

    let mut written = pdf_writer::Pdf::new();
    written
        .catalog(catalog)
        .pages(extracted.page_tree_parent_ref);
    written
        .pages(extracted.page_tree_parent_ref)
        .count(i32::try_from(pages.len()).ok()?)
        .kids(pages);
    written.extend(&extracted.chunk);
    Some(written.finish())
}
