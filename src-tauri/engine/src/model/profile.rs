//! What a model is: how long it is there, what it takes, and what it can do.

use serde::{Deserialize, Serialize};

/// Where a model stands in its life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Lifecycle {
    /// Current.
    #[default]
    Active,
    /// There is a newer one of its line; its end is not announced.
    Legacy,
    /// Its end is announced.
    Deprecated,
    /// It answers no more.
    Retired,
}

/// How much a model is to think and write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum Effort {
    /// As little as the question allows.
    Low,
    /// Some.
    Medium,
    /// What most models do by themselves.
    High,
    /// More.
    Xhigh,
    /// As much as it can.
    Max,
}

impl Effort {
    /// All levels, lowest first.
    pub const ALL: [Self; 5] = [Self::Low, Self::Medium, Self::High, Self::Xhigh, Self::Max];

    /// Returns the word that the API has for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// How a profile came to be known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "kebab-case")]
pub enum ProfileSource {
    /// The address that is asked told it.
    Told,
    /// The list that comes with the program has it.
    Shipped,
    /// Nobody told it: the model is taken for one like its relatives, or for a small one.
    #[default]
    Assumed,
}

/// What is known of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ModelProfile {
    /// The model.
    pub model: String,
    /// Where it stands in its life.
    pub lifecycle: Lifecycle,
    /// The day from which it answers no more, such as `2027-01-22`; `None` where none is announced.
    pub retires_on: Option<String>,
    /// The day before which it does not end, where that is all that is announced.
    pub kept_until: Option<String>,
    /// The current model of its line, where it is not that itself.
    pub successor: Option<String>,
    /// Tokens of its context window: document, prompt and answer together.
    pub context_tokens: u64,
    /// Most output tokens of an answer, thinking included.
    pub max_output_tokens: u32,
    /// Most pages of PDFs in a call; 0 where it reads none.
    pub pdf_pages: u32,
    /// Whether it counts as Claude 4.7 and later do: about 30 % more tokens for the same text.
    pub newer_tokenizer: bool,
    /// Whether it thinks before it writes without being told to. That counts as output.
    pub thinks: bool,
    /// The levels of effort that it takes, lowest first.
    pub efforts: Vec<Effort>,
    /// Whether its answers can name the pages that they come from.
    pub citations: bool,
    /// Whether its answers can be held to a JSON Schema.
    pub structured_outputs: bool,
    /// Whether it can be asked in batches at half the price.
    pub batches: bool,
    /// How this is known.
    pub source: ProfileSource,
}

/// What a person should know of the end of a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ModelNotice {
    /// The model.
    pub model: String,
    /// Deprecated or retired.
    pub lifecycle: Lifecycle,
    /// The day from which it answers no more; `None` where none is announced.
    pub retires_on: Option<String>,
    /// Whole days until then; 0 on that day and after it, `None` where no day is known.
    pub days_left: Option<u32>,
    /// What to use instead; `None` where nobody knows.
    pub successor: Option<String>,
    /// All of it as sentences.
    pub message: String,
}
