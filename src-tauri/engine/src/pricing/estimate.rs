//! How many tokens a call will take, before it is made.
//!
//! Anthropic counts 1,500 to 3,000 tokens of text a page, and an image of each page besides: up to
//! 1,568 tokens with older models, up to 4,784 with newer ones, whose tokenizer also makes a third more of
//! the same text. Dense pages come to about 3,000 tokens in all; the sums of the maxima are the worst case.

use crate::model::{Sends, TextLayer};

/// What a call works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The document that is sent; `None` for a prompt alone.
    pub document: Option<DocumentWork>,
    /// Length of the prompt or of the template, in bytes.
    pub prompt_bytes: u64,
    /// The same in characters.
    pub prompt_characters: u64,
    /// Most output tokens.
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
    /// Whether every page was read, so that the numbers are no projection.
    pub all_read: bool,
}

/// Tokens that a call is expected to take, and the most that it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Input tokens of an ordinary document of this size.
    pub expected_input: u64,
    /// Input tokens of a dense document: what the budget of a minute reserves.
    pub dense_input: u64,
    /// Input tokens when everything is at its largest: what a spend cap reserves.
    pub worst_input: u64,
    /// Output tokens of an ordinary summary.
    pub expected_output: u64,
    /// Output tokens at most.
    pub worst_output: u64,
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
            all_read: read >= pages,
        }
    }
}

/// Tokens of a page: ordinary, dense, at worst; with older tokenizers.
const OLDER_PAGE: [u64; 3] = [2_300, 3_000, 4_600];
/// The same with newer tokenizers.
const NEWER_PAGE: [u64; 3] = [3_000, 3_900, 7_800];
/// Pages taken for a PDF that could not be counted: ordinary and dense, at worst.
const UNCOUNTED_PAGES: [u64; 3] = [20, 20, 100];
/// Tokens of the wrapping around document and prompt.
const WRAPPING: u64 = 200;
/// Output tokens of an ordinary summary.
const SUMMARY: u64 = 900;

/// Models that count tokens as those before Claude 4.7 did.
const OLDER: [&str; 5] = [
    "claude-sonnet-4-6",
    "claude-sonnet-4-5",
    "claude-opus-4-6",
    "claude-opus-4-5",
    "claude-haiku-4-5",
];

/// Returns how many tokens a call to `model` will take.
#[must_use]
pub fn estimate(model: &str, work: &Work) -> Estimate {
    let id = model.strip_prefix("anthropic/").unwrap_or(model);
    let page = if OLDER.iter().any(|older| id.starts_with(older)) {
        OLDER_PAGE
    } else {
        NEWER_PAGE
    };
    let pages = match work.document.map(|document| document.pages) {
        None => [0; 3],
        Some(Some(pages)) => [u64::from(pages.max(1)); 3],
        Some(None) => UNCOUNTED_PAGES,
    };
    let [ordinary, dense] = prompt_tokens(work);
    Estimate {
        expected_input: pages[0] * page[0] + ordinary + WRAPPING,
        dense_input: pages[1] * page[1] + dense + WRAPPING,
        worst_input: pages[2] * page[2] + dense + WRAPPING,
        expected_output: SUMMARY.min(u64::from(work.max_tokens)),
        worst_output: u64::from(work.max_tokens),
    }
}

/// Returns about how many tokens a text has.
pub(crate) fn text_tokens(text: &str) -> u64 {
    let [ordinary, _] = prompt_tokens(&Work {
        document: None,
        prompt_bytes: text.len() as u64,
        prompt_characters: text.chars().count() as u64,
        max_tokens: 0,
    });
    ordinary
}

/// Returns the tokens of the prompt: ordinary, and dense (figures, code, rare scripts).
///
/// Latin text takes about a token for four characters, other scripts one to one and a half for each.
fn prompt_tokens(work: &Work) -> [u64; 2] {
    let bytes = work.prompt_bytes;
    let characters = work.prompt_characters.min(bytes);
    // Characters outside ASCII take two to four bytes; most of them three.
    let other = (bytes - characters).div_ceil(2).min(characters);
    let latin = characters - other;
    [
        latin.div_ceil(4) + other.saturating_mul(13).div_ceil(10),
        latin.div_ceil(3) + other.saturating_mul(17).div_ceil(10),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(pages: Option<u32>) -> Work {
        Work {
            document: Some(DocumentWork {
                pages,
                ..DocumentWork::default()
            }),
            prompt_bytes: 0,
            prompt_characters: 0,
            max_tokens: 4_096,
        }
    }

    #[test]
    fn a_page_takes_more_tokens_with_newer_models() {
        let older = estimate("claude-sonnet-4-6", &document(Some(3)));
        let newer = estimate("claude-sonnet-5-5", &document(Some(3)));
        assert_eq!(older.expected_input, 3 * 2_300 + 200, "Anthropic's example");
        assert!(newer.expected_input > older.expected_input);
        assert!(older.worst_input > older.dense_input);
        assert!(older.dense_input > older.expected_input);
    }

    #[test]
    fn an_uncounted_pdf_is_not_taken_for_an_empty_one() {
        let uncounted = estimate("claude-sonnet-4-6", &document(None));
        assert!(uncounted.worst_input >= 400_000);
    }

    #[test]
    fn a_japanese_prompt_takes_more_tokens_than_a_latin_one_of_the_same_length() {
        let text = |prompt: &str| {
            let work = Work {
                document: None,
                prompt_bytes: prompt.len() as u64,
                prompt_characters: prompt.chars().count() as u64,
                max_tokens: 100,
            };
            estimate("claude-sonnet-4-6", &work).expected_input
        };
        assert_eq!(text(&"a".repeat(400)), 100 + 200);
        assert_eq!(text(&"あ".repeat(400)), 520 + 200);
    }
}
