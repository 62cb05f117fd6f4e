//! Settings that a person can change, and the state of the key.

use serde::{Deserialize, Serialize};

use super::{AuthScheme, BucketSettings, EndpointKind, ModelNotice, ModelProfile, Timestamp};

/// What answers a job.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Provider {
    /// Claude, by Anthropic's Messages API.
    #[default]
    Claude,
    /// The built-in extractive summarizer: no key, no network.
    Offline,
}

impl Provider {
    /// Returns the stored word.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Offline => "offline",
        }
    }

    /// Returns the provider of a stored word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Claude, Self::Offline]
            .into_iter()
            .find(|provider| provider.as_str() == word)
    }
}

/// The window's language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Language {
    /// As the system.
    #[default]
    System,
    /// English.
    En,
    /// Japanese.
    Ja,
}

/// The window's colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// As the system.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

/// Where a copy of each result is put, besides the library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum CopiesTo {
    /// Nowhere.
    Nowhere,
    /// Beside each PDF.
    #[default]
    BesidePdf,
    /// In the output folder, in folders like those that were added.
    Folder,
}

/// What is done where the name of a copy is taken by another file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum NameTaken {
    /// The copy gets a number.
    #[default]
    Number,
    /// No copy is made.
    Skip,
    /// The file is replaced if it is a copy that nobody edited; else the new one gets a number.
    Overwrite,
}

/// What a person can set. Secrets are not among it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase", default)]
pub struct Settings {
    /// What answers new jobs.
    pub provider: Provider,
    /// The model for new Claude jobs.
    pub model: String,
    /// Most output tokens of an answer.
    pub max_tokens: u32,
    /// Where Claude is asked; `None` for Anthropic itself.
    pub base_url: Option<String>,
    /// Who answers there; `None` for what the address shows.
    pub endpoint: Option<EndpointKind>,
    /// How the key is sent; `None` for the way that is usual there.
    pub auth: Option<AuthScheme>,
    /// A file (PEM) with certificates that are trusted there besides those of the system.
    pub ca_file: Option<String>,
    /// Whether that address is sent the text of PDFs, since it can't read them (Ollama drops them unread).
    pub text_only: bool,
    /// Where a copy of each result is put.
    pub copies_to: CopiesTo,
    /// The folder that mirrored copies go to; used with [`CopiesTo::Folder`].
    pub output_folder: Option<String>,
    /// What is done where a copy's name is taken.
    pub name_taken: NameTaken,
    /// Whether each finished batch of files leaves a table (CSV) beside the copies.
    pub batch_csv: bool,
    /// Whether each finished batch of files leaves one JSON object a line beside the copies.
    pub batch_jsonl: bool,
    /// Whether each finished batch of files leaves all its results in one Markdown file beside the copies.
    pub batch_markdown: bool,
    /// The bucket that copies of results go to; `None` until one is set.
    pub bucket: Option<BucketSettings>,
    /// The window's language.
    pub language: Language,
    /// The window's colours.
    pub theme: Theme,
    /// Whether single letters act on the jobs selected in the window's table.
    pub single_keys: bool,
    /// Whether the first-run screen was left.
    pub welcomed: bool,
    /// Most requests within 60 s; `None` for as many as the provider allows.
    pub requests_per_minute: Option<u32>,
    /// Most input tokens within 60 s; `None` for as many as the provider allows.
    pub input_tokens_per_minute: Option<u32>,
    /// Most output tokens within 60 s; `None` for as many as the provider allows.
    pub output_tokens_per_minute: Option<u32>,
    /// Most input and output tokens together within 60 s.
    pub tokens_per_minute: u32,
    /// Most calls within 60 s that only count tokens. The provider has a limit of its own for them.
    pub counts_per_minute: u32,
    /// Most micro-dollars a day; `None` for no cap.
    pub day_cap_micros: Option<i64>,
    /// Most micro-dollars a month; `None` for no cap.
    pub month_cap_micros: Option<i64>,
    /// Most micro-dollars of a new batch; `None` for no cap.
    pub batch_cap_micros: Option<i64>,
    /// One claim in so many is bulk's while high waits for budget; 0 for none.
    pub bulk_floor: u32,
    /// The hours at which bulk runs; `None` for all day.
    pub quiet_hours: Option<QuietHours>,
    /// Days after which ended jobs are removed, with their stored results; `None` keeps them.
    pub retention_days: Option<u32>,
    /// Where failures are told by HTTP; `None` for nowhere.
    pub webhook_url: Option<String>,
    /// Whether finished batches are told there, too.
    pub webhook_batches: bool,
    /// Whether the desktop tells of finished batches.
    pub notify_batches: bool,
}

