//! Sentences of prose, with what makes them worth showing.

use icu_segmenter::options::{SentenceBreakInvariantOptions, WordBreakInvariantOptions};
use icu_segmenter::{SentenceSegmenter, WordSegmenter};

use super::language::{Language, is_kana, is_stop_word, is_unspaced};
use super::layout::{Paragraph, ends_sentence};

/// A sentence of the document.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sentence {
    /// The page, counted from 1.
    pub(super) page: usize,
    /// Its words, as they stand.
    pub(super) text: String,
}

/// How strictly sentences are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    /// Whole sentences of prose.
    Prose,
    /// Also fragments, for documents that have nothing else (slides, forms, invoices).
    Fragments,
}

/// Returns the sentences of some paragraphs that are fit to be shown, in order.
pub(super) fn sentences(
    paragraphs: &[Paragraph],
    language: Language,
    choice: Choice,
) -> Vec<Sentence> {
    let segmenter = SentenceSegmenter::new(SentenceBreakInvariantOptions::default());
    let mut sentences = Vec::new();
    for paragraph in paragraphs {
        let mut open = String::new();
        let mut start = 0;
        for end in segmenter.segment_str(&paragraph.text) {
            let piece = &paragraph.text[start..end];
            start = end;
            open.push_str(piece);
            if piece.is_empty() || ends_with_abbreviation(&open) {
                continue;
            }
            take(&mut open, paragraph.page, language, choice, &mut sentences);
        }
        take(&mut open, paragraph.page, language, choice, &mut sentences);
    }
    sentences
}

fn take(
    open: &mut String,
    page: usize,
    language: Language,
    choice: Choice,
    sentences: &mut Vec<Sentence>,
) {
    let piece = std::mem::take(open);
    let text = without_number(piece.trim());
    let fit = match choice {
        Choice::Prose if language.is_spaced() => is_prose_with_spaces(text),
        Choice::Prose => is_prose_without_spaces(text, language),
        Choice::Fragments => is_fragment(text, language),
    };
    if fit {
        sentences.push(Sentence {
            page,
            text: text.to_owned(),
        });
    }
}

/// The number of a list's item is no part of its sentence.
fn without_number(text: &str) -> &str {
    let rest = text.trim_start_matches(|character: char| character.is_ascii_digit());
    let digits = text.len() - rest.len();
    match rest.strip_prefix(") ") {
        Some(rest) if (1..=2).contains(&digits) => rest.trim_start(),
        _ => text,
    }
}

/// The Unicode rules end a sentence at every full stop before a capital letter, so after these too.
fn ends_with_abbreviation(text: &str) -> bool {
    const ABBREVIATIONS: [&str; 29] = [
        "al.", "approx.", "cf.", "ch.", "col.", "dr.", "e.g.", "ed.", "eds.", "eq.", "eqs.",
        "fig.", "figs.", "i.e.", "jr.", "mr.", "mrs.", "ms.", "no.", "nos.", "pp.", "prof.",
        "ref.", "refs.", "resp.", "sec.", "st.", "vol.", "vs.",
    ];
    let mut backwards = text.trim_end().rsplit([' ', '(', '[']);
    let last = backwards.next().unwrap_or_default();
    let before = backwards.next().unwrap_or_default();
    let mut letters = last.chars();
    // The initial of a name ("J. Smith", "by J. Smith"), unlike the end of "in article A."
    let initial = letters.next().is_some_and(char::is_uppercase)
        && letters.as_str() == "."
        && (matches!(before, "" | "and" | "by" | "of" | "with" | "to" | "&")
            || before.starts_with(char::is_uppercase)
            || before.ends_with(','));
    initial || ABBREVIATIONS.contains(&last.to_lowercase().as_str())
}

struct Shares {
    chars: usize,
    letters: usize,
    digits: usize,
    symbols: usize,
    kana: usize,
}

fn shares(text: &str) -> Shares {
    let mut shares = Shares {
        chars: 0,
        letters: 0,
        digits: 0,
        symbols: 0,
        kana: 0,
    };
    for character in text.chars().filter(|character| !character.is_whitespace()) {
        shares.chars += 1;
        shares.letters += usize::from(character.is_alphabetic());
        shares.digits += usize::from(character.is_numeric());
        shares.kana += usize::from(is_kana(character));
        let symbol = matches!(
            character,
            '=' | '+' | '<' | '>' | '|' | '{' | '}' | '\\' | '^' | '_' | '~' | '@' | '\u{fffd}'
        ) || ('\u{2190}'..='\u{2bff}').contains(&character)
            || ('\u{e000}'..='\u{f8ff}').contains(&character);
        shares.symbols += usize::from(symbol);
    }
    shares
}

fn is_prose_with_spaces(text: &str) -> bool {
    let words = text.split(' ').count();
    let single = text
        .split(' ')
        .filter(|word| {
            word.chars().count() == 1 && !matches!(*word, "a" | "A" | "I" | "–" | "—" | "&")
        })
        .count();
    let shares = shares(text);
    (7..=60).contains(&words)
        && (40..=420).contains(&text.chars().count())
        && ends_sentence(text)
        && begins_well(text)
        && shares.letters * 100 >= shares.chars * 78
        && shares.digits * 100 <= shares.chars * 12
        && shares.symbols <= 2
        // Formulas and letter-spaced headings fall apart into single letters.
        && single * 6 <= words
        && !is_furniture(text)
}

