//! What speaks for a sentence besides its likeness to others.
//!
//! H. P. Edmundson, "New Methods in Automatic Extracting", Journal of the ACM 16 (1969): the place
//! in the document, words of the title, words that announce a result (bonus) and words that lean on
//! what was said before or point at a figure (stigma).

use std::collections::HashSet;

use super::sentence::Sentence;

/// The first sentences, where an abstract or an introduction stands, count up to so much more.
const OPENING: f64 = 0.6;
/// How many sentences the opening has.
const OPENING_SENTENCES: f64 = 25.0;
const BONUS: f64 = 1.4;
const STIGMA: f64 = 0.55;
const TITLE_WORD: f64 = 0.12;

const BONUS_WORDS: [&str; 22] = [
    "this paper",
    "this article",
    "this report",
    "this document",
    "this study",
    "this thesis",
    "we propose",
    "we present",
    "we introduce",
    "we describe",
    "we show that",
    "we found that",
    "we conclude",
    "in conclusion",
    "results show",
    "results suggest",
    "本研究",
    "本論文",
    "本稿",
    "本書",
    "提案する",
    "結論",
];

/// A sentence that begins so does not stand alone.
const LEANING: [&str; 44] = [
    "this ",
    "these ",
    "those ",
    "that ",
    "it ",
    "they ",
    "he ",
    "she ",
    "such ",
    "however",
    "furthermore",
    "moreover",
    "similarly",
    "therefore",
    "thus",
    "hence",
    "also",
    "then ",
    "now",
    "but ",
    "and ",
    "so ",
    "in this case",
    "in this example",
    "for example",
    "for instance",
    "in addition",
    "on the other hand",
    "finally",
    "again",
    "in this respect",
    "in particular",
    "otherwise",
    "instead",
    "note that",
    "here",
    "しかし",
    "また",
    "さらに",
    "そして",
    "これ",
    "それ",
    "この",
    "その",
];

/// A sentence that points at these needs them beside it.
const POINTING: [&str; 14] = [
    "figure ",
    "fig. ",
    "figs. ",
    "table ",
    "listing ",
    "equation ",
    "eq. ",
    "appendix ",
    "above",
    "below",
    "図",
    "表1",
    "次のよう",
    "以下に",
];

/// Returns a factor for each sentence.
pub(super) fn favours(
    sentences: &[Sentence],
    words: &[Vec<String>],
    title: &HashSet<String>,
) -> Vec<f64> {
    sentences
        .iter()
        .zip(words)
        .enumerate()
        .map(|(at, (sentence, words))| {
            let opening = 1.0 + OPENING * (1.0 - at as f64 / OPENING_SENTENCES).max(0.0);
            let found: HashSet<&String> =
                words.iter().filter(|word| title.contains(*word)).collect();
            let titled = 1.0 + TITLE_WORD * found.len().min(3) as f64;
            opening * titled * wording(&sentence.text)
        })
        .collect()
}

/// Says whether a sentence leans on what was said before it.
pub(super) fn leans(text: &str) -> bool {
    let lower = text.to_lowercase();
    LEANING.iter().any(|words| lower.starts_with(words))
}

fn wording(text: &str) -> f64 {
    let lower = text.to_lowercase();
    let bonus = BONUS_WORDS.iter().any(|words| lower.contains(words));
    let points = POINTING.iter().any(|words| lower.contains(words));
    match (bonus, leans(text), points) {
        // "This paper" is a beginning of its own.
        (true, true, _) if lower.starts_with("this ") => BONUS,
        (true, true, _) => 1.1,
        (true, false, _) => BONUS,
        (false, false, false) => 1.0,
        (false, true, true) => STIGMA * STIGMA,
        (false, ..) => STIGMA,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_count_more_than_pointers() {
        let result = wording("In this paper we propose a durable queue.");
        let plain = wording("A durable queue keeps its jobs.");
        let pointing = wording("Figure 3 shows the queue.");
        let leaning = wording("However, this was not enough.");
        assert!(result > plain && plain > pointing && plain > leaning);
        assert!(wording("本研究では永続キューを提案する。") > wording("キューは仕事を持つ。"));
    }
}
