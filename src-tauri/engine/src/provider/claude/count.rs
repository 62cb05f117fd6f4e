//! `POST /v1/messages/count_tokens`: free, so it tests an estimate.

use std::sync::Arc;

use serde::Deserialize;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::ClaudeProvider;
use super::call::{next_chunk, post, refused, timed_out};
use super::envelope::Purpose;
use super::header;
use super::send::Sending;
use crate::model::Cause;
use crate::provider::{Billed, Failure, Request, ToldLimits};

/// The most that is read of an answer, which is a number.
const MAX_READ: usize = 64 * 1024;

#[derive(Deserialize)]
struct Body {
    input_tokens: u64,
}

/// What was counted of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedTokens {
    /// Its input tokens.
    pub input_tokens: u64,
    /// The limits in force for counting, where the answer told them.
    pub limits: Option<ToldLimits>,
}

pub(super) async fn count_tokens(
    provider: &ClaudeProvider,
    request: &Request,
    cancel: &CancellationToken,
) -> Result<CountedTokens, Failure> {
    let total = provider.timeouts.total;
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(Failure::unsent(
            Cause::Interrupted,
            "The counting was stopped from here.",
        )),
        counted = timeout(total, count(provider, request)) => counted.unwrap_or_else(|_| Err(timed_out(
            "The counting took longer than it may in all",
            total,
            Billed::No,
        ))),
    }
}

async fn count(provider: &ClaudeProvider, request: &Request) -> Result<CountedTokens, Failure> {
    let sending = Arc::new(Sending::new());
    let asked = provider.envelope(request, Purpose::Count);
    let mut response = post(provider, "/v1/messages/count_tokens", asked, &sending).await?;
    let idle = provider.timeouts.idle;
    if !response.status().is_success() {
        return Err(refused(provider, response, idle).await);
    }
    let limits = header::limits(response.headers(), (provider.now)());
    let mut body = Vec::new();
    while let Some(chunk) = next_chunk(&mut response, idle).await? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_READ {
            break;
        }
    }
    let counted: Body = serde_json::from_slice(&body).map_err(|_| Failure {
        http_status: Some(200),
        ..Failure::unsent(
            Cause::UnexpectedStatus,
            "What came is not a count of tokens, so the address does not count them.",
        )
    })?;
    Ok(CountedTokens {
        input_tokens: counted.input_tokens,
        limits,
    })
}
