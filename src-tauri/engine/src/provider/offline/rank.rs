//! Which sentences tell most: LexRank, then maximal marginal relevance.
//!
//! - G. Erkan and D. R. Radev, "LexRank: Graph-based Lexical Centrality as Salience in Text
//!   Summarization", Journal of Artificial Intelligence Research 22 (2004): a sentence is central
//!   when many sentences are like it, and all the more when those are central themselves. Likeness
//!   is the cosine of their words weighted by rarity; the centrality is the stationary distribution
//!   of a random walk over the graph of likeness (continuous LexRank, threshold 0.1).
//! - J. Carbonell and J. Goldstein, "The Use of MMR, Diversity-Based Reranking…" (SIGIR 1998):
//!   sentences are chosen one by one, each for its rank less its likeness to those chosen before.

use std::collections::HashMap;

/// Pairs less alike than this are not linked.
const THRESHOLD: f64 = 0.1;
/// How often the walk follows a link instead of restarting.
const DAMPING: f64 = 0.85;
/// Steps of the walk at most; it usually settles in about thirty.
const MAX_STEPS: usize = 100;
const SETTLED: f64 = 1e-7;
/// The weight of rank against novelty when choosing.
const RELEVANCE: f64 = 0.7;

/// Words of a sentence: the number of each word with its weight, sorted by number, of length 1.
type Vector = Vec<(usize, f64)>;

/// Sentences with their likeness and rank.
pub(super) struct Ranking {
    vectors: Vec<Vector>,
    /// Rank, the best of all being 1.
    scores: Vec<f64>,
}

impl Ranking {
    /// Ranks sentences, each given by its words, and weighs their centrality by `favours`. Returns
    /// `None` when `stopped` says so.
    ///
    /// The cost grows with the square of the number of sentences, which the caller bounds.
    pub(super) fn new(
        sentences: &[Vec<String>],
        favours: &[f64],
        stopped: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let vectors = vectors(sentences);
        let links = links(&vectors, stopped)?;
        let mut scores = walk(&links);
        for (score, favour) in scores.iter_mut().zip(favours) {
            *score *= favour;
        }
        let most = scores.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        for score in &mut scores {
            *score /= most;
        }
        Some(Self { vectors, scores })
    }

    /// Returns the sentences of a choice of at most `count`, the best first. Ties go to the earlier.
    pub(super) fn choose(&self, count: usize) -> Vec<usize> {
        let mut chosen: Vec<usize> = Vec::new();
        let mut likeness = vec![0.0_f64; self.scores.len()];
        while chosen.len() < count {
            let mut best: Option<(usize, f64)> = None;
            for (at, score) in self.scores.iter().enumerate() {
                // Nearly the same again tells nothing, however central it is.
                if chosen.contains(&at) || likeness[at] > 0.8 {
                    continue;
                }
                let value = RELEVANCE * score - (1.0 - RELEVANCE) * likeness[at];
                if best.is_none_or(|(_, most)| value > most) {
                    best = Some((at, value));
                }
            }
            let Some((at, _)) = best else { break };
            chosen.push(at);
            for (other, likeness) in likeness.iter_mut().enumerate() {
                *likeness = likeness.max(cosine(&self.vectors[at], &self.vectors[other]));
            }
        }
        chosen
    }
}

fn vectors(sentences: &[Vec<String>]) -> Vec<Vector> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut sentences_with: Vec<f64> = Vec::new();
    let counted: Vec<Vec<(usize, f64)>> = sentences
        .iter()
        .map(|words| {
            let mut found: Vec<usize> = words
                .iter()
                .map(|word| {
                    let next = numbers.len();
                    *numbers.entry(word).or_insert(next)
                })
                .collect();
            sentences_with.resize(numbers.len(), 0.0);
            found.sort_unstable();
            let counts: Vec<(usize, f64)> = found
                .chunk_by(|left, right| left == right)
                .map(|same| (same[0], same.len() as f64))
                .collect();
            for (word, _) in &counts {
                sentences_with[*word] += 1.0;
            }
            counts
        })
        .collect();
    let total = sentences.len() as f64;
    counted
        .into_iter()
        .map(|mut vector| {
            for (word, weight) in &mut vector {
                *weight *= (total / sentences_with[*word]).ln() + 0.1;
            }
            let length = vector
                .iter()
                .map(|(_, weight)| weight * weight)
                .sum::<f64>()
                .sqrt();
            for (_, weight) in &mut vector {
                *weight /= length.max(f64::MIN_POSITIVE);
            }
            vector
        })
        .collect()
}

