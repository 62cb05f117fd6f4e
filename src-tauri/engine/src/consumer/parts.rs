//! Documents that are asked part by part: what becomes of an answer, and of a part that one call does not take.

use super::Shared;
use super::active::Wish;
use super::worker::stored;
use crate::fault::FaultPoint;
use crate::model::{AttemptOutcome, AttemptStep, Cause, JobKind, PageRange, Provider};
use crate::provider::{Answer, Billed, Failure};
use crate::store::{AfterAttempt, AttemptEnd, ClaimedJob, NewAnswer, Result, Settlement};

/// Keeps the answer of a part; its job goes back in line for the next one.
pub(super) async fn keep_part(
    shared: &Shared,
    job: &ClaimedJob,
    pages: PageRange,
    answer: NewAnswer,
    settlement: Settlement,
) -> Result<()> {
    stored(shared, || {
        shared.store.keep_part(
            job.lease.clone(),
            pages,
            answer.clone(),
            settlement,
            shared.clock.now(),
        )
    })
    .await?;
    (shared.fault)(FaultPoint::PartKept);
    Ok(())
}

/// Has what one call does not take asked in parts instead. Says whether it can be; the attempt has ended then,
/// uncounted. Ends with parts of one page.
pub(super) async fn divide(shared: &Shared, job: &ClaimedJob, failure: &Failure) -> Result<bool> {
    let pages = match job.step {
        AttemptStep::Combine => return Ok(false),
        AttemptStep::Whole => None,
        AttemptStep::Part { pages } => Some(pages),
    };
    let too_large = matches!(
        failure.cause,
        Cause::TooLarge | Cause::FilesNotTaken | Cause::TooManyPages | Cause::PromptTooLong
    );
    let is_asked_for = job.kind == JobKind::Pdf
        && job.provider == Provider::Claude
        && failure.billed == Billed::No
        && shared.active.wish(&job.lease.job_id) != Wish::Cancelled;
    if !too_large || !is_asked_for {
        return Ok(false);
    }
    let attempt_end = AttemptEnd {
        outcome: AttemptOutcome::Deferred,
        cause: failure.cause,
        message: format!("{} It is asked in smaller parts.", failure.message),
        http_status: failure.http_status,
        request_id: failure.request_id.clone(),
        told_to_wait_ms: None,
        input_tokens: None,
        output_tokens: None,
        cost_micros: Some(0),
        settlement: Settlement::Nothing {
            asked: failure.http_status.is_some(),
        },
        next: AfterAttempt::Deferred {
            open_circuit: false,
        },
    };
    stored(shared, || {
        shared.store.divide(
            job.lease.clone(),
            job.provider,
            pages,
            attempt_end.clone(),
            shared.clock.now(),
        )
    })
    .await
}

/// Keeps what was counted of a document beside what was estimated, so that later estimates can be judged.
pub(super) async fn compare_estimate(shared: &Shared, job: &ClaimedJob, answer: &Answer) {
    let is_document = job.kind == JobKind::Pdf && job.step != AttemptStep::Combine;
    let read = !matches!(answer.review, Some((Cause::DocumentNotRead, _)));
    let Some(estimated) = job.estimated_input.filter(|_| is_document && read) else {
        return;
    };
    let recorded = shared
        .store
        .record_estimates(
            job.model.clone(),
            job.sends,
            vec![(estimated, answer.usage.total_input())],
            shared.clock.now(),
        )
        .await;
    if let Err(error) = recorded {
        // The next answer is compared, too.
        tracing::debug!(%error, "an estimate could not be compared");
    }
}
