//! The routes, and what all calls have in common.

use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{ConnectInfo, Query, Request, State};
use axum::http::Response;
use axum::routing::{get, post};
use serde_json::Value;

use super::check::{self, invalid};
use super::connection::Cut;
use super::fault::Canned;
use super::journal::Recorded;
use super::limits;
use super::meter::Meter;
use super::reply::Reply;
use super::script::Call;
use super::stream::{self, Step};
use super::{Shared, batches, control, files, messages, models};

/// So much of a body is read, however small the most is that is taken.
const LEAST_READ_BYTES: usize = 64 * 1024 * 1024;

pub(super) type Answered = Response<Body>;

pub(super) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/v1/messages", post(messages::create))
        .route("/v1/messages/count_tokens", post(messages::count_tokens))
        .route(
            "/v1/messages/batches",
            post(batches::create).get(batches::list),
        )
        .route(
            "/v1/messages/batches/{id}",
            get(batches::retrieve).delete(batches::delete),
        )
        .route("/v1/messages/batches/{id}/cancel", post(batches::cancel))
        .route("/v1/messages/batches/{id}/results", get(batches::results))
        .route("/v1/files", post(files::upload).get(files::list))
        .route("/v1/files/{id}", get(files::retrieve).delete(files::delete))
        .route("/v1/models", get(models::list))
        .route("/v1/models/{id}", get(models::retrieve))
        .merge(control::router())
        .fallback(unknown)
        .with_state(shared)
}

/// A request without its body.
pub(super) struct Head {
    pub(super) recorded: Recorded,
    pub(super) workspace: String,
    /// Where its sender thinks that this server is.
    pub(super) base: String,
    pub(super) query: Vec<(String, String)>,
    cut: Cut,
}

impl Head {
    pub(super) fn of(shared: &Shared, request: &Request) -> Self {
        let query = Query::try_from_uri(request.uri());
        let cut = request.extensions().get::<ConnectInfo<Cut>>();
        let mut head = Self {
            recorded: Recorded {
                method: request.method().to_string(),
                path: request.uri().path().to_owned(),
                headers: request.headers().clone(),
                ..Recorded::default()
            },
            workspace: check::workspace(shared, request.headers()),
            base: String::new(),
            query: query.map(|Query(query)| query).unwrap_or_default(),
            cut: cut.map(|ConnectInfo(cut)| cut.clone()).unwrap_or_default(),
        };
        head.base = format!("http://{}", head.header("host").unwrap_or("127.0.0.1"));
        head
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.recorded.headers.get(name)?.to_str().ok()
    }

    /// Cuts the connection that this came by: no byte of the answer leaves.
    pub(super) fn cut(&self) {
        self.cut.cut();
    }
}

/// Reads a body; `None` for one of more than `most` bytes. What is too large is read all the same, up to
/// some point, so that its sender gets to hear of it.
pub(super) async fn read_body(
    request: Request,
    most: usize,
    recorded: &mut Recorded,
) -> Result<Option<Bytes>, Canned> {
    let readable = most.saturating_mul(4).max(LEAST_READ_BYTES);
    let body = to_bytes(request.into_body(), readable).await;
    let body = body.map_err(|_| invalid("The body broke off"))?;
    recorded.body_bytes = body.len();
    Ok((body.len() <= most).then_some(body))
}

/// What a call that is no message answers with.
pub(super) enum Done {
    /// One JSON value.
    Json(Value),
    /// Lines of JSON.
    Lines(Vec<String>),
}

/// Answers a call that is no message: by what is scripted for it, or by its work.
pub(super) async fn other(
    shared: &Shared,
    call: Call,
    head: &Head,
    work: impl FnOnce() -> Result<Done, Canned>,
) -> Answered {
    shared.journal.add(head.recorded.clone());
    let id = format!("req_side{:020}", shared.journal.len());
    let (_, reply) = shared.script.other(call, &head.recorded);
    let now = shared.clock.now();
    let begun = check::check_headers(shared, &head.recorded.headers).and_then(|()| {
        if shared.drops_documents && !matches!(call, Call::ListModels | Call::GetModel) {
            return Err(not_found());
        }
        shared.limits.take_other(call, now)
    });
    let mut response = match begun {
        Err(canned) => canned.respond(&id),
        Ok(()) => match reply {
            Some(Reply::Fault { fault }) => fault.canned().respond(&id),
            Some(Reply::Status(canned)) => canned.respond(&id),
            Some(Reply::Hang) => {
                shared.stopped.cancelled().await;
                Response::new(Body::empty())
            }
            Some(Reply::Lost) => {
                let answer = answered(shared, work(), None, &id);
                head.cut();
                answer
            }
            Some(Reply::Cut { after_deltas }) => answered(shared, work(), Some(after_deltas), &id),
            _ => answered(shared, work(), None, &id),
        },
    };
    let model = head.recorded.model.as_deref();
    limits::add(&shared.limits, &mut response, model, now);
    response
}

/// Sends what was done, lines only up to `cut_after`.
fn answered(
    shared: &Shared,
    done: Result<Done, Canned>,
    cut_after: Option<usize>,
    id: &str,
) -> Answered {
    match done {
        Err(canned) => canned.respond(id),
        Ok(Done::Json(value)) => respond_json(&value, id),
        Ok(Done::Lines(lines)) => {
            let most = cut_after.unwrap_or(lines.len());
            let mut steps: Vec<_> = lines.into_iter().take(most).map(Step::Send).collect();
            if cut_after.is_some() {
                steps.extend(stream::drop_after_sending());
            }
            streamed(shared, steps, id, "application/x-jsonl", None)
        }
    }
}

async fn unknown(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::Unknown, &head, || Err(not_found())).await
}

fn not_found() -> Canned {
    Canned::error(404, "not_found_error", "Not found")
}

pub(super) fn respond_json(value: &Value, id: &str) -> Answered {
    Canned {
        status: 200,
        body: Some(value.clone()),
        ..Canned::default()
    }
    .respond(id)
}

pub(super) fn streamed(
    shared: &Shared,
    steps: Vec<Step>,
    id: &str,
    content_type: &str,
    meter: Option<Meter>,
) -> Answered {
    let mut response = Canned {
        status: 200,
        ..Canned::default()
    }
    .with_header("content-type", content_type)
    .with_header("cache-control", "no-cache")
    .respond(id);
    *response.body_mut() = stream::body(steps, shared.stopped.clone(), meter);
    response
}
