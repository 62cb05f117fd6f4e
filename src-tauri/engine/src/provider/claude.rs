//! Claude over its Messages API: one streamed `POST /v1/messages` for each attempt.
//!
//! Invariants: nothing is retried here, redirects are not followed (they would carry the key
//! elsewhere), the PDF is never wholly in memory, and the key appears in no error, log or `Debug`.

mod answer;
mod body;
mod call;
mod count;
mod envelope;
mod event;
mod failure;
mod header;
mod models;
mod pages;
mod send;
mod sse;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio_util::sync::CancellationToken;

pub use count::CountedTokens;

use super::{Answer, Deliver, Failure, Progress, Request};
use crate::model::{Cause, KeyTest};

/// Where Anthropic itself answers.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";

/// The largest request body that the API takes, in bytes (32 MB).
///
/// Read as 32 MiB: where the two readings differ the server's own 413 costs nothing, whereas
/// refusing here a file that would have been taken does.
pub const MAX_BODY_BYTES: u64 = 32 * 1024 * 1024;

const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");
const VERSION: HeaderValue = HeaderValue::from_static("2023-06-01");
const KEY_HEADER: HeaderName = HeaderName::from_static("x-api-key");

/// How long each part of a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Until the connection stands, TLS included.
    pub connect: Duration,
    /// From the last byte of the request to the head of the answer. Longer than `idle`: a large
    /// document is read in that time, and giving up on it may cost its price.
    pub first_byte: Duration,
    /// Without any byte taken (while sending) or given (while answering).
    pub idle: Duration,
    /// For the whole call.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(180),
            idle: Duration::from_secs(60),
            total: Duration::from_secs(600),
        }
    }
}

/// How the text of a document is sent, where text is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TextAs {
    /// As a document of its own, whose statements can be cited.
    #[default]
    Document,
    /// As a part of the prompt, for addresses that drop documents silently, as Ollama does.
    Prompt,
}

/// What a [`ClaudeProvider`] needs to know.
#[derive(Clone, Debug)]
pub struct ClaudeConfig {
    /// Where to ask, without `/v1` (one at the end is taken off).
    pub base_url: String,
    /// The API key; may be empty for endpoints that want none. White space around it is dropped.
    pub key: SecretString,
    /// How long each part of a call may take.
    pub timeouts: Timeouts,
    /// How the text of a document is sent, where text is sent.
    pub text_as: TextAs,
}

impl ClaudeConfig {
    /// Returns the configuration for Anthropic itself with the usual timeouts.
    #[must_use]
    pub fn new(key: SecretString) -> Self {
        Self {
            base_url: ANTHROPIC_BASE_URL.to_owned(),
            key,
            timeouts: Timeouts::default(),
            text_as: TextAs::default(),
        }
    }
}

/// Why a [`ClaudeProvider`] can't be made.
#[derive(Debug, thiserror::Error)]
pub enum ClaudeSetupError {
    /// The base URL is not an `http` or `https` address of a host.
    #[error("`{0}` is not an http or https address")]
    BaseUrl(String),
    /// The key holds characters that no header may hold, so it was pasted wrongly.
    #[error("the API key holds characters that an API key can't have")]
    Key,
    /// The HTTP client could not be started (TLS or proxy settings of the system).
    #[error("the HTTP client could not be started: {0}")]
    Client(#[from] reqwest::Error),
}

/// Tells the time; injected for the sake of `retry-after` dates.
pub type Now = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Answers requests by Claude. Clones share one HTTP client and its connections.
#[derive(Clone)]
pub struct ClaudeProvider {
    client: Client,
    base_url: Url,
    key: SecretString,
    timeouts: Timeouts,
    text_as: TextAs,
    now: Now,
}

impl fmt::Debug for ClaudeProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClaudeProvider")
            .field("host", &self.base_url.host_str())
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

impl ClaudeProvider {
    /// Makes a provider; nothing is sent yet.
    ///
    /// # Errors
    /// When the configuration can't work: see [`ClaudeSetupError`].
    pub fn new(config: &ClaudeConfig) -> Result<Self, ClaudeSetupError> {
        let base_url = base_url(&config.base_url)?;
        let mut builder = Client::builder()
            .connect_timeout(config.timeouts.connect)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .tcp_keepalive(Duration::from_secs(60))
            .user_agent(concat!("gistmill/", env!("CARGO_PKG_VERSION")));
        if is_loopback(&base_url) {
            // A proxy could not reach this machine's own servers.
            builder = builder.no_proxy();
        }
        Ok(Self {
            client: builder.build()?,
            base_url,
            key: usable_key(&config.key)?,
            timeouts: config.timeouts,
            text_as: config.text_as,
            now: Arc::new(SystemTime::now),
        })
    }

