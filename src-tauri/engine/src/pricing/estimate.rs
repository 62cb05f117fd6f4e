//! How many tokens a call will take, before it is made.
//!
//! A page of a PDF is sent to the model as a picture and as its text (Anthropic, "PDF support"). Counted by
//! others (`JOHNISKING/pdf-token-cost` on Hugging Face, version 2 of 2026-10-18: 1, 5 and 10 pages of text
//! with a model of each tokenizer, and a scanned page):
//!
//! - a picture takes 1,574 tokens, with newer models too, though their pictures may take up to 4,784
//!   (Anthropic, "Vision"): at worst a page is taken for one of those;
//! - text takes what the same text takes in a prompt, and about 42 tokens a page for its wrapping;
//! - English text has about 4.3 characters a token, and 3.0 with the tokenizer of Claude 4.7 and later;
//!   Chinese, Japanese and Korean take about 1.1 tokens a character with both (an assumption).
//!
//! Three numbers come of it. *Expected* is the middle. *Dense* is what figures, code and languages other
//! than English come to: the budget of a minute reserves it until it is known what such calls take. *Worst* is a token for every letter, which no
//! alphabet but the rarest exceeds: a spend cap reserves it. Where the text was not looked at, pages are
//! taken for ordinary, dense and full ones (Anthropic: 1,500 to 3,000 tokens of text a page); where it was
//! read in part, or not to be relied on, the worst is not less than that.

use crate::model::{EstimateCheck, Sends, TextLayer};
use crate::profiles;

/// What a call works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The document that is sent; `None` for a prompt alone.
    pub document: Option<DocumentWork>,
    /// Length of the prompt or of the template, in bytes.
    pub prompt_bytes: u64,
    /// The same in characters.
    pub prompt_characters: u64,
    /// Most output tokens of the answer, thinking left out.
    pub max_tokens: u32,
}

/// What is sent of a document, or of a part of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DocumentWork {
    /// Whether its pages or its text.
    pub sends: Sends,
    /// Its pages; `None` when nobody could count them.
    pub pages: Option<u32>,
    /// Its text; `None` when it was not looked at.
    pub text: Option<TextWork>,
}

/// The text of a document, or of a part of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextWork {
    /// Pages that have text.
    pub pages: u64,
    /// Characters of scripts of letters.
    pub letters: u64,
    /// Characters of scripts that take about a token each.
    pub ideographs: u64,
    /// Whether every page was read and its letters are known, so that the numbers are no projection.
    pub all_read: bool,
}

/// Tokens that a call is expected to take, and the most that it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Input tokens of an ordinary document of this size.
    pub expected_input: u64,
    /// Input tokens of a dense document.
    pub dense_input: u64,
    /// Input tokens that hardly any call like it exceeds: what the budget of a minute reserves.
    pub likely_input: u64,
    /// Input tokens when everything is at its largest: what a spend cap reserves.
    pub worst_input: u64,
    /// Output tokens of an ordinary summary, thinking included.
    pub expected_output: u64,
    /// Output tokens that hardly any answer exceeds: what the budget of a minute reserves.
    pub likely_output: u64,
    /// Output tokens at most, thinking included: what is asked for as `max_tokens`.
    pub worst_output: u64,
    /// Whether the provider counted the document, so that its input is no estimate.
    pub is_counted: bool,
}

/// What is known better than by estimate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Input tokens of the document as the provider counted them, without those of the prompt; `None` where
    /// nobody counted.
    pub counted: Option<u64>,
    /// How long earlier answers to the same template by the same model were; `None` without any.
    pub output: Option<OutputHistory>,
    /// The most that calls like it took lately; `None` where there were not enough of them.
    pub usual: Option<UsualCall>,
}

/// The most that calls that ask the same way took lately.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsualCall {
    /// Input as counted, in hundredths of what was expected; `None` where nobody compared.
    pub input_percent: Option<u64>,
    /// Output tokens.
    pub output_tokens: u64,
}

