//! The prices that come with the program.

use crate::model::{LongPromptPrice, ModelPrice};

/// The day of Anthropic's price list that these prices are from.
pub const SHIPPED_ON: &str = "2026-11-29";

/// What the batch API takes of every price, in percent.
const BATCH_PERCENT: u32 = 50;

/// Model, input, output, cache write (5 minutes), cache read; micro-dollars per million tokens.
///
/// The cache prices of Fable 5.2 are not published: a quarter more than its input for writing, as with
/// all others, and a tenth for reading, the dearest of any model.
const PRICES: &[(&str, i64, i64, i64, i64)] = &[
    (
        "claude-fable-5-2",
        8_000_000,
        40_000_000,
        10_000_000,
        800_000,
    ),
    (
        "claude-fable-5-1",
        10_000_000,
        50_000_000,
        12_500_000,
        250_000,
    ),
    (
        "claude-fable-5",
        10_000_000,
        50_000_000,
        12_500_000,
        1_000_000,
    ),
    ("claude-opus-5-5", 4_000_000, 20_000_000, 5_000_000, 200_000),
    ("claude-opus-5", 5_000_000, 25_000_000, 6_250_000, 500_000),
    ("claude-opus-4-8", 5_000_000, 25_000_000, 6_250_000, 500_000),
    ("claude-opus-4-7", 5_000_000, 25_000_000, 6_250_000, 500_000),
    ("claude-opus-4-6", 5_000_000, 25_000_000, 6_250_000, 500_000),
    (
        "claude-opus-4-5-20251101",
        5_000_000,
        25_000_000,
        6_250_000,
        500_000,
    ),
    (
        "claude-sonnet-5-5",
        2_000_000,
        10_000_000,
        2_500_000,
        100_000,
    ),
    ("claude-sonnet-5", 2_000_000, 10_000_000, 2_500_000, 200_000),
    (
        "claude-sonnet-4-6",
        3_000_000,
        15_000_000,
        3_750_000,
        300_000,
    ),
    (
        "claude-sonnet-4-5-20250929",
        3_000_000,
        15_000_000,
        3_750_000,
        300_000,
    ),
    ("claude-haiku-5-5", 100_000, 500_000, 125_000, 10_000),
    (
        "claude-haiku-4-5-20251001",
        1_000_000,
        5_000_000,
        1_250_000,
        100_000,
    ),
];

/// Claude Haiku 5.5 costs five times as much where the prompt is longer than this.
const HAIKU_LONG: LongPromptPrice = LongPromptPrice {
    over_tokens: 100_000,
    input: 500_000,
    output: 2_500_000,
    cache_write: 625_000,
    cache_read: 50_000,
};

/// Returns the shipped price of a model, whatever it is called.
pub(super) fn price(model: &str) -> Option<ModelPrice> {
    let id = match model.strip_prefix("anthropic/").unwrap_or(model) {
        "claude-opus-4-5" => "claude-opus-4-5-20251101",
        "claude-sonnet-4-5" => "claude-sonnet-4-5-20250929",
        "claude-haiku-4-5" => "claude-haiku-4-5-20251001",
        id => id,
    };
    PRICES
        .iter()
        .find(|(name, ..)| *name == id)
        .copied()
        .map(|row| from_row(row, model))
}

/// Returns every shipped price.
pub(super) fn all() -> Vec<ModelPrice> {
    PRICES.iter().map(|row| from_row(*row, row.0)).collect()
}

fn from_row(
    (id, input, output, cache_write, cache_read): (&str, i64, i64, i64, i64),
    model: &str,
) -> ModelPrice {
    ModelPrice {
        model: model.to_owned(),
        input,
        output,
        cache_write,
        cache_read,
        batch_percent: BATCH_PERCENT,
        long_prompt: (id == "claude-haiku-5-5").then_some(HAIKU_LONG),
    }
}
