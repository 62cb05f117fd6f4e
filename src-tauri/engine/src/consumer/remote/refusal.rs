//! What becomes of jobs whose remote batch was refused: it is nobody's attempt, unless one of them is at fault.

use std::time::Duration;

use super::super::Shared;
use super::super::worker::{self, stored};
use super::LEASE;
use crate::model::{Cause, CauseClass};
use crate::provider::Failure;
use crate::provider::claude::batches::NotCreated;
use crate::store::{Refused, Result, TakenIn};

/// Wait before the second try; doubled with each refusal up to the longest.
const FIRST_DELAY: Duration = Duration::from_secs(60);
const LONGEST_DELAY: Duration = Duration::from_secs(600);
/// However long a refusal says to wait, it is tried again after this time.
const LONGEST_TOLD: Duration = Duration::from_secs(24 * 3_600);
/// An address without a batch API is asked again after this time.
const NOT_OFFERED: Duration = Duration::from_secs(3_600);

/// Heeds the refusal of a remote batch of so many requests.
pub(super) async fn heed(
    shared: &Shared,
    remote_no: i64,
    requests: usize,
    not_created: NotCreated,
) -> Result<()> {
    let NotCreated {
        mut failure,
        culprit,
    } = not_created;
    if let Some(culprit) = culprit {
        let others = Refused {
            message: "Another file changed while they were sent together. Nothing of it arrived."
                .to_owned(),
            ..refused(&failure, false)
        };
        blame(shared, culprit, failure).await?;
        return put_back(shared, remote_no, others).await;
    }
    if failure.http_status == Some(404) {
        failure.cause = Cause::BatchesNotOffered;
        failure.message = "The address has no batch API (status 404).".to_owned();
    }
    match failure.cause.class() {
        _ if failure.cause == Cause::BatchesNotOffered => {
            let wait = NOT_OFFERED;
            hold(shared, &failure, wait, None).await?;
            put_back(shared, remote_no, refused(&failure, false)).await
        }
        CauseClass::Queue => put_back(shared, remote_no, refused(&failure, true)).await,
        CauseClass::Item | CauseClass::Review if requests == 1 => {
            let alone = shared.store.open_requests(remote_no, 1).await?;
            for custom_id in alone {
                blame(shared, custom_id, failure.clone()).await?;
            }
            put_back(shared, remote_no, refused(&failure, false)).await
        }
        CauseClass::Item | CauseClass::Review => {
            // One of them is refused, and nobody says which: half of them find it.
            let half = u32::try_from(requests / 2).unwrap_or(u32::MAX).max(1);
            hold(shared, &failure, Duration::ZERO, Some(half)).await?;
            put_back(shared, remote_no, refused(&failure, false)).await
        }
        CauseClass::Retry => {
            let tries = shared.store.refusals_in_a_row().await?;
            let own = FIRST_DELAY.saturating_mul(2_u32.saturating_pow(tries));
            let told = failure.retry_after.unwrap_or_default().min(LONGEST_TOLD);
            let wait = own.min(LONGEST_DELAY).max(told);
            hold(shared, &failure, wait, None).await?;
            put_back(shared, remote_no, refused(&failure, false)).await
        }
    }
}

fn refused(failure: &Failure, open_circuit: bool) -> Refused {
    Refused {
        cause: failure.cause,
        message: failure.message.clone(),
        http_status: failure.http_status,
        told_to_wait_ms: failure
            .retry_after
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX >> 1)),
        open_circuit,
    }
}

async fn hold(
    shared: &Shared,
    failure: &Failure,
    wait: Duration,
    requests: Option<u32>,
) -> Result<()> {
    let retry_at = shared.clock.now().after(wait);
    shared
        .store
        .hold_handing_over(failure.cause, failure.message.clone(), retry_at, requests)
        .await
}

/// Ends the attempt of the one that is at fault.
async fn blame(shared: &Shared, custom_id: String, failure: Failure) -> Result<()> {
    let now = shared.clock.now();
    let taken = shared
        .store
        .take_in(custom_id.clone(), false, now.after(LEASE), now)
        .await?;
    if let TakenIn::Job(job, _) = taken {
        worker::failed(shared, &job, failure).await?;
        shared.store.settle_request(custom_id, now).await?;
    }
    Ok(())
}

/// Puts back all that are left.
pub(super) async fn put_back(shared: &Shared, remote_no: i64, refused: Refused) -> Result<()> {
    // Ends: each round settles some requests of the remote batch, or is the last.
    while stored(shared, || {
        shared
            .store
            .put_back(remote_no, refused.clone(), shared.clock.now())
    })
    .await?
    {}
    Ok(())
}
