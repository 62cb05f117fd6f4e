//! Fields: how they are asked for, how an answer is read, and how values are shown.

mod read;

use serde_json::{Map, Value, json};

use crate::markdown;
use crate::model::{FieldKind, TemplateField};

pub(crate) use read::read;

/// Most values that an answer may have in two types. Claude refuses schemas with more of them, and a
/// value that may be null is one.
const MOST_NULLABLE: usize = 16;

/// How a field is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// In its own type, null where the document does not say it.
    Nullable,
    /// As a text or a list, empty where the document does not say it.
    Plain,
}

/// Returns how each field is asked for.
///
/// What has no empty value of its own (numbers, yes or no, days) comes first where not all can be null.
fn shapes(fields: &[TemplateField]) -> Vec<Shape> {
    let mut shapes = vec![Shape::Plain; fields.len()];
    let mut left = MOST_NULLABLE;
    for wanted in [true, false] {
        for (shape, field) in shapes.iter_mut().zip(fields) {
            let has_no_empty_value = !matches!(field.kind, FieldKind::Text | FieldKind::List);
            if left > 0 && has_no_empty_value == wanted {
                *shape = Shape::Nullable;
                left -= 1;
            }
        }
    }
    shapes
}

/// Returns the JSON Schema that an answer has to follow, for `output_config.format.schema`.
pub(crate) fn schema(fields: &[TemplateField]) -> Value {
    let properties: Map<String, Value> = fields
        .iter()
        .zip(shapes(fields))
        .map(|(field, shape)| (field.name.clone(), property(field, shape)))
        .collect();
    let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": names,
        "additionalProperties": false,
    })
}

fn property(field: &TemplateField, shape: Shape) -> Value {
    let description = &field.description;
    if shape == Shape::Nullable {
        let of = match field.kind {
            FieldKind::Text => json!({ "type": "string" }),
            FieldKind::Number => json!({ "type": "number" }),
            FieldKind::WholeNumber => json!({ "type": "integer" }),
            FieldKind::YesNo => json!({ "type": "boolean" }),
            FieldKind::Date => json!({ "type": "string", "format": "date" }),
            FieldKind::List => json!({ "type": "array", "items": { "type": "string" } }),
        };
        return json!({ "anyOf": [of, { "type": "null" }], "description": description });
    }
    let empty = |what: &str| format!("{description} ({what}; empty if not said)");
    match field.kind {
        FieldKind::List => json!({
            "type": "array", "items": { "type": "string" }, "description": empty("a list"),
        }),
        FieldKind::YesNo => json!({
            "type": "string", "enum": ["yes", "no", ""], "description": empty("yes or no"),
        }),
        FieldKind::Text => json!({ "type": "string", "description": empty("text") }),
        FieldKind::Number => json!({ "type": "string", "description": empty("a number") }),
        FieldKind::WholeNumber => {
            json!({ "type": "string", "description": empty("a whole number") })
        }
        FieldKind::Date => json!({ "type": "string", "description": empty("as YYYY-MM-DD") }),
    }
}

/// Returns the fields as a list that a person can read.
pub(crate) fn listed(fields: &[TemplateField]) -> String {
    let mut listed = String::from("Fields:");
    for field in fields {
        let kind = match field.kind {
            FieldKind::Text => "text",
            FieldKind::Number => "number",
            FieldKind::WholeNumber => "whole number",
            FieldKind::YesNo => "yes or no",
            FieldKind::Date => "date",
            FieldKind::List => "list",
        };
        listed.push_str(&format!("\n- {} ({kind})", field.name));
        if !field.description.is_empty() {
            listed.push_str(&format!(": {}", field.description));
        }
    }
    listed
}

/// Returns what is no set of fields as code in Markdown, as it came.
pub(crate) fn as_code(text: &str) -> String {
    // Longer than any fence in it.
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("{fence}json\n{}\n{fence}\n", text.trim())
}

