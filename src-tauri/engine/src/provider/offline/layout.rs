//! From the lines of pages to paragraphs: what is prose stays, what is furniture goes.

use std::collections::{HashMap, HashSet};

use super::language::is_unspaced;
use super::title;

/// More text than this is not looked at: several thousand pages.
const MAX_CHARS: usize = 6_000_000;
/// How many lines at the top and bottom of a page may be running heads.
const MARGIN_LINES: usize = 3;

/// A run of prose on one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Paragraph {
    /// The page, counted from 1.
    pub(super) page: usize,
    /// Its text on one line.
    pub(super) text: String,
}

/// The lines of a document, cleaned.
pub(super) struct Layout {
    pages: Vec<Vec<String>>,
}

impl Layout {
    pub(super) fn new(pages: &[String]) -> Self {
        let mut left = MAX_CHARS;
        let pages = pages
            .iter()
            .map(|page| {
                let take = page.len().min(left);
                left -= take;
                let end = page.floor_char_boundary(take);
                page[..end].lines().map(clean).collect()
            })
            .collect();
        Self { pages }
    }

    /// Returns every line, for guessing the language.
    pub(super) fn lines(&self) -> impl Iterator<Item = &str> {
        self.pages.iter().flatten().map(String::as_str)
    }

    /// Guesses the title from the first lines of the first page that has any.
    pub(super) fn title(&self) -> Option<String> {
        let first = self
            .pages
            .iter()
            .find(|page| page.iter().any(|line| !line.is_empty()))?;
        title::guess(first)
    }

    /// Returns the paragraphs of prose, without running heads, page numbers, headings and the list
    /// of references.
    pub(super) fn paragraphs(&self) -> Vec<Paragraph> {
        let running = self.running_lines();
        let total: usize = self.pages.iter().map(Vec::len).sum();
        let mut passed = 0;
        let mut paragraphs = Vec::new();
        for (page, lines) in (1..).zip(&self.pages) {
            let mut prose = Prose::new(page, lines);
            for (at, line) in lines.iter().enumerate() {
                passed += 1;
                // References stand at the end; a chapter of that name at the beginning does not.
                if passed * 2 > total && is_references_heading(line) {
                    prose.end();
                    paragraphs.append(&mut prose.paragraphs);
                    return paragraphs;
                }
                let margin = at < MARGIN_LINES || at + MARGIN_LINES >= lines.len();
                if margin && (is_page_number(line) || running.contains(&shape(line))) {
                    continue;
                }
                prose.add(line);
            }
            prose.end();
            paragraphs.append(&mut prose.paragraphs);
        }
        paragraphs
    }

    /// Returns every line as a paragraph of its own, for documents without prose.
    pub(super) fn line_paragraphs(&self) -> Vec<Paragraph> {
        (1..)
            .zip(&self.pages)
            .flat_map(|(page, lines)| lines.iter().map(move |line| (page, line)))
            .filter(|(_, line)| !line.is_empty() && !is_page_number(line))
            .map(|(page, line)| Paragraph {
                page,
                text: line.clone(),
            })
            .collect()
    }

    /// Returns the shapes of lines that stand at the margin of many pages.
    fn running_lines(&self) -> HashSet<String> {
        let mut counts: HashMap<String, usize> = HashMap::new();
        for lines in &self.pages {
            let top = lines.iter().take(MARGIN_LINES);
            let bottom = lines.iter().skip(MARGIN_LINES).rev().take(MARGIN_LINES);
            let shapes: HashSet<String> = top
                .chain(bottom)
                .filter(|line| !line.is_empty())
                .map(|line| shape(line))
                .collect();
            for shape in shapes {
                *counts.entry(shape).or_default() += 1;
            }
        }
        // Left and right pages have different heads, so a third of the pages is many.
        let many = (self.pages.len() / 3).max(3);
        counts.retain(|_, count| *count >= many);
        counts.into_keys().collect()
    }
}

/// Gathers the paragraphs of a page.
struct Prose {
    page: usize,
    /// Characters of a full line of this page.
    full_line: usize,
    open: String,
    paragraphs: Vec<Paragraph>,
}

impl Prose {
    fn new(page: usize, lines: &[String]) -> Self {
        let mut lengths: Vec<usize> = lines
            .iter()
            .map(|line| line.chars().count())
            .filter(|length| *length > 0)
            .collect();
        lengths.sort_unstable();
        Self {
            page,
            full_line: lengths.get(lengths.len() * 8 / 10).copied().unwrap_or(0),
            open: String::new(),
            paragraphs: Vec::new(),
        }
    }

    fn add(&mut self, line: &str) {
        if line.is_empty() {
            self.end();
            return;
        }
        let bullet = line.trim_start_matches(['•', '●', '▪', '–', '■', '◆', '○', '・', '*']);
        if bullet.len() < line.len() {
            self.end();
            append(&mut self.open, bullet.trim_start());
            return;
        }
        let begins = self.open.is_empty() || ends_sentence(&self.open);
        if begins && self.is_heading(line) {
            self.end();
            return;
        }
        append(&mut self.open, line);
    }

