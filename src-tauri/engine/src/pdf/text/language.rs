//! What language a text seems to be in.

use whatlang::Lang;

/// Text of fewer letters than this says nothing of its language.
const MIN_LETTERS: usize = 40;

/// Text of scripts that are one language's own (nearly) needs fewer.
const MIN_IDEOGRAPHS: usize = 8;

/// Guesses the language; `None` when unsure.
pub(super) fn guess(text: &str) -> Option<String> {
    let count = |is: fn(char) -> bool| text.chars().filter(|character| is(*character)).count();
    let letters = count(char::is_alphabetic);
    let kana =
        count(|character| matches!(character, '\u{3041}'..='\u{30ff}' | '\u{ff66}'..='\u{ff9d}'));
    let hangul = count(|character| matches!(character, '\u{ac00}'..='\u{d7a3}'));
    let han =
        count(|character| matches!(character, '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{323af}'));
    // A few words of another language don't count, nor does a font that draws Latin letters as others.
    if (kana + hangul + han) * 2 > letters {
        return if kana + hangul + han < MIN_IDEOGRAPHS {
            None
        } else if hangul > kana + han {
            Some("ko".to_owned())
        } else if kana * 20 > han {
            Some("ja".to_owned())
        } else if kana == 0 {
            Some("zh".to_owned())
        } else {
            None
        };
    }
    if letters < MIN_LETTERS {
        return None;
    }
    let found = whatlang::detect(text)?;
    found.is_reliable().then(|| short(found.lang()).to_owned())
}

/// Returns the code of ISO 639-1.
fn short(language: Lang) -> &'static str {
    match language {
        Lang::Epo => "eo",
        Lang::Eng => "en",
        Lang::Rus => "ru",
        Lang::Cmn => "zh",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ita => "it",
        Lang::Ben => "bn",
        Lang::Fra => "fr",
        Lang::Deu => "de",
        Lang::Ukr => "uk",
        Lang::Kat => "ka",
        Lang::Ara => "ar",
        Lang::Hin => "hi",
        Lang::Jpn => "ja",
        Lang::Heb => "he",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Amh => "am",
        Lang::Jav => "jv",
        Lang::Kor => "ko",
        Lang::Nob => "nb",
        Lang::Dan => "da",
        Lang::Swe => "sv",
        Lang::Fin => "fi",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Hun => "hu",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Bul => "bg",
        Lang::Bel => "be",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Ron => "ro",
        Lang::Slv => "sl",
        Lang::Hrv => "hr",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Tam => "ta",
        Lang::Vie => "vi",
        Lang::Urd => "ur",
        Lang::Tha => "th",
        Lang::Guj => "gu",
        Lang::Uzb => "uz",
        Lang::Pan => "pa",
        Lang::Aze => "az",
        Lang::Ind => "id",
        Lang::Tel => "te",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Ori => "or",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Sin => "si",
        Lang::Khm => "km",
        Lang::Tuk => "tk",
        Lang::Aka => "ak",
        Lang::Zul => "zu",
        Lang::Sna => "sn",
        Lang::Afr => "af",
        Lang::Lat => "la",
        Lang::Slk => "sk",
        Lang::Cat => "ca",
        Lang::Tgl => "tl",
        Lang::Hye => "hy",
        Lang::Cym => "cy",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_script_or_by_words() {
        let cases = [
            (
                "The committee met in the shed to count what was left of the beans, and nobody spoke first.",
                "en",
            ),
            (
                "Der Ausschuss traf sich im Schuppen, um zu zählen, was von den Bohnen übrig geblieben war.",
                "de",
            ),
            ("町内会の防災訓練は、九月の第一日曜日に行います。", "ja"),
            ("委员会在棚子里开会，清点剩下的豆子，没有人先说话。", "zh"),
            ("위원회는 남은 콩을 세기 위해 헛간에서 모였다.", "ko"),
            (
                "Комитет собрался в сарае, чтобы пересчитать оставшиеся бобы, и никто не заговорил первым.",
                "ru",
            ),
        ];
        for (text, language) in cases {
            assert_eq!(guess(text).as_deref(), Some(language), "{text}");
        }
    }

    #[test]
    fn too_little_says_nothing() {
        for text in ["", "Page 1 of 9", "12.30 14.50 99 %", "日本"] {
            assert_eq!(guess(text), None, "{text}");
        }
    }
}
