//! Requests whose outcome can't be found out: each may have run, and counts in full.

use super::super::Shared;
use super::super::worker::{self, stored};
use super::LEASE;
use crate::model::Cause;
use crate::provider::{Billed, Failure};
use crate::store::{Result, Settlement, TakenIn};

/// Requests that are given up in one round.
const AT_ONCE: u32 = 500;

/// Gives up the requests of a remote batch whose outcome was not dealt with. Returns how many there were.
pub(super) async fn give_up(shared: &Shared, remote_no: i64, message: &str) -> Result<u64> {
    let mut given_up = 0;
    // Ends: each round settles all that it found.
    loop {
        let left = shared.store.open_requests(remote_no, AT_ONCE).await?;
        if left.is_empty() {
            return Ok(given_up);
        }
        for custom_id in left {
            give_one_up(shared, custom_id, message).await?;
            given_up += 1;
        }
    }
}

async fn give_one_up(shared: &Shared, custom_id: String, message: &str) -> Result<()> {
    let now = shared.clock.now();
    let taken = stored(shared, || {
        shared
            .store
            .take_in(custom_id.clone(), false, now.after(LEASE), now)
    })
    .await?;
    match taken {
        TakenIn::Done => Ok(()),
        TakenIn::Unwanted { lease, .. } => {
            stored(shared, || {
                let (custom_id, lease) = (custom_id.clone(), lease.clone());
                shared
                    .store
                    .settle_unwanted(custom_id, lease, Settlement::Unknown, now)
            })
            .await
        }
        TakenIn::Job(job, _) => {
            let failure = Failure::unsent(Cause::BatchLost, message).billed(Billed::Unknown);
            worker::end(shared, &job, failure).await?;
            stored(shared, || {
                shared.store.settle_request(custom_id.clone(), now)
            })
            .await
        }
    }
}
