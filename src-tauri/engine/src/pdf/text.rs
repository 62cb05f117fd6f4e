//! Text of pages: glyphs collected by running a page's content, then laid out as lines and paragraphs.

mod cid;
mod collect;
mod language;
mod lines;
mod paragraphs;
mod patience;
mod script;
mod survey;

use std::time::{Duration, Instant};

use hayro::hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings, TransformExt as _, interpret_page,
};
use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::Rect;

use self::collect::Collector;
pub(super) use self::survey::survey;
use super::protocol::DocumentText;
use crate::model::PageRange;

/// After this time no further page is begun.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// Most pages read.
const MAX_PAGES: usize = 20_000;

/// Reads the text of some pages, or of all, page by page, until `max_chars` characters are reached.
pub(super) fn document_text(pdf: &Pdf, range: Option<PageRange>, max_chars: usize) -> DocumentText {
    let started = Instant::now();
    let cache = InterpreterCache::new();
    let mut text = DocumentText::default();
    let (mut glyphs, mut unknown, mut chars) = (0, 0, 0);
    let before = range.map_or(0, |range| range.first.saturating_sub(1) as usize);
    let count = range.map_or(usize::MAX, |range| range.pages() as usize);
    for page in pdf.pages().iter().skip(before).take(count) {
        if chars >= max_chars || text.pages.len() == MAX_PAGES || started.elapsed() > TIME_LIMIT {
            text.truncated = true;
            break;
        }
        let collector = collect(page, &cache);
        glyphs += collector.total();
        unknown += collector.unknown();
        text.truncated |= collector.overflowed();
        let page_text = paragraphs::join(&lines::find(collector.into_glyphs()));
        let room = max_chars - chars;
        match page_text.char_indices().nth(room) {
            Some((end, _)) => {
                text.truncated = true;
                chars = max_chars;
                text.pages.push(page_text[..end].to_owned());
            }
            None => {
                chars += page_text.chars().count();
                text.pages.push(page_text);
            }
        }
    }
    if glyphs > 0 {
        text.untrusted_glyph_share = unknown as f32 / glyphs as f32;
    }
    text
}

fn collect<'a>(page: &Page<'a>, cache: &InterpreterCache<'a>) -> Collector {
    let (width, height) = page.render_dimensions();
    let bounds = Rect::new(0.0, 0.0, f64::from(width), f64::from(height));
    // With the y axis pointing down, as text is read.
    let transform = page.initial_transform(true).to_kurbo();
    let settings = InterpreterSettings::default();
    let mut context = Context::new(transform, bounds, cache, page.xref(), settings);
    let mut collector = Collector::for_page(page);
    interpret_page(page, &mut context, &mut collector);
    collector
}
