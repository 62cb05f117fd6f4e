//! What the double would bill.
//!
//! - Refused before processing, by a limit, a check or a script: nothing.
//! - Declined before any output: nothing. Declined half-way: input and what was written.
//! - Cut off, broken off by an error event, standing still, or left by its client: input, and what was
//!   written so far.
//! - Done, with its answer lost: in full.
//! - Of a batch: half the price, for what succeeded only.
//! - A scripted stream of raw pieces, or an answer that never begins: nothing.
//!
//! Every call is billed in whole micro-dollars; a part of one counts as one.

mod prices;

use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;

/// Tokens as they are billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BilledTokens {
    /// Input that was neither written to nor read from the cache.
    pub input: u64,
    /// Written to the cache for five minutes.
    pub cache_write_5m: u64,
    /// Written to the cache for an hour.
    pub cache_write_1h: u64,
    /// Read from the cache.
    pub cache_read: u64,
    /// Generated, thinking included.
    pub output: u64,
}

impl BilledTokens {
    fn prompt(&self) -> u64 {
        self.input + self.cache_write_5m + self.cache_write_1h + self.cache_read
    }
}

/// What one call is billed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BilledCall {
    /// `req_…` of a message, `custom_id` of a request of a batch.
    pub id: String,
    /// The batch that it was in.
    pub batch: Option<String>,
    /// The model.
    pub model: String,
    /// The title of its first document.
    pub title: Option<String>,
    /// What was used.
    pub tokens: BilledTokens,
    /// What it costs, in millionths of a dollar.
    pub micro_dollars: u64,
}

/// The price of a call in millionths of a dollar. A model without a price costs nothing.
pub(super) fn price(model: &str, tokens: &BilledTokens, batched: bool) -> u64 {
    let Some(price) = prices::of(model, tokens.prompt()) else {
        return 0;
    };
    let nano_dollars = tokens.input * price.input
        + tokens.cache_write_5m * price.write_5m
        + tokens.cache_write_1h * price.write_1h
        + tokens.cache_read * price.read
        + tokens.output * price.output;
    let percent = if batched { 50 } else { 100 };
    (nano_dollars * percent).div_ceil(100 * 1_000)
}

/// The messages billed so far. Requests of batches are billed by their batch.
#[derive(Debug, Default)]
pub(super) struct Bill(Mutex<Vec<BilledCall>>);

impl Bill {
    fn lock(&self) -> MutexGuard<'_, Vec<BilledCall>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn calls(&self) -> Vec<BilledCall> {
        self.lock().clone()
    }

    pub(super) fn total(&self) -> u64 {
        self.lock().iter().map(|call| call.micro_dollars).sum()
    }

    /// Begins to bill a call for its input; its place in the bill is returned.
    pub(super) fn begin(&self, mut call: BilledCall) -> usize {
        call.micro_dollars = price(&call.model, &call.tokens, false);
        let mut calls = self.lock();
        calls.push(call);
        calls.len() - 1
    }

    /// So much has been written in all of the call at `place`. Returns how much of it is new.
    pub(super) fn written(&self, place: usize, output: u64) -> u64 {
        let mut calls = self.lock();
        let Some(call) = calls.get_mut(place) else {
            return 0;
        };
        let more = output.saturating_sub(call.tokens.output);
        call.tokens.output += more;
        call.micro_dollars = price(&call.model, &call.tokens, false);
        more
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(input: u64, output: u64) -> BilledTokens {
        BilledTokens {
            input,
            output,
            ..BilledTokens::default()
        }
    }

    #[test]
    fn calls_cost_what_the_price_list_says() {
        for (model, tokens, batched, micro_dollars) in [
            ("claude-sonnet-4-6", plain(1_000_000, 0), false, 3_000_000),
            ("claude-sonnet-4-6", plain(1_000, 200), false, 6_000),
            ("claude-sonnet-4-6", plain(1_000, 200), true, 3_000),
            ("claude-sonnet-4-6", plain(1, 0), true, 2),
            ("claude-haiku-5-5", plain(100_000, 1_000), false, 10_500),
            ("claude-haiku-5-5", plain(100_001, 1_000), false, 52_501),
            ("claude-haiku-5-5", plain(1, 0), false, 1),
            ("llama", plain(1_000, 1_000), false, 0),
        ] {
            assert_eq!(price(model, &tokens, batched), micro_dollars, "{model}");
        }
        let cached = BilledTokens {
            input: 10,
            cache_write_5m: 1_000,
            cache_write_1h: 100,
            cache_read: 10_000,
            output: 100,
        };
        assert_eq!(
            price("claude-sonnet-4-6", &cached, false),
            30 + 3_750 + 600 + 3_000 + 1_500
        );
    }

    #[test]
    fn what_is_written_is_billed_as_it_comes() {
        let bill = Bill::default();
        let place = bill.begin(BilledCall {
            id: "req_1".to_owned(),
            batch: None,
            model: "claude-sonnet-4-6".to_owned(),
            title: None,
            tokens: plain(1_000, 0),
            micro_dollars: 0,
        });
        assert_eq!(bill.total(), 3_000);
        assert_eq!(bill.written(place, 100), 100);
        assert_eq!(bill.written(place, 150), 50);
        assert_eq!(
            bill.written(place, 120),
            0,
            "what was written stays written"
        );
        assert_eq!(bill.total(), 3_000 + 2_250);
    }
}
