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
mod setup;
mod sse;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use async_trait::async_trait;
use reqwest::header::{ACCEPT, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use super::{Answer, Deliver, DocumentContent, Failure, Progress, Request, RequestDocument};
use crate::model::{Cause, EndpointKind, ModelProfile, ProfileSource, ToldLimits};
use crate::profiles::{self, Profiles};
use envelope::{Envelope, Manner, Purpose};
use setup::{base_url, client, is_anthropic_host};

pub use access::{Access, ExtraHeader, HeaderProblem, read_headers};
pub use count::CountedTokens;
pub use endpoint::{abilities, api_version, is_local, kind_of, usual_address, usual_auth};
pub use files::MAX_FILE_BYTES;
pub use setup::{
    ANTHROPIC_BASE_URL, ClaudeConfig, ClaudeSetupError, MAX_BODY_BYTES, TextAs, Timeouts,
    is_anthropic,
};

const VERSION_HEADER: HeaderName = HeaderName::from_static("anthropic-version");

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

    /// Says whether tokens can be counted at this address.
    #[must_use]
    pub fn counts_tokens(&self) -> bool {
        abilities(self.kind).count_tokens
    }

    /// Says whether requests can be handed over in batches at this address.
    #[must_use]
    pub fn takes_batches(&self) -> bool {
        abilities(self.kind).batches
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
