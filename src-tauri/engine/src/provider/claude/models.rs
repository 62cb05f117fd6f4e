//! `GET /v1/models`: free, so it tests a key, too.

use serde::Deserialize;
use tokio::time::timeout;

use super::{ClaudeProvider, failure, header};
use crate::model::{Cause, ModelProfile, ToldLimits};
use crate::profiles::{self, Line};
use crate::provider::{Billed, Failure};

/// Models a page: the most that the API gives.
const A_PAGE: u32 = 1_000;
/// Most pages that are asked for: more models than anybody has.
const MOST_PAGES: u32 = 20;
/// The most that is read of a page. OpenRouter describes its hundreds of models at length.
const MOST_BYTES: usize = 16 * 1024 * 1024;

#[derive(Deserialize)]
struct Page {
    // A line that can't be read is passed over; the others are still models.
    data: Vec<serde_json::Value>,
    #[serde(default)]
    has_more: Option<bool>,
    #[serde(default)]
    last_id: Option<String>,
}

/// Returns every model that the address lists, newest first, and the limits that it tells besides.
pub(super) async fn list(
    provider: &ClaudeProvider,
) -> Result<(Vec<ModelProfile>, ToldLimits), Failure> {
    // Listing takes a moment; a person waits for it, so the idle limit is limit enough.
    timeout(provider.timeouts.idle, ask(provider))
        .await
        .unwrap_or_else(|_| {
            Err(Failure::unsent(
                Cause::TimedOut,
                "The list of models did not come in time.",
            ))
        })
        .map_err(|failure| provider.scrub(failure).billed(Billed::No))
}

async fn ask(provider: &ClaudeProvider) -> Result<(Vec<ModelProfile>, ToldLimits), Failure> {
    let mut models = Vec::new();
    let mut limits = ToldLimits::default();
    let mut after: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let (page, told) = page(provider, after.as_deref()).await?;
        limits = told;
        let read = page.data.into_iter().filter_map(|line| {
            let line: Line = serde_json::from_value(line).ok()?;
            Some(profiles::told(line))
        });
        models.extend(read);
        // A page that ends where it began would be asked for again and again.
        match page.last_id.filter(|_| page.has_more == Some(true)) {
            Some(last) if after.as_ref() != Some(&last) => after = Some(last),
            _ => break,
        }
    }
    Ok((models, limits))
}

async fn page(
    provider: &ClaudeProvider,
    after: Option<&str>,
) -> Result<(Page, ToldLimits), Failure> {
    let mut query = vec![("limit", A_PAGE.to_string())];
    query.extend(after.map(|id| ("after_id", id.to_owned())));
    let address = reqwest::Url::parse_with_params(&provider.url("/v1/models"), &query)
        .map_err(|_| not_a_list(None))?;
    let mut response = provider
        .client
        .get(address)
        .headers(provider.headers())
        .send()
        .await
        .map_err(broken)?;
    let status = response.status();
    let headers = response.headers().clone();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(broken)? {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_BYTES {
            return Err(not_a_list(Some(status.as_u16())));
        }
    }
    if !status.is_success() {
        let failure = failure::from_status(status.as_u16(), &headers, &body, (provider.now)());
        return Err(match failure.cause {
            // It is no model that is missing here.
            Cause::ModelNotFound => Failure {
                cause: Cause::UnexpectedStatus,
                message: "The address has no list of models (status 404).".to_owned(),
                ..failure
            },
            _ => failure,
        });
    }
    let page = serde_json::from_slice(&body).map_err(|_| not_a_list(Some(status.as_u16())))?;
    let limits = header::limits(&headers, (provider.now)()).unwrap_or_default();
    Ok((page, limits))
}

fn not_a_list(status: Option<u16>) -> Failure {
    Failure {
        http_status: status,
        ..Failure::unsent(
            Cause::UnexpectedStatus,
            "What came is not a list of models, so this is not the Messages API.",
        )
    }
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
