//! Reads a request as strictly as the API does.

use axum::http::HeaderMap;
use serde_json::Value;

use super::Shared;
use super::answer;
use super::document::{self, Library};
use super::fault::Canned;
use super::journal::Recorded;
use super::models;
use super::request;

/// The first version without sampling parameters.
const NEWEST_VERSION: &str = "2026-10-21";
const MOST_MESSAGES: usize = 100_000;
const VERSIONS: [&str; 3] = ["2023-01-01", "2023-06-01", NEWEST_VERSION];

/// What a call needs besides a body of the right shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Messages,
    CountTokens,
}

pub(super) fn invalid(message: impl AsRef<str>) -> Canned {
    Canned::error(400, "invalid_request_error", message.as_ref())
}

/// The key, which may come in either header.
fn key(headers: &HeaderMap) -> Option<&str> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    text("x-api-key").or_else(|| text("authorization")?.strip_prefix("Bearer "))
}

/// The workspace that a request acts in.
pub(super) fn workspace(shared: &Shared, headers: &HeaderMap) -> String {
    match key(headers) {
        Some(key) if shared.settings.key_is_workspace => key.to_owned(),
        _ => String::new(),
    }
}

/// Checks key and version, which every call needs.
pub(super) fn check_headers(shared: &Shared, headers: &HeaderMap) -> Result<(), Canned> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let key = key(headers);
    let refused = |message| Err(Canned::error(401, "authentication_error", message));
    match (key, &shared.api_key) {
        (None | Some(""), _) => {
            return refused("x-api-key header is required");
        }
        (Some(key), Some(wanted)) if key != wanted => return refused("invalid x-api-key"),
        _ => {}
    }
    // A page in a browser asks so.
    if headers.contains_key("origin") {
        return refused(
            "CORS requests are not allowed for this Organization because custom retention settings are in use",
        );
    }
    match text("anthropic-version") {
        None => Err(invalid("anthropic-version: header is required")),
        Some(version) if VERSIONS.contains(&version) => Ok(()),
        Some(version) => Err(invalid(format!(
            "anthropic-version: \"{version}\" is not a valid version"
        ))),
    }
}

/// Reads the body into `recorded`, as far as it goes, and checks it.
pub(super) fn check_body(
    shared: &Shared,
    endpoint: Endpoint,
    body: &[u8],
    recorded: &mut Recorded,
) -> Result<(), Canned> {
    let content_type = recorded
        .headers
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    if !content_type.starts_with("application/json") {
        return Err(invalid("content-type: application/json is required"));
    }
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| invalid(format!("The request body is not valid JSON: {error}")))?;
    let workspace = workspace(shared, &recorded.headers);
    check_value(shared, &workspace, endpoint, &value, recorded)
}

/// Reads a message's fields into `recorded`, as far as they go, and checks them.
pub(super) fn check_value(
    shared: &Shared,
    workspace: &str,
    endpoint: Endpoint,
    value: &Value,
    recorded: &mut Recorded,
) -> Result<(), Canned> {
    let library = Library {
        files: &shared.files,
        workspace,
        now: shared.clock.now(),
    };
    let Some(object) = value.as_object() else {
        return Err(invalid("The request body must be an object"));
    };
    recorded.fields = object.keys().cloned().collect();
    recorded.fields.sort();
    recorded.stream = value["stream"] == true;
    recorded.model = value["model"].as_str().map(str::to_owned);
    recorded.max_tokens = value["max_tokens"].as_u64();
    read_messages(&library, value, recorded)?;
    recorded.schema = read_format(&value["output_config"]["format"])?;
    if recorded.cited && recorded.schema.is_some() {
        return Err(invalid(
            "output_config.format: citations can not be enabled together with structured outputs",
        ));
    }

    let Some(model) = &recorded.model else {
        return Err(invalid("model: Field required"));
    };
    if endpoint == Endpoint::Messages && recorded.max_tokens.is_none() {
        return Err(invalid("max_tokens: Field required"));
    }
    let model = models::find(model, library.now)?;
    let is_newest = recorded
        .headers
        .get("anthropic-version")
        .is_some_and(|version| version == NEWEST_VERSION);
    if is_newest {
        check_newest(value)?;
    }
    request::check(model, is_newest, value)?;
    recorded.thinks = match value["thinking"]["type"].as_str() {
        None => model.thinks(),
        Some(kind) => matches!(kind, "adaptive" | "enabled"),
    };
    recorded.effort = value["output_config"]["effort"].as_str().map(str::to_owned);
    recorded.counts_more = model.counts_more;
    let pages: u64 = recorded
        .documents
        .iter()
        .map(|document| document.pages)
        .sum();
    let most = model.most_pages();
    if pages > most {
        return Err(invalid(format!(
            "A maximum of {most} PDF pages may be provided."
        )));
    }
    let (tokens, window) = (answer::input_tokens(recorded), model.window);
    if endpoint == Endpoint::Messages && tokens > window {
        return Err(invalid(format!(
            "prompt is too long: {tokens} tokens > {window} maximum"
        )));
    }
    Ok(())
}

