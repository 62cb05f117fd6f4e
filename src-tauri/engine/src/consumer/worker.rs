//! One attempt, from the claim to its end.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio_util::sync::CancellationToken;

use super::active::Wish;
use super::document::{Prepared, prepared};
use super::parts::{compare_estimate, divide, keep_part};
use super::progress::Reporter;
use super::publish::publish;
use super::{Shared, question, retry};
use crate::fault::FaultPoint;
use crate::model::{
    AttemptOutcome, AttemptStep, Cause, Delivery, EngineEvent, JobKind, JobPhase, Provider,
};
use crate::provider::{Answer, Billed, Deliver, Failure, Progress as _, Request, ToldLimits};
use crate::store::{
    AfterAttempt, AttemptEnd, ClaimedJob, NewAnswer, PartAnswer, Result, Settlement,
};
use crate::templates;

/// How often a change that the database refused is tried again: for about an hour, since what waits
/// to be stored may have been paid for. After that it is recovered at the next start.
const STORE_TRIES: u32 = 130;
/// Wait before the first of those tries; doubled each time up to the longest.
const STORE_DELAY: Duration = Duration::from_millis(500);
/// Longest wait between two of those tries.
const LONGEST_STORE_DELAY: Duration = Duration::from_secs(30);
/// However long a refusal says to wait, the model is asked again after this time.
const LONGEST_HOLD: Duration = Duration::from_secs(600);

/// Runs one attempt; whatever happens, the job does not stay marked as running.
pub(super) async fn run(shared: Arc<Shared>, job: ClaimedJob, cut_off: CancellationToken) {
    let job_id = job.lease.job_id.clone();
    // A defect in a provider must not leave a job running for ever.
    let outcome = AssertUnwindSafe(attempt(&shared, &job, &cut_off))
        .catch_unwind()
        .await;
    match outcome {
        Ok(Ok(())) => {}
        Ok(Err(error)) => {
            tracing::error!(%job_id, %error, "the end of an attempt could not be stored");
        }
        Err(_) => {
            let failure = Failure::unsent(
                Cause::UnexpectedStatus,
                "A defect in Gistmill ended this attempt. The log has the details.",
            );
            if let Err(error) = end(&shared, &job, failure).await {
                tracing::error!(%job_id, %error, "the end of an attempt could not be stored");
            }
        }
    }
    shared.active.end(&job_id);
    shared.emit(EngineEvent::JobsChanged {
        job_ids: vec![job_id],
    });
    shared.wake.notify_one();
    shared.ended.notify_one();
}

async fn attempt(shared: &Shared, job: &ClaimedJob, cut_off: &CancellationToken) -> Result<()> {
    // An answer that was paid for before a crash is published, not bought again.
    if let Some(answer) = shared.store.kept_answer(job.lease.clone()).await? {
        return publish(shared, job, answer).await;
    }
    // Nor is what an earlier job was answered while this one waited.
    if let Some(answer) = question::earlier_answer(shared, job).await? {
        return keep(shared, job, answer, Settlement::Nothing { asked: false }).await;
    }
    match deliver(shared, job, cut_off).await {
        Ok(answer) => {
            note_limits(shared, job, answer.limits, None).await;
            shared
                .pace()
                .succeeded(shared.active.asking(Provider::Claude));
            answered(shared, job, answer).await
        }
        Err(failure) => failed(shared, job, failure).await,
    }
}

/// Deals with an answer that came.
pub(super) async fn answered(shared: &Shared, job: &ClaimedJob, answer: Answer) -> Result<()> {
    (shared.fault)(FaultPoint::Answered);
    compare_estimate(shared, job, &answer).await;
    let (answer, settlement) = priced(shared, job, answer).await?;
    match job.step {
        AttemptStep::Part { pages } => keep_part(shared, job, pages, answer, settlement).await,
        AttemptStep::Whole | AttemptStep::Combine => keep(shared, job, answer, settlement).await,
    }
}

/// Deals with an attempt that got no answer: what is too large for a call is divided where it can be.
pub(super) async fn failed(shared: &Shared, job: &ClaimedJob, failure: Failure) -> Result<()> {
    if divide(shared, job, &failure).await? {
        Ok(())
    } else {
        end(shared, job, failure).await
    }
}

/// Keeps an answer, then publishes it.
pub(super) async fn keep(
    shared: &Shared,
    job: &ClaimedJob,
    answer: NewAnswer,
    settlement: Settlement,
) -> Result<()> {
    let held = stored(shared, || {
        shared.store.keep_answer(
            job.lease.clone(),
            answer.clone(),
            settlement,
            shared.clock.now(),
        )
    })
    .await?;
    (shared.fault)(FaultPoint::Kept);
    if held {
        publish(shared, job, answer).await
    } else {
        Ok(())
    }
}

