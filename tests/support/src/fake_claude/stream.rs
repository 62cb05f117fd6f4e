//! Sends an answer as server-sent events, whole or broken on purpose.

use std::io;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::answer::Message;
use super::meter::Meter;

/// Letters in one text delta.
const DELTA_CHARS: usize = 24;

/// What is sent next.
#[derive(Clone)]
pub(super) enum Step {
    /// These bytes.
    Send(String),
    /// Nothing; so many tokens of output have been written in all.
    Written(u64),
    /// Nothing, for so long.
    Wait(Duration),
    /// Nothing any more, with the connection open.
    Stall,
    /// The connection is dropped.
    Drop,
}

/// The connection is dropped once what was sent has left.
pub(super) fn drop_after_sending() -> [Step; 2] {
    [Step::Wait(Duration::from_millis(20)), Step::Drop]
}

/// One event as the API frames it.
pub(super) fn frame(name: &str, data: &Value) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn typed(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    frame(name, &data)
}

/// How far an answer is written.
#[derive(Clone, Copy)]
pub(super) enum Until {
    /// To its end.
    End,
    /// To its end, but for the event that says so.
    BeforeStop,
    /// Up to so many pieces of text.
    Deltas(usize),
}

/// The steps of an answer, with a wait before each event.
pub(super) fn steps(message: &Message, until: Until, wait: Duration) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut send = |event: String, written: Option<u64>| {
        if !wait.is_zero() {
            steps.push(Step::Wait(wait));
        }
        steps.extend(written.map(Step::Written));
        steps.push(Step::Send(event));
    };
    for event in beginning(message) {
        send(event, None);
    }
    let deltas = deltas(message);
    // What comes after the text, its citations and its end, is a piece more.
    let pieces = deltas.len() as u64 + 1;
    let most = match until {
        Until::Deltas(most) => most,
        Until::End | Until::BeforeStop => deltas.len(),
    };
    for (at, event) in (1..).zip(deltas.into_iter().take(most)) {
        send(event, Some(message.output_tokens * at / pieces));
    }
    if matches!(until, Until::Deltas(_)) {
        return steps;
    }
    let mut events = ending(message);
    if matches!(until, Until::BeforeStop) {
        events.pop();
    }
    for event in events {
        send(event, Some(message.output_tokens));
    }
    steps
}

/// The events up to the first piece of text.
fn beginning(message: &Message) -> Vec<String> {
    let mut events = vec![
        typed("message_start", json!({"message": message.start()})),
        typed("ping", json!({})),
    ];
    if let Some(thinking) = &message.thinking {
        let block = json!({"type": "thinking", "thinking": "", "signature": ""});
        events.push(typed(
            "content_block_start",
            json!({"index": 0, "content_block": block}),
        ));
        for delta in [
            json!({"type": "thinking_delta", "thinking": thinking}),
            json!({"type": "signature_delta", "signature": "c2ln"}),
        ] {
            events.push(typed(
                "content_block_delta",
                json!({"index": 0, "delta": delta}),
            ));
        }
        events.push(typed("content_block_stop", json!({"index": 0})));
    }
    if message.text.is_some() {
        let block = json!({"type": "text", "text": ""});
        events.push(typed(
            "content_block_start",
            json!({"index": text_index(message), "content_block": block}),
        ));
    }
    events
}

/// The pieces of text.
fn deltas(message: &Message) -> Vec<String> {
    let letters: Vec<char> = message.text.iter().flat_map(|text| text.chars()).collect();
    letters
        .chunks(DELTA_CHARS)
        .map(|piece| {
            let text: String = piece.iter().collect();
            typed(
                "content_block_delta",
                json!({"index": text_index(message), "delta": {"type": "text_delta", "text": text}}),
            )
        })
        .collect()
}

fn ending(message: &Message) -> Vec<String> {
    let mut events = Vec::new();
    if message.text.is_some() {
        events.push(typed(
            "content_block_stop",
            json!({"index": text_index(message)}),
        ));
    }
    for (index, (text, citations)) in (text_index(message) + 1..).zip(&message.cited) {
        let block = json!({"type": "text", "text": "", "citations": []});
        let mut deltas = vec![json!({"type": "text_delta", "text": text})];
        for citation in citations.as_array().into_iter().flatten() {
            deltas.push(json!({"type": "citations_delta", "citation": citation}));
        }
        events.push(typed(
            "content_block_start",
            json!({"index": index, "content_block": block}),
        ));
        for delta in deltas {
            events.push(typed(
                "content_block_delta",
                json!({"index": index, "delta": delta}),
            ));
        }
        events.push(typed("content_block_stop", json!({"index": index})));
    }
    events.push(typed(
        "message_delta",
        json!({
            "delta": {
                "stop_reason": message.stop_reason,
                "stop_sequence": null,
                "stop_details": message.stop_details,
            },
            "usage": {
                "input_tokens": message.input_tokens,
                "cache_creation_input_tokens": message.cache.write_5m + message.cache.write_1h,
                "cache_read_input_tokens": message.cache.read,
                "output_tokens": message.output_tokens,
                "output_tokens_details": {"thinking_tokens": message.thinking_tokens},
            },
        }),
    ));
    events.push(typed("message_stop", json!({})));
    events
}

fn text_index(message: &Message) -> u32 {
    u32::from(message.thinking.is_some())
}

/// Turns steps into a body. It ends when the server is stopped. What is written is told to `meter`.
pub(super) fn body(steps: Vec<Step>, stopped: CancellationToken, meter: Option<Meter>) -> Body {
    let steps = stream::iter(steps).filter_map(move |step| {
        if let (Step::Written(tokens), Some(meter)) = (&step, &meter) {
            meter.written(*tokens);
        }
        async move {
            match step {
                Step::Send(text) => Some(Ok(Bytes::from(text))),
                Step::Written(_) => None,
                Step::Wait(time) => {
                    tokio::time::sleep(time).await;
                    None
                }
                Step::Stall => {
                    std::future::pending::<()>().await;
                    None
                }
                // An error of the body makes the server close the connection without its proper end.
                Step::Drop => Some(Err(io::Error::other("dropped on purpose"))),
            }
        }
    });
    Body::from_stream(steps.take_until(stopped.cancelled_owned()))
}
