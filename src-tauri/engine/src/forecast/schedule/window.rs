//! The rolling window of 60 s, by tenth of a second, as the store keeps it.

use std::collections::VecDeque;

use crate::model::LimitedBy;

/// Length of the window in tenths of a second.
const WINDOW: i64 = 600;
/// A tenth of a second in milliseconds.
const TENTH: i64 = 100;

/// Requests and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Used {
    pub(crate) requests: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
}

impl Used {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_add(other.requests),
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            requests: self.requests.saturating_sub(other.requests),
            input: self.input.saturating_sub(other.input),
            output: self.output.saturating_sub(other.output),
        }
    }
}

/// The most that a minute has room for; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) requests: Option<u64>,
    pub(crate) input: Option<u64>,
    pub(crate) output: Option<u64>,
    pub(crate) tokens: Option<u64>,
}

impl Limits {
    pub(super) fn exceeded_by(&self, used: Used) -> Option<LimitedBy> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used > limit);
        if over(self.requests, used.requests) {
            Some(LimitedBy::Requests)
        } else if over(self.input, used.input)
            || over(self.output, used.output)
            || over(self.tokens, used.input.saturating_add(used.output))
        {
            Some(LimitedBy::Tokens)
        } else {
            None
        }
    }
}

/// What each tenth of the window used.
pub(super) struct Window {
    /// Oldest first.
    tenths: VecDeque<(i64, Used)>,
    sum: Used,
}

fn tenth_of(moment: i64) -> i64 {
    moment.div_euclid(TENTH)
}

impl Window {
    pub(super) fn new(used: &[(i64, Used)]) -> Self {
        Self {
            tenths: used.iter().copied().collect(),
            sum: used
                .iter()
                .fold(Used::default(), |sum, (_, used)| sum.plus(*used)),
        }
    }

    pub(super) fn sum(&self) -> Used {
        self.sum
    }

    pub(super) fn is_empty(&self) -> bool {
        self.sum == Used::default()
    }

    /// Forgets what left the window.
    pub(super) fn forget(&mut self, now: i64) {
        while let Some((tenth, used)) = self.tenths.front().copied()
            && tenth < tenth_of(now) - WINDOW
        {
            self.tenths.pop_front();
            self.sum = self.sum.less(used);
        }
    }

    /// Returns when the oldest tenth leaves the window.
    pub(super) fn next_free(&self) -> Option<i64> {
        let (tenth, _) = self.tenths.front()?;
        Some((tenth + WINDOW + 1) * TENTH)
    }

    pub(super) fn promise(&mut self, now: i64, promised: Used) {
        let tenth = tenth_of(now);
        match self.tenths.back_mut() {
            Some((last, used)) if *last == tenth => *used = used.plus(promised),
            _ => self.tenths.push_back((tenth, promised)),
        }
        self.sum = self.sum.plus(promised);
    }

    /// Gives back to the moment of the promise what was not used; what was used beyond it counts from now.
    pub(super) fn settle(&mut self, began: i64, now: i64, promised: Used, used: Used) {
        let unused = promised.less(used);
        let tenth = tenth_of(began);
        if let Ok(index) = self.tenths.binary_search_by_key(&tenth, |(at, _)| *at) {
            let (_, there) = &mut self.tenths[index];
            *there = there.less(unused);
            self.sum = self.sum.less(unused);
        }
        let beyond = used.less(promised);
        if beyond != Used::default() {
            self.promise(now, beyond);
        }
    }
}
