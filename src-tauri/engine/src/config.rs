//! What the engine is told when it is opened. It reads no environment and no home folder itself.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;

use crate::clock::{Clock, SystemClock};
use crate::fault::FaultHook;
use crate::outbox::NotificationSink;
use crate::pdf::PdfWorkerConfig;
use crate::provider::claude::Timeouts;
use crate::secrets::{Keychain, SecretStore};

/// How an [`Engine`](crate::Engine) is opened.
#[derive(Clone)]
pub struct EngineConfig {
    /// The folder that holds the database and the library of results. Made when missing.
    pub data_directory: PathBuf,
    /// The program that reads PDFs in a child process.
    pub pdf_worker: PdfWorkerConfig,
    /// Where the API key is kept.
    pub secrets: Arc<dyn SecretStore>,
    /// How long opening waits for the keychain to answer. It is used as soon as it does.
    pub keychain_patience: Duration,
    /// The value of `ANTHROPIC_API_KEY`, if the shell found one.
    pub environment_key: Option<SecretString>,
    /// The value of `ANTHROPIC_AUTH_TOKEN`, if the shell found one: a key that is sent as a bearer token. A key wins.
    pub environment_token: Option<SecretString>,
    /// The value of `ANTHROPIC_CUSTOM_HEADERS`, if the shell found one: extra headers, one a line, `Name: value`.
    pub environment_headers: Option<SecretString>,
    /// The value of `ANTHROPIC_BASE_URL`, if the shell found one. A base URL in the settings wins.
    pub environment_base_url: Option<String>,
    /// The value of `GISTMILL_R2_SECRET`, if the shell found one: the secret of the bucket's key.
    pub environment_bucket_secret: Option<SecretString>,
    /// The value of `GISTMILL_PDF_PASSWORD`, if the shell found one: it is tried on every PDF that needs one.
    pub environment_pdf_password: Option<SecretString>,
    /// Shows a person that something needs them; `None` where nobody can be shown anything.
    pub notifications: Option<Arc<dyn NotificationSink>>,
    /// Tells the time.
    pub clock: Arc<dyn Clock>,
    /// The zone whose midnight begins a day of spending.
    pub time_zone: jiff::tz::TimeZone,
    /// Seeds the jitter of retry delays.
    pub jitter_seed: u64,
    /// Called between the durable steps of an attempt, so that a test can end the program there.
    pub fault: FaultHook,
    /// How long running jobs may go on after a shutdown was asked for.
    pub shutdown_deadline: Duration,
    /// How long after it was handed over a remote batch is looked at first, and how often at the beginning.
    pub batch_first_look: Duration,
    /// How long it may take until a remote batch is on the provider's list: one that is not there after this
    /// time did not arrive, and is handed over again.
    pub batch_settle_time: Duration,
    /// How long each part of a call to Claude may take.
    pub timeouts: Timeouts,
}

impl EngineConfig {
    /// Returns the defaults for a data directory: keychain, system clock, UTC, no notifications.
    #[must_use]
    pub fn new(data_directory: &Path, pdf_worker: PdfWorkerConfig) -> Self {
        Self {
            data_directory: data_directory.to_owned(),
            pdf_worker,
            secrets: Arc::new(Keychain),
            keychain_patience: Duration::from_secs(3),
            environment_key: None,
            environment_token: None,
            environment_headers: None,
            environment_base_url: None,
            environment_bucket_secret: None,
            environment_pdf_password: None,
            notifications: None,
            clock: Arc::new(SystemClock),
            time_zone: jiff::tz::TimeZone::UTC,
            jitter_seed: rand::random(),
            fault: Arc::new(|_| {}),
            shutdown_deadline: Duration::from_secs(5),
            batch_first_look: Duration::from_secs(30),
            batch_settle_time: Duration::from_secs(600),
            timeouts: Timeouts::default(),
        }
    }

    /// Returns the folder of copies that exist only while they are sent: decrypted ones, parts, repaired ones.
    pub(crate) fn private_directory(&self) -> PathBuf {
        self.data_directory.join("private")
    }

    /// Returns where the database lies.
    pub(crate) fn database(&self) -> PathBuf {
        self.data_directory.join("gistmill.db")
    }
}
