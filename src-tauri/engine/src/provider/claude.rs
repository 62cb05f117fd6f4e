//! Claude over its Messages API: one streamed `POST /v1/messages` for each attempt.
//!
//! Invariants: nothing is retried here, redirects are not followed (they would carry the key
//! elsewhere), the PDF is never wholly in memory, and no key or header appears in an error, a log or `Debug`.
//! What money depends on of a model comes from the list of the program: see [`profiles`](crate::profiles).

mod access;
mod answer;
pub(crate) mod batches;
mod body;
mod call;
mod count;
mod endpoint;
mod envelope;
mod event;
mod failure;
mod files;
mod header;
mod models;
mod pages;
mod send;
mod sse;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use async_trait::async_trait;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Certificate, Client, Url};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use super::{Answer, Deliver, DocumentContent, Failure, Progress, Request, RequestDocument};
use crate::model::{Cause, EndpointKind, ModelProfile, ProfileSource, ToldLimits};
use crate::profiles::{self, Profiles};
use envelope::{Envelope, Manner, Purpose};

pub use access::{Access, ExtraHeader, HeaderProblem, read_headers};
pub use endpoint::{abilities, api_version, is_local, kind_of, usual_address, usual_auth};
pub use files::MAX_FILE_BYTES;

/// Where Anthropic itself answers.
pub const ANTHROPIC_BASE_URL: &str = "https://api.anthropic.com";

/// The largest request body that the API takes, in bytes (32 MB).
///
/// Read as 32 MiB: where the two readings differ the server's own 413 costs nothing, whereas
/// refusing here a file that would have been taken does.
pub const MAX_BODY_BYTES: u64 = 32 * 1024 * 1024;

const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");

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

/// Tells the time; injected for the sake of `retry-after` dates.
pub type Now = Arc<dyn Fn() -> SystemTime + Send + Sync>;

