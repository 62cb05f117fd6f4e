//! Reading the results of a remote batch, and dealing with each by itself.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::super::Shared;
use super::super::worker::{self, stored};
use super::handing::put_off;
use super::watching::Look;
use super::{LEASE, asked, lost};
use crate::fault::FaultPoint;
use crate::model::{Cause, Delivery, EngineEvent, Timestamp};
use crate::provider::claude::ClaudeProvider;
use crate::provider::claude::batches::{Outcome, RemoteResult, read_answer, usage_of};
use crate::provider::{Billed, Failure};
use crate::store::{ClaimedJob, Looked, RemoteBatch, Result, Settlement, TakenIn};

/// Results that are dealt with at the same time, so that they share commits.
const AT_ONCE: usize = 8;
/// How long results may be incomplete before those that are missing are given up.
const MAY_BE_INCOMPLETE: Duration = Duration::from_secs(600);

/// Reads the results of a remote batch and deals with those that were not dealt with before.
///
/// The inner error is that they could not be read, or not to the end: they are read again.
pub(super) async fn collect(
    shared: &Arc<Shared>,
    claude: &ClaudeProvider,
    look: Look<'_>,
    stop: &CancellationToken,
) -> Result<std::result::Result<(), Failure>> {
    let Look {
        remote,
        remote_id,
        now,
        ..
    } = look;
    let mut results = match claude.batch_results(remote_id).await {
        Ok(results) => results,
        Err(failure) => return Ok(Err(failure)),
    };
    let there = Looked {
        has_results: true,
        ..Looked::again_at(shared.remote.next_look(remote, now))
    };
    shared.store.looked(remote.remote_no, there, now).await?;
    let mut tasks = JoinSet::new();
    // Ends with the results.
    let read = loop {
        if stop.is_cancelled() {
            // The rest is read at the next start.
            break Ok(false);
        }
        if tasks.len() >= AT_ONCE {
            joined(tasks.join_next().await);
        }
        match results.next().await {
            Ok(Some(result)) => {
                tasks.spawn(deal_with(Arc::clone(shared), result));
            }
            Ok(None) => break Ok(true),
            Err(failure) => break Err(failure),
        }
    };
    while let Some(task) = tasks.join_next().await {
        joined(Some(task));
    }
    match read {
        Err(failure) => Ok(Err(failure)),
        Ok(false) => Ok(Ok(())),
        Ok(true) => finish(shared, remote, now).await.map(Ok),
    }
}

fn joined(task: Option<std::result::Result<Result<()>, tokio::task::JoinError>>) {
    match task {
        Some(Ok(Err(error))) => {
            tracing::error!(%error, "the outcome of a request could not be stored; it is read again");
        }
        Some(Err(error)) => {
            tracing::error!(%error, "a defect left the outcome of a request open");
        }
        Some(Ok(Ok(()))) | None => {}
    }
}

/// Ends a remote batch, when all of its requests were dealt with.
async fn finish(shared: &Shared, remote: &RemoteBatch, now: Timestamp) -> Result<()> {
    let left = shared.store.open_requests(remote.remote_no, 1).await?;
    if !left.is_empty() {
        let since = remote.results_at.unwrap_or(now);
        if now.since(since) < MAY_BE_INCOMPLETE {
            let looked = Looked {
                has_results: true,
                trouble: Some("Some results are missing yet.".to_owned()),
                ..Looked::again_at(now.after(shared.remote.first_look * 2))
            };
            return shared.store.looked(remote.remote_no, looked, now).await;
        }
        let missing = "It is not among the results. It may have been answered and billed.";
        lost::give_up(shared, remote.remote_no, missing).await?;
    }
    shared
        .store
        .end_remote(remote.remote_no, false, now)
        .await?;
    // Jobs that were put back in line are handed over anew.
    shared.wake.notify_one();
    Ok(())
}

async fn deal_with(shared: Arc<Shared>, result: RemoteResult) -> Result<()> {
    (shared.fault)(FaultPoint::BatchRead);
    let RemoteResult { custom_id, outcome } = result;
    let now = shared.clock.now();
    let answered = matches!(outcome, Outcome::Succeeded(_));
    let taken = stored(&shared, || {
        shared
            .store
            .take_in(custom_id.clone(), answered, now.after(LEASE), now)
    })
    .await?;
    let job_id = match taken {
        TakenIn::Done => return Ok(()),
        TakenIn::Unwanted { lease, model } => {
            let settlement = unwanted(&shared, &model, outcome).await?;
            stored(&shared, || {
                let (custom_id, lease) = (custom_id.clone(), lease.clone());
                shared
                    .store
                    .settle_unwanted(custom_id, lease, settlement, now)
            })
            .await?;
            lease.job_id
        }
        TakenIn::Job(job, asked) => {
            settle(&shared, &job, &asked, outcome).await?;
            stored(&shared, || {
                shared.store.settle_request(custom_id.clone(), now)
            })
            .await?;
            job.lease.job_id
        }
    };
    shared.emit(EngineEvent::JobsChanged {
        job_ids: vec![job_id],
    });
    shared.wake.notify_one();
    shared.ended.notify_one();
    Ok(())
}

/// Ends the attempt of a job by the outcome of its request.
async fn settle(
    shared: &Shared,
    job: &ClaimedJob,
    remembered: &str,
    outcome: Outcome,
) -> Result<()> {
    match outcome {
        Outcome::Succeeded(message) => {
            let answer = match asked::request(shared, job, remembered).await {
                Ok(request) => read_answer(message, &request),
                Err(failure) => Err(failure),
            };
            match answer {
                Ok(answer) => worker::answered(shared, job, answer).await,
                // It was answered and is billed.
                Err(failure) => worker::end(shared, job, failure.billed(Billed::Unknown)).await,
            }
        }
        Outcome::Errored(failure) => worker::failed(shared, job, failure).await,
        Outcome::Canceled => {
            let message = "The batch was called off before it was begun.";
            put_off(shared, job, Cause::BatchExpired, message).await
        }
        Outcome::Expired => {
            let message = "The batch API did not get to it within its day.";
            put_off(shared, job, Cause::BatchExpired, message).await
        }
        Outcome::Unknown => {
            let failure = Failure::unsent(
                Cause::UnexpectedStatus,
                "The batch API told an outcome that this version does not know.",
            );
            worker::end(shared, job, failure.billed(Billed::Unknown)).await
        }
    }
}

/// Returns what a request cost whose answer nobody wants.
async fn unwanted(shared: &Shared, model: &str, outcome: Outcome) -> Result<Settlement> {
    let Outcome::Succeeded(message) = outcome else {
        return Ok(match outcome {
            Outcome::Unknown => Settlement::Unknown,
            _ => Settlement::Nothing { asked: false },
        });
    };
    let Some((usage, answered_by)) = usage_of(message) else {
        return Ok(Settlement::Unknown);
    };
    let prices = shared.store.prices().await?;
    let cost = |model: &str| prices.cost_by(Delivery::Batch, model, &usage);
    let micros = answered_by
        .as_deref()
        .and_then(cost)
        .or_else(|| cost(model));
    Ok(Settlement::Known {
        input_tokens: usage.limited_input(),
        output_tokens: usage.output_tokens,
        micros,
    })
}