/// Asks the provider.
async fn deliver(
    shared: &Shared,
    job: &ClaimedJob,
    cut_off: &CancellationToken,
) -> std::result::Result<Answer, Failure> {
    let progress = Reporter::new(shared, job);
    progress.advanced(JobPhase::Reading, 0);
    let provider = (shared.providers)(job.provider)
        .map_err(|error| Failure::unsent(Cause::KeyRefused, error.to_string()))?;
    // It holds the copy that is sent until the answer is there.
    let (request, _prepared) = asked(shared, job, Some(&provider), cut_off).await?;
    let mut call = provider.deliver(&request, &progress, cut_off);
    let end = tokio::select! {
        biased;
        end = &mut call => Some(end),
        () = progress.taken() => None,
    };
    let (end, counted) = match end {
        Some(end) => (end, false),
        None => {
            progress.note_taken();
            (call.await, true)
        }
    };
    if end.is_ok() && !counted {
        progress.note_taken();
    }
    end
}

/// Returns what an attempt asks, with the document that is sent, which is verified.
///
/// Without a `lender` no file is uploaded: what is too large for a body has to be divided then.
pub(super) async fn asked(
    shared: &Shared,
    job: &ClaimedJob,
    lender: Option<&Arc<dyn Deliver>>,
    cut_off: &CancellationToken,
) -> std::result::Result<(Request, Option<Prepared>), Failure> {
    Ok(match (job.kind, job.step) {
        (JobKind::Pdf, AttemptStep::Combine) => {
            let answers = part_answers(shared, job).await?;
            (question::combining(job, &answers), None)
        }
        (JobKind::Pdf, _) => {
            let prepared = tokio::select! {
                biased;
                () = cut_off.cancelled() => {
                    return Err(Failure::unsent(
                        Cause::Interrupted,
                        "The work was stopped from here.",
                    ));
                }
                prepared = prepared(shared, job, lender, cut_off) => prepared?,
            };
            (question::request(job, Some(&prepared)), Some(prepared))
        }
        (JobKind::Prompt, _) => (question::request(job, None), None),
    })
}

pub(super) async fn part_answers(
    shared: &Shared,
    job: &ClaimedJob,
) -> std::result::Result<Vec<PartAnswer>, Failure> {
    shared
        .store
        .part_answers(job.lease.clone())
        .await
        .map_err(|error| Failure::unsent(Cause::StorageFailed, error.to_string()))
}

/// Puts a price on an answer.
async fn priced(
    shared: &Shared,
    job: &ClaimedJob,
    answer: Answer,
) -> Result<(NewAnswer, Settlement)> {
    let cost_micros = match job.provider {
        Provider::Offline => Some(0),
        Provider::Claude if answer.is_declined_at_once() => Some(0),
        Provider::Claude => {
            let prices = shared.store.prices().await?;
            let cost = |model| prices.cost_by(job.delivery, model, &answer.usage);
            // What was asked for counts where the answer names a model that has no price.
            cost(&answer.model).or_else(|| cost(&job.model))
        }
    };
    let settlement = Settlement::Known {
        input_tokens: answer.usage.limited_input(),
        output_tokens: answer.usage.output_tokens,
        micros: cost_micros,
    };
    let is_part = matches!(job.step, AttemptStep::Part { .. });
    // What is wrong with the fields of a part is seen, if at all, when they are put together.
    let template = job.template.as_ref().filter(|_| !is_part);
    let kept = templates::kept(template, answer.text);
    let mut passages = answer.passages;
    let of_parts = match job.step {
        AttemptStep::Combine => {
            let parts = shared.store.part_answers(job.lease.clone()).await?;
            let review = question::review_of_parts(&parts);
            // Who puts parts together sees no document, and cites none: what they cite is what the whole does.
            passages.extend(parts.into_iter().flat_map(|part| part.passages));
            review
        }
        AttemptStep::Whole | AttemptStep::Part { .. } => None,
    };
    let answer = NewAnswer {
        body: kept.body,
        model: answer.model,
        stop_reason: answer.stop_reason,
        request_id: answer.request_id,
        input_tokens: answer.usage.total_input(),
        output_tokens: answer.usage.output_tokens,
        cost_micros,
        // What the provider says of the answer is the deeper reason.
        review: answer.review.or(kept.review).or(of_parts),
        format: kept.format,
        reused_from: None,
        passages,
    };
    Ok((answer, settlement))
}

/// Remembers the limits that an answer or a refusal told.
async fn note_limits(
    shared: &Shared,
    job: &ClaimedJob,
    limits: Option<ToldLimits>,
    wait: Option<Duration>,
) {
    if limits.is_none() && wait.is_none() {
        return;
    }
    let now = shared.clock.now();
    let wait_until = wait.map(|wait| now.after(wait.min(LONGEST_HOLD)));
    let noted = shared
        .store
        .note_limits(job.model.clone(), limits, wait_until, now)
        .await;
    if let Err(error) = noted {
        // The next answer tells them again.
        tracing::debug!(%error, "the limits that were told could not be stored");
    }
}

