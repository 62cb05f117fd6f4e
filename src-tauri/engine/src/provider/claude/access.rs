//! What a call shows to be let in: the key, and headers that a gateway wants besides.

use std::fmt;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::ClaudeSetupError;
use crate::model::{AuthScheme, Passage};
use crate::provider::{Answer, Failure};

const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// Headers that belong to the connection or to the body, which a person can't set.
const OURS: [&str; 8] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "transfer-encoding",
    "upgrade",
];
/// Most extra headers, and the most bytes of them.
const MOST_HEADERS: usize = 20;
const MOST_BYTES: usize = 16 * 1024;
/// A shorter value than this would be found in ordinary words.
const SHORTEST_SECRET: usize = 6;

/// A header that is sent with every call.
#[derive(Clone)]
pub struct ExtraHeader {
    name: HeaderName,
    value: SecretString,
}

impl ExtraHeader {
    /// Returns its name, which is no secret.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_str()
    }
}

impl fmt::Debug for ExtraHeader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: [secret]", self.name)
    }
}

/// What is wrong with extra headers. It never tells a value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderProblem {
    /// A line is not `Name: value`.
    #[error("line {0} is not a header: write “Name: value”")]
    NotAHeader(usize),
    /// A header that a person can't set.
    #[error("{0} is set by Gistmill itself")]
    Ours(String),
    /// Too many, or too long.
    #[error("these are more headers than any gateway wants")]
    TooMany,
}

/// Reads extra headers: one a line, `Name: value`, as `ANTHROPIC_CUSTOM_HEADERS` has them.
///
/// # Errors
/// The first thing that is wrong with them.
pub fn read_headers(text: &str) -> Result<Vec<ExtraHeader>, HeaderProblem> {
    if text.len() > MOST_BYTES {
        return Err(HeaderProblem::TooMany);
    }
    let mut headers = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let wrong = || HeaderProblem::NotAHeader(at + 1);
        let (name, value) = line.split_once(':').ok_or_else(wrong)?;
        let name: HeaderName = name.trim().parse().map_err(|_| wrong())?;
        let value = value.trim();
        HeaderValue::from_str(value).map_err(|_| wrong())?;
        if OURS.contains(&name.as_str()) {
            return Err(HeaderProblem::Ours(name.to_string()));
        }
        headers.push(ExtraHeader {
            name,
            value: SecretString::from(value),
        });
    }
    if headers.len() > MOST_HEADERS {
        return Err(HeaderProblem::TooMany);
    }
    Ok(headers)
}

/// What a call shows to be let in.
#[derive(Clone, Debug)]
pub struct Access {
    /// The key; may be empty for endpoints that want none.
    pub key: SecretString,
    /// How it is sent.
    pub auth: AuthScheme,
    /// Headers that are sent besides; they win over ours.
    pub headers: Vec<ExtraHeader>,
}

impl Access {
    /// Returns access by a key alone, sent as Anthropic's own keys are.
    #[must_use]
    pub fn by_key(key: SecretString) -> Self {
        Self {
            key,
            auth: AuthScheme::ApiKey,
            headers: Vec::new(),
        }
    }

    /// Returns the same without white space around the key.
    pub(super) fn usable(self) -> Result<Self, ClaudeSetupError> {
        let trimmed = self.key.expose_secret().trim();
        HeaderValue::from_str(trimmed).map_err(|_| ClaudeSetupError::Key)?;
        Ok(Self {
            key: SecretString::from(trimmed),
            ..self
        })
    }

    /// Writes all of it into the headers of a call.
    pub(super) fn write_into(&self, headers: &mut HeaderMap) {
        let key = self.key.expose_secret();
        if !key.is_empty() {
            match self.auth {
                AuthScheme::ApiKey => put(headers, KEY_HEADER, key),
                AuthScheme::Bearer => put(headers, AUTHORIZATION, &format!("Bearer {key}")),
            }
        }
        for header in &self.headers {
            put(headers, header.name.clone(), header.value.expose_secret());
        }
    }

