//! The device that runs a page's content and keeps its glyphs.

use foldhash::{HashMap, HashMapExt as _};
use hayro::hayro_interpret::font::{Glyph, GlyphRun};
use hayro::hayro_interpret::hayro_cmap::{BfString, WritingMode};
use hayro::hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
};
use hayro::hayro_syntax::object::{Dict, String as PdfString};
use hayro::hayro_syntax::page::Page;
use hayro::kurbo::{Affine, BezPath, Point, Rect, Vec2};

use super::cid::CidFonts;
use super::script;

/// Most glyphs kept of a page.
const MAX_GLYPHS: usize = 400_000;

/// Glyph space per em, as the interpreter gives it for every kind of font.
const UNITS_PER_EM: f64 = 1000.0;

/// The same character drawn again within this many ems is the same character: bold made by drawing
/// twice, outlined after it was filled, or all blanks of a line once more.
const SAME_PLACE: f64 = 0.1;

/// Most glyphs of a cell that one is compared with.
const MOST_COMPARED: usize = 8;

/// Characters beside a picture that are no text of the page yet.
const CHARS_ON_A_PICTURE: usize = 20;

/// Longest replacement text of a marked sequence, in bytes.
const MAX_ACTUAL_TEXT: usize = 4 << 10;

/// A glyph with its characters and its place on the page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PlacedGlyph {
    /// Its characters: usually one; none when another glyph stands for it.
    pub(super) text: String,
    /// Where it begins, with y pointing down.
    pub(super) origin: Point,
    /// The direction of writing, of length 1.
    pub(super) direction: Vec2,
    /// How far the next glyph is away in that direction.
    pub(super) advance: f64,
    /// The height of its em.
    pub(super) size: f64,
    /// Whether it is written from top to bottom.
    pub(super) vertical: bool,
}

/// Collects the glyphs of one page.
pub(super) struct Collector {
    fonts: CidFonts,
    glyphs: Vec<PlacedGlyph>,
    /// The last glyph with text that begins in a cell of the page, by its index.
    places: HashMap<(i64, i64), u32>,
    /// For each glyph the one before it in its cell.
    before: Vec<Option<u32>>,
    /// For each open marked sequence: its replacement text, until the first glyph takes it.
    marked: Vec<Option<Replacement>>,
    total: usize,
    unknown: usize,
    pictured: bool,
}

/// The text that a marked sequence says it stands for.
struct Replacement {
    text: String,
    /// Whether a glyph has taken it.
    taken: bool,
    /// How many more glyphs it can stand for: a sequence that is never closed must not swallow the page.
    reach: usize,
}

impl Collector {
    /// Makes a collector for a page.
    pub(super) fn for_page(page: &Page<'_>) -> Self {
        Self {
            fonts: CidFonts::of(page.resources()),
            glyphs: Vec::new(),
            places: HashMap::new(),
            before: Vec::new(),
            marked: Vec::new(),
            total: 0,
            unknown: 0,
            pictured: false,
        }
    }

    /// All glyphs seen.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Those without a known character.
    pub(super) fn unknown(&self) -> usize {
        self.unknown
    }

    /// Whether the page has more glyphs than were kept.
    pub(super) fn overflowed(&self) -> bool {
        self.glyphs.len() >= MAX_GLYPHS
    }

    /// Whether the page has text worth the name. A few characters are, where nothing else is to be seen; on
    /// a picture they are a stamp or the number of a scanned page.
    pub(super) fn has_text(&self) -> bool {
        let characters = self.trusted_characters();
        characters > CHARS_ON_A_PICTURE || (characters > 0 && !self.pictured)
    }

    /// Counts the known characters that are not blank.
    fn trusted_characters(&self) -> usize {
        self.glyphs
            .iter()
            .flat_map(|glyph| glyph.text.chars())
            .filter(|character| !character.is_whitespace())
            .count()
    }

    /// Returns the glyphs in the order of the content.
    pub(super) fn into_glyphs(self) -> Vec<PlacedGlyph> {
        self.glyphs
    }

    fn add(&mut self, glyph: &Glyph<'_>, transform: Affine, vertical: bool) {
        let Some(place) = place(glyph, transform, vertical) else {
            return;
        };
        let replacement = self.marked.iter_mut().flatten().next();
        if let Some(replacement) = replacement.filter(|replacement| replacement.reach > 0) {
            replacement.reach -= 1;
            let text = if std::mem::replace(&mut replacement.taken, true) {
                String::new()
            } else {
                replacement.text.clone()
            };
            self.keep(PlacedGlyph { text, ..place });
            return;
        }
        let text = self.characters(glyph);
        let glyph = PlacedGlyph {
            text: text.unwrap_or_default(),
            ..place
        };
        if !self.is_repeated(&glyph) {
            self.unknown += usize::from(glyph.text.is_empty());
            self.keep(glyph);
        }
    }

    fn characters(&self, glyph: &Glyph<'_>) -> Option<String> {
        let known = match glyph.as_unicode() {
            Some(BfString::Char(character)) => clean(&[character]),
            Some(BfString::String(text)) => clean(&text.chars().collect::<Vec<_>>()),
            None => None,
        };
        known
            .or_else(|| clean(&[self.fonts.character(glyph)?]))
            .or_else(|| is_blank(glyph).then(|| " ".to_owned()))
    }

