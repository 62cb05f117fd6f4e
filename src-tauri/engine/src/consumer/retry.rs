//! What becomes of a job after an attempt that failed.

use std::time::Duration;

use rand::{Rng, RngExt as _};

use crate::model::{Cause, CauseClass, Timestamp};
use crate::provider::Failure;
use crate::store::AfterAttempt;

/// The delay before the first retry.
const FIRST_DELAY: Duration = Duration::from_secs(60);
/// The longest delay of our own.
const LONGEST_DELAY: Duration = Duration::from_secs(600);
/// The longest that we wait because we were told to.
const LONGEST_TOLD: Duration = Duration::from_secs(24 * 60 * 60);
/// By how much a delay may be shorter or longer, so that jobs that failed together spread out.
const JITTER: f64 = 0.2;
/// `Could not process PDF` passes now and then: it is retried this often.
const MOST_PDF_RETRIES: u32 = 2;

/// Decides what becomes of a job whose delivery `number` (from 1) of `max_attempts` failed.
pub(super) fn after_failure(
    failure: &Failure,
    number: u32,
    max_attempts: u32,
    now: Timestamp,
    random: &mut impl Rng,
) -> AfterAttempt {
    match class(failure, number) {
        CauseClass::Queue => AfterAttempt::Deferred { open_circuit: true },
        CauseClass::Item | CauseClass::Review => AfterAttempt::Failed,
        CauseClass::Retry if number >= max_attempts => AfterAttempt::DeadLettered,
        CauseClass::Retry => {
            AfterAttempt::RetryAt(now.after(delay(number, failure.retry_after, random)))
        }
    }
}

/// Returns the class of a failure: the server's own word on retrying wins over ours.
fn class(failure: &Failure, number: u32) -> CauseClass {
    let class = failure.cause.class();
    if class == CauseClass::Queue {
        return class;
    }
    match failure.should_retry {
        Some(true) => CauseClass::Retry,
        Some(false) => CauseClass::Item,
        None if failure.cause == Cause::PdfNotProcessed && number > MOST_PDF_RETRIES => {
            CauseClass::Item
        }
        None => class,
    }
}

/// Returns how long to wait after delivery `number`: `min(60·2^n, 600)` s with n retries so far,
/// give or take a fifth; a longer time that we were told wins.
fn delay(number: u32, told: Option<Duration>, random: &mut impl Rng) -> Duration {
    let doubled = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(number.saturating_sub(1)));
    let own = doubled
        .min(LONGEST_DELAY)
        .mul_f64(1.0 + random.random_range(-JITTER..=JITTER));
    own.max(told.unwrap_or_default().min(LONGEST_TOLD))
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand::rngs::StdRng;

    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn failure(cause: Cause) -> Failure {
        Failure::unsent(cause, "A sentence.")
    }

    fn decide(failure: &Failure, number: u32) -> AfterAttempt {
        after_failure(failure, number, 4, NOW, &mut StdRng::seed_from_u64(7))
    }

    fn seconds(decision: AfterAttempt) -> f64 {
        match decision {
            AfterAttempt::RetryAt(moment) => moment.since(NOW).as_secs_f64(),
            other => panic!("a retry was expected, not {other:?}"),
        }
    }

    /// Seed defect 1: the first delay was twice as long, and nothing spread the retries.
    #[test]
    fn delays_double_up_to_ten_minutes_with_a_fifth_of_jitter() {
        for (number, expected) in [(1, 60.0), (2, 120.0), (3, 240.0)] {
            let waited = seconds(decide(&failure(Cause::Overloaded), number));
            assert!(
                (expected * 0.8..=expected * 1.2).contains(&waited),
                "retry {number} must wait about {expected} s, not {waited} s"
            );
        }
        let mut random = StdRng::seed_from_u64(1);
        assert!(delay(40, None, &mut random) <= LONGEST_DELAY.mul_f64(1.2));
    }

    /// Seed defect 2: what the server told was ignored.
    #[test]
    fn a_longer_retry_after_wins_and_a_shorter_one_does_not() {
        let mut told = failure(Cause::RateLimited);
        told.retry_after = Some(Duration::from_secs(300));
        assert!((seconds(decide(&told, 1)) - 300.0).abs() < 1e-9);
        told.retry_after = Some(Duration::from_secs(2));
        assert!(
            seconds(decide(&told, 1)) >= 48.0,
            "our own delay stands when it is longer"
        );
        told.retry_after = Some(Duration::from_secs(u64::MAX / 4));
        assert!(
            seconds(decide(&told, 1)) <= 86_400.0,
            "an absurd wait is bounded by a day"
        );
    }

    #[test]
    fn the_last_delivery_dead_letters() {
        assert_eq!(
            decide(&failure(Cause::Overloaded), 4),
            AfterAttempt::DeadLettered
        );
    }

    #[test]
    fn what_would_hit_every_job_uses_up_no_attempt() {
        for number in [1, 4] {
            assert_eq!(
                decide(&failure(Cause::KeyRefused), number),
                AfterAttempt::Deferred { open_circuit: true }
            );
        }
    }

    #[test]
    fn a_permanent_error_fails_at_once() {
        assert_eq!(
            decide(&failure(Cause::PdfEncrypted), 1),
            AfterAttempt::Failed
        );
    }

    #[test]
    fn the_servers_word_on_retrying_is_obeyed_first() {
        let mut said = failure(Cause::Overloaded);
        said.should_retry = Some(false);
        assert_eq!(decide(&said, 1), AfterAttempt::Failed);
        let mut said = failure(Cause::InvalidRequest);
        said.should_retry = Some(true);
        assert!(matches!(decide(&said, 1), AfterAttempt::RetryAt(_)));
    }

    #[test]
    fn a_pdf_that_was_not_processed_is_retried_twice_at_most() {
        let unprocessed = failure(Cause::PdfNotProcessed);
        assert!(matches!(decide(&unprocessed, 1), AfterAttempt::RetryAt(_)));
        assert!(matches!(decide(&unprocessed, 2), AfterAttempt::RetryAt(_)));
        assert_eq!(decide(&unprocessed, 3), AfterAttempt::Failed);
    }
}
