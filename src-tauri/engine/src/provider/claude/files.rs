//! The Files API: a PDF that is too large for the body of a message is uploaded beforehand, read from disk while it
//! is sent, and named in the message. It ends by itself after an hour, should nobody remove it.

use std::io::Error as IoError;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use futures_util::stream::try_unfold;
use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Body, Response};
use serde::Deserialize;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::ClaudeProvider;
use super::body::{OpenFile, open};
use super::call::{next_chunk, refused, timed_out, wait_for_head};
use super::send::Sending;
use crate::model::Cause;
use crate::provider::{Billed, Failure};

/// The largest file that the API takes, in bytes (500 MB).
pub const MAX_FILE_BYTES: u64 = 500_000_000;
/// Seconds after which an upload ends by itself: the fewest that the API allows.
const EXPIRES_IN: u32 = 3_600;
/// Stands between the parts of the form. A PDF that holds it would have to be made for that.
const BOUNDARY: &str = "gistmill-5f2b8c1e9d7a4063b1c8e2f7";
/// The slowest that an upload may be on average, in bytes a second.
const SLOWEST: u64 = 50_000;
/// The most that is read of an answer, which names the file.
const MAX_READ: usize = 64 * 1024;
/// How long removing a file may take. Nothing waits for it but the end of its attempt.
const REMOVING: Duration = Duration::from_secs(10);

#[derive(Deserialize)]
struct Uploaded {
    id: String,
}

/// Uploads a PDF, and returns the id of the file.
pub(super) async fn upload(
    provider: &ClaudeProvider,
    path: &Path,
    bytes: u64,
    name: &str,
    cancel: &CancellationToken,
) -> Result<String, Failure> {
    let total = provider
        .timeouts
        .total
        .max(Duration::from_secs(bytes / SLOWEST));
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Failure::unsent(
            Cause::Interrupted,
            "The upload was stopped from here.",
        )),
        uploaded = timeout(total, send(provider, path, bytes, name)) => uploaded
            .unwrap_or_else(|_| Err(timed_out(
                "The upload took longer than it may in all",
                total,
                Billed::No,
            ))),
    }
    // A file costs nothing before it is asked about.
    .map_err(|failure| failure.billed(Billed::No))
}

async fn send(
    provider: &ClaudeProvider,
    path: &Path,
    bytes: u64,
    name: &str,
) -> Result<String, Failure> {
    // Its name is told with the message; what the file is called at the provider shows nothing.
    let head = format!(
        "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"expires_in_seconds\"\r\n\r\n{EXPIRES_IN}\r\n\
         --{BOUNDARY}\r\ncontent-disposition: form-data; name=\"file\"; filename=\"document.pdf\"\r\n\
         content-type: application/pdf\r\n\r\n"
    );
    let tail = format!("\r\n--{BOUNDARY}--\r\n");
    let length = head.len() as u64 + bytes + tail.len() as u64;
    let form = Form {
        head: Some(Bytes::from(head)),
        file: Some(open(path, bytes, name).await?),
        tail: Bytes::from(tail),
    };
    let sending = Arc::new(Sending::new());
    let call = provider
        .client
        .post(provider.url("/v1/files"))
        .headers(provider.headers())
        .header(
            CONTENT_TYPE,
            format!("multipart/form-data; boundary={BOUNDARY}"),
        )
        .header(CONTENT_LENGTH, length)
        .body(Body::wrap_stream(form.into_stream(Arc::clone(&sending))));
    let response = wait_for_head(call.send(), &sending, provider.timeouts).await?;
    let uploaded: Uploaded = read(provider, response).await?;
    Ok(uploaded.id)
}

/// Removes a file; one that is not there any more is as good as removed.
pub(super) async fn remove(provider: &ClaudeProvider, file_id: &str) -> Result<(), Failure> {
    let asked = async {
        let response = provider
            .client
            .delete(provider.url(&format!("/v1/files/{file_id}")))
            .headers(provider.headers())
            .send()
            .await
            .map_err(|error| {
                super::failure::from_transport(error, &Sending::new()).billed(Billed::No)
            })?;
        match response.status().as_u16() {
            200..=299 | 404 => Ok(()),
            _ => Err(refused(provider, response, REMOVING).await),
        }
    };
    timeout(REMOVING, asked)
        .await
        .unwrap_or_else(|_| Err(timed_out("The file was not removed", REMOVING, Billed::No)))
}

async fn read<T: serde::de::DeserializeOwned>(
    provider: &ClaudeProvider,
    mut response: Response,
) -> Result<T, Failure> {
    let idle = provider.timeouts.idle;
    let status = response.status().as_u16();
    if !response.status().is_success() {
        return Err(without_files(refused(provider, response, idle).await));
    }
    let mut body = Vec::new();
    while let Some(chunk) = next_chunk(&mut response, idle).await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_READ {
            break;
        }
    }
    serde_json::from_slice(&body).map_err(|_| Failure {
        http_status: Some(status),
        ..Failure::unsent(
            Cause::FilesNotTaken,
            "What came is not a file, so the address takes no files.",
        )
    })
}

/// Says that no files are taken, where there is no such call, or no room for more of them.
fn without_files(failure: Failure) -> Failure {
    let no_call = matches!(failure.http_status, Some(404 | 405 | 501));
    let no_room = failure.message.to_lowercase().contains("storage quota");
    if no_call || no_room || failure.cause == Cause::TooLarge {
        return Failure {
            cause: Cause::FilesNotTaken,
            ..failure
        };
    }
    failure
}

/// The form of an upload.
struct Form {
    head: Option<Bytes>,
    file: Option<OpenFile>,
    tail: Bytes,
}

impl Form {
    /// Turns it into the chunks of the body. Whatever goes wrong is told to `sending`.
    fn into_stream(
        self,
        sending: Arc<Sending>,
    ) -> impl Stream<Item = Result<Bytes, IoError>> + Send + 'static {
        try_unfold(Some(self), move |state| {
            let sending = Arc::clone(&sending);
            async move {
                let Some(mut form) = state else {
                    return Ok(None);
                };
                match form.chunk().await {
                    Ok((chunk, last)) => {
                        sending.taken(last);
                        Ok(Some((chunk, (!last).then_some(form))))
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

    /// Returns the next chunk, and whether it is the last one.
    async fn chunk(&mut self) -> Result<(Bytes, bool), Failure> {
        if let Some(head) = self.head.take() {
            return Ok((head, false));
        }
        // What was sent of the file is one version of it, or the end of the form does not come.
        let Some(file) = self.file.take() else {
            return Ok((self.tail.clone(), true));
        };
        let (file, bytes) = file.next(None).await?;
        self.file = file;
        Ok((bytes, false))
    }
}
