//! What the layout has to know about characters.

/// Whether text of this character is written without spaces between words (Chinese and Japanese, with
/// their punctuation; Korean has spaces).
pub(super) fn is_cjk(character: char) -> bool {
    matches!(
        u32::from(character),
        0x2e80..=0x312f | 0x3190..=0x9fff | 0xf900..=0xfaff | 0xfe30..=0xfe4f
        | 0xff00..=0xff9f | 0xffe0..=0xffef | 0x20000..=0x3ffff
    )
}

/// Whether a character takes a full em, for fonts that don't say how wide it is.
pub(super) fn is_wide(character: char) -> bool {
    is_cjk(character) || matches!(u32::from(character), 0xac00..=0xd7af | 0x1f300..=0x1faff)
}

/// Whether a character takes about a token of a language model, as those of Chinese, Japanese and Korean do.
pub(super) fn is_ideograph(character: char) -> bool {
    is_cjk(character)
        || matches!(u32::from(character), 0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7ff)
}

/// Whether a line that ends like this ends a sentence.
pub(super) fn ends_sentence(line: &str) -> bool {
    line.trim_end()
        .trim_end_matches(['"', '\'', ')', ']', '”', '’', '»', '」', '』', '）', '〟'])
        .ends_with([
            '.', '!', '?', ':', ';', '…', '。', '．', '！', '？', '：', '‼', '⁇',
        ])
}

/// Whether a line begins like an item of a list.
pub(super) fn begins_item(line: &str) -> bool {
    let line = line.trim_start();
    let Some(first) = line.chars().next() else {
        return false;
    };
    if matches!(
        first,
        '•' | '‣'
            | '◦'
            | '▪'
            | '■'
            | '□'
            | '●'
            | '○'
            | '◆'
            | '◇'
            | '・'
            | '✓'
            | '☐'
            | '☑'
            | '※'
            | '①'..='⑳'
    ) {
        return true;
    }
    let rest = &line[first.len_utf8()..];
    if matches!(first, '-' | '–' | '—' | '*') {
        return rest.starts_with(' ');
    }
    let marker = line.trim_start_matches(['(', '（']);
    let body = marker.trim_start_matches(|c: char| c.is_numeric());
    let digits = marker[..marker.len() - body.len()].chars().count();
    let opened = marker.len() < line.len();
    match digits {
        // `(a)` and `a)`, but not the article in `a) `'s place: a bracket must close.
        0 => {
            let mut letters = marker.chars();
            letters.next().is_some_and(is_letter_of_list)
                && letters.next().is_some_and(|c| matches!(c, ')' | '）'))
                && (opened || letters.next() == Some(' '))
        }
        1 | 2 => {
            let closed = body.starts_with([')', '）', '．']);
            closed || body.starts_with(". ") || body.starts_with(".\u{3000}")
        }
        _ => false,
    }
}

/// Whether lists count by this character: a to z and, in Japanese, the katakana.
fn is_letter_of_list(character: char) -> bool {
    character.is_ascii_alphabetic() || matches!(character, 'ア'..='ン')
}

/// Characters that have a plainer equal: ligatures of letters.
pub(super) fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        'ﬀ' => "ff",
        'ﬁ' => "fi",
        'ﬂ' => "fl",
        'ﬃ' => "ffi",
        'ﬄ' => "ffl",
        'ﬅ' | 'ﬆ' => "st",
        // The bullet of Symbol and Wingdings fonts, as office programs write it.
        '\u{f0b7}' | '\u{f0a7}' => "•",
        '\u{a0}' | '\u{2002}'..='\u{200a}' | '\u{202f}' | '\t' | '\n' | '\r' => " ",
        _ => return None,
    })
}

/// Whether a character says nothing: controls, private use, the replacement character.
pub(super) fn is_meaningless(character: char) -> bool {
    character.is_control()
        || matches!(
            u32::from(character),
            0xe000..=0xf8ff | 0xfffd..=0xffff | 0xf0000..=0x10ffff
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_recognized() {
        for item in [
            "• one",
            "- one",
            "1. one",
            "12) one",
            "(3) one",
            "(a) one",
            "b) one",
            "・項目",
            "①項目",
            "(１) 項",
        ] {
            assert!(begins_item(item), "{item}");
        }
        for line in [
            "one",
            "-1 degrees",
            "a house",
            "1945. It",
            "2.5 metres",
            "（注）",
            "A)",
        ] {
            assert!(!begins_item(line), "{line}");
        }
    }

    #[test]
    fn sentences_end_also_before_quotes() {
        assert!(ends_sentence("He said “no.” "));
        assert!(ends_sentence("そうです。」"));
        assert!(!ends_sentence("and then"));
    }
}
