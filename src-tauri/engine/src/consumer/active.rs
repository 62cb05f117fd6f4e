//! The attempts that run at this moment, in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::model::{JobId, Provider, QueueName};
use crate::store::Lease;

/// Why an attempt was asked to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Wish {
    /// Nobody asked.
    #[default]
    None,
    /// A person cancelled the job.
    Cancelled,
    /// The program ends.
    ShuttingDown,
}

struct Active {
    lease: Lease,
    queue: QueueName,
    provider: Provider,
    cut_off: CancellationToken,
    wish: Wish,
}

/// The running attempts by job.
#[derive(Default)]
pub(crate) struct ActiveJobs(Mutex<HashMap<JobId, Active>>);

impl ActiveJobs {
    fn lock(&self) -> MutexGuard<'_, HashMap<JobId, Active>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that an attempt begins; returns the token that cuts it off.
    pub(super) fn begin(
        &self,
        lease: &Lease,
        queue: QueueName,
        provider: Provider,
    ) -> CancellationToken {
        let cut_off = CancellationToken::new();
        self.lock().insert(
            lease.job_id.clone(),
            Active {
                lease: lease.clone(),
                queue,
                provider,
                cut_off: cut_off.clone(),
                wish: Wish::None,
            },
        );
        cut_off
    }

    /// Notes that an attempt has ended.
    pub(super) fn end(&self, job_id: &JobId) {
        self.lock().remove(job_id);
    }

    /// Returns why an attempt was asked to end.
    pub(super) fn wish(&self, job_id: &JobId) -> Wish {
        self.lock()
            .get(job_id)
            .map_or(Wish::None, |active| active.wish)
    }

    /// Counts the attempts of a queue.
    pub(super) fn running(&self, queue: QueueName) -> u32 {
        let running = self
            .lock()
            .values()
            .filter(|active| active.queue == queue)
            .count();
        u32::try_from(running).unwrap_or(u32::MAX)
    }

    /// Counts the attempts of a provider.
    pub(super) fn asking(&self, provider: Provider) -> u32 {
        let asking = self
            .lock()
            .values()
            .filter(|active| active.provider == provider)
            .count();
        u32::try_from(asking).unwrap_or(u32::MAX)
    }

    /// Returns all leases.
    pub(super) fn leases(&self) -> Vec<Lease> {
        self.lock()
            .values()
            .map(|active| active.lease.clone())
            .collect()
    }

    /// Asks the attempt of a job to end. A call that is paid for anyway goes on: its result is kept.
    pub(super) fn cancel(&self, job_id: &JobId) {
        if let Some(active) = self.lock().get_mut(job_id) {
            active.wish = Wish::Cancelled;
            if active.provider == Provider::Offline {
                active.cut_off.cancel();
            }
        }
    }

    /// Cuts off every attempt, since the program ends.
    pub(super) fn cut_off_all(&self) {
        for active in self.lock().values_mut() {
            if active.wish == Wish::None {
                active.wish = Wish::ShuttingDown;
            }
            active.cut_off.cancel();
        }
    }
}
