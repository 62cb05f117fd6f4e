//! What tokens cost: a dated price table that a person may correct, in integer micro-dollars.
//!
//! Prices are micro-dollars per million tokens ($3 are 3,000,000), so that a listed $0.125 stays an
//! integer. Source: Anthropic's price list as of [`SHIPPED_ON`].

mod ceiling;
mod estimate;
mod shipped;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::model::{Delivery, LongPromptPrice, ModelPrice, PriceTable, PriceView, Usage};

pub use ceiling::{Ceiling, ceiling};
pub(crate) use estimate::text_tokens;
pub use estimate::{
    DocumentWork, Estimate, Learned, OutputHistory, TextWork, UsualCall, Work, counted_document,
    estimate, estimate_knowing,
};
pub use shipped::SHIPPED_ON;

/// The prices in force: those that the person gave, else those shipped.
#[derive(Clone, Debug, Default)]
pub struct Prices {
    own: BTreeMap<String, ModelPrice>,
}

impl Prices {
    /// Returns the prices where the person gave `own`.
    #[must_use]
    pub fn new(own: impl IntoIterator<Item = ModelPrice>) -> Self {
        Self {
            own: own
                .into_iter()
                .map(|price| (price.model.clone(), price))
                .collect(),
        }
    }

    /// Returns the price of a model; `None` when nobody knows it.
    #[must_use]
    pub fn of(&self, model: &str) -> Option<Cow<'_, ModelPrice>> {
        if let Some(own) = self.own.get(model) {
            return Some(Cow::Borrowed(own));
        }
        shipped::price(model).map(Cow::Owned)
    }

    /// Returns what a call cost, rounded up; `None` when the model has no price.
    #[must_use]
    pub fn cost_micros(&self, model: &str, usage: &Usage) -> Option<i64> {
        let price = self.of(model)?;
        cost(&price, usage, 100)
    }

    /// Returns what a request of a batch cost, rounded up; `None` when the model has no price.
    #[must_use]
    pub fn batch_cost_micros(&self, model: &str, usage: &Usage) -> Option<i64> {
        let price = self.of(model)?;
        cost(&price, usage, price.batch_percent)
    }

    /// Returns what a call as estimated is expected to cost; `None` when the model has no price.
    #[must_use]
    pub fn expected_micros(&self, model: &str, estimate: &Estimate) -> Option<i64> {
        self.cost_micros(
            model,
            &plain(estimate.expected_input, estimate.expected_output),
        )
    }

    /// Returns the most that a call as estimated can cost; `None` when the model has no price.
    #[must_use]
    pub fn at_worst_micros(&self, model: &str, estimate: &Estimate) -> Option<i64> {
        self.cost_micros(model, &plain(estimate.worst_input, estimate.worst_output))
    }

    /// Returns the most that a request of a batch can cost; `None` when the model has no price.
    #[must_use]
    pub fn batch_at_worst_micros(&self, model: &str, estimate: &Estimate) -> Option<i64> {
        self.batch_cost_micros(model, &plain(estimate.worst_input, estimate.worst_output))
    }

    /// Returns what a call as estimated is expected to cost where it goes one way; `None` when the model has no price.
    #[must_use]
    pub fn expected_by(&self, delivery: Delivery, model: &str, estimate: &Estimate) -> Option<i64> {
        let usage = plain(estimate.expected_input, estimate.expected_output);
        self.cost_by(delivery, model, &usage)
    }

    /// Returns what a call cost that went one way, rounded up; `None` when the model has no price.
    #[must_use]
    pub fn cost_by(&self, delivery: Delivery, model: &str, usage: &Usage) -> Option<i64> {
        match delivery {
            Delivery::Each => self.cost_micros(model, usage),
            Delivery::Batch => self.batch_cost_micros(model, usage),
        }
    }

    /// Returns the most that a call as estimated can cost where it goes one way; `None` when the model has no price.
    #[must_use]
    pub fn at_worst_by(&self, delivery: Delivery, model: &str, estimate: &Estimate) -> Option<i64> {
        let usage = plain(estimate.worst_input, estimate.worst_output);
        self.cost_by(delivery, model, &usage)
    }

    /// Returns what a call with so many tokens costs; `None` when the model has no price.
    #[must_use]
    pub fn of_tokens(&self, model: &str, input: u64, output: u64) -> Option<i64> {
        self.cost_micros(model, &plain(input, output))
    }

    /// Returns what a request of a batch with so many tokens costs; `None` when the model has no price.
    #[must_use]
    pub fn batch_of_tokens(&self, model: &str, input: u64, output: u64) -> Option<i64> {
        self.batch_cost_micros(model, &plain(input, output))
    }

    /// Returns the whole table, by model.
    #[must_use]
    pub fn table(&self) -> PriceTable {
        let shipped = shipped::all()
            .into_iter()
            .filter(|price| !self.own.contains_key(&price.model))
            .map(|price| PriceView { price, own: false });
        let own = self.own.values().map(|price| PriceView {
            price: price.clone(),
            own: true,
        });
        let mut prices: Vec<PriceView> = shipped.chain(own).collect();
        prices.sort_by(|one, other| one.price.model.cmp(&other.price.model));
        PriceTable {
            shipped_on: SHIPPED_ON.to_owned(),
            prices,
        }
    }
}

