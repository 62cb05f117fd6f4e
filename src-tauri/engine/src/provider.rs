//! What answers a job: Claude over its Messages API, or the built-in offline summarizer.
//!
//! A provider delivers one attempt and says exactly how it ended; it never retries by itself, never
//! touches the store and never decides what becomes of the job. The consumer does.

pub mod claude;
pub mod offline;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use crate::model::{Cause, JobPhase, Passage};

pub use crate::model::{ToldLimits, Usage};

/// What a provider is asked for one attempt.
#[derive(Clone, Debug)]
pub struct Request {
    /// The PDF to read, verified by the caller just before; `None` for a prompt alone.
    pub document: Option<RequestDocument>,
    /// The text that follows the document: a template's body, or the person's prompt.
    pub prompt: String,
    /// The model asked for.
    pub model: String,
    /// Most output tokens.
    pub max_tokens: u32,
    /// What the answer has to look like.
    pub shape: Shape,
}

/// What an answer has to look like.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Shape {
    /// Text as the model writes it.
    #[default]
    Text,
    /// Text whose statements name the pages of the document that they come from.
    CitedText,
    /// A JSON object that fits this JSON Schema.
    Json(serde_json::Value),
}

/// The document of a request, or the part of it that is asked about.
#[derive(Clone, Debug)]
pub struct RequestDocument {
    /// What is sent of it.
    pub content: DocumentContent,
    /// Its pages, when known: those that are sent, not those of the document that they are a part of.
    pub pages: Option<u32>,
    /// The number that the first page sent has in the document, from 1.
    pub first_page: u32,
    /// The file's name, for the title of the document block.
    pub name: String,
}

/// What is sent of a document.
#[derive(Clone, Debug)]
pub enum DocumentContent {
    /// A PDF, whose bytes are read while they are sent.
    File {
        /// Where its bytes lie.
        path: PathBuf,
        /// Its size in bytes.
        bytes: u64,
    },
    /// A PDF that was uploaded before.
    Uploaded {
        /// The provider's id of it.
        file_id: String,
    },
    /// The text of each page, in order; an empty one for a page without text.
    Text(Vec<String>),
}

/// An answer with text worth storing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The text blocks, joined. May be empty only with a review cause.
    pub text: String,
    /// What it cited of the document, in the order of the text; pages are those of the whole document.
    pub passages: Vec<Passage>,
    /// The model that answered, as it names itself.
    pub model: String,
    /// Why it stopped, as the provider words it.
    pub stop_reason: Option<String>,
    /// What it counted.
    pub usage: Usage,
    /// The provider's id of the call.
    pub request_id: Option<String>,
    /// Why a person has to look at it, if so; a cause of the class `review`, with a sentence.
    pub review: Option<(Cause, String)>,
    /// The limits in force, where the provider told them.
    pub limits: Option<ToldLimits>,
}

impl Answer {
    /// Says whether the model declined before it wrote anything, which is not billed (Anthropic, "Refusals"),
    /// though its input counts against the limits of a minute.
    #[must_use]
    pub fn is_declined_at_once(&self) -> bool {
        self.stop_reason.as_deref() == Some("refusal")
            && self.text.is_empty()
            && self.usage.output_tokens == 0
    }
}

/// Whether a failed call may be billed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Billed {
    /// Refused before processing, or never arrived: it costs nothing.
    No,
    /// It was sent and its end is not known: it may have run.
    Unknown,
}

/// How an attempt failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// Why, of the class retry, item or queue.
    pub cause: Cause,
    /// The provider's own words, or ours where it was never asked. A whole sentence.
    pub message: String,
    /// The HTTP status, when there was an answer.
    pub http_status: Option<u16>,
    /// The provider's id of the call.
    pub request_id: Option<String>,
    /// How long the provider told to wait (`retry-after`, in seconds or as a date).
    pub retry_after: Option<Duration>,
    /// The provider's `x-should-retry`; obeyed before everything else.
    pub should_retry: Option<bool>,
    /// Whether it may be billed.
    pub billed: Billed,
    /// What was counted before it failed.
    pub usage: Option<Usage>,
    /// The limits in force, where the provider told them.
    pub limits: Option<Box<ToldLimits>>,
}

impl Failure {
    /// Returns a failure that was found before anything was sent, so nothing can be billed.
    #[must_use]
    pub fn unsent(cause: Cause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            http_status: None,
            request_id: None,
            retry_after: None,
            should_retry: None,
            billed: Billed::No,
            usage: None,
            limits: None,
        }
    }

    /// Returns the same failure, with whether it may be billed.
    #[must_use]
    pub fn billed(mut self, billed: Billed) -> Self {
        self.billed = billed;
        self
    }
}

/// Hears how a running attempt comes on.
pub trait Progress: Send + Sync {
    /// The attempt is in `phase`, with `output_tokens` written so far (an estimate until the end).
    fn advanced(&self, phase: JobPhase, output_tokens: u64);

    /// The request was sent whole, and is not refused so far. May be told twice.
    fn sent(&self) {}
}

/// Answers requests.
#[async_trait]
pub trait Deliver: Send + Sync {
    /// Says whether PDFs that are too large for a request can be uploaded before it.
    fn takes_files(&self) -> bool {
        false
    }

    /// Uploads a PDF of so many bytes, and returns the id that a request names it by. It ends by itself after an
    /// hour.
    ///
    /// # Errors
    /// Every way of not getting there, never billed; [`Cause::FilesNotTaken`] where it can't be uploaded at all.
    async fn upload(
        &self,
        _path: &Path,
        _bytes: u64,
        _name: &str,
        _cancel: &CancellationToken,
    ) -> Result<String, Failure> {
        Err(Failure::unsent(
            Cause::FilesNotTaken,
            "No files are taken there.",
        ))
    }

    /// Removes an upload, or makes sure that it is gone.
    ///
    /// # Errors
    /// Where nobody knows whether it is gone.
    async fn remove(&self, _file_id: &str) -> Result<(), Failure> {
        Ok(())
    }

    /// Delivers one attempt.
    ///
    /// # Errors
    /// Every way of not getting an answer is a [`Failure`]; when `cancel` fires the call is dropped
    /// and ends as [`Cause::Interrupted`].
    async fn deliver(
        &self,
        request: &Request,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Answer, Failure>;
}
