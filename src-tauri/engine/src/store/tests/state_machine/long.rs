//! Long documents: asked part by part, put together, divided.

use std::collections::BTreeMap;

use super::steps::{Picked, Usage};
use super::world::{Checked, Handed, Job, World, check, said};
use crate::model::{
    AttemptOutcome, AttemptStep, Cause, JobStatus, PageRange, Provider, ResultFormat, Sends,
};
use crate::parts::{self, FRAME_BYTES, Known, Part, Question};
use crate::pricing::{Work, ceiling};
use crate::store::tests::support::refused;
use crate::store::{AfterAttempt, Lease, NewAnswer, Settlement, parts as stored};

/// Bytes of every document.
pub(super) const DOCUMENT_BYTES: u64 = 1_000;
/// Milliseconds after which a whole minute's budget is there again.
const A_MINUTE: i64 = 61_000;

/// A part of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) pages: PageRange,
    /// Whether it is answered, and whether a person has to look at the answer.
    pub(super) answer: Option<bool>,
}

impl Piece {
    pub(super) fn new(first: u32, last: u32) -> Self {
        Self {
            pages: PageRange { first, last },
            answer: None,
        }
    }
}

/// Divides pages in so many pieces.
pub(super) fn pieces(pages: u32, count: u32) -> Vec<Piece> {
    let last = |number: u32| pages * number / count;
    (0..count)
        .map(|number| Piece::new(last(number) + 1, last(number + 1)))
        .collect()
}

impl Job {
    /// Returns what is asked next.
    pub(super) fn next_step(&self) -> AttemptStep {
        let missing = self.parts.iter().find(|part| part.answer.is_none());
        match missing {
            Some(part) => AttemptStep::Part { pages: part.pages },
            None if self.parts.is_empty() => AttemptStep::Whole,
            None => AttemptStep::Combine,
        }
    }

    pub(super) fn parts_done(&self) -> usize {
        self.parts
            .iter()
            .filter(|part| part.answer.is_some())
            .count()
    }

    /// Returns what is asked about its document.
    fn question(&self, lengths: &BTreeMap<&'static str, (u64, u64)>) -> Question<'_> {
        let (prompt_bytes, prompt_characters) = lengths[self.template];
        Question {
            model: &self.model,
            sends: Sends::Pdf,
            prompt_bytes,
            prompt_characters,
            max_tokens: self.max_tokens,
            ceiling: ceiling(&self.model),
        }
    }

    /// Returns what its next call works on.
    pub(super) fn work(&self, lengths: &BTreeMap<&'static str, (u64, u64)>) -> Work {
        let Some(pages) = self.pages else {
            return Work {
                document: None,
                prompt_bytes: 5,
                prompt_characters: 5,
                max_tokens: self.max_tokens,
            };
        };
        let question = self.question(lengths);
        let framed = |answers: u64| {
            let words = answer_of(0, None).body.len() as u64;
            let around = FRAME_BYTES + answers * (FRAME_BYTES + words);
            Question {
                prompt_bytes: question.prompt_bytes + around,
                prompt_characters: question.prompt_characters + around,
                ..question
            }
        };
        match self.next_step() {
            AttemptStep::Whole => question.work(Some(pages), None),
            AttemptStep::Part { pages } => framed(0).work(Some(pages.pages()), None),
            AttemptStep::Combine => Work {
                document: None,
                ..framed(self.parts.len() as u64).work(None, None)
            },
        }
    }
}

pub(super) fn answer_of(tokens: u64, cost_micros: Option<i64>) -> NewAnswer {
    NewAnswer {
        body: "An answer.".to_owned(),
        model: "some".to_owned(),
        stop_reason: None,
        request_id: None,
        input_tokens: tokens,
        output_tokens: tokens,
        cost_micros,
        review: None,
        format: ResultFormat::Markdown,
        reused_from: None,
        passages: Vec::new(),
    }
}

impl World<'_> {
    /// Returns the parts that a job is asked in when it begins anew.
    pub(super) fn planned(&self, job: &Job) -> Vec<Piece> {
        let Some(pages) = job.pages.filter(|_| job.provider == Provider::Claude) else {
            return Vec::new();
        };
        let document = Known {
            pages: Some(pages),
            bytes: DOCUMENT_BYTES,
            text: None,
            measures: None,
        };
        let minute = u64::from(self.settings.tokens_per_minute);
        let parts = parts::plan(&document, &job.question(&self.lengths), minute);
        let piece = |part: Part| Piece::new(part.pages.first, part.pages.last);
        parts.unwrap_or_default().into_iter().map(piece).collect()
    }

    /// Returns the pages that a lease asked about, where it asked about a part.
    pub(super) fn pages_asked(&self, place: usize) -> Option<PageRange> {
        let handed = &self.handed[place];
        match handed.step {
            // What another job was answered is published as it is.
            AttemptStep::Part { pages } if !self.is_answered(&handed.lease) => Some(pages),
            _ => None,
        }
    }

