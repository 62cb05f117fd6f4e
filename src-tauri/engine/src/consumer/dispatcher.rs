//! Claims jobs when they are ready and there is room, and keeps the leases of those that run.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Shared, worker};
use crate::calendar::LocalTime;
use crate::fault::FaultPoint;
use crate::model::{EngineEvent, Provider, QueueName};
use crate::store::{ClaimRequest, Result};

/// How long a claim holds without being renewed.
const LEASE: Duration = Duration::from_secs(60);
/// How often leases are renewed: a few renewals may fail before one runs out.
const RENEWAL: Duration = Duration::from_secs(15);
/// Longest sleep without looking, in case a wake-up was missed.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Wait after the database refused.
const AFTER_TROUBLE: Duration = Duration::from_secs(2);

/// Most jobs of one claim, so that a transaction stays short.
const LARGEST_CLAIM: u32 = 100;

/// Claims and starts attempts until `stop` is cancelled.
pub(super) async fn run(shared: Arc<Shared>, stop: CancellationToken, tasks: TaskTracker) {
    while !stop.is_cancelled() {
        let next = match dispatch(&shared, &tasks).await {
            // Of the moment at which nothing was ready: what became ready since then must wake us.
            Ok(moment) => {
                let outlook = shared.store.outlook(moment).await;
                outlook.map(|outlook| {
                    // What woke this one may be something for them.
                    shared
                        .remote
                        .look_again(outlook.hands_over, outlook.has_remotes);
                    outlook.wake_at
                })
            }
            Err(error) => Err(error),
        };
        let now = shared.clock.now();
        let wait_until = match &next {
            Ok(Some(moment)) => (*moment).min(now.after(LOOK_AGAIN)),
            Ok(None) => now.after(LOOK_AGAIN),
            Err(_) => now.after(AFTER_TROUBLE),
        };
        match next {
            Ok(_) => shared.trouble_passed(),
            Err(error) => shared.met_trouble(&error),
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = shared.wake.notified() => {}
            () = shared.clock.sleep_until(wait_until) => {}
        }
    }
}

/// Claims and starts as much as is ready and has room. Returns the moment at which nothing more was.
async fn dispatch(shared: &Arc<Shared>, tasks: &TaskTracker) -> Result<LocalTime> {
    // Ends when nothing more is ready or has room: each round fills the lanes further.
    loop {
        let local = shared.local_time();
        let asking = shared.active.asking(Provider::Claude);
        let request = ClaimRequest {
            lease_expires_at: local.now.after(LEASE),
            running: QueueName::ALL
                .into_iter()
                .map(|queue| (queue, shared.active.running(queue)))
                .collect(),
            claude_room: shared.pace().limit().saturating_sub(asking),
            limit: LARGEST_CLAIM,
            local: local.clone(),
        };
        let claimed = shared.store.claim(request).await?;
        if claimed.is_empty() {
            return Ok(local);
        }
        (shared.fault)(FaultPoint::Reserved);
        shared.emit(EngineEvent::JobsChanged {
            job_ids: claimed.iter().map(|job| job.lease.job_id.clone()).collect(),
        });
        for job in claimed {
            let cut_off = shared.active.begin(&job.lease, job.queue, job.provider);
            tasks.spawn(worker::run(Arc::clone(shared), job, cut_off));
        }
    }
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
