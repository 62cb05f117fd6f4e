//! Secrets: the system's keychain, a value from the environment, or memory.
//!
//! A secret is never written to the database, a log or an error. Whoever needs the API key, or the extra
//! headers of a gateway, asks a [`KeptSecret`], which remembers it in memory, since a keychain can take a second to
//! answer.

use std::sync::{Arc, Mutex, PoisonError};

use secrecy::{ExposeSecret as _, SecretString};

use crate::model::{KeySource, KeyStatus};

/// The name that a keychain files secrets under.
const SERVICE: &str = "gistmill";
/// The API key's name within the service.
pub(crate) const API_KEY: &str = "anthropic-api-key";
/// The name of the extra headers.
pub(crate) const HEADERS: &str = "anthropic-custom-headers";

/// Why a secret could not be read or written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SecretError {
    /// The keychain does not answer, is locked, or refuses. Holds the reason.
    #[error("{0}")]
    Unavailable(String),
}

/// Keeps secrets.
pub trait SecretStore: Send + Sync {
    /// Returns the secret of a name, if there is one.
    ///
    /// # Errors
    /// [`SecretError::Unavailable`] when it can't be known.
    fn get(&self, name: &str) -> Result<Option<SecretString>, SecretError>;

    /// Keeps `secret` under a name, in place of the one before it.
    ///
    /// # Errors
    /// [`SecretError::Unavailable`] when it can't be kept.
    fn set(&self, name: &str, secret: &SecretString) -> Result<(), SecretError>;

    /// Forgets the secret of a name, if there is one.
    ///
    /// # Errors
    /// [`SecretError::Unavailable`] when it can't be known whether it is gone.
    fn remove(&self, name: &str) -> Result<(), SecretError>;
}

/// The system's keychain: Secret Service on Linux, Keychain on macOS, Credential Manager on Windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keychain;

impl Keychain {
    fn entry(name: &str) -> Result<keyring::v1::Entry, SecretError> {
        if let Err(error) = keyring::v1::Entry::store_status() {
            return Err(SecretError::Unavailable(error.to_string()));
        }
        keyring::v1::Entry::new(SERVICE, name)
            .map_err(|error| SecretError::Unavailable(error.to_string()))
    }
}

impl SecretStore for Keychain {
    fn get(&self, name: &str) -> Result<Option<SecretString>, SecretError> {
        match Self::entry(name)?.get_password() {
            Ok(secret) => Ok(Some(SecretString::from(secret))),
            Err(keyring::v1::Error::NoEntry) => Ok(None),
            Err(error) => Err(SecretError::Unavailable(error.to_string())),
        }
    }

    fn set(&self, name: &str, secret: &SecretString) -> Result<(), SecretError> {
        Self::entry(name)?
            .set_password(secret.expose_secret())
            .map_err(|error| SecretError::Unavailable(error.to_string()))
    }

    fn remove(&self, name: &str) -> Result<(), SecretError> {
        match Self::entry(name)?.delete_credential() {
            Ok(()) | Err(keyring::v1::Error::NoEntry) => Ok(()),
            Err(error) => Err(SecretError::Unavailable(error.to_string())),
        }
    }
}

/// Memory only: gone when the program ends.
#[derive(Default)]
pub struct MemorySecrets(Mutex<std::collections::HashMap<String, SecretString>>);

impl SecretStore for MemorySecrets {
    fn get(&self, name: &str) -> Result<Option<SecretString>, SecretError> {
        Ok(self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(name)
            .cloned())
    }

    fn set(&self, name: &str, secret: &SecretString) -> Result<(), SecretError> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name.to_owned(), secret.clone());
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), SecretError> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        Ok(())
    }
}

/// A secret that is remembered: this session's, else the keychain's, else the environment's.
#[derive(Clone)]
pub struct KeptSecret {
    store: Arc<dyn SecretStore>,
    /// The name that it is filed under.
    name: &'static str,
    /// What the shell found in the environment, and in which variable.
    environment: Option<(KeySource, SecretString)>,
    state: Arc<Mutex<KeyState>>,
}

#[derive(Default)]
struct KeyState {
    session: Option<SecretString>,
    keychain: Option<SecretString>,
    keychain_problem: Option<String>,
}

impl KeptSecret {
    /// Knows only what the shell found in the environment, until [`KeptSecret::read`].
    pub(crate) fn new(
        store: Arc<dyn SecretStore>,
        name: &'static str,
        environment: Option<(KeySource, SecretString)>,
    ) -> Self {
        Self {
            store,
            name,
            environment,
            state: Arc::default(),
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, KeyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the keychain. Blocks while it answers, which can be until a person unlocked it.
    pub(crate) fn read(&self) {
        let read = self.store.get(self.name);
        let mut state = self.state();
        match read {
            Ok(key) => {
                state.keychain = key;
                state.keychain_problem = None;
            }
            Err(error) => state.keychain_problem = Some(error.to_string()),
        }
    }

    /// Notes that the keychain has not answered so far.
    pub(crate) fn unanswered(&self) {
        self.state().keychain_problem =
            Some("It has not answered yet; it may be waiting to be unlocked.".to_owned());
    }

    /// Returns the secret in force, and where it comes from.
    pub(crate) fn chosen(&self) -> Option<(KeySource, SecretString)> {
        let state = self.state();
        if let Some(key) = &state.session {
            return Some((KeySource::Session, key.clone()));
        }
        if let Some(key) = &state.keychain {
            return Some((KeySource::Keychain, key.clone()));
        }
        self.environment.clone()
    }

    /// Returns the key in force.
    pub(crate) fn get(&self) -> Option<SecretString> {
        self.chosen().map(|(_, key)| key)
    }

    /// Tells where the key comes from, and its last four characters.
    pub(crate) fn status(&self) -> KeyStatus {
        let chosen = self.chosen();
        KeyStatus {
            source: chosen
                .as_ref()
                .map_or(KeySource::None, |(source, _)| *source),
            ending: chosen.map(|(_, key)| ending(&key)),
            keychain_problem: self.state().keychain_problem.clone(),
        }
    }

    /// Keeps a key for this session, or in the keychain. Blocks while the keychain answers.
    pub(crate) fn save(&self, key: SecretString, session_only: bool) -> Result<(), SecretError> {
        if session_only {
            self.state().session = Some(key);
            return Ok(());
        }
        self.store.set(self.name, &key)?;
        let mut state = self.state();
        state.keychain = Some(key);
        state.keychain_problem = None;
        // The key just saved is meant to be used, also after one for the session only.
        state.session = None;
        Ok(())
    }

    /// Forgets the key of the session and of the keychain. Blocks while the keychain answers.
    pub(crate) fn remove(&self) -> Result<(), SecretError> {
        self.state().session = None;
        self.store.remove(self.name)?;
        self.state().keychain = None;
        Ok(())
    }
}

/// Returns the last four characters of a key that is long enough to show them.
fn ending(key: &SecretString) -> String {
    let characters: Vec<char> = key.expose_secret().chars().collect();
    if characters.len() < 12 {
        String::new()
    } else {
        characters[characters.len() - 4..].iter().collect()
    }
}
