//! The bucket in Cloudflare R2 that copies of results go to, and how the uploads come on.

use serde::{Deserialize, Serialize};

use super::{KeySource, Timestamp, word};

/// Where in the world Cloudflare keeps a bucket: it answers at the address of its jurisdiction only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Jurisdiction {
    /// No jurisdiction was chosen for the bucket.
    #[default]
    Default,
    /// The European Union.
    Eu,
    /// FedRAMP, in the United States.
    Fedramp,
}

/// A bucket. Its secret is kept in the keychain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase", default)]
pub struct BucketSettings {
    /// Whether results are uploaded.
    pub enabled: bool,
    /// Cloudflare's account id: 32 hexadecimal digits. Empty with an address of its own.
    pub account_id: String,
    /// Where Cloudflare keeps the bucket.
    pub jurisdiction: Jurisdiction,
    /// The address of another server that speaks S3, in place of Cloudflare's.
    pub endpoint: Option<String>,
    /// The bucket's name.
    pub bucket: String,
    /// A folder in the bucket, without slashes around it; empty for none.
    pub folder: String,
    /// The id of the access key.
    pub access_key_id: String,
    /// Whether the PDFs are uploaded, too.
    pub upload_documents: bool,
    /// Whether a job counts as completed only when its result is in the bucket.
    pub wait_for_upload: bool,
}

/// What an address that a person pasted says of a bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct BucketAddress {
    /// Cloudflare's account id; empty when the address is not Cloudflare's.
    pub account_id: String,
    /// Where Cloudflare keeps the bucket.
    pub jurisdiction: Jurisdiction,
    /// The address of the server when it is not Cloudflare's.
    pub endpoint: Option<String>,
    /// The bucket, if the address names one.
    pub bucket: Option<String>,
    /// The folder in it, if the address names one.
    pub folder: Option<String>,
}

/// Why something could not be uploaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum UploadCause {
    /// No secret is set, or the keychain does not give it.
    SecretMissing,
    /// The server does not know the access key's id.
    KeyUnknown,
    /// The secret does not belong to the access key's id.
    SecretWrong,
    /// The access key may not write to this bucket.
    NotAllowed,
    /// There is no bucket of this name at this address.
    BucketMissing,
    /// The bucket is kept in another jurisdiction.
    OtherJurisdiction,
    /// This computer's clock is wrong by minutes.
    ClockWrong,
    /// R2 is not switched on for the account.
    NotSubscribed,
    /// Nothing answers at the address.
    Unreachable,
    /// The answer did not come in time, or broke off.
    Interrupted,
    /// The server wants fewer writes for a while.
    TooMany,
    /// The server has trouble of its own.
    ServerTrouble,
    /// The server overwrites what it was told not to.
    Overwrites,
    /// Another object lies under this name; it stands.
    Taken,
    /// The file to be uploaded is not in the library any more, or not where it was.
    FileGone,
    /// The file is not what was added any more.
    FileChanged,
    /// The file is larger than one upload takes.
    TooLarge,
    /// The server refused it for another reason.
    Refused,
}

impl UploadCause {
    /// Says whether it would meet every other upload, too.
    #[must_use]
    pub fn concerns_all(self) -> bool {
        !matches!(
            self,
            Self::Interrupted
                | Self::Taken
                | Self::FileGone
                | Self::FileChanged
                | Self::TooLarge
                | Self::Refused
        )
    }

    /// Says whether it passes without a person's doing, and soon.
    #[must_use]
    pub fn passes_by_itself(self) -> bool {
        matches!(
            self,
            Self::Unreachable | Self::Interrupted | Self::TooMany | Self::ServerTrouble
        )
    }

