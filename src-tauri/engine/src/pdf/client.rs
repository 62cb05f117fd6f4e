//! The parent's side: asks children about files, watches them and says what became of each.

mod child;
mod copies;
mod pool;
mod verdict;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

use self::pool::Pool;
use self::verdict::Heard;
use super::protocol::{DocumentText, Inspection, Operation, Request};
use crate::model::{Cause, Finding, PageRange};

/// Most bytes that an inspection may answer: measures of very many pages.
const MAX_INSPECTION_BYTES: usize = 16 << 20;

/// Most bytes that a text may answer besides its characters.
const MAX_TEXT_FRAME_BYTES: usize = 4 << 20;

/// Most bytes of JSON that one character takes (`\u0001`).
const MAX_BYTES_PER_CHAR: usize = 6;

/// Why nothing can be said or had of a file.
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
    /// The file has other pages than those that were asked for.
    #[error("pages {first} to {last} were asked for, of a PDF of {pages}", first = .range.first, last = .range.last)]
    NoSuchPages {
        /// What was asked for.
        range: PageRange,
        /// How many it has.
        pages: u32,
    },
    /// Nothing can be had, because of the file itself (never of an inspection, which tells of it).
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
    /// Its whole environment: who reads files of strangers is told no secret of ours.
    pub environment: Vec<(OsString, OsString)>,
    /// How long one file may take.
    pub wall_limit: Duration,
    /// How many files are read at a time, each by a child of its own that stays for the next one.
    pub max_children: usize,
}

impl PdfWorkerConfig {
    /// Reads with `program` under the usual limits: 30 seconds a file, two at a time.
    #[must_use]
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            environment: Vec::new(),
            wall_limit: Duration::from_secs(30),
            max_children: 2,
        }
    }
}

/// Reads PDFs in child processes. Cheap to clone; all clones share their children.
#[derive(Clone, Debug)]
pub struct PdfWorker {
    pool: Arc<Pool>,
}

impl PdfWorker {
    /// Makes a worker; nothing is started yet.
    #[must_use]
    pub fn new(config: PdfWorkerConfig) -> Self {
        Self {
            pool: Arc::new(Pool::new(config)),
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
        Ok(self.inspect_trying(path, &[]).await?.0)
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
        let passwords = std::slice::from_ref(password);
        Ok(self.inspect_trying(path, passwords).await?.0)
    }

    /// Like [`inspect`](Self::inspect), for a file that may need one of these passwords. They are tried in
    /// their order, after the empty one; also says which of them (counted from 0) opened the file.
    ///
    /// # Errors
    ///
    /// Like [`inspect`](Self::inspect).
    pub async fn inspect_trying(
        &self,
        path: &Path,
        passwords: &[SecretString],
    ) -> Result<(Inspection, Option<usize>), PdfError> {
        let request = request(path, passwords, Operation::Inspect);
        let heard = self.ask(&request, MAX_INSPECTION_BYTES).await?;
        Ok((heard.inspection, heard.password))
    }

    /// Reads the text of a file, or of some of its pages, up to `max_chars` characters in all.
    ///
    /// Dropping the future kills the child.
    ///
    /// # Errors
    ///
    /// [`PdfError::Refused`] when the file gives no text, and [`PdfError::NoSuchPages`] when it has not all
    /// of these pages; otherwise like [`inspect`](Self::inspect).
    pub async fn text(
        &self,
        path: &Path,
        password: Option<&SecretString>,
        pages: Option<PageRange>,
        max_chars: usize,
    ) -> Result<DocumentText, PdfError> {
        let passwords = password.map(std::slice::from_ref).unwrap_or_default();
        let request = request(path, passwords, Operation::Text { pages, max_chars });
        let limit = max_chars
            .saturating_mul(MAX_BYTES_PER_CHAR)
            .saturating_add(MAX_TEXT_FRAME_BYTES);
        let heard = self.ask(&request, limit).await?;
        heard.check_pages(pages)?;
        match (heard.inspection.finding, heard.text) {
            (None, Some(text)) => Ok(text),
            (Some(finding), _) => Err(PdfError::Refused(finding)),
            (None, None) => Err(PdfError::Refused(Finding {
                cause: Cause::PdfDamaged,
                message: "This PDF is damaged: its text can't be read.".to_owned(),
            })),
        }
    }

    async fn ask(&self, request: &Request, max_answer_bytes: usize) -> Result<Heard, PdfError> {
        let end = self.pool.ask(request, max_answer_bytes).await?;
        verdict::of(end, self.pool.wall_limit())
    }
}

fn request(path: &Path, passwords: &[SecretString], operation: Operation) -> Request {
    Request {
        path: path.as_os_str().to_owned(),
        passwords: passwords
            .iter()
            .map(|password| password.expose_secret().to_owned())
            .collect(),
        operation,
    }
}
