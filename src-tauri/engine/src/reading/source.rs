//! The text of a PDF's pages, ready to be searched.

use memchr::memmem;

use super::closest::Closest;
use super::fold::{Folded, folded};
use super::quotes::is_ideograph;
use crate::model::QuoteVerdict;

/// Most places that are looked at for one quote.
const MOST_PLACES: usize = 200;
/// Pieces of a quote with an ellipsis stand at most so far from each other, in bytes of folded text.
const PIECES_WITHIN: usize = 6_000;

/// The pages of a PDF as one text.
pub(crate) struct Source {
    /// The pages one after another.
    text: String,
    /// Where each page begins in `text`.
    starts: Vec<u32>,
    folded: Folded,
    closest: Closest,
}

impl Source {
    /// Prepares pages, of which the first is page 1.
    pub(crate) fn new(pages: &[String]) -> Self {
        let mut text = String::new();
        let mut starts = Vec::with_capacity(pages.len());
        let mut fold = Folded::default();
        for page in pages {
            let base = u32::try_from(text.len()).unwrap_or(u32::MAX);
            starts.push(base);
            fold.push(page, base);
            text.push_str(page);
            text.push('\n');
        }
        let closest = Closest::new(&text);
        Self {
            text,
            starts,
            folded: fold,
            closest,
        }
    }

    /// Says whether the pages hold a quote; where they do more than once, on the page that is named beside it.
    pub(crate) fn check(&self, quote: &str, named: Option<u32>) -> QuoteVerdict {
        if let Some(page) = self.find(quote, named) {
            return QuoteVerdict::Found { page };
        }
        match self
            .closest
            .find(quote, |at| Some(self.page_at(at)) == named)
        {
            None => QuoteVerdict::NotFound,
            Some(range) => QuoteVerdict::Differs {
                page: self.page_at(range.start),
                words: self.text[range]
                    .split_whitespace()
                    .collect::<Vec<_>>()
                    .join(" "),
            },
        }
    }

    fn page_at(&self, at: usize) -> u32 {
        let after = self.starts.partition_point(|start| *start as usize <= at);
        u32::try_from(after.max(1)).unwrap_or(u32::MAX)
    }

    fn find(&self, quote: &str, named: Option<u32>) -> Option<u32> {
        let whole = [trimmed(folded(quote))];
        let pieces: Vec<String> = pieces(quote)
            .into_iter()
            .map(|piece| trimmed(folded(piece)))
            .filter(|piece| !piece.is_empty())
            .collect();
        self.find_pieces(&whole, named)
            .or_else(|| (pieces.len() > 1).then(|| self.find_pieces(&pieces, named))?)
    }

    /// Finds pieces that follow each other, and returns the page that the first is on.
    fn find_pieces(&self, pieces: &[String], named: Option<u32>) -> Option<u32> {
        let first = pieces.first().filter(|piece| !piece.is_empty())?;
        let mut found = None;
        for form in forms(first) {
            for at in self.places(&form, 0).take(MOST_PLACES) {
                let mut end = at + form.len();
                let follow = pieces[1..].iter().all(|piece| {
                    let next = forms(piece)
                        .iter()
                        .filter_map(|form| self.places(form, end).next())
                        .min()
                        .filter(|next| next - end <= PIECES_WITHIN);
                    if let Some(next) = next {
                        end = next + piece.len();
                    }
                    next.is_some()
                });
                if follow {
                    let page = self.page_at(self.folded.origin[at] as usize);
                    if named.is_none() || named == Some(page) {
                        return Some(page);
                    }
                    found = found.or(Some(page));
                }
            }
        }
        found
    }

    /// Returns where a folded text stands by itself, and not as a piece of longer words.
    fn places<'a>(&'a self, needle: &'a str, from: usize) -> impl Iterator<Item = usize> + 'a {
        memmem::find_iter(&self.folded.text.as_bytes()[from..], needle.as_bytes())
            .map(move |at| from + at)
            .filter(move |at| self.stands_alone(*at, at + needle.len()))
    }

    fn stands_alone(&self, start: usize, end: usize) -> bool {
        let first = self.folded.origin[start] as usize;
        let last = self.folded.origin[end - 1] as usize;
        let before = self.text[..first].chars().next_back();
        let mut after = self.text[last..].chars();
        let (ends_with, after) = (after.next(), after.next());
        let begins_with = self.text[first..].chars().next();
        let is_cut_before = is_letter(before) && is_letter(begins_with);
        let is_cut_after = is_letter(ends_with) && is_letter(after);
        !is_cut_before && !is_cut_after
    }
}

/// Says whether a character is of a word that spaces end.
fn is_letter(character: Option<char>) -> bool {
    character.is_some_and(|character| character.is_alphanumeric() && !is_ideograph(character))
}

