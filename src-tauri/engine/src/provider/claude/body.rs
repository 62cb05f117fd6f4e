//! The request body: JSON with the PDF as base64, read from disk while it is sent.
//!
//! Ten documents of 20 MB under way at once cost ten chunks of memory, not ten documents. The length
//! is known beforehand, so the body is sent with an exact `content-length`.

use std::fs::File;
use std::io::{Error as IoError, ErrorKind, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use tokio::task::spawn_blocking;

use super::MAX_BODY_BYTES;
use super::envelope::{self, DATA_GAP, Envelope};
use super::pages::Numbered;
use super::send::Sending;
use crate::model::Cause;
use crate::provider::{DocumentContent, Failure, RequestDocument};

/// Bytes read at a time: a multiple of 3, so that no chunk but the last needs padding.
const CHUNK_BYTES: usize = 3 * 64 * 1024;

/// A body ready to be sent.
pub(super) struct Upload {
    head: Bytes,
    tail: Bytes,
    file: Option<OpenFile>,
    /// Exact length in bytes.
    pub(super) length: u64,
}

/// A document that is read while it is sent.
pub(super) struct OpenFile {
    file: File,
    /// The bytes read last.
    raw: Vec<u8>,
    name: String,
    bytes: u64,
    remaining: u64,
    modified: Option<SystemTime>,
}

impl Upload {
    /// Builds the body and opens the document.
    ///
    /// # Errors
    /// Causes of the class item: the file is gone, unreadable, empty or another one, or the body
    /// would be larger than the API takes. Never billed.
    pub(super) async fn prepare(asked: Envelope<'_>) -> Result<Self, Failure> {
        let (path, bytes, name) = match &asked.request.document {
            None => return Self::of_json(envelope::write(asked)?).within_limit("The prompt", ""),
            Some(RequestDocument {
                content: DocumentContent::Uploaded { .. },
                ..
            }) => return Self::of_json(envelope::write(asked)?).within_limit("The prompt", ""),
            Some(RequestDocument {
                content: DocumentContent::Text(pages),
                first_page,
                name,
                ..
            }) => {
                // What is too large in any case is not written out first.
                let text = Numbered::new(pages, *first_page).bytes();
                if text > MAX_BODY_BYTES {
                    return Err(too_large(name, text, ""));
                }
                return Self::of_json(envelope::write(asked)?).within_limit(name, "");
            }
            Some(RequestDocument {
                content: DocumentContent::File { path, bytes },
                name,
                ..
            }) => (path, *bytes, name),
        };
        let json = envelope::write(asked)?;
        let Some(gap) = json.find(DATA_GAP) else {
            return Err(Failure::unsent(
                Cause::InvalidRequest,
                "The request could not be written as JSON.",
            ));
        };
        let mut head = Bytes::from(json);
        let tail = head.split_off(gap + DATA_GAP.len() - 1);
        let file = open(path, bytes, name).await?;
        let encoded = bytes.div_ceil(3).saturating_mul(4);
        let length = (head.len() + tail.len()) as u64 + encoded;
        let upload = Self {
            head,
            tail,
            file: Some(file),
            length,
        };
        upload.within_limit(name, ", in which a PDF takes a third more than on disk")
    }

    fn of_json(json: String) -> Self {
        Self {
            length: json.len() as u64,
            head: Bytes::from(json),
            tail: Bytes::new(),
            file: None,
        }
    }

    fn within_limit(self, what: &str, why: &str) -> Result<Self, Failure> {
        if self.length <= MAX_BODY_BYTES {
            Ok(self)
        } else {
            Err(too_large(what, self.length, why))
        }
    }

    /// Turns it into the chunks of the body. Whatever goes wrong is told to `sending`.
    pub(super) fn into_stream(
        self,
        sending: Arc<Sending>,
    ) -> impl Stream<Item = Result<Bytes, IoError>> + Send + 'static {
        try_unfold(Some((self, true)), move |state| {
            let sending = Arc::clone(&sending);
            async move {
                let Some((mut upload, first)) = state else {
                    return Ok(None);
                };
                match upload.chunk(first).await {
                    Ok(chunk) => {
                        let last = upload.file.is_none();
                        sending.taken(last);
                        Ok(Some((chunk, (!last).then_some((upload, false)))))
                    }
                    Err(failure) => {
                        let error = IoError::other(failure.message.clone());
                        sending.broke_off(failure);
                        Err(error)
                    }
                }
            }
        })
    }

    /// Returns the next chunk; after the last one the file is closed and gone.
    async fn chunk(&mut self, first: bool) -> Result<Bytes, Failure> {
        if first {
            return Ok(self.head.clone());
        }
        let Some(open) = self.file.take() else {
            return Ok(self.tail.clone());
        };
        let (open, text) = open.next(Some(self.tail.clone())).await?;
        self.file = open;
        Ok(text)
    }
}

