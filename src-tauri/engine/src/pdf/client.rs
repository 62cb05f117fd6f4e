//! The parent's side: starts a child for each file, watches it and says what became of it.

mod child;
mod copies;
mod verdict;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::Semaphore;

use super::protocol::{DocumentText, Inspection, Operation, Request};
use crate::model::{Cause, Finding};

/// Most bytes that an inspection may answer.
const MAX_INSPECTION_BYTES: usize = 64 << 10;

/// Most bytes that a text may answer besides its characters.
const MAX_TEXT_FRAME_BYTES: usize = 4 << 20;

/// Most bytes of JSON that one character takes (`\u0001`).
const MAX_BYTES_PER_CHAR: usize = 6;

/// Why a file could not be looked at, through no fault of its own.
#[derive(Debug, thiserror::Error)]
pub enum PdfError {
    /// The reading program could not be started.
    #[error("the program that reads PDFs could not be started ({program}): {source}", program = .program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The reading program ended without a word, so it is not what it should be.
    #[error("the program that reads PDFs did not answer ({how})")]
    NoAnswer {
        /// How it ended, and what it complained about.
        how: String,
    },
    /// The reading program was told to stop from outside, as when a person logs out.
    #[error("the program that reads PDFs was stopped")]
    Stopped,
    /// A copy could not be written, as on a full disk (of [`PdfWorker::copy`] only).
    #[error("a copy of this PDF's pages could not be written ({how})")]
    NotWritten {
        /// What the system said.
        how: String,
    },
    /// No text and no copy can be had, because of the file itself (never of [`PdfWorker::inspect`]).
    #[error("{}", .0.message)]
    Refused(Finding),
}

/// How PDFs are read.
#[derive(Clone, Debug)]
pub struct PdfWorkerConfig {
    /// The program that calls [`worker_main`](super::worker_main).
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// How long one file may take.
    pub wall_limit: Duration,
    /// How many files are read at a time.
    pub max_children: usize,
}

impl PdfWorkerConfig {
    /// Reads with `program` under the usual limits: 30 seconds a file, two at a time.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            wall_limit: Duration::from_secs(30),
            max_children: 2,
        }
    }
}

/// Reads PDFs in child processes. Cheap to clone; all clones share the limit on children.
#[derive(Clone, Debug)]
pub struct PdfWorker {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    config: PdfWorkerConfig,
    permits: Semaphore,
}

impl PdfWorker {
    /// Makes a worker; nothing is started yet.
    #[must_use]
    pub fn new(config: PdfWorkerConfig) -> Self {
        let permits = Semaphore::new(config.max_children.max(1));
        Self {
            inner: Arc::new(Inner { config, permits }),
        }
    }

    /// Says what a file is, whether it can be summarized, and if not, why.
    ///
    /// Dropping the future kills the child.
    ///
    /// # Errors
    ///
    /// Only for trouble with the reading program; a bad, missing or hostile file gives a finding.
    pub async fn inspect(&self, path: &Path) -> Result<Inspection, PdfError> {
        self.inspect_opening(path, None).await
    }

    /// Like [`inspect`](Self::inspect), for a file that needs this password.
    ///
    /// # Errors
    ///
    /// Like [`inspect`](Self::inspect).
    pub async fn inspect_with_password(
        &self,
        path: &Path,
        password: &SecretString,
    ) -> Result<Inspection, PdfError> {
        self.inspect_opening(path, Some(password)).await
    }

    /// Reads a file's text, up to `max_chars` characters in all.
    ///
    /// Dropping the future kills the child.
    ///
    /// # Errors
    ///
    /// [`PdfError::Refused`] when the file gives no text; otherwise like [`inspect`](Self::inspect).
    pub async fn text(&self, path: &Path, max_chars: usize) -> Result<DocumentText, PdfError> {
        self.text_opening(path, None, max_chars).await
    }

    /// Like [`text`](Self::text), for a file that needs this password.
    ///
    /// # Errors
    ///
    /// Like [`text`](Self::text).
    pub async fn text_with_password(
        &self,
        path: &Path,
        password: &SecretString,
        max_chars: usize,
    ) -> Result<DocumentText, PdfError> {
        self.text_opening(path, Some(password), max_chars).await
    }

    async fn inspect_opening(
        &self,
        path: &Path,
        password: Option<&SecretString>,
    ) -> Result<Inspection, PdfError> {
        let request = request(path, password, Operation::Inspect { read_text: true });
        let heard = self.ask(&request, MAX_INSPECTION_BYTES).await?;
        Ok(heard.inspection)
    }

    async fn text_opening(
        &self,
        path: &Path,
        password: Option<&SecretString>,
        max_chars: usize,
    ) -> Result<DocumentText, PdfError> {
        let request = request(path, password, Operation::Text { max_chars });
        let limit = max_chars
            .saturating_mul(MAX_BYTES_PER_CHAR)
            .saturating_add(MAX_TEXT_FRAME_BYTES);
        let heard = self.ask(&request, limit).await?;
        match (heard.inspection.finding, heard.text) {
            (None, Some(text)) => Ok(text),
            (Some(finding), _) => Err(PdfError::Refused(finding)),
            (None, None) => Err(PdfError::Refused(Finding {
                cause: Cause::PdfDamaged,
                message: "This PDF is damaged: its text can't be read.".to_owned(),
            })),
        }
    }

    async fn ask(
        &self,
        request: &Request,
        max_answer_bytes: usize,
    ) -> Result<verdict::Heard, PdfError> {
        // The semaphore is never closed, so there is always a permit to wait for.
        let _permit = self.inner.permits.acquire().await.ok();
        let end = child::run(&self.inner.config, request, max_answer_bytes).await?;
        verdict::of(&end, self.inner.config.wall_limit)
    }
}

fn request(path: &Path, password: Option<&SecretString>, operation: Operation) -> Request {
    Request {
        path: path.as_os_str().to_owned(),
        password: password.map(|password| password.expose_secret().to_owned()),
        operation,
    }
}
