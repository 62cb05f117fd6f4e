//! Glyphs to lines, in the order of the content: that order is what most producers get right, and
//! guessing another from positions does more harm than good.

use hayro::kurbo::{Point, Vec2};

use super::collect::PlacedGlyph;
use super::script;

/// A glyph this many ems off the line is on another one.
const OFF_LINE: f64 = 0.45;

/// So far may a smaller glyph be off when it directly follows: a superscript or an index.
const RAISED: f64 = 0.75;

/// How many times smaller it is at least.
const SMALLER: f64 = 0.8;

/// A glyph this many ems before the end of the last one begins another line.
const BACKWARDS: f64 = 1.5;

/// Gap between words, in ems.
const WORD_GAP: f64 = 0.14;

/// Gap that is meant as a space where words are not separated, in ems: a quarter is usual between
/// ideographs and letters and means nothing.
const IDEOGRAPH_GAP: f64 = 0.6;

/// Gap that is more than one between words, in ems: between the columns of a table.
const COLUMN_GAP: f64 = 1.5;

/// A line of text and where it stands, measured along and across its direction of writing.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    /// Its text, with single spaces between words; may begin with an ideographic space.
    pub(super) text: String,
    /// Where it begins.
    pub(super) start: f64,
    /// Where it ends.
    pub(super) end: f64,
    /// Where it stands across: larger for the lines that follow, in vertical writing too.
    pub(super) across: f64,
    /// The height of an em: the median of its glyphs.
    pub(super) size: f64,
    /// How long its first word is, with the space before it.
    pub(super) first_word: f64,
    /// Whether it has gaps as between the columns of a table.
    pub(super) in_columns: bool,
    /// The direction of writing.
    pub(super) direction: Vec2,
}

/// Groups glyphs into lines.
pub(super) fn find(mut glyphs: Vec<PlacedGlyph>) -> Vec<Line> {
    for glyph in &mut glyphs {
        if glyph.advance <= 0.0 {
            let width = |c| if script::is_wide(c) { 1.0 } else { 0.5 };
            glyph.advance = glyph.size * glyph.text.chars().map(width).sum::<f64>();
        }
    }
    // Some programs fill the place of a ligature's second letter with a blank.
    glyphs.dedup_by(|next, one| {
        let end = (next.origin - one.origin).dot(one.direction) + next.advance;
        next.text == " " && !one.text.trim().is_empty() && (0.0..one.advance * 1.02).contains(&end)
    });
    glyphs
        .chunk_by(|one, next| !breaks(one, next))
        .filter_map(line)
        .collect()
}

/// Whether a new line begins between two glyphs.
fn breaks(one: &PlacedGlyph, next: &PlacedGlyph) -> bool {
    if one.vertical != next.vertical || one.direction.dot(next.direction) < 0.95 {
        return true;
    }
    let size = one.size.max(next.size);
    let step = next.origin - one.origin;
    let along = step.dot(one.direction);
    let across = step.dot(downwards(one.direction));
    let raised = one.size.min(next.size) < SMALLER * size
        && (along - one.advance).abs() < 0.5 * size
        && across.abs() < RAISED * size;
    (across.abs() > OFF_LINE * size && !raised) || along - one.advance.min(size) < -BACKWARDS * size
}

/// The direction in which the lines follow each other.
fn downwards(direction: Vec2) -> Vec2 {
    Vec2::new(-direction.y, direction.x)
}

fn line(glyphs: &[PlacedGlyph]) -> Option<Line> {
    let first = glyphs.first()?;
    let direction = first.direction;
    let along = |point: Point| point.to_vec2().dot(direction);

    let word_gap = word_gap(glyphs);
    let mut text = String::new();
    let mut first_word = None;
    let mut in_columns = false;
    let mut ends: Vec<f64> = Vec::with_capacity(glyphs.len());
    for (index, glyph) in glyphs.iter().enumerate() {
        let begins = along(glyph.origin);
        if let Some(before) = index.checked_sub(1).map(|before| &glyphs[before]) {
            let gap = begins - along(before.origin) - before.advance;
            let size = before.size.max(glyph.size);
            let wanted = match (text.chars().next_back(), glyph.text.chars().next()) {
                (Some(one), Some(other)) if script::is_cjk(one) || script::is_cjk(other) => {
                    word_gap.max(IDEOGRAPH_GAP)
                }
                _ => word_gap,
            };
            if gap > wanted * size {
                // After the label of an item there is often a wide gap too.
                in_columns |= gap > COLUMN_GAP * size && text.trim().chars().count() > 3;
                push(&mut text, " ");
            }
        }
        push(&mut text, &glyph.text);
        if first_word.is_none() && ends_word(&text) {
            first_word = Some(begins + glyph.advance - along(first.origin));
        }
        ends.push(begins + glyph.advance);
    }
    let kept = text.trim_end().len();
    text.truncate(kept);
    if text.trim().is_empty() {
        return None;
    }
    let mut sizes: Vec<f64> = glyphs.iter().map(|glyph| glyph.size).collect();
    sizes.sort_by(f64::total_cmp);
    let start = along(first.origin);
    let end = ends.into_iter().fold(start, f64::max);
    Some(Line {
        text,
        start,
        end,
        across: first.origin.to_vec2().dot(downwards(direction)),
        size: sizes[sizes.len() / 2],
        first_word: first_word.unwrap_or(end - start),
        in_columns,
        direction,
    })
}

