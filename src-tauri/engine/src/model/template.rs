//! Templates: versioned prompts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Sends, Timestamp};

/// What an answer looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum TemplateKind {
    /// Markdown.
    #[default]
    Prose,
    /// Markdown whose statements name the pages that they come from, as the provider tells them.
    CitedProse,
    /// The same fields of every document, for a table.
    Fields,
}

/// What a field holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum FieldKind {
    /// Text.
    #[default]
    Text,
    /// A number.
    Number,
    /// A whole number.
    WholeNumber,
    /// Yes or no.
    YesNo,
    /// A day, such as 2026-11-30.
    Date,
    /// Several texts.
    List,
}

/// A field that is filled in from each document; a column of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct TemplateField {
    /// Its name: letters, digits, `_` and `-`.
    pub name: String,
    /// What it holds.
    pub kind: FieldKind,
    /// What to look for.
    pub description: String,
}

/// What a person writes of a template.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct TemplateDraft {
    /// Its name, as shown.
    pub name: String,
    /// What an answer looks like.
    pub kind: TemplateKind,
    /// The prompt that follows the document, with variables in braces.
    pub body: String,
    /// What is filled in; empty but for [`TemplateKind::Fields`].
    #[serde(default)]
    pub fields: Vec<TemplateField>,
    /// What is sent of a document.
    #[serde(default)]
    pub sends: Sends,
}

/// A version of a template.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct TemplateView {
    /// Id with version (`pdf-summarize-v1`).
    pub template: String,
    /// The id, the same for all versions.
    pub template_id: String,
    /// The version, from 1.
    pub version: u32,
    /// Its name, as shown.
    pub name: String,
    /// What an answer looks like.
    pub kind: TemplateKind,
    /// The prompt that follows the document.
    pub body: String,
    /// What is filled in, for [`TemplateKind::Fields`].
    pub fields: Vec<TemplateField>,
    /// What is sent of a document.
    pub sends: Sends,
    /// The variables in its body that a person gives values for when adding files.
    pub variables: Vec<String>,
    /// Whether it came with the app.
    pub built_in: bool,
    /// Jobs that were asked with any version of it.
    pub jobs: u64,
    /// When this version was made.
    pub created_at: Timestamp,
}

impl TemplateView {
    /// Returns what a person wrote of it.
    #[must_use]
    pub fn draft(&self) -> TemplateDraft {
        TemplateDraft {
            name: self.name.clone(),
            kind: self.kind,
            body: self.body.clone(),
            fields: self.fields.clone(),
            sends: self.sends,
        }
    }
}

/// What a draft comes to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct TemplatePreview {
    /// The prompt as it would be sent, with an example in place of a document.
    pub text: String,
    /// The variables that a person gives values for.
    pub variables: Vec<String>,
    /// About how many tokens the prompt has.
    pub tokens: u64,
    /// What keeps the draft from being saved, if anything does.
    pub problem: Option<String>,
}

/// Values of a template's variables, by name without braces.
pub type Variables = BTreeMap<String, String>;
