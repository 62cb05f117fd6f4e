//! Lines to paragraphs, so that sentences come out whole.
//!
//! A break of lines is one of three: made by the margin (the text goes on), meant (a list, a table,
//! verse: kept as a line break), or between paragraphs (a blank line).

use super::lines::Line;
use super::script;

/// Sizes differ when one is this many times the other.
const OTHER_SIZE: f64 = 1.12;

/// Farthest that two lines of a block stand apart, in ems.
const LEADING_AT_MOST: f64 = 2.4;

/// A distance between lines this many times the usual one begins a paragraph.
const PARAGRAPH_LEADING: f64 = 1.25;

/// An indent in ems that begins a paragraph, at least and at most.
const INDENT: std::ops::Range<f64> = 0.7..6.0;

/// How many ems of a line may stay empty where any character can begin the next one: some characters
/// must not, and take others along.
const IDEOGRAPH_SLACK: f64 = 2.2;

/// What stands between two lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Break {
    /// Nothing: the sentence goes on.
    Margin,
    /// A line break.
    Line,
    /// A blank line.
    Paragraph,
}

/// Lines that stand below each other at regular distances, with what they have in common.
struct Block<'lines> {
    lines: &'lines [Line],
    /// The usual distance of lines.
    leading: f64,
    left: f64,
    right: f64,
    /// Whether so many breaks are meant (as in verse) that all of them are.
    keeps_lines: bool,
}

/// Joins lines to the text of a page.
pub(super) fn join(lines: &[Line]) -> String {
    let blocks: Vec<Block<'_>> = lines.chunk_by(same_block).map(Block::of).collect();
    let mut text = String::new();
    for (index, block) in blocks.iter().enumerate() {
        if let Some(before) = index.checked_sub(1).map(|before| &blocks[before]) {
            append(
                &mut text,
                between_blocks(before, block),
                block.lines.first(),
            );
        } else {
            append(&mut text, Break::Paragraph, block.lines.first());
        }
        for pair in block.lines.windows(2) {
            append(&mut text, block.between(&pair[0], &pair[1]), pair.get(1));
        }
    }
    text.retain(|character| character != '\u{ad}');
    text.truncate(text.trim_end().len());
    text
}

fn same_block(one: &Line, next: &Line) -> bool {
    let distance = (next.across - one.across) / one.size.max(next.size);
    alike(one, next)
        && (0.3..LEADING_AT_MOST).contains(&distance)
        && next.start < one.end
        && one.start < next.end
}

/// Whether two lines run in one direction in letters of one size.
fn alike(one: &Line, other: &Line) -> bool {
    one.direction.dot(other.direction) > 0.95
        && one.size.max(other.size) < OTHER_SIZE * one.size.min(other.size)
}

impl<'lines> Block<'lines> {
    fn of(lines: &'lines [Line]) -> Self {
        let mut distances: Vec<f64> = lines
            .windows(2)
            .map(|pair| pair[1].across - pair[0].across)
            .collect();
        distances.sort_by(f64::total_cmp);
        // The lower middle: where half of the lines are paragraphs of one, the other half tells.
        let leading = distances
            .get(distances.len().saturating_sub(1) / 2)
            .copied()
            .unwrap_or_default();
        let mut block = Self {
            lines,
            leading,
            left: lines.iter().map(|line| line.start).fold(f64::MAX, f64::min),
            right: lines.iter().map(|line| line.end).fold(f64::MIN, f64::max),
            keeps_lines: false,
        };
        let meant = lines
            .windows(2)
            .filter(|pair| block.is_meant(&pair[0], &pair[1]))
            .count();
        block.keeps_lines = meant > 1 && 2 * meant >= lines.len() - 1;
        block
    }

    /// Decides between two lines of the block.
    fn between(&self, one: &Line, next: &Line) -> Break {
        let size = one.size.max(next.size);
        if next.across - one.across > self.leading * PARAGRAPH_LEADING + 0.05 * size
            || next.text.starts_with('\u{3000}')
        {
            return Break::Paragraph;
        }
        if script::begins_item(&next.text) || one.in_columns || next.in_columns {
            return Break::Line;
        }
        let indent = (next.start - self.left) / size;
        let hangs = script::begins_item(&one.text);
        if INDENT.contains(&indent) && (one.start - self.left) / size < 0.3 && !hangs {
            return Break::Paragraph;
        }
        if self.is_short(one, next) && script::ends_sentence(&one.text) {
            Break::Paragraph
        } else if self.is_meant(one, next) || (self.keeps_lines && !begins_small(&next.text)) {
            Break::Line
        } else {
            Break::Margin
        }
    }

    /// Whether the break was made for another reason than that the line or the paragraph was over.
    fn is_meant(&self, one: &Line, next: &Line) -> bool {
        self.is_short(one, next) && !script::ends_sentence(&one.text) && !begins_small(&next.text)
    }

    /// Whether the next line's first word would have found room on this one: the margin did not make the break.
    fn is_short(&self, line: &Line, next: &Line) -> bool {
        let ideographs = ends_with_cjk(&line.text) || begins_with_cjk(&next.text);
        let needed = if ideographs {
            IDEOGRAPH_SLACK * line.size
        } else {
            next.first_word + 0.3 * line.size
        };
        line.end + needed < self.right
    }
}

