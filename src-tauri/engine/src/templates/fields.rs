//! Fields: how they are asked for, how an answer is read, and how values are shown.

use jiff::civil::Date;
use serde_json::{Map, Number, Value, json};

use crate::markdown;
use crate::model::{FieldKind, TemplateField};

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

/// Reads an answer: the value of each field, in the order of the template. What the document does not say is
/// null.
///
/// # Errors
/// In a sentence, when it is not the set of fields that was asked for.
pub(crate) fn read(text: &str, fields: &[TemplateField]) -> Result<Vec<(String, Value)>, String> {
    let object: Value = serde_json::from_str(without_fence(text))
        .map_err(|error| format!("The answer is not JSON: {error}."))?;
    let Value::Object(mut object) = object else {
        return Err("The answer is not a set of fields.".to_owned());
    };
    fields
        .iter()
        .map(|field| {
            let given = object
                .remove(&field.name)
                .ok_or_else(|| format!("The answer has no field {}.", field.name))?;
            let value = value(field.kind, given).map_err(|given| {
                format!(
                    "The field {} should be {}, not {}.",
                    field.name,
                    wanted(field.kind),
                    shortened(&given)
                )
            })?;
            Ok((field.name.clone(), value))
        })
        .collect()
}

/// Returns what is within a code fence that is around the whole answer.
fn without_fence(text: &str) -> &str {
    let text = text.trim().trim_start_matches('\u{feff}').trim_start();
    let inner = text
        .strip_prefix("```")
        .and_then(|rest| rest.trim_end().strip_suffix("```"))
        .and_then(|rest| rest.split_once('\n'));
    match inner {
        // After the fence stands at most the name of a language.
        Some((language, inner)) if !language.contains(['{', '[']) => inner,
        _ => text,
    }
}

/// Returns a value as it is kept, or gives it back when it is of another kind.
fn value(kind: FieldKind, given: Value) -> Result<Value, Value> {
    match (kind, given) {
        (_, Value::Null) => Ok(Value::Null),
        (FieldKind::List, Value::Array(items)) => list(items),
        (FieldKind::List, Value::String(text)) if text.trim().is_empty() => Ok(Value::Null),
        (_, Value::String(text)) if text.trim().is_empty() => Ok(Value::Null),
        (FieldKind::Text, text @ Value::String(_)) => Ok(text),
        (FieldKind::Number, number @ Value::Number(_)) => Ok(number),
        (FieldKind::Number, Value::String(text)) => number(&text).ok_or(Value::String(text)),
        (FieldKind::WholeNumber, Value::Number(number)) => {
            whole(&number).ok_or(Value::Number(number))
        }
        (FieldKind::WholeNumber, Value::String(text)) => match number(&text) {
            Some(Value::Number(number)) => whole(&number).ok_or(Value::String(text)),
            _ => Err(Value::String(text)),
        },
        (FieldKind::YesNo, answer @ Value::Bool(_)) => Ok(answer),
        (FieldKind::YesNo, Value::String(text)) => match text.trim() {
            "yes" => Ok(Value::Bool(true)),
            "no" => Ok(Value::Bool(false)),
            _ => Err(Value::String(text)),
        },
        (FieldKind::Date, Value::String(text)) => match text.trim().parse::<Date>() {
            Ok(date) if text.trim().len() == date.to_string().len() => {
                Ok(Value::String(date.to_string()))
            }
            _ => Err(Value::String(text)),
        },
        (_, other) => Err(other),
    }
}

fn list(items: Vec<Value>) -> Result<Value, Value> {
    if items
        .iter()
        .all(|item| matches!(item, Value::String(_) | Value::Null))
    {
        Ok(Value::Array(
            items.into_iter().filter(|item| !item.is_null()).collect(),
        ))
    } else {
        Err(Value::Array(items))
    }
}

/// Reads a number that stands in a text.
fn number(text: &str) -> Option<Value> {
    let number: Number = serde_json::from_str(text.trim()).ok()?;
    Some(Value::Number(number))
}

