//! Budget and money, as shown: what was used, what is promised, and what they may come to.

use serde::{Deserialize, Serialize};

use super::Timestamp;

/// Money against a cap, in micro-dollars. All three parts count against it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Money {
    /// Known to be spent.
    pub settled_micros: i64,
    /// Calls whose end is not known, at their worst case.
    pub unknown_micros: i64,
    /// Calls under way, at their worst case.
    pub reserved_micros: i64,
    /// What all of it may come to; `None` for no cap.
    pub cap_micros: Option<i64>,
}

impl Money {
    /// Returns what counts against the cap.
    #[must_use]
    pub fn committed_micros(&self) -> i64 {
        self.settled_micros + self.unknown_micros + self.reserved_micros
    }
}

/// What was used of a limit within the last 60 s, reservations included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct Gauge {
    /// Used or reserved.
    pub used: u64,
    /// The limit in force: the person's, or a lower one that the provider told; `None` for no limit.
    pub limit: Option<u64>,
}

/// Use of the last 60 s against the limits, and money against the caps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct BudgetView {
    /// Requests.
    pub requests: Gauge,
    /// Input tokens.
    pub input_tokens: Gauge,
    /// Output tokens.
    pub output_tokens: Gauge,
    /// Input and output tokens together.
    pub tokens: Gauge,
    /// Since local midnight.
    pub day: Money,
    /// Since the first of the local month.
    pub month: Money,
    /// When the day's cap begins anew.
    pub day_ends_at: Timestamp,
    /// When the month's cap begins anew.
    pub month_ends_at: Timestamp,
}

/// What a model costs, in micro-dollars per million tokens ($3 are 3,000,000).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct ModelPrice {
    /// The model.
    pub model: String,
    /// Input tokens.
    pub input: i64,
    /// Output tokens, thinking included.
    pub output: i64,
    /// Input tokens written to the cache.
    pub cache_write: i64,
    /// Input tokens read from the cache.
    pub cache_read: i64,
    /// What the batch API takes of these prices, in percent.
    pub batch_percent: u32,
    /// The dearer prices of long prompts, where there are any.
    pub long_prompt: Option<LongPromptPrice>,
}

impl ModelPrice {
    /// Returns the price of a model that costs nothing.
    #[must_use]
    pub fn free(model: String) -> Self {
        Self {
            model,
            input: 0,
            output: 0,
            cache_write: 0,
            cache_read: 0,
            batch_percent: 100,
            long_prompt: None,
        }
    }

    /// Says whether the model costs nothing.
    #[must_use]
    pub fn is_free(&self) -> bool {
        let dearer = |long: LongPromptPrice| {
            long.input + long.output + long.cache_write + long.cache_read > 0
        };
        self.input + self.output + self.cache_write + self.cache_read == 0
            && !self.long_prompt.is_some_and(dearer)
    }
}

/// Prices that apply to the whole request when its prompt is longer than a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct LongPromptPrice {
    /// Prompts of more tokens than this, cached ones included.
    pub over_tokens: u64,
    /// Input tokens.
    pub input: i64,
    /// Output tokens.
    pub output: i64,
    /// Input tokens written to the cache.
    pub cache_write: i64,
    /// Input tokens read from the cache.
    pub cache_read: i64,
}

/// A line of the price table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct PriceView {
    /// The price; all zero where the person marked the model as free.
    pub price: ModelPrice,
    /// Whether the person gave it, in place of the shipped one or where there is none.
    pub own: bool,
}

/// The price table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(export))]
#[serde(rename_all = "camelCase")]
pub struct PriceTable {
    /// The day of the shipped prices, such as `2026-11-29`.
    pub shipped_on: String,
    /// Every model with a price.
    pub prices: Vec<PriceView>,
}
