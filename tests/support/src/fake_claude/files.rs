//! The Files API: uploads that messages name instead of carrying them.

mod multipart;
mod routes;

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::check::invalid;
use super::document;
use super::fault::Canned;
use super::journal::RecordedDocument;

pub(super) use routes::{delete, list, retrieve, upload};

/// What may be uploaded.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FileSettings {
    /// The largest file, in bytes.
    pub most_bytes: usize,
    /// What all files together may have, in bytes.
    pub quota_bytes: u64,
}

impl Default for FileSettings {
    fn default() -> Self {
        Self {
            most_bytes: 500 * 1024 * 1024,
            quota_bytes: 1024 * 1024 * 1024 * 1024,
        }
    }
}

/// A file as the double has it.
#[derive(Clone, Debug)]
pub struct RecordedFile {
    /// `file_…`.
    pub id: String,
    /// Its name.
    pub filename: String,
    /// Its media type.
    pub mime_type: String,
    /// Its size in bytes.
    pub bytes: usize,
    /// SHA-256 of its bytes, in lower-case hexadecimal.
    pub sha256: String,
    /// When it was uploaded, by the double's clock.
    pub created_at: Timestamp,
    /// When it ends by itself.
    pub expires_at: Option<Timestamp>,
    /// Whether it was deleted.
    pub deleted: bool,
    /// How many messages, counts and requests of batches read it.
    pub reads: usize,
}

#[derive(Debug)]
struct Stored {
    recorded: RecordedFile,
    workspace: String,
    /// What a document block gets of it, or what is wrong with it.
    document: Result<RecordedDocument, &'static str>,
}

impl Stored {
    fn has_expired(&self, now: Timestamp) -> bool {
        self.recorded.expires_at.is_some_and(|end| now >= end)
    }

    fn describe(&self) -> Value {
        let file = &self.recorded;
        json!({
            "type": "file",
            "id": file.id,
            "filename": file.filename,
            "mime_type": file.mime_type,
            "size_bytes": file.bytes,
            "created_at": file.created_at.to_string(),
            "expires_at": file.expires_at.map(|end| end.to_string()),
            // What was uploaded can't be had back.
            "downloadable": false,
        })
    }
}

/// What arrives with an upload.
struct Upload<'a> {
    workspace: &'a str,
    filename: String,
    mime_type: String,
    bytes: &'a [u8],
    now: Timestamp,
    expires_at: Option<Timestamp>,
}

/// All files, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Files(Mutex<Vec<Stored>>);

impl Files {
    fn lock(&self) -> MutexGuard<'_, Vec<Stored>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn record(&self) -> Vec<RecordedFile> {
        self.lock()
            .iter()
            .map(|stored| stored.recorded.clone())
            .collect()
    }

    fn add(&self, upload: Upload<'_>, quota: u64) -> Result<Value, Canned> {
        let mut files = self.lock();
        let used: u64 = files
            .iter()
            .filter(|stored| !stored.recorded.deleted && !stored.has_expired(upload.now))
            .map(|stored| stored.recorded.bytes as u64)
            .sum();
        if used + upload.bytes.len() as u64 > quota {
            return Err(
                invalid("File storage quota exceeded. Delete files to free up space.")
                    .with_code("storage_quota_exceeded"),
            );
        }
        let document = match upload.mime_type.as_str() {
            "application/pdf" => document::of_pdf(upload.bytes),
            "text/plain" => document::of_text(upload.bytes),
            _ => Err("The file type is not supported in document blocks."),
        };
        let stored = Stored {
            recorded: RecordedFile {
                id: format!("file_{:024}", files.len() + 1),
                filename: upload.filename,
                mime_type: upload.mime_type,
                bytes: upload.bytes.len(),
                sha256: hex::encode(Sha256::digest(upload.bytes)),
                created_at: upload.now,
                expires_at: upload.expires_at,
                deleted: false,
                reads: 0,
            },
            workspace: upload.workspace.to_owned(),
            document,
        };
        let described = stored.describe();
        files.push(stored);
        Ok(described)
    }

    /// Does something with a file that is there for a workspace, expired or not.
    fn with<T>(
        &self,
        workspace: &str,
        id: &str,
        work: impl FnOnce(&mut Stored) -> Result<T, Canned>,
    ) -> Result<T, Canned> {
        let mut files = self.lock();
        let found = files.iter_mut().find(|stored| {
            stored.recorded.id == id && !stored.recorded.deleted && stored.workspace == workspace
        });
        match found {
            Some(stored) => work(stored),
            None => Err(Canned::error(
                404,
                "not_found_error",
                &format!("File not found: {id}"),
            )),
        }
    }

    /// Reads a file for a document block at `place`.
    pub(super) fn read(
        &self,
        workspace: &str,
        place: &str,
        id: &str,
        now: Timestamp,
    ) -> Result<RecordedDocument, Canned> {
        self.with(workspace, id, |stored| {
            if stored.has_expired(now) {
                return Err(expired(id));
            }
            stored.recorded.reads += 1;
            match &stored.document {
                Ok(document) => Ok(RecordedDocument {
                    file_id: Some(id.to_owned()),
                    ..document.clone()
                }),
                Err(words) => Err(invalid(format!("{place}.pdf.source.file: {words}"))),
            }
        })
    }
}

fn expired(id: &str) -> Canned {
    Canned::error(
        404,
        "not_found_error",
        &format!("File {id} has expired and its content is no longer available."),
    )
    .with_code("file_expired")
}
