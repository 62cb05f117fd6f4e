//! A bucket that refills continuously.

use std::time::Duration;

use jiff::Timestamp;

use super::super::clock::{later, since};

const MINUTE: u64 = 60;

#[derive(Debug)]
pub(super) struct Bucket {
    /// What it refills in a minute.
    pub(super) limit: u64,
    /// What it holds at most.
    capacity: f64,
    /// What is in it; less than nothing after more was generated than was left.
    level: f64,
    seen: Timestamp,
}

impl Bucket {
    /// A full bucket that holds what `burst_seconds` refill.
    pub(super) fn new(limit: u64, burst_seconds: u64, now: Timestamp) -> Self {
        let capacity = limit as f64 * burst_seconds as f64 / MINUTE as f64;
        Self {
            limit,
            capacity: capacity.max(1.0),
            level: capacity.max(1.0),
            seen: now,
        }
    }

    fn refill(&mut self, now: Timestamp) {
        let passed = since(now, self.seen).as_secs_f64();
        self.seen = self.seen.max(now);
        self.level = (self.level + passed * self.rate()).min(self.capacity);
    }

    /// What a second refills.
    fn rate(&self) -> f64 {
        self.limit as f64 / MINUTE as f64
    }

    /// Says how long to wait until `amount` is there; `None` when it is. What never fits waits for a full
    /// bucket, and does so in vain.
    pub(super) fn wait_for(&mut self, amount: u64, now: Timestamp) -> Option<Duration> {
        self.refill(now);
        let amount = amount as f64;
        // A hair's breadth, as a second's refill is no whole number.
        if self.level + 1e-6 >= amount {
            return None;
        }
        let missing = amount.min(self.capacity) - self.level;
        Some(self.time_for(missing).max(Duration::from_secs(1)))
    }

    pub(super) fn take(&mut self, amount: u64, now: Timestamp) {
        self.refill(now);
        self.level -= amount as f64;
    }

    /// What is left, and when it is full again.
    pub(super) fn look(&mut self, now: Timestamp) -> (u64, Timestamp) {
        self.refill(now);
        let full = later(now, self.time_for(self.capacity - self.level));
        // Never less than nothing.
        (self.level.max(0.0) as u64, full)
    }

    fn time_for(&self, amount: f64) -> Duration {
        if self.rate() <= 0.0 {
            return Duration::from_secs(MINUTE);
        }
        Duration::try_from_secs_f64(amount / self.rate()).unwrap_or_default()
    }
}