/// Returns how often a sign stands in a row at most.
fn longest_run(text: &str, sign: char) -> usize {
    text.split(|one| one != sign)
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// Returns the values as a table of two columns.
pub(crate) fn markdown_table(values: &[(String, Value)]) -> String {
    let mut table = String::from("| Field | Value |\n|---|---|\n");
    for (name, value) in values {
        table.push_str(&format!(
            "| {name} | {} |\n",
            markdown::escaped(&cell(value))
        ));
    }
    table
}

/// Returns a value as the text of a cell: lists joined by `; `, null as nothing.
pub(crate) fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(cell).collect::<Vec<_>>().join("; "),
        Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn field(name: &str, kind: FieldKind) -> TemplateField {
        TemplateField {
            name: name.to_owned(),
            kind,
            description: format!("What {name} says"),
        }
    }

    /// One of each kind, not in the order of the alphabet.
    pub(super) fn fields() -> Vec<TemplateField> {
        vec![
            field("title", FieldKind::Text),
            field("amount", FieldKind::Number),
            field("days", FieldKind::WholeNumber),
            field("renews", FieldKind::YesNo),
            field("begins", FieldKind::Date),
            field("parties", FieldKind::List),
        ]
    }

    #[test]
    fn the_schema_asks_for_every_field_and_lets_each_be_null() {
        let schema = schema(&fields());
        assert_eq!(schema["type"], "object");
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(
            schema["required"],
            json!(["title", "amount", "days", "renews", "begins", "parties"])
        );
        for (name, of) in [
            ("title", json!({ "type": "string" })),
            ("amount", json!({ "type": "number" })),
            ("days", json!({ "type": "integer" })),
            ("renews", json!({ "type": "boolean" })),
            ("begins", json!({ "type": "string", "format": "date" })),
            (
                "parties",
                json!({ "type": "array", "items": { "type": "string" } }),
            ),
        ] {
            assert_eq!(
                schema["properties"][name],
                json!({
                    "anyOf": [of, { "type": "null" }],
                    "description": format!("What {name} says"),
                })
            );
        }
    }

    #[test]
    fn no_more_values_may_be_null_than_claude_takes() {
        let mut fields: Vec<TemplateField> = (0..30)
            .map(|number| field(&format!("t{number}"), FieldKind::Text))
            .collect();
        fields.extend((0..30).map(|number| field(&format!("n{number}"), FieldKind::WholeNumber)));
        let schema = schema(&fields);
        let properties = schema["properties"].as_object().unwrap();
        let nullable: Vec<&str> = properties
            .iter()
            .filter(|(_, property)| property.get("anyOf").is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(nullable.len(), MOST_NULLABLE);
        assert!(
            nullable.iter().all(|name| name.starts_with('n')),
            "an empty text says as much as null, so numbers come first: {nullable:?}"
        );
        // What can't be null is empty instead, and reads as null.
        let answer: Map<String, Value> = fields
            .iter()
            .map(|field| (field.name.clone(), json!("")))
            .collect();
        let values = read(&Value::Object(answer).to_string(), &fields).unwrap();
        assert!(values.iter().all(|(_, value)| value.is_null()));
    }

    #[test]
    fn a_table_holds_whatever_a_value_holds() {
        let values = vec![
            ("title".to_owned(), json!("A | B\n<b>*c*</b>")),
            ("parties".to_owned(), json!(["One", "Two"])),
            ("amount".to_owned(), Value::Null),
            ("renews".to_owned(), json!(false)),
        ];
        assert_eq!(
            markdown_table(&values),
            "| Field | Value |\n|---|---|\n\
             | title | A \\| B &lt;b&gt;\\*c\\*&lt;/b&gt; |\n\
             | parties | One; Two |\n| amount |  |\n| renews | no |\n"
        );
    }

    #[test]
    fn what_came_instead_of_fields_is_shown_as_it_is() {
        assert_eq!(
            as_code("{\"title\": \"````\n# cut"),
            "`````json\n{\"title\": \"````\n# cut\n`````\n"
        );
    }
}
