//! What a person, or who helps them, wants to know of an installation.

use serde::{Deserialize, Serialize};

/// Where everything lies, how large it is, and what it was made by. No secret and no text of a document is in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct About {
    /// The program's version.
    pub version: String,
    /// The version of the database's engine.
    pub sqlite_version: String,
    /// The operating system and the processor: `linux x86_64`.
    pub system: String,
    /// The folder that everything lies in.
    pub data_directory: String,
    /// Bytes of the database, with what is not merged into it yet.
    pub database_bytes: u64,
    /// Bytes of the stored results.
    pub results_bytes: u64,
    /// How many results are stored.
    pub results: u64,
}