/// The gap that separates words in this line, in ems: wider where all letters are spaced out, as in
/// some headings.
fn word_gap(glyphs: &[PlacedGlyph]) -> f64 {
    let mut gaps: Vec<f64> = glyphs
        .windows(2)
        .filter(|pair| pair.iter().all(|glyph| !glyph.text.trim().is_empty()))
        .map(|pair| {
            let step = (pair[1].origin - pair[0].origin).dot(pair[0].direction);
            (step - pair[0].advance) / pair[0].size.max(pair[1].size)
        })
        .collect();
    if gaps.len() < 4 {
        return WORD_GAP;
    }
    gaps.sort_by(f64::total_cmp);
    let usual = gaps[gaps.len() / 2];
    if usual > WORD_GAP * 0.7 && usual < 2.0 {
        usual + WORD_GAP
    } else {
        WORD_GAP
    }
}

/// Appends, without doubling spaces.
fn push(text: &mut String, more: &str) {
    for character in more.chars() {
        let blank = character == ' ';
        if blank && (text.is_empty() || text.ends_with([' ', '\u{3000}'])) {
            continue;
        }
        text.push(character);
    }
}

/// Whether a line could be broken after this text.
fn ends_word(text: &str) -> bool {
    let text = text.trim_start();
    text.ends_with([' ', '-']) || text.chars().next_back().is_some_and(script::is_cjk)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Glyphs of half an em (full for ideographs) from (x, y) on.
    fn glyphs(text: &str, x: f64, y: f64, spacing: f64) -> Vec<PlacedGlyph> {
        let mut x = x;
        text.chars()
            .map(|character| {
                let advance = if script::is_wide(character) {
                    10.0
                } else {
                    5.0
                };
                let glyph = PlacedGlyph {
                    text: character.to_string(),
                    origin: Point::new(x, y),
                    direction: Vec2::new(1.0, 0.0),
                    advance,
                    size: 10.0,
                    vertical: false,
                };
                x += advance + spacing;
                glyph
            })
            .collect()
    }

    fn texts(glyphs: Vec<PlacedGlyph>) -> Vec<String> {
        find(glyphs).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn gaps_become_spaces_and_steps_become_lines() {
        let mut all = glyphs("two", 0.0, 0.0, 0.0);
        all.extend(glyphs("words", 18.0, 0.0, 0.0));
        all.extend(glyphs("below", 0.0, 12.0, 0.0));
        assert_eq!(texts(all), ["two words", "below"]);
    }

    #[test]
    fn spaced_letters_stay_one_word() {
        let mut all = glyphs("HEADING", 0.0, 0.0, 2.0);
        all.extend(glyphs("TWO", 55.0, 0.0, 2.0));
        assert_eq!(texts(all), ["HEADING TWO"]);
    }

    #[test]
    fn superscripts_stay_on_their_line() {
        let mut all = glyphs("note", 0.0, 10.0, 0.0);
        let mut mark = glyphs("1", 20.0, 4.0, 0.0);
        mark[0].size = 6.0;
        mark[0].advance = 3.0;
        all.extend(mark);
        all.extend(glyphs("more", 26.0, 10.0, 0.0));
        assert_eq!(texts(all), ["note1 more"]);
    }

    #[test]
    fn a_blank_within_a_ligature_is_none() {
        let mut all = glyphs("f", 0.0, 0.0, 0.0);
        all[0].text = "fi".to_owned();
        all.extend(glyphs(" ", 2.5, 0.0, 0.0));
        all[1].advance = 2.5;
        all.extend(glyphs("ve", 5.0, 0.0, 0.0));
        assert_eq!(texts(all), ["five"]);
    }

    #[test]
    fn ideographs_take_no_spaces() {
        let mut all = glyphs("日本語", 0.0, 0.0, 0.0);
        all.extend(glyphs("PDF", 32.5, 0.0, 0.0));
        all.extend(glyphs("文書", 50.0, 0.0, 0.0));
        assert_eq!(texts(all), ["日本語PDF文書"]);
    }

    #[test]
    fn vertical_columns_are_lines() {
        let column = |text: &str, x: f64| {
            text.chars()
                .enumerate()
                .map(|(index, character)| PlacedGlyph {
                    text: character.to_string(),
                    origin: Point::new(x, 10.0 * index as f64),
                    direction: Vec2::new(0.0, 1.0),
                    advance: 10.0,
                    size: 10.0,
                    vertical: true,
                })
                .collect::<Vec<_>>()
        };
        let mut all = column("右の行", 100.0);
        all.extend(column("左の行", 85.0));
        let lines = find(all);
        assert_eq!(lines.len(), 2);
        assert!(lines[0].across < lines[1].across);
    }

    #[test]
    fn blank_lines_are_none() {
        assert!(texts(glyphs("   ", 0.0, 0.0, 0.0)).is_empty());
    }
}
