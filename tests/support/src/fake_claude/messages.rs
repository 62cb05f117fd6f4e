//! `POST /v1/messages` and `POST /v1/messages/count_tokens`.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::Response;
use serde_json::json;

use super::Shared;
use super::answer::{self, Message};
use super::check::{self, Endpoint};
use super::fault::{Canned, Fault};
use super::limits;
use super::meter::Meter;
use super::reply::{Plan, Reply};
use super::script::Call;
use super::server::{Answered, Done, Head, other, read_body, respond_json, streamed};
use super::stream::{self, Step, Until};

/// The largest request that the API takes.
const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;
const EVENTS: &str = "text/event-stream; charset=utf-8";

/// `POST /v1/messages`.
pub(super) async fn create(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    let (number, unread) = shared.script.number();
    let id = format!("req_{number:024}");
    if unread {
        // The body lives, unread, until the server stops.
        shared.stopped.cancelled().await;
        drop(request);
        return Response::new(Body::empty());
    }
    let (mut head, checked) = receive(&shared, Endpoint::Messages, request).await;
    shared.journal.add(head.recorded.clone());
    let model = head.recorded.model.clone().unwrap_or_default();
    let begun = checked.and_then(|()| {
        shared.check_spend()?;
        let input = answer::input_tokens(&head.recorded);
        shared.limits.take(&model, input, shared.clock.now())
    });
    let mut response = match begun {
        Err(canned) => canned.respond(&id),
        Ok(()) => {
            tokio::time::sleep(shared.latency).await;
            let reply = shared.script.reply(number, &head.recorded);
            if shared.drops_documents {
                head.recorded.documents.clear();
                head.recorded.cited = false;
            }
            follow(&shared, reply, &head, number, &id).await
        }
    };
    limits::add(
        &shared.limits,
        &mut response,
        Some(&model),
        shared.clock.now(),
    );
    response
}

async fn follow(
    shared: &Arc<Shared>,
    reply: Reply,
    head: &Head,
    number: usize,
    id: &str,
) -> Answered {
    let request = &head.recorded;
    let message = |plan: &Plan| Message::new(plan, request, number);
    let meter = |message: &Message| Meter::begin(shared, request.title(), message, id);
    let send = |until, after: &[Step]| {
        let message = message(&Plan::default());
        let mut steps = stream::steps(&message, until, Duration::ZERO);
        steps.extend_from_slice(after);
        streamed(shared, steps, id, EVENTS, Some(meter(&message)))
    };
    match reply {
        Reply::Answer(plan) => {
            let message = message(&plan);
            let wait = Duration::from_millis(plan.event_delay_ms);
            if request.stream {
                let steps = stream::steps(&message, Until::End, wait);
                return streamed(shared, steps, id, EVENTS, Some(meter(&message)));
            }
            tokio::time::sleep(wait).await;
            meter(&message).written(message.output_tokens);
            respond_json(&message.whole(), id)
        }
        Reply::Fault { fault } => fault.canned().respond(id),
        Reply::Status(canned) => canned.respond(id),
        Reply::ErrorEvent {
            after_deltas,
            error,
        } => {
            let data = json!({"type": "error", "error": error, "request_id": id});
            let event = Step::Send(stream::frame("error", &data));
            send(Until::Deltas(after_deltas), &[event])
        }
        Reply::Cut { after_deltas } => {
            send(Until::Deltas(after_deltas), &stream::drop_after_sending())
        }
        Reply::Unfinished => send(Until::BeforeStop, &[]),
        Reply::Stall { after_deltas } => send(Until::Deltas(after_deltas), &[Step::Stall]),
        Reply::Lost => {
            let message = message(&Plan::default());
            meter(&message).written(message.output_tokens);
            head.cut();
            respond_json(&message.whole(), id)
        }
        Reply::Hang | Reply::NeverRead | Reply::Expired => {
            shared.stopped.cancelled().await;
            Response::new(Body::empty())
        }
        Reply::Raw {
            chunks,
            content_type,
        } => {
            let steps = chunks.into_iter().map(Step::Send).collect();
            let content_type = content_type.as_deref().unwrap_or("text/event-stream");
            streamed(shared, steps, id, content_type, None)
        }
    }
}

/// `POST /v1/messages/count_tokens`.
pub(super) async fn count_tokens(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    let (head, checked) = receive(&shared, Endpoint::CountTokens, request).await;
    other(&shared, Call::CountTokens, &head, || {
        checked?;
        let counted = answer::input_tokens(&head.recorded);
        Ok(Done::Json(json!({"input_tokens": counted})))
    })
    .await
}

/// Reads a request whole, even one that is refused: a sender that is cut off hears nothing.
async fn receive(
    shared: &Shared,
    endpoint: Endpoint,
    request: Request,
) -> (Head, Result<(), Canned>) {
    let mut head = Head::of(shared, &request);
    let headers = check::check_headers(shared, request.headers());
    let body = read_body(request, MAX_BODY_BYTES, &mut head.recorded).await;
    let checked = headers.and(body).and_then(|body| match body {
        Some(body) => check::check_body(shared, endpoint, &body, &mut head.recorded),
        None => Err(Fault::TooLarge.canned()),
    });
    (head, checked)
}
