//! Errors as a person meets them, the same at every front.

use serde::{Deserialize, Serialize};

/// What kind of problem it is. Fronts branch on this and on nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum ProblemCode {
    /// What was given can't be used.
    BadInput,
    /// What was named does not exist (any more).
    NotFound,
    /// It can't be done in the present state.
    Conflict,
    /// Another program consumes this data directory.
    ConsumerElsewhere,
    /// There is no API key.
    KeyMissing,
    /// The key was refused.
    KeyRefused,
    /// The system's keychain can't be used.
    KeychainUnavailable,
    /// The provider can't be reached or answered with an error.
    ProviderUnavailable,
    /// The database or a result file can't be read or written.
    Storage,
    /// The database was made by a newer version.
    NewerDatabase,
    /// A defect of this program.
    Internal,
}

/// What happened, what it means, what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The kind.
    pub code: ProblemCode,
    /// What happened and what it means for the person's jobs.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}