fn is_prose_without_spaces(text: &str, language: Language) -> bool {
    let shares = shares(text);
    (15..=220).contains(&shares.chars)
        && ends_sentence(text)
        && shares.letters * 100 >= shares.chars * 70
        && shares.digits * 100 <= shares.chars * 15
        && shares.symbols <= 2
        && (language != Language::Japanese || shares.kana * 100 >= shares.chars * 15)
        && !text.contains('…')
        && !text.contains("．．．")
        && !is_furniture(text)
}

fn is_fragment(text: &str, language: Language) -> bool {
    let shares = shares(text);
    let least = if language.is_spaced() { 16 } else { 6 };
    (least..=420).contains(&shares.chars)
        && shares.letters * 2 >= shares.chars
        && shares.symbols <= 3
        && !is_furniture(text)
}

fn begins_well(text: &str) -> bool {
    text.chars()
        .find(|character| !matches!(character, '"' | '“' | '‘' | '\''))
        .is_some_and(|first| first.is_uppercase() || first.is_numeric() || is_unspaced(first))
}

/// Sentences about the document instead of its subject.
fn is_furniture(text: &str) -> bool {
    let lower = text.to_lowercase();
    [
        "http://",
        "https://",
        "www.",
        "doi:",
        "doi.org",
        "©",
        "copyright",
        "all rights reserved",
        "permission to make",
        "creative commons",
        "corresponding author",
        "index terms",
        "keywords",
        "key words",
        "manuscript received",
        "is with the",
        "are with the",
        "department of",
        "supported by",
        "....",
        ". . .",
        "isbn",
        "issn",
        "無断転載",
        "著作権",
    ]
    .iter()
    .any(|word| lower.contains(word))
}

/// The words of a text that may carry its subject, in lower case, in order; `None` stands where a
/// word without a subject, a mark or a number parts two of them.
pub(super) fn words(text: &str) -> Vec<Option<(String, &str)>> {
    let segmenter = WordSegmenter::new_auto(WordBreakInvariantOptions::default());
    let mut words = Vec::new();
    let mut start = 0;
    for (end, kind) in segmenter.segment_str(text).iter_with_word_type() {
        let surface = &text[start..end];
        start = end;
        if surface.trim().is_empty() {
            continue;
        }
        let lower = surface.to_lowercase();
        let carries = kind.is_word_like()
            && surface.chars().any(char::is_alphabetic)
            && !surface.contains(|character: char| character.is_ascii_digit())
            && !is_stop_word(&lower);
        words.push(carries.then(|| (stem(&lower), surface)));
    }
    words
}

/// Makes singular and plural equal (the S-stemmer of Harman 1991), for words of Latin letters.
fn stem(word: &str) -> String {
    let word = word
        .strip_suffix("'s")
        .or_else(|| word.strip_suffix("’s"))
        .unwrap_or(word);
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    if let Some(root) = word.strip_suffix("ies")
        && !root.ends_with(['a', 'e'])
    {
        return format!("{root}y");
    }
    if word.ends_with("ses")
        || word.ends_with("xes")
        || word.ends_with("ches")
        || word.ends_with("shes")
    {
        return word[..word.len() - 2].to_owned();
    }
    match word.strip_suffix('s') {
        Some(root) if !root.ends_with(['s', 'u', 'i']) => root.to_owned(),
        _ => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let paragraph = Paragraph {
            page: 1,
            text: text.to_owned(),
        };
        let language = Language::of([text]);
        sentences(&[paragraph], language, Choice::Prose)
            .into_iter()
            .map(|sentence| sentence.text)
            .collect()
    }

    #[test]
    fn english_sentences_survive_their_abbreviations() {
        assert_eq!(
            split(
                "As Fig. 3 and Smith et al. (2014) show, Dr. J. Jones was right about the queues. The other result, i.e. The Law of queues, was never in doubt at all."
            ),
            [
                "As Fig. 3 and Smith et al. (2014) show, Dr. J. Jones was right about the queues.",
                "The other result, i.e. The Law of queues, was never in doubt at all."
            ]
        );
    }

    #[test]
    fn japanese_sentences_end_at_their_full_stops() {
        assert_eq!(
            split(
                "本研究では、待ち行列を永続化する方法を提案する。その結果、障害が起きても仕事は失われないことが分かった！"
            ),
            [
                "本研究では、待ち行列を永続化する方法を提案する。",
                "その結果、障害が起きても仕事は失われないことが分かった！"
            ]
        );
    }

    #[test]
    fn what_is_no_prose_is_left_out() {
        for text in [
            "Too short.",
            "x = a + b * c | d ^ 2 where the rest of it is a formula of no use.",
            "12.4 13.5 11.2 88.1 90.4 12.4 13.5 11.2 88.1 90.4 and so it goes on.",
            "See https://example.com/a/b/c for the data and for the code of this paper.",
            "and it began on another page which makes it a fragment of a sentence.",
            "Introduction . . . . . . . . . . . . . . . . . . . . . . . . . . . . . 1.",
        ] {
            assert_eq!(split(text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn words_are_stemmed_and_stop_words_part_them() {
        let found: Vec<Option<String>> = words("The queues of 12 studies")
            .into_iter()
            .map(|word| word.map(|(stem, _)| stem))
            .collect();
        assert_eq!(
            found,
            [
                None,
                Some("queue".to_owned()),
                None,
                None,
                Some("study".to_owned())
            ]
        );
        let japanese: Vec<&str> = words("待ち行列の研究データを分析する")
            .into_iter()
            .flatten()
            .map(|(_, surface)| surface)
            .collect();
        assert!(japanese.contains(&"研究"), "{japanese:?}");
        assert!(japanese.contains(&"データ"), "{japanese:?}");
        assert!(!japanese.contains(&"の"), "{japanese:?}");
    }
}
