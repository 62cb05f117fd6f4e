//! `/v1/messages/batches`: many requests at once, for half the price and within a day.
//!
//! Like everything here it retries nothing and knows no jobs. What it says of a failed creation is exact:
//! [`Billed::No`] is only said of what the server refused, or did not get whole.

mod part;
mod results;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::header::{CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Body, RequestBuilder};
use secrecy::ExposeSecret as _;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::call::{next_chunk, not_the_api, refused, timed_out, wait_for_head};
use super::envelope::{self, Purpose};
use super::send::Sending;
use super::{ClaudeProvider, failure};
use crate::model::{Cause, Timestamp};
use crate::provider::{Billed, Failure, Request};

pub(crate) use part::Part;
pub(crate) use results::{Outcome, RemoteResult, Results, read_answer, usage_of};

/// The largest body that is sent at once, in bytes. The API takes 256 MB; read as millions, that holds
/// whichever is meant.
pub(crate) const MOST_BYTES: u64 = 256_000_000;
/// How long sending a batch may take in all: an hour for 256 MB is half a megabit a second.
const WHOLE_SENDING: Duration = Duration::from_secs(3_600);
/// How long any other question may take in all.
const WHOLE_QUESTION: Duration = Duration::from_secs(120);
/// The most that is read of an answer that is not a stream of results: a hundred remote batches.
const MOST_READ: usize = 4 * 1024 * 1024;
/// Remote batches of a page of the list.
const PAGE: u32 = 100;
const PATH: &str = "/v1/messages/batches";
const BEGINNING: &str = "{\"requests\":[";
const END: &str = "]}";

/// Where batches are: who asks elsewhere, or with the key of another workspace, can't see them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: String,
    /// Tells keys apart, and says nothing of them.
    pub(crate) key_mark: String,
}

/// A batch as the provider tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RemoteStatus {
    pub(crate) remote_id: String,
    pub(crate) created_at: Option<Timestamp>,
    /// Whether its results are there.
    pub(crate) ended: bool,
    /// All of its requests.
    pub(crate) requests: u64,
}

/// A page of the list of batches, newest first.
#[derive(Clone, Debug)]
pub(crate) struct RemotePage {
    pub(crate) batches: Vec<RemoteStatus>,
    /// Hand this in for the next page; `None` at the end.
    pub(crate) next: Option<String>,
}

/// Why a batch could not be created.
#[derive(Clone, Debug)]
pub(crate) struct NotCreated {
    /// Billed [`Billed::Unknown`] where it may have been created all the same.
    pub(crate) failure: Failure,
    /// The request that could not be sent, where it was one.
    pub(crate) culprit: Option<String>,
}

#[derive(Deserialize)]
struct Told {
    id: String,
    processing_status: Option<String>,
    created_at: Option<String>,
    #[serde(default)]
    request_counts: Counts,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Counts {
    processing: u64,
    succeeded: u64,
    errored: u64,
    canceled: u64,
    expired: u64,
}

#[derive(Deserialize)]
struct Listed {
    data: Vec<Told>,
    #[serde(default)]
    has_more: bool,
    last_id: Option<String>,
}

impl From<Told> for RemoteStatus {
    fn from(told: Told) -> Self {
        let counts = told.request_counts;
        Self {
            created_at: told.created_at.as_deref().and_then(moment),
            ended: told.processing_status.as_deref() == Some("ended"),
            requests: counts.processing
                + counts.succeeded
                + counts.errored
                + counts.canceled
                + counts.expired,
            remote_id: told.id,
        }
    }
}

fn moment(text: &str) -> Option<Timestamp> {
    let moment: jiff::Timestamp = text.parse().ok()?;
    Some(Timestamp(moment.as_millisecond()))
}

impl ClaudeProvider {
    /// Returns where batches are that are created now.
    pub(crate) fn place(&self) -> Place {
        let mut digest = Sha256::new();
        digest.update("gistmill key mark\u{0}");
        digest.update(self.access.key.expose_secret());
        Place {
            address: self.url(""),
            key_mark: hex::encode(&digest.finalize()[..8]),
        }
    }