    /// Whether the same text was drawn at the same place before.
    ///
    /// A cell is as wide as the circle of places that count as the same, so that this lies in four cells at most.
    fn is_repeated(&self, glyph: &PlacedGlyph) -> bool {
        if glyph.text.is_empty() {
            return false;
        }
        let reach = reach(glyph);
        let span = |value: f64| {
            let (low, high) = (cell(value - reach, reach), cell(value + reach, reach));
            std::iter::once(low).chain((high != low).then_some(high))
        };
        span(glyph.origin.x).any(|column| {
            span(glyph.origin.y).any(|row| {
                let last = self.places.get(&(column, row)).copied();
                std::iter::successors(last, |index| self.before[*index as usize])
                    .take(MOST_COMPARED)
                    .any(|index| {
                        let other = &self.glyphs[index as usize];
                        other.text == glyph.text
                            && (other.origin - glyph.origin).hypot() < reach
                            && (other.size - glyph.size).abs() < reach
                    })
            })
        })
    }

    /// Keeps a glyph, and its place where it has text.
    fn keep(&mut self, glyph: PlacedGlyph) {
        self.total += 1;
        let before = match u32::try_from(self.glyphs.len()) {
            Ok(index) if !glyph.text.is_empty() => {
                let reach = reach(&glyph);
                let place = (cell(glyph.origin.x, reach), cell(glyph.origin.y, reach));
                self.places.insert(place, index)
            }
            _ => None,
        };
        self.before.push(before);
        self.glyphs.push(glyph);
    }
}

/// How far away the same text is the same glyph.
fn reach(glyph: &PlacedGlyph) -> f64 {
    (glyph.size * SAME_PLACE).max(1e-3)
}

/// The cell that a coordinate is in. Saturating: far outside of any page is all one place.
fn cell(value: f64, reach: f64) -> i64 {
    (value / (2.0 * reach)).floor() as i64
}

/// Where a glyph stands; `None` when it has no size or no place.
fn place(glyph: &Glyph<'_>, transform: Affine, vertical: bool) -> Option<PlacedGlyph> {
    let corner = transform * Point::ORIGIN;
    let right = transform * Point::new(UNITS_PER_EM, 0.0) - corner;
    let up = transform * Point::new(0.0, UNITS_PER_EM) - corner;
    let size = up.hypot();
    if !corner.is_finite() || !size.is_finite() || size < 1e-3 || right.hypot() < 1e-6 {
        return None;
    }
    let width = match glyph {
        Glyph::Outline(outline) => outline.advance_width(),
        Glyph::Type3(glyph) => glyph.advance_width(),
    }
    .map_or(0.0, |width| f64::from(width) / UNITS_PER_EM);
    Some(if vertical {
        // The origin lies half a width to the left of the line that the column hangs on.
        PlacedGlyph {
            text: String::new(),
            origin: corner + right * (width / 2.0),
            direction: -up / size,
            advance: size,
            size,
            vertical,
        }
    } else {
        PlacedGlyph {
            text: String::new(),
            origin: corner,
            direction: right / right.hypot(),
            advance: width * right.hypot(),
            size,
            vertical,
        }
    })
}

/// Makes the characters of a glyph plain; `None` when none of them says anything.
fn clean(characters: &[char]) -> Option<String> {
    let mut text = String::new();
    for character in characters {
        match script::plain(*character) {
            Some(plain) => text.push_str(plain),
            None if script::is_meaningless(*character) => {}
            None => text.push(*character),
        }
    }
    (!text.is_empty()).then_some(text)
}

/// Whether a glyph shows nothing, as spaces do.
fn is_blank(glyph: &Glyph<'_>) -> bool {
    match glyph {
        Glyph::Outline(outline) => {
            outline.advance_width().is_some_and(|width| width > 100.0)
                && outline.outline().elements().is_empty()
        }
        Glyph::Type3(_) => false,
    }
}

/// Decodes a text string of the file's.
fn decode(bytes: &[u8]) -> String {
    let utf16 = |big: bool| {
        let units = bytes[2..].chunks_exact(2).map(|pair| {
            let pair = [pair[0], pair[1]];
            if big {
                u16::from_be_bytes(pair)
            } else {
                u16::from_le_bytes(pair)
            }
        });
        char::decode_utf16(units).filter_map(Result::ok).collect()
    };
    match bytes {
        [0xfe, 0xff, ..] => utf16(true),
        [0xff, 0xfe, ..] => utf16(false),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        _ => bytes.iter().copied().map(char::from).collect(),
    }
}

impl<'a> Device<'a> for Collector {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, 'a>, props: DrawProps<'a>, _: &DrawMode) {
        let vertical = matches!(run.writing_mode(), WritingMode::Vertical);
        for glyph in run.glyphs() {
            if self.overflowed() {
                return;
            }
            self.add(glyph, props.transform * glyph.transform(), vertical);
        }
    }

    fn begin_marked_content(&mut self, _tag: &[u8], properties: Option<&Dict<'_>>) {
        let text = properties
            .and_then(|properties| properties.get::<PdfString<'_>>(b"ActualText"))
            .filter(|text| text.as_bytes().len() <= MAX_ACTUAL_TEXT)
            .map(|text| decode(text.as_bytes()));
        self.marked.push(text.map(|text| Replacement {
            reach: 16 + 4 * text.chars().count(),
            text: clean(&text.chars().collect::<Vec<_>>()).unwrap_or_default(),
            taken: false,
        }));
    }

    fn end_marked_content(&mut self) {
        self.marked.pop();
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'a>, _: &DrawMode) {}
    fn draw_rect(&mut self, _: &Rect, _: DrawProps<'a>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_clip_rect(&mut self, _: &Rect) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'a>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'a, '_>, _: ImageDrawProps<'a>) {
        self.pictured = true;
    }
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
