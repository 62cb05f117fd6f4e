//! Jobs that are put back, with the same question or another one.

use super::steps::{Change, Pick};
use super::world::{Checked, Job, World, check, said};
use crate::model::{Delivery, JobStatus};
use crate::store::redrive::{self, Changes};
use crate::store::templates;

/// What decides whether an answer is one to the same question.
type Asked = (crate::model::Provider, String, Option<&'static str>);

fn asked(job: &Job) -> Asked {
    let template = job.pages.map(|_| job.template);
    (job.provider, job.model.clone(), template)
}

impl World<'_> {
    pub(super) fn redrive(&mut self, pick: Pick, change: Change) -> Checked {
        let picked = self.some(pick);
        let mut changes = Changes::default();
        match change {
            Change::Nothing => {}
            Change::Provider(provider) => changes.provider = Some(provider),
            Change::Model(model) => changes.model = Some(model.to_owned()),
            Change::Queue(queue) => changes.queue = Some(queue),
            Change::Delivery(delivery) => changes.delivery = Some(delivery),
            Change::MaxTokens(max_tokens) => changes.max_tokens = Some(max_tokens),
            Change::Template(template) => {
                changes.template =
                    templates::template(self.connection, template, 1).map_err(said)?;
            }
            Change::Completed => changes.completed = true,
        }
        let seqs = self.seqs(&picked)?;
        let put_back =
            redrive::redrive(self.connection, &seqs, &changes, self.now).map_err(said)?;
        let mut expected = 0;
        for job_id in picked {
            // What is out may be paid: it is not asked again.
            let fits = !self.is_out(&job_id)
                && self.jobs.get(&job_id).is_some_and(|job| {
                    job.status.is_final()
                        && (job.status != JobStatus::Completed || changes.completed)
                });
            if fits {
                expected += 1;
                self.put_back(&job_id, change);
            }
        }
        check!(
            put_back.len() == expected,
            "{} jobs were put back in place of {expected}",
            put_back.len()
        );
        Ok(())
    }

    fn put_back(&mut self, job_id: &str, change: Change) {
        let Some(old) = self.jobs.get(job_id) else {
            return;
        };
        let mut job = Job {
            status: JobStatus::Pending,
            generation: old.generation + 1,
            attempts: 0,
            before: 0,
            publishing: 0,
            cancel_requested: false,
            paused: false,
            ..old.clone()
        };
        match change {
            Change::Nothing | Change::Completed => {}
            Change::Provider(provider) => job.provider = provider,
            Change::Model(model) => model.clone_into(&mut job.model),
            Change::Queue(queue) => job.queue = queue,
            Change::Delivery(delivery) => job.delivery = delivery,
            Change::MaxTokens(max_tokens) => job.max_tokens = max_tokens,
            Change::Template(template) => job.template = template,
        }
        if !job.may_go_either_way() {
            job.delivery = Delivery::Each;
        }
        let same_question = asked(old) == asked(&job) && old.status != JobStatus::Completed;
        let same_answer = same_question && old.max_tokens == job.max_tokens;
        let kept = (job_id.to_owned(), old.generation);
        if same_answer && self.answers.remove(&kept) {
            // What is answered is published with the parts that it was made of.
            self.answers.insert((kept.0, job.generation));
        } else {
            for part in &mut job.parts {
                let serves = same_question && part.answer == Some(false);
                part.answer = part.answer.filter(|_| serves);
            }
            if job.parts_done() == 0 {
                job.parts = self.planned(&job);
            }
        }
        self.jobs.insert(job_id.to_owned(), job);
    }
}
