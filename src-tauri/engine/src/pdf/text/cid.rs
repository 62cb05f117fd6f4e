//! Characters for composite fonts that carry no table of them, as older Japanese files have.
//!
//! Such a font names a character collection of Adobe's (`Japan1`, `GB1`, …). The predefined CMap from
//! UTF-16 to that collection, read backwards, gives the characters.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use hayro::hayro_interpret::font::Glyph;
use hayro::hayro_interpret::hayro_cmap::{CMap, CMapName, CidFamily, load_embedded};
use hayro::hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};
use hayro::hayro_syntax::page::Resources;

/// How deep forms within forms are searched for fonts.
const FORM_DEPTH: usize = 2;

/// Most fonts taken from a page.
const MAX_FONTS: usize = 256;

/// A character for each glyph number of a collection.
type Characters = HashMap<u32, char>;

/// The fonts of a page that need this.
#[derive(Default)]
pub(super) struct CidFonts {
    fonts: Vec<CidFont>,
    collections: HashMap<Vec<u8>, Rc<OnceCell<Option<Characters>>>>,
}

struct CidFont {
    /// The PostScript name, without the tag of a subset.
    name: String,
    /// The ordering of its collection.
    ordering: Vec<u8>,
    /// From codes to glyph numbers; `None` when they are the same.
    encoding: Option<CMap>,
    characters: Rc<OnceCell<Option<Characters>>>,
}

impl CidFonts {
    /// Finds the fonts of a page's resources.
    pub(super) fn of(resources: &Resources<'_>) -> Self {
        let mut found = Self::default();
        found.add_all(&resources.fonts);
        found.add_forms(&resources.x_objects, FORM_DEPTH);
        found
    }

    fn add_forms(&mut self, objects: &Dict<'_>, depth: usize) {
        if depth == 0 {
            return;
        }
        for key in objects.keys() {
            if self.fonts.len() >= MAX_FONTS {
                return;
            }
            let Some(resources) = objects
                .get::<Stream<'_>>(&*key)
                .and_then(|form| form.dict().get::<Dict<'_>>(b"Resources"))
            else {
                continue;
            };
            if let Some(fonts) = resources.get::<Dict<'_>>(b"Font") {
                self.add_all(&fonts);
            }
            if let Some(inner) = resources.get::<Dict<'_>>(b"XObject") {
                self.add_forms(&inner, depth - 1);
            }
        }
    }

    fn add_all(&mut self, fonts: &Dict<'_>) {
        for key in fonts.keys() {
            if self.fonts.len() >= MAX_FONTS {
                return;
            }
            if let Some(font) = fonts.get::<Dict<'_>>(&*key) {
                self.add(&font);
            }
        }
    }

    fn add(&mut self, font: &Dict<'_>) -> Option<()> {
        if font.contains_key(b"ToUnicode") {
            return None;
        }
        let descendants = font.get::<Array<'_>>(b"DescendantFonts")?;
        let descendant = descendants.iter::<Dict<'_>>().next()?;
        let system = descendant.get::<Dict<'_>>(b"CIDSystemInfo")?;
        let ordering = system
            .get::<PdfString<'_>>(b"Ordering")?
            .as_bytes()
            .to_vec();
        family(&ordering).unicode_cmap()?;
        let encoding = match font.get::<Object<'_>>(b"Encoding") {
            Some(Object::Name(name)) if !name.as_str().starts_with("Identity") => {
                load(CMapName::from_bytes(name.as_ref()))
            }
            _ => None,
        };
        let name = font
            .get::<Name<'_>>(b"BaseFont")
            .map(|name| without_tag(name.as_str()).to_owned())
            .unwrap_or_default();
        let characters = Rc::clone(self.collections.entry(ordering.clone()).or_default());
        self.fonts.push(CidFont {
            name,
            ordering,
            encoding,
            characters,
        });
        Some(())
    }

    /// Returns the character of a glyph that has none of its own.
    pub(super) fn character(&self, glyph: &Glyph<'_>) -> Option<char> {
        let Glyph::Outline(outline) = glyph else {
            return None;
        };
        let only = self.fonts.first()?;
        let name = outline.font_data().and_then(|data| data.postscript_name);
        let code = outline.char_code();
        let font = match name {
            Some(name) => self
                .fonts
                .iter()
                .find(|font| !font.name.is_empty() && font.name.starts_with(without_tag(&name))),
            None => None,
        }
        // Fonts that are not embedded have no name here. A code of two bytes is not of a simple font.
        .or_else(|| (code > 0xff || self.fonts.len() == 1).then_some(only))?;
        let cid = match &font.encoding {
            Some(encoding) => (1..=4)
                .rev()
                .find_map(|length| encoding.lookup_cid_code(code, length))?,
            None => code,
        };
        font.characters
            .get_or_init(|| characters(&font.ordering))
            .as_ref()?
            .get(&cid)
            .copied()
    }
}

fn family(ordering: &[u8]) -> CidFamily {
    CidFamily::from_registry_ordering(b"Adobe", ordering)
}

fn load(name: CMapName<'_>) -> Option<CMap> {
    CMap::parse(load_embedded(name)?, load_embedded)
}

/// `ABCDEF+Name` is a subset of `Name`.
fn without_tag(name: &str) -> &str {
    match name.split_once('+') {
        Some((tag, rest)) if tag.len() == 6 => rest,
        _ => name,
    }
}

fn characters(ordering: &[u8]) -> Option<Characters> {
    let cmap = load(family(ordering).unicode_cmap()?)?;
    let mut characters = Characters::new();
    for scalar in (0x20_u32..0xd800).chain(0xe000..0x1_0000) {
        add(&mut characters, &cmap, scalar, scalar, 2);
    }
    for scalar in 0x2_0000_u32..0x3_0000 {
        let offset = scalar - 0x1_0000;
        let surrogates = ((0xd800 + (offset >> 10)) << 16) | (0xdc00 + (offset & 0x3ff));
        add(&mut characters, &cmap, scalar, surrogates, 4);
    }
    Some(characters)
}

fn add(characters: &mut Characters, cmap: &CMap, scalar: u32, code: u32, length: u8) {
    let cid = cmap.lookup_cid_code(code, length).filter(|cid| *cid != 0);
    let (Some(cid), Some(character)) = (cid, char::from_u32(scalar)) else {
        return;
    };
    let present = characters.entry(cid).or_insert(character);
    // Radicals come before the ideographs that they look like; the ideograph is what is meant.
    if matches!(u32::from(*present), 0x2e80..=0x2fdf) {
        *present = character;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_japanese_collection_is_read_backwards() {
        let characters = characters(b"Japan1").unwrap();
        // Numbers from Adobe's table of the collection.
        assert_eq!(characters.get(&843), Some(&'あ'));
        assert!(characters.values().any(|character| *character == '一'));
        assert!(!characters.values().any(|character| *character == '⼀'));
    }

    #[test]
    fn tags_of_subsets_are_dropped() {
        assert_eq!(without_tag("ABCDEF+Ryumin-Light"), "Ryumin-Light");
        assert_eq!(without_tag("A+B"), "A+B");
    }
}