    /// Writes a request of a batch, but for the bytes of its PDF.
    ///
    /// # Errors
    /// Causes of the class item, or that the disk refuses; never billed.
    pub(crate) async fn batch_part(
        &self,
        request: &Request,
        private_directory: &std::path::Path,
    ) -> Result<Part, Failure> {
        let json = envelope::write(self.envelope(request, Purpose::Batch))?;
        Part::prepare(json, request, private_directory).await
    }

    /// Creates a batch of requests with their ids.
    ///
    /// # Errors
    /// See [`NotCreated`].
    pub(crate) async fn create_batch(
        &self,
        parts: Vec<(String, Part)>,
        cancel: &CancellationToken,
    ) -> Result<RemoteStatus, NotCreated> {
        let sending = Arc::new(Sending::new());
        let culprit = Arc::new(Mutex::new(None));
        let creating = timeout(
            WHOLE_SENDING,
            create(self, parts, &sending, Arc::clone(&culprit)),
        );
        let created = match self.require_key() {
            Err(failure) => Err(failure),
            Ok(()) => tokio::select! {
                biased;
                () = cancel.cancelled() => Err(Failure::unsent(
                    Cause::Interrupted,
                    "The sending was stopped from here.",
                ).billed(sending.billed())),
                created = creating => created.unwrap_or_else(|_| Err(timed_out(
                    "The sending took longer than it may in all",
                    WHOLE_SENDING,
                    sending.billed(),
                ))),
            },
        };
        created.map_err(|failure| NotCreated {
            failure: self.scrub(failure),
            culprit: culprit
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(),
        })
    }

    /// Lists batches, newest first.
    ///
    /// # Errors
    /// As [`crate::provider::Deliver::deliver`]; never billed.
    pub(crate) async fn list_batches(&self, after: Option<&str>) -> Result<RemotePage, Failure> {
        let mut path = format!("{PATH}?limit={PAGE}");
        if let Some(after) = after.filter(|id| is_plain(id)) {
            path.push_str(&format!("&after_id={after}"));
        }
        let listed: Listed = self.question(self.client.get(self.url(&path))).await?;
        Ok(RemotePage {
            next: listed.last_id.filter(|_| listed.has_more),
            batches: listed.data.into_iter().map(RemoteStatus::from).collect(),
        })
    }

    /// Looks at a batch.
    ///
    /// # Errors
    /// As [`crate::provider::Deliver::deliver`]; never billed. Status 404 is also that of a batch which was
    /// created a moment ago.
    pub(crate) async fn look_at_batch(&self, remote_id: &str) -> Result<RemoteStatus, Failure> {
        let call = self.client.get(self.url(&path_of(remote_id, "")?));
        let told: Told = self.question(call).await?;
        Ok(told.into())
    }

    /// Has a batch called off: what was not begun is not answered.
    ///
    /// # Errors
    /// As [`crate::provider::Deliver::deliver`]; never billed.
    pub(crate) async fn call_off_batch(&self, remote_id: &str) -> Result<(), Failure> {
        let call = self.client.post(self.url(&path_of(remote_id, "/cancel")?));
        let _: serde_json::Value = self.question(call).await?;
        Ok(())
    }

    /// Begins to read the results of a batch that has ended.
    ///
    /// # Errors
    /// As [`crate::provider::Deliver::deliver`]; never billed.
    pub(crate) async fn batch_results(&self, remote_id: &str) -> Result<Results, Failure> {
        self.require_key()?;
        // Not the address that the batch names: with a gateway between it may lead past it, key and all.
        let call = self
            .client
            .get(self.url(&path_of(remote_id, "/results")?))
            .headers(self.headers());
        let response = self.head(call).await?;
        Ok(Results::new(response, self.timeouts.idle))
    }