/// Hours of the day, local time. They may run over midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct QuietHours {
    /// The first minute, counted from midnight (0 to 1439).
    pub from_minute: u16,
    /// The minute at which they end; the same as the first for a whole day.
    pub to_minute: u16,
}

impl QuietHours {
    /// Says whether a minute of the day is among them.
    #[must_use]
    pub fn contains(self, minute: u16) -> bool {
        if self.from_minute == self.to_minute {
            true
        } else if self.from_minute < self.to_minute {
            (self.from_minute..self.to_minute).contains(&minute)
        } else {
            minute >= self.from_minute || minute < self.to_minute
        }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: Provider::default(),
            model: "claude-sonnet-4-6".to_owned(),
            max_tokens: 4096,
            base_url: None,
            endpoint: None,
            auth: None,
            ca_file: None,
            text_only: false,
            copies_to: CopiesTo::default(),
            output_folder: None,
            name_taken: NameTaken::default(),
            batch_csv: true,
            batch_jsonl: false,
            batch_markdown: true,
            bucket: None,
            language: Language::default(),
            theme: Theme::default(),
            single_keys: true,
            welcomed: false,
            requests_per_minute: None,
            input_tokens_per_minute: None,
            output_tokens_per_minute: None,
            tokens_per_minute: 400_000,
            counts_per_minute: 500,
            day_cap_micros: None,
            month_cap_micros: None,
            batch_cap_micros: None,
            bulk_floor: 10,
            quiet_hours: None,
            retention_days: None,
            webhook_url: None,
            webhook_batches: false,
            notify_batches: true,
        }
    }
}

/// Where a key or a secret comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// The system's keychain.
    Keychain,
    /// An environment variable (`ANTHROPIC_API_KEY`, `ANTHROPIC_CUSTOM_HEADERS`, `GISTMILL_R2_SECRET`).
    Environment,
    /// The environment variable `ANTHROPIC_AUTH_TOKEN`, which is sent as a bearer token.
    EnvironmentToken,
    /// Memory: gone when the program ends.
    Session,
    /// There is none.
    None,
}

/// Whether a key is set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct KeyStatus {
    /// Where it comes from.
    pub source: KeySource,
    /// Its last four characters, to tell keys apart.
    pub ending: Option<String>,
    /// Why the keychain can't be used, if it can't.
    pub keychain_problem: Option<String>,
}

/// What a free call with the key showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct KeyTest {
    /// Ids of the models that the key may use, newest first.
    pub models: Vec<String>,
    /// Whether the model of the settings is among them.
    pub model_available: bool,
    /// Requests a minute, if the answer told.
    pub requests_per_minute: Option<u64>,
    /// Input tokens a minute, if the answer told.
    pub input_tokens_per_minute: Option<u64>,
    /// Output tokens a minute, if the answer told.
    pub output_tokens_per_minute: Option<u64>,
    /// The model of the settings.
    pub model: ModelProfile,
    /// What should be known of its end; `None` where none is near.
    pub notice: Option<ModelNotice>,
    /// Whether its price is known; without one no job is sent to it.
    pub price_known: bool,
    /// Whether it is marked as free.
    pub free: bool,
    /// What is known of all models that the address told of.
    pub profiles: Vec<ModelProfile>,
}

/// How telling others by HTTP goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct WebhookStatus {
    /// Whether there is a secret to sign with.
    pub secret_set: bool,
    /// Messages that wait to be delivered.
    pub waiting: u64,
    /// When the last one ended, delivered or given up; `None` when there was none.
    pub last_at: Option<Timestamp>,
    /// Why the last one could not be delivered; `None` when it was.
    pub last_error: Option<String>,
}
