//! Where a list of references begins.

/// Headings of such a list, in small letters.
const HEADINGS: [&str; 9] = [
    "references",
    "bibliography",
    "works cited",
    "literature cited",
    "literatur",
    "literaturverzeichnis",
    "references and notes",
    "参考文献",
    "引用文献",
];
/// Headings of what may follow it, after which nobody can tell what the last pages are.
const OTHERS: [&str; 8] = [
    "appendix",
    "appendices",
    "supplement",
    "supplementary",
    "annex",
    "anhang",
    "付録",
    "附録",
];
/// Entries that a list has at least.
const FEWEST_ENTRIES: usize = 3;

/// Returns the page that the list of references begins on, from 1, if the document surely ends with one: its
/// heading stands alone on a line in the second half, entries with years follow, and no appendix does.
pub(crate) fn references_from(pages: &[String]) -> Option<u32> {
    let (page, line) = pages
        .iter()
        .enumerate()
        .skip(pages.len() / 2)
        .flat_map(|(page, text)| {
            text.lines()
                .enumerate()
                .map(move |(line, words)| (page, line, words))
        })
        .filter(|(_, _, words)| HEADINGS.contains(&bare(words).as_str()))
        .map(|(page, line, _)| (page, line))
        .last()?;
    let behind = || {
        let first = pages[page].lines().skip(line + 1);
        first
            .chain(pages[page + 1..].iter().flat_map(|text| text.lines()))
            .filter(|words| !words.trim().is_empty())
    };
    let is_other = |words: &str| {
        let bare = bare(words);
        bare.chars().count() < 60 && OTHERS.iter().any(|other| bare.starts_with(other))
    };
    if behind().any(is_other) {
        return None;
    }
    let (mut lines, mut entries) = (0, 0);
    for words in behind() {
        lines += 1;
        entries += usize::from(has_year(words));
    }
    // Entries take a few lines each, where lines are told apart at all.
    let is_list = entries >= FEWEST_ENTRIES && entries * 5 >= lines;
    is_list.then(|| u32::try_from(page + 1).unwrap_or(u32::MAX))
}

/// Returns a heading in small letters, without its number and its colon.
fn bare(words: &str) -> String {
    words
        .trim()
        .trim_start_matches(|character: char| {
            character.is_ascii_digit() || matches!(character, '.' | ' ')
        })
        .trim_end_matches([':', '.'])
        .to_lowercase()
}

fn has_year(words: &str) -> bool {
    words
        .split(|character: char| !character.is_ascii_digit())
        .any(|number| {
            number.len() == 4
                && ["18", "19", "20"]
                    .iter()
                    .any(|century| number.starts_with(century))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "7. References\n\nAda, L. (1843). Notes.\nBabbage, C. 1864. Passages.\n\
        Turing, A. (1950). Computing.\nShannon, C. (1948). A theory. In: 1949.";

    fn from(pages: &[&str]) -> Option<u32> {
        references_from(
            &pages
                .iter()
                .map(|page| (*page).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_list_at_the_end_is_told_and_nothing_uncertain_is() {
        assert_eq!(from(&["Text.", "More.", LIST]), Some(3));
        assert_eq!(
            from(&[LIST, "More.", "Text.", "Text."]),
            None,
            "it stands in front"
        );
        assert_eq!(
            from(&["Text.", LIST, "Appendix A"]),
            None,
            "something follows it"
        );
        assert_eq!(
            from(&["Text.", "References\nSee the desk."]),
            None,
            "there are no entries"
        );
        assert_eq!(from(&["Text.", "The references are many in 1999."]), None);
        assert_eq!(from(&[]), None);
    }
}
