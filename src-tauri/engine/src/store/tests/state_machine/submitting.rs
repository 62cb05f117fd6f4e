//! Submissions: prompts, and documents in parts or not.

use super::long::{DOCUMENT_BYTES, Piece, pieces};
use super::steps::{NewSubmission, TEMPLATES};
use super::world::{Checked, Job, World, said};
use crate::model::{
    BatchId, Delivery, DocumentFacts, DocumentView, Encryption, JobId, JobStatus, Provider,
    QueueName, Sends, Sha256, Variables,
};
use crate::parts::Part;
use crate::store::{NewBatch, NewInput, NewJob, submit};

impl World<'_> {
    pub(super) fn submit(&mut self, new: &NewSubmission) -> Checked {
        self.batch_number += 1;
        let batch = format!("batch-{}", self.batch_number);
        let mut jobs = Vec::new();
        for _ in 0..new.jobs {
            self.submitted += 1;
            let job_id = format!("job-{:03}", self.submitted);
            let parts = match new.document {
                Some(document) if new.provider == Provider::Claude => {
                    pieces(document.pages, document.parts)
                }
                _ => Vec::new(),
            };
            let pages = new.document.map(|document| document.pages);
            jobs.push(new_job(&job_id, pages, &parts));
            let job = Job {
                status: JobStatus::Pending,
                queue: new.queue,
                delivery: match (new.queue, new.provider) {
                    (QueueName::Bulk, Provider::Claude) => new.delivery.unwrap_or(self.bulk_goes),
                    _ => Delivery::Each,
                },
                provider: new.provider,
                model: new.model.to_owned(),
                max_tokens: new.max_tokens,
                batch: batch.clone(),
                generation: 1,
                attempts: 0,
                lease: None,
                cancel_requested: false,
                paused: false,
                outcomes: Vec::new(),
                publishing: 0,
                pages,
                template: TEMPLATES[0],
                parts,
                before: 0,
            };
            self.jobs.insert(job_id, job);
        }
        self.batches.insert(batch.clone(), (new.paused, new.cap));
        let new = NewBatch {
            batch_id: BatchId(batch),
            name: "Batch".to_owned(),
            user_id: "local".to_owned(),
            queue: new.queue,
            delivery: new.delivery,
            template: new.document.map(|_| (TEMPLATES[0].to_owned(), 1)),
            provider: new.provider,
            model: new.model.to_owned(),
            max_tokens: new.max_tokens,
            cap_micros: new.cap,
            paused: new.paused,
            sends: Sends::Pdf,
            variables: Variables::new(),
            fresh: false,
            expected_micros: None,
            at_worst_micros: None,
            folder: None,
            jobs,
            pilot: Vec::new(),
        };
        submit::insert(self.connection, &new, self.now).map_err(said)
    }
}

fn new_job(job_id: &str, pages: Option<u32>, parts: &[Piece]) -> NewJob {
    let input = match pages {
        None => NewInput::Prompt("What?".to_owned()),
        Some(pages) => NewInput::Pdf {
            path: format!("/there/{job_id}.pdf"),
            relative_path: format!("{job_id}.pdf"),
            modified_ms: 0,
            document: Some(DocumentView {
                sha256: Sha256::of(job_id.as_bytes()),
                bytes: DOCUMENT_BYTES,
                pages: Some(pages),
                encryption: Encryption::None,
                has_text: None,
                facts: DocumentFacts::default(),
                finding: None,
            }),
            measures: None,
        },
    };
    let part = |piece: &Piece| Part {
        pages: piece.pages,
        text: None,
    };
    NewJob {
        job_id: JobId(job_id.to_owned()),
        title: job_id.to_owned(),
        input,
        finding: None,
        reused: None,
        parts: parts.iter().map(part).collect(),
    }
}
