//! Variables in braces within a template's body.

use std::collections::BTreeMap;

use crate::model::Variables;

/// Variables whose values the document and the day give.
const KNOWN: [&str; 3] = ["file_name", "pages", "today"];
/// The variable with the language of the answer, which has a value where nobody gives one.
pub(crate) const LANGUAGE: &str = "language";
/// What the language is where nobody chose one.
const ITS_OWN_LANGUAGE: &str = "the language of the document";
/// Longest name of a variable, in bytes.
const LONGEST_NAME: usize = 40;

/// Returns the variables of a body that a person gives values for, each once, in the order of the body.
pub(crate) fn asked_variables(body: &str) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    for part in parts(body) {
        if let Part::Variable(name) = part
            && !KNOWN.contains(&name)
            && !asked.iter().any(|other| other == name)
        {
            asked.push(name.to_owned());
        }
    }
    asked
}

/// Returns the values that a body really uses: what its answers depend on besides the document.
pub(crate) fn used(body: &str, values: &Variables) -> Variables {
    let mut used = BTreeMap::new();
    for part in parts(body) {
        if let Part::Variable(name) = part {
            used.insert(name.to_owned(), value(name, values).to_owned());
        }
    }
    used
}

/// Puts values in the place of the variables; one without a value becomes nothing.
pub(crate) fn render(body: &str, values: &Variables) -> String {
    parts(body)
        .map(|part| match part {
            Part::Text(text) => text,
            Part::Variable(name) => value(name, values),
        })
        .collect()
}

fn value<'values>(name: &str, values: &'values Variables) -> &'values str {
    let given = values.get(name).map(|value| value.trim());
    match given {
        Some(value) if !value.is_empty() => value,
        _ if name == LANGUAGE => ITS_OWN_LANGUAGE,
        _ => "",
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Part<'body> {
    Text(&'body str),
    Variable(&'body str),
}

/// Splits a body into its texts and its variables. Braces around anything else are text.
fn parts(body: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = body;
    // Ends: each round takes something off the rest.
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(name) = leading(rest) {
            rest = &rest[name.len() + 2..];
            return Some(Part::Variable(name));
        }
        let end = rest
            .char_indices()
            .skip(1)
            .find(|(at, character)| *character == '{' && leading(&rest[*at..]).is_some())
            .map_or(rest.len(), |(at, _)| at);
        let text = &rest[..end];
        rest = &rest[end..];
        Some(Part::Text(text))
    })
}

/// Returns the name of the variable that a text begins with.
fn leading(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.split_once('}')?.0;
    let fits = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_');
    fits.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Variables {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn values_take_the_place_of_variables_and_other_braces_stay() {
        let body = "{file_name} has {pages} pages. {\"a\": {tone}} {} {Not} {not this}";
        assert_eq!(
            render(
                body,
                &values(&[("file_name", "a.pdf"), ("pages", "3"), ("tone", "dry")])
            ),
            "a.pdf has 3 pages. {\"a\": dry} {} {Not} {not this}"
        );
        assert_eq!(asked_variables(body), ["tone"]);
    }

    #[test]
    fn a_value_is_never_read_as_a_template() {
        assert_eq!(
            render(
                "{file_name}",
                &values(&[("file_name", "{pages}.pdf"), ("pages", "9")])
            ),
            "{pages}.pdf",
            "a file's name must not become a variable"
        );
    }

    #[test]
    fn the_language_has_a_value_where_nobody_chose_one() {
        assert_eq!(
            render("In {language}.", &Variables::new()),
            "In the language of the document."
        );
        assert_eq!(
            render("In {language}.", &values(&[("language", "日本語")])),
            "In 日本語."
        );
        assert_eq!(
            asked_variables("In {language}, {tone} and {tone}"),
            ["language", "tone"]
        );
    }

    #[test]
    fn answers_depend_only_on_what_the_body_uses() {
        let given = values(&[("today", "2026-11-30"), ("tone", "dry")]);
        assert_eq!(used("Be {tone}.", &given), values(&[("tone", "dry")]));
    }
}
