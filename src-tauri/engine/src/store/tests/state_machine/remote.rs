//! Jobs that go by the batch API: gathered, written down, handed over, and dealt with one by one.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::steps::{Happening, MODELS, NewSubmission, Picked, Step, person, work};
use super::world::{Checked, Entry, Handed, World, check, said};
use crate::model::{
    AttemptOutcome, Cause, Delivery, JobStatus, LaneSettings, Provider, QueueName, Timestamp,
};
use crate::pricing::estimate;
use crate::store::ledger::Settlement;
use crate::store::remote::{self, Created, GatherRequest, NewRequest, Refused, Sealing, TakenIn};
use crate::store::{Lease, circuits, order, queues};

/// What is known of a remote batch.
#[derive(Clone, Debug)]
pub(super) struct Remote {
    remote_no: i64,
    stage: Stage,
    /// Its leases among those handed out.
    places: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Gathering,
    Sending,
    UnderWay,
    Undone,
}

/// A request of a remote batch.
#[derive(Clone, Debug)]
pub(super) struct Item {
    custom_id: String,
    remote: usize,
    place: usize,
    pub(super) open: bool,
}

/// What happens to remote batches.
#[derive(Clone, Copy, Debug)]
pub(super) enum RemoteStep {
    /// How bulk is delivered.
    Deliver {
        batch: bool,
        requests: u32,
        wait_ms: u32,
    },
    Gather,
    Seal {
        pick: usize,
    },
    Handed {
        pick: usize,
    },
    /// It did not arrive, or was refused.
    PutBack {
        pick: usize,
        trip: bool,
    },
    /// The outcome of a request is read.
    TakeIn {
        pick: usize,
        answered: bool,
    },
}

pub(super) fn remote_step() -> impl Strategy<Value = RemoteStep> {
    prop_oneof![
        1 => (prop::bool::weighted(0.8), select(&[1, 2, 1_000_u32][..]), select(&[0, 0, 60_000_u32][..]))
            .prop_map(|(batch, requests, wait_ms)| RemoteStep::Deliver { batch, requests, wait_ms }),
        4 => Just(RemoteStep::Gather),
        3 => (0..8_usize).prop_map(|pick| RemoteStep::Seal { pick }),
        2 => (0..8_usize).prop_map(|pick| RemoteStep::Handed { pick }),
        1 => (0..8_usize, prop::bool::weighted(0.3))
            .prop_map(|(pick, trip)| RemoteStep::PutBack { pick, trip }),
        6 => (0..64_usize, prop::bool::weighted(0.7))
            .prop_map(|(pick, answered)| RemoteStep::TakeIn { pick, answered }),
    ]
}

/// Returns what may happen in turn where bulk goes by the batch API.
pub(super) fn handed_over(steps: usize) -> impl Strategy<Value = Vec<Happening>> {
    let begin = |step| Happening {
        step,
        undone: false,
    };
    let first = vec![
        begin(Step::Remote(RemoteStep::Deliver {
            batch: true,
            requests: 1_000,
            wait_ms: 0,
        })),
        begin(Step::Submit(NewSubmission {
            queue: QueueName::Bulk,
            delivery: None,
            provider: Provider::Claude,
            model: MODELS[0],
            jobs: 4,
            document: None,
            max_tokens: 500,
            cap: None,
            paused: false,
        })),
        begin(Step::Clock { by_ms: 6_000 }),
    ];
    let few = || (0..8_usize).prop_map(|pick| Picked { pick, late: false });
    let step = prop_oneof![
        8 => remote_step().prop_map(Step::Remote),
        2 => (few(), prop::bool::weighted(0.2))
            .prop_map(|(pick, review)| Step::Complete { pick, review }),
        1 => Just(Step::Crash),
        1 => Just(Step::Clock { by_ms: 6_000 }),
        4 => prop_oneof![2 => work(), 1 => person()],
    ];
    let later =
        (step, prop::bool::weighted(0.05)).prop_map(|(step, undone)| Happening { step, undone });
    vec(later, 0..=steps).prop_map(move |later| {
        let mut all = first.clone();
        all.extend(later);
        all
    })
}

fn refused(open_circuit: bool) -> Refused {
    Refused {
        cause: Cause::KeyRefused,
        message: "It was refused.".to_owned(),
        http_status: Some(401),
        told_to_wait_ms: None,
        open_circuit,
    }
}

