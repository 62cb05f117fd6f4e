//! How many bytes of a file each page needs, by which a long document is split.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use hayro::hayro_syntax::Pdf;
use hayro::hayro_syntax::object::{Array, Dict, MaybeRef, ObjRef, Object, ObjectIdentifier};
use hayro::hayro_syntax::xref::XRef;

/// Most objects that are followed.
const MAX_OBJECTS: usize = 2_000_000;

/// After this time no further object is followed.
const TIME_LIMIT: Duration = Duration::from_secs(4);

/// How many steps up the tree of pages are taken for what pages inherit.
const MAX_STEPS_UP: usize = 64;

/// Bytes of an object that is only a number, a name or the like.
const SMALL_OBJECT_BYTES: u64 = 24;

/// Bytes that objects take.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Weights {
    /// Those that several pages need.
    pub(super) shared: u64,
    /// Those that only this page needs, for each page.
    pub(super) own: Vec<u64>,
}

/// Weighs the pages. Where the file has more bytes than time allows to follow, the rest is spread evenly.
pub(super) fn weigh(pdf: &Pdf, file_bytes: u64) -> Weights {
    let pages = pdf.pages();
    let mut walk = Walk {
        xref: pdf.xref(),
        pages: pages
            .iter()
            .filter_map(|page| page.raw().obj_id())
            .collect(),
        owners: HashMap::new(),
        weights: Weights {
            shared: 0,
            own: vec![0; pages.len()],
        },
        ends: Instant::now() + TIME_LIMIT,
    };
    let mut parents = HashSet::new();
    for (index, page) in pages.iter().enumerate() {
        walk.inherited(page.raw(), &mut parents);
        let own = walk.weights.own[index].saturating_add(page.raw().data().len() as u64);
        walk.weights.own[index] = own;
        if !walk.follow(Owner::Page(index), vec![Object::Dict(page.raw().clone())]) {
            let weighed = walk.weights.own[..=index].iter().sum::<u64>() + walk.weights.shared;
            let rest = pages.len() - index;
            let each = file_bytes.saturating_sub(weighed) / rest as u64;
            for own in &mut walk.weights.own[index..] {
                *own = own.saturating_add(each);
            }
            break;
        }
    }
    walk.weights
}

/// Whose an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Page(usize),
    Shared,
}

struct Walk<'a> {
    xref: &'a XRef,
    pages: HashSet<ObjectIdentifier>,
    owners: HashMap<ObjectIdentifier, Owner>,
    weights: Weights,
    ends: Instant,
}

impl<'a> Walk<'a> {
    /// Follows what a page has from the nodes above it, once for each of these.
    fn inherited(&mut self, page: &Dict<'a>, seen: &mut HashSet<ObjectIdentifier>) {
        let mut parent = page.get_ref("Parent");
        for _ in 0..MAX_STEPS_UP {
            let Some(id) = parent.map(ObjectIdentifier::from) else {
                return;
            };
            if !seen.insert(id) {
                return;
            }
            let Some(node) = self.xref.get::<Dict<'a>>(id) else {
                return;
            };
            let mut waiting = Vec::new();
            match node.get_raw::<Object<'a>>("Resources") {
                Some(MaybeRef::Ref(id)) => self.reach(Owner::Shared, id, &mut waiting),
                Some(MaybeRef::NotRef(resources)) => waiting.push(resources),
                None => {}
            }
            self.follow(Owner::Shared, waiting);
            parent = node.get_ref("Parent");
        }
    }

    /// Follows everything that can be reached from these objects; says whether it came to an end.
    fn follow(&mut self, owner: Owner, mut waiting: Vec<Object<'a>>) -> bool {
        while let Some(object) = waiting.pop() {
            if self.owners.len() > MAX_OBJECTS || Instant::now() > self.ends {
                return false;
            }
            match object {
                Object::Dict(dictionary) => self.entries(owner, &dictionary, &mut waiting),
                Object::Stream(stream) => self.entries(owner, stream.dict(), &mut waiting),
                Object::Array(items) => self.items(owner, &items, &mut waiting),
                _ => {}
            }
        }
        true
    }

    fn entries(&mut self, owner: Owner, dictionary: &Dict<'a>, waiting: &mut Vec<Object<'a>>) {
        for key in dictionary.keys() {
            // They lead to other pages, and to what a part does without.
            if matches!(
                key.as_ref(),
                b"Parent"
                    | b"P"
                    | b"B"
                    | b"Dest"
                    | b"PieceInfo"
                    | b"Thumb"
                    | b"StructParent"
                    | b"Popup"
            ) {
                continue;
            }
            match dictionary.get_raw::<Object<'a>>(key.as_ref()) {
                Some(MaybeRef::Ref(id)) => self.reach(owner, id, waiting),
                Some(MaybeRef::NotRef(object)) => waiting.push(object),
                None => {}
            }
        }
    }

    fn items(&mut self, owner: Owner, items: &Array<'a>, waiting: &mut Vec<Object<'a>>) {
        for item in items.raw_iter() {
            match item {
                MaybeRef::Ref(id) => self.reach(owner, id, waiting),
                MaybeRef::NotRef(object) => waiting.push(object),
            }
        }
    }

    /// Counts an object that is referred to, unless it was counted so before.
    fn reach(&mut self, owner: Owner, id: ObjRef, waiting: &mut Vec<Object<'a>>) {
        let id = ObjectIdentifier::from(id);
        if self.pages.contains(&id) {
            return;
        }
        let before = self.owners.get(&id).copied();
        let owner = match before {
            None => owner,
            Some(Owner::Shared) => return,
            Some(before) if before == owner => return,
            Some(Owner::Page(_)) => Owner::Shared,
        };
        let Some(object) = self.xref.get::<Object<'a>>(id) else {
            return;
        };
        self.owners.insert(id, owner);
        let bytes = size(&object);
        if let Some(Owner::Page(page)) = before {
            let own = &mut self.weights.own[page];
            *own = own.saturating_sub(bytes);
        }
        match owner {
            Owner::Shared => self.weights.shared = self.weights.shared.saturating_add(bytes),
            Owner::Page(page) => {
                let own = &mut self.weights.own[page];
                *own = own.saturating_add(bytes);
            }
        }
        // What a shared object needs is met again by the page that met it the second time, and becomes
        // shared in its turn.
        waiting.push(object);
    }
}

/// How many bytes of the file an object takes.
fn size(object: &Object<'_>) -> u64 {
    match object {
        Object::Dict(dictionary) => dictionary.data().len() as u64,
        Object::Array(items) => items.data().len() as u64,
        Object::Stream(stream) => {
            let length = stream.dict().get::<i64>("Length").unwrap_or(0);
            u64::try_from(length).unwrap_or(0) + stream.dict().data().len() as u64
        }
        Object::String(text) => text.as_bytes().len() as u64,
        _ => SMALL_OBJECT_BYTES,
    }
}
