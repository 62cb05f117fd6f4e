//! Finding out whether what was sent has become a remote batch, where its id is not known: the program
//! died, or the answer was lost.
//!
//! Lists trail behind. So that nothing is sent twice, a remote batch counts as never created only when a while
//! has passed and none on the list can be it. Which one it is, its results say: the ids in them are ours.

use std::collections::HashSet;
use std::time::Duration;

use super::super::Shared;
use super::super::worker::stored;
use super::{BEING_FOUND_OUT, RESULTS_LAST, refusal};
use crate::model::{Cause, Timestamp};
use crate::provider::Failure;
use crate::provider::claude::ClaudeProvider;
use crate::provider::claude::batches::RemoteStatus;
use crate::store::{Created, Looked, Refused, RemoteBatch, Result};

/// By how much the clocks here and there may differ, also where ours was put right meanwhile.
const CLOCKS_DIFFER: Duration = Duration::from_secs(48 * 3_600);
/// Most pages of the list that are read: ten thousand remote batches since it was sent.
const MOST_PAGES: u32 = 100;
/// Looks at the list before it may be taken for complete.
const LEAST_LOOKS: u32 = 2;

/// What the list tells.
enum Found {
    /// It is this one.
    Ours(RemoteStatus),
    /// It may be one that still runs, or whose results can't be read.
    Perhaps,
    /// None on it can be it.
    None,
}

/// Looks for a remote batch at a moment. Says whether its id is known then.
pub(super) async fn resolve(
    shared: &Shared,
    claude: &ClaudeProvider,
    remote: &RemoteBatch,
    same_key: bool,
    now: Timestamp,
) -> Result<bool> {
    let known = shared.store.known_remote_ids().await?;
    let known: HashSet<String> = known.into_iter().collect();
    let found = look(claude, remote, &known).await;
    let settled = remote
        .left_at
        .is_some_and(|left_at| now.since(left_at) >= shared.remote.settle_time);
    let mut looked = Looked::again_at(shared.remote.next_look(remote, now));
    match found {
        Ok(Found::Ours(status)) => {
            let created = Created {
                created_at: status.created_at.unwrap_or(remote.sent_at),
                remote_id: status.remote_id,
            };
            stored(shared, || {
                shared.store.handed(remote.remote_no, created.clone(), now)
            })
            .await?;
            return Ok(true);
        }
        Ok(Found::None) if same_key && settled && remote.looks >= LEAST_LOOKS => {
            let refused = Refused {
                cause: Cause::ConnectionFailed,
                message: "What was handed to the batch API did not arrive there.".to_owned(),
                http_status: None,
                told_to_wait_ms: None,
                open_circuit: false,
            };
            refusal::put_back(shared, remote.remote_no, refused).await?;
            shared.wake.notify_one();
            return Ok(false);
        }
        Ok(_) if same_key => looked.trouble = Some(BEING_FOUND_OUT.to_owned()),
        Ok(_) => {
            looked.trouble = Some(super::watching::OTHER_KEY.to_owned());
            if now.since(remote.sent_at) > RESULTS_LAST {
                super::watching::lose(shared, remote).await?;
                return Ok(false);
            }
        }
        Err(failure) => looked.trouble = Some(failure.message),
    }
    shared.store.looked(remote.remote_no, looked, now).await?;
    Ok(false)
}

async fn look(
    claude: &ClaudeProvider,
    remote: &RemoteBatch,
    known: &HashSet<String>,
) -> std::result::Result<Found, Failure> {
    let since =
        Timestamp(remote.sent_at.0 - i64::try_from(CLOCKS_DIFFER.as_millis()).unwrap_or(i64::MAX));
    let mut found = Found::None;
    let mut after = None;
    for _ in 0..MOST_PAGES {
        let page = claude.list_batches(after.as_deref()).await?;
        for listed in page.batches {
            if listed.created_at.is_some_and(|created| created < since) {
                return Ok(found);
            }
            if known.contains(&listed.remote_id) || listed.requests != remote.requests {
                continue;
            }
            match is_ours(claude, remote, &listed).await {
                Some(true) => return Ok(Found::Ours(listed)),
                Some(false) => {}
                None => found = Found::Perhaps,
            }
        }
        let Some(next) = page.next else {
            return Ok(found);
        };
        after = Some(next);
    }
    // What lies further back was not seen.
    Ok(Found::Perhaps)
}

/// Says whether a remote batch is ours, by the ids in its results; `None` while there are none.
async fn is_ours(
    claude: &ClaudeProvider,
    remote: &RemoteBatch,
    listed: &RemoteStatus,
) -> Option<bool> {
    if !listed.ended {
        return None;
    }
    let mut results = claude.batch_results(&listed.remote_id).await.ok()?;
    let first = results.next().await.ok()??;
    Some(first.custom_id.starts_with(&remote.prefix))
}
