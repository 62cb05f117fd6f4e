//! How many calls to Claude run at once: few at first, twice as many every half second while nothing is refused,
//! half as many whenever the provider says that it is too much, and after that a little more with each round.
//!
//! A provider that refuses does so at once, before it works on anything. So a call that was sent whole and is
//! not refused soon after is taken, however long its answer may last, and two more can be tried. Growing only
//! with whole answers, as long as each of them takes, would cost minutes before a wide lane is in use.

use std::time::Duration;

/// Calls at the start: enough to see whether the provider takes them, few enough to lose nothing if it does not.
const FIRST: u32 = 2;
/// More than all lanes may run together.
const MOST: u32 = 500;
/// A call that was not refused this long after it was sent is taken: some round trips on a slow line.
pub(crate) const TAKEN_AFTER: Duration = Duration::from_millis(500);

/// Adapts the number of calls that run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    limit: u32,
    /// Until the first "too much" every call that is taken adds two; after it, a round of successes adds one.
    starting: bool,
    /// Successes since the limit changed.
    successes: u32,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            limit: FIRST,
            starting: true,
            successes: 0,
        }
    }
}

impl Pace {
    /// Returns the most calls that may run at once.
    pub(crate) fn limit(self) -> u32 {
        self.limit
    }

    /// A call was taken while `running` of them ran, itself included. Says whether more may run now.
    ///
    /// A limit that is not half used says nothing of what the provider takes, so it does not grow.
    pub(crate) fn taken(&mut self, running: u32) -> bool {
        let grows = self.starting && running.saturating_mul(2) >= self.limit && self.limit < MOST;
        if grows {
            // It goes on running: with one more for each of them only as many would be tried as before.
            self.limit = (self.limit + 2).min(MOST);
        }
        grows
    }

    /// A call was answered while `running` of them ran, itself included. A limit that is not used up
    /// has not been tried, so it does not grow.
    pub(crate) fn succeeded(&mut self, running: u32) {
        if self.starting || running < self.limit {
            return;
        }
        self.successes += 1;
        if self.successes >= self.limit {
            self.successes = 0;
            self.limit = (self.limit + 1).min(MOST);
        }
    }

    /// The provider was asked for too much, by a call that was one of `running`.
    pub(crate) fn too_much(&mut self, running: u32) {
        self.starting = false;
        self.successes = 0;
        // Calls of the same round fail together: they halve once.
        let tried = self.limit.min(running.max(1));
        self.limit = (tried / 2).max(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Begins as many calls as may run beside `running`, each of which is taken and goes on. Returns how many
    /// run then.
    fn round(pace: &mut Pace, running: u32) -> u32 {
        let now = pace.limit();
        for _ in running..now {
            assert!(pace.taken(now), "a limit that is used up grows");
        }
        now
    }

    #[test]
    fn twice_as_many_are_tried_in_each_round_that_nobody_refuses() {
        let mut pace = Pace::default();
        let (mut running, mut tried) = (0, Vec::new());
        for _ in 0..6 {
            let before = running;
            running = round(&mut pace, running);
            tried.push(running - before);
        }
        assert_eq!(tried, [2, 4, 8, 16, 32, 64]);
    }

    #[test]
    fn too_much_halves_it_and_then_it_grows_by_one_a_round() {
        let mut pace = Pace::default();
        for _ in 0..4 {
            pace.taken(pace.limit());
        }
        pace.too_much(10);
        assert_eq!(pace.limit(), 5);
        assert!(!pace.taken(5), "what is only taken does not count any more");
        for _ in 0..4 {
            pace.succeeded(5);
        }
        assert_eq!(pace.limit(), 5, "a round is not over");
        pace.succeeded(5);
        assert_eq!(pace.limit(), 6);
    }

    #[test]
    fn it_never_stops_and_never_grows_without_being_used() {
        let mut pace = Pace::default();
        let running = round(&mut pace, 0);
        round(&mut pace, running);
        let before = pace.limit();
        assert!(!pace.taken(before / 2 - 1), "less than half was in use");
        assert_eq!(pace.limit(), before);
        for _ in 0..10 {
            pace.too_much(1);
        }
        assert_eq!(pace.limit(), 1);
        for _ in 0..10 {
            pace.succeeded(0);
        }
        assert_eq!(pace.limit(), 1);
    }

    #[test]
    fn it_has_an_end() {
        let mut pace = Pace::default();
        for _ in 0..2_000 {
            pace.taken(u32::MAX);
        }
        assert_eq!(pace.limit(), MOST);
    }
}
