//! Reads a request as strictly as the API does.

use axum::http::HeaderMap;
use serde_json::Value;

use super::Shared;
use super::answer;
use super::catalogue;
use super::document;
use super::fault::Canned;
use super::journal::Recorded;

/// The first version without sampling parameters.
const NEWEST_VERSION: &str = "2026-10-21";
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

/// Checks key and version, which every call needs.
pub(super) fn check_headers(shared: &Shared, headers: &HeaderMap) -> Result<(), Canned> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let key = text("x-api-key").or_else(|| text("authorization")?.strip_prefix("Bearer "));
    let refused = |message| Err(Canned::error(401, "authentication_error", message));
    match (key, &shared.api_key) {
        (None | Some(""), _) => {
            return refused("x-api-key header is required");
        }
        (Some(key), Some(wanted)) if key != wanted => return refused("invalid x-api-key"),
        _ => {}
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
    let Some(object) = value.as_object() else {
        return Err(invalid("The request body must be an object"));
    };
    recorded.fields = object.keys().cloned().collect();
    recorded.fields.sort();
    recorded.stream = value["stream"] == true;
    recorded.model = value["model"].as_str().map(str::to_owned);
    recorded.max_tokens = value["max_tokens"].as_u64();
    read_messages(&value, recorded)?;
    recorded.effort = value["output_config"]["effort"].as_str().map(str::to_owned);
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
    let newest = recorded
        .headers
        .get("anthropic-version")
        .is_some_and(|version| version == NEWEST_VERSION);
    for field in ["temperature", "top_p", "top_k"] {
        if newest && value.get(field).is_some() {
            return Err(invalid(format!("{field}: Extra inputs are not permitted")));
        }
    }
    let Some(window) = catalogue::window(model) else {
        return Err(Canned::error(
            404,
            "not_found_error",
            &format!("model: {model}"),
        ));
    };
    let pages: u64 = recorded
        .documents
        .iter()
        .map(|document| document.pages)
        .sum();
    let most = if window < 1_000_000 { 100 } else { 600 };
    if pages > most {
        return Err(invalid(format!(
            "A maximum of {most} PDF pages may be provided."
        )));
    }
    let tokens = answer::input_tokens(recorded);
    if endpoint == Endpoint::Messages && tokens > window {
        return Err(invalid(format!(
            "prompt is too long: {tokens} tokens > {window} maximum"
        )));
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

fn read_messages(value: &Value, recorded: &mut Recorded) -> Result<(), Canned> {
    let Some(messages) = value["messages"].as_array() else {
        return Err(invalid("messages: Field required"));
    };
    let Some(last) = messages.last() else {
        return Err(invalid("messages: at least one message is required"));
    };
    if last["role"] == "assistant" {
        return Err(invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
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
                    recorded.documents.extend(document::read(&place, block)?);
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