impl OpenFile {
    /// Returns the next bytes, written as base64 where a `tail` is to follow the last ones. After those the file is
    /// closed and gone.
    pub(super) async fn next(self, tail: Option<Bytes>) -> Result<(Option<Self>, Bytes), Failure> {
        // Reading and encoding go together, so that the bytes are moved once on their way.
        let read = spawn_blocking(move || self.read_next(tail.as_deref())).await;
        read.map_err(|error| {
            Failure::unsent(
                Cause::Interrupted,
                format!("The document was not read to its end: {error}."),
            )
        })?
    }

    /// As [`OpenFile::next`]. Blocks.
    fn read_next(mut self, tail: Option<&[u8]>) -> Result<(Option<Self>, Bytes), Failure> {
        let wanted = self.remaining.min(CHUNK_BYTES as u64);
        self.raw.clear();
        (&mut self.file)
            .take(wanted)
            .read_to_end(&mut self.raw)
            .map_err(|error| unreadable(&self.name, &error))?;
        if (self.raw.len() as u64) < wanted {
            return Err(self.changed());
        }
        self.remaining -= wanted;
        let mut bytes = match tail {
            Some(tail) => {
                let mut text = String::with_capacity(self.raw.len().div_ceil(3) * 4 + tail.len());
                STANDARD.encode_string(&self.raw, &mut text);
                text.into_bytes()
            }
            None => self.raw.clone(),
        };
        if self.remaining > 0 {
            return Ok((Some(self), Bytes::from(bytes)));
        }
        // The end is held back until it is certain that what was sent is one version of the
        // file: a request without its end is never worked on.
        self.verify_unchanged()?;
        bytes.extend_from_slice(tail.unwrap_or_default());
        Ok((None, Bytes::from(bytes)))
    }

    fn verify_unchanged(&self) -> Result<(), Failure> {
        let metadata = self
            .file
            .metadata()
            .map_err(|error| unreadable(&self.name, &error))?;
        if metadata.len() == self.bytes && metadata.modified().ok() == self.modified {
            Ok(())
        } else {
            Err(self.changed())
        }
    }

    fn changed(&self) -> Failure {
        Failure::unsent(
            Cause::FileChanged,
            format!("{} changed while it was being sent.", self.name),
        )
    }
}

pub(super) fn too_large(what: &str, bytes: u64, why: &str) -> Failure {
    let megabytes = 1024.0 * 1024.0;
    Failure::unsent(
        Cause::TooLarge,
        format!(
            "{what} makes a request of {:.1} MB; Claude takes at most {:.0} MB{why}.",
            bytes as f64 / megabytes,
            MAX_BODY_BYTES as f64 / megabytes,
        ),
    )
}

/// Opens a document that has so many bytes.
pub(super) async fn open(path: &Path, bytes: u64, name: &str) -> Result<OpenFile, Failure> {
    let unreadable = |error: IoError| unreadable(name, &error);
    let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
    let metadata = file.metadata().await.map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Failure::unsent(
            Cause::FileUnreadable,
            format!("{name} is not a file."),
        ));
    }
    if metadata.len() != bytes {
        return Err(Failure::unsent(
            Cause::FileChanged,
            format!(
                "{name} has {} bytes; it had {} when it was added.",
                metadata.len(),
                bytes
            ),
        ));
    }
    if bytes == 0 {
        return Err(Failure::unsent(
            Cause::FileEmpty,
            format!("{name} has no bytes."),
        ));
    }
    let most = usize::try_from(bytes).map_or(CHUNK_BYTES, |bytes| bytes.min(CHUNK_BYTES));
    Ok(OpenFile {
        file: file.into_std().await,
        raw: Vec::with_capacity(most),
        name: name.to_owned(),
        bytes,
        remaining: bytes,
        modified: metadata.modified().ok(),
    })
}

pub(super) fn unreadable(name: &str, error: &IoError) -> Failure {
    if error.kind() == ErrorKind::NotFound {
        return Failure::unsent(
            Cause::FileMissing,
            format!("{name} is not where it was when it was added."),
        );
    }
    Failure::unsent(
        Cause::FileUnreadable,
        format!("{name} can't be read: {error}."),
    )
}
