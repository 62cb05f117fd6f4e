//! Storing a result and completing its job.

use super::worker::{end, stored};
use super::{Shared, question};
use crate::fault::FaultPoint;
use crate::model::{Cause, CopiesTo, JobKind, ResultFormat, Sha256};
use crate::provider::Failure;
use crate::results::{Library, with_origin};
use crate::store::{ClaimedJob, NewAnswer, NewResult, Result};

/// Stores the result of an answer that is kept, and completes the job.
pub(super) async fn publish(shared: &Shared, job: &ClaimedJob, answer: NewAnswer) -> Result<()> {
    let key = Library::key(&job.lease.job_id, job.lease.generation, answer.format);
    let put = match shared
        .library
        .put_if_absent(&key, file_text(job, &answer))
        .await
    {
        Ok(put) => put,
        Err(reason) => {
            return end(shared, job, Failure::unsent(Cause::StorageFailed, reason)).await;
        }
    };
    (shared.fault)(FaultPoint::Stored);
    let settings = shared.store.settings().await?;
    let result = NewResult {
        key: put.key,
        sha256: put.sha256.0,
        bytes: put.bytes,
        provider: job.provider,
        template: job
            .template
            .as_ref()
            .map(|template| (template.template_id.clone(), template.version)),
        document_sha256: job.document_sha256.clone(),
        reuse_key: question::reuse_key(job),
        answer,
        copy_wanted: settings.copies_to != CopiesTo::Nowhere && job.kind == JobKind::Pdf,
    };
    stored(shared, || {
        shared
            .store
            .complete(job.lease.clone(), result.clone(), shared.clock.now())
    })
    .await?;
    (shared.fault)(FaultPoint::Completed);
    Ok(())
}

/// Returns the text of a result's file: fields as they are, text with a line that says where it comes
/// from.
fn file_text(job: &ClaimedJob, answer: &NewAnswer) -> String {
    if answer.format == ResultFormat::Json {
        return format!("{}\n", answer.body);
    }
    let template = job.template.as_ref().map_or_else(
        || "prompt".to_owned(),
        |template| format!("{}-v{}", template.template_id, template.version),
    );
    let source = job
        .document_sha256
        .clone()
        .unwrap_or_else(|| Sha256::of(job.prompt.as_deref().unwrap_or_default().as_bytes()).0);
    with_origin(
        &answer.body,
        &format!(
            "{} by {}, {template}, source sha256 {source}",
            job.provider.as_str(),
            // A model's name comes from outside; it must not end the comment.
            answer.model.replace("--", "–"),
        ),
    )
}
