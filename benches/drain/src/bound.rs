//! The least time that a setting allows, and whether its limits were kept.
//!
//! **In any order:**
//!
//! - *Budget.* In any 60 s no more than the limit `L` may begin. So before `60·m` seconds at most `m·L` of all
//!   tokens `T` have begun, and with `m = ⌈T/L⌉ − 1` something begins only then. It takes at least as long as
//!   the shortest answer. (The budget of the first minute may go at once, and so may each next one.)
//! - *Concurrency.* With `k` at once, all answers take at least the `k`th part of their sum, and as long as the
//!   longest of them.
//!
//! **In line**, as the queue promises: each job begins not before the one before it, as soon as one of the `k`
//! places is free and the last 60 s have room for it. No schedule that keeps the line is over sooner. How long an
//! answer takes is known only when it is there, so nobody could put the long ones first; with few rounds of long
//! answers that alone is more than a twentieth.
//!
//! Tokens and answers are what they came to be, known before by nobody who worked the queue; reading files,
//! sending them and storing results take no time at all.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::setting::{Planned, Setting};
use crate::work::Done;

/// A minute in seconds, and in the milliseconds of records.
const MINUTE: f64 = 60.0;
const MINUTE_MS: i64 = 60_000;

/// The least time in seconds, by what asks for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    budget: f64,
    concurrency: f64,
    pub(crate) in_line: f64,
}

impl Bound {
    /// Returns the least time where the jobs may be taken in any order.
    pub(crate) fn in_any_order(self) -> f64 {
        self.budget.max(self.concurrency)
    }
}

/// Returns the least time in which these files can be answered; `jobs` are what became of them, in their order.
pub(crate) fn bound(setting: Setting, files: &[Planned], jobs: &[Done]) -> Bound {
    let answers = || files.iter().map(Planned::seconds);
    let longest = answers().fold(0.0, f64::max);
    let shortest = answers().fold(f64::MAX, f64::min);
    let at_once = f64::from(setting.at_once);
    let budget = setting.tokens_per_minute.map_or(0.0, |limit| {
        let minutes = (tokens(jobs) as f64 / f64::from(limit)).ceil() - 1.0;
        MINUTE * minutes.max(0.0) + shortest
    });
    Bound {
        budget,
        concurrency: longest.max(answers().sum::<f64>() / at_once),
        in_line: in_line(setting, files, jobs),
    }
}

/// Returns when the last answer is there, where each job begins as soon as it may.
fn in_line(setting: Setting, files: &[Planned], jobs: &[Done]) -> f64 {
    let limit = setting.tokens_per_minute.map_or(u64::MAX, u64::from);
    // In microseconds, which are in order.
    let micros = |seconds: f64| (seconds * 1e6) as u64;
    let minute = micros(MINUTE);
    let mut running = BinaryHeap::new();
    let mut window = VecDeque::new();
    let (mut used, mut now, mut end) = (0, 0, 0);
    for (file, job) in files.iter().zip(jobs) {
        if running.len() == setting.at_once as usize
            && let Some(Reverse(free)) = running.pop()
        {
            now = now.max(free);
        }
        let takes = job.tokens();
        while let Some((began, tokens)) = window.front().copied() {
            if began + minute > now {
                if used + takes <= limit {
                    break;
                }
                now = began + minute;
            }
            used -= tokens;
            window.pop_front();
        }
        window.push_back((now, takes));
        used += takes;
        let ends = now + micros(file.seconds());
        running.push(Reverse(ends));
        end = end.max(ends);
    }
    end as f64 / 1e6
}

/// Returns the tokens of all jobs.
pub(crate) fn tokens(jobs: &[Done]) -> u64 {
    jobs.iter().map(Done::tokens).sum()
}

/// Returns the most tokens that any 60 s held, where a call counts in the moment of its beginning.
pub(crate) fn fullest_minute(jobs: &[Done]) -> u64 {
    let held = |end: &Done| {
        let within = |job: &&Done| job.began <= end.began && job.began > end.began - MINUTE_MS;
        jobs.iter().filter(within).map(Done::tokens).sum()
    };
    jobs.iter().map(held).max().unwrap_or(0)
}
