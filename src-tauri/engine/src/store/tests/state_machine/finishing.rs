//! Ends of attempts, by those whose lease holds and by those who come late; and crashes.

use super::long::answer_of;
use super::steps::{How, Picked, Settle, Usage};
use super::world::{Checked, Handed, World, check, said};
use crate::model::{AttemptOutcome, Cause, JobStatus, Provider};
use crate::store::{
    AfterAttempt, AttemptEnd, Lease, NewAnswer, NewResult, Settlement, answers, complete, finish,
    recover,
};

impl World<'_> {
    /// Says whether a lease still holds its job.
    pub(super) fn holds(&self, lease: &Lease) -> bool {
        self.jobs
            .get(lease.job_id.as_str())
            .is_some_and(|job| job.lease.as_ref() == Some(&lease.lease_id))
    }

    pub(super) fn picked(&self, picked: Picked) -> Option<usize> {
        let places: Vec<usize> = (0..self.handed.len())
            .filter(|place| self.holds(&self.handed[*place].lease) != picked.late)
            .collect();
        let place = picked.pick.checked_rem(places.len())?;
        Some(places[place])
    }

    /// Says whether an answer waits to be published by this lease's run.
    pub(super) fn is_answered(&self, lease: &Lease) -> bool {
        let key = (lease.job_id.as_str().to_owned(), lease.generation);
        self.answers.contains(&key)
    }

    /// Notes that the attempt of a lease knows what it used, where there still is an attempt.
    pub(super) fn note_known(&mut self, place: usize) {
        let job_id = self.handed[place].lease.job_id.as_str();
        self.handed[place].known |= self.jobs.contains_key(job_id);
    }

    pub(super) fn settle(&mut self, lease: &Lease, settlement: Settlement) {
        let key = (lease.job_id.as_str().to_owned(), lease.lease_id.clone());
        let Some(entry) = self.ledger.get_mut(&key) else {
            return;
        };
        let open = match settlement {
            Settlement::Unknown => entry.state == "reserved",
            _ => matches!(entry.state, "reserved" | "unknown"),
        };
        if !open {
            return;
        }
        (entry.state, entry.micros) = match settlement {
            Settlement::Nothing { .. } => ("refunded", 0),
            Settlement::Known {
                micros: Some(micros),
                ..
            } => ("settled", micros),
            Settlement::Unknown | Settlement::Known { .. } => ("unknown", entry.micros),
        };
    }

    pub(super) fn answer(&mut self, picked: Picked, usage: Usage) -> Checked {
        let Some(place) = self.picked(picked) else {
            return Ok(());
        };
        if let Some(pages) = self.pages_asked(place) {
            return self.keep_part(place, pages, usage, false);
        }
        if !self.is_answered(&self.handed[place].lease) || picked.late {
            return self.keep(place, usage);
        }
        // The worker publishes what it finds.
        Ok(())
    }

    /// Returns the tokens and the money that a call came to.
    pub(super) fn used(&self, place: usize, usage: Usage) -> (u64, Option<i64>) {
        let Handed {
            lease, provider, ..
        } = &self.handed[place];
        let key = (lease.job_id.as_str().to_owned(), lease.lease_id.clone());
        let promised = self.ledger.get(&key).map_or(0, |entry| entry.micros);
        let (tokens, micros) = match usage {
            Usage::Little => (50, Some(promised / 4)),
            Usage::All => (700, Some(promised)),
            Usage::More => (9_000, Some(promised * 2)),
            Usage::OfUnknownPrice => (700, None),
        };
        match provider {
            Provider::Offline => (tokens, Some(0)),
            Provider::Claude => (tokens, micros),
        }
    }

    fn keep(&mut self, place: usize, usage: Usage) -> Checked {
        let (tokens, micros) = self.used(place, usage);
        let settlement = Settlement::Known {
            input_tokens: tokens,
            output_tokens: tokens,
            micros,
        };
        self.keep_answer(place, &answer_of(tokens, micros), settlement)
    }

    pub(super) fn keep_answer(
        &mut self,
        place: usize,
        answer: &NewAnswer,
        settlement: Settlement,
    ) -> Checked {
        let lease = self.handed[place].lease.clone();
        let held = answers::keep_answer(self.connection, &lease, answer, settlement, self.now)
            .map_err(said)?;
        check!(
            held == self.holds(&lease),
            "keeping the answer of {} said {held}",
            lease.job_id
        );
        self.note_known(place);
        self.settle(&lease, settlement);
        if held {
            self.answers
                .insert((lease.job_id.as_str().to_owned(), lease.generation));
        }
        Ok(())
    }

    pub(super) fn complete(&mut self, picked: Picked, review: bool) -> Checked {
        match self.picked(picked) {
            Some(place) => self.deliver(place, review),
            None => Ok(()),
        }
    }

    /// Ends an attempt with what it was made for: the answer of a part, or a result.
    pub(super) fn deliver(&mut self, place: usize, review: bool) -> Checked {
        if let Some(pages) = self.pages_asked(place) {
            return self.keep_part(place, pages, Usage::Little, review);
        }
        let lease = self.handed[place].lease.clone();
        if self.holds(&lease) && !self.is_answered(&lease) {
            self.keep(place, Usage::Little)?;
        }
        let provider = self.handed[place].provider;
        let mut result = NewResult {
            key: format!("{}-{}", lease.job_id, lease.generation),
            sha256: "0".repeat(64),
            bytes: 1,
            provider,
            template: None,
            document_sha256: None,
            reuse_key: None,
            answer: answer_of(1, Some(1)),
            copy_wanted: true,
        };
        if review {
            result.answer.review = Some((Cause::CutOff, "Cut off.".to_owned()));
        }
        let held = complete::complete(self.connection, &lease, &result, self.now).map_err(said)?;
        check!(
            held == self.holds(&lease),
            "completing {} said {held}",
            lease.job_id
        );
        if !held {
            return Ok(());
        }
        if !self.handed[place].known {
            self.settle(&lease, Settlement::Nothing { asked: false });
        }
        self.note_known(place);
        self.answers
            .remove(&(lease.job_id.as_str().to_owned(), lease.generation));
        let (status, outcome) = if review {
            (JobStatus::NeedsReview, "needs-review")
        } else {
            (JobStatus::Completed, "completed")
        };
        self.close(&lease, status, outcome);
        Ok(())
    }

    pub(super) fn close(&mut self, lease: &Lease, status: JobStatus, outcome: &'static str) {
        if let Some(job) = self.jobs.get_mut(lease.job_id.as_str()) {
            job.status = status;
            job.lease = None;
            if let Some(last) = job.outcomes.last_mut() {
                last.1 = outcome;
            }
        }
        self.note_closed(lease);
    }

    /// Notes that the attempt of a lease has ended.
    pub(super) fn note_closed(&mut self, lease: &Lease) {
        for handed in &mut self.handed {
            handed.closed |= handed.lease == *lease;
        }
    }

    pub(super) fn end(&mut self, picked: Picked, how: How, settle: Settle) -> Checked {
        let Some(place) = self.picked(picked) else {
            return Ok(());
        };
        let handed = self.handed[place].clone();
        let lease = handed.lease.clone();
        let holds = self.holds(&lease);
        let answered = self.is_answered(&lease);
        let end = self.end_of(&handed, how, settle, answered && holds);
        let held = finish::end_attempt(self.connection, &lease, handed.provider, &end, self.now)
            .map_err(said)?;
        check!(held == holds, "ending {} said {held}", lease.job_id);
        if !handed.known {
            self.settle(&lease, end.settlement);
        }
        if end.cost_micros.is_some() {
            self.note_known(place);
        }
        if !held {
            return Ok(());
        }
        let unwanted = !answered
            && self
                .jobs
                .get(lease.job_id.as_str())
                .is_some_and(|job| job.cancel_requested);
        let status = match end.next {
            AfterAttempt::Failed => JobStatus::Failed,
            AfterAttempt::DeadLettered => JobStatus::DeadLettered,
            AfterAttempt::Cancelled => JobStatus::Cancelled,
            // Called off by another program, and not heard of yet.
            AfterAttempt::RetryAt(_) | AfterAttempt::Deferred { .. } if unwanted => {
                JobStatus::Cancelled
            }
            AfterAttempt::RetryAt(_) | AfterAttempt::Deferred { .. } => JobStatus::Pending,
        };
        if matches!(end.next, AfterAttempt::Deferred { .. })
            && let Some(job) = self.jobs.get_mut(lease.job_id.as_str())
        {
            job.attempts -= 1;
            if answered {
                job.publishing = job.publishing.saturating_sub(1);
            }
        }
        self.close(&lease, status, end.outcome.as_str());
        Ok(())
    }

    fn end_of(&self, handed: &Handed, how: How, settle: Settle, answered: bool) -> AttemptEnd {
        let (next, cause) = match how {
            How::Retry { .. } if handed.lease.number >= handed.max_attempts => {
                (AfterAttempt::DeadLettered, Cause::Overloaded)
            }
            How::Retry { delay_s } => {
                let delay = std::time::Duration::from_secs(delay_s.unsigned_abs());
                (
                    AfterAttempt::RetryAt(self.now.after(delay)),
                    Cause::Overloaded,
                )
            }
            How::Defer => (
                AfterAttempt::Deferred {
                    open_circuit: false,
                },
                Cause::Interrupted,
            ),
            How::Trip(cause) => (AfterAttempt::Deferred { open_circuit: true }, cause),
            How::Fail => (AfterAttempt::Failed, Cause::InvalidRequest),
            How::Cancel => (AfterAttempt::Cancelled, Cause::Interrupted),
        };
        let outcome = match next {
            AfterAttempt::RetryAt(_) | AfterAttempt::DeadLettered => AttemptOutcome::Retryable,
            AfterAttempt::Deferred { .. } => AttemptOutcome::Deferred,
            AfterAttempt::Failed => AttemptOutcome::Failed,
            AfterAttempt::Cancelled => AttemptOutcome::Cancelled,
        };
        // Only the publication of an answer is left to fail.
        let settle = if answered || handed.provider == Provider::Offline {
            Settle::Unasked
        } else {
            settle
        };
        let (settlement, cost_micros) = match settle {
            Settle::Unknown => (Settlement::Unknown, None),
            Settle::Unasked => (Settlement::Nothing { asked: false }, Some(0)),
            Settle::Asked => (Settlement::Nothing { asked: true }, Some(0)),
            Settle::Known => {
                let known = Settlement::Known {
                    input_tokens: 10,
                    output_tokens: 10,
                    micros: Some(5),
                };
                (known, Some(5))
            }
        };
        AttemptEnd {
            outcome,
            cause,
            message: "It ended.".to_owned(),
            http_status: None,
            request_id: None,
            told_to_wait_ms: None,
            input_tokens: None,
            output_tokens: None,
            cost_micros,
            settlement,
            next,
        }
    }

    /// The program dies, and starts again.
    pub(super) fn crash(&mut self) -> Checked {
        let running: Vec<Lease> = self
            .handed
            .iter()
            .map(|handed| handed.lease.clone())
            .filter(|lease| self.holds(lease))
            .collect();
        let recovered = recover::recover_all(self.connection, self.now).map_err(said)?;
        check!(
            recovered == running.len() as u64,
            "{recovered} jobs were recovered of {}",
            running.len()
        );
        let put_back = self.crash_remotes();
        for lease in running
            .into_iter()
            .filter(|lease| !put_back.contains(lease))
        {
            self.settle(&lease, Settlement::Unknown);
            let answered = self.is_answered(&lease);
            let Some(job) = self.jobs.get(lease.job_id.as_str()) else {
                continue;
            };
            let max_attempts = match job.queue {
                crate::model::QueueName::High => 6,
                crate::model::QueueName::Bulk => 4,
            };
            let status = if answered {
                JobStatus::Pending
            } else if job.cancel_requested {
                JobStatus::Cancelled
            } else if job.attempts - job.before < max_attempts {
                JobStatus::Pending
            } else {
                JobStatus::DeadLettered
            };
            self.close(&lease, status, "interrupted");
        }
        Ok(())
    }
}
