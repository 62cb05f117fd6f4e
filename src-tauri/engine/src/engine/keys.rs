//! The API key, and Claude as it stands at this moment.

use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use secrecy::SecretString;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{Engine, Inner, blocking};
use crate::config::EngineConfig;
use crate::error::EngineError;
use crate::model::{Cause, EngineEvent, KeyStatus, KeyTest, Provider, Settings};
use crate::provider::Failure;
use crate::provider::claude::{
    ClaudeConfig, ClaudeProvider, ClaudeSetupError, TextAs, is_anthropic,
};
use crate::secrets::{ApiKey, SecretError};

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

    /// Makes one free call with the key.
    ///
    /// # Errors
    /// [`EngineError::KeyMissing`], or what the provider answered.
    pub async fn test_key(&self) -> Result<KeyTest, EngineError> {
        if self.0.key.get().is_none() {
            return Err(EngineError::KeyMissing);
        }
        let model = self.0.store.settings().await?.model;
        let tested = self.claude()?.test_key(&model).await.map_err(refused)?;
        self.key_changed().await?;
        Ok(tested)
    }

    /// Lets Claude's jobs be delivered again when what held them was the key.
    pub(super) async fn key_changed(&self) -> Result<(), EngineError> {
        if self.0.key.get().is_some() {
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
        let claude = claude_at(&self.0.config, &settings)?;
        *self.0.claude.lock().unwrap_or_else(PoisonError::into_inner) = claude;
        let changed = self.0.store.key_changed_at().await?;
        if *key_seen != changed {
            *key_seen = changed;
            let keeper = self.0.key.clone();
            let reading = blocking(move || keeper.read());
            if tokio::time::timeout(UNLOCKING, reading).await.is_err() {
                self.0.key.unanswered();
            }
            self.key_changed().await?;
        }
        Ok(())
    }

    /// Returns Claude with the key of this moment.
    pub(super) fn claude(&self) -> Result<ClaudeProvider, EngineError> {
        let claude = self
            .0
            .claude
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let key = self.0.key.get().unwrap_or_else(|| SecretString::from(""));
        claude.with_key(&key).map_err(unusable)
    }
}

/// Reads the keychain; returns the reading where it takes longer than `patience`.
pub(super) async fn read_keychain(key: &ApiKey, patience: Duration) -> Option<JoinHandle<()>> {
    let reader = key.clone();
    let mut reading = tokio::task::spawn_blocking(move || reader.read());
    if tokio::time::timeout(patience, &mut reading).await.is_ok() {
        return None;
    }
    key.unanswered();
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
async fn keychain(
    change: impl FnOnce() -> Result<(), SecretError> + Send + 'static,
) -> Result<(), EngineError> {
    match tokio::time::timeout(UNLOCKING, blocking(change)).await {
        Ok(changed) => Ok(changed??),
        Err(_) => {
            Err(SecretError::Unavailable("it did not answer within two minutes".to_owned()).into())
        }
    }
}

/// Returns the settings with the address that Claude is asked at, which may be the environment's, and with
/// `text_only` only where it means that address: Anthropic itself reads PDFs, whatever was said of another.
pub(super) fn addressed(config: &EngineConfig, mut settings: Settings) -> Settings {
    settings.base_url = settings
        .base_url
        .or_else(|| config.environment_base_url.clone());
    settings.text_only &= settings
        .base_url
        .as_deref()
        .is_some_and(|base_url| !is_anthropic(base_url));
    settings
}

/// Returns Claude, without a key, at the address of the settings, else of the environment, else at
/// Anthropic itself.
///
/// Text goes there as a document of its own, which can be cited, unless the person says that the address
/// can't read documents: one of which nobody says so is taken at its word that it speaks as Anthropic does.
pub(super) fn claude_at(
    config: &EngineConfig,
    settings: &Settings,
) -> Result<ClaudeProvider, EngineError> {
    let settings = addressed(config, settings.clone());
    let mut claude = ClaudeConfig::new(SecretString::from(""));
    claude.timeouts = config.timeouts;
    if settings.text_only {
        claude.text_as = TextAs::Prompt;
    }
    if let Some(base_url) = settings.base_url {
        claude.base_url = base_url;
    }
    let clock = Arc::clone(&config.clock);
    let now = Arc::new(move || {
        let since_1970 = u64::try_from(clock.now().0).unwrap_or(0);
        std::time::UNIX_EPOCH + std::time::Duration::from_millis(since_1970)
    });
    Ok(ClaudeProvider::new(&claude)
        .map_err(unusable)?
        .with_now(now))
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

fn unusable(error: ClaudeSetupError) -> EngineError {
    match error {
        ClaudeSetupError::BaseUrl(url) => EngineError::bad_input(
            format!("{url} is not an address that Claude could be asked at."),
            "Enter one such as https://api.anthropic.com, in the settings or in ANTHROPIC_BASE_URL.",
        ),
        ClaudeSetupError::Key => EngineError::bad_input(
            "The API key holds characters that a key can't have.",
            "Copy the whole key from the Anthropic Console, and nothing else.",
        ),
        ClaudeSetupError::Client(error) => EngineError::Internal(error.to_string()),
    }
}