/// Returns for each sentence those like it with their likeness, in the order of the document.
fn links(vectors: &[Vector], stopped: &dyn Fn() -> bool) -> Option<Vec<Vec<(usize, f64)>>> {
    let words = vectors
        .iter()
        .flatten()
        .map(|(word, _)| word + 1)
        .max()
        .unwrap_or(0);
    let mut having: Vec<Vec<(usize, f64)>> = vec![Vec::new(); words];
    for (at, vector) in vectors.iter().enumerate() {
        for (word, weight) in vector {
            having[*word].push((at, *weight));
        }
    }
    let mut likeness = vec![0.0; vectors.len()];
    let mut links = Vec::with_capacity(vectors.len());
    for (at, vector) in vectors.iter().enumerate() {
        if stopped() {
            return None;
        }
        likeness.fill(0.0);
        for (word, weight) in vector {
            for (other, other_weight) in &having[*word] {
                likeness[*other] += weight * other_weight;
            }
        }
        let row = likeness
            .iter()
            .enumerate()
            .filter(|(other, value)| *other != at && **value >= THRESHOLD)
            .map(|(other, value)| (other, *value))
            .collect();
        links.push(row);
    }
    Some(links)
}

fn walk(links: &[Vec<(usize, f64)>]) -> Vec<f64> {
    let count = links.len();
    let restart = 1.0 / count as f64;
    let out: Vec<f64> = links
        .iter()
        .map(|row| row.iter().map(|(_, value)| value).sum())
        .collect();
    let mut scores = vec![restart; count];
    for _ in 0..MAX_STEPS {
        let mut next = vec![0.0; count];
        let mut loose = 0.0;
        for (at, row) in links.iter().enumerate() {
            if row.is_empty() {
                loose += scores[at];
            }
            for (other, value) in row {
                next[*other] += DAMPING * scores[at] * value / out[at];
            }
        }
        for value in &mut next {
            *value += (1.0 - DAMPING + DAMPING * loose) * restart;
        }
        let moved: f64 = next
            .iter()
            .zip(&scores)
            .map(|(new, old)| (new - old).abs())
            .sum();
        scores = next;
        if moved < SETTLED {
            break;
        }
    }
    scores
}

fn cosine(left: &Vector, right: &Vector) -> f64 {
    let (mut at, mut to, mut sum) = (0, 0, 0.0);
    while let (Some((word, weight)), Some((other, other_weight))) = (left.get(at), right.get(to)) {
        match word.cmp(other) {
            std::cmp::Ordering::Less => at += 1,
            std::cmp::Ordering::Greater => to += 1,
            std::cmp::Ordering::Equal => {
                sum += weight * other_weight;
                at += 1;
                to += 1;
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(sentences: &[&str]) -> Ranking {
        let words: Vec<Vec<String>> = sentences
            .iter()
            .map(|text| text.split(' ').map(str::to_owned).collect())
            .collect();
        Ranking::new(&words, &[], &|| false).unwrap()
    }

    #[test]
    fn the_central_sentence_comes_first() {
        let ranking = ranking(&[
            "weather sun rain",
            "queue crash loss",
            "queue job disk",
            "queue job crash disk loss",
            "tea cake",
        ]);
        assert_eq!(ranking.choose(1), [3]);
    }

    #[test]
    fn what_was_said_is_not_chosen_again() {
        let ranking = ranking(&["queue job disk", "queue job disk", "queue retry delay"]);
        assert_eq!(ranking.choose(5).len(), 2);
        assert_eq!(ranking.choose(5)[0], 0, "ties go to the earlier");
    }

    #[test]
    fn nothing_and_wordless_sentences_are_no_trouble() {
        assert!(ranking(&[]).choose(3).is_empty());
        let words = vec![Vec::new(), Vec::new()];
        let ranking = Ranking::new(&words, &[], &|| false).unwrap();
        assert_eq!(ranking.choose(3), [0, 1]);
    }

    #[test]
    fn ranking_stops_when_told() {
        let words = vec![vec!["queue".to_owned()]; 3];
        assert!(Ranking::new(&words, &[], &|| true).is_none());
    }
}
