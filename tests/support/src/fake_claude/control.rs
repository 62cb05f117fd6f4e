//! How other programs steer the double and look into it. No key is asked for here.
//!
//! | call | does |
//! |---|---|
//! | `POST /__fake/advance` `{"seconds": 3600}` | turns the clock forward |
//! | `POST /__fake/rules` `{"reply": {…}, …}` | adds a rule |
//! | `GET /__fake/clock` | tells the time |
//! | `GET /__fake/requests` | what arrived: method, path, bytes |
//! | `GET /__fake/batches` | all batches, deleted ones too |
//! | `GET /__fake/files` | all files, deleted ones too |
//! | `GET /__fake/bill` | what is billed: each call, and all in micro-dollars |
//! | `GET /__fake/limits` | how often a limit was passed, and how many connections were taken |

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::{get, post};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Shared;
use super::check::invalid;
use super::fault::Canned;
use super::script::Rule;
use super::server::{Answered, respond_json};

const ID: &str = "req_control";

pub(super) fn router() -> Router<Arc<Shared>> {
    Router::new()
        .route("/__fake/advance", post(advance))
        .route("/__fake/rules", post(add_rule))
        .route("/__fake/clock", get(clock))
        .route("/__fake/requests", get(requests))
        .route("/__fake/batches", get(batches))
        .route("/__fake/files", get(files))
        .route("/__fake/bill", get(bill))
        .route("/__fake/limits", get(limits))
}

#[derive(Deserialize)]
struct Advance {
    seconds: u64,
}

async fn advance(State(shared): State<Arc<Shared>>, body: Bytes) -> Answered {
    told(read(&body).map(|Advance { seconds }| {
        shared.clock.advance(Duration::from_secs(seconds));
        json!({"now": shared.clock.now().to_string()})
    }))
}

async fn add_rule(State(shared): State<Arc<Shared>>, body: Bytes) -> Answered {
    told(read(&body).map(|rule: Rule| {
        shared.script.add(rule);
        json!({})
    }))
}

async fn clock(State(shared): State<Arc<Shared>>) -> Answered {
    told(Ok(json!({"now": shared.clock.now().to_string()})))
}

async fn requests(State(shared): State<Arc<Shared>>) -> Answered {
    let requests: Vec<Value> = shared
        .journal
        .all()
        .iter()
        .map(|request| {
            json!({
                "method": request.method,
                "path": request.path,
                "body_bytes": request.body_bytes,
                "model": request.model,
                "titles": request
                    .documents
                    .iter()
                    .map(|document| &document.title)
                    .collect::<Vec<_>>(),
            })
        })
        .collect();
    told(Ok(json!(requests)))
}

async fn batches(State(shared): State<Arc<Shared>>) -> Answered {
    let batches: Vec<Value> = shared
        .batches
        .record(shared.clock.now())
        .iter()
        .map(|batch| {
            let requests: Vec<Value> = batch
                .requests
                .iter()
                .map(|request| {
                    json!({
                        "custom_id": request.custom_id,
                        "status": request.status,
                        "micro_dollars": request.micro_dollars,
                    })
                })
                .collect();
            json!({
                "id": batch.id,
                "created_at": batch.created_at.to_string(),
                "ends_at": batch.ends_at.to_string(),
                "ended": batch.ended,
                "cancelled_at": batch.cancelled_at.map(|at| at.to_string()),
                "deleted": batch.deleted,
                "requests": requests,
            })
        })
        .collect();
    told(Ok(json!(batches)))
}

async fn files(State(shared): State<Arc<Shared>>) -> Answered {
    let files: Vec<Value> = shared
        .files
        .record()
        .iter()
        .map(|file| {
            json!({
                "id": file.id,
                "filename": file.filename,
                "bytes": file.bytes,
                "sha256": file.sha256,
                "expires_at": file.expires_at.map(|at| at.to_string()),
                "deleted": file.deleted,
                "reads": file.reads,
            })
        })
        .collect();
    told(Ok(json!(files)))
}

async fn bill(State(shared): State<Arc<Shared>>) -> Answered {
    told(Ok(json!({
        "micro_dollars": shared.billed_in_all(),
        "calls": shared.billed(),
    })))
}

async fn limits(State(shared): State<Arc<Shared>>) -> Answered {
    let refusals = shared.limits.refusals();
    told(Ok(json!({
        "caused_429s": refusals.total(),
        "requests": refusals.requests,
        "input_tokens": refusals.input_tokens,
        "output_tokens": refusals.output_tokens,
        "ramp": refusals.ramp,
        "other_calls": refusals.other_calls,
        "connections": shared.connections.load(Ordering::SeqCst),
    })))
}

fn read<T: serde::de::DeserializeOwned>(body: &[u8]) -> Result<T, Canned> {
    serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))
}

fn told(done: Result<Value, Canned>) -> Answered {
    match done {
        Ok(value) => respond_json(&value, ID),
        Err(canned) => canned.respond(ID),
    }
}
