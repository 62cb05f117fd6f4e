//! Errors of the engine, and what they mean to a person.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::model::{Problem, ProblemCode};
use crate::secrets::SecretError;

/// Why the engine could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// What was given can't be used. Holds the reason and what to do.
    #[error("{message}")]
    BadInput {
        /// What is wrong with it.
        message: String,
        /// What to do.
        hint: String,
    },
    /// Nothing is stored under what was named.
    #[error("There is no {what} {name}.")]
    NotFound {
        /// What was looked for (`job`, `template`).
        what: &'static str,
        /// Its name.
        name: String,
    },
    /// Another program consumes the data directory.
    #[error("Another Gistmill is working on these jobs already.")]
    ConsumerElsewhere,
    /// There is no API key.
    #[error("No API key is set.")]
    KeyMissing,
    /// The provider refused, or could not be asked.
    #[error("{message}")]
    Provider {
        /// Whether the key was refused.
        key_refused: bool,
        /// The provider's words.
        message: String,
        /// What to do.
        hint: String,
    },
    /// A job's PDF can't be shown.
    #[error("{message}")]
    Document {
        /// What kind of problem it is.
        code: ProblemCode,
        /// What is wrong with it.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The keychain can't be used.
    #[error("The system's keychain can't be used: {0}")]
    Keychain(#[from] SecretError),
    /// The database was made by a newer version of the program.
    #[error("The jobs in {path} were stored by a newer version of Gistmill.")]
    NewerDatabase {
        /// The database.
        path: PathBuf,
    },
    /// The database is damaged.
    #[error("The database {path} is damaged: {detail}")]
    DamagedDatabase {
        /// The database.
        path: PathBuf,
        /// SQLite's words.
        detail: String,
    },
    /// The database could not be read or written.
    #[error("{}", database_words(.0))]
    Database(#[from] rusqlite::Error),
    /// A file of ours could not be read or written.
    #[error("{path} could not be {action}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried (`read`, `written`, `created`).
        action: &'static str,
        /// The system's words.
        source: std::io::Error,
    },
    /// The store's thread has ended, since the engine was shut down.
    #[error("Gistmill is shutting down.")]
    Closed,
    /// A defect of this program.
    #[error("A defect in Gistmill: {0}")]
    Internal(String),
}

impl EngineError {
    /// Returns the error for input that can't be used.
    pub(crate) fn bad_input(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::BadInput {
            message: message.into(),
            hint: hint.into(),
        }
    }

    /// Returns the error as a person meets it.
    #[must_use]
    pub fn problem(&self) -> Problem {
        let (code, hint) = match self {
            Self::BadInput { hint, .. } => (ProblemCode::BadInput, hint.clone()),
            Self::NotFound { .. } => {
                (ProblemCode::NotFound, "It may have been removed. Look at the list again.".into())
            }
            Self::ConsumerElsewhere => (
                ProblemCode::ConsumerElsewhere,
                "Jobs that you add are worked there. To work them here, quit the other program first."
                    .into(),
            ),
            Self::KeyMissing => (
                ProblemCode::KeyMissing,
                "Add an Anthropic API key, or use the offline summary, which needs none.".into(),
            ),
            Self::Provider { key_refused, hint, .. } => (
                if *key_refused { ProblemCode::KeyRefused } else { ProblemCode::ProviderUnavailable },
                hint.clone(),
            ),
            Self::Document { code, hint, .. } => (*code, hint.clone()),
            Self::Keychain(_) => (
                ProblemCode::KeychainUnavailable,
                "Unlock or install a keychain, set ANTHROPIC_API_KEY, or keep the key for this session only."
                    .into(),
            ),
            Self::NewerDatabase { .. } => (
                ProblemCode::NewerDatabase,
                "Update Gistmill. Nothing was changed and your jobs are safe.".into(),
            ),
            Self::DamagedDatabase { .. } => (
                ProblemCode::Storage,
                DAMAGED.into(),
            ),
            Self::Database(error) => (ProblemCode::Storage, database_hint(error).to_owned()),
            Self::File { .. } => (
                ProblemCode::Storage,
                "Check that the disk has room and that the folder can be written. Jobs stored before are safe."
                    .into(),
            ),
            Self::Closed => (ProblemCode::Conflict, "Start it again; stored jobs go on then.".into()),
            Self::Internal(_) => (
                ProblemCode::Internal,
                "Your jobs are stored. Start Gistmill again, and report this if it comes back.".into(),
            ),
        };
        Problem {
            code,
            message: self.to_string(),
            hint,
        }
    }
}

/// Says what is wrong with the database, in a sentence that a person understands.
fn database_words(error: &rusqlite::Error) -> String {
    match error.sqlite_error_code() {
        _ if is_out_of_space(error) => "The disk is full: jobs can't be stored.".to_owned(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "Another program has locked the job database.".to_owned()
        }
        Some(ErrorCode::ReadOnly) => "The job database can't be written.".to_owned(),
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            format!("The job database is damaged: {error}.")
        }
        _ => format!("The job database could not be used: {error}."),
    }
}

/// Says whether the disk is full: SQLite says so in other words where it can't even make its index of the log.
fn is_out_of_space(error: &rusqlite::Error) -> bool {
    match error.sqlite_error() {
        Some(code) => {
            code.code == ErrorCode::DiskFull
                || code.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE
        }
        None => false,
    }
}

fn database_hint(error: &rusqlite::Error) -> &'static str {
    match error.sqlite_error_code() {
        _ if is_out_of_space(error) => {
            "Free some space. Jobs stored before are safe, and go on by themselves then."
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "Close the program that uses the file gistmill.db. Jobs go on by themselves then."
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => DAMAGED,
        _ => {
            "Check that the disk has room and that the folder can be written. Jobs stored before are safe."
        }
    }
}

/// What to do about a damaged database.
const DAMAGED: &str = "Keep a copy of the data folder, then restore it from a backup, such as \
     gistmill-before-2.db in the data folder. Results that are already stored are plain files in its \
     folder “results”.";
