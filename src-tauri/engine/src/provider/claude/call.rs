//! One call from the first byte sent to the last byte read, with its clocks.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Body, Response};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use super::answer::{Flow, Gathered};
use super::body::Upload;
use super::envelope::{Envelope, Purpose};
use super::event::{Event, Message};
use super::send::Sending;
use super::sse::{Decoder, RawEvent};
use super::{ClaudeProvider, Timeouts, failure, header};
use crate::model::{Cause, JobPhase};
use crate::provider::{Answer, Billed, Failure, Progress, Request};

/// The most that is read of an answer that is not a stream.
const MAX_BODY_READ: usize = 64 * 1024 * 1024;
/// The most that is read of an error.
const MAX_ERROR_READ: usize = 64 * 1024;
/// How long the end of an answer may be awaited after its last event.
const MAX_RELEASE: Duration = Duration::from_secs(5);

pub(super) async fn deliver(
    provider: &ClaudeProvider,
    request: &Request,
    progress: &dyn Progress,
    cancel: &CancellationToken,
) -> Result<Answer, Failure> {
    progress.advanced(JobPhase::Reading, 0);
    let sending = Arc::new(Sending::new());
    // It lives out here so that a call cut off from outside still tells what was counted.
    let mut gathered = Gathered::default();
    let exchange = timeout(
        provider.timeouts.total,
        exchange(provider, request, progress, &sending, &mut gathered),
    );
    let end = tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Failure::unsent(
            Cause::Interrupted,
            "The call was stopped from here.",
        ).billed(sending.billed())),
        end = exchange => end.unwrap_or_else(|_| Err(timed_out(
            "The call took longer than it may in all",
            provider.timeouts.total,
            sending.billed(),
        ))),
    };
    match end {
        Ok(()) => gathered.finish(request),
        Err(failure) => Err(gathered.explain(failure)),
    }
}

async fn exchange(
    provider: &ClaudeProvider,
    request: &Request,
    progress: &dyn Progress,
    sending: &Arc<Sending>,
    gathered: &mut Gathered,
) -> Result<(), Failure> {
    let asked = provider.envelope(request, Purpose::Answer);
    gathered.most_tokens = asked.manner.max_tokens;
    let mut post = pin!(post(provider, "/v1/messages", asked, sending));
    let response = tokio::select! {
        response = &mut post => response?,
        () = sending.completed() => {
            progress.sent();
            post.await?
        }
    };
    gathered.request_id =
        header::request_id(response.headers()).map(|id| provider.access.scrub(id));
    gathered.limits = header::limits(response.headers(), (provider.now)());
    tracing::debug!(
        status = response.status().as_u16(),
        request_id = gathered.request_id.as_deref(),
        "the Messages API answered"
    );
    let idle = provider.timeouts.idle;
    if !response.status().is_success() {
        return Err(refused(provider, response, idle).await);
    }
    // The head may have come before anybody looked whether all was sent.
    progress.sent();
    let content_type = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default()
        .to_ascii_lowercase();
    if content_type.starts_with("application/json") {
        return read_whole(response, idle, progress, gathered).await;
    }
    if content_type.starts_with("text/html") {
        return Err(not_the_api(
            "a web page answered; a login page of the network may stand between",
        ));
    }
    read_stream(response, idle, progress, gathered).await
}

/// Sends a request and returns the head of its answer.
pub(super) async fn post(
    provider: &ClaudeProvider,
    path: &str,
    asked: Envelope<'_>,
    sending: &Arc<Sending>,
) -> Result<Response, Failure> {
    let upload = Upload::prepare(asked).await?;
    let call = provider
        .client
        .post(provider.url(path))
        .headers(provider.headers())
        .header(CONTENT_TYPE, "application/json")
        .header(CONTENT_LENGTH, upload.length)
        .body(Body::wrap_stream(upload.into_stream(Arc::clone(sending))));
    wait_for_head(call.send(), sending, provider.timeouts).await
}

/// Waits for the head of the answer: as long as bytes are taken, then as long as reading may last.
pub(super) async fn wait_for_head(
    send: impl Future<Output = Result<Response, reqwest::Error>>,
    sending: &Sending,
    timeouts: Timeouts,
) -> Result<Response, Failure> {
    let mut send = pin!(send);
    loop {
        let complete = sending.is_complete();
        // While connecting no byte is taken either; that has its own, shorter clock.
        let allowed = if complete {
            timeouts.first_byte
        } else {
            timeouts.idle.max(timeouts.connect)
        };
        let deadline = sending.last_taken() + allowed;
        tokio::select! {
            biased;
            response = &mut send => {
                return response.map_err(|error| failure::from_transport(error, sending));
            }
            // From here on another clock counts.
            () = sending.completed(), if !complete => continue,
            () = sleep_until(deadline) => {}
        }
        let moved = sending.is_complete() != complete || sending.last_taken() + allowed > deadline;
        if !moved && Instant::now() >= deadline {
            let what = if complete {
                "No answer began"
            } else {
                "The server took no more of the request"
            };
            return Err(timed_out(what, allowed, sending.billed()));
        }
    }
}