/// Returns a number without its `.0`, if that is all that it has behind the point.
fn whole(number: &Number) -> Option<Value> {
    if number.is_i64() || number.is_u64() {
        return Some(Value::Number(number.clone()));
    }
    let value = number.as_f64()?;
    // Beyond this, a number with a point does not tell whole ones apart.
    (value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0)
        .then(|| format!("{value:.0}").parse::<i64>().ok())
        .flatten()
        .map(Value::from)
}

fn wanted(kind: FieldKind) -> &'static str {
    match kind {
        FieldKind::Text => "a text",
        FieldKind::Number => "a number",
        FieldKind::WholeNumber => "a whole number",
        FieldKind::YesNo => "yes or no",
        FieldKind::Date => "a day such as 2026-11-30",
        FieldKind::List => "a list of texts",
    }
}

/// Returns a value as a sentence can hold it.
fn shortened(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    if text.chars().count() <= LONGEST {
        return text;
    }
    text.chars().take(LONGEST).chain(['…']).collect()
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

    fn field(name: &str, kind: FieldKind) -> TemplateField {
        TemplateField {
            name: name.to_owned(),
            kind,
            description: format!("What {name} says"),
        }
    }

    /// One of each kind, not in the order of the alphabet.
    fn fields() -> Vec<TemplateField> {
        vec![
            field("title", FieldKind::Text),
            field("amount", FieldKind::Number),
            field("days", FieldKind::WholeNumber),
            field("renews", FieldKind::YesNo),
            field("begins", FieldKind::Date),
            field("parties", FieldKind::List),
        ]
    }

    fn read_one(kind: FieldKind, json: &str) -> Result<Value, String> {
        let mut values = read(&format!("{{\"x\": {json}}}"), &[field("x", kind)])?;
        Ok(values.remove(0).1)
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
        assert_eq!(
            read_one(FieldKind::WholeNumber, "\"30\"").unwrap(),
            json!(30)
        );
        assert_eq!(read_one(FieldKind::YesNo, "\"no\"").unwrap(), json!(false));
    }

    #[test]
    fn an_answer_is_read_in_the_order_of_the_template_also_out_of_a_code_fence() {
        let answer = r#"{"parties": ["A | B", null, "C"], "begins": "2026-11-30", "renews": true,
            "days": 30.0, "amount": -1.5, "title": "Lease \"A\"", "more": 1}"#;
        let expected = vec![
            ("title".to_owned(), json!("Lease \"A\"")),
            ("amount".to_owned(), json!(-1.5)),
            ("days".to_owned(), json!(30)),
            ("renews".to_owned(), json!(true)),
            ("begins".to_owned(), json!("2026-11-30")),
            ("parties".to_owned(), json!(["A | B", "C"])),
        ];
        for text in [
            answer.to_owned(),
            format!("```json\n{answer}\n```"),
            format!("\n```\n{answer}\n```\n"),
            format!("\u{feff}{answer}"),
        ] {
            assert_eq!(read(&text, &fields()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn an_answer_that_is_something_else_is_told_in_a_sentence() {
        for (answer, words) in [
            ("Here are the fields.", "not JSON"),
            ("{\"title\": \"cut off", "not JSON"),
            ("[1, 2]", "not a set of fields"),
            ("{\"title\": null}", "no field amount"),
        ] {
            let problem = read(answer, &fields()).unwrap_err();
            assert!(problem.contains(words), "{answer}: {problem}");
        }
        for (kind, json, words) in [
            (FieldKind::Text, "5", "a text, not 5"),
            (FieldKind::Number, "\"soon\"", "a number, not \"soon\""),
            (FieldKind::WholeNumber, "1.5", "a whole number, not 1.5"),
            (FieldKind::YesNo, "\"perhaps\"", "yes or no"),
            (FieldKind::Date, "\"2026-02-30\"", "a day such as"),
            (FieldKind::Date, "\"2026-11-30T10:00\"", "a day such as"),
            (FieldKind::List, "\"A\"", "a list"),
            (FieldKind::List, "[1]", "a list"),
        ] {
            let problem = read_one(kind, json).unwrap_err();
            assert!(problem.contains(words), "{json}: {problem}");
        }
        let long = format!("\"{}\"", "long ".repeat(100));
        let problem = read_one(FieldKind::Number, &long).unwrap_err();
        assert!(
            problem.len() < 200,
            "a whole answer is no message: {problem}"
        );
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
