//! What tokens cost: a dated price table, in integer micro-dollars.
//!
//! Prices are dollars per million tokens, which is micro-dollars per token. Source: Anthropic's
//! price list as of 2026-11-29.

use crate::provider::Usage;

/// Prices in nano-dollars per token, so that a listed $0.125 per million tokens stays an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Price {
    input: i64,
    output: i64,
    cache_write: i64,
    cache_read: i64,
}

const fn price(input: i64, output: i64, cache_write: i64, cache_read: i64) -> Price {
    Price {
        input,
        output,
        cache_write,
        cache_read,
    }
}

/// Prompts longer than this cost more with Claude Haiku 5.5, for the whole request.
const HAIKU_LONG_PROMPT: u64 = 100_000;

/// Returns the price of a model for a prompt of so many tokens; `None` when it is not known.
fn lookup(model: &str, prompt_tokens: u64) -> Option<Price> {
    let id = model.strip_prefix("anthropic/").unwrap_or(model);
    Some(match id {
        "claude-fable-5-1" => price(10_000, 50_000, 12_500, 250),
        "claude-fable-5" => price(10_000, 50_000, 12_500, 1_000),
        "claude-opus-5-5" => price(4_000, 20_000, 5_000, 200),
        "claude-opus-5"
        | "claude-opus-4-8"
        | "claude-opus-4-7"
        | "claude-opus-4-6"
        | "claude-opus-4-5-20251101"
        | "claude-opus-4-5" => price(5_000, 25_000, 6_250, 500),
        "claude-sonnet-5-5" => price(2_000, 10_000, 2_500, 100),
        "claude-sonnet-5" => price(2_000, 10_000, 2_500, 200),
        "claude-sonnet-4-6" | "claude-sonnet-4-5-20250929" | "claude-sonnet-4-5" => {
            price(3_000, 15_000, 3_750, 300)
        }
        "claude-haiku-5-5" if prompt_tokens > HAIKU_LONG_PROMPT => price(500, 2_500, 625, 50),
        "claude-haiku-5-5" => price(100, 500, 125, 10),
        "claude-haiku-4-5-20251001" | "claude-haiku-4-5" => price(1_000, 5_000, 1_250, 100),
        _ => return None,
    })
}

/// Returns what a call cost in micro-dollars, rounded up; `None` when the model has no known price.
#[must_use]
pub fn cost_micros(model: &str, usage: &Usage) -> Option<i64> {
    let price = lookup(model, usage.total_input())?;
    let nanos = part(usage.input_tokens, price.input)?
        .checked_add(part(usage.output_tokens, price.output)?)?
        .checked_add(part(usage.cache_creation_input_tokens, price.cache_write)?)?
        .checked_add(part(usage.cache_read_input_tokens, price.cache_read)?)?;
    Some(nanos.div_euclid(1000) + i64::from(nanos.rem_euclid(1000) > 0))
}

fn part(tokens: u64, nanos_per_token: i64) -> Option<i64> {
    i64::try_from(tokens).ok()?.checked_mul(nanos_per_token)
}

/// Most input tokens that a PDF page is known to take: its image and a dense page of text.
const TOKENS_PER_PAGE_AT_WORST: u64 = 3_000;
/// Most input tokens besides the pages: the prompt and the wrapping.
const TOKENS_BESIDES_AT_WORST: u64 = 1_600;

/// Returns the most that one attempt at a PDF can cost in micro-dollars; `None` without a known price.
#[must_use]
pub fn at_worst_micros(model: &str, pages: u32, max_tokens: u32) -> Option<i64> {
    cost_micros(
        model,
        &Usage {
            input_tokens: TOKENS_BESIDES_AT_WORST + TOKENS_PER_PAGE_AT_WORST * u64::from(pages),
            output_tokens: u64::from(max_tokens),
            ..Usage::default()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        }
    }

    #[test]
    fn costs_are_exact_to_the_micro_dollar_and_rounded_up() {
        assert_eq!(
            cost_micros("claude-sonnet-4-6", &usage(1_000_000, 0)),
            Some(3_000_000)
        );
        assert_eq!(
            cost_micros("claude-sonnet-4-6", &usage(1_000, 200)),
            Some(6_000)
        );
        assert_eq!(
            cost_micros("claude-haiku-5-5", &usage(1, 0)),
            Some(1),
            "a part of a micro-dollar counts as a whole one, never as nothing"
        );
    }

    #[test]
    fn the_long_prompt_step_applies_to_the_whole_request() {
        assert_eq!(
            cost_micros("claude-haiku-5-5", &usage(100_000, 1_000)),
            Some(10_500)
        );
        assert_eq!(
            cost_micros("claude-haiku-5-5", &usage(100_001, 1_000)),
            Some(52_501)
        );
    }

    #[test]
    fn cached_tokens_have_prices_of_their_own() {
        let cached = Usage {
            input_tokens: 10,
            cache_creation_input_tokens: 1_000,
            cache_read_input_tokens: 10_000,
            output_tokens: 100,
        };
        assert_eq!(
            cost_micros("claude-sonnet-4-6", &cached),
            Some(30 + 3_750 + 3_000 + 1_500)
        );
    }

    #[test]
    fn an_unknown_model_has_no_price() {
        assert_eq!(cost_micros("claude-sonnet-99", &usage(1, 1)), None);
    }
}
