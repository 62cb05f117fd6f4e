//! How long calls take, played through: lanes, places, the windows of 60 s, and a slow start.
//!
//! It follows the rules of the claim (`store/turns.rs`, `store/gate.rs`), but for two that hardly matter over many
//! jobs: bulk's floor while high waits, and attempts that fail. Every call takes as long as calls took on average.

mod lane;
mod window;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::model::{LimitedBy, Timestamp};
use crate::pace::{Pace, TAKEN_AFTER};
use lane::{Lane, Who};
use window::Window;
pub(crate) use window::{Limits, Used};

/// Calls that are played at most; what takes more is further away than can be told.
const MOST_CALLS: u64 = 200_000;
/// Moments that are looked at, for each call.
const MOMENTS_PER_CALL: u64 = 64;

/// A call: what it is promised of the minute, what it uses of it, and how long it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) promised_input: u64,
    pub(crate) promised_output: u64,
    pub(crate) input: u64,
    pub(crate) output: u64,
    pub(crate) ms: u64,
}

impl Call {
    fn promised(&self) -> Used {
        Used {
            requests: 1,
            input: self.promised_input,
            output: self.promised_output,
        }
    }

    fn used(&self) -> Used {
        Used {
            requests: 1,
            input: self.input,
            output: self.output,
        }
    }
}

/// The calls of a job, one after another.
pub(crate) type JobCalls = Vec<Call>;

/// The earliest moment, from a given one on, at which a lane begins jobs.
pub(crate) type Opens<'play> = &'play (dyn Fn(Timestamp) -> Timestamp + Sync);

/// A lane as it stands, and what is added to it.
#[derive(Clone, Copy)]
pub(crate) struct LanePlay<'play> {
    /// Most jobs that run at once.
    pub(crate) concurrency: u32,
    /// Calls that run already, each as long as `before`.
    pub(crate) running: u32,
    /// Jobs that wait already, and what the call of one is like.
    pub(crate) waiting: u64,
    pub(crate) before: Call,
    /// The jobs whose end is wanted; of one lane only.
    pub(crate) jobs: &'play [JobCalls],
    /// When they may begin at the earliest.
    pub(crate) ready_at: Timestamp,
    /// When the lane begins jobs; `None` for always.
    pub(crate) opens: Option<Opens<'play>>,
}

/// What is played.
pub(crate) struct Play<'play> {
    pub(crate) now: Timestamp,
    /// What a minute has room for.
    pub(crate) limits: Limits,
    /// What was used or promised in the tenths of a second before, oldest first.
    pub(crate) used: Vec<(i64, Used)>,
    /// How many calls run at once to begin with, and how that grows.
    pub(crate) pace: Pace,
    /// High first.
    pub(crate) lanes: [LanePlay<'play>; 2],
}

/// When the jobs have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Played {
    pub(crate) at: Timestamp,
    pub(crate) limited_by: LimitedBy,
}

/// A call that runs.
struct Running {
    lane: usize,
    who: Who,
    began: i64,
    promised: Used,
    used: Used,
}

struct Table<'play> {
    now: i64,
    limits: Limits,
    window: Window,
    pace: Pace,
    lanes: Vec<Lane<'play>>,
    ends: BinaryHeap<Reverse<(i64, usize)>>,
    /// When the calls that began are taken, first ones first.
    taken: VecDeque<i64>,
    started: Vec<Running>,
    running: u32,
}

/// Plays until the jobs have ended. `None` where they never do, or nobody can tell.
pub(crate) fn finish(play: &Play<'_>) -> Option<Played> {
    let own: u64 = play
        .lanes
        .iter()
        .flat_map(|lane| lane.jobs)
        .map(|calls| calls.len() as u64)
        .sum();
    let waiting: u64 = play.lanes.iter().map(|lane| lane.waiting).sum();
    let calls = own.saturating_add(waiting);
    if calls > MOST_CALLS {
        return None;
    }
    let mut table = Table {
        now: play.now.0,
        limits: play.limits,
        window: Window::new(&play.used),
        pace: play.pace,
        lanes: play.lanes.iter().map(Lane::new).collect(),
        ends: BinaryHeap::new(),
        taken: VecDeque::new(),
        started: Vec::new(),
        running: 0,
    };
    table.go_on_with_running();
    let mut spent = [0_i64; 6];
    // Each round ends calls, or comes to the next moment at which something is different.
    for _ in 0..=(calls + 1).saturating_mul(MOMENTS_PER_CALL) {
        table.take_calls();
        table.end_call();
        if table.lanes.iter().all(Lane::has_ended) {
            let limited_by = most(&spent);
            return Some(Played {
                at: Timestamp(table.now),
                limited_by,
            });
        }
        table.window.forget(table.now);
        let holds = table.start_calls();
        let own = table.lanes.iter().position(|lane| !lane.has_ended());
        let next = table.next(&holds)?;
        let why = own.and_then(|own| holds[own]).unwrap_or(LimitedBy::Answers);
        spent[place(why)] += next - table.now;
        table.now = next;
    }
    None
}

const REASONS: [LimitedBy; 6] = [
    LimitedBy::Answers,
    LimitedBy::Concurrency,
    LimitedBy::Tokens,
    LimitedBy::Requests,
    LimitedBy::Hours,
    LimitedBy::Provider,
];

/// Returns how long after its beginning a call is taken, in milliseconds.
fn taken_after() -> i64 {
    i64::try_from(TAKEN_AFTER.as_millis()).unwrap_or(i64::MAX)
}

fn place(reason: LimitedBy) -> usize {
    REASONS
        .iter()
        .position(|known| *known == reason)
        .unwrap_or(0)
}