/// Takes the punctuation off the end that a sentence puts inside its quotation marks.
fn trimmed(mut folded: String) -> String {
    let end = folded
        .trim_end_matches([',', '.', ';', ':', '!', '?', '。', '、'])
        .len();
    folded.truncate(end);
    folded
}

/// Returns a text as it is, and with its first letter in the other case: a quote may begin a sentence.
fn forms(text: &str) -> Vec<String> {
    let mut forms = vec![text.to_owned()];
    let at = text.find(char::is_alphabetic);
    if let Some((at, letter)) = at.and_then(|at| Some((at, text[at..].chars().next()?))) {
        let other: String = if letter.is_uppercase() {
            letter.to_lowercase().collect()
        } else {
            letter.to_uppercase().collect()
        };
        let rest = &text[at + letter.len_utf8()..];
        let other = format!("{}{other}{rest}", &text[..at]);
        if other != text {
            forms.push(other);
        }
    }
    forms
}

/// Splits a quote where it leaves words out: `…`, `...`, `[…]`, and where it puts its own into brackets.
fn pieces(quote: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut from, mut at) = (0, 0);
    // Ends with the text: each round goes on by a character at least.
    while let Some(character) = quote[at..].chars().next() {
        let rest = &quote[at..];
        let gap = match character {
            '…' => character.len_utf8(),
            '.' if rest.starts_with("...") => 3,
            '.' if rest.starts_with(". . .") => 5,
            '[' => rest
                .find(']')
                .filter(|end| *end <= 60)
                .map_or(0, |end| end + 1),
            _ => 0,
        };
        if gap == 0 {
            at += character.len_utf8();
            continue;
        }
        pieces.push(&quote[from..at]);
        at += gap;
        from = at;
    }
    pieces.push(&quote[from..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(pages: &[&str]) -> Source {
        Source::new(
            &pages
                .iter()
                .map(|page| (*page).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn quotes_are_found_through_what_typesetting_does_to_them() {
        let source = pages(&[
            "Nothing here.",
            "The ofﬁce was unable to com-\nplete the “annual” report – by 31 March, as agreed.",
        ]);
        for quote in [
            "the office was unable to complete the 'annual' report",
            "The office was unable to complete the \"annual\" report - by 31 March,",
            "the office … complete the “annual” report",
            "The office [of the mill] was unable to complete",
        ] {
            assert_eq!(
                source.check(quote, None),
                QuoteVerdict::Found { page: 2 },
                "{quote}"
            );
        }
    }

    #[test]
    fn the_page_beside_a_quote_is_preferred_where_it_stands_on_several() {
        let text = "We grind what the stream brings us.";
        let source = pages(&[text, "Other words.", text]);
        assert_eq!(source.check(text, Some(3)), QuoteVerdict::Found { page: 3 });
        assert_eq!(source.check(text, Some(2)), QuoteVerdict::Found { page: 1 });
        assert_eq!(source.check(text, None), QuoteVerdict::Found { page: 1 });
    }

    #[test]
    fn other_words_differ_and_the_pages_own_are_told() {
        let source = pages(&[
            "Some words that are about nothing in particular stand here.",
            "Revenue in the year 2024 fell by 12 percent because of the drought.",
        ]);
        let verdict = source.check("revenue in the year 2024 fell by 21 percent", Some(2));
        assert_eq!(
            verdict,
            QuoteVerdict::Differs {
                page: 2,
                words: "Revenue in the year 2024 fell by 12 percent".to_owned()
            }
        );
        assert_eq!(
            source.check("a completely invented sentence about zebras", None),
            QuoteVerdict::NotFound
        );
    }

    #[test]
    fn a_word_cut_in_two_is_not_the_same_word() {
        let source = pages(&["He was unable to do it by himself."]);
        assert!(
            !matches!(
                source.check("able to do it", None),
                QuoteVerdict::Found { .. }
            ),
            "it says the opposite"
        );
    }

    #[test]
    fn japanese_is_found_across_lines_and_pages_and_told_where_it_differs() {
        let source = pages(&["前文。水車は流れを", "細かなものに変える装置である。"]);
        assert_eq!(
            source.check("水車は流れを細かなものに変える", None),
            QuoteVerdict::Found { page: 1 }
        );
        assert!(matches!(
            source.check("水車は流れを大きなものに変える装置", None),
            QuoteVerdict::Differs { page: 1, .. }
        ));
    }

    #[test]
    fn nothing_is_found_in_nothing() {
        assert_eq!(
            pages(&[]).check("some words that are not there", None),
            QuoteVerdict::NotFound
        );
        assert_eq!(pages(&["Text."]).check("…", None), QuoteVerdict::NotFound);
    }
}