impl World<'_> {
    /// Says whether a job is handed over, not claimed.
    pub(super) fn hands_over(&self, job_id: &str) -> bool {
        self.jobs
            .get(job_id)
            .is_some_and(|job| job.delivery == Delivery::Batch)
    }

    /// Says whether a request of a job is out whose outcome was not dealt with.
    pub(super) fn is_out(&self, job_id: &str) -> bool {
        self.items
            .iter()
            .any(|item| item.open && self.handed[item.place].lease.job_id.as_str() == job_id)
    }

    pub(super) fn remote(&mut self, step: RemoteStep) -> Checked {
        match step {
            RemoteStep::Deliver {
                batch,
                requests,
                wait_ms,
            } => self.deliver_by(batch, requests, wait_ms),
            RemoteStep::Gather => self.gather().map(drop),
            RemoteStep::Seal { pick } => match self.at_stage(pick, Stage::Gathering) {
                Some(at) => self.seal(at),
                None => Ok(()),
            },
            RemoteStep::Handed { pick } => match self.at_stage(pick, Stage::Sending) {
                Some(at) => self.arrived(at),
                None => Ok(()),
            },
            RemoteStep::PutBack { pick, trip } => match self.at_stage(pick, Stage::Sending) {
                Some(at) => self.come_back(at, trip),
                None => Ok(()),
            },
            RemoteStep::TakeIn { pick, answered } => self.take_in(pick, answered),
        }
    }

    fn at_stage(&self, pick: usize, stage: Stage) -> Option<usize> {
        let found: Vec<usize> = (0..self.remotes.len())
            .filter(|at| self.remotes[*at].stage == stage)
            .collect();
        Some(found[pick.checked_rem(found.len())?])
    }

    fn deliver_by(&mut self, batch: bool, requests: u32, wait_ms: u32) -> Checked {
        let lanes = queues::read(self.connection).map_err(said)?;
        let Some(bulk) = lanes.iter().find(|lane| lane.queue == QueueName::Bulk) else {
            return Err("there is no bulk".to_owned());
        };
        let settings = LaneSettings {
            delivery: if batch {
                Delivery::Batch
            } else {
                Delivery::Each
            },
            remote_requests: requests,
            remote_wait_ms: wait_ms,
            ..bulk.settings
        };
        queues::save_lane(self.connection, QueueName::Bulk, settings).map_err(said)?;
        if self.bulk_goes != settings.delivery {
            for job in self.jobs.values_mut() {
                if job.status != JobStatus::Completed && job.may_go_either_way() {
                    job.delivery = settings.delivery;
                }
            }
        }
        self.bulk_goes = settings.delivery;
        Ok(())
    }

    /// Gathers what is to be handed over. Returns how many jobs.
    pub(super) fn gather(&mut self) -> Checked<usize> {
        order::follow_clock(self.connection, self.now).map_err(said)?;
        let before = self.before(Vec::new())?;
        let request = GatherRequest {
            local: self.local(),
            lease_expires_at: Timestamp(self.now.0 + 60_000),
        };
        let Some(gathered) = remote::gather(self.connection, &request).map_err(said)? else {
            return Ok(0);
        };
        let jobs = gathered.jobs;
        check!(!jobs.is_empty(), "no jobs were gathered");
        if let Some(open) = circuits_before(&before) {
            check!(
                open.may_probe(self.now) && jobs.len() == 1,
                "the circuit is open ({open:?}) and {} jobs were gathered",
                jobs.len()
            );
        }
        let first = self.handed.len();
        for job in &jobs {
            check!(
                job.queue == QueueName::Bulk
                    && job.provider == Provider::Claude
                    && job.delivery == Delivery::Batch
                    && self.hands_over(job.lease.job_id.as_str()),
                "{job:?} was gathered"
            );
            self.check_one(&before, job)?;
            self.note_taken(job);
            let Some(of) = self.jobs.get(job.lease.job_id.as_str()) else {
                continue;
            };
            let work = of.work(&self.lengths);
            let worst = self
                .prices()
                .batch_at_worst_micros(&of.model, &estimate(&of.model, &work));
            let Some(micros) = worst else {
                return Err(format!("{job:?} was gathered and has no price"));
            };
            let entry = Entry {
                state: "reserved",
                micros,
                day: self.local().day,
                batch: of.batch.clone(),
            };
            let key = (
                job.lease.job_id.as_str().to_owned(),
                job.lease.lease_id.clone(),
            );
            self.ledger.insert(key, entry);
        }
        self.check_caps(&jobs)?;
        self.remotes.push(Remote {
            remote_no: gathered.remote_no,
            stage: Stage::Gathering,
            places: (first..self.handed.len()).collect(),
        });
        Ok(jobs.len())
    }

    fn seal(&mut self, at: usize) -> Checked {
        let Remote {
            remote_no, places, ..
        } = self.remotes[at].clone();
        // What an earlier answer serves is published, and not sent.
        let sent: Vec<usize> = places
            .into_iter()
            .filter(|place| !self.is_answered(&self.handed[*place].lease))
            .collect();
        let sealing = Sealing {
            remote_no,
            requests: sent
                .iter()
                .map(|place| NewRequest {
                    lease: self.handed[*place].lease.clone(),
                    asked: "{}".to_owned(),
                })
                .collect(),
            address: "https://there".to_owned(),
            key_mark: "mark".to_owned(),
            look_at: self.now,
        };
        let sealed = remote::seal(self.connection, &sealing, self.now).map_err(said)?;
        let mut expected = 0;
        for place in sent {
            let lease = self.handed[place].lease.clone();
            if !self.holds(&lease) {
                continue;
            }
            let job_id = lease.job_id.as_str();
            if self.jobs[job_id].cancel_requested {
                self.settle(&lease, Settlement::Nothing { asked: false });
                self.note_known(place);
                self.close(&lease, JobStatus::Cancelled, "cancelled");
                continue;
            }
            expected += 1;
            let found = sealed.iter().find(|(of, _)| *of == lease.job_id);
            let Some((_, custom_id)) = found else {
                return Err(format!("{job_id} was left out"));
            };
            check!(
                custom_id.len() <= 64
                    && custom_id
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'),
                "{custom_id} can't be an id"
            );
            self.items.push(Item {
                custom_id: custom_id.clone(),
                remote: at,
                place,
                open: true,
            });
            if let Some(job) = self.jobs.get_mut(job_id) {
                job.status = JobStatus::Submitted;
                job.lease = None;
            }
        }
        check!(
            sealed.len() == expected,
            "{} requests were written down in place of {expected}",
            sealed.len()
        );
        self.remotes[at].stage = if expected == 0 {
            Stage::Undone
        } else {
            Stage::Sending
        };
        Ok(())
    }

    fn arrived(&mut self, at: usize) -> Checked {
        let remote_no = self.remotes[at].remote_no;
        let created = Created {
            remote_id: format!("msgbatch_{remote_no}"),
            created_at: self.now,
        };
        remote::handed(self.connection, remote_no, &created, self.now).map_err(said)?;
        self.remotes[at].stage = Stage::UnderWay;
        Ok(())
    }

    fn come_back(&mut self, at: usize, trip: bool) -> Checked {
        let remote_no = self.remotes[at].remote_no;
        let refused = refused(trip);
        let more =
            remote::put_back(self.connection, remote_no, &refused, self.now).map_err(said)?;
        let done =
            remote::put_back(self.connection, remote_no, &refused, self.now).map_err(said)?;
        check!(more && !done, "putting back does not come to an end");
        for at_item in 0..self.items.len() {
            let item = self.items[at_item].clone();
            if item.remote != at || !item.open {
                continue;
            }
            self.items[at_item].open = false;
            let lease = self.handed[item.place].lease.clone();
            let is_submitted = self.is_submitted(&lease);
            if !is_submitted || !self.handed[item.place].known {
                self.settle(&lease, Settlement::Nothing { asked: false });
            }
            if is_submitted {
                if let Some(job) = self.jobs.get_mut(lease.job_id.as_str()) {
                    job.attempts -= 1;
                }
                self.close(&lease, JobStatus::Pending, "deferred");
            } else {
                self.close_unwanted(&lease);
            }
            self.note_known(item.place);
        }
        self.remotes[at].stage = Stage::Undone;
        Ok(())
    }

    fn is_submitted(&self, lease: &Lease) -> bool {
        self.jobs
            .get(lease.job_id.as_str())
            .is_some_and(|job| job.status == JobStatus::Submitted)
    }

    /// The attempt of a job ends that was called off while the batch API had it.
    fn close_unwanted(&mut self, lease: &Lease) {
        if let Some(job) = self.jobs.get_mut(lease.job_id.as_str())
            && let Some(last) = job.outcomes.last_mut()
        {
            last.1 = "cancelled";
        }
        self.note_closed(lease);
    }

    fn take_in(&mut self, pick: usize, answered: bool) -> Checked {
        let out: Vec<usize> = (0..self.items.len())
            .filter(|at| {
                let item = &self.items[*at];
                item.open && self.remotes[item.remote].stage == Stage::UnderWay
            })
            .collect();
        let Some(pick) = pick.checked_rem(out.len()) else {
            return Ok(());
        };
        let at = out[pick];
        let item = self.items[at].clone();
        let Handed {
            lease,
            known,
            closed,
            ..
        } = self.handed[item.place].clone();
        if self.holds(&lease) {
            // One collects; what is being dealt with is not read again.
            return Ok(());
        }
        let until = Timestamp(self.now.0 + 60_000);
        let taken = remote::take_in(self.connection, &item.custom_id, answered, until, self.now)
            .map_err(said)?;
        let job = self.jobs.get(lease.job_id.as_str()).cloned();
        let waits = job
            .as_ref()
            .is_some_and(|job| matches!(job.status, JobStatus::Submitted | JobStatus::Cancelled));
        let fits = job.as_ref().is_some_and(|job| {
            job.status == JobStatus::Submitted || (job.status == JobStatus::Cancelled && answered)
        });
        match taken {
            TakenIn::Done => {
                check!(
                    job.is_some() && (closed || (known && !waits)),
                    "{} was taken for dealt with",
                    item.custom_id
                );
                self.items[at].open = false;
            }
            TakenIn::Job(claimed, _) => {
                check!(
                    fits && !closed && claimed.lease == lease,
                    "{} was taken in as {claimed:?}",
                    item.custom_id
                );
                check!(
                    claimed.step == self.handed[item.place].step,
                    "{} was asked {:?}",
                    item.custom_id,
                    claimed.step
                );
                if let Some(job) = self.jobs.get_mut(lease.job_id.as_str()) {
                    job.cancel_requested = job.status == JobStatus::Cancelled;
                    job.status = JobStatus::Running;
                    job.lease = Some(lease.lease_id);
                }
            }
            TakenIn::Unwanted { lease: of, .. } => {
                check!(
                    !fits && of == lease,
                    "nobody wants {}, it is said",
                    item.custom_id
                );
                self.record_unwanted(at, answered)?;
            }
        }
        Ok(())
    }

    fn record_unwanted(&mut self, at: usize, answered: bool) -> Checked {
        let item = self.items[at].clone();
        let Handed { lease, closed, .. } = self.handed[item.place].clone();
        let settlement = if answered {
            Settlement::Known {
                input_tokens: 7,
                output_tokens: 7,
                micros: Some(7),
            }
        } else {
            Settlement::Nothing { asked: false }
        };
        remote::settle_unwanted(
            self.connection,
            &item.custom_id,
            &lease,
            settlement,
            self.now,
        )
        .map_err(said)?;
        self.items[at].open = false;
        self.settle(&lease, settlement);
        if !closed {
            self.close_unwanted(&lease);
            self.note_known(item.place);
        }
        Ok(())
    }

    /// What a crash does to remote batches, before it does anything else: what was gathered is put back, what
    /// was taken in and not answered is with the batch API again.
    pub(super) fn crash_remotes(&mut self) -> Vec<Lease> {
        let mut put_back = Vec::new();
        for at in 0..self.remotes.len() {
            if self.remotes[at].stage != Stage::Gathering {
                continue;
            }
            self.remotes[at].stage = Stage::Undone;
            for place in self.remotes[at].places.clone() {
                let lease = self.handed[place].lease.clone();
                if !self.holds(&lease) || self.is_answered(&lease) {
                    continue;
                }
                put_back.push(lease.clone());
                self.settle(&lease, Settlement::Nothing { asked: false });
                self.note_known(place);
                let cancelled = self.jobs[lease.job_id.as_str()].cancel_requested;
                if let Some(job) = self.jobs.get_mut(lease.job_id.as_str()) {
                    job.attempts -= 1;
                }
                let status = if cancelled {
                    JobStatus::Cancelled
                } else {
                    JobStatus::Pending
                };
                self.close(&lease, status, AttemptOutcome::Deferred.as_str());
            }
        }
        for item in self.items.clone().iter().filter(|item| item.open) {
            let lease = self.handed[item.place].lease.clone();
            if !self.holds(&lease) || self.is_answered(&lease) {
                continue;
            }
            put_back.push(lease.clone());
            if let Some(job) = self.jobs.get_mut(lease.job_id.as_str()) {
                job.status = if job.cancel_requested {
                    JobStatus::Cancelled
                } else {
                    JobStatus::Submitted
                };
                job.lease = None;
            }
        }
        put_back
    }

    /// Compares what is out with what jobs say.
    pub(super) fn compare_remotes(&self) -> Checked {
        let lost: i64 = self
            .connection
            .prepare_cached(
                "SELECT count(*) FROM jobs AS j WHERE j.status = 'submitted'
                 -- That an earlier one was dealt with may not be noted yet.
                 AND 1 <> (SELECT count(*) FROM remote_items AS i
                           JOIN attempts AS a ON a.job_id = i.job_id AND a.lease_id = i.lease_id
                           WHERE i.job_id = j.job_id AND i.generation = j.generation
                             AND i.settled_at IS NULL AND a.outcome = 'running')",
            )
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(said)?;
        check!(
            lost == 0,
            "{lost} jobs are with the batch API by no request"
        );
        let open: u32 = self
            .connection
            .prepare_cached("SELECT count(*) FROM remote_items WHERE settled_at IS NULL")
            .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
            .map_err(said)?;
        let expected = self.items.iter().filter(|item| item.open).count();
        check!(
            open as usize == expected,
            "{open} requests are out of {expected}"
        );
        Ok(())
    }
}

fn circuits_before(before: &super::claiming::Before) -> Option<circuits::Open> {
    before.open.get(&Provider::Claude).copied()
}
