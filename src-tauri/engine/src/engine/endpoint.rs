//! Where Claude is asked: the address, who answers there, and what it told of its models.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};

use super::keys::{keychain, refused, unusable};
use super::{Engine, checks};
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::model::{
    AuthScheme, Cause, EndpointKind, EndpointView, EngineEvent, KeySource, ModelNotice, ModelPrice,
    ModelProfile, Provider, Settings, ToldLimits,
};
use crate::pricing::Ceiling;
use crate::profiles::{self, Profiles};
use crate::provider::Deliver as _;
use crate::provider::claude::{
    ANTHROPIC_BASE_URL, ClaudeConfig, ClaudeProvider, TextAs, abilities, api_version, is_anthropic,
    is_local, kind_of, read_headers, usual_address, usual_auth,
};

/// A larger file holds something else than a few certificates.
const MOST_CERTIFICATE_BYTES: u64 = 4 * 1024 * 1024;

/// How long what an address told of its models is taken to hold.
const LEARNED_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// Claude at the address in force, without a key.
pub(super) struct AtAddress {
    pub(super) claude: ClaudeProvider,
    /// How a key is sent there, unless it is one that says so itself.
    pub(super) auth: AuthScheme,
}

/// Returns the settings as they hold at the address that Claude is asked at, which may be the environment's: with
/// that address, with who answers there, and with `text_only` as that makes it. Anthropic itself reads PDFs,
/// whatever was said of another address; who reads none is sent their text.
pub(super) fn addressed(config: &EngineConfig, mut settings: Settings) -> Settings {
    settings.base_url = settings
        .base_url
        .or_else(|| config.environment_base_url.clone());
    let address = settings.base_url.as_deref().unwrap_or(ANTHROPIC_BASE_URL);
    let is_anthropic = is_anthropic(address);
    let kind = match settings.endpoint {
        Some(kind) if !is_anthropic => kind,
        _ => kind_of(address),
    };
    settings.endpoint = Some(kind);
    settings.text_only = !is_anthropic && (settings.text_only || !abilities(kind).documents);
    settings
}

/// Returns Claude, without a key, at the address of the settings, else of the environment, else at
/// Anthropic itself; on the connections of `before`, where there are any to the same place.
///
/// Text goes there as a document of its own, which can be cited, unless the address can't read documents: one
/// of which nobody says so is taken at its word that it speaks as Anthropic does.
pub(super) fn claude_at(
    config: &EngineConfig,
    settings: &Settings,
    before: Option<&ClaudeProvider>,
) -> Result<AtAddress, EngineError> {
    let settings = addressed(config, settings.clone());
    let kind = settings.endpoint.unwrap_or(EndpointKind::Other);
    let mut claude = ClaudeConfig::new(SecretString::from(""));
    claude.kind = kind;
    claude.timeouts = config.timeouts;
    if settings.text_only {
        claude.text_as = TextAs::Prompt;
    }
    if let Some(base_url) = settings.base_url {
        claude.base_url = base_url;
    }
    if let Some(file) = &settings.ca_file {
        claude.certificates = Some(certificates(file)?);
    }
    let auth = settings.auth.unwrap_or_else(|| usual_auth(kind));
    if let Some(before) = before {
        let claude = before.configured(&claude).map_err(unusable)?;
        return Ok(AtAddress { claude, auth });
    }
    let clock = Arc::clone(&config.clock);
    let now = Arc::new(move || {
        let since_1970 = u64::try_from(clock.now().0).unwrap_or(0);
        std::time::UNIX_EPOCH + std::time::Duration::from_millis(since_1970)
    });
    let claude = ClaudeProvider::new(&claude)
        .map_err(unusable)?
        .with_now(now);
    Ok(AtAddress { claude, auth })
}

/// Returns Claude as it is when an engine is opened. A file of certificates that is gone keeps nobody from opening
/// it: connections that need it fail, and say why.
pub(super) fn at_start(
    config: &EngineConfig,
    settings: &Settings,
) -> Result<AtAddress, EngineError> {
    claude_at(config, settings, None).or_else(|error| {
        if settings.ca_file.is_none() {
            return Err(error);
        }
        tracing::warn!(%error, "the file of certificates is left out");
        let without = Settings {
            ca_file: None,
            ..settings.clone()
        };
        claude_at(config, &without, None)
    })
}

