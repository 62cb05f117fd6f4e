//! `GET /v1/models`: free, so it tests a key.

use serde::Deserialize;
use tokio::time::timeout;

use super::{ClaudeProvider, failure, header};
use crate::model::{Cause, KeyTest};
use crate::provider::Failure;

/// One page with the most models that it may hold: enough for all.
const PAGE: &str = "/v1/models?limit=1000";

#[derive(Deserialize)]
struct Page {
    data: Vec<Model>,
}

#[derive(Deserialize)]
struct Model {
    id: String,
    lifecycle: Option<String>,
}

pub(super) async fn test_key(provider: &ClaudeProvider, model: &str) -> Result<KeyTest, Failure> {
    // Listing takes a moment; a person waits for it, so the idle limit is limit enough.
    timeout(provider.timeouts.idle, ask(provider, model))
        .await
        .unwrap_or_else(|_| {
            Err(Failure::unsent(
                Cause::TimedOut,
                "The list of models did not come in time.",
            ))
        })
        .map_err(|failure| provider.scrub(failure))
}

async fn ask(provider: &ClaudeProvider, model: &str) -> Result<KeyTest, Failure> {
    let response = provider
        .client
        .get(provider.url(PAGE))
        .headers(provider.headers())
        .send()
        .await
        .map_err(broken)?;
    let status = response.status();
    let headers = response.headers().clone();
    let body = response.bytes().await.map_err(broken)?;
    if !status.is_success() {
        let failure = failure::from_status(status.as_u16(), &headers, &body, (provider.now)());
        return Err(failure.billed(crate::provider::Billed::No));
    }
    let page: Page = serde_json::from_slice(&body).map_err(|_| Failure {
        http_status: Some(status.as_u16()),
        ..Failure::unsent(
            Cause::UnexpectedStatus,
            "What came is not a list of models, so this is not the Messages API.",
        )
    })?;
    let models: Vec<String> = page
        .data
        .into_iter()
        .filter(|entry| entry.lifecycle.as_deref() != Some("retired"))
        .map(|entry| entry.id)
        .collect();
    let limits = header::limits(&headers).unwrap_or_default();
    Ok(KeyTest {
        model_available: models.iter().any(|id| is_same(id, model)),
        models,
        requests_per_minute: limits.requests,
        input_tokens_per_minute: limits.input_tokens,
        output_tokens_per_minute: limits.output_tokens,
    })
}

/// Older ids are listed with their date (`claude-haiku-4-5-20251001`) but may be asked without it.
fn is_same(listed: &str, asked: &str) -> bool {
    listed.strip_prefix(asked).is_some_and(|rest| {
        rest.is_empty()
            || rest.strip_prefix('-').is_some_and(|date| {
                date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

fn broken(error: reqwest::Error) -> Failure {
    let cause = if error.is_connect() {
        Cause::Offline
    } else {
        Cause::ConnectionFailed
    };
    Failure::unsent(
        cause,
        format!(
            "The list of models could not be asked for: {}.",
            failure::words(error)
        ),
    )
}