/// What the newest version takes no more.
fn check_newest(value: &Value) -> Result<(), Canned> {
    for (at, message) in value["messages"]
        .as_array()
        .into_iter()
        .flatten()
        .enumerate()
    {
        let blocks = message["content"].as_array().into_iter().flatten();
        for (index, block) in blocks.enumerate() {
            let place = format!("messages.{at}.content.{index}");
            if message["role"] == "assistant" && block["type"] == "document" {
                return Err(invalid(format!(
                    "{place}: document blocks are not permitted in assistant messages"
                )));
            }
            let citations = block["citations"].as_array();
            if message["role"] == "user"
                && block["type"] == "text"
                && citations.is_some_and(|citations| !citations.is_empty())
            {
                return Err(invalid(format!(
                    "{place}.citations: citations are not permitted in user messages"
                )));
            }
        }
    }
    Ok(())
}

/// Reads the JSON Schema that the answer has to follow, as strictly as the API takes it.
fn read_format(format: &Value) -> Result<Option<Value>, Canned> {
    if format.is_null() {
        return Ok(None);
    }
    if format["type"] != "json_schema" {
        return Err(invalid(
            "output_config.format.type: Input should be 'json_schema'",
        ));
    }
    let schema = &format["schema"];
    let closed = schema["type"] == "object" && schema["additionalProperties"] == false;
    if !closed || !schema["properties"].is_object() {
        return Err(invalid(
            "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
        ));
    }
    Ok(Some(schema.clone()))
}

fn read_messages(
    library: &Library<'_>,
    value: &Value,
    recorded: &mut Recorded,
) -> Result<(), Canned> {
    let Some(messages) = value["messages"].as_array() else {
        return Err(invalid("messages: Field required"));
    };
    if messages.is_empty() {
        return Err(invalid("messages: at least one message is required"));
    }
    if messages.len() > MOST_MESSAGES {
        return Err(invalid(format!(
            "messages: at most {MOST_MESSAGES} messages are permitted"
        )));
    }
    let mut texts = Vec::new();
    let mut cited = Vec::new();
    recorded.documents_first = true;
    for (at, message) in messages.iter().enumerate() {
        if !matches!(
            message["role"].as_str(),
            Some("user" | "assistant" | "system")
        ) {
            return Err(invalid(format!(
                "messages.{at}.role: Input should be 'user' or 'assistant'"
            )));
        }
        if let Some(text) = message["content"].as_str() {
            texts.push(text.to_owned());
            continue;
        }
        let Some(blocks) = message["content"].as_array() else {
            return Err(invalid(format!("messages.{at}.content: Field required")));
        };
        for (index, block) in blocks.iter().enumerate() {
            let place = format!("messages.{at}.content.{index}");
            match block["type"].as_str() {
                Some("text") => {
                    let text = block["text"].as_str().unwrap_or_default();
                    if text.trim().is_empty() {
                        return Err(invalid(
                            "messages: text content blocks must contain non-whitespace text",
                        ));
                    }
                    texts.push(text.to_owned());
                }
                Some("document") => {
                    recorded.documents_first &= texts.is_empty();
                    cited.push(block["citations"]["enabled"] == true);
                    recorded
                        .documents
                        .extend(document::read(library, &place, block)?);
                }
                Some(_) => {}
                None => return Err(invalid(format!("{place}.type: Field required"))),
            }
        }
    }
    recorded.cited = cited.contains(&true);
    if recorded.cited && cited.contains(&false) {
        return Err(invalid(
            "Citations must be enabled on all or none of the documents of a request.",
        ));
    }
    recorded.prompt = texts.join("\n");
    Ok(())
}
