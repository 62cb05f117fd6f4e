//! From pages to an extract.

use std::collections::HashSet;

use super::cue;
use super::language::Language;
use super::layout::{Layout, Paragraph};
use super::rank::Ranking;
use super::sentence::{self, Choice, Sentence};
use super::terms::Terms;

/// More sentences are not compared, since the cost grows with their square; of a longer document an
/// even choice is taken, always the same.
const MAX_SENTENCES: usize = 2_000;
/// With fewer whole sentences than this, fragments are looked at too.
const LEAST_PROSE: usize = 3;
const TERMS: usize = 8;

/// What was picked out of a document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Extract {
    pub(super) language: Language,
    /// The title, when one was found.
    pub(super) title: Option<String>,
    /// Whether there was no prose, so that lines stand where sentences should.
    pub(super) fragments: bool,
    /// The one sentence that tells most.
    pub(super) lead: Sentence,
    /// Others that tell much, in the order of the document.
    pub(super) key_sentences: Vec<Sentence>,
    /// The most frequent terms.
    pub(super) terms: Vec<String>,
}

/// Picks an extract of at most about `most_chars`; `None` when there is no text, or when stopped.
pub(super) fn extract(
    pages: &[String],
    most_chars: usize,
    stopped: &dyn Fn() -> bool,
) -> Option<Extract> {
    let layout = Layout::new(pages);
    let language = Language::of(layout.lines());
    let paragraphs = layout.paragraphs();
    let (choice, sentences) = candidates(&layout, &paragraphs, language);
    if sentences.is_empty() || stopped() {
        return None;
    }
    let mut terms = Terms::default();
    let words: Vec<Vec<String>> = sentences
        .iter()
        .map(|sentence| terms.add(&sentence.text))
        .collect();
    let title = layout.title();
    let title_words: HashSet<String> = title
        .iter()
        .flat_map(|title| sentence::words(title).into_iter().flatten())
        .map(|(stem, _)| stem)
        .collect();
    let favours = cue::favours(&sentences, &words, &title_words);
    let ranking = Ranking::new(&words, &favours, stopped)?;
    let mut chosen = ranking.choose(how_many(sentences.len()) + 1);
    let lead = lead(&chosen, &sentences);
    let lead = sentences[chosen.remove(lead)].clone();
    let mut left = most_chars.saturating_sub(lead.text.len());
    chosen.retain(|at| {
        let fits = sentences[*at].text.len() <= left;
        if fits {
            left -= sentences[*at].text.len();
        }
        fits
    });
    chosen.sort_unstable();
    Some(Extract {
        language,
        title,
        fragments: choice == Choice::Fragments,
        lead,
        key_sentences: chosen.into_iter().map(|at| sentences[at].clone()).collect(),
        terms: terms.most_frequent(TERMS),
    })
}

fn candidates(
    layout: &Layout,
    paragraphs: &[Paragraph],
    language: Language,
) -> (Choice, Vec<Sentence>) {
    let prose = sentence::sentences(paragraphs, language, Choice::Prose);
    if prose.len() >= LEAST_PROSE {
        return (Choice::Prose, thin(prose));
    }
    let lines = layout.line_paragraphs();
    let fragments = sentence::sentences(&lines, language, Choice::Fragments);
    if fragments.len() > prose.len() {
        (Choice::Fragments, thin(fragments))
    } else {
        (Choice::Prose, prose)
    }
}

fn thin(sentences: Vec<Sentence>) -> Vec<Sentence> {
    let count = sentences.len();
    if count <= MAX_SENTENCES {
        return sentences;
    }
    // Every sentence whose turn it is when MAX_SENTENCES turns are spread evenly.
    sentences
        .into_iter()
        .enumerate()
        .filter(|(at, _)| at * MAX_SENTENCES / count != (at + 1) * MAX_SENTENCES / count)
        .map(|(_, sentence)| sentence)
        .collect()
}

/// Short documents give a third of themselves, long ones up to ten sentences.
fn how_many(sentences: usize) -> usize {
    match sentences {
        0..=12 => (sentences / 3).max(1),
        13..=60 => 6,
        61..=200 => 8,
        _ => 10,
    }
}

/// Returns which of the chosen leads: the best that is not too long to be taken in at once and
/// stands by itself.
fn lead(chosen: &[usize], sentences: &[Sentence]) -> usize {
    let handy = |at: &usize| sentences[*at].text.chars().count() <= 260;
    let alone = |at: &usize| !cue::leans(&sentences[*at].text);
    let best = || chosen.iter().take(3);
    best()
        .position(|at| handy(at) && alone(at))
        .or_else(|| best().position(handy))
        .unwrap_or(0)
}
