//! How far the sending of a request has come, seen from the side that waits for the answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::provider::{Billed, Failure};

/// Shared by the body, which the connection's own task reads, and the call that waits.
#[derive(Debug)]
pub(super) struct Sending {
    state: Mutex<State>,
    /// Cancelled when the last chunk is taken.
    complete: CancellationToken,
}

#[derive(Debug)]
struct State {
    last_taken: Instant,
    failure: Option<Failure>,
}

impl Sending {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                last_taken: Instant::now(),
                failure: None,
            }),
            complete: CancellationToken::new(),
        }
    }

    /// Notes that a chunk was taken; `last` when nothing follows.
    pub(super) fn taken(&self, last: bool) {
        self.state().last_taken = Instant::now();
        if last {
            self.complete.cancel();
        }
    }

    /// Waits until the last chunk is taken.
    pub(super) async fn completed(&self) {
        self.complete.cancelled().await;
    }

    /// Notes why the body had to break off.
    pub(super) fn broke_off(&self, failure: Failure) {
        self.state().failure = Some(failure);
    }

    pub(super) fn last_taken(&self) -> Instant {
        self.state().last_taken
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete.is_cancelled()
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
