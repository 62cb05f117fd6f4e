//! Claims, and whether they were right.

use std::collections::{BTreeMap, HashMap};

use super::steps::MODELS;
use super::world::{Checked, Entry, Handed, World, check, said};
use crate::model::{Delivery, JobStatus, ModelPrice, Provider, QueueName, Timestamp};
use crate::pricing::{Prices, estimate};
use crate::store::circuits::{self, Open};
use crate::store::gate::Gate;
use crate::store::{ClaimRequest, ClaimedJob, order, turns};

/// Jobs at once, and jobs of one claim.
const ROOM: [(QueueName, usize, usize); 2] = [(QueueName::High, 10, 5), (QueueName::Bulk, 3, 10)];

/// Where a pending job stands.
#[derive(Clone, Debug)]
struct Standing {
    place: (i64, i64, i64),
    held: i64,
}

/// What was before a claim.
pub(super) struct Before {
    line: HashMap<String, Standing>,
    pub(super) open: HashMap<Provider, Open>,
    window_was_empty: bool,
    running: Vec<(QueueName, u32)>,
}

impl World<'_> {
    fn line(&self) -> Checked<HashMap<String, Standing>> {
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT job_id, position, available_at, seq, held FROM jobs WHERE status = 'pending'",
            )
            .map_err(said)?;
        let found = statement
            .query_map([], |row| {
                let standing = Standing {
                    place: (row.get(1)?, row.get(2)?, row.get(3)?),
                    held: row.get(4)?,
                };
                Ok((row.get(0)?, standing))
            })
            .map_err(said)?;
        found.collect::<rusqlite::Result<_>>().map_err(said)
    }

    pub(super) fn claim(&mut self, claude_room: u32, limit: u32) -> Checked<usize> {
        let running = QueueName::ALL
            .map(|queue| {
                let running = self
                    .jobs
                    .values()
                    .filter(|job| job.status == JobStatus::Running && job.queue == queue);
                (queue, u32::try_from(running.count()).unwrap_or(u32::MAX))
            })
            .to_vec();
        self.claim_beside(running, claude_room, limit)
    }

    pub(super) fn claim_beside(
        &mut self,
        running: Vec<(QueueName, u32)>,
        claude_room: u32,
        limit: u32,
    ) -> Checked<usize> {
        // The claim does so, too; then it finds nothing left to do.
        order::follow_clock(self.connection, self.now).map_err(said)?;
        let before = self.before(running.clone())?;
        let request = ClaimRequest {
            local: self.local(),
            lease_expires_at: Timestamp(self.now.0 + 60_000),
            running,
            claude_room,
            limit,
        };
        let claimed = turns::claim(self.connection, &request).map_err(said)?;
        check!(
            claimed.len() <= limit as usize,
            "{} jobs were claimed of {limit}",
            claimed.len()
        );
        self.check_room(&before, &claimed, claude_room)?;
        self.check_order(&before, &claimed)?;
        let mut promised = 0;
        for job in &claimed {
            self.check_one(&before, job)?;
            check!(
                !self.hands_over(job.lease.job_id.as_str()) || self.is_answered(&job.lease),
                "{} was claimed, and is to be handed over",
                job.lease.job_id
            );
            promised += self.note_claimed(job)?;
        }
        if promised > 0 {
            self.check_budget(&before, &claimed, promised)?;
            self.check_caps(&claimed)?;
        }
        Ok(claimed.len())
    }

    /// Notes what is before a claim.
    pub(super) fn before(&self, running: Vec<(QueueName, u32)>) -> Checked<Before> {
        let gate = Gate::read(self.connection, &self.local()).map_err(said)?;
        Ok(Before {
            line: self.line()?,
            open: circuits::open(self.connection).map_err(said)?,
            window_was_empty: gate.windows.is_empty(),
            running,
        })
    }

    fn check_room(&self, before: &Before, claimed: &[ClaimedJob], claude_room: u32) -> Checked {
        let of = |provider| {
            claimed
                .iter()
                .filter(|job| job.provider == provider)
                .count()
        };
        check!(
            of(Provider::Claude) <= claude_room as usize,
            "more of Claude's jobs were claimed than there is room for"
        );
        for (provider, open) in &before.open {
            let most = usize::from(open.may_probe(self.now));
            let asking = claimed
                .iter()
                .filter(|job| job.provider == *provider && !self.asks_nobody(before, job))
                .count();
            check!(
                asking <= most,
                "the circuit of {provider:?} is open ({open:?}) and {asking} jobs were claimed"
            );
        }
        for (queue, at_once, at_a_time) in ROOM {
            let count = claimed.iter().filter(|job| job.queue == queue).count();
            let running = before.running.iter().find(|(of, _)| *of == queue);
            let room = at_once
                .saturating_sub(running.map_or(0, |(_, running)| *running as usize))
                .min(at_a_time);
            check!(
                count <= room,
                "{queue:?} has room for {room} and took {count}"
            );
        }
        Ok(())
    }

    /// Says whether a job only publishes what is answered already, although the circuit is open.
    fn asks_nobody(&self, before: &Before, job: &ClaimedJob) -> bool {
        let answer = (job.lease.job_id.as_str().to_owned(), job.lease.generation);
        before
            .open
            .get(&job.provider)
            .is_some_and(|open| !open.is_about_storage())
            && self.answers.contains(&answer)
    }

    /// Within a lane and a provider nobody is passed over without a reason that is kept.
    fn check_order(&self, before: &Before, claimed: &[ClaimedJob]) -> Checked {
        let after = self.line()?;
        let mut last: BTreeMap<(QueueName, &str, bool), (i64, i64, i64)> = BTreeMap::new();
        for job in claimed {
            let job_id = job.lease.job_id.as_str();
            let Some(standing) = before.line.get(job_id) else {
                return Err(format!("{job_id} was claimed and was not pending"));
            };
            let line = (job.queue, job.provider.as_str(), self.hands_over(job_id));
            // The large ones come after the others.
            let ordinary = standing.held == 0;
            if let Some(last) = last.get(&line).filter(|_| ordinary) {
                check!(
                    *last < standing.place,
                    "{job_id} was claimed behind its place"
                );
            }
            last.insert(line, standing.place);
            let about_storage = before
                .open
                .get(&job.provider)
                .is_some_and(Open::is_about_storage);
            for (other, standing_after) in &after {
                let same = self.jobs.get(other).is_some_and(|other| {
                    other.queue == job.queue
                        && other.provider == job.provider
                        && (other.delivery == Delivery::Batch) == self.hands_over(job_id)
                });
                let ready = standing_after.held == 0 && standing_after.place.1 <= self.now.0;
                let excused =
                    about_storage || self.asks_nobody(before, job) || self.hands_over(job_id);
                check!(
                    !(same && ready) || standing.place < standing_after.place || excused,
                    "{other} stands before {job_id}, which was claimed"
                );
            }
        }
        Ok(())
    }

    pub(super) fn check_one(&self, before: &Before, claimed: &ClaimedJob) -> Checked {
        let job_id = claimed.lease.job_id.as_str();
        let Some(job) = self.jobs.get(job_id) else {
            return Err(format!("{job_id} was claimed, which nobody knows"));
        };
        check!(
            job.status == JobStatus::Pending,
            "{job_id} was claimed as {:?}",
            job.status
        );
        check!(
            before
                .line
                .get(job_id)
                .is_some_and(|job| job.place.1 <= self.now.0),
            "{job_id} was claimed before its time"
        );
        check!(
            !job.paused
                && !self.paused_lanes.contains(&job.queue)
                && self.batches.get(&job.batch).is_some_and(|batch| !batch.0),
            "{job_id} was claimed while it is paused"
        );
        check!(
            claimed.lease.number == job.attempts + 1
                && claimed.lease.generation == job.generation
                && claimed.lease.number <= job.before + 6 + job.publishing,
            "{job_id} was delivered as {:?} after {} attempts",
            claimed.lease,
            job.attempts
        );
        check!(
            claimed.step == job.next_step(),
            "{job_id} was to ask {:?} in place of {:?}",
            claimed.step,
            job.next_step()
        );
        let tries = match claimed.queue {
            QueueName::High => 6,
            QueueName::Bulk => 4,
        };
        check!(
            (claimed.attempts_before, claimed.max_tries()) == (job.before, tries),
            "{job_id} has {} tries after {} attempts, in place of {tries} after {}",
            claimed.max_tries(),
            claimed.attempts_before,
            job.before
        );
        Ok(())
    }

    /// Notes that a job is held by a lease.
    pub(super) fn note_taken(&mut self, claimed: &ClaimedJob) {
        let Some(job) = self.jobs.get_mut(claimed.lease.job_id.as_str()) else {
            return;
        };
        job.status = JobStatus::Running;
        job.attempts += 1;
        job.lease = Some(claimed.lease.lease_id.clone());
        job.cancel_requested = false;
        job.outcomes.push((claimed.step, "running"));
        self.handed.push(Handed {
            lease: claimed.lease.clone(),
            provider: job.provider,
            max_attempts: claimed.max_attempts,
            step: claimed.step,
            known: false,
            closed: false,
        });
    }

    /// Notes that a job runs. Returns 1 when something was promised to it.
    fn note_claimed(&mut self, claimed: &ClaimedJob) -> Checked<usize> {
        let job_id = claimed.lease.job_id.as_str().to_owned();
        let key = (job_id.clone(), claimed.lease.generation);
        let answered = self.answers.contains(&key);
        let day = self.local().day;
        let prices = self.prices();
        self.note_taken(claimed);
        let Some(job) = self.jobs.get_mut(&job_id) else {
            return Err(format!("{job_id} is not known"));
        };
        job.publishing += u32::from(answered);
        if job.provider == Provider::Offline || answered {
            return Ok(0);
        }
        let work = job.work(&self.lengths);
        let worst = prices.at_worst_micros(&job.model, &estimate(&job.model, &work));
        let Some(micros) = worst else {
            return Err(format!("{job_id} was claimed and has no price"));
        };
        let entry = Entry {
            state: "reserved",
            micros,
            day,
            batch: job.batch.clone(),
        };
        self.ledger
            .insert((job_id, claimed.lease.lease_id.clone()), entry);
        Ok(1)
    }

    pub(super) fn prices(&self) -> Prices {
        Prices::new(self.rate.map(|rate| ModelPrice {
            model: MODELS[2].to_owned(),
            input: rate,
            output: rate,
            cache_write: rate,
            cache_read: rate,
            batch_percent: 50,
            long_prompt: None,
        }))
    }

    fn check_budget(&self, before: &Before, claimed: &[ClaimedJob], promised: usize) -> Checked {
        let gate = Gate::read(self.connection, &self.local()).map_err(said)?;
        if promised == 1 && before.window_was_empty {
            // One may be larger than a whole minute.
            return Ok(());
        }
        let used = gate.windows.used(None);
        check!(
            gate.limits().exceeded_by(used).is_none(),
            "{used:?} of {:?} are promised",
            gate.limits()
        );
        for job in claimed
            .iter()
            .filter(|job| job.provider == Provider::Claude)
        {
            let used = gate.windows.used(Some(&job.model));
            let limits = gate.limits_of(&job.model);
            let is_promised = |job: &ClaimedJob| {
                let lease = &job.lease;
                let key = (lease.job_id.as_str().to_owned(), lease.lease_id.clone());
                self.ledger.contains_key(&key)
            };
            let of_model = claimed
                .iter()
                .filter(|other| other.model == job.model && is_promised(other))
                .count();
            // The first one may be larger than a whole minute of its model, too.
            let is_first = before.window_was_empty && of_model == 1;
            check!(
                limits.exceeded_by(used).is_none() || is_first || !is_promised(job),
                "{used:?} of {limits:?} are promised to {}",
                job.model
            );
        }
        Ok(())
    }

    pub(super) fn check_caps(&self, claimed: &[ClaimedJob]) -> Checked {
        let day = self.local().day;
        let sum = |fits: &dyn Fn(&Entry) -> bool| -> i64 {
            let entries = self.ledger.values().filter(|entry| fits(entry));
            entries.map(|entry| entry.micros).sum()
        };
        for job in claimed {
            let key = (
                job.lease.job_id.as_str().to_owned(),
                job.lease.lease_id.clone(),
            );
            let Some(entry) = self.ledger.get(&key).filter(|entry| entry.micros > 0) else {
                continue;
            };
            let of_day = sum(&|other| other.day == day);
            let cap = self.settings.day_cap_micros;
            check!(
                cap.is_none_or(|cap| of_day <= cap),
                "{of_day} are promised of the day's {cap:?}"
            );
            let of_batch = sum(&|other| other.batch == entry.batch);
            let cap = self.batches.get(&entry.batch).and_then(|batch| batch.1);
            check!(
                cap.is_none_or(|cap| of_batch <= cap),
                "{of_batch} are promised of the batch's {cap:?}"
            );
        }
        Ok(())
    }
}
