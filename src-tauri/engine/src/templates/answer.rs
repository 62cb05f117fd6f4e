//! What an answer to a template has to look like, and what is stored of it.

use serde_json::Value;

use super::{Template, fields};
use crate::model::{Cause, ResultFormat, TemplateKind};

/// What is stored of an answer.
pub(crate) struct Kept {
    pub(crate) body: String,
    pub(crate) format: ResultFormat,
    /// Why a person has to look at it, if the answer does not fit the template.
    pub(crate) review: Option<(Cause, String)>,
}

/// Returns what is stored of the text of an answer: fields in the order of the template, as JSON.
///
/// What does not fit is kept as it came.
pub(crate) fn kept(template: Option<&Template>, text: String) -> Kept {
    let template = template.filter(|template| template.kind == TemplateKind::Fields);
    let Some(template) = template else {
        return Kept {
            body: text,
            format: ResultFormat::Markdown,
            review: None,
        };
    };
    match fields::read(&text, &template.fields) {
        Ok(values) => Kept {
            body: written(&values),
            format: ResultFormat::Json,
            review: None,
        },
        Err(reason) => Kept {
            body: text,
            format: ResultFormat::Markdown,
            review: Some((Cause::FieldsInvalid, reason)),
        },
    }
}

/// Returns stored fields as a table in Markdown; what is no set of fields any more as it is.
pub(crate) fn as_markdown(text: &str) -> String {
    match ordered(text) {
        Some(values) => fields::markdown_table(&values),
        None => fields::as_code(text),
    }
}

/// Returns the fields of a stored text in their order.
pub(crate) fn ordered(text: &str) -> Option<Vec<(String, Value)>> {
    let values: Ordered = serde_json::from_str(text).ok()?;
    Some(values.0)
}

/// Writes fields as a JSON object, one a line, in their order.
fn written(values: &[(String, Value)]) -> String {
    let lines: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("  {}: {value}", Value::from(name.as_str())))
        .collect();
    format!("{{\n{}\n}}", lines.join(",\n"))
}

/// A JSON object whose members keep their order.
struct Ordered(Vec<(String, Value)>);

impl<'de> serde::Deserialize<'de> for Ordered {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> serde::de::Visitor<'de> for Members {
            type Value = Ordered;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut members: A,
            ) -> Result<Ordered, A::Error> {
                let mut values = Vec::new();
                while let Some(member) = members.next_entry()? {
                    values.push(member);
                }
                Ok(Ordered(values))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_fields_keep_the_order_of_the_template() {
        let values = vec![
            ("zulu".to_owned(), Value::from(1)),
            ("alpha \"x\"".to_owned(), Value::from("a\nb")),
            ("none".to_owned(), Value::Null),
        ];
        let text = written(&values);
        assert_eq!(ordered(&text), Some(values), "{text}");
        assert!(serde_json::from_str::<Value>(&text).is_ok());
    }
}
