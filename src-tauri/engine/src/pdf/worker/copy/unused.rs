//! Resources that a page lists and never uses.
//!
//! Many programs list the images and fonts of a whole document once and let every page point to that list.
//! Without a look at what a page draws, each part would be as large as the whole.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId, Stream};

/// The lists that large things stand in.
const LISTS: [&[u8]; 2] = [b"XObject", b"Font"];

/// Most bytes that one stream of a page's content may unpack to.
const MAX_UNPACKED_BYTES: usize = 16 << 20;

/// Most things that are looked at within the resources of a page.
const MAX_LOOKED_AT: usize = 10_000;

/// Returns the resources of a page without the images, forms and fonts that its content doesn't name; `None`
/// when there are none of those, or when it can't be told.
pub(super) fn without_unused(
    document: &Document,
    resources: &Object,
    contents: &Object,
) -> Option<Dictionary> {
    let resources = dictionary(document, resources)?;
    let named = names(document, contents)?;
    let mut used = resources.clone();
    let mut unused = 0;
    for list in LISTS {
        let Some(entries) = entry(document, resources, list) else {
            continue;
        };
        let kept: Dictionary = entries
            .iter()
            .filter(|(name, _)| named.contains(name.as_slice()))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        unused += entries.len() - kept.len();
        used.set(list, kept);
    }
    (unused > 0 && !borrows(document, &used)).then_some(used)
}

fn dictionary<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Dictionary> {
    document.dereference(object).ok()?.1.as_dict().ok()
}

fn entry<'a>(
    document: &'a Document,
    dictionary: &'a Dictionary,
    key: &[u8],
) -> Option<&'a Dictionary> {
    dictionary.get_deref(key, document).ok()?.as_dict().ok()
}

/// Collects every name in a page's content; `None` when some of it can't be read.
fn names(document: &Document, contents: &Object) -> Option<HashSet<Vec<u8>>> {
    let contents = document.dereference(contents).ok()?.1;
    let streams = match contents {
        Object::Array(streams) => streams.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut names = HashSet::new();
    for stream in streams {
        let Ok(stream) = document.dereference(stream).ok()?.1.as_stream() else {
            return None;
        };
        let content = stream.decompressed_content_with_limit(MAX_UNPACKED_BYTES);
        // What looks like a name within a text or an image is taken for one: that keeps more, never less.
        for name in content.ok()?.split(|byte| *byte == b'/').skip(1) {
            let end = name.iter().position(|byte| is_delimiter(*byte));
            names.insert(unescaped(&name[..end.unwrap_or(name.len())]));
        }
    }
    Some(names)
}

fn is_delimiter(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\0\x0b()<>[]{}/%".contains(&byte)
}

/// Resolves `#20` and its like.
fn unescaped(name: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'#');
        let code = code.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &after[2..];
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

/// Says whether something in these resources has none of its own, and so uses those of its page.
fn borrows(document: &Document, resources: &Dictionary) -> bool {
    let mut seen: HashSet<ObjectId> = HashSet::new();
    let mut waiting = vec![resources];
    let mut looked_at = 0;
    while let Some(resources) = waiting.pop() {
        for list in [&b"XObject"[..], b"Font", b"Pattern", b"ExtGState"] {
            let entries = entry(document, resources, list);
            for (_, value) in entries.into_iter().flat_map(Dictionary::iter) {
                looked_at += 1;
                if looked_at > MAX_LOOKED_AT {
                    return true;
                }
                let Ok((id, object)) = document.dereference(value) else {
                    continue;
                };
                if id.is_some_and(|id| !seen.insert(id)) {
                    continue;
                }
                let Some(user) = user(document, object) else {
                    continue;
                };
                match entry(document, user, b"Resources") {
                    Some(own) => waiting.push(own),
                    None => return true,
                }
            }
        }
    }
    false
}

/// Returns what of an object draws something, and so needs resources.
fn user<'a>(document: &'a Document, object: &'a Object) -> Option<&'a Dictionary> {
    let is = |dictionary: &Dictionary, key: &[u8], word: &[u8]| matches!(dictionary.get(key), Ok(Object::Name(name)) if name == word);
    match object {
        Object::Stream(Stream { dict, .. }) => {
            let draws = is(dict, b"Subtype", b"Form") || dict.has(b"PatternType");
            draws.then_some(dict)
        }
        Object::Dictionary(font) if is(font, b"Subtype", b"Type3") => Some(font),
        Object::Dictionary(state) => {
            let mask = entry(document, state, b"SMask")?;
            let group = mask.get_deref(b"G", document).ok()?;
            Some(&group.as_stream().ok()?.dict)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use lopdf::{Stream, dictionary};

    use super::*;

    /// Resources with an image, a form and a font, of which the form has this dictionary.
    fn page(content: &str, form: Dictionary) -> (Document, Object, Object) {
        let mut document = Document::new();
        let image = document.add_object(Stream::new(dictionary! { "Subtype" => "Image" }, vec![]));
        let form = document.add_object(Stream::new(form, vec![]));
        let resources = dictionary! {
            "XObject" => dictionary! { "Im 1" => image, "Fm1" => form },
            "Font" => dictionary! { "F1" => dictionary! { "Subtype" => "Type1" } },
        };
        let content = document.add_object(Stream::new(Dictionary::new(), content.into()));
        (document, resources.into(), content.into())
    }

    fn kept(content: &str, form: Dictionary) -> Option<Vec<String>> {
        let (document, resources, contents) = page(content, form);
        let used = without_unused(&document, &resources, &contents)?;
        let lists = LISTS
            .iter()
            .filter_map(|list| used.get(list).ok()?.as_dict().ok());
        let names = lists.flat_map(|list| list.iter().map(|(name, _)| name));
        Some(
            names
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect(),
        )
    }

    fn whole_form() -> Dictionary {
        dictionary! { "Subtype" => "Form", "Resources" => Dictionary::new() }
    }

    #[test]
    fn what_is_not_named_is_left_out() {
        assert_eq!(
            kept("/Im#201 Do", whole_form()),
            Some(vec!["Im 1".to_owned()])
        );
        let both = Some(vec!["Fm1".to_owned(), "F1".to_owned()]);
        assert_eq!(kept("BT/F1 9 Tf(a)Tj ET/Fm1 Do", whole_form()), both);
        assert_eq!(kept("/Im#201 Do/Fm1 Do/F1 9 Tf", whole_form()), None);
    }

    #[test]
    fn everything_stays_where_a_form_draws_with_what_its_page_has() {
        let bare = dictionary! { "Subtype" => "Form" };
        assert_eq!(kept("/Fm1 Do", bare.clone()), None);
        // Unless that form isn't drawn.
        assert_eq!(kept("/F1 9 Tf", bare), Some(vec!["F1".to_owned()]));
    }
}
