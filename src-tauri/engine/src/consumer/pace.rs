//! How many calls to Claude run at once: a slow start, then a little more with each success, and half as
//! much whenever the provider says that it is too much.

/// Calls at the start.
const FIRST: u32 = 2;
/// More than all lanes may run together.
const MOST: u32 = 500;

/// Adapts the number of calls that run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pace {
    limit: u32,
    /// Until the first "too much" every success adds one; after it, a round of successes does.
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
    pub(super) fn limit(self) -> u32 {
        self.limit
    }

    /// A call was answered while `running` of them ran, itself included. A limit that is not used up
    /// has not been tried, so it does not grow.
    pub(super) fn succeeded(&mut self, running: u32) {
        if running < self.limit {
            return;
        }
        self.successes += 1;
        if self.starting || self.successes >= self.limit {
            self.successes = 0;
            self.limit = (self.limit + 1).min(MOST);
        }
    }

    /// The provider was asked for too much, by a call that was one of `running`.
    pub(super) fn too_much(&mut self, running: u32) {
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

    #[test]
    fn it_starts_slowly_and_grows_with_each_success() {
        let mut pace = Pace::default();
        assert_eq!(pace.limit(), 2);
        for _ in 0..8 {
            pace.succeeded(pace.limit());
        }
        assert_eq!(pace.limit(), 10);
    }

    #[test]
    fn too_much_halves_it_and_then_it_grows_by_one_a_round() {
        let mut pace = Pace::default();
        for _ in 0..8 {
            pace.succeeded(pace.limit());
        }
        pace.too_much(10);
        assert_eq!(pace.limit(), 5);
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
        for _ in 0..10 {
            pace.too_much(1);
        }
        assert_eq!(pace.limit(), 1);
        for _ in 0..10 {
            pace.succeeded(0);
        }
        assert_eq!(pace.limit(), 1);
    }
}
