//! The routes.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Path, Request, State};
use axum::http::{HeaderValue, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::Shared;
use super::answer::{self, Message};
use super::catalogue;
use super::check::{self, Endpoint};
use super::fault::{Canned, Fault};
use super::journal::Recorded;
use super::script::{Plan, Reply};
use super::stream::{self, Step};

/// The largest request that the API takes.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
/// The most that is read of a request that is too large, so that its sender gets to hear of it.
const MAX_READ_BYTES: usize = 4 * MAX_BODY_BYTES;
/// Requests a minute that the headers speak of.
const REQUESTS_LIMIT: usize = 1_000;

type Answered = Response<Body>;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages))
        .route("/v1/messages/count_tokens", post(count_tokens))
        .route("/v1/models", get(models))
        .route("/v1/models/{id}", get(model))
        .fallback(unknown)
        .with_state(shared)
}

async fn messages(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    let (number, unread) = shared.script.number();
    let id = format!("req_{number:024}");
    if unread {
        // The body lives, unread, until the server stops.
        shared.stopped.cancelled().await;
        drop(request);
        return Response::new(Body::empty());
    }
    let (recorded, checked) = receive(&shared, Endpoint::Messages, request).await;
    shared.journal.add(recorded.clone());
    if let Err(canned) = checked {
        return canned.respond(&id);
    }
    tokio::time::sleep(shared.latency).await;
    let reply = shared.script.reply(number, &recorded);
    let mut read = recorded;
    if shared.drops_documents {
        read.documents.clear();
        read.cited = false;
    }
    let mut response = follow(&shared, reply, &read, number, &id).await;
    add_limits(&mut response, number);
    response
}

async fn follow(
    shared: &Shared,
    reply: Reply,
    request: &Recorded,
    number: usize,
    id: &str,
) -> Answered {
    let message = |plan: &Plan| Message::new(plan, request, number);
    let plain = || message(&Plan::default());
    let send = |steps| streamed(shared, steps, id, "text/event-stream; charset=utf-8");
    match reply {
        Reply::Answer(plan) if request.stream => {
            let wait = Duration::from_millis(plan.event_delay_ms);
            let mut steps = Vec::new();
            for event in stream::events(&message(&plan)) {
                if !wait.is_zero() {
                    steps.push(Step::Wait(wait));
                }
                steps.push(Step::Send(event));
            }
            send(steps)
        }
        Reply::Answer(plan) => {
            tokio::time::sleep(Duration::from_millis(plan.event_delay_ms)).await;
            respond_json(&message(&plan).whole(), id)
        }
        Reply::Fault { fault } => fault.canned().respond(id),
        Reply::Status(canned) => canned.respond(id),
        Reply::ErrorEvent {
            after_deltas,
            error,
        } => {
            let mut steps = broken_off(&plain(), after_deltas);
            let data = json!({"type": "error", "error": error, "request_id": id});
            steps.push(Step::Send(stream::frame("error", &data)));
            send(steps)
        }
        Reply::Cut { after_deltas } => {
            let mut steps = broken_off(&plain(), after_deltas);
            // What was sent has to leave before the connection goes.
            steps.push(Step::Wait(Duration::from_millis(20)));
            steps.push(Step::Drop);
            send(steps)
        }
        Reply::Unfinished => {
            let mut events = stream::events(&plain());
            events.pop();
            send(events.into_iter().map(Step::Send).collect())
        }
        Reply::Stall { after_deltas } => {
            let mut steps = broken_off(&plain(), after_deltas);
            steps.push(Step::Stall);
            send(steps)
        }
        Reply::Hang | Reply::NeverRead => {
            shared.stopped.cancelled().await;
            Response::new(Body::empty())
        }
        Reply::Raw {
            chunks,
            content_type,
        } => {
            let steps = chunks.into_iter().map(Step::Send).collect();
            let content_type = content_type.as_deref().unwrap_or("text/event-stream");
            streamed(shared, steps, id, content_type)
        }
    }
}

fn broken_off(message: &Message, after_deltas: usize) -> Vec<Step> {
    let mut events = stream::beginning(message);
    events.extend(stream::deltas(message).into_iter().take(after_deltas));
    events.into_iter().map(Step::Send).collect()
}