    /// A heading is short, ends without a full stop and begins where no sentence is open.
    fn is_heading(&self, line: &str) -> bool {
        let length = line.chars().count();
        let short = length * 10 < self.full_line * 7 && length < 90;
        let capitals = line.chars().any(char::is_alphabetic)
            && !line
                .chars()
                .any(|character| character.is_lowercase() || is_unspaced(character));
        (short || capitals) && !ends_sentence(line) && !line.ends_with(['-', ',', '\u{2010}'])
    }

    fn end(&mut self) {
        let text = std::mem::take(&mut self.open);
        if !text.is_empty() {
            self.paragraphs.push(Paragraph {
                page: self.page,
                text,
            });
        }
    }
}

/// Joins a line to a text: words cut by a hyphen are made whole, scripts without spaces get none.
pub(super) fn append(text: &mut String, line: &str) {
    let Some(last) = text.chars().next_back() else {
        text.push_str(line);
        return;
    };
    let first = line.chars().next().unwrap_or(' ');
    let before_last = text.chars().rev().nth(1).unwrap_or(' ');
    if matches!(last, '-' | '\u{2010}') && before_last.is_lowercase() && first.is_lowercase() {
        text.pop();
    } else if !(is_unspaced(last) && is_unspaced(first)) && last != '-' {
        text.push(' ');
    }
    text.push_str(line);
}

/// Returns a line with single spaces, without ligatures and invisible characters.
fn clean(line: &str) -> String {
    let mut cleaned = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            'ﬀ' => cleaned.push_str("ff"),
            'ﬁ' => cleaned.push_str("fi"),
            'ﬂ' => cleaned.push_str("fl"),
            'ﬃ' => cleaned.push_str("ffi"),
            'ﬄ' => cleaned.push_str("ffl"),
            '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{feff}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {}
            character if character.is_whitespace() || character.is_control() => {
                if !cleaned.is_empty() && !cleaned.ends_with(' ') {
                    cleaned.push(' ');
                }
            }
            character => cleaned.push(character),
        }
    }
    cleaned.truncate(cleaned.trim_end().len());
    cleaned
}

pub(super) fn ends_sentence(text: &str) -> bool {
    text.trim_end_matches(['"', '”', '’', '\'', ')', ']', '」', '』', '）'])
        .ends_with(['.', '!', '?', '。', '！', '？', '．', '…'])
}

/// Returns a line with its digits made equal, so that "Page 3" and "Page 4" are the same head.
fn shape(line: &str) -> String {
    line.chars()
        .map(|character| {
            if character.is_numeric() {
                '0'
            } else {
                character
            }
        })
        .collect()
}

fn is_page_number(line: &str) -> bool {
    let letters = line
        .chars()
        .filter(|character| character.is_alphabetic())
        .count();
    let digits = line
        .chars()
        .filter(|character| character.is_numeric())
        .count();
    let lower = line.to_lowercase();
    let word = lower.starts_with("page") || lower.starts_with("p.") || lower.contains("ページ");
    line.chars().count() < 24 && digits > 0 && (letters == 0 || word)
}

fn is_references_heading(line: &str) -> bool {
    let name = line.trim_start_matches(|character: char| {
        character.is_numeric() || matches!(character, '.' | ' ' | '#' | '．')
    });
    let name = name.trim_end_matches([':', '.', '：']).to_lowercase();
    matches!(
        name.as_str(),
        "references"
            | "bibliography"
            | "works cited"
            | "literature cited"
            | "参考文献"
            | "引用文献"
            | "文献"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraphs(pages: &[&str]) -> Vec<String> {
        let pages: Vec<String> = pages.iter().map(|page| (*page).to_owned()).collect();
        let paragraphs = Layout::new(&pages).paragraphs();
        paragraphs
            .into_iter()
            .map(|paragraph| paragraph.text)
            .collect()
    }

    #[test]
    fn lines_become_paragraphs_without_furniture() {
        let page = |number: u32, word: &str| {
            format!(
                "Annals of Queues\n\n{number}.1 Waiting\nA queue that is dura-\nble keeps its jobs over a crash of the ma-\nchine, and eﬃcient ones keep them well.\n\nIt ends {word}, which is a line as long as others.\n{number}"
            )
        };
        let pages = [page(1, "here"), page(2, "there"), page(3, "nowhere")];
        let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
        let found = paragraphs(&pages);
        assert_eq!(found.len(), 6, "{found:#?}");
        assert_eq!(
            found[0],
            "A queue that is durable keeps its jobs over a crash of the machine, and efficient ones keep them well."
        );
        assert_eq!(found[1], "It ends here, which is a line as long as others.");
    }

    #[test]
    fn lines_of_japanese_are_joined_without_spaces() {
        let found = paragraphs(&["この文書は、長い待ち行列を\n扱う方法について述べる。"]);
        assert_eq!(
            found,
            ["この文書は、長い待ち行列を扱う方法について述べる。"]
        );
    }

    #[test]
    fn references_at_the_end_are_left_out() {
        let found = paragraphs(&[
            "One sentence of prose, long enough to stand here.\n\nReferences\n\n[1] Somebody. A paper about something. 1999.",
        ]);
        assert_eq!(found.len(), 1);
    }
}
