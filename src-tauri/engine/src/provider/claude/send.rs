//! How far the sending of a request has come, seen from the side that waits for the answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::provider::{Billed, Failure};

/// Shared by the body, which the connection's own task reads, and the call that waits.
#[derive(Debug)]
pub(super) struct Sending {
    state: Mutex<State>,
    completed: Notify,
}

#[derive(Debug)]
struct State {
    last_taken: Instant,
    complete: bool,
    failure: Option<Failure>,
}

impl Sending {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                last_taken: Instant::now(),
                complete: false,
                failure: None,
            }),
            completed: Notify::new(),
        }
    }

    /// Notes that a chunk was taken; `last` when nothing follows.
    pub(super) fn taken(&self, last: bool) {
        let mut state = self.state();
        state.last_taken = Instant::now();
        state.complete |= last;
        drop(state);
        if last {
            self.completed.notify_one();
        }
    }

    /// Waits until the last chunk is taken.
    pub(super) async fn completed(&self) {
        self.completed.notified().await;
    }

    /// Notes why the body had to break off.
    pub(super) fn broke_off(&self, failure: Failure) {
        self.state().failure = Some(failure);
    }

    pub(super) fn last_taken(&self) -> Instant {
        self.state().last_taken
    }

    pub(super) fn is_complete(&self) -> bool {
        self.state().complete
    }

    pub(super) fn failure(&self) -> Option<Failure> {
        self.state().failure.clone()
    }

    /// A request that did not arrive whole can't be worked on, so it can't be billed.
    pub(super) fn billed(&self) -> Billed {
        if self.is_complete() {
            Billed::Unknown
        } else {
            Billed::No
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The state is whole after every statement, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
