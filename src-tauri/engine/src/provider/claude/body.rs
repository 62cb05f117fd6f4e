//! The request body: JSON with the PDF as base64, read from disk while it is sent.
//!
//! Ten documents of 20 MB under way at once cost ten chunks of memory, not ten documents. The length
//! is known beforehand, so the body is sent with an exact `content-length`.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use serde::Serialize;
use tokio::fs::File;
use tokio::io::AsyncReadExt as _;

use super::MAX_BODY_BYTES;
use super::send::Sending;
use crate::model::Cause;
use crate::provider::{DocumentContent, Failure, Request, RequestDocument, Shape};

/// Bytes read at a time: a multiple of 3, so that no chunk but the last needs padding.
const CHUNK_BYTES: usize = 3 * 64 * 1024;

/// Longest title sent, in characters. The API limits titles without saying at what length.
const MAX_TITLE_CHARS: usize = 200;

/// The place in the JSON where the document goes. A quote inside a JSON string is always escaped,
/// so no name, model or prompt can contain this: it is the field itself and nothing else.
const DATA_GAP: &str = "\"data\":\"\"";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    stream: bool,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a serde_json::Value,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Document {
        source: Source,
        #[serde(skip_serializing_if = "String::is_empty")]
        title: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<Citations>,
    },
    Text {
        text: &'a str,
    },
}

#[derive(Serialize)]
struct Citations {
    enabled: bool,
}

#[derive(Serialize)]
struct Source {
    r#type: &'static str,
    media_type: &'static str,
    data: String,
}

/// A body ready to be sent.
pub(super) struct Upload {
    head: Bytes,
    tail: Bytes,
    file: Option<OpenFile>,
    /// Exact length in bytes.
    pub(super) length: u64,
}

struct OpenFile {
    file: File,
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
    pub(super) async fn prepare(request: &Request) -> Result<Self, Failure> {
        let json = envelope(request)?;
        let file = match &request.document {
            Some(RequestDocument {
                content: DocumentContent::File { path, bytes },
                name,
                ..
            }) => Some((path, *bytes, name)),
            _ => None,
        };
        let Some((path, bytes, name)) = file else {
            let upload = Self {
                length: json.len() as u64,
                head: Bytes::from(json),
                tail: Bytes::new(),
                file: None,
            };
            return upload.within_limit("The prompt");
        };
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
        upload.within_limit(name)
    }

    fn within_limit(self, what: &str) -> Result<Self, Failure> {
        if self.length <= MAX_BODY_BYTES {
            return Ok(self);
        }
        let megabytes = 1024.0 * 1024.0;
        Err(Failure::unsent(
            Cause::TooLarge,
            format!(
                "{what} makes a request of {:.1} MB; Claude takes at most {:.0} MB, in which a PDF takes a third more than on disk.",
                self.length as f64 / megabytes,
                MAX_BODY_BYTES as f64 / megabytes,
            ),
        ))
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
        let Some(open) = &mut self.file else {
            return Ok(self.tail.clone());
        };
        let raw = open.read().await?;
        let mut text = String::with_capacity(raw.len().div_ceil(3) * 4 + self.tail.len());
        STANDARD.encode_string(&raw, &mut text);
        if open.remaining == 0 {
            // The end is held back until it is certain that what was sent is one version of the
            // file: a request without its end is never worked on.
            open.verify_unchanged().await?;
            text.push_str(&String::from_utf8_lossy(&self.tail));
            self.file = None;
        }
        Ok(Bytes::from(text))
    }
}

impl OpenFile {
    async fn read(&mut self) -> Result<Vec<u8>, Failure> {
        let wanted = self.remaining.min(CHUNK_BYTES as u64);
        let mut raw = Vec::with_capacity(CHUNK_BYTES);
        (&mut self.file)
            .take(wanted)
            .read_to_end(&mut raw)
            .await
            .map_err(|error| unreadable(&self.name, &error))?;
        if (raw.len() as u64) < wanted {
            return Err(self.changed());
        }
        self.remaining -= wanted;
        Ok(raw)
    }

    async fn verify_unchanged(&self) -> Result<(), Failure> {
        let metadata = self
            .file
            .metadata()
            .await
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

async fn open(path: &Path, bytes: u64, name: &str) -> Result<OpenFile, Failure> {
    let unreadable = |error: IoError| unreadable(name, &error);
    let file = File::open(path).await.map_err(unreadable)?;
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
    Ok(OpenFile {
        file,
        name: name.to_owned(),
        bytes,
        remaining: bytes,
        modified: metadata.modified().ok(),
    })
}

fn unreadable(name: &str, error: &IoError) -> Failure {
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

fn envelope(request: &Request) -> Result<String, Failure> {
    let mut content = Vec::with_capacity(2);
    // The document stands before the question about it, which the API's guide asks for.
    if let Some(document) = &request.document {
        let source = match &document.content {
            DocumentContent::File { .. } => Source {
                r#type: "base64",
                media_type: "application/pdf",
                data: String::new(),
            },
            DocumentContent::Text(pages) => Source {
                r#type: "text",
                media_type: "text/plain",
                data: with_page_numbers(pages, document.first_page),
            },
        };
        content.push(Block::Document {
            source,
            title: title(&document.name),
            citations: (request.shape == Shape::CitedText).then_some(Citations { enabled: true }),
        });
    }
    content.push(Block::Text {
        text: &request.prompt,
    });
    let body = Body {
        model: &request.model,
        max_tokens: request.max_tokens,
        stream: true,
        messages: [Message {
            role: "user",
            content,
        }],
        output_config: match &request.shape {
            Shape::Json(schema) => Some(OutputConfig {
                format: Format {
                    r#type: "json_schema",
                    schema,
                },
            }),
            Shape::Text | Shape::CitedText => None,
        },
    };
    serde_json::to_string(&body).map_err(|error| {
        Failure::unsent(
            Cause::InvalidRequest,
            format!("The request could not be written as JSON: {error}."),
        )
    })
}

/// Returns the text of pages with their numbers in the document.
fn with_page_numbers(pages: &[String], first_page: u32) -> String {
    pages
        .iter()
        .zip(first_page..)
        .map(|(text, page)| format!("[Page {page}]\n{}\n\n", text.trim_end()))
        .collect()
}

fn title(name: &str) -> String {
    let clean: String = name
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_TITLE_CHARS)
        .collect();
    clean.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_field_itself_is_taken_for_the_gap() {
        let request = Request {
            document: Some(RequestDocument {
                content: DocumentContent::File {
                    path: "paper.pdf".into(),
                    bytes: 1,
                },
                pages: None,
                first_page: 1,
                name: DATA_GAP.to_owned(),
            }),
            prompt: DATA_GAP.to_owned(),
            model: DATA_GAP.to_owned(),
            max_tokens: 1,
            shape: Shape::Json(serde_json::json!({ "description": DATA_GAP })),
        };
        let json = envelope(&request).unwrap();
        assert_eq!(json.matches(DATA_GAP).count(), 1);
        let before = &json[..json.find(DATA_GAP).unwrap()];
        assert!(before.ends_with("\"media_type\":\"application/pdf\","));
    }

    #[test]
    fn titles_are_trimmed_and_hold_no_control_characters() {
        assert_eq!(title(" a\nb.pdf "), "ab.pdf");
        assert_eq!(title(&"界".repeat(300)).chars().count(), MAX_TITLE_CHARS);
    }
}
