//! The API key, and Claude as it stands at this moment.

use std::sync::{Arc, PoisonError};

use secrecy::SecretString;

use super::{Engine, blocking};
use crate::error::EngineError;
use crate::model::{Cause, EngineEvent, KeyStatus, KeyTest, Provider};
use crate::provider::Deliver;
use crate::provider::claude::{ClaudeConfig, ClaudeProvider, DEFAULT_BASE_URL};

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
    pub async fn save_key(&self, key: String, session_only: bool) -> Result<KeyStatus, EngineError> {
        let key = key.trim().to_owned();
        if key.is_empty() {
            return Err(EngineError::bad_input("No key was entered.", "Paste the key from the Anthropic Console."));
        }
        if !key.chars().all(|character| character.is_ascii_graphic()) {
            return Err(EngineError::bad_input(
                "This can't be a key: it holds spaces or unusual characters.",
                "Copy the whole key from the Anthropic Console, and nothing else.",
            ));
        }
        let (keeper, secret) = (self.0.key.clone(), SecretString::from(key));
        blocking(move || keeper.save(secret, session_only)).await??;
        self.key_changed().await?;
        Ok(self.key_status())
    }

    /// Forgets the key of the keychain and of this session.
    ///
    /// # Errors
    /// [`EngineError::Keychain`] when it can't be known whether it is gone.
    pub async fn remove_key(&self) -> Result<KeyStatus, EngineError> {
        let keeper = self.0.key.clone();
        blocking(move || keeper.remove()).await??;
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
        let tested = self.claude_provider().test_key(&model).await.map_err(|failure| {
            EngineError::Provider {
                key_refused: failure.cause == Cause::KeyRefused,
                message: failure.message,
                hint: failure.cause.hint().to_owned(),
            }
        })?;
        self.key_changed().await?;
        Ok(tested)
    }

    /// Lets Claude's jobs be delivered again when what held them was the key.
    pub(super) async fn key_changed(&self) -> Result<(), EngineError> {
        if self.0.key.get().is_some() {
            let held_by_key = self.0.store.open_circuits().await?.into_iter().any(|circuit| {
                circuit.provider == Provider::Claude
                    && matches!(circuit.cause, Cause::KeyMissing | Cause::KeyRefused | Cause::PermissionDenied)
            });
            if held_by_key {
                self.0.store.close_circuit(Provider::Claude).await?;
            }
        }
        self.0.wake.notify_one();
        self.emit(EngineEvent::JobsChanged { job_ids: Vec::new() });
        self.emit(EngineEvent::OverviewChanged);
        Ok(())
    }

    /// Returns Claude as a provider, with the key and the address of this moment.
    pub(super) fn claude(&self) -> Arc<dyn Deliver> {
        Arc::new(self.claude_provider())
    }

    fn claude_provider(&self) -> ClaudeProvider {
        let set = self.0.base_url.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let base_url = set
            .or_else(|| self.0.config.environment_base_url.clone())
            .unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
        ClaudeProvider::new(self.0.http.clone(), ClaudeConfig::new(base_url, self.0.key.get()))
    }
}
