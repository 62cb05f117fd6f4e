//! A lane while it is played.

use std::collections::VecDeque;

use super::{Call, LanePlay};
use crate::model::Timestamp;

/// Whose call it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// A job that was there before.
    Before,
    /// One of those whose end is wanted, with the place of its call.
    Own { job: usize, call: usize },
}

pub(super) struct Lane<'play> {
    play: LanePlay<'play>,
    pub(super) running: u32,
    /// Jobs of before that have not begun.
    waiting: u64,
    /// The next of the own jobs, of those that have not begun.
    next: usize,
    /// Own jobs that have not ended.
    left: usize,
    /// Own jobs between two calls: they keep their place before those that have not begun.
    resumed: VecDeque<Who>,
    /// Calls that are larger than a minute.
    large: VecDeque<Who>,
}

impl<'play> Lane<'play> {
    pub(super) fn new(play: &LanePlay<'play>) -> Self {
        Self {
            play: *play,
            running: play.running,
            waiting: play.waiting,
            next: 0,
            left: play.jobs.len(),
            resumed: VecDeque::new(),
            large: VecDeque::new(),
        }
    }

    /// Says whether all own jobs have ended.
    pub(super) fn has_ended(&self) -> bool {
        self.left == 0
    }

    /// Says whether a job has yet to begin.
    pub(super) fn is_waiting(&self) -> bool {
        self.waiting > 0
            || self.next < self.play.jobs.len()
            || !self.resumed.is_empty()
            || !self.large.is_empty()
    }

    pub(super) fn is_full(&self) -> bool {
        self.running >= self.play.concurrency
    }

    pub(super) fn before_ms(&self) -> u64 {
        self.play.before.ms
    }

    pub(super) fn ready_at(&self) -> i64 {
        self.play.ready_at.0
    }

    /// Returns when the lane begins jobs, from now on.
    pub(super) fn opens_at(&self, now: i64) -> i64 {
        match self.play.opens {
            Some(opens) => opens(Timestamp(now)).0,
            None => now,
        }
    }

    /// Returns whose turn it is.
    pub(super) fn next(&self, now: i64) -> Option<Who> {
        if let Some(resumed) = self.resumed.front() {
            Some(*resumed)
        } else if self.waiting > 0 {
            Some(Who::Before)
        } else if self.next < self.play.jobs.len() && self.play.ready_at.0 <= now {
            Some(Who::Own {
                job: self.next,
                call: 0,
            })
        } else {
            None
        }
    }

    pub(super) fn next_large(&self) -> Option<Who> {
        self.large.front().copied()
    }

    pub(super) fn take_large(&mut self) {
        self.large.pop_front();
    }

    /// Takes the one whose turn it is out of the line.
    pub(super) fn take(&mut self, who: Who) {
        if self.resumed.front() == Some(&who) {
            self.resumed.pop_front();
        } else if who == Who::Before {
            self.waiting -= 1;
        } else {
            self.next += 1;
        }
    }

    pub(super) fn set_aside(&mut self, who: Who) {
        self.large.push_back(who);
    }

    pub(super) fn call(&self, who: Who) -> Call {
        match who {
            Who::Before => self.play.before,
            Who::Own { job, call } => self.play.jobs[job].get(call).copied().unwrap_or_default(),
        }
    }

    /// A call has ended; its job goes on with the next one, if it has one.
    pub(super) fn ended(&mut self, who: Who) {
        self.running = self.running.saturating_sub(1);
        if let Who::Own { job, call } = who {
            if call + 1 < self.play.jobs[job].len() {
                self.resumed.push_back(Who::Own {
                    job,
                    call: call + 1,
                });
            } else {
                self.left -= 1;
            }
        }
    }
}