    /// Returns where a pending job stands in line.
    pub(super) fn place(&self, lease: &Lease) -> Checked<Option<(i64, i64)>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT position, available_at FROM jobs WHERE job_id = ?1")
            .map_err(said)?;
        let mut found = statement
            .query_map([lease.job_id.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })
            .map_err(said)?;
        found.next().transpose().map_err(said)
    }

    /// The answer of a part comes.
    pub(super) fn keep_part(
        &mut self,
        place: usize,
        pages: PageRange,
        usage: Usage,
        review: bool,
    ) -> Checked {
        let lease = self.handed[place].lease.clone();
        let (tokens, micros) = self.used(place, usage);
        let settlement = Settlement::Known {
            input_tokens: tokens,
            output_tokens: tokens,
            micros,
        };
        let mut answer = answer_of(tokens, micros);
        if review {
            answer.review = Some((Cause::CutOff, "Cut off.".to_owned()));
        }
        let before = self.place(&lease)?;
        let held = stored::keep_part(
            self.connection,
            &lease,
            pages,
            &answer,
            settlement,
            self.now,
        )
        .map_err(said)?;
        check!(
            held == self.holds(&lease),
            "keeping a part of {} said {held}",
            lease.job_id
        );
        self.note_known(place);
        self.settle(&lease, settlement);
        if !held {
            return Ok(());
        }
        check!(
            before == self.place(&lease)?,
            "{} lost its place in line with an answer",
            lease.job_id
        );
        let job_id = lease.job_id.as_str();
        let Some(job) = self.jobs.get_mut(job_id) else {
            return Err(format!("{job_id} is not known"));
        };
        let asked = job.parts.iter_mut().find(|part| part.pages == pages);
        let Some(part) = asked.filter(|part| part.answer.is_none()) else {
            return Err(format!("{job_id} was asked about {pages:?} in vain"));
        };
        part.answer = Some(review);
        job.before = job.attempts;
        let status = if job.cancel_requested {
            JobStatus::Cancelled
        } else {
            JobStatus::Pending
        };
        let outcome = if review { "needs-review" } else { "completed" };
        self.close(&lease, status, outcome);
        Ok(())
    }

    /// What was asked about turns out to be more than one call takes.
    pub(super) fn divide(&mut self, picked: Picked) -> Checked {
        let Some(place) = self.picked(picked) else {
            return Ok(());
        };
        let Handed {
            lease,
            provider,
            step,
            ..
        } = self.handed[place].clone();
        let is_document = |job: &Job| job.pages.is_some();
        if provider == Provider::Offline
            || step == AttemptStep::Combine
            || self.is_answered(&lease)
            || !self
                .jobs
                .get(lease.job_id.as_str())
                .is_some_and(is_document)
        {
            return Ok(());
        }
        let expected = self.divided(&lease, step);
        let end = refused(
            AttemptOutcome::Deferred,
            Cause::PromptTooLong,
            AfterAttempt::Deferred {
                open_circuit: false,
            },
        );
        let asked = match step {
            AttemptStep::Part { pages } => Some(pages),
            AttemptStep::Whole | AttemptStep::Combine => None,
        };
        let before = self.place(&lease)?;
        let divided = stored::divide(self.connection, &lease, provider, asked, &end, self.now)
            .map_err(said)?;
        check!(
            divided == expected.is_some(),
            "dividing {} said {divided}",
            lease.job_id
        );
        let Some(parts) = expected else {
            return Ok(());
        };
        check!(
            before == self.place(&lease)?,
            "{} lost its place in line when it was divided",
            lease.job_id
        );
        if !self.handed[place].known {
            self.settle(&lease, end.settlement);
        }
        self.note_known(place);
        if let Some(job) = self.jobs.get_mut(lease.job_id.as_str()) {
            job.parts = parts;
            job.attempts -= 1;
            let status = if job.cancel_requested {
                JobStatus::Cancelled
            } else {
                JobStatus::Pending
            };
            self.close(&lease, status, "deferred");
        }
        Ok(())
    }

    /// Returns the parts of a job after what a lease asked about was divided; `None` where it can't be.
    fn divided(&self, lease: &Lease, step: AttemptStep) -> Option<Vec<Piece>> {
        let job = self
            .jobs
            .get(lease.job_id.as_str())
            .filter(|_| self.holds(lease))?;
        let halved = |pages: PageRange| {
            let middle = pages.first + (pages.last - pages.first) / 2;
            (pages.first < pages.last).then(|| {
                [
                    Piece::new(pages.first, middle),
                    Piece::new(middle + 1, pages.last),
                ]
            })
        };
        let AttemptStep::Part { pages } = step else {
            let planned = self.planned(job);
            if !planned.is_empty() {
                return Some(planned);
            }
            return Some(
                halved(PageRange {
                    first: 1,
                    last: job.pages?,
                })?
                .to_vec(),
            );
        };
        let halves = halved(pages)?;
        let mut parts = job.parts.clone();
        let at = parts.iter().position(|part| part.pages == pages)?;
        parts.splice(at..=at, halves);
        Some(parts)
    }

    /// Another job was given this answer while this one waited.
    pub(super) fn serve(&mut self, picked: Picked) -> Checked {
        let Some(place) = self.picked(picked) else {
            return Ok(());
        };
        if picked.late || self.is_answered(&self.handed[place].lease) {
            return Ok(());
        }
        self.keep_answer(
            place,
            &answer_of(0, Some(0)),
            Settlement::Nothing { asked: false },
        )
    }

    /// The consumer works: it claims all that it may, answers all of it, and waits for the next minute.
    pub(super) fn work_on(&mut self, minutes: u32) -> Checked {
        for _ in 0..minutes {
            self.claim_beside(Vec::new(), u32::MAX, 100)?;
            let running: Vec<usize> = (0..self.handed.len())
                .filter(|place| self.holds(&self.handed[*place].lease))
                .collect();
            for place in running {
                self.deliver(place, false)?;
            }
            self.now.0 += A_MINUTE;
        }
        Ok(())
    }
}
