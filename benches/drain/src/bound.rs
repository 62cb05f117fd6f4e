//! The least time that a setting allows, and whether its limits were kept.
//!
//! - **Budget.** In any 60 s no more than the limit `L` may begin. So before `60·m` seconds at most `m·L` of all
//!   tokens `T` have begun, and with `m = ⌈T/L⌉ − 1` something begins only then. It takes at least as long as
//!   the shortest answer. (The budget of the first minute may go at once, and so may each next one.)
//! - **Concurrency.** With `k` at once, all answers take at least the `k`th part of their sum, and as long as the
//!   longest of them.
//!
//! Tokens and answers are what they came to be, known before by nobody who worked the queue; reading files,
//! sending them and storing results take no time at all. No order is asked for, though the queue keeps one.

use crate::setting::{Planned, Setting};
use crate::work::Done;

/// A minute in seconds.
const MINUTE: f64 = 60.0;

/// The least time in seconds, by what asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) budget: f64,
    pub(crate) concurrency: f64,
}

impl Bound {
    pub(crate) fn seconds(self) -> f64 {
        self.budget.max(self.concurrency)
    }
}

/// Returns the least time in which these files can be answered.
pub(crate) fn bound(setting: Setting, files: &[Planned], jobs: &[Done]) -> Bound {
    let answers = || files.iter().map(Planned::seconds);
    let longest = answers().fold(0.0, f64::max);
    let shortest = answers().fold(f64::MAX, f64::min);
    let at_once = f64::from(setting.at_once);
    let budget = match setting.tokens_per_minute {
        None => 0.0,
        Some(limit) => {
            let minutes = (tokens(jobs) as f64 / f64::from(limit)).ceil() - 1.0;
            MINUTE * minutes.max(0.0) + shortest
        }
    };
    Bound {
        budget,
        concurrency: longest.max(answers().sum::<f64>() / at_once),
    }
}

/// Returns the tokens of all jobs.
pub(crate) fn tokens(jobs: &[Done]) -> u64 {
    jobs.iter()
        .map(|job| job.input_tokens + job.output_tokens)
        .sum()
}

/// Returns the most tokens that any 60 s held, where a call counts in the moment of its beginning.
pub(crate) fn fullest_minute(jobs: &[Done]) -> u64 {
    let held = |end: &Done| {
        let within = jobs
            .iter()
            .filter(|job| job.began <= end.began && job.began > end.began - 60_000);
        within
            .map(|job| job.input_tokens + job.output_tokens)
            .sum()
    };
    jobs.iter().map(held).max().unwrap_or(0)
}
