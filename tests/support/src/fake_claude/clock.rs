//! The double's own clock: batches end, files expire and limits refill on it.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

/// How the clock of the double begins.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockSettings {
    /// When it begins, as RFC 3339 writes it; now when left out.
    #[serde(deserialize_with = "moment")]
    pub start: Option<Timestamp>,
    /// Whether it moves only when it is advanced.
    pub stands_still: bool,
}

#[derive(Debug)]
pub(super) struct Clock(Mutex<State>);

#[derive(Debug)]
struct State {
    shown: Timestamp,
    /// When that was shown; `None` for a clock that stands still.
    since: Option<Instant>,
}

impl Clock {
    pub(super) fn new(settings: &ClockSettings) -> Self {
        Self(Mutex::new(State {
            shown: settings.start.unwrap_or_else(Timestamp::now),
            since: (!settings.stands_still).then(Instant::now),
        }))
    }

    pub(super) fn now(&self) -> Timestamp {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let passed = state.since.map_or(Duration::ZERO, |since| since.elapsed());
        later(state.shown, passed)
    }

    /// Turns the clock forward.
    pub(super) fn advance(&self, by: Duration) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.shown = later(state.shown, by);
    }
}

/// A moment this much later; the last one of all where there is none.
pub(super) fn later(moment: Timestamp, by: Duration) -> Timestamp {
    moment.checked_add(by).unwrap_or(Timestamp::MAX)
}

/// How long after `earlier` a moment is; nothing when it is before it.
pub(super) fn since(moment: Timestamp, earlier: Timestamp) -> Duration {
    Duration::try_from(moment.duration_since(earlier)).unwrap_or(Duration::ZERO)
}

fn moment<'de, D: Deserializer<'de>>(given: D) -> Result<Option<Timestamp>, D::Error> {
    Option::<String>::deserialize(given)?
        .map(|text| text.parse().map_err(D::Error::custom))
        .transpose()
}
