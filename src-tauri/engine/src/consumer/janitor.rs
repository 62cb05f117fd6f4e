//! Keeps house in the background: words for the search, jobs that are kept no longer, unused space.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::model::{EngineEvent, Timestamp};
use crate::store::{Purge, Result};

/// How often it looks.
const LOOK_AGAIN: Duration = Duration::from_secs(2);
/// How often old jobs are looked for.
const SWEEP: Duration = Duration::from_secs(3600);
/// Jobs whose words are added in one transaction.
const WORDS_AT_ONCE: u32 = 50;
/// Jobs that are removed in one transaction.
const REMOVED_AT_ONCE: u32 = 200;
/// A day in milliseconds.
const DAY: i64 = 24 * 3_600_000;

/// Keeps house until `stop` is cancelled.
pub(super) async fn run(shared: Arc<Shared>, stop: CancellationToken) {
    let mut sweep_at = shared.clock.now();
    loop {
        let now = shared.clock.now();
        let mut done = index(&shared, &stop).await;
        if now >= sweep_at || now.after(SWEEP) < sweep_at {
            done = done.and(sweep(&shared, &stop, now).await);
            sweep_at = now.after(SWEEP);
        }
        if let Err(error) = done {
            tracing::debug!(%error, "housekeeping was put off");
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = shared.clock.sleep_until(now.after(LOOK_AGAIN)) => {}
        }
    }
}

/// Adds the words of new and changed jobs to the search.
async fn index(shared: &Shared, stop: &CancellationToken) -> Result<()> {
    // Ends when nothing is due: each round takes what is.
    while !stop.is_cancelled() {
        let due = shared.store.unindexed(WORDS_AT_ONCE).await?;
        if due.is_empty() {
            break;
        }
        let mut jobs = Vec::with_capacity(due.len());
        for job in due {
            let text = match &job.result_key {
                // A result that vanished has no words.
                Some(key) => shared.library.read(key).await.unwrap_or_default(),
                None => String::new(),
            };
            jobs.push((job, text));
        }
        shared.store.index(jobs).await?;
    }
    Ok(())
}

/// Removes what is kept no longer.
async fn sweep(shared: &Shared, stop: &CancellationToken, now: Timestamp) -> Result<()> {
    if let Some(days) = shared.store.settings().await?.retention_days {
        let before = Timestamp(now.0 - i64::from(days) * DAY);
        let newest = shared.store.newest_seq().await?;
        let mut removed = 0;
        // Ends with the jobs that are old: each round removes some.
        while !stop.is_cancelled() {
            let part = shared
                .store
                .purge_some(Purge::EndedBefore(before), newest, REMOVED_AT_ONCE)
                .await?;
            if part.jobs == 0 {
                break;
            }
            removed += part.jobs;
            shared.library.remove(part.result_keys).await;
        }
        if removed > 0 {
            tracing::info!(removed, days, "jobs that ended long ago were removed");
            shared.emit(EngineEvent::JobsChanged {
                job_ids: Vec::new(),
            });
        }
    }
    shared.store.forget_old(now).await?;
    while !stop.is_cancelled() && shared.store.give_back_pages().await? {}
    Ok(())
}
