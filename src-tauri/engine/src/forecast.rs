//! What jobs will come to: pure arithmetic over what is known of them, of prices and of limits.
//!
//! Money is a sum over calls. Time is played: the calls go through windows of 60 s, lanes and a slow start as
//! the consumer would send them, each as long as calls took before.

mod caps;
mod price;
mod schedule;

pub(crate) use caps::{Cap, fits};
pub(crate) use price::{Range, price};
pub(crate) use schedule::{Call, LanePlay, Limits, Play, Played, Used, finish};

use crate::model::{OutputForecast, Timestamp};
use crate::pricing::OutputHistory;
use crate::profiles;

/// Output tokens of a short summary, where nobody knows better.
const SHORT_SUMMARY: u64 = 300;
/// Output tokens of an ordinary one.
const SUMMARY: u64 = 900;
/// Milliseconds until an answer begins, an output token in microseconds, and a thousand input tokens in
/// milliseconds: assumptions that hold until calls were measured.
const FIRST_MS: u64 = 2_000;
const OUTPUT_TOKEN_US: u64 = 15_000;
const THOUSAND_INPUT_MS: u64 = 100;

/// Returns `wanted` places out of `count`, spread evenly from the first to the last; all of them where there are
/// no more.
pub(crate) fn spread(count: usize, wanted: usize) -> Vec<usize> {
    if wanted >= count {
        return (0..count).collect();
    }
    // The middle of each of so many equal stretches.
    (0..wanted)
        .map(|index| (2 * index + 1) * count / (2 * wanted))
        .collect()
}

/// Returns the output of one call to a model, thinking included, as earlier answers were, else as a guess up to the limit.
pub(crate) fn output(
    model: &str,
    history: Option<&OutputHistory>,
    max_tokens: u32,
) -> OutputForecast {
    let worst = u64::from(profiles::most_output(model, max_tokens));
    let thinking = profiles::ordinary_thinking(model);
    match history.filter(|history| history.is_telling()) {
        Some(history) => OutputForecast {
            low: history.low.min(worst),
            expected: history.middle.min(worst),
            high: history.high.min(worst),
            worst,
            answers: history.answers,
        },
        None => OutputForecast {
            low: SHORT_SUMMARY.min(worst),
            expected: (SUMMARY.min(u64::from(max_tokens)) + thinking).min(worst),
            high: worst,
            worst,
            answers: 0,
        },
    }
}

/// Returns how long a call runs that nobody measured the like of, in milliseconds.
pub(crate) fn guessed_ms(input: u64, output: u64) -> u64 {
    FIRST_MS
        .saturating_add(output.saturating_mul(OUTPUT_TOKEN_US) / 1_000)
        .saturating_add(input.saturating_mul(THOUSAND_INPUT_MS) / 1_000)
}

/// Returns when the batch API usually has ended a batch that is handed over now, and when at the latest
/// (Anthropic, "Batch processing": most within an hour, all within 24).
pub(crate) fn batch_api(now: Timestamp) -> (Timestamp, Timestamp) {
    const HOUR: std::time::Duration = std::time::Duration::from_secs(3_600);
    (now.after(HOUR), now.after(HOUR * 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that does not think unless told.
    const SONNET: &str = "claude-sonnet-4-6";

    #[test]
    fn places_are_spread_over_all_sizes() {
        assert_eq!(spread(10, 3), [1, 5, 8]);
        assert_eq!(spread(3, 3), [0, 1, 2]);
        assert_eq!(spread(2, 5), [0, 1]);
        assert_eq!(spread(0, 3), Vec::<usize>::new());
        for count in 1..60 {
            for wanted in 1..=count {
                let mut places = spread(count, wanted);
                assert!(places.iter().all(|place| *place < count), "{places:?}");
                places.dedup();
                assert_eq!(places.len(), wanted, "{count} {wanted}");
            }
        }
    }

    #[test]
    fn a_few_answers_are_no_history() {
        let history = |tokens: &[u64]| OutputHistory::of(tokens.to_vec());
        let guess = output(SONNET, history(&[500; 4]).as_ref(), 4_096);
        assert_eq!(
            (guess.answers, guess.expected, guess.high),
            (0, 900, 4_096),
            "four answers say too little"
        );
        let told = output(SONNET, history(&[100, 200, 300, 400, 500]).as_ref(), 4_096);
        assert_eq!(
            (told.answers, told.low, told.expected, told.high, told.worst),
            (5, 100, 300, 500, 4_096)
        );
        let cut = output(SONNET, history(&[9_000; 5]).as_ref(), 4_096);
        assert_eq!(cut.high, 4_096, "no answer is longer than its limit");
    }
}
