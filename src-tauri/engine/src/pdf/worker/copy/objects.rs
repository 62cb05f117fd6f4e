//! Pages copied object by object.

use std::collections::{HashMap, HashSet};

use lopdf::{Dictionary, Document, LoadOptions, Object, ObjectId, Stream, dictionary};

use super::fields::Fields;
use super::unused;

/// Most bytes that one stream of the file's structure may unpack to.
const MAX_UNPACKED_BYTES: usize = 64 << 20;

/// Most levels of the page tree that a page inherits from.
const MAX_LEVELS: usize = 64;

/// Most levels of arrays and dictionaries within one object.
const MAX_DEPTH: usize = 200;

/// Where a page lists what it draws with.
const RESOURCES: &[u8] = b"Resources";

/// What a page may leave to the nodes above it.
const INHERITED: [&[u8]; 4] = [RESOURCES, b"MediaBox", b"CropBox", b"Rotate"];

/// Most bytes that are packed in one copy.
const MAX_PACKED_BYTES: usize = 32 << 20;

/// What a page has that nobody who reads it needs, and that leads to everything else of the file.
const OF_PAGES: [&[u8]; 10] = [
    b"Parent",
    b"B",
    b"PieceInfo",
    b"Thumb",
    b"StructParents",
    b"Metadata",
    b"AA",
    b"AF",
    b"SeparationInfo",
    b"PresSteps",
];

/// The same of a stream, whose own dictionary never lists resources by name.
const OF_STREAMS: [&[u8]; 5] = [
    b"PieceInfo",
    b"Metadata",
    b"StructParents",
    b"StructParent",
    b"AF",
];

/// The same of an annotation: attached files, sounds and films.
const OF_ANNOTATIONS: [&[u8]; 8] = [
    b"FS",
    b"Sound",
    b"Movie",
    b"3DD",
    b"RichMediaContent",
    b"AA",
    b"AF",
    b"StructParent",
];

/// Opens a file; gives nothing when it can't, or only in part.
pub(super) fn load(content: &[u8], password: Option<&str>) -> Option<Document> {
    let mut options = LoadOptions::with_max_decompressed_size(MAX_UNPACKED_BYTES);
    options.password = password.map(str::to_owned);
    let document = Document::load_mem_with_options(content, options).ok()?;
    // Without a usable password a document loads all the same, with nothing in it.
    (!document.is_encrypted() || document.was_encrypted()).then_some(document)
}

/// Makes a document of these pages and of what they need. Objects are moved into it rather than doubled.
pub(super) fn copy(mut source: Document, pages: &[ObjectId]) -> Document {
    let fields = Fields::of(&source, pages);
    let form = fields.form(&source);
    let layers = source
        .catalog()
        .and_then(|catalog| catalog.get_deref(b"OCProperties", &source))
        .cloned();
    let inherited = inherited(&source, pages);
    let version = std::mem::take(&mut source.version);

    let mut copier = Copier {
        source,
        fields,
        out: Document::with_version(readable(version)),
        copied: HashMap::new(),
        waiting: Vec::new(),
    };
    let tree = copier.out.new_object_id();
    let mut kids = Vec::with_capacity(pages.len());
    for page in pages {
        let id = copier.out.new_object_id();
        // A page that stands in the tree twice is copied twice, and links lead to the first.
        copier.copied.entry(*page).or_insert(id);
        kids.push(id);
    }
    let shared = copier.share(&inherited);
    for (index, page) in pages.iter().enumerate() {
        let page = copier.page(*page, &inherited[index], &shared, tree);
        copier.out.objects.insert(kids[index], page);
    }
    let mut catalog = dictionary! { "Type" => "Catalog", "Pages" => tree };
    if let Some(form) = form {
        catalog.set("AcroForm", copier.renumbered(Object::Dictionary(form)));
    }
    if let Ok(layers) = layers {
        catalog.set("OCProperties", copier.renumbered(layers));
    }
    copier.finish_waiting();

    let mut out = copier.out;
    let count = i64::try_from(kids.len()).unwrap_or(i64::MAX);
    let kids: Vec<Object> = kids.into_iter().map(Object::Reference).collect();
    let node = dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count };
    out.objects.insert(tree, node.into());
    let root = out.add_object(catalog);
    out.trailer.set("Root", root);
    pack(&mut out);
    out
}

