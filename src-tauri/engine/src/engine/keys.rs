//! The API key, and Claude as it stands at this moment.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use secrecy::{ExposeSecret as _, SecretString};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::endpoint::claude_at;
use super::{Engine, Inner, blocking};
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::model::{
    AuthScheme, Cause, ConsumerPlace, EngineEvent, KeySource, KeyStatus, KeyTest, Lifecycle,
    Provider,
};
use crate::profiles::{self, Profiles};
use crate::provider::Failure;
use crate::provider::claude::{Access, ClaudeProvider, ClaudeSetupError, read_headers};
use crate::secrets::{API_KEY, HEADERS, KeptSecret, SecretError};

/// How long the keychain may take when a key is saved or removed: a person may have to unlock it.
const UNLOCKING: Duration = Duration::from_secs(120);

impl Engine {
    /// Tells whether a key is set, and where.
    #[must_use]
    pub fn key_status(&self) -> KeyStatus {
        self.0.key.status()
    }

    /// Keeps a key in the keychain, or in memory for this session only.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for what can't be a key, [`EngineError::Keychain`] when it can't be kept.
    pub async fn save_key(
        &self,
        key: String,
        session_only: bool,
    ) -> Result<KeyStatus, EngineError> {
        let key = key.trim().to_owned();
        if key.is_empty() {
            return Err(EngineError::bad_input(
                "No key was entered.",
                "Paste the key from the Anthropic Console.",
            ));
        }
        if !key.chars().all(|character| character.is_ascii_graphic()) {
            return Err(EngineError::bad_input(
                "This can't be a key: it holds spaces or unusual characters.",
                "Copy the whole key from the Anthropic Console, and nothing else.",
            ));
        }
        let (keeper, secret) = (self.0.key.clone(), SecretString::from(key));
        keychain(move || keeper.save(secret, session_only)).await?;
        self.0
            .store
            .note_key_change(self.0.config.clock.now())
            .await?;
        self.key_changed().await?;
        Ok(self.key_status())
    }

    /// Forgets the key of the keychain and of this session.
    ///
    /// # Errors
    /// [`EngineError::Keychain`] when it can't be known whether it is gone.
    pub async fn remove_key(&self) -> Result<KeyStatus, EngineError> {
        let keeper = self.0.key.clone();
        keychain(move || keeper.remove()).await?;
        self.0
            .store
            .note_key_change(self.0.config.clock.now())
            .await?;
        self.emit(EngineEvent::OverviewChanged);
        Ok(self.key_status())
    }

    /// Makes one free call with the key: it shows what the key may use, and what the address tells of it is
    /// remembered.
    ///
    /// # Errors
    /// [`EngineError::KeyMissing`] at Anthropic itself, or what the provider answered.
    pub async fn test_key(&self) -> Result<KeyTest, EngineError> {
        let settings = self.0.store.settings().await?;
        let (told, limits) = self.learn_models().await?;
        // The list itself may tell no limits; answers do.
        let now = self.0.config.clock.now();
        let earlier = self
            .0
            .store
            .told_limits(settings.model.clone(), now)
            .await?;
        self.key_changed().await?;
        let model = Profiles::new(told.clone()).of(&settings.model);
        let prices = self.0.store.prices().await?;
        let price = prices.of(&settings.model);
        let today = self.local_time().day;
        Ok(KeyTest {
            model_available: told.iter().any(|told| {
                profiles::is_same(&told.model, &settings.model)
                    && told.lifecycle != Lifecycle::Retired
            }),
            models: told
                .iter()
                .filter(|told| told.lifecycle != Lifecycle::Retired)
                .map(|told| told.model.clone())
                .collect(),
            requests_per_minute: limits.requests.or(earlier.requests),
            input_tokens_per_minute: limits.input_tokens.or(earlier.input_tokens),
            output_tokens_per_minute: limits.output_tokens.or(earlier.output_tokens),
            notice: profiles::notice(&model, &today),
            model,
            price_known: price.is_some(),
            free: price.is_some_and(|price| price.is_free()),
            profiles: told,
        })
    }

    /// Lets Claude's jobs be delivered again when what held them was the key.
    pub(super) async fn key_changed(&self) -> Result<(), EngineError> {
        if self.0.key.get().is_some() {
            if self.place() == ConsumerPlace::Here {
                self.learn_models_now_and_then();
            }
            let held_by_key = self
                .0
                .store
                .open_circuits()
                .await?
                .into_iter()
                .any(|circuit| {
                    circuit.provider == Provider::Claude
                        && matches!(
                            circuit.cause,
                            Cause::KeyMissing | Cause::KeyRefused | Cause::PermissionDenied
                        )
                });
            if held_by_key {
                self.0.store.close_circuit(Provider::Claude).await?;
            }
        }
        // Another key may see what was handed over with it.
        self.0
            .store
            .look_at_remotes(self.0.config.clock.now())
            .await?;
        self.0.wake.notify_one();
        self.emit(EngineEvent::JobsChanged {
            job_ids: Vec::new(),
        });
        self.emit(EngineEvent::OverviewChanged);
        Ok(())
    }

