//! Where Claude is asked, and what can be expected there.

use serde::{Deserialize, Serialize};

use super::KeySource;

/// Who answers at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum EndpointKind {
    /// Anthropic itself, or a gateway that passes everything on to it.
    Anthropic,
    /// A LiteLLM proxy.
    Litellm,
    /// OpenRouter.
    Openrouter,
    /// Ollama.
    Ollama,
    /// LM Studio.
    LmStudio,
    /// Another one that speaks as Anthropic does, and is taken at its word.
    Other,
}

impl EndpointKind {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Anthropic,
        Self::Litellm,
        Self::Openrouter,
        Self::Ollama,
        Self::LmStudio,
        Self::Other,
    ];

    /// Returns its name as a person writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "Anthropic",
            Self::Litellm => "LiteLLM",
            Self::Openrouter => "OpenRouter",
            Self::Ollama => "Ollama",
            Self::LmStudio => "LM Studio",
            Self::Other => "another endpoint",
        }
    }
}

/// How the key is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum AuthScheme {
    /// As `x-api-key`.
    #[default]
    ApiKey,
    /// As `Authorization: Bearer`.
    Bearer,
}

/// What can be asked for at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct EndpointAbilities {
    /// It reads PDFs. Where it does not, their text is sent as a part of the prompt.
    pub documents: bool,
    /// Its answers can name the pages that they come from.
    pub citations: bool,
    /// Its answers can be held to a JSON Schema, and its models can be told how much to think.
    pub structured_outputs: bool,
    /// It counts tokens without answering.
    pub count_tokens: bool,
    /// It works batches at half the price.
    pub batches: bool,
    /// It takes files to be asked about later.
    pub files: bool,
    /// It lists its models.
    pub models: bool,
}

/// Where Claude is asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct EndpointView {
    /// Who answers there.
    pub kind: EndpointKind,
    /// The address, without `/v1`.
    pub address: String,
    /// Whether the address is that of the environment (`ANTHROPIC_BASE_URL`).
    pub from_environment: bool,
    /// How the key is sent.
    pub auth: AuthScheme,
    /// The version of the API that is asked for (`2026-10-21`).
    pub api_version: String,
    /// Names of extra headers; their values are never shown.
    pub header_names: Vec<String>,
    /// Where the extra headers come from.
    pub header_source: KeySource,
    /// What can be asked for there.
    pub abilities: EndpointAbilities,
    /// Whether the text of PDFs is sent in place of their pages.
    pub text_only: bool,
    /// Whether it runs on this computer or in this network, so that its models usually cost nothing.
    pub local: bool,
}
