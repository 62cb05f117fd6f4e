//! Templates: their variables, what their answers have to look like, and their files.

mod answer;
pub(crate) mod draft;
pub(crate) mod fields;
pub(crate) mod file;
mod variables;

use crate::model::{Sends, TemplateField, TemplateKind};

pub(crate) use answer::{as_markdown, kept, ordered};
pub(crate) use variables::{asked_variables, render, used};

/// A version of a template, as it is asked with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) template_id: String,
    pub(crate) version: u32,
    pub(crate) kind: TemplateKind,
    pub(crate) body: String,
    pub(crate) fields: Vec<TemplateField>,
    pub(crate) sends: Sends,
}
