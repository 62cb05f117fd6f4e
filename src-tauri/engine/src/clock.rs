//! Time, injected: the consumer never asks the system itself, so that a test can turn the clock.

use std::time::Duration;

use async_trait::async_trait;

use crate::model::Timestamp;

/// Tells the time and waits for it.
#[async_trait]
pub trait Clock: Send + Sync {
    /// Returns the present moment.
    fn now(&self) -> Timestamp;

    /// Returns when `moment` has come; at once when it has passed.
    async fn sleep_until(&self, moment: Timestamp);
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

/// Longest uninterrupted sleep. The system clock may jump (suspend, a correction), while a timer
/// counts running time only; looking again every half minute bounds the error.
const LONGEST_SLEEP: Duration = Duration::from_secs(30);

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        Timestamp(jiff::Timestamp::now().as_millisecond())
    }

    async fn sleep_until(&self, moment: Timestamp) {
        loop {
            let left = moment.since(self.now());
            if left.is_zero() {
                return;
            }
            tokio::time::sleep(left.min(LONGEST_SLEEP)).await;
        }
    }
}
