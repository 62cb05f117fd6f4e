//! Handing jobs over: gather, read their files, write down what is sent, send it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::super::document::Prepared;
use super::super::worker::{self, stored};
use super::super::{Shared, question};
use super::{BEING_FOUND_OUT, asked, refusal};
use crate::fault::FaultPoint;
use crate::model::{AttemptOutcome, Cause, EngineEvent, JobId};
use crate::provider::claude::ClaudeProvider;
use crate::provider::claude::batches::{MOST_BYTES, Part};
use crate::provider::{Billed, Failure};
use crate::store::{
    AfterAttempt, AttemptEnd, ClaimedJob, Created, GatherRequest, NewRequest, Result, Sealing,
    Settlement,
};

/// How long the leases of gathered jobs hold. Nobody else ends them before the next start.
const GATHERING: Duration = Duration::from_secs(3_600);
/// Bytes around the requests of a body, at most, and of the ids within.
const AROUND: u64 = 1_024;
const ID_BYTES: u64 = 64;

/// A job whose request is ready to be sent.
struct Ready {
    job: ClaimedJob,
    part: Part,
    asked: String,
    /// It holds the copy that is sent.
    prepared: Option<Prepared>,
}

/// Hands jobs over until `stop` is cancelled.
pub(in super::super) async fn run(shared: Arc<Shared>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        match hand_over(&shared).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => shared.met_trouble(&error),
        }
        tokio::select! {
            () = stop.cancelled() => {}
            () = shared.remote.handing.notified() => {}
        }
    }
}

/// Hands over what is ready. Says whether there was something.
async fn hand_over(shared: &Shared) -> Result<bool> {
    let local = shared.local_time();
    let lease_expires_at = local.now.after(GATHERING);
    let request = GatherRequest {
        local,
        lease_expires_at,
    };
    let Some(gathered) = shared.store.gather(request).await? else {
        return Ok(false);
    };
    (shared.fault)(FaultPoint::Reserved);
    let job_ids: Vec<JobId> = gathered
        .jobs
        .iter()
        .map(|job| job.lease.job_id.clone())
        .collect();
    let changed = || {
        shared.emit(EngineEvent::JobsChanged {
            job_ids: job_ids.clone(),
        });
    };
    changed();
    let claude = (shared.remote.claude)();
    let place = claude.as_ref().ok().map(ClaudeProvider::place);
    let ready = match &claude {
        Ok(claude) => prepare(shared, claude, gathered.jobs).await?,
        Err(error) => {
            for job in gathered.jobs {
                let failure = Failure::unsent(Cause::KeyRefused, error.to_string());
                worker::end(shared, &job, failure).await?;
            }
            Vec::new()
        }
    };
    let place = place.unwrap_or_default();
    let sealing = Sealing {
        remote_no: gathered.remote_no,
        requests: ready
            .iter()
            .map(|ready| NewRequest {
                lease: ready.job.lease.clone(),
                asked: ready.asked.clone(),
            })
            .collect(),
        address: place.address,
        key_mark: place.key_mark,
        look_at: shared.clock.now().after(shared.remote.first_look),
    };
    let sealed = stored(shared, || {
        shared.store.seal(sealing.clone(), shared.clock.now())
    })
    .await?;
    changed();
    if let Ok(claude) = claude
        && !sealed.is_empty()
    {
        (shared.fault)(FaultPoint::BatchSealed);
        send(shared, &claude, gathered.remote_no, ready, sealed).await?;
    }
    changed();
    shared.emit(EngineEvent::OverviewChanged);
    shared.wake.notify_one();
    shared.ended.notify_one();
    Ok(true)
}

