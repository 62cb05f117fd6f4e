//! Passwords of PDFs: in memory only, until the program ends. They are never stored and never logged.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secrecy::{ExposeSecret as _, SecretString};

use crate::model::Sha256;

/// Most passwords that are tried on a document: each try reads the whole file.
const MOST_TRIED: usize = 20;

/// The passwords that were given, and the documents that they open. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub(crate) struct Passwords(Arc<Mutex<Kept>>);

#[derive(Default)]
struct Kept {
    /// The newest last.
    given: Vec<SecretString>,
    opens: HashMap<Sha256, SecretString>,
}

impl fmt::Debug for Passwords {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Passwords").finish_non_exhaustive()
    }
}

impl Passwords {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a password that is to be tried on every document that needs one.
    pub(crate) fn give(&self, password: SecretString) {
        let mut kept = self.kept();
        kept.given
            .retain(|other| other.expose_secret() != password.expose_secret());
        if kept.given.len() == MOST_TRIED {
            kept.given.remove(0);
        }
        kept.given.push(password);
    }

    /// Remembers that a password opens a document.
    pub(crate) fn opens(&self, document: &Sha256, password: SecretString) {
        self.kept().opens.insert(document.clone(), password);
    }

    /// Returns the password that is known to open a document.
    pub(crate) fn of(&self, document: &Sha256) -> Option<SecretString> {
        self.kept().opens.get(document).cloned()
    }

    /// Says whether there is any to try on a document of which nothing is known.
    pub(crate) fn has_any(&self) -> bool {
        !self.kept().given.is_empty()
    }

    /// Returns the passwords to try on a document, the most promising first.
    pub(crate) fn to_try(&self, document: &Sha256) -> Vec<SecretString> {
        let kept = self.kept();
        let known = kept.opens.get(document).into_iter();
        known.chain(kept.given.iter().rev()).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: &[SecretString]) -> Vec<String> {
        found
            .iter()
            .map(|password| password.expose_secret().to_owned())
            .collect()
    }

    #[test]
    fn what_opened_a_document_is_tried_first_then_the_newest() {
        let passwords = Passwords::default();
        let (one, other) = (Sha256("1".to_owned()), Sha256("2".to_owned()));
        for password in ["old", "new", "old", "newest"] {
            passwords.give(password.into());
        }
        passwords.opens(&one, "its own".into());
        assert_eq!(
            texts(&passwords.to_try(&one)),
            ["its own", "newest", "old", "new"]
        );
        assert_eq!(texts(&passwords.to_try(&other)), ["newest", "old", "new"]);
        assert!(passwords.of(&other).is_none());
    }

    #[test]
    fn no_password_is_shown_by_accident() {
        let passwords = Passwords::default();
        passwords.give("secret words".into());
        passwords.opens(&Sha256("1".to_owned()), "secret words".into());
        assert!(!format!("{passwords:?}").contains("secret words"));
    }
}