/// Answers requests by Claude. Clones share one HTTP client and its connections.
#[derive(Clone)]
pub struct ClaudeProvider {
    client: Client,
    base_url: Url,
    access: Arc<Access>,
    certificates: Option<Arc<Vec<u8>>>,
    timeouts: Timeouts,
    text_as: TextAs,
    kind: EndpointKind,
    profiles: Arc<Profiles>,
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
        Ok(Self {
            client: client(config, &base_url)?,
            base_url,
            access: Arc::new(Access::by_key(config.key.clone()).usable()?),
            certificates: config.certificates.clone().map(Arc::new),
            timeouts: config.timeouts,
            text_as: config.text_as,
            kind: config.kind,
            profiles: Arc::default(),
            now: Arc::new(SystemTime::now),
        })
    }

    /// Returns the provider of another configuration, on the same connections where they lead to the same place.
    ///
    /// # Errors
    /// As [`ClaudeProvider::new`].
    pub fn configured(&self, config: &ClaudeConfig) -> Result<Self, ClaudeSetupError> {
        let base_url = base_url(&config.base_url)?;
        let same_place = base_url == self.base_url
            && config.timeouts == self.timeouts
            && config.certificates.as_ref() == self.certificates.as_deref();
        if !same_place {
            return Ok(Self {
                now: Arc::clone(&self.now),
                ..Self::new(config)?
            });
        }
        Ok(Self {
            access: Arc::new(Access::by_key(config.key.clone()).usable()?),
            text_as: config.text_as,
            kind: config.kind,
            profiles: Arc::default(),
            ..self.clone()
        })
    }

    /// Returns the same provider, on the same connections, with another key.
    ///
    /// # Errors
    /// [`ClaudeSetupError::Key`] when the key can't be sent.
    pub fn with_key(&self, key: &SecretString) -> Result<Self, ClaudeSetupError> {
        self.with_access(Access {
            key: key.clone(),
            ..Access::clone(&self.access)
        })
    }

    /// Returns the same provider, on the same connections, let in otherwise.
    ///
    /// # Errors
    /// [`ClaudeSetupError::Key`] when the key can't be sent.
    pub fn with_access(&self, access: Access) -> Result<Self, ClaudeSetupError> {
        Ok(Self {
            access: Arc::new(access.usable()?),
            ..self.clone()
        })
    }

    /// Returns the same provider, knowing this of models.
    #[must_use]
    pub fn with_profiles(mut self, profiles: Arc<Profiles>) -> Self {
        self.profiles = profiles;
        self
    }

    /// Returns the same provider, told the time by `now`.
    #[must_use]
    pub fn with_now(mut self, now: Now) -> Self {
        self.now = now;
        self
    }

    /// Asks for the list of models, which costs nothing, so that it shows whether the key works, too. Retired
    /// ones may be in it.
    ///
    /// Limits are given where the answer tells them.
    ///
    /// # Errors
    /// As [`Deliver::deliver`]; never billed.
    pub async fn models(&self) -> Result<(Vec<ModelProfile>, ToldLimits), Failure> {
        self.require_key()?;
        models::list(self).await
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
        self.require_key()?;
        count::count_tokens(self, request, cancel)
            .await
            .map_err(|failure| self.scrub(failure).billed(super::Billed::No))
    }

    /// Returns how a request is written for this address and its model.
    fn envelope<'request>(
        &self,
        request: &'request Request,
        purpose: Purpose,
    ) -> Envelope<'request> {
        let profile = self.profiles.of(&request.model);
        let takes_schemas = abilities(self.kind).structured_outputs;
        // What was reserved is the most; what the address told can only lower it.
        let most = profiles::most_output(&request.model, request.max_tokens);
        let told_most = match profile.source {
            ProfileSource::Told => profile.max_output_tokens,
            ProfileSource::Shipped | ProfileSource::Assumed => u32::MAX,
        };
        Envelope {
            request,
            purpose,
            manner: Manner {
                text_as: self.text_as,
                max_tokens: most.min(told_most),
                effort: profiles::effort(&profile).filter(|_| takes_schemas),
                takes_schemas: takes_schemas
                    && (profile.structured_outputs || profile.source == ProfileSource::Assumed),
            },
        }
    }

    /// Returns the address that is asked, without `/v1`.
    #[must_use]
    pub fn address(&self) -> String {
        self.base_url.as_str().trim_end_matches('/').to_owned()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.as_str().trim_end_matches('/'))
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let version = HeaderValue::from_static(api_version(self.kind));
        headers.insert(VERSION_HEADER, version);
        headers.insert(ACCEPT, HeaderValue::from_static("*/*"));
        self.access.write_into(&mut headers);
        headers
    }

    /// Anthropic itself always wants a key; other endpoints may not.
    fn require_key(&self) -> Result<(), Failure> {
        if is_anthropic_host(&self.base_url) && self.access.is_empty() {
            return Err(Failure::unsent(
                Cause::KeyMissing,
                "No Anthropic API key is set.",
            ));
        }
        Ok(())
    }

    /// Takes what lets us in out of a message, should an endpoint have put it there.
    fn scrub(&self, failure: Failure) -> Failure {
        self.access.scrub_failure(failure)
    }

    /// Returns the day that it is, such as `2026-11-30`.
    fn today(&self) -> String {
        let since_1970 = (self.now)()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        i64::try_from(since_1970.as_millis())
            .ok()
            .and_then(|milliseconds| jiff::Timestamp::from_millisecond(milliseconds).ok())
            .map(|moment| moment.strftime("%Y-%m-%d").to_string())
            .unwrap_or_default()
    }

    /// Tells what was not found: a file, which the next attempt uploads anew; a model that is known to have ended;
    /// or a model that nobody knows.
    fn told_apart(&self, mut failure: Failure, request: &Request) -> Failure {
        let model = &request.model;
        let is_about_a_file = matches!(
            &request.document,
            Some(RequestDocument {
                content: DocumentContent::Uploaded { .. },
                ..
            })
        ) && failure.message.to_lowercase().contains("file");
        if failure.cause == Cause::ModelNotFound && is_about_a_file {
            failure.cause = Cause::UnexpectedStatus;
            return failure;
        }
        let profile = self.profiles.of(model);
        let today = self.today();
        if failure.cause == Cause::ModelNotFound
            && profiles::has_ended(&profile, &today)
            && let Some(notice) = profiles::notice(&profile, &today)
        {
            failure.cause = Cause::ModelRetired;
            failure.message = notice.message;
        }
        failure
    }
}

/// Starts the client: one pool of connections that are kept alive, HTTP/2 where it is offered, proxies of the
/// environment and of the system, the certificates that the system trusts and those of the person.
fn client(config: &ClaudeConfig, base_url: &Url) -> Result<Client, ClaudeSetupError> {
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

#[async_trait]
impl Deliver for ClaudeProvider {
    fn takes_files(&self) -> bool {
        abilities(self.kind).files
    }

    async fn upload(
        &self,
        path: &Path,
        bytes: u64,
        name: &str,
        cancel: &CancellationToken,
    ) -> Result<String, Failure> {
        self.require_key()?;
        files::upload(self, path, bytes, name, cancel)
            .await
            .map_err(|failure| self.scrub(failure))
    }

    async fn remove(&self, file_id: &str) -> Result<(), Failure> {
        self.require_key()?;
        files::remove(self, file_id)
            .await
            .map_err(|failure| self.scrub(failure))
    }

    async fn deliver(
        &self,
        request: &Request,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Answer, Failure> {
        self.require_key()?;
        call::deliver(self, request, progress, cancel)
            .await
            .map(|answer| self.access.scrub_answer(answer))
            .map_err(|failure| self.scrub(self.told_apart(failure, request)))
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
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ClaudeSetupError::Credentials);
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
