//! The title of a document, guessed from its first lines.

use super::language::is_unspaced;
use super::layout::append;

/// Returns the title that some first lines show, if any of them looks like one.
pub(super) fn guess(first: &[String]) -> Option<String> {
    let mut lines = first
        .iter()
        .filter(|line| !line.is_empty())
        .take(12)
        .peekable();
    while let Some(line) = lines.next() {
        if !is_title(line) {
            // A long first line is a paragraph: then there is no title to be found.
            if line.chars().count() > 160 {
                return None;
            }
            continue;
        }
        let mut title = line.clone();
        while let Some(next) = lines.peek()
            && continues(&title, next)
            && title.len() + next.len() < 240
        {
            append(&mut title, next);
            lines.next();
        }
        return Some(title);
    }
    None
}

fn is_title(line: &str) -> bool {
    let length = line.chars().count();
    let letters = line
        .chars()
        .filter(|character| character.is_alphabetic())
        .count();
    let least = if line.chars().any(is_unspaced) { 4 } else { 8 };
    let lower = line.to_lowercase();
    let furniture = [
        "http",
        "www.",
        "doi",
        "arxiv",
        "issn",
        "isbn",
        "©",
        "copyright",
        "vol.",
        "@",
        "page ",
        "journal of",
        "proceedings",
        "preprint",
        "published",
        "received",
        "license",
        "permission",
        "abstract",
        "contents",
        "目次",
    ];
    (least..=160).contains(&length)
        && letters * 10 >= length * 6
        && !furniture.iter().any(|word| lower.contains(word))
}

/// Says whether `next` goes on with a title that was broken into lines.
fn continues(title: &str, next: &str) -> bool {
    const OPEN_ENDS: [&str; 22] = [
        "a", "an", "and", "as", "at", "between", "by", "for", "from", "in", "into", "of", "on",
        "or", "over", "the", "to", "under", "using", "via", "with", "without",
    ];
    let last = title.rsplit(' ').next().unwrap_or_default().to_lowercase();
    let first_is_lower = next.chars().next().is_some_and(char::is_lowercase);
    (title.ends_with([':', '-', '–', '—', '：'])
        || OPEN_ENDS.contains(&last.as_str())
        || first_is_lower)
        && next.chars().count() <= 160
        && !next.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_found_past_furniture_and_over_lines() {
        let title = |text: &str| guess(&text.lines().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(
            title("arXiv:1234.5678v1\n\nDurable Queues for\nDesktop Programs\nA. Author\n")
                .as_deref(),
            Some("Durable Queues for Desktop Programs")
        );
        assert_eq!(
            title("待ち行列の研究\n山田太郎").as_deref(),
            Some("待ち行列の研究")
        );
        assert_eq!(title("12\n\n@@@\n"), None);
        assert_eq!(title(""), None);
    }
}
