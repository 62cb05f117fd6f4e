//! The body of a batch: the requests one after the other, PDFs read from disk while they are sent.
//!
//! A thousand documents cost a chunk of memory, and a few kilobytes each for what stands around them.

use std::collections::VecDeque;
use std::io::Error as IoError;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use tempfile::{Builder, TempPath};

use super::super::MAX_BODY_BYTES;
use super::super::body::{OpenFile, open, too_large};
use super::super::envelope::DATA_GAP;
use super::super::send::Sending;
use super::{BEGINNING, END};
use crate::model::Cause;
use crate::provider::{DocumentContent, Failure, Request, RequestDocument};

/// Longer requests without a PDF wait on disk until they are sent.
const MOST_IN_MEMORY: usize = 64 * 1024;
/// What stands around the parameters of a request, but for its id.
const AROUND: &str = "{\"custom_id\":\"\",\"params\":}";

/// A request of a batch, ready to be sent.
#[derive(Debug)]
pub(crate) struct Part {
    content: Content,
    /// What it is about, for messages.
    name: String,
    /// Bytes of its parameters.
    length: u64,
}

#[derive(Debug)]
enum Content {
    Json(Bytes),
    /// Lies on disk until it is sent; removed with this.
    Spooled(TempPath),
    Pdf {
        head: Bytes,
        path: PathBuf,
        bytes: u64,
        tail: Bytes,
    },
}

impl Part {
    /// Makes a request of its JSON. The PDF is opened once, to see that it can be.
    pub(super) async fn prepare(
        json: String,
        request: &Request,
        private_directory: &Path,
    ) -> Result<Self, Failure> {
        let name = request
            .document
            .as_ref()
            .map_or_else(|| "The prompt".to_owned(), |document| document.name.clone());
        let part = match &request.document {
            Some(RequestDocument {
                content: DocumentContent::File { path, bytes },
                ..
            }) => {
                let Some(gap) = json.find(DATA_GAP) else {
                    return Err(Failure::unsent(
                        Cause::InvalidRequest,
                        "The request could not be written as JSON.",
                    ));
                };
                drop(open(path, *bytes, &name).await?);
                let mut head = Bytes::from(json);
                let tail = head.split_off(gap + DATA_GAP.len() - 1);
                let encoded = bytes.div_ceil(3).saturating_mul(4);
                Self {
                    length: (head.len() + tail.len()) as u64 + encoded,
                    content: Content::Pdf {
                        head,
                        path: path.clone(),
                        bytes: *bytes,
                        tail,
                    },
                    name,
                }
            }
            _ => Self {
                length: json.len() as u64,
                content: if json.len() > MOST_IN_MEMORY {
                    spool(json, private_directory).await?
                } else {
                    Content::Json(Bytes::from(json))
                },
                name,
            },
        };
        if part.length > MAX_BODY_BYTES {
            return Err(too_large(&part.name, part.length, ""));
        }
        Ok(part)
    }

    /// Returns the bytes that it takes with its id.
    pub(crate) fn length_with(&self, custom_id: &str) -> u64 {
        self.length + (AROUND.len() + custom_id.len()) as u64
    }
}

/// Puts a long request on disk, where only its owner may read it.
async fn spool(json: String, private_directory: &Path) -> Result<Content, Failure> {
    let directory = private_directory.to_owned();
    let spooled = tokio::task::spawn_blocking(move || {
        std::fs::create_dir_all(&directory)?;
        // In the folder that is swept at the start, under the name that is swept.
        let mut file = Builder::new().prefix("sending-").tempfile_in(&directory)?;
        std::io::Write::write_all(&mut file, json.as_bytes())?;
        Ok::<_, IoError>(file.into_temp_path())
    });
    let refused = |reason: String| {
        Failure::unsent(
            Cause::StorageFailed,
            format!("What is to be sent can’t be written: {reason}."),
        )
    };
    match spooled.await {
        Ok(Ok(path)) => Ok(Content::Spooled(path)),
        Ok(Err(error)) => Err(refused(error.to_string())),
        Err(error) => Err(refused(error.to_string())),
    }
}

/// Turns requests into the chunks of a body. Whatever goes wrong is told to `sending`, and `culprit` hears whose
/// request it was.
pub(super) fn stream(
    parts: VecDeque<(String, Part)>,
    sending: Arc<Sending>,
    culprit: Arc<Mutex<Option<String>>>,
) -> impl Stream<Item = Result<Bytes, IoError>> + Send + 'static {
    let reader = Reader {
        parts,
        present: None,
        begun: false,
        ended: false,
    };
    try_unfold(reader, move |mut reader| {
        let (sending, culprit) = (Arc::clone(&sending), Arc::clone(&culprit));
        async move {
            if reader.ended {
                return Ok(None);
            }
            match reader.chunk().await {
                Ok(chunk) => {
                    sending.taken(reader.ended);
                    Ok(Some((chunk, reader)))
                }
                Err(failure) => {
                    let error = IoError::other(failure.message.clone());
                    *culprit.lock().unwrap_or_else(PoisonError::into_inner) =
                        reader.present.map(|present| present.custom_id);
                    sending.broke_off(failure);
                    Err(error)
                }
            }
        }
    })
}

struct Reader {
    parts: VecDeque<(String, Part)>,
    /// The request that is being sent.
    present: Option<Present>,
    begun: bool,
    ended: bool,
}

struct Present {
    custom_id: String,
    file: Option<OpenFile>,
    /// Whether the file is a PDF, which is sent as base64.
    encoded: bool,
    tail: Bytes,
    /// Kept until its file is sent: a spooled request goes with it.
    _part: Content,
}

impl Reader {
    /// Returns the next chunk; the end of the body comes only when every file was found unchanged, since a
    /// request without its end is never worked on.
    async fn chunk(&mut self) -> Result<Bytes, Failure> {
        if let Some(present) = &mut self.present
            && let Some(file) = present.file.take()
        {
            let tail = present.encoded.then(|| present.tail.clone());
            let (file, bytes) = file.next(tail).await?;
            present.file = file;
            if present.encoded || present.file.is_some() {
                return Ok(bytes);
            }
            let mut last = bytes.to_vec();
            last.extend_from_slice(&present.tail);
            return Ok(Bytes::from(last));
        }
        let Some((custom_id, part)) = self.parts.pop_front() else {
            self.ended = true;
            self.present = None;
            return Ok(Bytes::from_static(END.as_bytes()));
        };
        let before = if self.begun { "," } else { BEGINNING };
        self.begun = true;
        let mut chunk = format!("{before}{{\"custom_id\":\"{custom_id}\",\"params\":").into_bytes();
        let mut present = Present {
            custom_id,
            file: None,
            encoded: false,
            tail: Bytes::from_static(b"}"),
            _part: Content::Json(Bytes::new()),
        };
        let opened = match &part.content {
            Content::Json(json) => {
                chunk.extend_from_slice(json);
                chunk.push(b'}');
                None
            }
            Content::Spooled(path) => Some((path.to_path_buf(), part.length)),
            Content::Pdf {
                head,
                path,
                bytes,
                tail,
            } => {
                chunk.extend_from_slice(head);
                let mut end = tail.to_vec();
                end.push(b'}');
                present.tail = Bytes::from(end);
                present.encoded = true;
                Some((path.clone(), *bytes))
            }
        };
        let opening = match opened {
            Some((path, bytes)) => open(&path, bytes, &part.name).await.map(Some),
            None => Ok(None),
        };
        present._part = part.content;
        let opening = opening.map(|file| present.file = file);
        self.present = Some(present);
        opening?;
        Ok(Bytes::from(chunk))
    }
}