/// How long earlier answers were, in output tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputHistory {
    /// Answers that were looked at.
    pub answers: u64,
    /// A tenth of them had fewer.
    pub low: u64,
    /// The middle.
    pub middle: u64,
    /// A tenth of them had more.
    pub high: u64,
    /// The longest.
    pub most: u64,
}

impl OutputHistory {
    /// Returns what answers of these lengths say; `None` of none.
    #[must_use]
    pub fn of(mut tokens: Vec<u64>) -> Option<Self> {
        tokens.sort_unstable();
        let at = |tenths: usize| tokens.get((tokens.len().saturating_sub(1) * tenths + 5) / 10);
        Some(Self {
            answers: tokens.len() as u64,
            low: *at(1)?,
            middle: *at(5)?,
            high: *at(9)?,
            most: *tokens.last()?,
        })
    }

    /// Says whether there are enough answers to expect others like them.
    #[must_use]
    pub fn is_telling(&self) -> bool {
        self.answers >= ENOUGH_ANSWERS
    }
}

impl TextLayer {
    /// Returns the text of the whole document as what a call works on.
    pub(crate) fn work(self, pages: Option<u32>) -> TextWork {
        let pages = u64::from(pages.unwrap_or(self.pages_read));
        let read = u64::from(self.pages_read);
        TextWork {
            pages: (u64::from(self.pages_with_text) * pages).div_ceil(read.max(1)),
            letters: self.letters,
            ideographs: self.ideographs,
            all_read: read >= pages && self.unknown_percent <= UNKNOWN_PERCENT,
        }
    }
}

/// A value of its kind for each of the three numbers: expected, dense, at worst.
type Three = [u64; 3];

/// How a family of models counts.
struct Family {
    /// Tokens of a page's picture.
    picture: Three,
    /// Tokens of the text of a page that was not looked at.
    unseen_page: Three,
    /// Letters of a hundred tokens.
    letters_a_hundred: Three,
    /// Letters of a hundred tokens of a prompt, which is written for people: expected, dense.
    prompt_a_hundred: [u64; 2],
}

const OLDER_FAMILY: Family = Family {
    picture: [1_574, 1_600, 1_600],
    unseen_page: [726, 1_400, 3_000],
    letters_a_hundred: [430, 250, 100],
    prompt_a_hundred: [400, 300],
};

const NEWER_FAMILY: Family = Family {
    picture: [1_574, 1_600, 4_784],
    unseen_page: [1_426, 2_300, 4_350],
    letters_a_hundred: [300, 172, 69],
    prompt_a_hundred: [300, 200],
};

/// Hundredths of a token that a Chinese, Japanese or Korean character takes.
const IDEOGRAPH: Three = [110, 150, 200];
/// Tokens of the wrapping around the text of a page of a PDF.
const PAGE_WRAPPING: Three = [42, 60, 100];
/// Tokens of the line that tells the number of a page, where text is sent.
const PAGE_MARKER: Three = [8, 12, 16];
/// Tokens of the wrapping around the pages of a PDF, and around a text.
const PDF_WRAPPING: Three = [25, 200, 200];
const TEXT_WRAPPING: Three = [10, 200, 200];
/// How much of the text there may be where not all of it was read, in percent of what was carried forward.
const PROJECTED: Three = [100, 125, 200];
/// Pages taken for a PDF that could not be counted.
const UNCOUNTED_PAGES: Three = [20, 20, 100];
/// Output tokens of an ordinary summary.
const SUMMARY: u64 = 900;
/// Above this share of glyphs that have no known character, a text is not to be relied on.
const UNKNOWN_PERCENT: u8 = 5;

/// Answers that a forecast needs to expect others like them.
const ENOUGH_ANSWERS: u64 = 5;
/// The least that is promised of the expected input, in hundredths: some addresses count no documents.
const LEAST_INPUT: u64 = 50;
/// What is reserved above a count, in percent and in tokens: what is counted may differ a little from what is
/// billed (Anthropic, "Token counting"), and names of files differ.
const ABOVE_COUNT: (u64, u64) = (2, 64);

