//! Looking after what the batch API has. It tells no progress until all is done, so it is asked now and then.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::Shared;
use super::{RESULTS_LAST, collect, lost, resolve};
use crate::model::{EngineEvent, Timestamp};
use crate::provider::Failure;
use crate::provider::claude::ClaudeProvider;
use crate::store::{Looked, RemoteBatch, RemoteState, Result};

/// Longest sleep without looking, in case a wake-up was missed.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
/// Remote batches that are looked at in one round.
const AT_ONCE: u32 = 50;
/// How long the provider may not know a remote batch: one that was created a moment ago, or has just ended, is
/// not known everywhere.
const MAY_BE_MISSING: Duration = Duration::from_secs(3_600);

/// What is said where the key is another one.
pub(super) const OTHER_KEY: &str = "Jobs were handed to the batch API with another key, and this one does not see them. \
     Set that key again to have their results.";

/// Looks after remote batches until `stop` is cancelled.
pub(in super::super) async fn run(shared: Arc<Shared>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        // Of the moment at which it began to look: what became due since then is looked at in time.
        let at_last = shared.clock.now().after(LOOK_AGAIN);
        let next = match round(&shared, &stop).await {
            Ok(next) => next,
            Err(error) => {
                tracing::error!(%error, "remote batches could not be looked after; trying again");
                None
            }
        };
        let wait_until = next.map_or(at_last, |moment| moment.min(at_last));
        tokio::select! {
            () = stop.cancelled() => {}
            () = shared.remote.watching.notified() => {}
            () = shared.clock.sleep_until(wait_until) => {}
        }
    }
}

/// Looks at what is due. Returns when something is due next.
async fn round(shared: &Arc<Shared>, stop: &CancellationToken) -> Result<Option<Timestamp>> {
    let due = shared.store.remote_due(shared.clock.now(), AT_ONCE).await?;
    let looked = !due.is_empty();
    for remote in due {
        if stop.is_cancelled() {
            break;
        }
        visit(shared, &remote, stop).await?;
    }
    if looked {
        shared.emit(EngineEvent::OverviewChanged);
    }
    shared.store.next_remote_look().await
}

async fn visit(shared: &Arc<Shared>, remote: &RemoteBatch, stop: &CancellationToken) -> Result<()> {
    // The next look is so long after this one, however long this one takes.
    let now = shared.clock.now();
    let claude = match (shared.remote.claude)() {
        Ok(claude) => claude,
        Err(error) => return put_off(shared, remote, Some(error.to_string()), now).await,
    };
    let place = claude.place();
    if place.address != remote.address {
        if now.since(remote.sent_at) > RESULTS_LAST {
            return lose(shared, remote).await;
        }
        let trouble = format!(
            "Jobs were handed to the batch API at {}, and Claude is asked elsewhere now. Set that address again \
             to have their results.",
            remote.address
        );
        return put_off(shared, remote, Some(trouble), now).await;
    }
    let same_key = place.key_mark == remote.key_mark;
    match (remote.state, &remote.remote_id) {
        (RemoteState::UnderWay, Some(remote_id)) => {
            let look = Look {
                remote,
                remote_id,
                same_key,
                now,
            };
            under_way(shared, &claude, look, stop).await
        }
        _ => {
            if resolve::resolve(shared, &claude, remote, same_key, now).await? {
                // Its results are there, since they named it.
                shared.remote.watching.notify_one();
            }
            Ok(())
        }
    }
}

/// A look at a remote batch whose id is known.
#[derive(Clone, Copy)]
pub(super) struct Look<'look> {
    pub(super) remote: &'look RemoteBatch,
    pub(super) remote_id: &'look str,
    /// Whether the key is the one that it was handed over with.
    pub(super) same_key: bool,
    /// When it began.
    pub(super) now: Timestamp,
}

async fn under_way(
    shared: &Arc<Shared>,
    claude: &ClaudeProvider,
    look: Look<'_>,
    stop: &CancellationToken,
) -> Result<()> {
    let Look {
        remote, remote_id, ..
    } = look;
    if remote.is_to_be_called_off() {
        match claude.call_off_batch(remote_id).await {
            Ok(()) => shared.store.called_off(remote.remote_no).await?,
            // What ended meanwhile can't be called off, and what is not known yet can be later.
            Err(failure) => {
                tracing::debug!(
                    error = failure.message,
                    "a remote batch could not be called off"
                );
            }
        }
    }
    let has_ended = match remote.results_at {
        Some(_) => Ok(true),
        None => claude
            .look_at_batch(remote_id)
            .await
            .map(|status| status.ended),
    };
    match has_ended {
        Ok(false) => put_off(shared, remote, None, look.now).await,
        Ok(true) => match collect::collect(shared, claude, look, stop).await? {
            Ok(()) => Ok(()),
            Err(failure) => failed_look(shared, look, failure).await,
        },
        Err(failure) => failed_look(shared, look, failure).await,
    }
}

/// Deals with a look that did not go well.
async fn failed_look(shared: &Shared, look: Look<'_>, failure: Failure) -> Result<()> {
    let Look {
        remote,
        same_key,
        now,
        ..
    } = look;
    let missing = failure.http_status == Some(404);
    let missing_for = remote.missing_since.map(|since| now.since(since));
    if missing && same_key && missing_for.is_some_and(|missing| missing > MAY_BE_MISSING) {
        return lose(shared, remote).await;
    }
    if missing && !same_key && now.since(remote.sent_at) > RESULTS_LAST {
        return lose(shared, remote).await;
    }
    let trouble = match (missing, same_key) {
        // Most likely it is only not known everywhere yet.
        (true, true) => None,
        (true, false) => Some(OTHER_KEY.to_owned()),
        (false, _) => Some(failure.message),
    };
    let looked = Looked {
        trouble,
        missing,
        ..Looked::again_at(shared.remote.next_look(remote, now))
    };
    shared.store.looked(remote.remote_no, looked, now).await
}

async fn put_off(
    shared: &Shared,
    remote: &RemoteBatch,
    trouble: Option<String>,
    now: Timestamp,
) -> Result<()> {
    let looked = Looked {
        trouble,
        ..Looked::again_at(shared.remote.next_look(remote, now))
    };
    shared.store.looked(remote.remote_no, looked, now).await
}

/// Gives up a remote batch whose results can't be fetched any more.
pub(super) async fn lose(shared: &Shared, remote: &RemoteBatch) -> Result<()> {
    let given_up = lost::give_up(
        shared,
        remote.remote_no,
        "The provider does not know any more what became of it. It may have been answered and billed.",
    )
    .await?;
    tracing::warn!(
        remote_id = remote.remote_id,
        given_up,
        "the results of a remote batch can't be fetched any more"
    );
    shared
        .store
        .end_remote(remote.remote_no, true, shared.clock.now())
        .await?;
    shared.emit(EngineEvent::JobsChanged {
        job_ids: Vec::new(),
    });
    shared.wake.notify_one();
    shared.ended.notify_one();
    Ok(())
}
