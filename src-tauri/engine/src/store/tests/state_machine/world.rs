//! The model, and the steps other than claims and ends.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;

use super::long::Piece;
use super::remote::{Item, Remote};
use super::steps::{Happening, MODELS, Pick, Step, TEMPLATES};
use crate::model::{
    AttemptStep, BatchId, BulkAction, Delivery, JobId, JobStatus, ModelPrice, Place, Provider,
    QueueName, Selection, Settings, Timestamp, ToldLimits,
};
use crate::store::actions::{self, Purge};
use crate::store::tests::support::{NOW, local};
use crate::store::{Lease, circuits, order, queues, settings, templates, told};

/// What is wrong; an error of the store is, too.
pub(super) type Checked<T = ()> = Result<T, String>;

pub(super) fn said<E: std::fmt::Display>(error: E) -> String {
    format!("the store refused: {error}")
}

macro_rules! check {
    ($condition:expr, $($words:tt)+) => {
        if !$condition {
            return Err(format!($($words)+));
        }
    };
}
pub(super) use check;

/// What is known of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Job {
    pub(super) status: JobStatus,
    pub(super) queue: QueueName,
    pub(super) delivery: Delivery,
    pub(super) provider: Provider,
    pub(super) model: String,
    pub(super) max_tokens: u32,
    pub(super) batch: String,
    pub(super) generation: u32,
    pub(super) attempts: u32,
    pub(super) lease: Option<String>,
    pub(super) cancel_requested: bool,
    pub(super) paused: bool,
    /// What was asked, and how it ended.
    pub(super) outcomes: Vec<(AttemptStep, &'static str)>,
    /// Deliveries of this generation that only published an answer.
    pub(super) publishing: u32,
    /// Pages of its document; `None` for a prompt.
    pub(super) pages: Option<u32>,
    pub(super) template: &'static str,
    pub(super) parts: Vec<Piece>,
    /// Deliveries that the parts answered so far took.
    pub(super) before: u32,
}

impl Job {
    /// Says whether it may be handed to the batch API.
    pub(super) fn may_go_either_way(&self) -> bool {
        self.queue == QueueName::Bulk && self.provider == Provider::Claude
    }
}

/// What a call was promised and came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) state: &'static str,
    pub(super) micros: i64,
    pub(super) day: String,
    pub(super) batch: String,
}

/// A lease that was handed out, for ever.
#[derive(Clone, Debug)]
pub(super) struct Handed {
    pub(super) lease: Lease,
    pub(super) provider: Provider,
    pub(super) max_attempts: u32,
    pub(super) step: AttemptStep,
    /// Its attempt knows what it used.
    pub(super) known: bool,
    /// Its attempt has ended.
    pub(super) closed: bool,
}

#[derive(Clone)]
pub(super) struct World<'world> {
    pub(super) connection: &'world Connection,
    pub(super) now: Timestamp,
    pub(super) jobs: BTreeMap<String, Job>,
    /// Paused, and the cap.
    pub(super) batches: BTreeMap<String, (bool, Option<i64>)>,
    pub(super) handed: Vec<Handed>,
    pub(super) ledger: BTreeMap<(String, String), Entry>,
    /// Answers that were paid for, by job and generation.
    pub(super) answers: BTreeSet<(String, u32)>,
    pub(super) paused_lanes: BTreeSet<QueueName>,
    pub(super) settings: Settings,
    /// What the person said of the model that has no price.
    pub(super) rate: Option<i64>,
    /// Bytes and characters of the templates.
    pub(super) lengths: BTreeMap<&'static str, (u64, u64)>,
    pub(super) submitted: usize,
    pub(super) batch_number: usize,
    /// How new jobs of bulk go where nothing else is said.
    pub(super) bulk_goes: Delivery,
    pub(super) remotes: Vec<Remote>,
    /// Requests of remote batches.
    pub(super) items: Vec<Item>,
}