/// Ends an attempt that got no answer.
pub(super) async fn end(shared: &Shared, job: &ClaimedJob, failure: Failure) -> Result<()> {
    let now = shared.clock.now();
    let lease = &job.lease;
    let wish = shared.active.wish(&lease.job_id);
    let (next, outcome) = match wish {
        Wish::Cancelled => (AfterAttempt::Cancelled, AttemptOutcome::Cancelled),
        Wish::ShuttingDown if failure.cause == Cause::Interrupted => cut_off(job, &failure, now),
        _ => {
            let mut random = shared
                .jitter
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            let next = retry::after_failure(
                &failure,
                job.try_number(),
                job.max_tries(),
                now,
                &mut *random,
            );
            (next, outcome(next))
        }
    };
    // What was counted until a call broke off is only a part of what it may have cost.
    let (cost_micros, settlement) = match (job.provider, failure.billed) {
        (Provider::Claude, Billed::Unknown) => (None, Settlement::Unknown),
        _ => {
            let asked = failure.http_status.is_some();
            (Some(0), Settlement::Nothing { asked })
        }
    };
    if job.delivery == Delivery::Each {
        slow_down(shared, job, &failure).await;
    }
    let attempt_end = AttemptEnd {
        outcome,
        cause: failure.cause,
        message: failure.message,
        http_status: failure.http_status,
        request_id: failure.request_id,
        told_to_wait_ms: failure
            .retry_after
            .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX >> 1)),
        input_tokens: failure.usage.map(|usage| usage.total_input()),
        output_tokens: failure.usage.map(|usage| usage.output_tokens),
        cost_micros,
        settlement,
        next,
    };
    stored(shared, || {
        shared
            .store
            .end_attempt(lease.clone(), job.provider, attempt_end.clone(), now)
    })
    .await?;
    if matches!(next, AfterAttempt::Deferred { open_circuit: true }) {
        shared.emit(EngineEvent::OverviewChanged);
    }
    Ok(())
}

/// Heeds what a refusal says of the pace.
async fn slow_down(shared: &Shared, job: &ClaimedJob, failure: &Failure) {
    if matches!(failure.cause, Cause::RampLimited | Cause::Overloaded) {
        shared
            .pace()
            .too_much(shared.active.asking(Provider::Claude));
    }
    // The limit of a minute is everybody's: who comes next would be refused, too.
    let wait = failure
        .retry_after
        .filter(|_| matches!(failure.cause, Cause::RateLimited | Cause::RampLimited));
    note_limits(shared, job, failure.limits.as_deref().copied(), wait).await;
}

fn outcome(next: AfterAttempt) -> AttemptOutcome {
    match next {
        AfterAttempt::RetryAt(_) | AfterAttempt::DeadLettered => AttemptOutcome::Retryable,
        AfterAttempt::Deferred { .. } => AttemptOutcome::Deferred,
        AfterAttempt::Failed => AttemptOutcome::Failed,
        AfterAttempt::Cancelled => AttemptOutcome::Cancelled,
    }
}

/// Decides about an attempt that our own shutdown cut off: it counts only if it may have run.
fn cut_off(
    job: &ClaimedJob,
    failure: &Failure,
    now: crate::model::Timestamp,
) -> (AfterAttempt, AttemptOutcome) {
    let may_have_run = failure.billed == Billed::Unknown && job.provider == Provider::Claude;
    if !may_have_run {
        (
            AfterAttempt::Deferred {
                open_circuit: false,
            },
            AttemptOutcome::Deferred,
        )
    } else if job.try_number() >= job.max_tries() {
        (AfterAttempt::DeadLettered, AttemptOutcome::Interrupted)
    } else {
        (AfterAttempt::RetryAt(now), AttemptOutcome::Interrupted)
    }
}

/// Has a change stored, trying again while the database refuses (a full disk, another writer).
pub(super) async fn stored<T, F, W>(shared: &Shared, change: F) -> Result<T>
where
    F: Fn() -> W,
    W: Future<Output = Result<T>>,
{
    let mut delay = STORE_DELAY;
    for _ in 1..STORE_TRIES {
        match change().await {
            Ok(done) => {
                if delay > STORE_DELAY {
                    shared.trouble_passed();
                }
                return Ok(done);
            }
            Err(error) => {
                shared.met_trouble(&error);
                shared
                    .clock
                    .sleep_until(shared.clock.now().after(delay))
                    .await;
                delay = (delay * 2).min(LONGEST_STORE_DELAY);
            }
        }
    }
    change().await
}