/// A value that a page has from a node above it, and which node that is.
struct Inherited {
    key: &'static [u8],
    value: Object,
    of: ObjectId,
}

/// Finds what each page inherits. Where not all pages are copied, a page has no more resources than it uses.
fn inherited(source: &Document, pages: &[ObjectId]) -> Vec<Vec<Inherited>> {
    let all = source.page_iter().take(pages.len() + 1).count() == pages.len();
    let of = |page: &ObjectId| {
        let own = source.get_dictionary(*page).ok();
        let missing = INHERITED
            .iter()
            .filter(|key| own.is_some_and(|own| !own.has(key)));
        let mut inherited: Vec<Inherited> = missing
            .filter_map(|key| above(source, *page, key))
            .collect();
        if !all && let Some(used) = own.and_then(|own| used(source, own, &inherited)) {
            inherited.retain(|one| one.key != RESOURCES);
            inherited.push(Inherited {
                key: RESOURCES,
                value: used.into(),
                of: *page,
            });
        }
        inherited
    };
    pages.iter().map(of).collect()
}

/// Returns the resources that a page uses, where it has more.
fn used(source: &Document, page: &Dictionary, inherited: &[Inherited]) -> Option<Dictionary> {
    let above = inherited.iter().find(|one| one.key == RESOURCES);
    let resources = above.map_or_else(|| page.get(RESOURCES).ok(), |one| Some(&one.value))?;
    unused::without_unused(source, resources, page.get(b"Contents").ok()?)
}

fn above(source: &Document, page: ObjectId, key: &'static [u8]) -> Option<Inherited> {
    let mut node = page;
    for _ in 0..MAX_LEVELS {
        let dictionary = source.get_dictionary(node).ok()?;
        if let Ok(value) = dictionary.get(key) {
            let value = value.clone();
            return Some(Inherited {
                key,
                value,
                of: node,
            });
        }
        node = dictionary.get(b"Parent").ok()?.as_reference().ok()?;
    }
    None
}

/// The version of a file, when it is one.
fn readable(version: String) -> String {
    let known = ["1.4", "1.5", "1.6", "1.7", "2.0"];
    if known.contains(&version.as_str()) {
        version
    } else if version.starts_with("1.") {
        "1.5".to_owned()
    } else {
        "1.7".to_owned()
    }
}

struct Copier {
    source: Document,
    fields: Fields,
    out: Document,
    /// The new number of what is copied, or waits to be.
    copied: HashMap<ObjectId, ObjectId>,
    waiting: Vec<ObjectId>,
}

impl Copier {
    /// Makes one object of each dictionary of resources that pages inherit, so that not each page has its own.
    fn share(&mut self, inherited: &[Vec<Inherited>]) -> HashMap<ObjectId, ObjectId> {
        let mut shared = HashMap::new();
        for one in inherited.iter().flatten() {
            if one.key == RESOURCES && one.value.as_dict().is_ok() && !shared.contains_key(&one.of)
            {
                let resources = self.renumbered(one.value.clone());
                shared.insert(one.of, self.out.add_object(resources));
            }
        }
        shared
    }

    fn page(
        &mut self,
        id: ObjectId,
        inherited: &[Inherited],
        shared: &HashMap<ObjectId, ObjectId>,
        tree: ObjectId,
    ) -> Object {
        let mut page = self.source.get_dictionary(id).cloned().unwrap_or_default();
        for key in OF_PAGES {
            page.remove(key);
        }
        let mut resources = None;
        for one in inherited {
            match shared.get(&one.of) {
                Some(id) if one.key == RESOURCES => {
                    // Its own, if it has any, would bring along what it doesn't use.
                    page.remove(RESOURCES);
                    resources = Some(*id);
                }
                _ => page.set(one.key, one.value.clone()),
            }
        }
        self.renumber_entries(&mut page, 0);
        if let Some(resources) = resources {
            page.set("Resources", resources);
        }
        if !page.has(b"Resources") {
            page.set("Resources", Dictionary::new());
        }
        if !page.has(b"MediaBox") {
            // What readers take a page to be that doesn't say its size.
            page.set("MediaBox", [0, 0, 612, 792].map(Object::from).to_vec());
        }
        page.set("Type", "Page");
        page.set("Parent", tree);
        page.into()
    }

