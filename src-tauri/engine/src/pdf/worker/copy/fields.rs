//! Which fields of a form belong to the pages that are copied.
//!
//! A field may have boxes on many pages, and each leads to all others by way of the field. Only the boxes on
//! copied pages, and what stands above them, are taken along.

use std::collections::HashSet;

use lopdf::{Dictionary, Document, Object, ObjectId};

/// Most levels of fields within fields.
const MAX_LEVELS: usize = 64;

/// The fields of some pages.
#[derive(Default)]
pub(super) struct Fields {
    kept: HashSet<ObjectId>,
    /// Those that stand in no other, in the order in which the pages have them.
    roots: Vec<ObjectId>,
}

impl Fields {
    /// Finds the fields of pages.
    pub(super) fn of(document: &Document, pages: &[ObjectId]) -> Self {
        let mut fields = Self::default();
        for page in pages {
            let annotations = document
                .get_dictionary(*page)
                .and_then(|page| page.get_deref(b"Annots", document))
                .and_then(Object::as_array);
            for annotation in annotations.into_iter().flatten() {
                fields.climb(document, annotation);
            }
        }
        fields
    }

    fn climb(&mut self, document: &Document, annotation: &Object) {
        let mut current = annotation;
        for level in 0..MAX_LEVELS {
            let Ok((id, Object::Dictionary(field))) = document.dereference(current) else {
                return;
            };
            if level == 0 && !is_widget(field) {
                return;
            }
            // What was met before has been climbed from.
            if id.is_some_and(|id| !self.kept.insert(id)) {
                return;
            }
            match (field.get(b"Parent"), id) {
                (Ok(parent), _) => current = parent,
                (Err(_), Some(id)) => return self.roots.push(id),
                (Err(_), None) => return,
            }
        }
    }

    /// Returns the form with these fields only; `None` when it has none of them.
    pub(super) fn form(&self, document: &Document) -> Option<Dictionary> {
        if self.roots.is_empty() {
            return None;
        }
        let form = document.catalog().ok()?.get_deref(b"AcroForm", document);
        let mut form = form.ok()?.as_dict().ok()?.clone();
        // Another form than these fields, the order of computing them, and what says that it is signed.
        for key in [&b"XFA"[..], b"CO", b"SigFlags"] {
            form.remove(key);
        }
        let listed: Vec<ObjectId> = form
            .get_deref(b"Fields", document)
            .and_then(Object::as_array)
            .into_iter()
            .flatten()
            .filter_map(|field| field.as_reference().ok())
            .filter(|field| self.kept.contains(field))
            .collect();
        let unlisted = self.roots.iter().filter(|root| !listed.contains(root));
        let fields = listed.iter().chain(unlisted);
        let fields: Vec<Object> = fields.map(|id| Object::Reference(*id)).collect();
        form.set("Fields", fields);
        Some(form)
    }

    /// Says whether an object is part of a form, and of other pages only.
    pub(super) fn is_of_others(&self, id: ObjectId, object: &Dictionary) -> bool {
        !self.kept.contains(&id) && (is_widget(object) || is_field(object))
    }

    /// Removes the boxes of other pages from a field.
    pub(super) fn prune(&self, document: &Document, id: ObjectId, field: &mut Dictionary) {
        if !self.kept.contains(&id) {
            return;
        }
        let kids = field
            .get_deref(b"Kids", document)
            .and_then(Object::as_array);
        if let Ok(kids) = kids {
            let is_kept =
                |kid: &&Object| kid.as_reference().is_ok_and(|kid| self.kept.contains(&kid));
            let kept: Vec<Object> = kids.iter().filter(is_kept).cloned().collect();
            field.set("Kids", kept);
        }
    }
}

fn is_widget(object: &Dictionary) -> bool {
    matches!(object.get(b"Subtype"), Ok(Object::Name(name)) if name == b"Widget")
}

fn is_field(object: &Dictionary) -> bool {
    (object.has(b"FT") || object.has(b"T"))
        && (object.has(b"Kids") || object.has(b"Parent"))
        && !object.has(b"Subtype")
}
