//! How a long document is divided: ranges of pages that one call takes each, and what the calls come to.
//!
//! A document that fits in one call is never divided. One that does not goes in as few parts as the model
//! allows, all of about the same size: a last part of three pages would be answered as if it were a document.

mod sums;

use crate::model::{Cause, Finding, PageRange, Sends};
use crate::pdf::Measures;
use crate::pricing::{Ceiling, DocumentWork, Estimate, TextWork, Work, estimate};

use sums::{Sums, has_text};

/// Most parts of a document, whatever the model takes.
const MOST_PARTS: usize = 1_000;
/// Fewest pages of a part, on average, for which a document is divided only to fit in the budget of a
/// minute: smaller ones would cost more in sense than waiting alone costs in time.
const FEWEST_PAGES_FOR_A_MINUTE: u32 = 20;
/// Bytes of the words around the question of a part, and around the answer of each part in the question that
/// combines them.
pub(crate) const FRAME_BYTES: u64 = 400;
/// Output tokens of an ordinary answer to a part.
const ORDINARY_ANSWER: u64 = 900;
/// How finely the sizes of parts are evened out: halvings of the scale.
const HALVINGS: u32 = 12;

/// What is known of a document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known<'document> {
    /// Its pages; `None` when nobody could count them, so that it can't be divided.
    pub(crate) pages: Option<u32>,
    /// Its size in bytes.
    pub(crate) bytes: u64,
    /// Its text; `None` when it was not looked at.
    pub(crate) text: Option<TextWork>,
    /// What each page holds.
    pub(crate) measures: Option<&'document Measures>,
}

/// What is asked about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question<'question> {
    pub(crate) model: &'question str,
    pub(crate) sends: Sends,
    /// Length of the template in bytes.
    pub(crate) prompt_bytes: u64,
    /// The same in characters.
    pub(crate) prompt_characters: u64,
    /// Most output tokens of each answer.
    pub(crate) max_tokens: u32,
    /// What one call takes.
    pub(crate) ceiling: Ceiling,
}

impl Question<'_> {
    /// Returns what a call about a document, or a part of one, works on.
    pub(crate) fn work(&self, pages: Option<u32>, text: Option<TextWork>) -> Work {
        Work {
            document: Some(DocumentWork {
                sends: self.sends,
                pages,
                text,
            }),
            prompt_bytes: self.prompt_bytes,
            prompt_characters: self.prompt_characters,
            max_tokens: self.max_tokens,
        }
    }

    /// Returns how many tokens the call about a part will take.
    pub(crate) fn part(&self, part: &Part) -> Estimate {
        let framed = Self {
            prompt_bytes: self.prompt_bytes + FRAME_BYTES,
            prompt_characters: self.prompt_characters + FRAME_BYTES,
            ..*self
        };
        let work = framed.work(Some(part.pages.pages()), part.text);
        estimate(self.model, &work)
    }

    /// Returns how many tokens the call that combines the answers will take, of which some are there already.
    pub(crate) fn combining(&self, answered: &[(u64, u64)], missing: u64) -> Estimate {
        let frames = FRAME_BYTES * (answered.len() as u64 + missing + 1);
        let sum = |of: fn(&(u64, u64)) -> u64| answered.iter().map(of).sum::<u64>();
        let known = estimate(
            self.model,
            &Work {
                document: None,
                prompt_bytes: self.prompt_bytes + frames + sum(|(bytes, _)| *bytes),
                prompt_characters: self.prompt_characters
                    + frames
                    + sum(|(_, characters)| *characters),
                max_tokens: self.max_tokens,
            },
        );
        let most = known.worst_output;
        Estimate {
            expected_input: known.expected_input + missing * ORDINARY_ANSWER.min(most),
            dense_input: known.dense_input + missing * most,
            likely_input: known.dense_input + missing * most,
            worst_input: known.worst_input + missing * most,
            ..known
        }
    }
}

/// A part of a document, to be asked by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub(crate) pages: PageRange,
    /// Its text; `None` when it was not looked at.
    pub(crate) text: Option<TextWork>,
}

