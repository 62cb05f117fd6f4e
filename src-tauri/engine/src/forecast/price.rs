//! What calls cost, from the least to the most.

use crate::model::{EstimateCheck, ForecastPrice, OutputForecast};
use crate::pricing::Estimate;

/// How far an estimate of input may be off, in percent, before anything was compared.
const USUALLY_OFF: u32 = 20;

/// What a sum of calls costs, and what each job costs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Range {
    /// Of all jobs.
    pub(crate) sum: ForecastPrice,
    /// Of each job, in their order: as expected, and at worst.
    pub(crate) jobs: Vec<(i64, i64)>,
}

/// Returns what jobs cost that make these calls, each with its model; `None` without a known price.
///
/// `cost` tells what a call to a model with so many tokens of input and output costs the way that it goes.
pub(crate) fn price<'call>(
    jobs: impl Iterator<Item = (&'call str, &'call [Estimate])>,
    output: &OutputForecast,
    compared: Option<&EstimateCheck>,
    cost: impl Fn(&str, u64, u64) -> Option<i64>,
) -> Option<Range> {
    let off = compared
        .map_or(USUALLY_OFF, |check| check.usually_off_percent)
        .min(100);
    let mut range = Range::default();
    for (model, calls) in jobs {
        let of = |input: u64, output: u64| cost(model, input, output);
        let mut job = (0_i64, 0_i64);
        for call in calls {
            let least_input = if call.is_counted {
                call.expected_input
            } else {
                call.expected_input
                    .saturating_mul(u64::from(100 - off))
                    .div_ceil(100)
            };
            let within = |tokens: u64| tokens.min(call.worst_output);
            let expected = of(call.expected_input, within(output.expected))?;
            let worst = of(call.worst_input, call.worst_output)?;
            let high = of(
                call.dense_input.max(call.expected_input),
                within(output.high),
            )?;
            range.sum.low_micros = range
                .sum
                .low_micros
                .checked_add(of(least_input, within(output.low))?)?;
            range.sum.high_micros = range.sum.high_micros.checked_add(high.min(worst))?;
            job.0 = job.0.checked_add(expected)?;
            job.1 = job.1.checked_add(worst)?;
        }
        range.sum.expected_micros = range.sum.expected_micros.checked_add(job.0)?;
        range.sum.worst_micros = range.sum.worst_micros.checked_add(job.1)?;
        range.jobs.push(job);
    }
    Some(range)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pricing::Prices;

    const SONNET: &str = "claude-sonnet-4-6";

    fn call(is_counted: bool) -> Estimate {
        Estimate {
            expected_input: 1_000,
            dense_input: 2_000,
            likely_input: 2_000,
            worst_input: 4_000,
            expected_output: 900,
            likely_output: 4_096,
            worst_output: 4_096,
            is_counted,
        }
    }

    fn output() -> OutputForecast {
        OutputForecast {
            low: 100,
            expected: 200,
            high: 1_000,
            worst: 4_096,
            answers: 5,
        }
    }

    fn range(calls: &[Estimate]) -> Range {
        let jobs = [(SONNET, calls)];
        let prices = Prices::default();
        let all = price(jobs.into_iter(), &output(), None, |model, input, output| {
            prices.of_tokens(model, input, output)
        });
        all.unwrap()
    }

    fn batch_range(calls: &[Estimate]) -> Range {
        let jobs = [(SONNET, calls)];
        let prices = Prices::default();
        let all = price(jobs.into_iter(), &output(), None, |model, input, output| {
            prices.batch_of_tokens(model, input, output)
        });
        all.unwrap()
    }

    #[test]
    fn a_price_goes_from_the_least_to_what_caps_reserve() {
        let sum = range(&[call(false)]).sum;
        // Sonnet 4.6: $3 and $15 a million tokens.
        assert_eq!(sum.low_micros, 800 * 3 + 100 * 15);
        assert_eq!(sum.expected_micros, 1_000 * 3 + 200 * 15);
        assert_eq!(sum.high_micros, 2_000 * 3 + 1_000 * 15);
        assert_eq!(sum.worst_micros, 4_000 * 3 + 4_096 * 15);
    }

    #[test]
    fn what_was_counted_is_not_cheaper_than_counted() {
        let sum = range(&[call(true)]).sum;
        assert_eq!(sum.low_micros, 1_000 * 3 + 100 * 15);
    }

    #[test]
    fn the_batch_api_takes_its_part_of_every_call_rounded_up() {
        let (full, half) = (range(&[call(false); 3]), batch_range(&[call(false); 3]));
        assert_eq!(half.sum.expected_micros * 2, full.sum.expected_micros);
        assert_eq!(half.sum.worst_micros * 2, full.sum.worst_micros);
        assert_eq!(half.jobs, [(3 * 3_000, 3 * 36_720)]);
    }

    #[test]
    fn without_a_price_there_is_no_sum() {
        let calls = [call(false)];
        let jobs = [(SONNET, &calls[..]), ("claude-sonnet-99", &calls[..])];
        let prices = Prices::default();
        let sum = price(jobs.into_iter(), &output(), None, |model, input, output| {
            prices.of_tokens(model, input, output)
        });
        assert_eq!(sum, None, "a sum with an unknown part is not known");
    }
}