/// Decides between the last line of a block and the first of the next.
fn between_blocks(before: &Block<'_>, after: &Block<'_>) -> Break {
    let (Some(one), Some(next)) = (before.lines.last(), after.lines.first()) else {
        return Break::Paragraph;
    };
    let size = one.size.max(next.size);
    let distance = (next.across - one.across) / size;
    if alike(one, next) && distance.abs() < 0.3 {
        return Break::Line;
    }
    // From the foot of one column to the head of the next.
    let goes_on = alike(one, next)
        && distance < 0.0
        && !script::ends_sentence(&one.text)
        && !before.is_short(one, next)
        && (begins_small(&next.text)
            || (begins_with_cjk(&next.text)
                && ends_with_cjk(&one.text)
                && before.lines.len() > 1
                && (next.start - after.left) / size < 0.3));
    if goes_on {
        Break::Margin
    } else {
        Break::Paragraph
    }
}

/// Appends a line after what stands before it.
fn append(text: &mut String, between: Break, line: Option<&Line>) {
    let Some(line) = line.map(|line| line.text.trim()) else {
        return;
    };
    if !text.is_empty() {
        match between {
            Break::Paragraph => text.push_str("\n\n"),
            Break::Line => text.push('\n'),
            Break::Margin => join_at_margin(text, line),
        }
    }
    text.push_str(line);
}

/// Puts a space, or removes a hyphen, or neither.
fn join_at_margin(text: &mut String, next: &str) {
    if text.ends_with('\u{ad}') {
        text.pop();
        return;
    }
    if text.ends_with(['-', '\u{2010}']) {
        let word = text.rsplit(char::is_whitespace).next().unwrap_or_default();
        let stem = word.trim_end_matches(['-', '\u{2010}']);
        // `state-of-the-` and `1990-` keep their hyphen; only a word that was cut loses it.
        let cut = stem.ends_with(char::is_alphabetic)
            && !stem.contains(['-', '\u{2010}', '/', '@'])
            && begins_small(next);
        if cut {
            text.pop();
        }
        return;
    }
    if !ends_with_cjk(text) && !begins_with_cjk(next) {
        text.push(' ');
    }
}

fn begins_small(text: &str) -> bool {
    text.trim_start()
        .chars()
        .next()
        .is_some_and(char::is_lowercase)
}

fn begins_with_cjk(text: &str) -> bool {
    text.trim_start().chars().next().is_some_and(script::is_cjk)
}

fn ends_with_cjk(text: &str) -> bool {
    text.chars().next_back().is_some_and(script::is_cjk)
}

#[cfg(test)]
mod tests {
    use hayro::kurbo::Vec2;

    use super::*;

    /// A line of letters half an em wide, ems of 10.
    fn line(text: &str, start: f64, across: f64) -> Line {
        let width = |text: &str| {
            text.chars()
                .map(|c| if script::is_wide(c) { 10.0 } else { 5.0 })
                .sum::<f64>()
        };
        let first = text.split(' ').next().unwrap_or_default();
        Line {
            text: text.to_owned(),
            start,
            end: start + width(text),
            across,
            size: 10.0,
            first_word: width(first),
            in_columns: false,
            direction: Vec2::new(1.0, 0.0),
        }
    }

    fn joined(lines: &[(&str, f64, f64)]) -> String {
        let lines: Vec<Line> = lines
            .iter()
            .map(|(text, start, across)| line(text, *start, *across))
            .collect();
        join(&lines)
    }

    #[test]
    fn the_margin_is_not_a_break() {
        assert_eq!(
            joined(&[
                ("A sentence that runs on over the", 0.0, 0.0),
                ("margin and is hyphen-", 0.0, 12.0),
                ("ated too, with state-of-the-", 0.0, 24.0),
                ("art care.", 0.0, 36.0),
            ]),
            "A sentence that runs on over the margin and is hyphenated too, with state-of-the-art care."
        );
    }

    #[test]
    fn paragraphs_begin_after_a_gap_or_an_indent() {
        assert_eq!(
            joined(&[
                ("One paragraph of a few words.", 0.0, 0.0),
                ("It goes on, and on it goes to", 0.0, 12.0),
                ("After a gap comes one more in", 0.0, 32.0),
                ("which the margin is reached a", 0.0, 44.0),
                ("And an indent", 12.0, 56.0),
            ]),
            "One paragraph of a few words. It goes on, and on it goes to\n\n\
             After a gap comes one more in which the margin is reached a\n\nAnd an indent"
        );
    }

    #[test]
    fn lists_keep_their_lines() {
        assert_eq!(
            joined(&[
                ("Bring these things with you:", 0.0, 0.0),
                ("- a spade that is not broken", 0.0, 12.0),
                ("at the handle", 10.0, 24.0),
                ("- gloves", 0.0, 36.0),
            ]),
            "Bring these things with you:\n- a spade that is not broken at the handle\n- gloves"
        );
    }

    #[test]
    fn verse_keeps_its_lines() {
        assert_eq!(
            joined(&[
                ("Short", 0.0, 0.0),
                ("A rather longer line", 0.0, 12.0),
                ("End", 0.0, 24.0),
                ("Once more", 0.0, 36.0),
            ]),
            "Short\nA rather longer line\nEnd\nOnce more"
        );
    }

    #[test]
    fn japanese_lines_join_without_a_space() {
        assert_eq!(
            joined(&[
                ("　吾輩は猫である。名前はまだ無", 0.0, 0.0),
                ("い。どこで生れたか見当がつかぬ", 0.0, 16.0),
                ("　何でも", 0.0, 32.0),
            ]),
            "吾輩は猫である。名前はまだ無い。どこで生れたか見当がつかぬ\n\n何でも"
        );
    }

    #[test]
    fn a_sentence_goes_on_in_the_next_column() {
        assert_eq!(
            joined(&[
                ("The first column ends in the", 0.0, 100.0),
                ("middle of a sentence and goes", 0.0, 112.0),
                ("on in the second one here.", 200.0, 0.0),
            ]),
            "The first column ends in the middle of a sentence and goes on in the second one here."
        );
    }
}
