//! How a running attempt comes on: told to the fronts, and heeded for the pace.

use std::sync::atomic::{AtomicI64, Ordering};

use tokio::sync::Notify;

use super::Shared;
use crate::model::{EngineEvent, JobPhase, Provider};
use crate::pace::TAKEN_AFTER;
use crate::provider::Progress;
use crate::store::ClaimedJob;

/// Progress of a job is told at most this often, in milliseconds.
const INTERVAL: i64 = 150;

/// Hears how an attempt comes on.
pub(super) struct Reporter<'attempt> {
    shared: &'attempt Shared,
    job: &'attempt ClaimedJob,
    told_at: AtomicI64,
    sent: Notify,
}

impl<'attempt> Reporter<'attempt> {
    pub(super) fn new(shared: &'attempt Shared, job: &'attempt ClaimedJob) -> Self {
        Self {
            shared,
            job,
            told_at: AtomicI64::new(0),
            sent: Notify::new(),
        }
    }

    /// Waits until the call is taken: a moment after it was sent, unless it ends before.
    pub(super) async fn taken(&self) {
        self.sent.notified().await;
        let clock = &self.shared.clock;
        clock.sleep_until(clock.now().after(TAKEN_AFTER)).await;
    }

    /// Heeds that the provider takes the call: there may be room for more.
    pub(super) fn note_taken(&self) {
        let running = self.shared.active.asking(Provider::Claude);
        if self.job.provider == Provider::Claude && self.shared.pace().taken(running) {
            self.shared.wake.notify_one();
        }
    }
}

impl Progress for Reporter<'_> {
    fn advanced(&self, phase: JobPhase, output_tokens: u64) {
        let now = self.shared.clock.now().0;
        if now - self.told_at.load(Ordering::Relaxed) < INTERVAL {
            return;
        }
        self.told_at.store(now, Ordering::Relaxed);
        self.shared.emit(EngineEvent::JobProgress {
            job_id: self.job.lease.job_id.clone(),
            phase,
            output_tokens,
            max_tokens: self.job.max_tokens,
        });
    }

    fn sent(&self) {
        self.sent.notify_one();
    }
}