    /// Returns the same provider, on the same connections, with another key.
    ///
    /// # Errors
    /// [`ClaudeSetupError::Key`] when the key can't be sent.
    pub fn with_key(&self, key: &SecretString) -> Result<Self, ClaudeSetupError> {
        Ok(Self {
            key: usable_key(key)?,
            ..self.clone()
        })
    }

    /// Returns the same provider, told the time by `now`.
    #[must_use]
    pub fn with_now(mut self, now: Now) -> Self {
        self.now = now;
        self
    }

    /// Asks for the list of models, which costs nothing, to see whether the key works.
    ///
    /// `model` is the one that the settings name. Limits are given where the answer tells them.
    ///
    /// # Errors
    /// As [`Deliver::deliver`]; never billed.
    pub async fn test_key(&self, model: &str) -> Result<KeyTest, Failure> {
        self.require_key()?;
        models::test_key(self, model).await
    }

    /// Has the input tokens of a request counted, which costs nothing and has a limit of calls of its own.
    ///
    /// The document is sent as it would be to be answered.
    ///
    /// # Errors
    /// As [`Deliver::deliver`]; never billed.
    pub async fn count_tokens(
        &self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<u64, Failure> {
        let counted = self.count_tokens_told(request, cancel).await?;
        Ok(counted.input_tokens)
    }

    /// As [`ClaudeProvider::count_tokens`], with the limits that the answer told.
    ///
    /// # Errors
    /// As [`ClaudeProvider::count_tokens`].
    pub async fn count_tokens_told(
        &self,
        request: &Request,
        cancel: &CancellationToken,
    ) -> Result<CountedTokens, Failure> {
        self.require_key()?;
        count::count_tokens(self, request, cancel)
            .await
            .map_err(|failure| self.scrub(failure).billed(super::Billed::No))
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.as_str().trim_end_matches('/'))
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(VERSION_HEADER, VERSION);
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        if let Ok(mut key) = HeaderValue::from_str(self.key.expose_secret())
            && !key.is_empty()
        {
            key.set_sensitive(true);
            headers.insert(KEY_HEADER, key);
        }
        headers
    }

    /// Anthropic itself always wants a key; other endpoints may not.
    fn require_key(&self) -> Result<(), Failure> {
        if is_anthropic_host(&self.base_url) && self.key.expose_secret().is_empty() {
            return Err(Failure::unsent(
                Cause::KeyMissing,
                "No Anthropic API key is set.",
            ));
        }
        Ok(())
    }

    /// Takes the key out of a message, should an endpoint have put it there.
    fn scrub(&self, mut failure: Failure) -> Failure {
        let key = self.key.expose_secret();
        if !key.is_empty() && failure.message.contains(key) {
            failure.message = failure.message.replace(key, "[key]");
        }
        failure
    }
}

#[async_trait]
impl Deliver for ClaudeProvider {
    async fn deliver(
        &self,
        request: &Request,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Answer, Failure> {
        self.require_key()?;
        call::deliver(self, request, progress, cancel)
            .await
            .map_err(|failure| self.scrub(failure))
    }
}

fn base_url(text: &str) -> Result<Url, ClaudeSetupError> {
    let wrong = || ClaudeSetupError::BaseUrl(text.to_owned());
    let trimmed = text.trim().trim_end_matches('/');
    let trimmed = trimmed.strip_suffix("/v1").unwrap_or(trimmed);
    let url = Url::parse(trimmed).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    Ok(url)
}

fn is_anthropic_host(url: &Url) -> bool {
    url.host_str()
        .is_some_and(|host| host == "anthropic.com" || host.ends_with(".anthropic.com"))
}

/// Says whether Anthropic itself answers at an address, rather than somebody who speaks as it does.
#[must_use]
pub fn is_anthropic(base_url: &str) -> bool {
    self::base_url(base_url).is_ok_and(|url| is_anthropic_host(&url))
}

fn is_loopback(url: &Url) -> bool {
    url.host_str().is_some_and(|host| {
        host == "localhost"
            || host
                .trim_matches(['[', ']'])
                .parse::<std::net::IpAddr>()
                .is_ok_and(|address| address.is_loopback())
    })
}

fn usable_key(key: &SecretString) -> Result<SecretString, ClaudeSetupError> {
    let trimmed = key.expose_secret().trim();
    HeaderValue::from_str(trimmed).map_err(|_| ClaudeSetupError::Key)?;
    Ok(SecretString::from(trimmed))
}
