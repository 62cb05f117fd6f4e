//! What a person writes of a template: whether it can be saved, and what it would send.

use super::{asked_variables, fields, render};
use crate::error::EngineError;
use crate::model::{Sends, TemplateDraft, TemplateField, TemplateKind, TemplatePreview, Variables};
use crate::pricing::text_tokens;

/// Longest name, in characters.
const LONGEST_NAME: usize = 80;
/// Longest body, in characters.
const LONGEST_BODY: usize = 100_000;
/// Most fields.
const MOST_FIELDS: usize = 60;
/// Longest name of a field, in bytes.
const LONGEST_FIELD_NAME: usize = 64;
/// Longest description of a field, in characters.
const LONGEST_DESCRIPTION: usize = 1_000;
/// The example that a preview shows in place of a document.
const EXAMPLE: [(&str, &str); 2] = [("file_name", "example.pdf"), ("pages", "12")];

/// Returns the draft as it is saved: without blanks around its texts.
///
/// # Errors
/// [`EngineError::BadInput`] with what can't be saved.
pub(crate) fn checked(draft: TemplateDraft) -> Result<TemplateDraft, EngineError> {
    let draft = TemplateDraft {
        name: draft.name.trim().to_owned(),
        kind: draft.kind,
        body: draft.body.trim().to_owned(),
        fields: draft
            .fields
            .into_iter()
            .map(|field| TemplateField {
                name: field.name.trim().to_owned(),
                kind: field.kind,
                description: field.description.trim().to_owned(),
            })
            .collect(),
        sends: draft.sends,
    };
    let name = draft.name.chars().count();
    if name == 0 {
        return bad("The template has no name.", "Give it a name.");
    }
    if name > LONGEST_NAME {
        return bad(
            format!("The name has {name} characters; at most {LONGEST_NAME} are possible."),
            "Shorten the name.",
        );
    }
    if draft.name.chars().any(char::is_control) {
        return bad(
            "The name has a line break in it.",
            "Write the name in one line.",
        );
    }
    let body = draft.body.chars().count();
    if body == 0 {
        return bad(
            "The template has no prompt.",
            "Write what Claude should do with each document.",
        );
    }
    if body > LONGEST_BODY {
        return bad(
            format!("The prompt has {body} characters; at most {LONGEST_BODY} are possible."),
            "Shorten the prompt.",
        );
    }
    check_variables(&draft.body)?;
    check_fields(&draft)?;
    Ok(draft)
}

/// Returns what a draft comes to, with an example in place of a document.
///
/// `today` is the day, such as 2026-11-30; `variables` are values that a person tries.
pub(crate) fn preview(draft: &TemplateDraft, variables: Variables, today: &str) -> TemplatePreview {
    let problem = checked(draft.clone()).err().map(|error| error.to_string());
    let mut values = variables;
    for (name, value) in EXAMPLE.into_iter().chain([("today", today)]) {
        values.insert(name.to_owned(), value.to_owned());
    }
    let asked = asked_variables(&draft.body);
    let mut text = render(draft.body.trim(), &values);
    let mut tokens = text_tokens(&text);
    if draft.sends == Sends::Text {
        text.insert_str(
            0,
            "[Before this comes the text of example.pdf, with the numbers of its pages.]\n\n",
        );
    }
    if draft.kind == TemplateKind::Fields && !draft.fields.is_empty() {
        // The fields are asked for by a schema of the answer, which a person can't read as easily.
        tokens += text_tokens(&fields::schema(&draft.fields).to_string());
        text.push_str("\n\n");
        text.push_str(&fields::listed(&draft.fields));
    }
    TemplatePreview {
        text,
        variables: asked,
        tokens,
        problem,
    }
}

fn bad<T>(message: impl Into<String>, hint: impl Into<String>) -> Result<T, EngineError> {
    Err(EngineError::bad_input(message, hint))
}

/// Refuses what was meant as a variable and would be sent as it stands, such as `{Tone}`.
fn check_variables(body: &str) -> Result<(), EngineError> {
    let mut rest = body;
    // Ends: each round takes at least a brace off the rest.
    while let Some((_, after)) = rest.split_once('{') {
        rest = after;
        let Some((name, _)) = after.split_once('}') else {
            break;
        };
        let looks_like_a_name = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-'));
        let written = format!("{{{name}}}");
        if looks_like_a_name && asked_variables(&written).is_empty() && !is_known(&written) {
            return bad(
                format!("{written} can’t be a variable."),
                "Names of variables have small letters, digits and _, begin with a letter and have at \
                 most 40 characters. If it is no variable, put a space after the brace.",
            );
        }
    }
    Ok(())
}

/// Says whether `written` is a variable that nobody has to give a value for.
fn is_known(written: &str) -> bool {
    render(written, &Variables::new()) != written
}

