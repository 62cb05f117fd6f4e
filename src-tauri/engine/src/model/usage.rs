//! What a provider counted, and what it allows.

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
}
