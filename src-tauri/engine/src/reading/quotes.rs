//! What a summary quotes: words between quotation marks, and quoted blocks.

use std::ops::Range;

use super::marks::{Mark, marks};

/// Fewer words than this are a term, not a quote.
const FEWEST_WORDS: usize = 4;
/// The same for scripts without spaces, in characters.
const FEWEST_CHARACTERS: usize = 10;
/// Most bytes of a quote.
const LONGEST: usize = 6_000;
/// Most quotes of a text.
const MOST: usize = 500;
/// How far behind a quote its page may be named, in bytes.
const BESIDE: usize = 400;

/// A quote, and the pages that are named beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Quoted {
    /// Its words, without the marks around them.
    pub(crate) text: String,
    /// The first page that is named beside it.
    pub(crate) page: Option<u32>,
}

/// Finds the quotes of a text in Markdown, in its order.
pub(crate) fn quotes(markdown: &str) -> Vec<Quoted> {
    let mut found = Vec::new();
    for block in blocks(markdown) {
        let mut plain = block.text;
        if block.quoted && inside(&plain).is_empty() {
            // The whole block is one: its mark of pages and its source line are ours, not the PDF's.
            let mut page = None;
            for mark in marks(&plain).into_iter().rev() {
                page = Some(mark.ranges[0].0);
                plain.replace_range(mark.start..mark.end, "");
            }
            let text = plain.trim().to_owned();
            if is_long_enough(&text) && text.len() <= LONGEST {
                found.push(Quoted { text, page });
            }
            continue;
        }
        let named = marks(&plain);
        for range in inside(&plain) {
            let text = plain[range.clone()].trim();
            if is_long_enough(text) {
                found.push(Quoted {
                    text: text.to_owned(),
                    page: beside(&named, &range),
                });
            }
        }
    }
    found.truncate(MOST);
    found
}

/// Returns the page that is named behind a quote, or else inside it.
fn beside(named: &[Mark], quote: &Range<usize>) -> Option<u32> {
    named
        .iter()
        .find(|mark| mark.end > quote.start && mark.start < quote.end + BESIDE)
        .map(|mark| mark.ranges[0].0)
}

struct Block {
    text: String,
    quoted: bool,
}

/// Splits Markdown into its paragraphs; code is left out, and a quoted block is one of its own.
fn blocks(markdown: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut open = false;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        if let Some(mark) = fence {
            if trimmed.starts_with(mark) {
                fence = None;
            }
            continue;
        }
        if let Some(mark) = ["```", "~~~"]
            .into_iter()
            .find(|mark| trimmed.starts_with(mark))
        {
            fence = Some(mark);
            open = false;
            continue;
        }
        let quoted = trimmed.starts_with('>');
        let words = trimmed.trim_start_matches(['>', ' ']).trim_end();
        let begins = words.starts_with(['#', '|'])
            || ["- ", "* ", "+ "]
                .iter()
                .any(|mark| words.starts_with(mark));
        if words.is_empty() {
            open = false;
            continue;
        }
        match blocks
            .last_mut()
            .filter(|last| open && !begins && last.quoted == quoted)
        {
            Some(last) => {
                last.text.push(' ');
                last.text.push_str(words);
            }
            None => blocks.push(Block {
                text: words.to_owned(),
                quoted,
            }),
        }
        open = true;
    }
    blocks
}

/// Finds what stands between quotation marks, the outermost ones.
fn inside(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    // Ends with the text: each round begins behind the mark of the one before.
    while let Some((at, opening)) = text[from..]
        .char_indices()
        .map(|(at, character)| (from + at, character))
        .find(|(at, character)| opens(text, *at, *character))
    {
        let start = at + opening.len_utf8();
        match end(text, start, opening) {
            Some((stop, after)) => {
                found.push(start..stop);
                from = after;
            }
            None => from = start,
        }
    }
    found
}

fn opens(text: &str, at: usize, character: char) -> bool {
    match character {
        '“' | '„' | '«' | '»' | '「' | '『' => true,
        '"' => {
            let before = text[..at].chars().next_back();
            let after = text[at + 1..].chars().next();
            // One behind a word or a number closes, or means inches.
            !before.is_some_and(char::is_alphanumeric)
                && after.is_some_and(|after| !after.is_whitespace())
        }
        _ => false,
    }
}

/// Returns where a quote ends and where the text goes on.
fn end(text: &str, start: usize, opening: char) -> Option<(usize, usize)> {
    let (closing, nests): (&[char], bool) = match opening {
        '“' => (&['”'], true),
        '„' => (&['“', '”'], false),
        '«' => (&['»'], true),
        '»' => (&['«'], false),
        '「' => (&['」'], true),
        '『' => (&['』'], true),
        _ => (&['"'], false),
    };
    let mut depth = 1;
    for (at, character) in text[start..].char_indices() {
        if at > LONGEST {
            return None;
        }
        if closing.contains(&character) {
            depth -= 1;
            if depth == 0 {
                return Some((start + at, start + at + character.len_utf8()));
            }
        } else if nests && character == opening {
            depth += 1;
        }
    }
    None
}

/// Says whether a text is more than a term.
fn is_long_enough(text: &str) -> bool {
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .count();
    let ideographs = text
        .chars()
        .filter(|character| is_ideograph(*character))
        .count();
    words >= FEWEST_WORDS || ideographs >= FEWEST_CHARACTERS
}

/// Says whether a character is of a script that writes no spaces.
pub(super) fn is_ideograph(character: char) -> bool {
    matches!(character, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3134f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(markdown: &str) -> Vec<String> {
        quotes(markdown)
            .into_iter()
            .map(|quote| quote.text)
            .collect()
    }

    #[test]
    fn quotes_are_found_in_every_form_and_terms_are_not() {
        assert_eq!(
            texts(
                "He says “the mill gives something finer” and \"a stream turns into lines\".\n\n\
                 Sie sagt „das ist ein langer Satz“, «voici une phrase assez longue», not a “term”.\n\n\
                 彼は「水車は流れを細かなものに変える」と述べた。"
            ),
            [
                "the mill gives something finer",
                "a stream turns into lines",
                "das ist ein langer Satz",
                "voici une phrase assez longue",
                "水車は流れを細かなものに変える",
            ]
        );
    }

    #[test]
    fn a_block_is_one_quote_without_its_page_and_code_is_none() {
        let found = quotes(
            "Text.\n\n> A stream falls and\n> turns into lines (p. 4)\n\n```\n\"this is some code here\"\n```\n",
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].text, "A stream falls and turns into lines");
        assert_eq!(found[0].page, Some(4));
    }

    #[test]
    fn the_page_beside_a_quote_is_the_one_behind_it() {
        let found = quotes(
            "It grew (p. 2). “The first of two quotes” (p. 5) and “the second of two quotes” (p. 7).",
        );
        let pages: Vec<_> = found.iter().map(|quote| quote.page).collect();
        assert_eq!(pages, [Some(5), Some(7)]);
        assert_eq!(
            quotes("It says “nothing is named beside this”.")[0].page,
            None
        );
    }

    #[test]
    fn a_mark_left_open_swallows_nothing() {
        assert_eq!(
            texts("A 5\" pipe and “an open one\n\nThen “a quote that is closed” follows."),
            ["a quote that is closed"]
        );
    }
}