/// Returns the parts that a document is asked in; none where one call takes it.
///
/// `minute` is the budget of a minute: a document that is larger is divided so that each part fits, where
/// parts of a sensible size can.
///
/// # Errors
/// What speaks against the document: a page that no call takes, or more parts than can be put together again.
pub(crate) fn plan(
    document: &Known<'_>,
    question: &Question<'_>,
    minute: u64,
) -> Result<Vec<Part>, Finding> {
    let Some(pages) = document.pages.filter(|pages| *pages > 0) else {
        return Ok(Vec::new());
    };
    let sums = Sums::new(document, pages);
    let room = Room {
        sums: &sums,
        question,
        ceiling: question.ceiling,
        minute: None,
    };
    let patient = Room {
        minute: Some(minute),
        ..room
    };
    let all = PageRange {
        first: 1,
        last: pages,
    };
    let one_call = |room: &Room<'_>| document.bytes <= room.most_bytes() && room.takes(all, 1.0);
    if one_call(&room) && one_call(&patient) {
        return Ok(Vec::new());
    }
    if sums.are_measured {
        // What nobody measured is found out when it is sent.
        room.refuse_large_pages(pages)?;
    }
    let within_minute = patient
        .even(pages)
        .filter(|parts| {
            pages / u32::try_from(parts.len().max(1)).unwrap_or(u32::MAX)
                >= FEWEST_PAGES_FOR_A_MINUTE
        })
        .filter(|parts| parts.iter().all(|part| patient.takes(*part, 1.0)))
        .filter(|parts| room.can_be_combined(parts.len()));
    let ranges = match within_minute {
        Some(ranges) => ranges,
        None if one_call(&room) => return Ok(Vec::new()),
        None => room
            .even(pages)
            .filter(|parts| room.can_be_combined(parts.len()))
            .ok_or_else(|| room.too_long(pages))?,
    };
    if ranges.len() < 2 {
        return Ok(Vec::new());
    }
    Ok(ranges.into_iter().map(|range| sums.part(range)).collect())
}

/// Divides a part in two halves; `None` for a single page.
pub(crate) fn halves(part: &Part, measures: Option<&Measures>) -> Option<[Part; 2]> {
    let PageRange { first, last } = part.pages;
    if last <= first {
        return None;
    }
    let middle = first + (last - first) / 2;
    let ranges = [
        PageRange {
            first,
            last: middle,
        },
        PageRange {
            first: middle + 1,
            last,
        },
    ];
    Some(ranges.map(|pages| Part {
        pages,
        text: part.text.map(|text| text_of(pages, part, text, measures)),
    }))
}

/// Returns the text of some pages of a part: as measured, else in proportion.
fn text_of(pages: PageRange, part: &Part, text: TextWork, measures: Option<&Measures>) -> TextWork {
    let measured = measures.and_then(|measures| {
        let first = usize::try_from(pages.first.checked_sub(1)?).ok()?;
        measures.pages.get(first..usize::try_from(pages.last).ok()?)
    });
    match measured {
        Some(pages) => TextWork {
            pages: pages.iter().filter(|page| has_text(page)).count() as u64,
            letters: pages.iter().map(|page| u64::from(page.letters)).sum(),
            ideographs: pages.iter().map(|page| u64::from(page.ideographs)).sum(),
            ..text
        },
        None => {
            let (some, all) = (u64::from(pages.pages()), u64::from(part.pages.pages()));
            let share = |whole: u64| whole.saturating_mul(some).div_ceil(all);
            TextWork {
                pages: share(text.pages).min(some),
                letters: share(text.letters),
                ideographs: share(text.ideographs),
                ..text
            }
        }
    }
}

/// What a call takes at most.
#[derive(Clone, Copy)]
struct Room<'plan> {
    sums: &'plan Sums,
    question: &'plan Question<'plan>,
    ceiling: Ceiling,
    /// The budget of a minute, where that counts, too.
    minute: Option<u64>,
}

