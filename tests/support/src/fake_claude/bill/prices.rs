//! What the double charges, written down from Anthropic's price list by itself: a table copied from the
//! engine would agree with its mistakes.

/// Prices of a million tokens in thousandths of a dollar, which are nano-dollars of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Price {
    pub(super) input: u64,
    pub(super) output: u64,
    pub(super) write_5m: u64,
    pub(super) write_1h: u64,
    pub(super) read: u64,
}

const fn price(input: u64, output: u64, write_5m: u64, write_1h: u64, read: u64) -> Price {
    Price {
        input,
        output,
        write_5m,
        write_1h,
        read,
    }
}

/// Prompts longer than this are billed as long ones, by models that do.
const LONG_PROMPT: u64 = 100_000;

/// The price of a call of a model; `None` for one without a price.
pub(super) fn of(model: &str, prompt_tokens: u64) -> Option<Price> {
    let price = match model {
        "claude-fable-5-2" | "claude-mythos-5-2" => price(8_000, 40_000, 10_000, 16_000, 800),
        "claude-fable-5-1" | "claude-mythos-5-1" => price(10_000, 50_000, 12_500, 20_000, 250),
        "claude-fable-5" | "claude-mythos-5" => price(10_000, 50_000, 12_500, 20_000, 1_000),
        "claude-opus-5-5" => price(4_000, 20_000, 5_000, 8_000, 200),
        "claude-opus-5"
        | "claude-opus-4-8"
        | "claude-opus-4-7"
        | "claude-opus-4-6"
        | "claude-opus-4-5"
        | "claude-opus-4-5-20251101" => price(5_000, 25_000, 6_250, 10_000, 500),
        "claude-sonnet-5-5" => price(2_000, 10_000, 2_500, 4_000, 100),
        "claude-sonnet-5" => price(2_000, 10_000, 2_500, 4_000, 200),
        "claude-sonnet-4-6" | "claude-sonnet-4-5" | "claude-sonnet-4-5-20250929" => {
            price(3_000, 15_000, 3_750, 6_000, 300)
        }
        // The whole request is billed at the higher rate.
        "claude-haiku-5-5" if prompt_tokens > LONG_PROMPT => price(500, 2_500, 625, 1_000, 50),
        "claude-haiku-5-5" => price(100, 500, 125, 200, 10),
        "claude-haiku-4-5" | "claude-haiku-4-5-20251001" => price(1_000, 5_000, 1_250, 2_000, 100),
        // Of the double's own making.
        "claude-preview-6" => price(6_000, 30_000, 7_500, 12_000, 600),
        _ => return None,
    };
    Some(price)
}
