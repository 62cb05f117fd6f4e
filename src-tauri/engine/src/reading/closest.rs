//! The passage that is most like a quote: the one that shares most of its words, in their order.

use std::collections::HashMap;
use std::ops::Range;

use super::quotes::is_ideograph;

/// Most words of a quote that are compared.
const MOST_WORDS: usize = 400;
/// Shares, in percent, of the words that must be the same and in order.
const LEAST_ALIKE: usize = 60;
/// Fewer words in common say nothing.
const FEWEST_COMMON: usize = 3;

/// The words of a text, each as a number.
pub(super) struct Closest {
    words: Vec<(u32, u32, u32)>,
    numbers: HashMap<String, u32>,
}

impl Closest {
    /// Takes a text apart.
    pub(super) fn new(text: &str) -> Self {
        let mut numbers = HashMap::new();
        let mut words = Vec::new();
        for range in words_of(text) {
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            let number = *numbers
                .entry(text[range.clone()].to_lowercase())
                .or_insert(next);
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            words.push((number, place(range.start), place(range.end)));
        }
        Self { words, numbers }
    }

    /// Returns where the passage stands that is most like a quote, if one is like it at all. Of two that are
    /// alike, the one that is `preferred` by where it begins.
    pub(super) fn find(
        &self,
        quote: &str,
        preferred: impl Fn(usize) -> bool,
    ) -> Option<Range<usize>> {
        let asked: Vec<Option<u32>> = words_of(quote)
            .take(MOST_WORDS)
            .map(|range| self.numbers.get(&quote[range].to_lowercase()).copied())
            .collect();
        let length = asked.len().min(self.words.len());
        if length < FEWEST_COMMON {
            return None;
        }
        let start = self.best_window(&asked, length, preferred)?;
        // A little more on both sides: words may have been left out.
        let slack = (length / 4).max(2);
        let from = start.saturating_sub(slack);
        let to = (start + length + slack).min(self.words.len());
        let pairs = common(&asked, &self.words[from..to]);
        let (first, last) = (pairs.first()?, pairs.last()?);
        let begin = (from + first.1).saturating_sub(first.0);
        let end = (from + last.1 + (asked.len() - 1 - last.0)).min(self.words.len() - 1);
        let spanned = end + 1 - begin;
        if pairs.len() < FEWEST_COMMON || pairs.len() * 200 < LEAST_ALIKE * (asked.len() + spanned)
        {
            return None;
        }
        Some(self.words[begin].1 as usize..self.words[end].2 as usize)
    }

    /// Slides a window over all words, and returns where it shares most with what is asked for.
    fn best_window(
        &self,
        asked: &[Option<u32>],
        length: usize,
        preferred: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        let mut wanted = vec![0_i32; self.numbers.len()];
        for number in asked.iter().flatten() {
            wanted[*number as usize] += 1;
        }
        let (mut shared, mut best) = (0_usize, None);
        for (at, (number, ..)) in self.words.iter().enumerate() {
            // `wanted` counts what the window still lacks; what it has too often is below zero.
            let entry = &mut wanted[*number as usize];
            shared += usize::from(*entry > 0);
            *entry -= 1;
            if at >= length {
                let (gone, ..) = self.words[at - length];
                let entry = &mut wanted[gone as usize];
                *entry += 1;
                shared -= usize::from(*entry > 0);
            }
            if at + 1 < length {
                continue;
            }
            let start = at + 1 - length;
            let rank = |is_preferred: bool| shared * 2 + usize::from(is_preferred);
            if best.is_none_or(|(most, _)| rank(true) > most) {
                let rank = rank(preferred(self.words[start].1 as usize));
                if best.is_none_or(|(most, _)| rank > most) {
                    best = Some((rank, start));
                }
            }
        }
        best.filter(|(rank, _)| rank / 2 >= FEWEST_COMMON)
            .map(|(_, start)| start)
    }
}

/// Returns the longest run of words that both have in the same order, as pairs of their places.
fn common(asked: &[Option<u32>], words: &[(u32, u32, u32)]) -> Vec<(usize, usize)> {
    let width = words.len() + 1;
    let mut lengths = vec![0_u32; (asked.len() + 1) * width];
    for (row, number) in asked.iter().enumerate().rev() {
        for (column, (word, ..)) in words.iter().enumerate().rev() {
            lengths[row * width + column] = if *number == Some(*word) {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    // Ends with one of the two: each round goes on in one of them.
    while row < asked.len() && column < words.len() {
        if asked[row] == Some(words[column].0) {
            pairs.push((row, column));
            row += 1;
            column += 1;
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Returns the words of a text; of scripts without spaces each character is one.
fn words_of(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(char::is_alphanumeric)?;
        let first = text[start..].chars().next()?;
        let end = if is_ideograph(first) {
            start + first.len_utf8()
        } else {
            text[start..]
                .find(|character: char| !character.is_alphanumeric() || is_ideograph(character))
                .map_or(text.len(), |length| start + length)
        };
        rest = end;
        Some(start..end)
    })
}