/// Reads a file of certificates.
fn certificates(file: &str) -> Result<Vec<u8>, EngineError> {
    let wrong = |why: String| {
        EngineError::bad_input(
            format!("The certificates in {file} can’t be used: {why}."),
            "Choose a file in PEM format, or none where the system trusts the address already.",
        )
    };
    let path = Path::new(file);
    let bytes = std::fs::metadata(path)
        .map_err(|error| wrong(error.to_string()))?
        .len();
    if bytes > MOST_CERTIFICATE_BYTES {
        return Err(wrong("the file is too large".to_owned()));
    }
    std::fs::read(path).map_err(|error| wrong(error.to_string()))
}

impl Engine {
    /// Tells where Claude is asked, and what can be expected there.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn endpoint(&self) -> Result<EndpointView, EngineError> {
        let stored = self.0.store.settings().await?;
        let from_environment = stored.base_url.is_none();
        let settings = addressed(&self.0.config, stored);
        let kind = settings.endpoint.unwrap_or(EndpointKind::Other);
        let address = self.address();
        let headers = self.0.headers.chosen();
        let auth = match self.0.key.chosen() {
            Some((KeySource::EnvironmentToken, _)) => AuthScheme::Bearer,
            _ => settings.auth.unwrap_or_else(|| usual_auth(kind)),
        };
        Ok(EndpointView {
            kind,
            from_environment: from_environment && self.0.config.environment_base_url.is_some(),
            auth,
            api_version: api_version(kind).to_owned(),
            header_source: headers
                .as_ref()
                .map_or(KeySource::None, |(source, _)| *source),
            header_names: headers
                .and_then(|(_, text)| read_headers(text.expose_secret()).ok())
                .unwrap_or_default()
                .iter()
                .map(|header| header.name().to_owned())
                .collect(),
            abilities: abilities(kind),
            text_only: settings.text_only,
            local: is_local(&address),
            address,
        })
    }

    /// Has Claude asked at an endpoint of a kind from now on: at `address`, else where such an endpoint usually
    /// is. `model` becomes the model of the settings, and is marked as free where the endpoint is a local one that
    /// runs models itself and nobody set a price.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] where it has no usual address and none is given, or what is given can't be used.
    pub async fn use_endpoint(
        &self,
        kind: EndpointKind,
        address: Option<String>,
        model: Option<String>,
    ) -> Result<EndpointView, EngineError> {
        let mut settings = self.0.store.settings().await?;
        let address = match address.filter(|address| !address.trim().is_empty()) {
            Some(address) => address.trim().to_owned(),
            None => usual_address(kind)
                .ok_or_else(|| {
                    EngineError::bad_input(
                        "Nobody knows where this endpoint is.",
                        "Give its address, such as https://gateway.example.com.",
                    )
                })?
                .to_owned(),
        };
        // Where the environment names another one, Anthropic itself has to be said.
        let is_usual = kind == EndpointKind::Anthropic
            && is_anthropic(&address)
            && self
                .0
                .config
                .environment_base_url
                .as_deref()
                .is_none_or(is_anthropic);
        settings.base_url = (!is_usual).then_some(address.clone());
        settings.endpoint = (kind != kind_of(&address)).then_some(kind);
        settings.auth = None;
        settings.text_only = !abilities(kind).documents;
        if let Some(model) = &model {
            settings.model = checks::checked_model(model)?;
        }
        let settings = self.save_settings(settings).await?;
        let runs_models = matches!(kind, EndpointKind::Ollama | EndpointKind::LmStudio);
        if runs_models
            && is_local(&address)
            && self.0.store.prices().await?.of(&settings.model).is_none()
        {
            self.save_price(ModelPrice::free(settings.model)).await?;
        }
        self.endpoint().await
    }

    /// Keeps extra headers, one a line (`Name: value`), in the keychain, or in memory for this session only.
    /// Nothing in the text removes them.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for what are no headers, [`EngineError::Keychain`] when they can't be kept.
    pub async fn save_headers(
        &self,
        text: String,
        session_only: bool,
    ) -> Result<EndpointView, EngineError> {
        let read = read_headers(&text).map_err(|problem| {
            EngineError::bad_input(
                format!("These headers can’t be used: {problem}."),
                "Write one header a line, such as “X-Team: research”.",
            )
        })?;
        let (keeper, secret) = (self.0.headers.clone(), SecretString::from(text));
        if read.is_empty() {
            keychain(move || keeper.remove()).await?;
        } else {
            keychain(move || keeper.save(secret, session_only)).await?;
        }
        let now = self.0.config.clock.now();
        self.0.store.note_key_change(now).await?;
        self.key_changed().await?;
        self.endpoint().await
    }

    /// Returns what is known of a model at the address in force.
    #[must_use]
    pub fn model_profile(&self, model: &str) -> ModelProfile {
        self.profiles().of(model)
    }

    /// Returns what the address in force told of its models when it was asked last.
    #[must_use]
    pub fn models_told(&self) -> Vec<ModelProfile> {
        self.profiles().told()
    }

    pub(super) fn profiles(&self) -> Arc<Profiles> {
        let profiles = self.0.profiles.lock();
        Arc::clone(&profiles.unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns what should be known of the end of a model; `None` where none is near.
    #[must_use]
    pub fn model_notice(&self, model: &str) -> Option<ModelNotice> {
        profiles::notice(&self.model_profile(model), &self.local_time().day)
    }

    /// Asks the address for its models, which is free, and remembers what it tells.
    pub(super) async fn learn_models(
        &self,
    ) -> Result<(Vec<ModelProfile>, ToldLimits), EngineError> {
        let claude = self.claude()?;
        let (models, limits) = claude.models().await.map_err(refused)?;
        let now = self.0.config.clock.now();
        self.0
            .store
            .tell_models(claude.address(), models.clone(), now)
            .await?;
        self.take_over_profiles().await?;
        self.emit(EngineEvent::OverviewChanged);
        Ok((models, limits))
    }

    /// Asks the address for its models beside everything else, where it told of them long ago or never. What they
    /// take decides how documents are divided; until it is told, the list of the program holds.
    pub(super) fn learn_models_now_and_then(&self) {
        let (inner, stop) = (Arc::downgrade(&self.0), self.0.stop.clone());
        self.0.tasks.spawn(async move {
            let Some(engine) = inner.upgrade().map(Engine) else {
                return;
            };
            let learning = async {
                let told_at = engine.0.store.models_told_at(engine.address()).await?;
                let now = engine.0.config.clock.now();
                if told_at.is_none_or(|told_at| now.since(told_at) >= LEARNED_FOR) {
                    engine.learn_models().await?;
                }
                Ok::<(), EngineError>(())
            };
            tokio::select! {
                () = stop.cancelled() => {}
                learned = learning => {
                    if let Err(error) = learned {
                        tracing::debug!(%error, "the address did not tell of its models");
                    }
                }
            }
        });
    }

    /// Takes over what is remembered of the models at the address in force.
    pub(super) async fn take_over_profiles(&self) -> Result<(), EngineError> {
        let known = self.0.store.profiles(self.address()).await?;
        *self
            .0
            .profiles
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Arc::new(known);
        Ok(())
    }

    /// Asks at the address of settings from now on.
    pub(super) async fn move_to(&self, asked: AtAddress) -> Result<(), EngineError> {
        *self.0.claude.lock().unwrap_or_else(PoisonError::into_inner) = asked;
        self.take_over_profiles().await
    }

    /// Returns the address that Claude is asked at.
    pub(super) fn address(&self) -> String {
        let asked = self.0.claude.lock();
        asked
            .unwrap_or_else(PoisonError::into_inner)
            .claude
            .address()
    }

    /// Notes where Claude is asked from now on, for parts that are planned with their jobs.
    pub(super) async fn note_address(&self) -> Result<(), EngineError> {
        let claude = self.present_claude();
        let (address, files) = (claude.address(), claude.takes_files());
        self.0.store.note_address(address, files).await
    }

    /// Returns the most that one call to a model takes at the address in force.
    pub(super) fn ceiling(&self, model: &str) -> Ceiling {
        let ceiling = Ceiling::of(&self.model_profile(model));
        if self.present_claude().takes_files() {
            ceiling.with_files()
        } else {
            ceiling
        }
    }

    /// Where jobs wait since their model does not exist, the one that the person chose takes its place.
    pub(super) async fn give_model_to_those_without(&self, model: &str) -> Result<(), EngineError> {
        for circuit in self.0.store.open_circuits().await? {
            if matches!(circuit.cause, Cause::ModelNotFound | Cause::ModelRetired)
                && let Some(missing) = circuit.model.filter(|missing| missing != model)
            {
                self.0
                    .store
                    .replace_model(missing, model.to_owned())
                    .await?;
                self.0.store.close_circuit(circuit.provider).await?;
            }
        }
        Ok(())
    }

    /// Closes Claude's circuit where a change of the settings may have removed what stood in the way.
    pub(super) async fn look_again(
        &self,
        before: &Settings,
        after: &Settings,
    ) -> Result<(), EngineError> {
        if before.base_url != after.base_url
            || before.endpoint != after.endpoint
            || before.auth != after.auth
            || before.ca_file != after.ca_file
            || before.text_only != after.text_only
            || before.model != after.model
        {
            self.0.store.close_circuit(Provider::Claude).await?;
        }
        Ok(())
    }
}