fn check_fields(draft: &TemplateDraft) -> Result<(), EngineError> {
    if draft.kind != TemplateKind::Fields {
        if draft.fields.is_empty() {
            return Ok(());
        }
        return bad(
            "Only a template that fills in fields can have some.",
            "Remove the fields, or choose fields as the kind of the answer.",
        );
    }
    if draft.fields.is_empty() {
        return bad("The template has no fields.", "Add at least one field.");
    }
    if draft.fields.len() > MOST_FIELDS {
        return bad(
            format!(
                "The template has {} fields; at most {MOST_FIELDS} are possible.",
                draft.fields.len()
            ),
            "Split it into two templates.",
        );
    }
    for (at, field) in draft.fields.iter().enumerate() {
        let name = &field.name;
        if name.is_empty() {
            return bad(
                format!("Field {} has no name.", at + 1),
                "Give it a name such as amount, or remove it.",
            );
        }
        let fits = name.len() <= LONGEST_FIELD_NAME
            && name
                .chars()
                .all(|one| one.is_ascii_alphanumeric() || matches!(one, '_' | '-'));
        if !fits {
            return bad(
                format!("“{name}” can’t be the name of a field."),
                format!(
                    "Use the letters A to Z, digits, _ and -, at most {LONGEST_FIELD_NAME} of them."
                ),
            );
        }
        if draft.fields[..at].iter().any(|other| other.name == *name) {
            return bad(
                format!("Two fields are named {name}."),
                "Rename one of them.",
            );
        }
        if field.description.chars().count() > LONGEST_DESCRIPTION {
            return bad(
                format!(
                    "The description of {name} is longer than {LONGEST_DESCRIPTION} characters."
                ),
                "Shorten it; what concerns all fields belongs in the prompt.",
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FieldKind;

    fn prose(name: &str, body: &str) -> TemplateDraft {
        TemplateDraft {
            name: name.to_owned(),
            body: body.to_owned(),
            ..TemplateDraft::default()
        }
    }

    fn with_fields(names: &[&str]) -> TemplateDraft {
        TemplateDraft {
            kind: TemplateKind::Fields,
            fields: names
                .iter()
                .map(|name| TemplateField {
                    name: (*name).to_owned(),
                    kind: FieldKind::Text,
                    description: "What it says".to_owned(),
                })
                .collect(),
            ..prose("Terms", "Fill in.")
        }
    }

    fn problem(draft: TemplateDraft) -> String {
        checked(draft)
            .map(|draft| format!("{draft:?} was taken"))
            .unwrap_or_else(|error| error.to_string())
    }

    #[test]
    fn what_cant_be_asked_is_not_saved() {
        let many: Vec<String> = (0..61).map(|number| format!("f{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let mut fields_of_prose = with_fields(&["a"]);
        fields_of_prose.kind = TemplateKind::Prose;
        for (draft, words) in [
            (prose(" ", "Body"), "no name"),
            (prose(&"名".repeat(81), "Body"), "81 characters"),
            (prose("Two\nlines", "Body"), "line break"),
            (prose("Name", " \n"), "no prompt"),
            (prose("Name", &"長".repeat(100_001)), "100001 characters"),
            (prose("Name", "Be {Tone}."), "{Tone}"),
            (prose("Name", "Be {my-tone}."), "{my-tone}"),
            (with_fields(&[]), "no fields"),
            (with_fields(&many), "61 fields"),
            (with_fields(&["a", "a"]), "named a"),
            (with_fields(&["a b"]), "“a b”"),
            (with_fields(&["größe"]), "“größe”"),
            (with_fields(&[""]), "Field 1"),
            (fields_of_prose, "Only a template"),
        ] {
            let problem = problem(draft);
            assert!(problem.contains(words), "{words:?} is not in {problem:?}");
        }
    }

    #[test]
    fn what_can_be_asked_is_saved_without_blanks_around_it() {
        let draft = prose(
            " 要約 ",
            "\nAs JSON like { \"a\": {} } in {language} for {file_name}, {today}: {tone}\n",
        );
        let draft = checked(draft).unwrap();
        assert_eq!(draft.name, "要約");
        assert!(draft.body.starts_with("As JSON") && draft.body.ends_with("{tone}"));
        checked(prose(&"名".repeat(80), &"長".repeat(100_000))).unwrap();
        checked(with_fields(&["a", "B-2", "_c"])).unwrap();
    }

    #[test]
    fn a_preview_shows_the_prompt_with_an_example_and_what_keeps_it_from_being_saved() {
        let mut draft = with_fields(&["amount"]);
        draft.body = "Read {file_name} ({pages} pages) on {today}, {tone}.".to_owned();
        let tone = Variables::from([
            ("tone".to_owned(), "dryly".to_owned()),
            ("pages".to_owned(), "999".to_owned()),
        ]);
        let preview = preview(&draft, tone, "2026-11-30");
        assert!(
            preview
                .text
                .starts_with("Read example.pdf (12 pages) on 2026-11-30, dryly."),
            "{}",
            preview.text
        );
        assert!(preview.text.contains("amount"), "{}", preview.text);
        assert_eq!(preview.variables, ["tone"]);
        assert!(preview.tokens > 20, "{}", preview.tokens);
        assert_eq!(preview.problem, None);

        let empty = super::preview(&TemplateDraft::default(), Variables::new(), "2026-11-30");
        assert_eq!(empty.problem.as_deref(), Some("The template has no name."));
        assert_eq!(empty.tokens, 0);
    }
}
