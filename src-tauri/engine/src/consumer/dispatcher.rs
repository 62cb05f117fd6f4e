//! Claims jobs when they are ready and there is room, and keeps the leases of those that run.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Shared, worker};
use crate::model::EngineEvent;
use crate::store::Result;

/// How long a claim holds without being renewed.
const LEASE: Duration = Duration::from_secs(60);
/// How often leases are renewed: a few renewals may fail before one runs out.
const RENEWAL: Duration = Duration::from_secs(15);
/// Longest sleep without looking, in case a wake-up was missed.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Wait after the database refused.
const AFTER_TROUBLE: Duration = Duration::from_secs(2);

/// Claims and starts attempts until `stop` is cancelled.
pub(super) async fn run(shared: Arc<Shared>, stop: CancellationToken, tasks: TaskTracker) {
    let mut in_trouble = false;
    while !stop.is_cancelled() {
        let now = shared.clock.now();
        let next = match dispatch(&shared, &tasks).await {
            Ok(()) => shared.store.next_available(now).await,
            Err(error) => Err(error),
        };
        let wait_until = match next {
            Ok(Some(moment)) => moment.min(now.after(LOOK_AGAIN)),
            Ok(None) => now.after(LOOK_AGAIN),
            Err(ref error) => {
                // Once: a full disk stays full for a while.
                if !in_trouble {
                    tracing::error!(%error, "no jobs can be claimed; trying again every few seconds");
                }
                now.after(AFTER_TROUBLE)
            }
        };
        in_trouble = next.is_err();
        tokio::select! {
            () = stop.cancelled() => {}
            () = shared.wake.notified() => {}
            () = shared.clock.sleep_until(wait_until) => {}
        }
    }
}

/// Claims as much as is ready and has room, high before bulk.
async fn dispatch(shared: &Arc<Shared>, tasks: &TaskTracker) -> Result<()> {
    for queue in shared.store.queues().await? {
        // Ends when the lane is full or nothing is ready: each round fills it further.
        loop {
            let room = queue
                .max_concurrency
                .saturating_sub(shared.active.running(queue.queue));
            let limit = room.min(queue.max_batch_size);
            if queue.paused || limit == 0 {
                break;
            }
            let now = shared.clock.now();
            let claimed = shared
                .store
                .claim(queue.queue, limit, now, now.after(LEASE))
                .await?;
            if claimed.is_empty() {
                break;
            }
            shared.emit(EngineEvent::JobsChanged {
                job_ids: claimed.iter().map(|job| job.lease.job_id.clone()).collect(),
            });
            for job in claimed {
                let cut_off = shared.active.begin(&job.lease, queue.queue, job.provider);
                tasks.spawn(worker::run(Arc::clone(shared), job, cut_off));
            }
        }
    }
    Ok(())
}

/// Renews the leases of running attempts until `stop` is cancelled, and hears of cancelled jobs.
pub(super) async fn keep_leases(shared: Arc<Shared>, stop: CancellationToken) {
    loop {
        let now = shared.clock.now();
        tokio::select! {
            () = stop.cancelled() => return,
            () = shared.clock.sleep_until(now.after(RENEWAL)) => {}
        }
        let leases = shared.active.leases();
        if leases.is_empty() {
            continue;
        }
        match shared
            .store
            .renew(leases, shared.clock.now().after(LEASE))
            .await
        {
            // Another program may have cancelled them.
            Ok(cancelled) => cancelled
                .iter()
                .for_each(|job_id| shared.active.cancel(job_id)),
            Err(error) => tracing::error!(%error, "leases could not be renewed; trying again"),
        }
    }
}