fn plain(input_tokens: u64, output_tokens: u64) -> Usage {
    Usage {
        input_tokens,
        output_tokens,
        ..Usage::default()
    }
}

fn cost(price: &ModelPrice, usage: &Usage, percent: u32) -> Option<i64> {
    let rates = match price.long_prompt {
        Some(long) if usage.total_input() > long.over_tokens => long,
        _ => LongPromptPrice {
            over_tokens: 0,
            input: price.input,
            output: price.output,
            cache_write: price.cache_write,
            cache_read: price.cache_read,
        },
    };
    let parts = [
        (usage.input_tokens, rates.input),
        (usage.output_tokens, rates.output),
        (usage.cache_creation_input_tokens, rates.cache_write),
        (usage.cache_read_input_tokens, rates.cache_read),
    ];
    let millionths = parts.iter().try_fold(0_i128, |sum, (tokens, rate)| {
        sum.checked_add(i128::from(*tokens).checked_mul(i128::from(*rate))?)
    })?;
    let hundredths = millionths.checked_mul(i128::from(percent))?;
    // A part of a micro-dollar counts as a whole one.
    i64::try_from((hundredths + 99_999_999).div_euclid(100_000_000)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost_micros(model: &str, input: u64, output: u64) -> Option<i64> {
        Prices::default().cost_micros(model, &plain(input, output))
    }

    #[test]
    fn costs_are_exact_to_the_micro_dollar_and_rounded_up() {
        assert_eq!(
            cost_micros("claude-sonnet-4-6", 1_000_000, 0),
            Some(3_000_000)
        );
        assert_eq!(cost_micros("claude-sonnet-4-6", 1_000, 200), Some(6_000));
        assert_eq!(
            cost_micros("claude-haiku-5-5", 1, 0),
            Some(1),
            "a part of a micro-dollar counts as a whole one, never as nothing"
        );
    }

    #[test]
    fn the_long_prompt_step_applies_to_the_whole_request() {
        assert_eq!(
            cost_micros("claude-haiku-5-5", 100_000, 1_000),
            Some(10_500)
        );
        assert_eq!(
            cost_micros("claude-haiku-5-5", 100_001, 1_000),
            Some(52_501)
        );
    }

    #[test]
    fn a_request_of_a_batch_costs_half_and_is_rounded_once() {
        let cost = |input, output| {
            Prices::default().batch_cost_micros("claude-sonnet-4-6", &plain(input, output))
        };
        assert_eq!(cost(1_000, 200), Some(3_000));
        assert_eq!(cost(1, 0), Some(2), "half of three is rounded up");
        assert_eq!(
            cost(1, 1),
            Some(9),
            "the sum is halved, not what was rounded up"
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
            Prices::default().cost_micros("claude-sonnet-4-6", &cached),
            Some(30 + 3_750 + 3_000 + 1_500)
        );
    }

    #[test]
    fn an_unknown_model_has_no_price_until_the_person_gives_one() {
        assert_eq!(cost_micros("claude-sonnet-99", 1, 1), None);
        let free = ModelPrice {
            model: "llama".to_owned(),
            input: 0,
            output: 0,
            cache_write: 0,
            cache_read: 0,
            batch_percent: 100,
            long_prompt: None,
        };
        let dear = ModelPrice {
            model: "claude-sonnet-4-6".to_owned(),
            input: 9_000_000,
            ..free.clone()
        };
        let prices = Prices::new([free, dear]);
        assert_eq!(
            prices.cost_micros("llama", &plain(1_000_000, 1_000_000)),
            Some(0)
        );
        assert_eq!(
            prices.cost_micros("claude-sonnet-4-6", &plain(1_000_000, 0)),
            Some(9_000_000),
            "the person's price wins over the shipped one"
        );
    }

    #[test]
    fn an_absurd_number_of_tokens_is_no_price_rather_than_a_wrong_one() {
        assert_eq!(
            cost_micros("claude-opus-5-5", u64::MAX, u64::MAX),
            None,
            "a sum that does not fit must not wrap around"
        );
    }

    #[test]
    fn the_table_lists_each_model_once() {
        let table = Prices::default().table();
        let mut models: Vec<_> = table
            .prices
            .iter()
            .map(|view| view.price.model.clone())
            .collect();
        let count = models.len();
        models.dedup();
        assert_eq!(models.len(), count);
        assert!(models.contains(&"claude-sonnet-4-6".to_owned()));
    }
}
