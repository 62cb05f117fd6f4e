//! What depends on the language: which it is, and which words say nothing about a subject.

/// The languages that are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// English, and everything that is written with spaces.
    Spaced,
    /// Japanese.
    Japanese,
    /// Chinese: written without spaces, like Japanese, but without its particles.
    Chinese,
}

impl Language {
    /// Guesses the language from the letters of a text.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let (mut letters, mut kana, mut han) = (0_u64, 0_u64, 0_u64);
        for character in texts.into_iter().flat_map(str::chars) {
            letters += u64::from(character.is_alphabetic());
            kana += u64::from(is_kana(character));
            han += u64::from(is_han(character));
        }
        if kana * 10 > letters {
            Self::Japanese
        } else if (kana + han) * 3 > letters {
            Self::Chinese
        } else {
            Self::Spaced
        }
    }

    /// Says whether words are separated by spaces.
    pub(super) fn is_spaced(self) -> bool {
        self == Self::Spaced
    }
}

pub(super) fn is_kana(character: char) -> bool {
    is_hiragana(character) || is_katakana(character)
}

pub(super) fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{309f}')
}

pub(super) fn is_katakana(character: char) -> bool {
    matches!(character, '\u{30a1}'..='\u{30fa}' | '\u{30fc}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9f}')
}

pub(super) fn is_han(character: char) -> bool {
    matches!(character, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '々' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}')
}

/// Says whether a character belongs to a script that is written without spaces.
pub(super) fn is_unspaced(character: char) -> bool {
    is_kana(character)
        || is_han(character)
        || matches!(character, '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}')
}

/// Says whether a word, in lower case, carries no subject.
pub(super) fn is_stop_word(word: &str) -> bool {
    if word.is_ascii() {
        return word.len() < 2 || ENGLISH.binary_search(&word).is_ok();
    }
    // Particles, auxiliaries and endings of Japanese are written in hiragana; words of more than
    // three hiragana that carry a subject are rare in documents.
    word.chars().all(is_hiragana) || JAPANESE.contains(&word)
}

/// Sorted, for binary search.
const ENGLISH: [&str; 211] = [
    "about",
    "above",
    "according",
    "across",
    "after",
    "again",
    "against",
    "al",
    "all",
    "almost",
    "along",
    "already",
    "also",
    "although",
    "always",
    "am",
    "among",
    "an",
    "and",
    "another",
    "any",
    "are",
    "around",
    "as",
    "at",
    "be",
    "because",
    "been",
    "before",
    "being",
    "below",
    "between",
    "both",
    "but",
    "by",
    "can",
    "cannot",
    "case",
    "could",
    "did",
    "different",
    "do",
    "does",
    "doing",
    "done",
    "down",
    "due",
    "during",
    "each",
    "eg",
    "either",
    "et",
    "etc",
    "even",
    "ever",
    "every",
    "few",
    "fig",
    "figure",
    "first",
    "following",
    "for",
    "found",
    "four",
    "from",
    "further",
    "furthermore",
    "get",
    "give",
    "given",
    "had",
    "has",
    "have",
    "having",
    "he",
    "hence",
    "her",
    "here",
    "him",
    "his",
    "how",
    "however",
    "ie",
    "if",
    "in",
    "instead",
    "into",
    "is",
    "it",
    "its",
    "itself",
    "just",
    "large",
    "less",
    "let",
    "like",
    "made",
    "make",
    "many",
    "may",
    "me",
    "might",
    "more",
    "moreover",
    "most",
    "much",
    "must",
    "my",
    "near",
    "new",
    "no",
    "non",
    "nor",
    "not",
    "now",
    "of",
    "off",
    "often",
    "on",
    "once",
    "one",
    "only",
    "or",
    "other",
    "others",
    "our",
    "out",
    "over",
    "own",
    "per",
    "pp",
    "quite",
    "rather",
    "said",
    "same",
    "see",
    "seen",
    "several",
    "shall",
    "she",
    "should",
    "show",
    "shown",
    "shows",
    "similar",
    "since",
    "small",
    "so",
    "some",
    "still",
    "such",
    "table",
    "than",
    "that",
    "the",
    "their",
    "them",
    "then",
    "there",
    "therefore",
    "these",
    "they",
    "this",
    "those",
    "three",
    "through",
    "thus",
    "to",
    "together",
    "too",
    "toward",
    "towards",
    "two",
    "under",
    "until",
    "up",
    "upon",
    "us",
    "use",
    "used",
    "using",
    "various",
    "very",
    "via",
    "vs",
    "was",
    "way",
    "we",
    "well",
    "were",
    "what",
    "when",
    "where",
    "whereas",
    "whether",
    "which",
    "while",
    "who",
    "whom",
    "whose",
    "why",
    "will",
    "with",
    "within",
    "without",
    "would",
    "yet",
    "you",
    "your",
    "yourself",
    "zero",
];

/// Words of Japanese with Chinese characters that carry no subject.
const JAPANESE: [&str; 24] = [
    "事", "物", "者", "時", "場合", "以下", "以上", "及び", "又は", "等", "的", "其の", "此の",
    "中", "上", "下", "後", "前", "間", "図", "表", "年", "月", "本",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted() {
        assert!(ENGLISH.is_sorted());
    }

    #[test]
    fn languages_are_told_apart() {
        assert_eq!(Language::of(["A short English text."]), Language::Spaced);
        assert_eq!(
            Language::of(["これは PDF の要約です。"]),
            Language::Japanese
        );
        assert_eq!(
            Language::of(["本文介绍了一种新的方法。"]),
            Language::Chinese
        );
        assert_eq!(Language::of([""]), Language::Spaced);
    }

    #[test]
    fn particles_and_articles_say_nothing() {
        for word in ["the", "a", "これ", "について", "場合"] {
            assert!(is_stop_word(word), "{word}");
        }
        for word in ["queue", "要約", "データ"] {
            assert!(!is_stop_word(word), "{word}");
        }
    }
}
