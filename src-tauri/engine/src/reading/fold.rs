//! Texts made comparable: what a PDF and a summary write differently without meaning it falls away.

/// A text without what does not count, and where each byte of it comes from.
#[derive(Debug, Default)]
pub(super) struct Folded {
    /// The characters that count.
    pub(super) text: String,
    /// For each byte of `text` the byte of the source that it comes from.
    pub(super) origin: Vec<u32>,
}

impl Folded {
    /// Adds a text whose bytes are counted from `base`.
    pub(super) fn push(&mut self, source: &str, base: u32) {
        let mut before: Option<char> = None;
        for (at, character) in source.char_indices() {
            let origin = base.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
            if character.is_whitespace() || is_invisible(character) {
                continue;
            }
            if is_dash(character) {
                let next = source[at + character.len_utf8()..]
                    .chars()
                    .find(|next| !next.is_whitespace() && !is_invisible(*next));
                // Between letters it may be the end of a line; before a number it is a sign.
                let joins = before.is_none_or(|character| !character.is_numeric())
                    && !next.is_some_and(char::is_numeric);
                if !joins {
                    self.add('-', origin);
                }
                before = Some('-');
                continue;
            }
            before = Some(character);
            match plain(character) {
                Some(plain) => plain.chars().for_each(|plain| self.add(plain, origin)),
                None => self.add(character, origin),
            }
        }
    }

    fn add(&mut self, character: char, origin: u32) {
        self.text.push(character);
        self.origin
            .extend(std::iter::repeat_n(origin, character.len_utf8()));
    }
}

/// Folds a text of its own.
pub(super) fn folded(text: &str) -> String {
    let mut folded = Folded::default();
    folded.push(text, 0);
    folded.text
}

fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '*' | '_' | '`' | '\\'
    )
}

fn is_dash(character: char) -> bool {
    matches!(
        character,
        '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{ff0d}'
    )
}

/// Returns the plain form of a character that has several.
fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{fb00}' => "ff",
        '\u{fb01}' => "fi",
        '\u{fb02}' => "fl",
        '\u{fb03}' => "ffi",
        '\u{fb04}' => "ffl",
        '\u{fb05}' | '\u{fb06}' => "st",
        '“' | '”' | '„' | '‟' | '«' | '»' | '"' | '‘' | '’' | '‚' | '‛' | '′' | '″' | '‹' | '›'
        | '「' | '」' | '『' | '』' | '＂' | '＇' => "'",
        '…' => "...",
        '，' => ",",
        '．' => ".",
        '（' => "(",
        '）' => ")",
        '：' => ":",
        '；' => ";",
        '％' => "%",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_count_falls_away_and_what_counts_stays() {
        assert_eq!(
            folded("the ﬁrst  signif-\nicant “step”"),
            "thefirstsignificant'step'"
        );
        assert_eq!(
            folded("a well-known **fact** — it is"),
            "awellknownfactitis"
        );
        assert_ne!(
            folded("fell by -5 %"),
            folded("fell by 5 %"),
            "a sign counts"
        );
        assert_eq!(folded("10–20"), folded("10 - 20"));
        assert_ne!(folded("10–20"), folded("1020"));
    }

    #[test]
    fn each_byte_knows_where_it_comes_from() {
        let mut folded = Folded::default();
        folded.push("a ﬁ", 100);
        assert_eq!(folded.text, "afi");
        assert_eq!(folded.origin, [100, 102, 102]);
    }
}
