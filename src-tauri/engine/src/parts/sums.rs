//! What ranges of pages hold.

use super::{Known, Part};
use crate::model::PageRange;
use crate::pdf::PageMeasure;
use crate::pricing::TextWork;

pub(super) fn has_text(page: &PageMeasure) -> bool {
    page.letters > 0 || page.ideographs > 0
}

/// Sums over the pages before each page, so that any range is known at once.
pub(super) struct Sums {
    pub(super) shared_bytes: u64,
    pub(super) are_measured: bool,
    all_read: bool,
    has_text_layer: bool,
    /// Pages with text, letters, ideographs and bytes of the pages before.
    before: Vec<[u64; 4]>,
}

impl Sums {
    pub(super) fn new(document: &Known<'_>, pages: u32) -> Self {
        let count = usize::try_from(pages).unwrap_or(usize::MAX);
        let measured = document
            .measures
            .filter(|measures| measures.pages.len() == count);
        let mut before = Vec::with_capacity(count + 1);
        let mut sum = [0; 4];
        before.push(sum);
        let text = document.text.unwrap_or_default();
        let all = u64::from(pages);
        for page in 0..count {
            let add = match measured {
                Some(measures) => {
                    let page = &measures.pages[page];
                    [
                        u64::from(has_text(page)),
                        u64::from(page.letters),
                        u64::from(page.ideographs),
                        page.bytes,
                    ]
                }
                None => [
                    u64::from((page as u64) < text.pages),
                    text.letters.div_ceil(all),
                    text.ideographs.div_ceil(all),
                    document.bytes.div_ceil(all),
                ],
            };
            for (sum, add) in sum.iter_mut().zip(add) {
                *sum += add;
            }
            before.push(sum);
        }
        Self {
            shared_bytes: measured.map_or(0, |measures| measures.shared_bytes),
            are_measured: measured.is_some(),
            all_read: text.all_read,
            has_text_layer: document.text.is_some(),
            before,
        }
    }

    pub(super) fn of(&self, range: PageRange) -> [u64; 4] {
        let at = |page: u32| {
            let last = self.before.len() - 1;
            self.before[usize::try_from(page).unwrap_or(last).min(last)]
        };
        let (from, to) = (at(range.first.saturating_sub(1)), at(range.last));
        std::array::from_fn(|column| to[column].saturating_sub(from[column]))
    }

    pub(super) fn part(&self, pages: PageRange) -> Part {
        let [with_text, letters, ideographs, _] = self.of(pages);
        Part {
            pages,
            text: self.has_text_layer.then_some(TextWork {
                pages: with_text,
                letters,
                ideographs,
                all_read: self.all_read,
            }),
        }
    }
}