    /// Says what to do about it, in a sentence or two.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::SecretMissing => {
                "Enter the secret access key of the R2 API token in the settings."
            }
            Self::KeyUnknown => {
                "Compare the access key id with the R2 API token in Cloudflare's dashboard. A token \
                 that was just made can take a minute to be known."
            }
            Self::SecretWrong => {
                "Enter the secret access key again; it is not the token's value. Cloudflare shows \
                 it once: make another token when it is lost."
            }
            Self::NotAllowed => {
                "Give the R2 API token the permission “Object Read & Write” for this bucket."
            }
            Self::BucketMissing => {
                "Compare the account id, the jurisdiction and the bucket's name with Cloudflare's \
                 dashboard."
            }
            Self::OtherJurisdiction => "Choose this jurisdiction in the settings.",
            Self::ClockWrong => "Set this computer's clock, or let it be set by the network.",
            Self::NotSubscribed => "Switch R2 on in Cloudflare's dashboard.",
            Self::Unreachable => {
                "Check the network connection, and the account id or the server's address."
            }
            Self::Interrupted | Self::TooMany | Self::ServerTrouble => {
                "Try again in a while. Uploads that wait are tried again by themselves."
            }
            Self::Overwrites => {
                "Choose a server that heeds “If-None-Match: *”, as Cloudflare R2 does: on this one, \
                 one result could overwrite another."
            }
            Self::Taken => {
                "Look at it in the bucket. Move it away or choose another folder, then upload again."
            }
            Self::FileGone => "Put the file back where it was, then upload again.",
            Self::FileChanged => "Add the changed file as a new job.",
            Self::TooLarge => "Upload this file by other means; its result can be uploaded alone.",
            Self::Refused => "Compare the bucket's settings with the server's, then upload again.",
        }
    }

    /// Returns the stable key, as stored and as sent to fronts (`secret-wrong`).
    #[must_use]
    pub fn key(self) -> String {
        word::of(&self)
    }

    /// Returns the cause of a stored key, if this version knows it.
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        word::read(key)
    }
}

/// What went wrong with an upload, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct UploadTrouble {
    /// Why.
    pub cause: UploadCause,
    /// What happened, in a sentence.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl UploadTrouble {
    /// Says what happened, with what to do about its cause.
    pub(crate) fn new(cause: UploadCause, message: impl Into<String>) -> Self {
        Self {
            cause,
            message: message.into(),
            hint: cause.hint().to_owned(),
        }
    }
}

/// What trying a bucket showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct BucketTest {
    /// What is wrong; `None` when an object was written, read, protected from overwriting and deleted.
    pub trouble: Option<UploadTrouble>,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// How uploads come on, in short.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct UploadsView {
    /// Whether results are uploaded.
    pub enabled: bool,
    /// Uploads that wait.
    pub waiting: u64,
    /// Since when the oldest of them waits.
    pub oldest_at: Option<Timestamp>,
    /// Uploads that were given up.
    pub failed: u64,
    /// What stands in the way of all of them, if anything does.
    pub trouble: Option<UploadTrouble>,
    /// When that is tried again.
    pub retry_at: Option<Timestamp>,
}

/// The bucket and how its uploads come on, in full.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct BucketStatus {
    /// The address that objects' names are appended to; `None` until a bucket is set.
    pub address: Option<String>,
    /// Whether there is a secret.
    pub secret_set: bool,
    /// Where it comes from.
    pub secret_source: KeySource,
    /// Why the keychain can't be used, if it can't.
    pub keychain_problem: Option<String>,
    /// How uploads come on.
    pub uploads: UploadsView,
    /// Stored results that lie in this bucket.
    pub uploaded: u64,
    /// Stored results that don't, and are not on their way.
    pub not_uploaded: u64,
    /// The newest uploads that were given up, at most twenty.
    pub failures: Vec<FailedUpload>,
}

/// An upload that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct FailedUpload {
    /// The job.
    pub job_id: super::JobId,
    /// Its title.
    pub title: String,
    /// Why.
    pub message: String,
    /// When.
    pub at: Timestamp,
}

/// Where the upload of one result stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(
    tag = "state",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum UploadView {
    /// It waits for its turn, or to be tried again.
    Waiting {
        /// How often it was tried.
        tries: u32,
        /// What the last try met.
        message: Option<String>,
        /// When it is tried at the earliest.
        at: Timestamp,
    },
    /// It is there.
    Uploaded {
        /// The object's address.
        address: String,
        /// Since when.
        at: Timestamp,
    },
    /// It was given up.
    Failed {
        /// Why.
        message: String,
        /// When.
        at: Timestamp,
    },
}
