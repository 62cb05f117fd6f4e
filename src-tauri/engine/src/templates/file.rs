//! Templates as files, to be given to others.

use serde::Serialize;
use serde_json::Value;

use crate::error::EngineError;
use crate::model::{Sends, TemplateDraft, TemplateField, TemplateKind};

/// Largest file that is read, in bytes.
pub(crate) const LARGEST_FILE: u64 = 256 * 1024;

/// A template as its file has it.
#[derive(Serialize)]
struct TemplateFile<'draft> {
    /// What kind of file it is: `template`.
    gistmill: &'static str,
    name: &'draft str,
    kind: TemplateKind,
    body: &'draft str,
    fields: &'draft [TemplateField],
    sends: Sends,
}

/// Returns the text of a template's file.
///
/// # Errors
/// [`EngineError::Internal`], when it can't be written as JSON.
pub(crate) fn written(draft: &TemplateDraft) -> Result<String, EngineError> {
    let file = TemplateFile {
        gistmill: "template",
        name: &draft.name,
        kind: draft.kind,
        body: &draft.body,
        fields: &draft.fields,
        sends: draft.sends,
    };
    let mut text = serde_json::to_string_pretty(&file)
        .map_err(|error| EngineError::Internal(error.to_string()))?;
    text.push('\n');
    Ok(text)
}

/// Reads a template's file. What this version does not know of it is passed over.
///
/// # Errors
/// [`EngineError::BadInput`] with what is wrong with the file.
pub(crate) fn read(bytes: &[u8]) -> Result<TemplateDraft, EngineError> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let value: Value = serde_json::from_slice(bytes)
        .map_err(|error| other_file(format!("The file is not JSON: {error}.")))?;
    if value.get("gistmill").and_then(Value::as_str) != Some("template") {
        return Err(other_file(
            "The file holds no template of Gistmill.".to_owned(),
        ));
    }
    let part = |name: &str| value.get(name).cloned().unwrap_or(Value::Null);
    let text = |name: &str| match part(name) {
        Value::String(text) => Ok(text),
        _ => Err(other_file(format!(
            "The template in the file has no {name}."
        ))),
    };
    let kind = part("kind");
    let kind: TemplateKind = serde_json::from_value(kind.clone()).map_err(|_| {
        EngineError::bad_input(
            format!(
                "The file has a template of the kind {kind}, which this version does not know."
            ),
            "Kinds are \"prose\", \"cited-prose\" and \"fields\". A newer Gistmill may know more.",
        )
    })?;
    let fields: Vec<TemplateField> = match part("fields") {
        Value::Null => Vec::new(),
        fields => serde_json::from_value(fields).map_err(|error| {
            other_file(format!("The fields in the file can’t be read: {error}."))
        })?,
    };
    let sends = match part("sends") {
        Value::Null => Sends::default(),
        sends => serde_json::from_value(sends.clone()).map_err(|_| {
            other_file(format!(
                "The file sends {sends}, which this version does not know."
            ))
        })?,
    };
    Ok(TemplateDraft {
        name: text("name")?,
        kind,
        body: text("body")?,
        fields,
        sends,
    })
}

fn other_file(message: String) -> EngineError {
    EngineError::bad_input(
        message,
        "Choose a file that was exported from Gistmill’s templates.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FieldKind;

    fn terms() -> TemplateDraft {
        TemplateDraft {
            name: "契約 \"Terms\"".to_owned(),
            kind: TemplateKind::Fields,
            body: "Fill in,\nin {language}.".to_owned(),
            fields: vec![TemplateField {
                name: "amount".to_owned(),
                kind: FieldKind::WholeNumber,
                description: "How much".to_owned(),
            }],
            sends: Sends::Text,
        }
    }

    #[test]
    fn a_template_comes_back_as_it_was_also_with_more_in_its_file() {
        let text = written(&terms()).unwrap();
        assert!(text.contains("\"gistmill\": \"template\""), "{text}");
        assert!(text.contains("\"kind\": \"whole-number\""), "{text}");
        assert_eq!(read(text.as_bytes()).unwrap(), terms());
        let more = text.replacen('{', "\u{feff}{\"colour\": \"red\",", 1);
        assert_eq!(read(more.as_bytes()).unwrap(), terms());
    }

    #[test]
    fn another_file_is_refused_with_what_is_wrong_with_it() {
        for (text, words) in [
            ("%PDF-1.7", "not JSON"),
            ("{}", "no template"),
            ("[\"gistmill\"]", "no template"),
            (r#"{"gistmill": "settings"}"#, "no template"),
            (r#"{"gistmill": "template", "kind": "poem"}"#, "\"poem\""),
            (
                r#"{"gistmill": "template", "kind": "prose", "name": 5, "body": "b"}"#,
                "no name",
            ),
            (
                r#"{"gistmill": "template", "kind": "prose", "name": "n"}"#,
                "no body",
            ),
            (
                r#"{"gistmill": "template", "kind": "fields", "name": "n", "body": "b", "fields": [5]}"#,
                "fields in the file",
            ),
        ] {
            let problem = read(text.as_bytes()).unwrap_err().problem();
            assert!(problem.message.contains(words), "{text}: {problem:?}");
            assert!(!problem.hint.is_empty());
        }
    }
}