    /// Copies what is referred to, and what that refers to, until nothing is left. Each object of the
    /// source is taken once at most.
    fn finish_waiting(&mut self) {
        while let Some(id) = self.waiting.pop() {
            let Some(mut object) = self.source.objects.remove(&id) else {
                continue;
            };
            match &mut object {
                Object::Dictionary(dictionary) => {
                    self.fields.prune(&self.source, id, dictionary);
                }
                Object::Stream(stream) => strip_stream(stream),
                _ => {}
            }
            let object = self.renumbered(object);
            self.out.objects.insert(self.copied[&id], object);
        }
    }

    fn renumbered(&mut self, mut object: Object) -> Object {
        self.renumber(&mut object, 0);
        object
    }

    fn renumber(&mut self, object: &mut Object, depth: usize) {
        match object {
            _ if depth > MAX_DEPTH => *object = Object::Null,
            Object::Reference(id) => {
                *object = self.reference(*id).map_or(Object::Null, Object::Reference);
            }
            Object::Array(items) => {
                for item in items {
                    self.renumber(item, depth + 1);
                }
            }
            Object::Dictionary(dictionary) => self.renumber_entries(dictionary, depth),
            Object::Stream(stream) => self.renumber_entries(&mut stream.dict, depth),
            _ => {}
        }
    }

    fn renumber_entries(&mut self, dictionary: &mut Dictionary, depth: usize) {
        if dictionary.has(b"Rect") && dictionary.has(b"Subtype") {
            for key in OF_ANNOTATIONS {
                dictionary.remove(key);
            }
        }
        for (_, value) in dictionary.iter_mut() {
            self.renumber(value, depth + 1);
        }
    }

    /// Returns the new number of an object; none for what is not copied: what isn't there, other pages, and
    /// what leads to them.
    fn reference(&mut self, id: ObjectId) -> Option<ObjectId> {
        if let Some(copied) = self.copied.get(&id) {
            return Some(*copied);
        }
        let target = self.source.objects.get(&id)?;
        if let Ok(dictionary) = target.as_dict()
            && (is_structure(dictionary) || self.fields.is_of_others(id, dictionary))
        {
            return None;
        }
        let copied = self.out.new_object_id();
        self.copied.insert(id, copied);
        self.waiting.push(id);
        Some(copied)
    }
}

/// Packs streams that are not packed yet, as long as that takes no time to speak of. What is large and not
/// packed by who made it is seldom worth it.
fn pack(document: &mut Document) {
    let mut room = MAX_PACKED_BYTES;
    for object in document.objects.values_mut() {
        if let Object::Stream(stream) = object
            && stream.content.len() <= room
            && !stream.dict.has(b"Filter")
        {
            room -= stream.content.len();
            // A stream that can't be packed stays as it is.
            let _ = stream.compress();
        }
    }
}

fn is_structure(dictionary: &Dictionary) -> bool {
    let names: [&[u8]; 5] = [
        b"Page",
        b"Pages",
        b"Catalog",
        b"StructTreeRoot",
        b"StructElem",
    ];
    matches!(dictionary.get(b"Type"), Ok(Object::Name(name)) if names.contains(&name.as_slice()))
}

fn strip_stream(stream: &mut Stream) {
    for key in OF_STREAMS {
        stream.dict.remove(key);
    }
    // The length may be an object of its own, or wrong in a file that had to be repaired.
    let length = i64::try_from(stream.content.len()).unwrap_or(i64::MAX);
    stream.dict.set("Length", length);
    decrypted(&mut stream.dict);
}

/// Removes the filter that says how a stream was encrypted, and what belongs to it.
fn decrypted(dictionary: &mut Dictionary) {
    let is_crypt = |filter: &Object| matches!(filter, Object::Name(name) if name == b"Crypt");
    let positions: HashSet<usize> = match dictionary.get(b"Filter") {
        Ok(filter) if is_crypt(filter) => {
            dictionary.remove(b"Filter");
            dictionary.remove(b"DecodeParms");
            return;
        }
        Ok(Object::Array(filters)) => {
            let crypt = filters.iter().enumerate().filter(|(_, one)| is_crypt(one));
            crypt.map(|(position, _)| position).collect()
        }
        _ => return,
    };
    for key in [&b"Filter"[..], b"DecodeParms"] {
        if let Ok(Object::Array(items)) = dictionary.get_mut(key) {
            let mut position = 0..;
            items.retain(|_| position.next().is_none_or(|at| !positions.contains(&at)));
        }
    }
}
