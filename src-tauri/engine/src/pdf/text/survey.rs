//! How much text a document has, found without reading all of it when that would take too long.

use std::time::Duration;

use hayro::hayro_interpret::InterpreterCache;
use hayro::hayro_syntax::Pdf;

use super::patience::Patience;
use super::{collect, language, lines, paragraphs, script};
use crate::model::TextLayer;

/// How much text the language is guessed from, in bytes.
const SAMPLE_BYTES: usize = 16 << 10;

/// How much of it a single page gives, so that one page in another language does not decide.
const SAMPLE_BYTES_OF_A_PAGE: usize = 4 << 10;

/// What text the pages have.
#[derive(Debug, Default)]
pub(in crate::pdf) struct Survey {
    /// The whole.
    pub(in crate::pdf) layer: TextLayer,
    /// The language it seems to be in.
    pub(in crate::pdf) language: Option<String>,
    /// Characters of letters and of ideographs, for each page; of pages that were not read what the others
    /// have on average.
    pub(in crate::pdf) pages: Vec<(u32, u32)>,
}

/// Reads pages, spread over the document, until `budget` was worked for; at least one.
pub(in crate::pdf) fn survey(pdf: &Pdf, budget: Duration) -> Survey {
    let patience = Patience::of(budget);
    let cache = InterpreterCache::new();
    let pages = pdf.pages();
    let mut read: Vec<Option<(u32, u32)>> = vec![None; pages.len()];
    let mut layer = TextLayer::default();
    let (mut glyphs, mut unknown) = (0, 0);
    let mut sample = String::new();
    for index in spread(pages.len()) {
        let collector = collect(&pages[index], &cache);
        glyphs += collector.total();
        unknown += collector.unknown();
        layer.pages_read += 1;
        layer.pages_with_text += u32::from(collector.has_text());
        let text = paragraphs::join(&lines::find(collector.into_glyphs()));
        read[index] = Some(count(&text));
        if sample.len() < SAMPLE_BYTES {
            sample.push_str(&text[..text.floor_char_boundary(SAMPLE_BYTES_OF_A_PAGE)]);
            sample.push('\n');
        }
        if patience.is_over() {
            break;
        }
    }
    let (letters, ideographs) = read
        .iter()
        .flatten()
        .fold((0_u64, 0_u64), |(letters, ideographs), page| {
            (letters + u64::from(page.0), ideographs + u64::from(page.1))
        });
    let known = u64::from(layer.pages_read.max(1));
    let all = pages.len() as u64;
    layer.letters = letters * all / known;
    layer.ideographs = ideographs * all / known;
    layer.unknown_percent = u8::try_from(unknown * 100 / glyphs.max(1)).unwrap_or(100);
    let average = |sum: u64| u32::try_from(sum / known).unwrap_or(u32::MAX);
    let usual = (average(letters), average(ideographs));
    Survey {
        layer,
        language: language::guess(&sample),
        pages: read.into_iter().map(|page| page.unwrap_or(usual)).collect(),
    }
}

/// Counts letters, with single blanks between them, and ideographs.
fn count(text: &str) -> (u32, u32) {
    let (mut letters, mut ideographs) = (0_u32, 0_u32);
    let mut blank = true;
    for character in text.chars() {
        if script::is_ideograph(character) {
            ideographs += 1;
        } else if !(blank && character.is_whitespace()) {
            letters += 1;
        }
        blank = character.is_whitespace();
    }
    (letters, ideographs)
}

/// All indexes below `count`, so that those which come first are spread over the whole, the very first one
/// at the front.
fn spread(count: usize) -> impl Iterator<Item = usize> {
    let bits = count.next_power_of_two().trailing_zeros();
    (0..1_usize << bits)
        .map(move |index| {
            if bits == 0 {
                index
            } else {
                index.reverse_bits() >> (usize::BITS - bits)
            }
        })
        .filter(move |index| *index < count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_comes_once_and_the_first_ones_are_spread() {
        for count in [0, 1, 2, 3, 7, 8, 600] {
            let mut all: Vec<usize> = spread(count).collect();
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
        assert_eq!(spread(600).take(4).collect::<Vec<_>>(), [0, 512, 256, 128]);
    }

    #[test]
    fn blanks_count_once_and_ideographs_apart() {
        assert_eq!(count("one  two\n\nthree "), (14, 0));
        assert_eq!(count("日本語 text"), (5, 3));
        assert_eq!(count("한국어"), (0, 3));
    }
}
