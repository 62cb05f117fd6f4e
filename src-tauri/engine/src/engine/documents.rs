//! A job's own PDF, for a window that shows it: in pieces, and without its password where that is known.

use std::collections::VecDeque;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use super::Engine;
use super::reading::is_still_there;
use crate::consumer::PrivateCopy;
use crate::error::EngineError;
use crate::model::{DocumentFile, JobId, ProblemCode, Unchecked};

/// Most bytes of one piece.
const LARGEST_PIECE: u32 = 1 << 20;
/// Most bytes of a document that is shown: a window would have no memory for more.
const LARGEST: u64 = 512 << 20;
/// Documents that are open at a time; the one that was opened first is closed for another.
const MOST_OPEN: usize = 4;

/// The documents that a window reads at the moment.
#[derive(Default)]
pub(super) struct OpenDocuments(Mutex<VecDeque<OpenDocument>>);

struct OpenDocument {
    job_id: JobId,
    path: PathBuf,
    bytes: u64,
    modified: Option<SystemTime>,
    /// A copy without the password; dropped, it is removed.
    _lent: Option<PrivateCopy>,
}

impl OpenDocuments {
    fn open(&self) -> MutexGuard<'_, VecDeque<OpenDocument>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, job_id: &JobId) {
        self.open().retain(|document| document.job_id != *job_id);
    }

    /// Closes all of them; copies are removed.
    pub(super) fn close_all(&self) {
        self.open().clear();
    }
}

impl Engine {
    /// Makes a job's PDF ready to be read in pieces with [`Engine::document_bytes`]. One whose password is known
    /// is lent as a private copy without it, until [`Engine::close_document`] or the end of the program.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for an unknown job; [`EngineError::Document`] for a file that is missing,
    /// changed, locked or too large, and for a job without one.
    pub async fn open_document(&self, job_id: JobId) -> Result<DocumentFile, EngineError> {
        let record = self
            .0
            .store
            .job(job_id.clone(), self.list_context())
            .await?;
        let (Some(source), Some(document)) = (record.job.source_path, record.document) else {
            return Err(refused(Unchecked::NoDocument, ""));
        };
        if document.bytes > LARGEST {
            return Err(too_large(&source));
        }
        let path = PathBuf::from(&source);
        let is_there = is_still_there(&path, &document).await;
        is_there.map_err(|reason| refused(reason, &source))?;
        let password = self.password_for(&path, &document).await;
        let password = password.map_err(|reason| refused(reason, &source))?;
        let lent = match password {
            None => None,
            Some(password) => {
                let unwritable = |why: String| {
                    tracing::debug!(why, "a copy to be read could not be made");
                    refused(Unchecked::Failed, &source)
                };
                let copy = PrivateCopy::begin(&self.0.config.private_directory())
                    .await
                    .map_err(|failure| unwritable(failure.to_string()))?;
                self.0
                    .pdf
                    .copy(&path, Some(&password), None, copy.path())
                    .await
                    .map_err(|error| unwritable(error.to_string()))?;
                Some(copy)
            }
        };
        let shown = lent.as_ref().map_or(path.as_path(), PrivateCopy::path);
        let metadata = tokio::fs::metadata(shown)
            .await
            .map_err(|_| refused(Unchecked::FileMissing, &source))?;
        let opened = OpenDocument {
            job_id: job_id.clone(),
            path: shown.to_owned(),
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            _lent: lent,
        };
        let mut open = self.0.documents.open();
        open.retain(|document| document.job_id != job_id);
        if open.len() == MOST_OPEN {
            open.pop_front();
        }
        open.push_back(opened);
        Ok(DocumentFile {
            bytes: metadata.len(),
            pages: document.pages,
            path: source,
        })
    }

    /// Returns `length` bytes of a PDF from `offset` on, 1 MiB at most; fewer at its end, none behind it.
    ///
    /// # Errors
    /// [`EngineError::Document`] when it was not opened, or when the file is gone or another one by now.
    pub async fn document_bytes(
        &self,
        job_id: JobId,
        offset: u64,
        length: u32,
    ) -> Result<Vec<u8>, EngineError> {
        let found = self
            .0
            .documents
            .open()
            .iter()
            .find(|document| document.job_id == job_id)
            .map(|document| (document.path.clone(), document.bytes, document.modified));
        let Some((path, bytes, modified)) = found else {
            return Err(EngineError::Document {
                code: ProblemCode::Conflict,
                message: "This PDF is not open for reading.".to_owned(),
                hint: "Open the job again.".to_owned(),
            });
        };
        let shown = path.to_string_lossy().into_owned();
        let length = u64::from(length.min(LARGEST_PIECE)).min(bytes.saturating_sub(offset));
        let read =
            tokio::task::spawn_blocking(move || piece(&path, (bytes, modified), offset, length));
        read.await
            .unwrap_or(Err(Unchecked::Failed))
            .map_err(|reason| refused(reason, &shown))
    }

    /// Ends the reading of a PDF, and removes the copy that was lent for it.
    pub fn close_document(&self, job_id: &JobId) {
        self.0.documents.close(job_id);
    }
}

/// Reads a piece of a file that must still be the one that was opened. Blocks.
fn piece(
    path: &Path,
    (bytes, modified): (u64, Option<SystemTime>),
    offset: u64,
    length: u64,
) -> Result<Vec<u8>, Unchecked> {
    let mut file = std::fs::File::open(path).map_err(|_| Unchecked::FileMissing)?;
    let metadata = file.metadata().map_err(|_| Unchecked::Failed)?;
    if metadata.len() != bytes || metadata.modified().ok() != modified {
        return Err(Unchecked::FileChanged);
    }
    file.seek(SeekFrom::Start(offset))
        .map_err(|_| Unchecked::Failed)?;
    let mut piece = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    file.take(length)
        .read_to_end(&mut piece)
        .map_err(|_| Unchecked::Failed)?;
    Ok(piece)
}

fn too_large(path: &str) -> EngineError {
    EngineError::Document {
        code: ProblemCode::BadInput,
        message: format!("{path} is larger than 512 MB, so it is not shown here."),
        hint: "Open it in your PDF reader. Its summary is not affected.".to_owned(),
    }
}

/// Returns what keeps a PDF from being shown, in words.
fn refused(reason: Unchecked, path: &str) -> EngineError {
    let (code, message, hint) = match reason {
        Unchecked::NoDocument => (
            ProblemCode::NotFound,
            "This job has no PDF that could be read.".to_owned(),
            "Its result is not affected.",
        ),
        Unchecked::FileMissing => (
            ProblemCode::NotFound,
            format!("There is no file {path} any more."),
            "Put it back where it was, or tell where it lies now. Its summary is not affected.",
        ),
        Unchecked::FileChanged => (
            ProblemCode::Conflict,
            format!("{path} was changed after it was added, so the summary is about another text."),
            "Add the file again to have it summarized as it is now.",
        ),
        Unchecked::Locked => (
            ProblemCode::BadInput,
            format!("{path} is locked with a password."),
            "Unlock it by giving its password, or open it in your PDF reader.",
        ),
        Unchecked::NoText | Unchecked::Failed => (
            ProblemCode::Storage,
            format!("{path} could not be read."),
            "Open it in your PDF reader. Its summary is not affected.",
        ),
    };
    EngineError::Document {
        code,
        message,
        hint: hint.to_owned(),
    }
}