async fn count_tokens(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    if shared.drops_documents {
        return unknown(State(shared), request).await;
    }
    let (recorded, checked) = receive(&shared, Endpoint::CountTokens, request).await;
    let counted = answer::input_tokens(&recorded);
    let id = side_request_id(&shared, recorded);
    match checked {
        Ok(()) => respond_json(&json!({"input_tokens": counted}), &id),
        Err(canned) => canned.respond(&id),
    }
}

async fn models(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    looked_up(&shared, &request, || Ok(catalogue::list()))
}

async fn model(
    State(shared): State<Arc<Shared>>,
    Path(name): Path<String>,
    request: Request,
) -> Answered {
    looked_up(&shared, &request, || {
        catalogue::one(&name)
            .ok_or_else(|| Canned::error(404, "not_found_error", &format!("model: {name}")))
    })
}

async fn unknown(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    looked_up(&shared, &request, || {
        Err(Canned::error(404, "not_found_error", "Not found"))
    })
}

fn looked_up(
    shared: &Shared,
    request: &Request,
    find: impl FnOnce() -> Result<Value, Canned>,
) -> Answered {
    let id = side_request_id(shared, recorded(request));
    let found = check::check_headers(shared, request.headers()).and_then(|()| find());
    let mut response = match found {
        Ok(value) => respond_json(&value, &id),
        Err(canned) => canned.respond(&id),
    };
    add_limits(&mut response, 0);
    response
}

/// Reads a request whole, even one that is refused: a sender that is cut off hears nothing.
async fn receive(
    shared: &Shared,
    endpoint: Endpoint,
    request: Request,
) -> (Recorded, Result<(), Canned>) {
    let mut recorded = recorded(&request);
    let headers = check::check_headers(shared, request.headers());
    let Ok(body) = to_bytes(request.into_body(), MAX_READ_BYTES).await else {
        let broken = Canned::error(400, "invalid_request_error", "The body broke off");
        return (recorded, Err(broken));
    };
    recorded.body_bytes = body.len();
    let checked = headers.and_then(|()| {
        if body.len() > MAX_BODY_BYTES {
            return Err(Fault::TooLarge.canned());
        }
        check::check_body(endpoint, &body, &mut recorded)
    });
    (recorded, checked)
}

fn recorded(request: &Request) -> Recorded {
    Recorded {
        method: request.method().to_string(),
        path: request.uri().path().to_owned(),
        headers: request.headers().clone(),
        ..Recorded::default()
    }
}

fn side_request_id(shared: &Shared, recorded: Recorded) -> String {
    shared.journal.add(recorded);
    format!("req_side{:020}", shared.journal.all().len())
}

fn respond_json(value: &Value, id: &str) -> Answered {
    Canned {
        status: 200,
        body: Some(value.clone()),
        ..Canned::default()
    }
    .respond(id)
}

fn streamed(shared: &Shared, steps: Vec<Step>, id: &str, content_type: &str) -> Answered {
    let mut response = Canned {
        status: 200,
        ..Canned::default()
    }
    .with_header("content-type", content_type)
    .with_header("cache-control", "no-cache")
    .respond(id);
    *response.body_mut() = stream::body(steps, shared.stopped.clone());
    response
}

fn add_limits(response: &mut Answered, used: usize) {
    let reset = (jiff::Timestamp::now() + Duration::from_secs(60))
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    let limits = [
        ("requests", REQUESTS_LIMIT),
        ("input-tokens", 2_000_000),
        ("output-tokens", 400_000),
        ("tokens", 2_400_000),
    ];
    let headers = response.headers_mut();
    for (what, limit) in limits {
        let remaining = limit.saturating_sub(used % limit);
        for (part, value) in [
            ("limit", limit.to_string()),
            ("remaining", remaining.to_string()),
            ("reset", reset.clone()),
        ] {
            let name = format!("anthropic-ratelimit-{what}-{part}");
            if let (Ok(name), Ok(value)) = (
                axum::http::HeaderName::try_from(name),
                HeaderValue::try_from(value),
            ) {
                headers.entry(name).or_insert(value);
            }
        }
    }
}