/// Calls that must have been compared before estimates follow them.
const ENOUGH_CALLS: u64 = 5;
/// The least and the most that estimates follow, in percent.
const FOLLOWED_PERCENT: (u32, u32) = (50, 200);

fn family(model: &str) -> &'static Family {
    if profiles::has_newer_tokenizer(model) {
        &NEWER_FAMILY
    } else {
        &OLDER_FAMILY
    }
}

/// Returns how many tokens a call to `model` will take.
#[must_use]
pub fn estimate(model: &str, work: &Work) -> Estimate {
    let family = family(model);
    let [ordinary, dense] = prompt_tokens(family, work);
    let prompt = [ordinary, dense, dense];
    let input = |at: usize| {
        let document = work.document.map_or_else(
            || TEXT_WRAPPING[at],
            |document| document_tokens(family, &document, at),
        );
        document.saturating_add(prompt[at])
    };
    let most_output = u64::from(profiles::most_output(model, work.max_tokens));
    Estimate {
        expected_input: input(0),
        dense_input: input(1),
        likely_input: input(1),
        worst_input: input(2),
        expected_output: SUMMARY.min(u64::from(work.max_tokens))
            + profiles::ordinary_thinking(model),
        likely_output: most_output,
        worst_output: most_output,
        is_counted: false,
    }
}

/// Returns how many tokens a call to `model` will take, where some of it is known better than by estimate.
///
/// What was counted takes the place of what is expected and of what the minute reserves. A cap still reserves
/// the worst: money is promised by bounds that hold whoever counts.
#[must_use]
pub fn estimate_knowing(model: &str, work: &Work, learned: &Learned) -> Estimate {
    let mut estimate = estimate(model, work)
        .expecting(learned.output.as_ref())
        .promising(learned.usual.as_ref());
    if let Some(counted) = learned.counted.filter(|_| work.document.is_some()) {
        let [ordinary, _] = prompt_tokens(family(model), work);
        let input = counted.saturating_add(ordinary);
        let (percent, tokens) = ABOVE_COUNT;
        estimate.expected_input = input;
        estimate.dense_input = input
            .saturating_add(input.saturating_mul(percent) / 100)
            .saturating_add(tokens);
        estimate.likely_input = estimate.dense_input;
        estimate.worst_input = estimate.worst_input.max(estimate.dense_input);
        estimate.is_counted = true;
    }
    estimate
}

/// Returns the tokens of the document of a request whose tokens were counted as a whole.
#[must_use]
pub fn counted_document(model: &str, work: &Work, counted: u64) -> u64 {
    let [ordinary, _] = prompt_tokens(family(model), work);
    counted.saturating_sub(ordinary).max(1)
}

/// Returns the tokens of a document: expected, dense or at worst, as `at` says.
fn document_tokens(family: &Family, document: &DocumentWork, at: usize) -> u64 {
    let pages = document
        .pages
        .map_or(UNCOUNTED_PAGES[at], |pages| u64::from(pages.max(1)));
    let unseen = pages.saturating_mul(family.unseen_page[at]);
    let (text, text_pages) = match document.text {
        None => (unseen, pages),
        Some(text) => {
            let letters = text.letters.saturating_mul(100) / family.letters_a_hundred[at];
            let ideographs = text.ideographs.saturating_mul(IDEOGRAPH[at]) / 100;
            let seen = letters.saturating_add(ideographs);
            if text.all_read && document.pages.is_some() {
                (seen, text.pages.min(pages))
            } else {
                let carried = seen.saturating_mul(PROJECTED[at]) / 100;
                // What is not known of a document may be as full as one that nobody looked at.
                let most = if at == 2 {
                    carried.max(unseen)
                } else {
                    carried
                };
                (
                    most,
                    if at == 2 {
                        pages
                    } else {
                        text.pages.min(pages)
                    },
                )
            }
        }
    };
    let around = match document.sends {
        Sends::Pdf => PDF_WRAPPING[at]
            .saturating_add(pages.saturating_mul(family.picture[at]))
            .saturating_add(text_pages.saturating_mul(PAGE_WRAPPING[at])),
        Sends::Text => TEXT_WRAPPING[at].saturating_add(pages.saturating_mul(PAGE_MARKER[at])),
    };
    around.saturating_add(text)
}