    /// Sends a question without a body and returns the head of its answer, if that is a success.
    async fn head(&self, call: RequestBuilder) -> Result<reqwest::Response, Failure> {
        let sending = Sending::new();
        sending.taken(true);
        let response = wait_for_head(call.send(), &sending, self.timeouts)
            .await
            .map_err(|failure| self.scrub(failure).billed(Billed::No))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let failure = refused(self, response, self.timeouts.idle).await;
        Err(self.scrub(failure).billed(Billed::No))
    }

    async fn question<T: serde::de::DeserializeOwned>(
        &self,
        call: RequestBuilder,
    ) -> Result<T, Failure> {
        self.require_key()?;
        let asked = timeout(WHOLE_QUESTION, async {
            let response = self.head(call.headers(self.headers())).await?;
            let body = whole(response, self.timeouts.idle).await?;
            serde_json::from_slice(&body)
                .map_err(|_| not_the_api("it is nothing that the batch API says"))
        });
        asked
            .await
            .unwrap_or_else(|_| {
                Err(timed_out(
                    "The answer took longer than it may in all",
                    WHOLE_QUESTION,
                    Billed::No,
                ))
            })
            .map_err(|failure| failure.billed(Billed::No))
    }
}

async fn whole(mut response: reqwest::Response, idle: Duration) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    while let Some(chunk) = next_chunk(&mut response, idle).await? {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_READ {
            return Err(failure::stream_cut("it is longer than it can be"));
        }
    }
    Ok(body)
}

/// Returns the path of a batch. Its id comes from outside, and must not lead elsewhere.
fn path_of(remote_id: &str, what: &str) -> Result<String, Failure> {
    if is_plain(remote_id) {
        Ok(format!("{PATH}/{remote_id}{what}"))
    } else {
        Err(Failure::unsent(
            Cause::UnexpectedStatus,
            "The provider named a batch by what can't be an id.",
        ))
    }
}

fn is_plain(id: &str) -> bool {
    !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

async fn create(
    provider: &ClaudeProvider,
    parts: Vec<(String, Part)>,
    sending: &Arc<Sending>,
    culprit: Arc<Mutex<Option<String>>>,
) -> Result<RemoteStatus, Failure> {
    let length = length(&parts);
    let body = part::stream(VecDeque::from(parts), Arc::clone(sending), culprit);
    let call = provider
        .client
        .post(provider.url(PATH))
        .headers(provider.headers())
        .header(CONTENT_TYPE, "application/json")
        .header(CONTENT_LENGTH, length)
        .body(Body::wrap_stream(body));
    let response = wait_for_head(call.send(), sending, provider.timeouts).await?;
    let idle = provider.timeouts.idle;
    let status = response.status();
    if !status.is_success() {
        let failure = refused(provider, response, idle).await;
        // One that broke down may have done so after it took the batch. It is looked for, which costs minutes;
        // sent again, it might be paid twice.
        let may_exist = matches!(status.as_u16(), 408 | 409 | 500..=599)
            && !matches!(status.as_u16(), 503 | 529);
        return Err(if may_exist {
            failure.billed(Billed::Unknown)
        } else {
            failure.billed(Billed::No)
        });
    }
    // From here on it exists, whatever becomes of the answer that names it.
    let body = whole(response, idle)
        .await
        .map_err(|failure| failure.billed(Billed::Unknown))?;
    let told: Told = serde_json::from_slice(&body)
        .map_err(|_| not_the_api("it does not name the batch that was created"))?;
    Ok(told.into())
}

/// Returns the exact length of a body.
pub(crate) fn length(parts: &[(String, Part)]) -> u64 {
    let around = (BEGINNING.len() + END.len()) as u64;
    let commas = (parts.len() as u64).saturating_sub(1);
    let requests: u64 = parts
        .iter()
        .map(|(custom_id, part)| part.length_with(custom_id))
        .sum();
    around + commas + requests
}
