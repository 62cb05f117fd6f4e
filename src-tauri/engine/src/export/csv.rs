//! A table for spreadsheets.

use std::io;

use ::csv::{Terminator, WriterBuilder};
use serde_json::Value;

use super::{Content, Item, words};
use crate::model::TemplateField;
use crate::results::Library;
use crate::templates::fields;

/// The columns of every job, before those of fields and the summary.
const COLUMNS: [&str; 18] = [
    "file",
    "path",
    "batch",
    "status",
    "template",
    "model",
    "provider",
    "pages",
    "attempts",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "created_at",
    "completed_at",
    "error",
    "document_sha256",
    "reused_from",
    "result_path",
];
/// The last column.
const SUMMARY: &str = "summary";

/// A table under way.
pub(super) struct Table {
    byte_order_mark: bool,
    /// Names of the fields, a column each.
    fields: Vec<String>,
    library: Library,
}

impl Table {
    pub(super) fn new(
        byte_order_mark: bool,
        templates: &[(String, Vec<TemplateField>)],
        library: Library,
    ) -> Self {
        let mut fields: Vec<String> = Vec::new();
        for field in templates.iter().flat_map(|(_, fields)| fields) {
            if !fields.contains(&field.name) {
                fields.push(field.name.clone());
            }
        }
        Self {
            byte_order_mark,
            fields,
            library,
        }
    }

    pub(super) fn begin(&self, out: &mut dyn io::Write) -> io::Result<()> {
        if self.byte_order_mark {
            out.write_all("\u{feff}".as_bytes())?;
        }
        let mut writer = writer(out);
        writer.write_record(
            COLUMNS
                .iter()
                .map(|name| (*name).to_owned())
                .chain(headings(&self.fields).into_iter().map(|name| text(&name)))
                .chain([SUMMARY.to_owned()]),
        )?;
        writer.flush()
    }

    pub(super) fn items(&self, out: &mut dyn io::Write, items: &[Item]) -> io::Result<()> {
        let mut writer = writer(out);
        for item in items {
            for cell in self.fixed(item) {
                writer.write_field(cell)?;
            }
            for name in &self.fields {
                let value = match &item.content {
                    Content::Fields(values) => values.iter().find(|(field, _)| field == name),
                    _ => None,
                };
                writer.write_field(
                    value
                        .map(|(_, value)| field_cell(value))
                        .unwrap_or_default(),
                )?;
            }
            writer.write_field(match &item.content {
                Content::Text(summary) => text(summary),
                _ => String::new(),
            })?;
            writer.write_record(None::<&[u8]>)?;
        }
        writer.flush()
    }

    /// Returns the cells of [`COLUMNS`].
    fn fixed(&self, item: &Item) -> [String; COLUMNS.len()] {
        let row = &item.row;
        let result = row.result.as_ref();
        let optional = |value: Option<&str>| value.map(text).unwrap_or_default();
        let result_path = result.map(|result| match &result.copy_path {
            Some(copy) => copy.clone(),
            None => self
                .library
                .path(&result.key)
                .to_string_lossy()
                .into_owned(),
        });
        let error = match (&item.content, &row.error) {
            (_, Some(error)) => Some(error),
            (Content::Unreadable(reason), None) => Some(reason),
            _ => None,
        };
        [
            text(&row.title),
            optional(row.source_path.as_deref()),
            text(&row.batch_name),
            row.status.as_str().to_owned(),
            optional(row.template.as_deref()),
            text(&row.model),
            row.provider.as_str().to_owned(),
            row.pages.map(|pages| pages.to_string()).unwrap_or_default(),
            row.attempts.to_string(),
            row.input_tokens.to_string(),
            row.output_tokens.to_string(),
            row.cost_micros.map(words::dollars).unwrap_or_default(),
            words::moment(row.created_at),
            row.completed_at.map(words::moment).unwrap_or_default(),
            optional(error.map(String::as_str)),
            row.document_sha256.clone().unwrap_or_default(),
            result
                .and_then(|result| result.reused_from.as_ref())
                .map(|from| from.job_id.to_string())
                .unwrap_or_default(),
            optional(result_path.as_deref()),
        ]
    }
}

fn writer(out: &mut dyn io::Write) -> ::csv::Writer<&mut dyn io::Write> {
    // A field begins a record of one; how many there are is the same in all.
    WriterBuilder::new()
        .terminator(Terminator::CRLF)
        .from_writer(out)
}

/// Returns the headings of the fields: their names, with `field_` before those that are taken.
fn headings(fields: &[String]) -> Vec<String> {
    let mut headings: Vec<String> = Vec::with_capacity(fields.len());
    for field in fields {
        let mut heading = field.clone();
        // Ends: the heading gets longer each time, the names in use stay as they are.
        while COLUMNS.contains(&heading.as_str())
            || heading == SUMMARY
            || headings.contains(&heading)
            || (heading != *field && fields.contains(&heading))
        {
            heading.insert_str(0, "field_");
        }
        headings.push(heading);
    }
    headings
}

/// Returns the cell of a field. Numbers stay numbers.
fn field_cell(value: &Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Null | Value::Bool(_) => fields::cell(value),
        Value::String(_) | Value::Array(_) | Value::Object(_) => text(&fields::cell(value)),
    }
}

/// Returns a text as a cell that no spreadsheet takes for a formula.
///
/// What begins with one of the signs that begin formulas, also behind blanks or quotes and also in full width,
/// gets an apostrophe before it: a spreadsheet shows such a cell as text. What begins with a tab or a line
/// break does, too.
fn text(text: &str) -> String {
    let text = if text.contains('\0') {
        text.replace('\0', "")
    } else {
        text.to_owned()
    };
    let first = text
        .trim_start_matches(|one: char| {
            one.is_whitespace() || matches!(one, '"' | '\'' | '\u{feff}')
        })
        .chars()
        .next();
    let is_formula = matches!(
        first,
        Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
    );
    if is_formula || text.starts_with(['\t', '\r', '\n']) {
        format!("'{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_becomes_a_formula() {
        for dangerous in [
            "=1+1",
            "+49 30",
            "-2",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
            "  =cmd|' /C calc'!A0",
            "\"=1",
            "'=1",
            "＝1",
            "\0=1",
            "\u{feff}=1",
        ] {
            let cell = text(dangerous);
            assert!(cell.starts_with('\''), "{dangerous:?} became {cell:?}");
            assert!(!cell.contains('\0'));
        }
        for harmless in ["", "# Title\n- item", "報告-1", "a=b", "“quoted”", "5 - 3"] {
            assert_eq!(text(harmless), harmless);
        }
    }

    #[test]
    fn numbers_stay_numbers() {
        assert_eq!(field_cell(&json!(-1.5)), "-1.5");
        assert_eq!(field_cell(&json!("-1.5")), "'-1.5");
        assert_eq!(field_cell(&json!(["=A", "B"])), "'=A; B");
        assert_eq!(field_cell(&json!(true)), "yes");
        assert_eq!(field_cell(&Value::Null), "");
    }

    #[test]
    fn a_field_with_the_name_of_a_column_gets_another_heading() {
        let fields: Vec<String> = ["amount", "status", "field_status", "summary"]
            .map(str::to_owned)
            .into();
        assert_eq!(
            headings(&fields),
            [
                "amount",
                "field_field_status",
                "field_status",
                "field_summary"
            ]
        );
    }
}
