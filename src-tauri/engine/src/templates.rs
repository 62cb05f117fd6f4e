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

impl Template {
    /// Returns its id with its version (`pdf-summarize-v1`).
    pub(crate) fn name(&self) -> String {
        format!("{}-v{}", self.template_id, self.version)
    }
}

/// Returns what of a template changes the tokens that a document takes in a request: whether it is to be cited,
/// and the fields that are asked for. The store's queries say the same of a job.
pub(crate) fn asks(template: &Template) -> String {
    match template.kind {
        TemplateKind::Prose => "prose".to_owned(),
        TemplateKind::CitedProse => "cited-prose".to_owned(),
        TemplateKind::Fields => template.name(),
    }
}