/// Returns the failure that an answer tells whose status is not a success.
pub(super) async fn refused(
    provider: &ClaudeProvider,
    mut response: Response,
    idle: Duration,
) -> Failure {
    let status = response.status().as_u16();
    let headers = response.headers().clone();
    let mut body = Vec::new();
    // A body that breaks off does not make the status less true.
    while let Ok(Ok(Some(chunk))) = timeout(idle, response.chunk()).await {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_ERROR_READ {
            break;
        }
    }
    failure::from_status(status, &headers, &body, (provider.now)())
}

async fn read_whole(
    mut response: Response,
    idle: Duration,
    progress: &dyn Progress,
    gathered: &mut Gathered,
) -> Result<(), Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = next_chunk(&mut response, idle).await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BODY_READ {
            return Err(failure::stream_cut("it is longer than any model answers"));
        }
    }
    let value: serde_json::Value =
        serde_json::from_slice(&body).map_err(|_| not_the_api("the JSON is broken or cut off"))?;
    if value["type"] == "error" {
        let event = serde_json::from_value(value)
            .map_err(|_| not_the_api("it is an error that can't be read"))?;
        return gathered.take(event, progress).map(|_| ());
    }
    if value["type"] != "message" {
        return Err(not_the_api("the JSON is no message"));
    }
    let message: Message = serde_json::from_value(value)
        .map_err(|error| not_the_api(&format!("the message can't be read ({error})")))?;
    gathered.take_whole(message, progress)
}

async fn read_stream(
    mut response: Response,
    idle: Duration,
    progress: &dyn Progress,
    gathered: &mut Gathered,
) -> Result<(), Failure> {
    let mut decoder = Decoder::default();
    let mut events = Vec::new();
    while let Some(chunk) = next_chunk(&mut response, idle).await? {
        decoder
            .feed(&chunk, &mut events)
            .map_err(|_| failure::stream_cut("an event is longer than any real one"))?;
        for raw in events.drain(..) {
            if let Some(event) = read_event(&raw)?
                && gathered.take(event, progress)? == Flow::Ended
            {
                release(response);
                return Ok(());
            }
        }
    }
    Err(failure::stream_cut("it ended without `message_stop`"))
}

/// Reads what follows the last event of an answer, so that its connection serves the next call: one that is
/// left before its end has to be closed.
fn release(mut response: Response) {
    tokio::spawn(async move {
        let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
        // One that does not end is closed.
        drop(timeout(MAX_RELEASE, rest).await);
    });
}

/// Reads one event. One of an unknown name may hold anything; one that carries the answer may not,
/// since skipping it would lose a part of the text unnoticed.
fn read_event(raw: &RawEvent) -> Result<Option<Event>, Failure> {
    match serde_json::from_str::<Event>(&raw.data) {
        Ok(event) => Ok(Some(event)),
        Err(error) => match raw.name.as_str() {
            "message_start"
            | "content_block_start"
            | "content_block_delta"
            | "message_delta"
            | "message_stop" => Err(failure::stream_cut(format!(
                "a `{}` event can't be read ({error})",
                raw.name
            ))),
            "error" => Err(failure::stream_cut(
                "the server sent an error that can't be read",
            )),
            _ => Ok(None),
        },
    }
}

pub(super) async fn next_chunk(
    response: &mut Response,
    idle: Duration,
) -> Result<Option<bytes::Bytes>, Failure> {
    match timeout(idle, response.chunk()).await {
        Ok(Ok(chunk)) => Ok(chunk),
        Ok(Err(error)) => Err(failure::stream_cut(failure::words(error))),
        Err(_) => Err(timed_out("The answer stood still", idle, Billed::Unknown)),
    }
}

pub(super) fn timed_out(what: &str, limit: Duration, billed: Billed) -> Failure {
    Failure::unsent(
        Cause::TimedOut,
        format!("{what} ({} s).", limit.as_secs_f64()),
    )
    .billed(billed)
}

pub(super) fn not_the_api(detail: &str) -> Failure {
    Failure {
        http_status: Some(200),
        ..Failure::unsent(
            Cause::UnexpectedStatus,
            format!("What came is not an answer of the Messages API: {detail}."),
        )
        .billed(Billed::Unknown)
    }
}