/// Prepares the requests of jobs. What can't be sent is dealt with here, and nobody waits for it.
async fn prepare(
    shared: &Shared,
    claude: &ClaudeProvider,
    jobs: Vec<ClaimedJob>,
) -> Result<Vec<Ready>> {
    let mut ready = Vec::with_capacity(jobs.len());
    let mut bytes = AROUND;
    for job in jobs {
        // What an earlier job was answered while this one waited is not bought again.
        if let Some(answer) = question::earlier_answer(shared, &job).await? {
            let nobody_asked = Settlement::Nothing { asked: false };
            worker::keep(shared, &job, answer, nobody_asked).await?;
            continue;
        }
        match prepare_one(shared, claude, &job).await {
            Ok((part, prepared)) => {
                let with_it = bytes + part.length_with("") + ID_BYTES;
                if with_it > MOST_BYTES && !ready.is_empty() {
                    let message = "It goes with the next: together they were larger than the batch API takes.";
                    put_off(shared, &job, Cause::TooLarge, message).await?;
                    continue;
                }
                bytes = with_it;
                ready.push(Ready {
                    asked: asked::remembered(prepared.as_ref()),
                    part,
                    prepared,
                    job,
                });
            }
            Err(failure) => worker::failed(shared, &job, failure).await?,
        }
    }
    Ok(ready)
}

async fn prepare_one(
    shared: &Shared,
    claude: &ClaudeProvider,
    job: &ClaimedJob,
) -> std::result::Result<(Part, Option<Prepared>), Failure> {
    let (request, prepared) = worker::asked(shared, job, None, &shared.remote.cut_off).await?;
    let part = claude
        .batch_part(&request, &shared.private_directory)
        .await?;
    Ok((part, prepared))
}

/// Sends what is written down.
async fn send(
    shared: &Shared,
    claude: &ClaudeProvider,
    remote_no: i64,
    ready: Vec<Ready>,
    sealed: Vec<(JobId, String)>,
) -> Result<()> {
    let mut ids: HashMap<JobId, String> = sealed.into_iter().collect();
    let mut parts = Vec::with_capacity(ids.len());
    // The copies that are sent stay until they are.
    let mut copies = Vec::new();
    for one in ready {
        if let Some(custom_id) = ids.remove(&one.job.lease.job_id) {
            parts.push((custom_id, one.part));
            copies.push(one.prepared);
        }
    }
    let requests = parts.len();
    let created = claude.create_batch(parts, &shared.remote.cut_off).await;
    drop(copies);
    match created {
        Ok(status) => {
            (shared.fault)(FaultPoint::BatchCreated);
            let now = shared.clock.now();
            let created = Created {
                created_at: status.created_at.unwrap_or(now),
                remote_id: status.remote_id,
            };
            tracing::info!(
                remote_id = created.remote_id,
                requests,
                "handed to the batch API"
            );
            let look_at = now.after(shared.remote.first_look);
            stored(shared, || {
                shared.store.handed(remote_no, created.clone(), look_at)
            })
            .await
        }
        Err(not_created) if not_created.failure.billed == Billed::Unknown => {
            // Whether it arrived is found out by looking.
            tracing::warn!(
                error = not_created.failure.message,
                "it is not known whether the batch API took what was sent"
            );
            let now = shared.clock.now();
            let look_at = now.after(shared.remote.first_look);
            let trouble = format!("{BEING_FOUND_OUT} {}", not_created.failure.message);
            stored(shared, || {
                let trouble = trouble.clone();
                shared
                    .store
                    .sending_broke_off(remote_no, trouble, look_at, now)
            })
            .await
        }
        Err(not_created) => refusal::heed(shared, remote_no, requests, not_created).await,
    }
}

/// Puts a job back in its place in line, its attempt uncounted and unspent.
pub(super) async fn put_off(
    shared: &Shared,
    job: &ClaimedJob,
    cause: Cause,
    message: &str,
) -> Result<()> {
    let end = AttemptEnd {
        outcome: AttemptOutcome::Deferred,
        cause,
        message: message.to_owned(),
        http_status: None,
        request_id: None,
        told_to_wait_ms: None,
        input_tokens: None,
        output_tokens: None,
        cost_micros: Some(0),
        settlement: Settlement::Nothing { asked: false },
        next: AfterAttempt::Deferred {
            open_circuit: false,
        },
    };
    stored(shared, || {
        shared.store.end_attempt(
            job.lease.clone(),
            job.provider,
            end.clone(),
            shared.clock.now(),
        )
    })
    .await?;
    Ok(())
}
