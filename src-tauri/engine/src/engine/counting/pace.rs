//! How many calls a minute only count tokens. The provider has a limit of its own for them, which other programs
//! of the same person share.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::clock::Clock;
use crate::model::{Timestamp, ToldLimits};

/// The window that the limit is over.
const WINDOW: Duration = Duration::from_secs(60);
/// Wait after a refusal that does not say how long.
const PUT_OFF: Duration = Duration::from_secs(5);
/// However long a refusal says to wait, it is tried again after this time.
const LONGEST_HOLD: Duration = Duration::from_secs(120);

/// Lets calls begin at most so often.
#[derive(Default)]
pub(in crate::engine) struct CountPace(Mutex<State>);

#[derive(Default)]
struct State {
    /// When the calls of the last minute began, oldest first.
    begun: VecDeque<Timestamp>,
    /// No call begins before.
    hold_until: Option<Timestamp>,
    /// The provider's limit.
    told: Option<u64>,
}

impl CountPace {
    /// Returns when a call may begin, and counts it as begun.
    pub(super) async fn turn(&self, clock: &dyn Clock, a_minute: u32) {
        // Ends: each round waits until a moment when something has changed.
        while let Some(until) = self.try_turn(clock.now(), a_minute) {
            clock.sleep_until(until).await;
        }
    }

    /// Counts a call as begun, or returns when there may be room for it.
    fn try_turn(&self, now: Timestamp, a_minute: u32) -> Option<Timestamp> {
        let mut state = self.state();
        if let Some(until) = state.hold_until.filter(|until| *until > now) {
            return Some(until);
        }
        // A clock that went back must not hold calls for longer than the window.
        state
            .begun
            .retain(|begun| *begun <= now && now.since(*begun) < WINDOW);
        let limit = u64::from(a_minute)
            .min(state.told.unwrap_or(u64::MAX))
            .max(1);
        if (state.begun.len() as u64) < limit {
            state.begun.push_back(now);
            return None;
        }
        state.begun.front().map(|begun| begun.after(WINDOW))
    }

    /// Heeds the limit that an answer told.
    pub(super) fn told(&self, limits: Option<ToldLimits>) {
        if let Some(requests) = limits.and_then(|limits| limits.requests) {
            self.state().told = Some(requests);
        }
    }

    /// Has no call begin for as long as a refusal said.
    pub(super) fn hold(&self, now: Timestamp, told: Option<Duration>) {
        let until = now.after(told.unwrap_or(PUT_OFF).min(LONGEST_HOLD));
        let mut state = self.state();
        state.hold_until = state.hold_until.max(Some(until));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    #[test]
    fn no_minute_has_more_calls_than_the_limit() {
        let pace = CountPace::default();
        assert_eq!(pace.try_turn(NOW, 2), None);
        assert_eq!(pace.try_turn(NOW.after(Duration::from_secs(10)), 2), None);
        let later = NOW.after(Duration::from_secs(20));
        assert_eq!(
            pace.try_turn(later, 2),
            Some(NOW.after(WINDOW)),
            "the third waits until the first has left the minute"
        );
        assert_eq!(pace.try_turn(NOW.after(WINDOW), 2), None);
    }

    #[test]
    fn a_told_limit_tightens_and_a_refusal_holds() {
        let pace = CountPace::default();
        pace.told(Some(ToldLimits {
            requests: Some(1),
            ..ToldLimits::default()
        }));
        assert_eq!(pace.try_turn(NOW, 500), None);
        assert!(pace.try_turn(NOW, 500).is_some(), "one a minute was told");
        pace.hold(NOW, Some(Duration::from_secs(90)));
        assert_eq!(
            pace.try_turn(NOW.after(WINDOW), 500),
            Some(NOW.after(Duration::from_secs(90)))
        );
    }

    #[test]
    fn a_clock_that_goes_back_holds_nobody() {
        let pace = CountPace::default();
        assert_eq!(pace.try_turn(NOW, 1), None);
        assert_eq!(pace.try_turn(Timestamp(0), 1), None);
    }
}
