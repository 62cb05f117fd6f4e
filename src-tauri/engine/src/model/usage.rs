//! What a provider counted, and what it allows.

use super::Timestamp;

/// Tokens that a provider counted. All zero for the offline provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens that were not cached.
    pub input_tokens: u64,
    /// Input tokens written to the cache.
    pub cache_creation_input_tokens: u64,
    /// Input tokens read from the cache.
    pub cache_read_input_tokens: u64,
    /// Output tokens, thinking included.
    pub output_tokens: u64,
}

impl Usage {
    /// Returns all input tokens, cached or not.
    #[must_use]
    pub fn total_input(&self) -> u64 {
        self.input_tokens + self.cache_creation_input_tokens + self.cache_read_input_tokens
    }

    /// Returns the input tokens that count against the limit of a minute: all but those read from the cache.
    #[must_use]
    pub fn limited_input(&self) -> u64 {
        self.input_tokens + self.cache_creation_input_tokens
    }
}

/// Limits of a minute that a provider told with an answer, for the model that was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToldLimits {
    /// Requests.
    pub requests: Option<u64>,
    /// Input tokens, those read from the cache left out.
    pub input_tokens: Option<u64>,
    /// Output tokens.
    pub output_tokens: Option<u64>,
    /// Input and output tokens together, or those of the tightest limit in force.
    pub tokens: Option<u64>,
    /// What was left of them.
    pub left: ToldLeft,
}

/// What was left of the limits of a minute when an answer was given: less than we left where other programs of the
/// same organization use them, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToldLeft {
    /// When that was; `None` where nothing was told.
    pub at: Option<Timestamp>,
    /// Requests.
    pub requests: Option<Left>,
    /// Input tokens.
    pub input_tokens: Option<Left>,
    /// Output tokens.
    pub output_tokens: Option<Left>,
    /// Tokens together.
    pub tokens: Option<Left>,
}

/// What was left of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// So many. Tokens are told to the nearest thousand.
    pub amount: u64,
    /// When nothing of what was used counts any more.
    pub full_at: Timestamp,
}
