//! Settings that a person can change, and the state of the key.

use serde::{Deserialize, Serialize};

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
    /// Put a copy of each result beside its PDF.
    pub copy_beside_pdf: bool,
    /// The window's language.
    pub language: Language,
    /// The window's colours.
    pub theme: Theme,
    /// Whether the first-run screen was left.
    pub welcomed: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            provider: Provider::default(),
            model: "claude-sonnet-4-6".to_owned(),
            max_tokens: 4096,
            base_url: None,
            copy_beside_pdf: true,
            language: Language::default(),
            theme: Theme::default(),
            welcomed: false,
        }
    }
}

/// Where the API key comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum KeySource {
    /// The system's keychain.
    Keychain,
    /// The environment variable `ANTHROPIC_API_KEY`.
    Environment,
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
}
