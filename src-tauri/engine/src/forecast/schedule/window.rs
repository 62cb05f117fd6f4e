//! The rolling window of 60 s, by second, as the store keeps it.

use std::collections::VecDeque;

use crate::model::LimitedBy;

/// Length of the window in seconds.
const WINDOW: i64 = 60;

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

/// What each second of the window used.
pub(super) struct Window {
    /// Oldest first.
    seconds: VecDeque<(i64, Used)>,
    sum: Used,
}

fn second_of(moment: i64) -> i64 {
    moment.div_euclid(1_000)
}

impl Window {
    pub(super) fn new(used: &[(i64, Used)]) -> Self {
        Self {
            seconds: used.iter().copied().collect(),
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
        while let Some((second, used)) = self.seconds.front().copied()
            && second < second_of(now) - WINDOW
        {
            self.seconds.pop_front();
            self.sum = self.sum.less(used);
        }
    }

    /// Returns when the oldest second leaves the window.
    pub(super) fn next_free(&self) -> Option<i64> {
        let (second, _) = self.seconds.front()?;
        Some((second + WINDOW + 1) * 1_000)
    }

    pub(super) fn promise(&mut self, now: i64, promised: Used) {
        let second = second_of(now);
        match self.seconds.back_mut() {
            Some((last, used)) if *last == second => *used = used.plus(promised),
            _ => self.seconds.push_back((second, promised)),
        }
        self.sum = self.sum.plus(promised);
    }

    /// Gives back to the second of the promise what was not used; what was used beyond it counts from now.
    pub(super) fn settle(&mut self, began: i64, now: i64, promised: Used, used: Used) {
        let unused = promised.less(used);
        let second = second_of(began);
        if let Ok(index) = self.seconds.binary_search_by_key(&second, |(at, _)| *at) {
            let (_, there) = &mut self.seconds[index];
            *there = there.less(unused);
            self.sum = self.sum.less(unused);
        }
        let beyond = used.less(promised);
        if beyond != Used::default() {
            self.promise(now, beyond);
        }
    }
}