/// Returns what took most of the time.
fn most(spent: &[i64; 6]) -> LimitedBy {
    let longest = spent.iter().max().copied().unwrap_or(0);
    REASONS
        .into_iter()
        .zip(spent)
        .find(|(_, spent)| **spent == longest)
        .map_or(LimitedBy::Answers, |(reason, _)| reason)
}

impl Table<'_> {
    /// Lets the calls that run already go on. They are on their way for half their time, on average; what they
    /// were promised is in the windows.
    fn go_on_with_running(&mut self) {
        for at in 0..self.lanes.len() {
            let lane = &self.lanes[at];
            let (running, ms) = (lane.running, lane.before_ms());
            for number in 1..=running {
                let left = ms.saturating_mul(u64::from(number)) / u64::from(running + 1);
                self.begin(at, Who::Before, left, Used::default(), Used::default());
            }
        }
    }

    fn begin(&mut self, lane: usize, who: Who, ms: u64, promised: Used, used: Used) {
        let end = self
            .now
            .saturating_add(i64::try_from(ms.max(1)).unwrap_or(i64::MAX));
        self.ends.push(Reverse((end, self.started.len())));
        self.started.push(Running {
            lane,
            who,
            began: self.now,
            promised,
            used,
        });
        self.running += 1;
    }

    /// Heeds the calls that nobody refused for a moment: more may be tried.
    fn take_calls(&mut self) {
        while self.taken.front().is_some_and(|taken| *taken <= self.now) {
            self.taken.pop_front();
            self.pace.taken(self.running);
        }
    }

    /// Ends a call whose time has come. One in a round, since others begin in its place before the next ends.
    fn end_call(&mut self) {
        if let Some(Reverse((end, index))) = self.ends.peek().copied()
            && end <= self.now
        {
            self.ends.pop();
            let Running {
                lane,
                who,
                began,
                promised,
                used,
            } = self.started[index];
            // Those that ran before are promised nothing here.
            let began_here = promised != Used::default();
            if began_here && end - began < taken_after() {
                // Its answer was sooner there than it could be said to be taken.
                self.pace.taken(self.running);
            }
            self.pace.succeeded(self.running);
            self.running -= 1;
            self.window.settle(began, self.now, promised, used);
            self.lanes[lane].ended(who);
        }
    }

    /// Starts what may start. Returns what holds the next job of each lane, if anything does.
    fn start_calls(&mut self) -> Vec<Option<LimitedBy>> {
        let mut holds = Vec::with_capacity(self.lanes.len());
        let mut short = None;
        for at in 0..self.lanes.len() {
            if short.is_some() {
                // What becomes free is for the lane before it.
                holds.push(self.lanes[at].is_waiting().then_some(short).flatten());
                continue;
            }
            let hold = self.start_of(at);
            if matches!(hold, Some(LimitedBy::Tokens | LimitedBy::Requests)) {
                short = hold;
            }
            holds.push(hold);
        }
        holds
    }

    fn start_of(&mut self, at: usize) -> Option<LimitedBy> {
        // Ends with the jobs of the lane: each round starts one, sets one aside or returns.
        loop {
            let lane = &mut self.lanes[at];
            if !lane.is_waiting() {
                return None;
            }
            if lane.opens_at(self.now) > self.now {
                return Some(LimitedBy::Hours);
            }
            if lane.is_full() || self.running >= self.pace.limit() {
                return Some(LimitedBy::Concurrency);
            }
            let Some(who) = lane.next(self.now) else {
                let Some(large) = lane.next_large() else {
                    return Some(LimitedBy::Hours);
                };
                if !self.window.is_empty() {
                    return Some(LimitedBy::Tokens);
                }
                lane.take_large();
                self.start(at, large);
                continue;
            };
            let promised = lane.call(who).promised();
            if self.limits.exceeded_by(promised).is_some() {
                // Larger than a whole minute: it runs when nothing else waits, alone.
                lane.take(who);
                lane.set_aside(who);
                continue;
            }
            if let Some(short) = self.limits.exceeded_by(self.window.sum().plus(promised)) {
                return Some(short);
            }
            lane.take(who);
            self.start(at, who);
        }
    }

    fn start(&mut self, at: usize, who: Who) {
        let lane = &mut self.lanes[at];
        lane.running += 1;
        let call = lane.call(who);
        self.window.promise(self.now, call.promised());
        self.begin(at, who, call.ms, call.promised(), call.used());
        if i64::try_from(call.ms).is_ok_and(|ms| ms >= taken_after()) {
            self.taken.push_back(self.now.saturating_add(taken_after()));
        }
    }

    /// Returns the next moment at which something is different; `None` where nothing ever is.
    fn next(&self, holds: &[Option<LimitedBy>]) -> Option<i64> {
        let mut next = self.ends.peek().map(|Reverse((end, _))| *end);
        let mut note = |moment: i64| {
            if moment > self.now {
                next = Some(next.map_or(moment, |next| next.min(moment)));
            }
        };
        if let Some(taken) = self.taken.front() {
            note(*taken);
        }
        for (lane, hold) in self.lanes.iter().zip(holds) {
            match hold {
                Some(LimitedBy::Tokens | LimitedBy::Requests) => {
                    if let Some(moment) = self.window.next_free() {
                        note(moment);
                    }
                }
                Some(LimitedBy::Hours) => {
                    note(lane.opens_at(self.now));
                    note(lane.ready_at());
                }
                _ => {}
            }
        }
        next
    }
}

#[cfg(test)]
mod tests;