    /// Takes over what another program changed: the address, and the key in the keychain.
    ///
    /// `key_seen` is when the key was changed last, as far as this program knows.
    pub(super) async fn follow_others(
        &self,
        key_seen: &mut Option<String>,
    ) -> Result<(), EngineError> {
        let settings = self.0.store.settings().await?;
        match claude_at(&self.0.config, &settings, Some(&self.present_claude())) {
            Ok(asked) => self.move_to(asked).await?,
            // The other program may read a file of certificates that is not here any more.
            Err(error) => {
                tracing::warn!(%error, "the address that another program set can't be used");
            }
        }
        let changed = self.0.store.key_changed_at().await?;
        if *key_seen != changed {
            *key_seen = changed;
            let (key, headers) = (self.0.key.clone(), self.0.headers.clone());
            let reading = blocking(move || {
                key.read();
                headers.read();
            });
            if tokio::time::timeout(UNLOCKING, reading).await.is_err() {
                self.0.key.unanswered();
                self.0.headers.unanswered();
            }
            self.key_changed().await?;
        }
        Ok(())
    }

    /// Returns Claude with the key of this moment.
    pub(super) fn claude(&self) -> Result<ClaudeProvider, EngineError> {
        let asked = self.0.claude.lock().unwrap_or_else(PoisonError::into_inner);
        let (claude, usual) = (asked.claude.clone(), asked.auth);
        drop(asked);
        let (auth, key) = match self.0.key.chosen() {
            Some((KeySource::EnvironmentToken, token)) => (AuthScheme::Bearer, token),
            Some((_, key)) => (usual, key),
            None => (usual, SecretString::from("")),
        };
        let headers = match self.0.headers.chosen() {
            Some((_, text)) => read_headers(text.expose_secret()).map_err(|problem| {
                EngineError::bad_input(
                    format!("The extra headers can’t be used: {problem}."),
                    "Correct ANTHROPIC_CUSTOM_HEADERS, or keep other headers in the settings.",
                )
            })?,
            None => Vec::new(),
        };
        let access = Access { key, auth, headers };
        let claude = claude.with_access(access).map_err(unusable)?;
        Ok(claude.with_profiles(self.profiles()))
    }

    /// Returns Claude at the address in force, without a key.
    pub(super) fn present_claude(&self) -> ClaudeProvider {
        let asked = self.0.claude.lock();
        asked.unwrap_or_else(PoisonError::into_inner).claude.clone()
    }
}

/// Returns the key and the extra headers, as far as the environment has them.
pub(super) fn kept(config: &EngineConfig) -> (KeptSecret, KeptSecret) {
    let key = config.environment_key.clone();
    let token = config.environment_token.clone();
    let found = key
        .map(|key| (KeySource::Environment, key))
        .or_else(|| token.map(|token| (KeySource::EnvironmentToken, token)));
    let headers = config.environment_headers.clone();
    let headers = headers.map(|headers| (KeySource::Environment, headers));
    let kept = |name, found| KeptSecret::new(Arc::clone(&config.secrets), name, found);
    (kept(API_KEY, found), kept(HEADERS, headers))
}

/// Reads the keychain; returns the reading where it takes longer than `patience`.
pub(super) async fn read_keychain(
    key: &KeptSecret,
    headers: &KeptSecret,
    patience: Duration,
) -> Option<JoinHandle<()>> {
    let readers = [key.clone(), headers.clone()];
    let mut reading = tokio::task::spawn_blocking(move || {
        for reader in readers {
            reader.read();
        }
    });
    if tokio::time::timeout(patience, &mut reading).await.is_ok() {
        return None;
    }
    key.unanswered();
    headers.unanswered();
    Some(reading)
}

/// Puts the key to use as soon as the keychain has answered.
pub(super) async fn await_keychain(
    inner: Weak<Inner>,
    reading: JoinHandle<()>,
    stop: CancellationToken,
) {
    tokio::select! {
        () = stop.cancelled() => {}
        // Whether the reading went well is in the key's status.
        _ = reading => {
            if let Some(engine) = inner.upgrade().map(Engine)
                && let Err(error) = engine.key_changed().await
            {
                tracing::warn!(%error, "jobs that waited for a key could not be released");
            }
        }
    }
}

/// Has the keychain changed. It may ask the person to unlock it, but not for ever.
pub(super) async fn keychain(
    change: impl FnOnce() -> Result<(), SecretError> + Send + 'static,
) -> Result<(), EngineError> {
    match tokio::time::timeout(UNLOCKING, blocking(change)).await {
        Ok(changed) => Ok(changed??),
        Err(_) => {
            Err(SecretError::Unavailable("it did not answer within two minutes".to_owned()).into())
        }
    }
}

/// Returns the error for what the provider did not do.
pub(super) fn refused(failure: Failure) -> EngineError {
    if failure.cause == Cause::KeyMissing {
        return EngineError::KeyMissing;
    }
    EngineError::Provider {
        key_refused: failure.cause == Cause::KeyRefused,
        message: failure.message,
        hint: failure.cause.hint().to_owned(),
    }
}

pub(super) fn unusable(error: ClaudeSetupError) -> EngineError {
    match error {
        ClaudeSetupError::BaseUrl(url) => EngineError::bad_input(
            format!("{url} is not an address that Claude could be asked at."),
            "Enter one such as https://api.anthropic.com, in the settings or in ANTHROPIC_BASE_URL.",
        ),
        ClaudeSetupError::Credentials => EngineError::bad_input(
            "The address holds a name or a password, which would be stored and shown with it.",
            "Leave them out. What a gateway wants besides the key goes into extra headers.",
        ),
        ClaudeSetupError::Certificates(why) => EngineError::bad_input(
            format!("The file of certificates can’t be used: {why}."),
            "Choose a file in PEM format, or none where the system trusts the address already.",
        ),
        ClaudeSetupError::Key => EngineError::bad_input(
            "The API key holds characters that a key can't have.",
            "Copy the whole key from the Anthropic Console, and nothing else.",
        ),
        ClaudeSetupError::Client(error) => EngineError::Internal(error.to_string()),
    }
}
