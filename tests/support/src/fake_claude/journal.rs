//! What arrived.

use std::sync::{Mutex, MutexGuard, PoisonError};

use axum::http::HeaderMap;
use tokio::sync::watch;

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// `POST`, `GET`.
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// Its headers.
    pub headers: HeaderMap,
    /// Bytes of the body.
    pub body_bytes: usize,
    /// The model asked for.
    pub model: Option<String>,
    /// The limit of the output.
    pub max_tokens: Option<u64>,
    /// Whether a stream was asked for.
    pub stream: bool,
    /// The text blocks of all messages, joined by line feeds.
    pub prompt: String,
    /// The documents, in order.
    pub documents: Vec<RecordedDocument>,
    /// Whether every document stood before every text.
    pub documents_first: bool,
    /// The names of the body's fields, sorted.
    pub fields: Vec<String>,
    /// The JSON Schema that the answer has to follow, if one was given.
    pub schema: Option<serde_json::Value>,
    /// Whether citations of the documents were asked for.
    pub cited: bool,
    /// Whether the model thinks before it answers.
    pub thinks: bool,
    /// How much effort is asked for.
    pub effort: Option<String>,
    /// Whether the model counts about 30 % more tokens for the same text than those before it.
    pub counts_more: bool,
    /// The `custom_id` of a request of a batch.
    pub custom_id: Option<String>,
    /// How many requests a batch has that was to be created.
    pub batched: usize,
}

impl Recorded {
    /// The title of its first document.
    #[must_use]
    pub fn title(&self) -> Option<&String> {
        self.documents.first()?.title.as_ref()
    }
}

/// A document as it arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedDocument {
    /// Its title.
    pub title: Option<String>,
    /// The uploaded file that it is, if it is one.
    pub file_id: Option<String>,
    /// SHA-256 of the decoded bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// Decoded size in bytes.
    pub bytes: usize,
    /// Pages of a PDF, at least 1; 0 for a text.
    pub pages: u64,
    /// The text of a text document; `None` for a PDF.
    pub text: Option<String>,
    /// The text of each page of a PDF, as far as it can be read; empty for a text, and for a PDF that is
    /// too large for it.
    pub page_texts: Vec<String>,
}

#[derive(Debug)]
pub(super) struct Journal {
    requests: Mutex<Vec<Recorded>>,
    messages: watch::Sender<usize>,
}

impl Default for Journal {
    fn default() -> Self {
        Self {
            requests: Mutex::default(),
            messages: watch::Sender::new(0),
        }
    }
}

const MESSAGES: &str = "/v1/messages";
const COUNTS: &str = "/v1/messages/count_tokens";

impl Journal {
    /// Adds a request.
    pub(super) fn add(&self, request: Recorded) {
        let is_message = request.path == MESSAGES;
        self.lock().push(request);
        if is_message {
            self.messages.send_modify(|count| *count += 1);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    pub(super) fn all(&self) -> Vec<Recorded> {
        self.lock().clone()
    }

    pub(super) fn messages(&self) -> Vec<Recorded> {
        self.at(MESSAGES)
    }

    pub(super) fn counts(&self) -> Vec<Recorded> {
        self.at(COUNTS)
    }

    fn at(&self, path: &str) -> Vec<Recorded> {
        let mut requests = self.all();
        requests.retain(|request| request.path == path);
        requests
    }

    pub(super) async fn arrived(&self, count: usize) {
        let mut messages = self.messages.subscribe();
        // The sender lives as long as the journal, so waiting can't fail.
        let _ = messages.wait_for(|arrived| *arrived >= count).await;
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Recorded>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
