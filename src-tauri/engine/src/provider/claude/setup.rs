//! What a [`ClaudeProvider`](super::ClaudeProvider) needs to know, and the client that it asks with.

use std::time::Duration;

use reqwest::{Certificate, Client, Url};
use secrecy::SecretString;

use super::{endpoint, failure};
use crate::model::EndpointKind;

/// Where Anthropic itself answers.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";

/// The largest request body that the API takes, in bytes (32 MB).
///
/// Read as 32 MiB: where the two readings differ the server's own 413 costs nothing, whereas
/// refusing here a file that would have been taken does.
pub const MAX_BODY_BYTES: u64 = 32 * 1024 * 1024;

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
    /// Who answers there.
    pub kind: EndpointKind,
    /// Certificates (PEM) that are trusted there besides those of the system.
    pub certificates: Option<Vec<u8>>,
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
            kind: EndpointKind::Anthropic,
            certificates: None,
        }
    }
}

/// Why a [`ClaudeProvider`] can't be made.
#[derive(Debug, thiserror::Error)]
pub enum ClaudeSetupError {
    /// The base URL is not an `http` or `https` address of a host.
    #[error("`{0}` is not an http or https address")]
    BaseUrl(String),
    /// The base URL holds a name or a password, which would be stored and shown with it.
    #[error("the address holds a name or a password")]
    Credentials,
    /// The certificates can't be read.
    #[error("the certificates can't be read: {0}")]
    Certificates(String),
    /// The key holds characters that no header may hold, so it was pasted wrongly.
    #[error("the API key holds characters that an API key can't have")]
    Key,
    /// The HTTP client could not be started (TLS or proxy settings of the system).
    #[error("the HTTP client could not be started: {0}")]
    Client(#[from] reqwest::Error),
}

/// Starts the client: one pool of connections that are kept alive, HTTP/2 where it is offered, proxies of the
/// environment and of the system, the certificates that the system trusts and those of the person.
pub(super) fn client(config: &ClaudeConfig, base_url: &Url) -> Result<Client, ClaudeSetupError> {
    let mut builder = Client::builder()
        .connect_timeout(config.timeouts.connect)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .tcp_keepalive(Duration::from_secs(60))
        .user_agent(concat!("gistmill/", env!("CARGO_PKG_VERSION")));
    if endpoint::is_loopback(base_url) {
        // A proxy could not reach this machine's own servers.
        builder = builder.no_proxy();
    }
    if let Some(pem) = &config.certificates {
        let read = Certificate::from_pem_bundle(pem)
            .map_err(|error| ClaudeSetupError::Certificates(failure::words(error)))?;
        if read.is_empty() {
            return Err(ClaudeSetupError::Certificates("there is none".to_owned()));
        }
        builder = builder.tls_certs_merge(read);
    }
    Ok(builder.build()?)
}

pub(super) fn base_url(text: &str) -> Result<Url, ClaudeSetupError> {
    let wrong = || ClaudeSetupError::BaseUrl(text.to_owned());
    let trimmed = text.trim().trim_end_matches('/');
    let trimmed = trimmed.strip_suffix("/v1").unwrap_or(trimmed);
    let url = Url::parse(trimmed).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ClaudeSetupError::Credentials);
    }
    Ok(url)
}

pub(super) fn is_anthropic_host(url: &Url) -> bool {
    url.host_str()
        .is_some_and(|host| host == "anthropic.com" || host.ends_with(".anthropic.com"))
}

/// Says whether Anthropic itself answers at an address, rather than somebody who speaks as it does.
#[must_use]
pub fn is_anthropic(base_url: &str) -> bool {
    self::base_url(base_url).is_ok_and(|url| is_anthropic_host(&url))
}
