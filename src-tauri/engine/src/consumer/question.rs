//! What an attempt asks, and whether it was answered before.

use super::Shared;
use crate::model::{JobKind, TemplateKind};
use crate::provider::{Request, RequestDocument, Shape};
use crate::reuse::{self, Asked};
use crate::store::{ClaimedJob, NewAnswer, Result};
use crate::templates::{self, Template};

/// Returns what the provider of a claimed job is asked.
pub(super) fn request(job: &ClaimedJob, document: Option<RequestDocument>) -> Request {
    let (prompt, shape) = match (&job.template, job.kind) {
        (Some(template), JobKind::Pdf) => {
            let pages = document.as_ref().and_then(|document| document.pages);
            let values = reuse::values(&job.variables, &job.title, pages);
            (templates::render(&template.body, &values), shape(template))
        }
        _ => (job.prompt.clone().unwrap_or_default(), Shape::Text),
    };
    Request {
        document,
        prompt,
        model: job.model.clone(),
        max_tokens: job.max_tokens,
        shape,
    }
}

/// Returns what the answer to a template has to look like.
pub(crate) fn shape(template: &Template) -> Shape {
    match template.kind {
        TemplateKind::Prose => Shape::Text,
        TemplateKind::CitedProse => Shape::CitedText,
        TemplateKind::Fields => Shape::Json(templates::fields::schema(&template.fields)),
    }
}

/// Returns the digest of all that the answer of a job depends on; `None` where it does not serve again.
pub(super) fn reuse_key(job: &ClaimedJob) -> Option<String> {
    let values = reuse::values(&job.variables, &job.title, job.pages);
    reuse::key(&Asked {
        document_sha256: job.document_sha256.as_deref()?,
        template: job.template.as_ref()?,
        provider: job.provider,
        model: &job.model,
        values: &values,
    })
}

/// Returns the answer of an earlier job to the same question, unless this one is to be asked anew.
pub(super) async fn earlier_answer(shared: &Shared, job: &ClaimedJob) -> Result<Option<NewAnswer>> {
    let Some(key) = reuse_key(job).filter(|_| !job.fresh) else {
        return Ok(None);
    };
    let mut found = reuse::answers(&shared.store, &shared.library, vec![key.clone()]).await?;
    Ok(found.remove(&key))
}