    /// Says whether there is anything to be let in by.
    pub(super) fn is_empty(&self) -> bool {
        let lets_in =
            |header: &ExtraHeader| header.name == KEY_HEADER || header.name == AUTHORIZATION;
        self.key.expose_secret().is_empty() && !self.headers.iter().any(lets_in)
    }

    /// Takes all of it out of a text, should an endpoint have put it there.
    pub(super) fn scrub(&self, text: String) -> String {
        let secrets = self
            .headers
            .iter()
            .flat_map(|header| {
                let value = header.value.expose_secret();
                // `Bearer TOKEN`: the token alone is as secret.
                let last = value.rsplit(' ').next().unwrap_or(value);
                [(value, "[header]"), (last, "[header]")]
            })
            .filter(|(value, _)| value.len() >= SHORTEST_SECRET)
            .chain(Some((self.key.expose_secret(), "[key]")).filter(|(key, _)| !key.is_empty()));
        let mut text = text;
        for (secret, instead) in secrets {
            if text.contains(secret) {
                text = text.replace(secret, instead);
            }
        }
        text
    }

    /// Takes all of it out of a failure.
    pub(super) fn scrub_failure(&self, failure: Failure) -> Failure {
        Failure {
            message: self.scrub(failure.message),
            request_id: failure.request_id.map(|id| self.scrub(id)),
            ..failure
        }
    }

    /// Takes all of it out of an answer.
    pub(super) fn scrub_answer(&self, answer: Answer) -> Answer {
        Answer {
            text: self.scrub(answer.text),
            passages: answer
                .passages
                .into_iter()
                .map(|passage| Passage {
                    text: self.scrub(passage.text),
                    ..passage
                })
                .collect(),
            model: self.scrub(answer.model),
            stop_reason: answer.stop_reason.map(|reason| self.scrub(reason)),
            request_id: answer.request_id.map(|id| self.scrub(id)),
            review: answer
                .review
                .map(|(cause, message)| (cause, self.scrub(message))),
            ..answer
        }
    }
}

/// Puts a value into the headers that shows in no log.
fn put(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(mut value) = HeaderValue::from_str(value) {
        value.set_sensitive(true);
        headers.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cause;

    #[test]
    fn headers_are_read_line_by_line() {
        let headers =
            read_headers("X-Team: red\n\n cf-aig-authorization : Bearer abc:def \n").unwrap();
        let names: Vec<&str> = headers.iter().map(ExtraHeader::name).collect();
        assert_eq!(names, ["x-team", "cf-aig-authorization"]);
        assert_eq!(headers[1].value.expose_secret(), "Bearer abc:def");
        assert!(read_headers("").unwrap().is_empty());
        assert!(!format!("{headers:?}").contains("abc"), "{headers:?}");
    }

    #[test]
    fn what_is_no_header_is_told_by_its_line_and_never_by_its_value() {
        for (text, problem) in [
            ("X-Team: red\nsecret", HeaderProblem::NotAHeader(2)),
            ("sec ret: x", HeaderProblem::NotAHeader(1)),
            (": secret", HeaderProblem::NotAHeader(1)),
            ("X-Team: se\u{7}cret", HeaderProblem::NotAHeader(1)),
            (
                "Content-Length: 3",
                HeaderProblem::Ours("content-length".to_owned()),
            ),
        ] {
            let found = read_headers(text).unwrap_err();
            assert_eq!(found, problem, "{text}");
            assert!(!found.to_string().contains("secret"), "{found}");
        }
        assert_eq!(
            read_headers(&"a: b\n".repeat(21)).unwrap_err(),
            HeaderProblem::TooMany
        );
    }

    #[test]
    fn nothing_that_lets_in_is_left_in_a_message() {
        let access = Access {
            key: SecretString::from("sk-ant-1"),
            auth: AuthScheme::Bearer,
            headers: read_headers("X-Gate: Bearer gate-token\nX-Team: red").unwrap(),
        };
        let told = Failure::unsent(
            Cause::KeyRefused,
            "refused: sk-ant-1, Bearer gate-token, gate-token, red",
        );
        assert_eq!(
            access.scrub_failure(told).message,
            "refused: [key], [header], [header], red"
        );
    }
}