impl<'world> World<'world> {
    pub(super) fn new(connection: &'world Connection) -> Self {
        let settings = Settings {
            tokens_per_minute: 10_000,
            ..Settings::default()
        };
        settings::save_settings(connection, &settings).unwrap();
        let lengths = TEMPLATES.map(|name| {
            let template = templates::template(connection, name, 1).unwrap().unwrap();
            let (bytes, characters) = (template.body.len(), template.body.chars().count());
            (name, (bytes as u64, characters as u64))
        });
        Self {
            connection,
            now: NOW,
            jobs: BTreeMap::new(),
            batches: BTreeMap::new(),
            handed: Vec::new(),
            ledger: BTreeMap::new(),
            answers: BTreeSet::new(),
            paused_lanes: BTreeSet::new(),
            settings,
            rate: None,
            lengths: BTreeMap::from(lengths),
            submitted: 0,
            batch_number: 0,
            bulk_goes: Delivery::Each,
            remotes: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Does a step, undoes it where it is to fail, and compares.
    pub(super) fn happen(&mut self, happening: &Happening) -> Checked {
        self.connection
            .execute_batch("SAVEPOINT request")
            .map_err(said)?;
        let before = happening.undone.then(|| self.clone());
        self.step(&happening.step)?;
        let close = match before {
            Some(before) => {
                *self = before;
                "ROLLBACK TO request; RELEASE request"
            }
            None => "RELEASE request",
        };
        self.connection.execute_batch(close).map_err(said)?;
        self.compare()
    }

    fn step(&mut self, step: &Step) -> Checked {
        match step {
            Step::Submit(submission) => self.submit(submission),
            Step::Claim { claude_room, limit } => self.claim(*claude_room, *limit).map(drop),
            Step::Drain => self.drain(),
            Step::Answer { pick, usage } => self.answer(*pick, *usage),
            Step::Complete { pick, review } => self.complete(*pick, *review),
            Step::End { pick, how, settle } => self.end(*pick, *how, *settle),
            Step::Divide { pick } => self.divide(*pick),
            Step::Serve { pick } => self.serve(*pick),
            Step::Work { minutes } => self.work_on(*minutes),
            Step::Crash => self.crash(),
            Step::Act { pick, action } => self.act(*pick, *action),
            Step::PauseBatch { pick, paused } => self.pause_batch(*pick, *paused),
            Step::PauseLane { queue, paused } => {
                queues::pause(self.connection, *queue, *paused).map_err(said)?;
                if *paused {
                    self.paused_lanes.insert(*queue);
                } else {
                    self.paused_lanes.remove(queue);
                }
                Ok(())
            }
            Step::Move { pick, place } => {
                let Some(job_id) = self.one(*pick) else {
                    return Ok(());
                };
                order::move_jobs(self.connection, &[JobId(job_id)], place).map_err(said)?;
                Ok(())
            }
            Step::MoveBeside {
                picks,
                other,
                before,
            } => {
                let Some(job_id) = self.one(*other).map(JobId) else {
                    return Ok(());
                };
                let chosen: Vec<_> = picks
                    .iter()
                    .filter_map(|pick| self.one(*pick).map(JobId))
                    .collect();
                let place = if *before {
                    Place::Before { job_id }
                } else {
                    Place::After { job_id }
                };
                order::move_jobs(self.connection, &chosen, &place).map_err(said)?;
                Ok(())
            }
            Step::Redrive { pick, changes } => self.redrive(*pick, *changes),
            Step::CapBatch { pick, cap } => {
                let Some(batch) = self.batch(*pick) else {
                    return Ok(());
                };
                actions::cap_batch(self.connection, &BatchId(batch.clone()), *cap).map_err(said)?;
                self.batches.entry(batch).and_modify(|batch| batch.1 = *cap);
                Ok(())
            }
            Step::SetLimits {
                tokens,
                requests,
                day,
                floor,
            } => {
                self.settings.tokens_per_minute = *tokens;
                self.settings.requests_per_minute = *requests;
                self.settings.day_cap_micros = *day;
                self.settings.bulk_floor = *floor;
                settings::save_settings(self.connection, &self.settings).map_err(said)
            }
            Step::Tell {
                model,
                input,
                wait_s,
            } => {
                let limits = ToldLimits {
                    input_tokens: *input,
                    ..ToldLimits::default()
                };
                let until = wait_s.map(|wait| self.now.after(std::time::Duration::from_secs(wait)));
                told::note_limits(self.connection, model, Some(limits), until, self.now)
                    .map_err(said)
            }
            Step::Price { rate } => self.price(*rate),
            Step::CloseCircuit { provider } => circuits::close(self.connection, *provider)
                .map(drop)
                .map_err(said),
            Step::Remote(step) => self.remote(*step),
            Step::Clock { by_ms } => {
                self.now.0 += by_ms;
                Ok(())
            }
        }
    }

    fn one(&self, pick: usize) -> Option<String> {
        let place = pick.checked_rem(self.jobs.len())?;
        self.jobs.keys().nth(place).cloned()
    }

    fn batch(&self, pick: usize) -> Option<String> {
        let place = pick.checked_rem(self.batches.len())?;
        self.batches.keys().nth(place).cloned()
    }

    pub(super) fn some(&self, pick: Pick) -> Vec<String> {
        match pick {
            Pick::One(pick) => self.one(pick).into_iter().collect(),
            Pick::Third(place) => self.jobs.keys().skip(place).step_by(3).cloned().collect(),
            Pick::All => self.jobs.keys().cloned().collect(),
        }
    }

    fn act(&mut self, pick: Pick, action: BulkAction) -> Checked {
        let picked = self.some(pick);
        let selection = Selection::Jobs {
            job_ids: picked.iter().cloned().map(JobId).collect(),
        };
        let planned =
            actions::count(self.connection, &selection, action, self.now).map_err(said)?;
        let changed = if action == BulkAction::Purge {
            let purge = Purge::Selected(selection);
            actions::purge_some(self.connection, &purge, i64::MAX, 1_000)
                .map_err(said)?
                .jobs
        } else {
            let (_, changed) =
                actions::apply(self.connection, &selection, action, self.now).map_err(said)?;
            changed.len() as u64
        };
        check!(
            planned.jobs == changed && planned.jobs + planned.unchanged == picked.len() as u64,
            "{action:?} was planned as {planned:?} and changed {changed} of {}",
            picked.len()
        );
        for job_id in picked {
            self.acted(&job_id, action);
        }
        Ok(())
    }

    fn acted(&mut self, job_id: &str, action: BulkAction) {
        let bulk_goes = self.bulk_goes;
        let Some(job) = self.jobs.get_mut(job_id) else {
            return;
        };
        let live = !job.status.is_final();
        match action {
            BulkAction::Cancel
                if matches!(job.status, JobStatus::Pending | JobStatus::Submitted) =>
            {
                job.status = JobStatus::Cancelled;
            }
            BulkAction::Cancel if job.status == JobStatus::Running => job.cancel_requested = true,
            BulkAction::Pause if live => job.paused = true,
            BulkAction::Resume if live => job.paused = false,
            BulkAction::MoveTo { queue }
                if job.status == JobStatus::Pending && job.queue != queue =>
            {
                job.queue = queue;
                job.delivery = Delivery::Each;
                if job.may_go_either_way() {
                    job.delivery = bulk_goes;
                }
            }
            BulkAction::Purge
                if !matches!(job.status, JobStatus::Running | JobStatus::Submitted) =>
            {
                self.jobs.remove(job_id);
                self.answers.retain(|(of, _)| of != job_id);
                for handed in &mut self.handed {
                    handed.known &= handed.lease.job_id.as_str() != job_id;
                }
            }
            _ => {}
        }
    }

    fn pause_batch(&mut self, pick: usize, paused: bool) -> Checked {
        let Some(batch) = self.batch(pick) else {
            return Ok(());
        };
        actions::pause_batch(self.connection, &BatchId(batch.clone()), paused).map_err(said)?;
        self.batches
            .entry(batch)
            .and_modify(|batch| batch.0 = paused);
        Ok(())
    }

    pub(super) fn seqs(&self, job_ids: &[String]) -> Checked<Vec<i64>> {
        let mut statement = self
            .connection
            .prepare_cached("SELECT seq FROM jobs WHERE job_id = ?1")
            .map_err(said)?;
        job_ids
            .iter()
            .map(|job_id| {
                statement
                    .query_row([job_id], |row| row.get(0))
                    .map_err(said)
            })
            .collect()
    }

    fn price(&mut self, rate: Option<i64>) -> Checked {
        self.rate = rate;
        let Some(rate) = rate else {
            return settings::remove_price(self.connection, MODELS[2]).map_err(said);
        };
        let price = ModelPrice {
            model: MODELS[2].to_owned(),
            input: rate,
            output: rate,
            cache_write: rate,
            cache_read: rate,
            batch_percent: 50,
            long_prompt: None,
        };
        settings::save_price(self.connection, &price).map_err(said)
    }

    /// Returns what the calendar shows.
    pub(super) fn local(&self) -> crate::calendar::LocalTime {
        local(self.now)
    }
}
