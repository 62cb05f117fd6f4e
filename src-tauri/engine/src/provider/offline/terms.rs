//! The most frequent terms: words, and pairs of words that belong together.

use std::collections::{BTreeMap, HashMap};

use super::language::{is_hiragana, is_unspaced};
use super::sentence::words;

/// Longest term in words.
const MAX_WORDS: usize = 3;

#[derive(Default)]
struct Term {
    count: usize,
    first: usize,
    words: usize,
    /// How often it was written in which way.
    surfaces: BTreeMap<String, usize>,
}

/// Counts terms over sentences.
#[derive(Default)]
pub(super) struct Terms {
    terms: HashMap<String, Term>,
    seen: usize,
}

impl Terms {
    /// Counts the terms of a sentence and returns its words.
    pub(super) fn add(&mut self, sentence: &str) -> Vec<String> {
        let words = words(sentence);
        for run in words.split(Option::is_none) {
            let run: Vec<&(String, &str)> = run.iter().flatten().collect();
            for length in 1..=MAX_WORDS.min(run.len()) {
                for parts in run.windows(length) {
                    self.count(parts);
                }
            }
        }
        words.into_iter().flatten().map(|(stem, _)| stem).collect()
    }

    fn count(&mut self, parts: &[&(String, &str)]) {
        let key: Vec<&str> = parts.iter().map(|(stem, _)| stem.as_str()).collect();
        let surface = join(parts.iter().map(|(_, surface)| *surface));
        self.seen += 1;
        let term = self.terms.entry(key.join(" ")).or_insert_with(|| Term {
            first: self.seen,
            words: parts.len(),
            ..Term::default()
        });
        term.count += 1;
        *term.surfaces.entry(surface).or_default() += 1;
    }

    /// Returns the most frequent terms, at most `count`; of a longer term and its parts only one.
    pub(super) fn most_frequent(&self, count: usize) -> Vec<String> {
        let mut ranked: Vec<(&str, &Term)> = self
            .terms
            .iter()
            .filter(|(key, term)| {
                term.count >= 2 && !is_inflected(key) && (term.words > 1 || is_term(key))
            })
            .map(|(key, term)| (key.as_str(), term))
            .collect();
        // "Durable queue" says more than "queue", even when it occurs only half as often.
        let value = |term: &Term| term.count * [0, 2, 5, 6][term.words];
        ranked.sort_by(|(_, left), (_, right)| {
            value(right)
                .cmp(&value(left))
                .then(left.first.cmp(&right.first))
        });
        let mut chosen: Vec<(&str, &Term)> = Vec::new();
        for (key, term) in ranked {
            let overlaps = chosen.iter().any(|(other, _)| {
                other
                    .split(' ')
                    .any(|word| key.split(' ').any(|part| part == word))
            });
            if !overlaps {
                chosen.push((key, term));
            }
            if chosen.len() == count {
                break;
            }
        }
        chosen.into_iter().map(|(_, term)| surface(term)).collect()
    }
}

fn is_term(word: &str) -> bool {
    let chars = word.chars().count();
    if word.chars().any(is_unspaced) {
        chars >= 2
    } else {
        chars >= 3
    }
}

/// Words of Japanese that end in hiragana are verbs and adjectives.
fn is_inflected(key: &str) -> bool {
    key.ends_with(is_hiragana)
}

/// The way in which a term is written most often; the first in order among equals.
fn surface(term: &Term) -> String {
    let mut best = ("", 0);
    for (surface, count) in &term.surfaces {
        if *count > best.1 {
            best = (surface, *count);
        }
    }
    best.0.to_owned()
}

fn join<'a>(parts: impl Iterator<Item = &'a str>) -> String {
    let mut joined = String::new();
    for part in parts {
        let between = joined.chars().next_back().zip(part.chars().next());
        if between.is_some_and(|(last, first)| !(is_unspaced(last) && is_unspaced(first))) {
            joined.push(' ');
        }
        joined.push_str(part);
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(sentences: &[&str], count: usize) -> Vec<String> {
        let mut terms = Terms::default();
        for sentence in sentences {
            terms.add(sentence);
        }
        terms.most_frequent(count)
    }

    #[test]
    fn pairs_stand_for_their_words() {
        let found = terms(
            &[
                "A durable queue is kept on disk.",
                "Every durable queue survives a crash.",
                "The disk of a durable queue may be full.",
            ],
            3,
        );
        assert_eq!(found, ["durable queue", "disk"]);
    }

    #[test]
    fn japanese_compounds_are_written_together() {
        let found = terms(
            &["機械学習の手法を述べる。", "機械学習は手法の一つである。"],
            2,
        );
        assert_eq!(found[0], "機械学習");
    }
}
