//! What a PDF tells besides its pages: its title, attachments, and what its form may hide.

use std::time::{Duration, Instant};

use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Array, Dict, Name, Object, Stream, String as PdfString};

use super::structure::Structure;
use super::{cipher, kind};
use crate::model::{DocumentFacts, Encryption};

/// Longest title, in characters.
const MAX_TITLE_CHARS: usize = 300;

/// Longest list of properties in XML that is searched for a title, in bytes.
const MAX_XML_BYTES: usize = 1 << 20;

/// Most nodes of a tree (of attachments, of fields, of pages with notes) that are visited.
const MAX_NODES: usize = 20_000;

/// After this time no further page is looked at for attachments.
const TIME_LIMIT: Duration = Duration::from_millis(500);

/// Collects the facts that need no text.
pub(super) fn collect(content: &[u8], structure: &Structure) -> DocumentFacts {
    let root = structure.pdf.as_ref().and_then(root);
    let title = structure
        .title
        .as_deref()
        .and_then(tidy)
        .or_else(|| tidy(&title_in_xml(root.as_ref()?)?));
    DocumentFacts {
        title,
        cipher: (structure.encryption != Encryption::None)
            .then(|| cipher::name(content))
            .flatten(),
        attachments: root
            .as_ref()
            .map_or(0, embedded_files)
            .saturating_add(structure.pdf.as_ref().map_or(0, files_on_pages)),
        fields_unseen: root.as_ref().map_or(0, fields_unseen),
        linearized: kind::linearized(content) == Some(content.len() as u64),
        bytes_before: u32::try_from(kind::bytes_before(content)).unwrap_or(u32::MAX),
        repaired: structure.repaired,
        pages_uncertain: structure.uncertain,
        ..DocumentFacts::default()
    }
}

fn root(pdf: &Pdf) -> Option<Dict<'_>> {
    pdf.xref().get::<Dict<'_>>(pdf.xref().root_id())
}

