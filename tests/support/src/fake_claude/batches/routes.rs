//! The calls about batches.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Path, Request, State};
use jiff::Timestamp;
use serde_json::json;

use super::super::Shared;
use super::super::check::invalid;
use super::super::clock::later;
use super::super::fault::{Canned, Fault};
use super::super::page;
use super::super::script::Call;
use super::super::server::{Answered, Done, Head, other, read_body};
use super::{Batch, Item, Outcome, asked, lines};

/// `POST /v1/messages/batches`.
pub(in super::super) async fn create(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Answered {
    let settings = &shared.settings.batches;
    let mut head = Head::of(&shared, &request);
    let body = read_body(request, settings.most_bytes, &mut head.recorded).await;
    let read = body.and_then(|body| match body {
        Some(body) => asked::read(&body, settings.most_requests),
        None => Err(Fault::TooLarge.canned()),
    });
    head.recorded.batched = read.as_ref().map_or(0, Vec::len);
    other(&shared, Call::CreateBatch, &head, || {
        let requests = read?;
        shared.check_spend()?;
        let now = shared.clock.now();
        let mut batches = shared.batches.lock();
        if let Some(most) = settings.most_queued {
            let waiting: usize = batches
                .iter()
                .filter(|batch| !batch.has_ended(now))
                .map(|batch| batch.items.len())
                .sum();
            if (waiting + requests.len()) as u64 > most {
                return Err(too_many_queued(most));
            }
        }
        let headers = &head.recorded.headers;
        let items: Vec<Item> = requests
            .iter()
            .map(|request| asked::decide(&shared, &head.workspace, headers, request))
            .collect();
        let batch = Batch {
            id: format!("msgbatch_{:024}", batches.len() + 1),
            workspace: head.workspace.clone(),
            created_at: now,
            work: Duration::from_secs(settings.seconds),
            cancelled: None,
            deleted: false,
            has_forgotten: items
                .iter()
                .any(|item| matches!(item.outcome, Outcome::Forgotten)),
            items,
        };
        let described = batch.describe(now, &head.base);
        batches.push(batch);
        Ok(Done::Json(described))
    })
    .await
}

fn too_many_queued(most: u64) -> Canned {
    Canned::error(
        429,
        "rate_limit_error",
        &format!(
            "This request would exceed your organization's limit of {most} batch requests in the processing queue."
        ),
    )
}

/// `GET /v1/messages/batches`.
pub(in super::super) async fn list(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::ListBatches, &head, || {
        let now = shared.clock.now();
        let hidden = Duration::from_secs(shared.settings.batches.listed_after_seconds);
        let batches = shared.batches.lock();
        let listed: Vec<_> = batches
            .iter()
            .rev()
            .filter(|batch| is_visible(batch, &head) && now >= later(batch.created_at, hidden))
            .map(|batch| (batch.id.as_str(), batch.describe(now, &head.base)))
            .collect();
        page::by_id(&listed, &head.query).map(Done::Json)
    })
    .await
}

/// `GET /v1/messages/batches/{id}`.
pub(in super::super) async fn retrieve(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::GetBatch, &head, || {
        with(&shared, &head, &id, |batch, now| {
            Ok(Done::Json(batch.describe(now, &head.base)))
        })
    })
    .await
}

/// `POST /v1/messages/batches/{id}/cancel`.
pub(in super::super) async fn cancel(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    let wait = Duration::from_secs(shared.settings.batches.cancel_seconds);
    other(&shared, Call::CancelBatch, &head, || {
        with(&shared, &head, &id, |batch, now| {
            if batch.has_ended(now) {
                return Err(invalid(format!(
                    "Batch {id} cannot be canceled because it has already ended."
                )));
            }
            batch.cancelled.get_or_insert((now, wait));
            let mut described = batch.describe(now, &head.base);
            // It ends at once at the earliest after this answer.
            if batch.has_ended(now) {
                described["processing_status"] = json!("canceling");
                described["ended_at"] = json!(null);
                described["results_url"] = json!(null);
                described["request_counts"] = json!({
                    "processing": batch.items.len(),
                    "succeeded": 0, "errored": 0, "canceled": 0, "expired": 0,
                });
            }
            Ok(Done::Json(described))
        })
    })
    .await
}

/// `DELETE /v1/messages/batches/{id}`.
pub(in super::super) async fn delete(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::DeleteBatch, &head, || {
        with(&shared, &head, &id, |batch, now| {
            if !batch.has_ended(now) {
                return Err(invalid(format!(
                    "Batch {id} cannot be deleted because it is still processing; cancel it first."
                )));
            }
            batch.deleted = true;
            Ok(Done::Json(
                json!({"id": id, "type": "message_batch_deleted"}),
            ))
        })
    })
    .await
}

/// `GET /v1/messages/batches/{id}/results`.
pub(in super::super) async fn results(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    let wait = Duration::from_secs(shared.settings.batches.results_after_seconds);
    other(&shared, Call::BatchResults, &head, || {
        with(&shared, &head, &id, |batch, now| {
            if now < later(batch.ends_at(), wait) || batch.is_archived(now) {
                return Err(Canned::error(
                    404,
                    "not_found_error",
                    &format!("Results of batch {id} are not available."),
                ));
            }
            Ok(Done::Lines(lines::lines(batch, now)))
        })
    })
    .await
}

fn is_visible(batch: &Batch, head: &Head) -> bool {
    !batch.deleted && batch.workspace == head.workspace
}

/// Does something with a batch that can be seen.
fn with(
    shared: &Shared,
    head: &Head,
    id: &str,
    work: impl FnOnce(&mut Batch, Timestamp) -> Result<Done, Canned>,
) -> Result<Done, Canned> {
    let now = shared.clock.now();
    let hidden = Duration::from_secs(shared.settings.batches.found_after_seconds);
    let mut batches = shared.batches.lock();
    let found = batches.iter_mut().find(|batch| {
        batch.id == id && is_visible(batch, head) && now >= later(batch.created_at, hidden)
    });
    match found {
        Some(batch) => work(batch, now),
        None => Err(Canned::error(
            404,
            "not_found_error",
            &format!("Message batch {id} not found."),
        )),
    }
}
