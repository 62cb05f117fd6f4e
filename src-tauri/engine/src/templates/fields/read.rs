//! Reading an answer that should be a set of fields.

use jiff::civil::Date;
use serde_json::{Number, Value};

use crate::model::{FieldKind, TemplateField};

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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::{field, fields};
    use super::*;

    fn read_one(kind: FieldKind, json: &str) -> Result<Value, String> {
        let mut values = read(&format!("{{\"x\": {json}}}"), &[field("x", kind)])?;
        Ok(values.remove(0).1)
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
    fn what_was_asked_for_as_a_text_is_read_as_what_it_is() {
        assert_eq!(
            read_one(FieldKind::WholeNumber, "\"30\"").unwrap(),
            json!(30)
        );
        assert_eq!(
            read_one(FieldKind::Number, "\"-1.5\"").unwrap(),
            json!(-1.5)
        );
        assert_eq!(read_one(FieldKind::YesNo, "\"no\"").unwrap(), json!(false));
        assert_eq!(read_one(FieldKind::Date, "\"\"").unwrap(), Value::Null);
    }
}
