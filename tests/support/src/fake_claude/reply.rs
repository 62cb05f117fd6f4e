//! What is done with a request.

use serde::Deserialize;
use serde_json::Value;

use super::fault::{Canned, Fault};

/// What is done with a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reply {
    /// An answer.
    Answer(Plan),
    /// An error with the status and body that the API gives for it.
    Fault {
        /// Which.
        fault: Fault,
    },
    /// Any status, headers and body.
    Status(Canned),
    /// A stream that ends with an `error` event after so many deltas.
    ErrorEvent {
        /// Text deltas before it.
        #[serde(default)]
        after_deltas: usize,
        /// The error: `{"type": …, "message": …}`.
        error: Value,
    },
    /// A stream whose connection is dropped after so many deltas.
    Cut {
        /// Text deltas before it.
        #[serde(default)]
        after_deltas: usize,
    },
    /// A stream that ends properly, but without `message_stop`.
    Unfinished,
    /// A stream that stands still, with its connection open, after so many deltas.
    Stall {
        /// Text deltas before it.
        #[serde(default)]
        after_deltas: usize,
    },
    /// No answer at all, with the connection open.
    Hang,
    /// What was asked for is done, and the connection ends before a byte of the answer.
    Lost,
    /// Of a request of a batch: never processed within the batch's 24 hours.
    Expired,
    /// The body is never read, so that the client can't finish sending. Matches by number only.
    NeverRead,
    /// A 200 with exactly these pieces, each sent by itself.
    Raw {
        /// The pieces.
        chunks: Vec<String>,
        /// Its content type; `text/event-stream` when left out.
        #[serde(default)]
        content_type: Option<String>,
    },
}

/// How an answer looks. What is left out is made up plausibly.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// The text; `Some("")` for an answer with an empty text block.
    pub text: Option<String>,
    /// No block at all, as in a refusal before any output.
    pub no_content: bool,
    /// A thinking block before the text.
    pub thinking: Option<String>,
    /// Why it stops; `end_turn` when left out.
    pub stop_reason: Option<String>,
    /// The details of a refusal.
    pub stop_details: Option<Value>,
    /// Counted input tokens.
    pub input_tokens: Option<u64>,
    /// Tokens written to the cache for five minutes, not counted as input.
    pub cache_write_5m: u64,
    /// Tokens written to the cache for an hour, not counted as input.
    pub cache_write_1h: u64,
    /// Tokens read from the cache, not counted as input.
    pub cache_read: u64,
    /// Counted output tokens.
    pub output_tokens: Option<u64>,
    /// Milliseconds before each event.
    pub event_delay_ms: u64,
}

impl Reply {
    /// A plain answer with this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Answer(Plan {
            text: Some(text.into()),
            ..Plan::default()
        })
    }

    /// An answer that stops for this reason.
    #[must_use]
    pub fn stopped(reason: impl Into<String>) -> Self {
        Self::Answer(Plan {
            stop_reason: Some(reason.into()),
            ..Plan::default()
        })
    }

    /// A refusal before any output.
    #[must_use]
    pub fn refusal() -> Self {
        Self::Answer(Plan {
            no_content: true,
            stop_reason: Some("refusal".to_owned()),
            stop_details: Some(serde_json::json!({
                "type": "refusal",
                "category": "bio",
                "explanation": "This request touches on a restricted subject."
            })),
            output_tokens: Some(0),
            ..Plan::default()
        })
    }

    /// An answer of an endpoint that drops document blocks silently.
    #[must_use]
    pub fn document_dropped() -> Self {
        Self::Answer(Plan {
            input_tokens: Some(23),
            ..Plan::default()
        })
    }

    /// An answer that stands this long before each of its events.
    #[must_use]
    pub fn slow(event_delay_ms: u64) -> Self {
        Self::Answer(Plan {
            event_delay_ms,
            ..Plan::default()
        })
    }

    /// An error of the API.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self::Fault { fault }
    }
}