impl Room<'_> {
    /// Returns the most bytes of a document; a text is never too large before it has too many tokens.
    fn most_bytes(&self) -> u64 {
        match self.question.sends {
            Sends::Pdf => self.ceiling.document_bytes,
            Sends::Text => u64::MAX,
        }
    }

    fn bytes(&self, range: PageRange) -> u64 {
        self.sums.shared_bytes + self.sums.of(range)[3]
    }

    /// Says whether a call takes these pages, where everything is made smaller by a scale.
    fn takes(&self, range: PageRange, scale: f64) -> bool {
        let within = |size: u64, most: u64| most == u64::MAX || size as f64 <= most as f64 * scale;
        let most_pages = match self.question.sends {
            Sends::Pdf => u64::from(self.ceiling.pages),
            Sends::Text => u64::MAX,
        };
        let tokens = self.question.part(&self.sums.part(range));
        within(u64::from(range.pages()), most_pages)
            && within(self.bytes(range), self.most_bytes())
            // One that turns out to be larger is refused for nothing, and divided further.
            && within(
                tokens.dense_input + tokens.worst_output,
                self.ceiling.input_tokens,
            )
            && self.minute.is_none_or(|minute| {
                within(tokens.dense_input + tokens.worst_output, minute)
            })
    }

    /// Returns the fewest ranges that calls take, as even as they can be; `None` for more than can be.
    fn even(&self, pages: u32) -> Option<Vec<PageRange>> {
        let fewest = self.ranges(pages, 1.0, MOST_PARTS)?;
        let (mut best, mut low, mut high) = (fewest, 0.0, 1.0);
        for _ in 0..HALVINGS {
            let scale = f64::midpoint(low, high);
            match self.ranges(pages, scale, best.len()) {
                Some(ranges) => {
                    best = ranges;
                    high = scale;
                }
                None => low = scale,
            }
        }
        Some(best)
    }

    /// Takes as many pages as there is room for, one at least, again and again; `None` for more than `most`.
    fn ranges(&self, pages: u32, scale: f64, most: usize) -> Option<Vec<PageRange>> {
        let mut ranges = Vec::new();
        let mut first = 1;
        while first <= pages {
            if ranges.len() == most {
                return None;
            }
            // The last page that has room, found by halving: more pages never take less.
            let (mut last, mut beyond) = (first, pages + 1);
            while last + 1 < beyond {
                let middle = last + (beyond - last) / 2;
                let range = PageRange {
                    first,
                    last: middle,
                };
                if self.takes(range, scale) {
                    last = middle;
                } else {
                    beyond = middle;
                }
            }
            ranges.push(PageRange { first, last });
            first = last + 1;
        }
        Some(ranges)
    }

    /// Says whether the answers of so many parts fit in the question that combines them.
    fn can_be_combined(&self, parts: usize) -> bool {
        let tokens = self.question.combining(&[], parts as u64);
        tokens.worst_input + tokens.worst_output <= self.ceiling.input_tokens
    }

    fn refuse_large_pages(&self, pages: u32) -> Result<(), Finding> {
        for page in 1..=pages {
            let range = PageRange {
                first: page,
                last: page,
            };
            if !self.takes(range, 1.0) {
                return Err(self.too_large(page));
            }
        }
        Ok(())
    }

    fn too_large(&self, page: u32) -> Finding {
        let range = PageRange {
            first: page,
            last: page,
        };
        let megabytes = |bytes: u64| bytes as f64 / 1_000_000.0;
        let message = if self.bytes(range) > self.most_bytes() {
            format!(
                "Page {page} alone takes {:.1} MB; one call takes at most {:.1} MB of a PDF.",
                megabytes(self.bytes(range)),
                megabytes(self.most_bytes()),
            )
        } else {
            format!(
                "Page {page} alone has more text than one call to {} takes.",
                self.question.model
            )
        };
        Finding {
            cause: Cause::TooLarge,
            message,
        }
    }

    fn too_long(&self, pages: u32) -> Finding {
        Finding {
            cause: Cause::PromptTooLong,
            message: format!(
                "The document has {pages} pages. The answers to all of its parts would be longer than one \
                 call to {} takes, at {} output tokens each.",
                self.question.model, self.question.max_tokens
            ),
        }
    }
}

#[cfg(test)]
mod tests;
