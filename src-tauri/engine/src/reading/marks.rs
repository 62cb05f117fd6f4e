//! Marks of pages in a text: `(p. 3)`, `(pp. 3–5, 9)`, `（3 ページ）`.

use std::collections::BTreeSet;

/// Most characters between the brackets of a mark.
const LONGEST: usize = 120;
/// Most pages that a range may name: more is a number of something else.
const WIDEST: u32 = 2_000;

/// A mark of pages in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// Where it begins, in bytes.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// The ranges it names, both ends included.
    pub(super) ranges: Vec<(u32, u32)>,
}

/// Returns the pages that a text names, ascending, up to the last that there is.
pub(crate) fn named_pages(text: &str, pages: Option<u32>) -> BTreeSet<u32> {
    let last = pages.unwrap_or(u32::MAX);
    let mut named = BTreeSet::new();
    for mark in marks(text) {
        for (from, to) in mark.ranges {
            if to.saturating_sub(from) <= WIDEST {
                named.extend((from..=to).filter(|page| *page >= 1 && *page <= last));
            }
        }
    }
    named
}

/// Finds every mark, in the order of the text.
pub(super) fn marks(text: &str) -> Vec<Mark> {
    let mut found = Vec::new();
    for (start, open) in text.char_indices() {
        let close = match open {
            '(' => ')',
            '[' => ']',
            '（' => '）',
            _ => continue,
        };
        let inner = start + open.len_utf8();
        let end = text[inner..]
            .char_indices()
            .take(LONGEST)
            .find(|(_, character)| {
                *character == close || matches!(character, '(' | '[' | '（' | '\n')
            })
            .filter(|(_, character)| *character == close)
            .map(|(at, _)| inner + at);
        let Some(end) = end else { continue };
        let ranges = ranges(&text[inner..end]);
        if !ranges.is_empty() {
            found.push(Mark {
                start,
                end: end + close.len_utf8(),
                ranges,
            });
        }
    }
    found
}

/// Reads the pages that stand between brackets; none when they speak of something else.
fn ranges(inner: &str) -> Vec<(u32, u32)> {
    let lower = inner.to_lowercase();
    for word in [
        "pages", "page", "pp.", "p.", "pp ", "p ", "seiten", "seite", "s. ",
    ] {
        for (at, _) in lower.match_indices(word) {
            let alone = !lower[..at]
                .chars()
                .next_back()
                .is_some_and(char::is_alphanumeric);
            let listed = list(&lower[at + word.len()..]).0;
            if alone && !listed.is_empty() {
                return listed;
            }
        }
    }
    // In Japanese and Chinese the word stands behind the number.
    let (listed, rest) = list(&lower);
    let rest = rest.trim_start();
    if ["ページ", "頁", "页", "ぺージ"]
        .iter()
        .any(|word| rest.starts_with(word))
    {
        return listed;
    }
    Vec::new()
}

/// Reads `3–5, 9 and 12` from the beginning of a text; returns what is behind it, too.
fn list(text: &str) -> (Vec<(u32, u32)>, &str) {
    let mut ranges = Vec::new();
    let mut rest = text;
    // Ends with the text: each round takes a number off it.
    while let Some((first, behind)) = number(rest) {
        let mut last = first;
        rest = behind;
        let dash = behind.trim_start();
        if let Some(after) = dash.strip_prefix(['-', '–', '—', '~', '〜', '～'])
            && let Some((number, behind)) = number(after)
        {
            last = number;
            rest = behind;
        }
        if first >= 1 && last >= first {
            ranges.push((first, last));
        }
        let trimmed = rest.trim_start();
        let separated = [", and ", ",", "、", "・", ";", "&", "and ", "und "]
            .iter()
            .find_map(|separator| trimmed.strip_prefix(separator));
        let Some(next) = separated else { break };
        let next = next.trim_start();
        // `(p. 3, p. 5)`
        rest = ["pp.", "p."]
            .iter()
            .find_map(|word| next.strip_prefix(word))
            .unwrap_or(next);
    }
    (ranges, rest)
}

fn number(text: &str) -> Option<(u32, &str)> {
    let text = text.trim_start();
    let end = text
        .find(|character: char| !character.is_ascii_digit())
        .unwrap_or(text.len());
    // No document has pages of seven digits.
    if end == 0 || end > 6 {
        return None;
    }
    Some((text[..end].parse().ok()?, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Vec<u32> {
        named_pages(text, Some(40)).into_iter().collect()
    }

    #[test]
    fn marks_are_read_in_the_forms_that_summaries_have() {
        assert_eq!(
            named("It grew (p. 3). It fell (pp. 5–7, 9)."),
            [3, 5, 6, 7, 9]
        );
        assert_eq!(
            named("It grew (p. 3, p. 4) [p. 8] (Table 2, p. 11)."),
            [3, 4, 8, 11]
        );
        assert_eq!(
            named("増えた（3 ページ）。減った(12〜13ページ)。"),
            [3, 12, 13]
        );
        assert_eq!(
            named("It grew (pp. 1 and 2) (pages 20-21)."),
            [1, 2, 20, 21]
        );
    }

    #[test]
    fn what_only_looks_like_a_mark_names_nothing() {
        assert!(named("It grew (by 3) (2019) (see group. 4) (p. 99) (p < 0.05)").is_empty());
        assert!(named("An open bracket (p. 3").is_empty());
        assert!(named("").is_empty());
    }
}
