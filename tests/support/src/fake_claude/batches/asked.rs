//! Reads what a batch is made of.

use std::collections::HashSet;

use axum::http::HeaderMap;
use serde_json::{Value, json};

use super::super::Shared;
use super::super::answer::Message;
use super::super::bill::{self, BilledTokens};
use super::super::check::{self, Endpoint, invalid};
use super::super::fault::Canned;
use super::super::journal::Recorded;
use super::super::reply::{Plan, Reply};
use super::super::script::Call;
use super::{Item, Outcome};

const LONGEST_ID: usize = 64;

/// One request as it was sent.
pub(super) struct Asked {
    custom_id: String,
    params: Value,
}

/// Reads the requests of a create call. What is wrong with the message of one of them shows in the results
/// only, as with the API.
pub(super) fn read(body: &[u8], most: usize) -> Result<Vec<Asked>, Canned> {
    let mut body: Value = serde_json::from_slice(body)
        .map_err(|error| invalid(format!("The request body is not valid JSON: {error}")))?;
    let Value::Array(requests) = body["requests"].take() else {
        return Err(invalid("requests: Field required"));
    };
    if requests.is_empty() {
        return Err(invalid(
            "requests: List should have at least 1 item after validation, not 0",
        ));
    }
    if requests.len() > most {
        return Err(invalid(format!(
            "requests: List should have at most {most} items after validation, not {}",
            requests.len()
        )));
    }
    let mut known = HashSet::new();
    let mut asked = Vec::with_capacity(requests.len());
    for (at, mut request) in requests.into_iter().enumerate() {
        let Some(custom_id) = request["custom_id"].as_str().map(str::to_owned) else {
            return Err(invalid(format!("requests.{at}.custom_id: Field required")));
        };
        if !is_id(&custom_id) {
            return Err(invalid(format!(
                "requests.{at}.custom_id: String should match pattern '^[a-zA-Z0-9_-]{{1,64}}$'"
            )));
        }
        if !known.insert(custom_id.clone()) {
            return Err(invalid(format!(
                "requests.{at}.custom_id: custom_id must be unique within the batch: {custom_id}"
            )));
        }
        let params = request["params"].take();
        refuse_forbidden(at, &params)?;
        asked.push(Asked { custom_id, params });
    }
    Ok(asked)
}

fn is_id(text: &str) -> bool {
    (1..=LONGEST_ID).contains(&text.len())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn refuse_forbidden(at: usize, params: &Value) -> Result<(), Canned> {
    if !params.is_object() {
        return Err(invalid(format!("requests.{at}.params: Field required")));
    }
    if params["stream"] == true {
        return Err(invalid(format!(
            "requests.{at}.params.stream: Streaming is not supported in batches"
        )));
    }
    if params["max_tokens"] == 0 {
        return Err(invalid(format!(
            "requests.{at}.params.max_tokens: Input should be greater than or equal to 1"
        )));
    }
    for field in ["speed", "thread", "thread_id"] {
        if params.get(field).is_some_and(|value| !value.is_null()) {
            return Err(invalid(format!(
                "requests.{at}.params.{field}: Extra inputs are not permitted"
            )));
        }
    }
    Ok(())
}

/// Decides what becomes of a request, which nobody hears of before the batch has ended.
pub(super) fn decide(shared: &Shared, workspace: &str, headers: &HeaderMap, asked: &Asked) -> Item {
    let mut request = Recorded {
        method: "POST".to_owned(),
        path: "/v1/messages".to_owned(),
        headers: headers.clone(),
        custom_id: Some(asked.custom_id.clone()),
        ..Recorded::default()
    };
    let checked = check::check_value(
        shared,
        workspace,
        Endpoint::Messages,
        &asked.params,
        &mut request,
    );
    let (number, reply) = shared.script.other(Call::BatchRequest, &request);
    let (outcome, tokens) = match checked {
        Err(canned) => (
            Outcome::Failed(failed(&canned, number)),
            BilledTokens::default(),
        ),
        Ok(()) => follow(&request, reply, number),
    };
    let model = request.model.as_deref().unwrap_or_default();
    Item {
        micro_dollars: bill::price(model, &tokens, true),
        custom_id: asked.custom_id.clone(),
        request,
        outcome,
        tokens,
    }
}

fn follow(request: &Recorded, reply: Option<Reply>, number: usize) -> (Outcome, BilledTokens) {
    let broken = || Canned::error(500, "api_error", "Internal server error");
    let outcome = match reply.unwrap_or_else(|| Reply::Answer(Plan::default())) {
        Reply::Answer(plan) => {
            let message = Message::new(&plan, request, number);
            let tokens = message.billed();
            let mut message = message.whole();
            message["id"] = json!(format!("msg_batched{number:017}"));
            message["usage"]["service_tier"] = json!("batch");
            return (Outcome::Answered(message), tokens);
        }
        Reply::Fault { fault } => Outcome::Failed(failed(&fault.canned(), number)),
        Reply::Status(canned) => Outcome::Failed(failed(&canned, number)),
        Reply::ErrorEvent { error, .. } => Outcome::Failed(
            json!({"type": "error", "error": error, "request_id": request_id(number)}),
        ),
        Reply::Expired | Reply::Hang | Reply::Stall { .. } | Reply::NeverRead => Outcome::Forgotten,
        Reply::Cut { .. } | Reply::Unfinished | Reply::Lost | Reply::Raw { .. } => {
            Outcome::Failed(failed(&broken(), number))
        }
    };
    (outcome, BilledTokens::default())
}

fn request_id(number: usize) -> String {
    format!("req_batched{number:017}")
}

/// The error object of an error; one without is the API's own trouble.
fn failed(canned: &Canned, number: usize) -> Value {
    let mut error = match &canned.body {
        Some(body) if body["type"] == "error" => body.clone(),
        _ => json!({
            "type": "error",
            "error": {"type": "api_error", "message": "Internal server error"},
        }),
    };
    error["request_id"] = json!(request_id(number));
    error
}