impl Estimate {
    /// Returns the estimate as earlier answers make it, once there were enough of them.
    #[must_use]
    pub fn expecting(mut self, output: Option<&OutputHistory>) -> Self {
        let Some(output) = output.filter(|output| output.is_telling()) else {
            return self;
        };
        self.expected_output = output.middle.min(self.worst_output);
        self
    }

    /// Returns the estimate where the budget of a minute reserves what is usual, once that is known.
    ///
    /// What is promised and not used stands idle as long as the call lasts. So a call is promised the most that one
    /// like it took lately; never more than before, and more for a document that is expected to be larger. Most
    /// calls take less than the most, which is a margin for the one in a hundred that takes more.
    #[must_use]
    pub fn promising(mut self, usual: Option<&UsualCall>) -> Self {
        let Some(usual) = usual else {
            return self;
        };
        if let Some(percent) = usual.input_percent {
            let input = self
                .expected_input
                .saturating_mul(percent.max(LEAST_INPUT))
                .div_ceil(100);
            self.likely_input = input.min(self.dense_input);
        }
        self.likely_output = usual.output_tokens.min(self.worst_output);
        self
    }

    /// Returns the estimate as it follows what was counted of earlier calls, once there were enough of them.
    ///
    /// What was counted itself stays. What is expected goes up and down with them, within bounds; what a budget or a cap reserves only goes
    /// up, since a document that was cheap says nothing of the next one. What is recorded to be compared
    /// must be the estimate before this, or it would follow itself.
    #[must_use]
    pub fn following(self, check: Option<&EstimateCheck>) -> Self {
        match check.filter(|check| check.calls >= ENOUGH_CALLS) {
            Some(check) => self.measured(check.counted_percent),
            None => self,
        }
    }

    /// Returns the estimate where such documents took so many percent of what was estimated, within bounds.
    ///
    /// What was counted itself stays, and what a budget or a cap reserves never goes down.
    #[must_use]
    pub fn measured(mut self, percent: u32) -> Self {
        if self.is_counted {
            return self;
        }
        let (least, most) = FOLLOWED_PERCENT;
        let percent = u64::from(percent.clamp(least, most));
        let scaled = |tokens: u64, percent: u64| tokens.saturating_mul(percent).div_ceil(100);
        self.expected_input = scaled(self.expected_input, percent);
        self.dense_input = scaled(self.dense_input, percent.max(100));
        self.worst_input = scaled(self.worst_input, percent.max(100));
        self
    }
}

/// Returns about how many tokens a text has.
pub(crate) fn text_tokens(text: &str) -> u64 {
    let [ordinary, _] = prompt_tokens(
        &OLDER_FAMILY,
        &Work {
            document: None,
            prompt_bytes: text.len() as u64,
            prompt_characters: text.chars().count() as u64,
            max_tokens: 0,
        },
    );
    ordinary
}

/// Returns the tokens of the prompt: ordinary, and dense (figures, code, rare scripts).
///
/// Latin text takes about a token for four characters, other scripts one to one and a half for each.
fn prompt_tokens(family: &Family, work: &Work) -> [u64; 2] {
    let bytes = work.prompt_bytes;
    let characters = work.prompt_characters.min(bytes);
    // Characters outside ASCII take two to four bytes; most of them three.
    let other = (bytes - characters).div_ceil(2).min(characters);
    let latin = (characters - other).saturating_mul(100);
    let [ordinary, dense] = family.prompt_a_hundred;
    [
        latin.div_ceil(ordinary) + other.saturating_mul(13).div_ceil(10),
        latin.div_ceil(dense) + other.saturating_mul(17).div_ceil(10),
    ]
}

#[cfg(test)]
mod tests;