/// Makes a title one line of a bearable length; `None` when nothing is left of it.
fn tidy(title: &str) -> Option<String> {
    let plain: String = title
        .chars()
        .map(|character| {
            if character.is_control() {
                ' '
            } else {
                character
            }
        })
        // Marks that turn the direction of the text around it, or that nobody sees.
        .filter(|character| {
            !matches!(character, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffd}')
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let title: String = words.join(" ").chars().take(MAX_TITLE_CHARS).collect();
    (!title.is_empty()).then_some(title)
}

/// Looks for `dc:title` in the list of properties that is XML.
fn title_in_xml(root: &Dict<'_>) -> Option<String> {
    let stream = root.get::<Stream<'_>>("Metadata")?;
    if stream.dict().get::<i64>("Length")? > MAX_XML_BYTES as i64 {
        return None;
    }
    let decoded = stream.decoded().ok()?;
    let text = String::from_utf8_lossy(&decoded[..decoded.len().min(MAX_XML_BYTES)]);
    let (_, title) = text.split_once("<dc:title")?;
    let (title, _) = title.split_once("</dc:title>")?;
    let (_, item) = title.split_once("<rdf:li")?;
    let (_, item) = item.split_once('>')?;
    let (item, _) = item.split_once("</rdf:li>")?;
    Some(unescape(item))
}

fn unescape(text: &str) -> String {
    // The ampersand comes last, so that nothing is unescaped twice.
    [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Counts the files of the tree of attachments.
fn embedded_files(root: &Dict<'_>) -> u32 {
    let tree = root
        .get::<Dict<'_>>("Names")
        .and_then(|names| names.get::<Dict<'_>>("EmbeddedFiles"));
    let mut nodes: Vec<Dict<'_>> = tree.into_iter().collect();
    let (mut files, mut seen) = (0_u32, 0);
    while let Some(node) = nodes.pop() {
        seen += 1;
        if seen > MAX_NODES {
            break;
        }
        if let Some(names) = node.get::<Array<'_>>("Names") {
            let pairs = names.raw_iter().take(MAX_NODES).count() / 2;
            files = files.saturating_add(u32::try_from(pairs).unwrap_or(u32::MAX));
        }
        if let Some(kids) = node.get::<Array<'_>>("Kids") {
            nodes.extend(kids.iter::<Dict<'_>>().take(MAX_NODES));
        }
    }
    files
}

/// Counts the files that are pinned to pages.
fn files_on_pages(pdf: &Pdf) -> u32 {
    let started = Instant::now();
    let mut files = 0;
    let mut seen = 0;
    for page in pdf.pages().iter() {
        let Some(notes) = page.raw().get::<Array<'_>>("Annots") else {
            continue;
        };
        for note in notes.iter::<Dict<'_>>() {
            seen += 1;
            if seen > MAX_NODES || started.elapsed() > TIME_LIMIT {
                return files;
            }
            let kind = note.get::<Name<'_>>("Subtype");
            files += u32::from(kind.is_some_and(|kind| kind.as_ref() == b"FileAttachment"));
        }
    }
    files
}

/// A node of the tree of fields, with what it inherits.
struct Node<'a> {
    dictionary: Dict<'a>,
    filled: bool,
    kind: Option<Vec<u8>>,
}

/// Counts the filled-in fields whose values may not be seen: they have no appearance, or the file says that
/// appearances are still to be made.
fn fields_unseen(root: &Dict<'_>) -> u32 {
    let Some(form) = root.get::<Dict<'_>>("AcroForm") else {
        return 0;
    };
    let stale = form.get::<bool>("NeedAppearances").unwrap_or(false);
    let Some(fields) = form.get::<Array<'_>>("Fields") else {
        return 0;
    };
    let node = |dictionary| Node {
        dictionary,
        filled: false,
        kind: None,
    };
    let mut nodes: Vec<Node<'_>> = fields
        .iter::<Dict<'_>>()
        .take(MAX_NODES)
        .map(node)
        .collect();
    let (mut unseen, mut seen) = (0, 0);
    while let Some(Node {
        dictionary,
        filled,
        kind,
    }) = nodes.pop()
    {
        seen += 1;
        if seen > MAX_NODES {
            break;
        }
        let filled = dictionary
            .get::<Object<'_>>("V")
            .map_or(filled, |value| is_filled(&value));
        let kind = dictionary
            .get::<Name<'_>>("FT")
            .map(|kind| kind.as_ref().to_vec())
            .or(kind);
        let kids: Vec<Dict<'_>> = dictionary
            .get::<Array<'_>>("Kids")
            .map(|kids| kids.iter::<Dict<'_>>().take(MAX_NODES).collect())
            .unwrap_or_default();
        if !kids.is_empty() {
            nodes.extend(kids.into_iter().map(|dictionary| Node {
                dictionary,
                filled,
                kind: kind.clone(),
            }));
            continue;
        }
        let is_signature = kind.as_deref() == Some(b"Sig");
        // A button shows its state by the appearance that it chooses, which is there or not.
        let is_button = kind.as_deref() == Some(b"Btn");
        let shown = dictionary
            .get::<Dict<'_>>("AP")
            .is_some_and(|appearance| appearance.contains_key("N"));
        if filled && !is_signature && (!shown || (stale && !is_button)) {
            unseen += 1;
        }
    }
    unseen
}

fn is_filled(value: &Object<'_>) -> bool {
    match value {
        Object::String(text) => is_text(text),
        Object::Name(name) => name.as_ref() != b"Off",
        Object::Stream(_) => true,
        Object::Array(chosen) => chosen.iter::<PdfString<'_>>().any(|text| is_text(&text)),
        _ => false,
    }
}

/// Whether a text string holds more than the mark of its encoding.
fn is_text(text: &PdfString<'_>) -> bool {
    !matches!(text.as_bytes(), [] | [0xfe, 0xff] | [0xef, 0xbb, 0xbf])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_one_bearable_line() {
        assert_eq!(
            tidy(" A\r\n\ttitle\u{0} \u{202e}x ").as_deref(),
            Some("A title x")
        );
        assert_eq!(tidy(" \u{feff}\n"), None);
        assert_eq!(tidy(&"ab".repeat(400)).unwrap().chars().count(), 300);
    }

    #[test]
    fn xml_is_unescaped_once() {
        assert_eq!(unescape("a &amp;lt; b &lt; c"), "a &lt; b < c");
    }
}
