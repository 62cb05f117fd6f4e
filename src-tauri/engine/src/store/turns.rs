//! Whose turn it is: which jobs of which queue a claim takes.
//!
//! High goes before bulk. While a job of high waits for budget, bulk takes none, except for a floor: one
//! claim in so many is bulk's, and then high waits, so that bulk never starves.

use std::collections::HashMap;

use rusqlite::Connection;

use super::candidate::{Candidate, Line, answered, in_line};
use super::circuits::{self, Open};
use super::claim::{ClaimRequest, ClaimedJob, Hold, take};
use super::gate::{Gate, Promise, Verdict};
use super::{Result, held, ledger, order, queues, windows};
use crate::model::{BatchId, Delivery, Provider, QueueName};

/// Most times that a claim goes from one lane to the other and back.
const ROUNDS: u32 = 20;
/// Most times that a claim goes back to look at more candidates, after it passed over some.
const LOOKS: u32 = 10_000;

/// Claims jobs. One transaction.
pub(super) fn claim(connection: &Connection, request: &ClaimRequest) -> Result<Vec<ClaimedJob>> {
    order::follow_clock(connection, request.local.now)?;
    let mut claim = Claim {
        connection,
        request,
        lease_id: uuid::Uuid::now_v7().to_string(),
        open: circuits::open(connection)?,
        gate: None,
        claude_room: request.claude_room,
        room: request.limit,
        taken: Vec::new(),
    };
    claim.run()?;
    Ok(claim.taken)
}

/// What became of taking jobs from a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Took {
    claude: u32,
    all: u32,
    /// A job waits for tokens or requests that all models share.
    budget_short: bool,
}

/// What became of some candidates.
#[derive(Default)]
struct Pass {
    admitted: Vec<(Candidate, Option<Promise>)>,
    /// Some were set aside, so that others come to the front.
    passed_over: bool,
    /// One of Claude's has to wait: whether for the budget that all of them share.
    waits: Option<bool>,
}

struct Claim<'claim> {
    connection: &'claim Connection,
    request: &'claim ClaimRequest,
    lease_id: String,
    open: HashMap<Provider, Open>,
    /// Read when the first job that costs anything is looked at.
    gate: Option<Gate>,
    claude_room: u32,
    room: u32,
    taken: Vec<ClaimedJob>,
}

impl Claim<'_> {
    fn run(&mut self) -> Result<()> {
        let lanes = queues::read(self.connection)?;
        let lane = |name| lanes.iter().find(|lane| lane.queue == name);
        let (Some(high), Some(bulk)) = (lane(QueueName::High), lane(QueueName::Bulk)) else {
            return Ok(());
        };
        let mut rooms = [self.lane_room(high)?, self.lane_room(bulk)?];
        let mut since_bulk = high_since_bulk(self.connection)?;
        let since_before = since_bulk;
        let bulk_asks = rooms[1] > 0 && self.has_claude_ready(QueueName::Bulk)?;
        let floor = if rooms[0] > 0 && bulk_asks {
            self.gate()?.policy.bulk_floor
        } else {
            // Bulk has nothing that could starve.
            since_bulk = 0;
            0
        };
        // Ends: each round takes something or is the last.
        for _ in 0..ROUNDS {
            if floor > 0 && since_bulk + 1 >= floor && rooms[1] > 0 {
                let took = self.take_from(bulk, 1, true)?;
                rooms[1] -= took.all;
                if took.claude > 0 {
                    since_bulk = 0;
                    continue;
                }
                if took.budget_short {
                    // It is bulk's turn: what becomes free is not for high. Others go on.
                    self.take_from(high, rooms[0], false)?;
                    self.take_from(bulk, rooms[1], false)?;
                    break;
                }
                if took.all > 0 {
                    continue;
                }
            }
            let quota = if floor > 0 && rooms[1] > 0 {
                rooms[0].min((floor - 1).saturating_sub(since_bulk).max(1))
            } else {
                rooms[0]
            };
            let high_took = self.take_from(high, quota, true)?;
            rooms[0] -= high_took.all;
            if floor > 0 {
                since_bulk += high_took.claude;
            }
            if high_took.all > 0 && high_took.all == quota && rooms[0] > 0 && self.room > 0 {
                continue;
            }
            // What high could not take only since a claim is no larger, it takes with the next one.
            let goes_on = rooms[0] == 0 && self.is_cut(high);
            let with_claude = !high_took.budget_short && !goes_on;
            let bulk_took = self.take_from(bulk, rooms[1], with_claude)?;
            if bulk_took.claude > 0 {
                since_bulk = 0;
            }
            break;
        }
        note_turns(self.connection, since_before, since_bulk)
    }

    fn gate(&mut self) -> Result<&mut Gate> {
        if self.gate.is_none() {
            windows::tidy(self.connection, self.request.local.now)?;
            self.gate = Some(Gate::read(self.connection, &self.request.local)?);
        }
        match &mut self.gate {
            Some(gate) => Ok(gate),
            None => unreachable!("the gate was read just now"),
        }
    }

    /// Returns how many jobs a lane may take by itself.
    fn lane_room(&mut self, lane: &queues::Lane) -> Result<u32> {
        if lane.paused {
            return Ok(0);
        }
        if lane.queue == QueueName::Bulk {
            let hours = super::policy::quiet_hours(self.connection)?;
            if hours.is_some_and(|hours| self.request.local.until_quiet(hours).is_some()) {
                return Ok(0);
            }
        }
        Ok(self.free_places(lane).min(lane.settings.max_batch_size))
    }

    /// Returns how many more jobs of a lane may run at once.
    fn free_places(&self, lane: &queues::Lane) -> u32 {
        let running = self.request.running(lane.queue);
        lane.settings.max_concurrency.saturating_sub(running)
    }

    /// Says whether a lane has room for more jobs than a claim may take.
    fn is_cut(&self, lane: &queues::Lane) -> bool {
        !lane.paused && self.free_places(lane) > lane.settings.max_batch_size
    }

    /// Says how many jobs of a provider may be taken: none behind an open circuit, one as a probe.
    fn provider_room(&self, provider: Provider) -> u32 {
        let allowed = match self.open.get(&provider) {
            None => u32::MAX,
            Some(open) => u32::from(open.may_probe(self.request.local.now)),
        };
        match provider {
            Provider::Claude => allowed.min(self.claude_room),
            Provider::Offline => allowed,
        }
    }

    fn has_claude_ready(&self, queue: QueueName) -> Result<bool> {
        if self.provider_room(Provider::Claude) == 0 {
            return Ok(false);
        }
        let found = self.line(Line::Ordinary, queue, Provider::Claude, 1)?;
        Ok(!found.is_empty())
    }

    /// Returns the first jobs in line, of all providers that may be asked.
    fn first_in_line(
        &self,
        lane: &queues::Lane,
        limit: u32,
        with_claude: bool,
    ) -> Result<Vec<Candidate>> {
        let mut found = Vec::new();
        for provider in [Provider::Claude, Provider::Offline] {
            if provider == Provider::Claude && lane.queue == QueueName::Bulk {
                // What is to be asked by the batch API is handed over elsewhere; what is answered is published here.
                found.extend(self.answered(lane.queue, provider, Delivery::Batch, limit)?);
            }
            if provider == Provider::Claude && !with_claude {
                continue;
            }
            if self.publishes_behind(provider) {
                found.extend(self.answered(lane.queue, provider, Delivery::Each, limit)?);
            }
            let limit = limit.min(self.provider_room(provider));
            if limit == 0 {
                continue;
            }
            if let Some(job) = self.answered_first(provider, lane.queue)? {
                found.push(job);
                continue;
            }
            let line = self.line(Line::Ordinary, lane.queue, provider, limit)?;
            let known: Vec<i64> = found.iter().map(|job| job.seq).collect();
            found.extend(line.into_iter().filter(|job| !known.contains(&job.seq)));
        }
        let limit_of_claude = limit.min(self.provider_room(Provider::Claude));
        if found.is_empty() && with_claude && limit_of_claude > 0 {
            // The large ones come when nothing else waits.
            let claude = Provider::Claude;
            found = self.line(Line::Oversized, lane.queue, claude, limit_of_claude)?;
        }
        found.sort_by_key(|job| job.place);
        found.truncate(limit as usize);
        Ok(found)
    }

    /// Says whether what is answered already goes on behind an open circuit: it asks nobody. Where results
    /// can't be stored, it is sent to see instead.
    fn publishes_behind(&self, provider: Provider) -> bool {
        self.open
            .get(&provider)
            .is_some_and(|open| !open.is_about_storage())
            && (provider != Provider::Claude || self.claude_room > 0)
    }

    /// Says whether a job only publishes what is answered already, behind an open circuit.
    fn asks_nobody(&self, job: &Candidate) -> bool {
        job.has_answer && self.publishes_behind(job.provider)
    }

    /// Returns the first jobs whose answers are kept already.
    fn answered(
        &self,
        queue: QueueName,
        provider: Provider,
        delivery: Delivery,
        limit: u32,
    ) -> Result<Vec<Candidate>> {
        let room = match provider {
            Provider::Claude => limit.min(self.claude_room),
            Provider::Offline => limit,
        };
        let now = self.request.local.now;
        answered(self.connection, queue, provider, delivery, now, room)
    }

    /// Returns the first jobs that are asked by a call of their own.
    fn line(
        &self,
        line: Line,
        queue: QueueName,
        provider: Provider,
        limit: u32,
    ) -> Result<Vec<Candidate>> {
        in_line(
            self.connection,
            line,
            queue,
            provider,
            Delivery::Each,
            self.request.local.now,
            limit as usize,
        )
    }

    /// Where results could not be stored, a job whose answer is paid for tries whether they can be now.
    fn answered_first(&self, provider: Provider, queue: QueueName) -> Result<Option<Candidate>> {
        if !self.open.get(&provider).is_some_and(Open::is_about_storage) {
            return Ok(None);
        }
        let first = self.line(Line::Ordinary, queue, provider, 100)?;
        Ok(first.into_iter().find(|job| job.has_answer))
    }

    /// Takes at most `limit` jobs of a lane, in the order of the line.
    fn take_from(
        &mut self,
        lane: &queues::Lane,
        limit: u32,
        mut with_claude: bool,
    ) -> Result<Took> {
        let mut took = Took::default();
        // Ends: each round but the last sets jobs aside for good, or is the last with Claude's.
        for _ in 0..LOOKS {
            let limit = limit.saturating_sub(took.all).min(self.room);
            if limit == 0 {
                break;
            }
            let found = self.first_in_line(lane, limit, with_claude)?;
            if found.is_empty() || self.waits_to_be_filled(lane, &found) {
                break;
            }
            let Pass {
                admitted,
                passed_over,
                waits,
            } = self.admit(found)?;
            took.all += u32::try_from(admitted.len()).unwrap_or(u32::MAX);
            took.claude += self.begin(&admitted)?;
            if let Some(shared) = waits {
                // What needs neither budget nor money does not wait behind what does.
                took.budget_short |= shared;
                with_claude = false;
            } else if !passed_over {
                break;
            }
        }
        Ok(took)
    }

    /// Says whether a claim should wait for more jobs, as the lane's settings want.
    fn waits_to_be_filled(&self, lane: &queues::Lane, found: &[Candidate]) -> bool {
        let patience = i64::from(lane.settings.max_batch_timeout_ms);
        let full = found.len() >= lane.settings.max_batch_size as usize;
        let oldest = found.iter().map(|job| job.place.1).min().unwrap_or(0);
        patience > 0 && !full && oldest.saturating_add(patience) > self.request.local.now.0
    }

    /// Decides about candidates in order, until one has to wait.
    fn admit(&mut self, found: Vec<Candidate>) -> Result<Pass> {
        let mut pass = Pass::default();
        let mut capped: Vec<BatchId> = Vec::new();
        // Money promised to each batch since the candidates were read.
        let mut promised: HashMap<BatchId, i64> = HashMap::new();
        for mut job in found {
            let room = self.provider_room(job.provider);
            let of_it = pass
                .admitted
                .iter()
                .filter(|(other, _)| other.provider == job.provider && !self.asks_nobody(other))
                .count();
            let waits = pass.waits.is_some() && job.provider == Provider::Claude;
            let of_claude = pass
                .admitted
                .iter()
                .filter(|(other, _)| other.provider == Provider::Claude)
                .count();
            let has_room = if self.asks_nobody(&job) {
                job.provider == Provider::Offline || of_claude < self.claude_room as usize
            } else {
                of_it < room as usize
                    && (job.provider == Provider::Offline || of_claude < self.claude_room as usize)
            };
            if waits || !has_room || capped.contains(&job.batch_id) {
                continue;
            }
            job.batch_money.reserved_micros += promised.get(&job.batch_id).copied().unwrap_or(0);
            let verdict = if job.provider == Provider::Offline {
                Verdict::Admit(None)
            } else {
                self.gate()?.judge(&job)
            };
            match verdict {
                Verdict::Admit(promise) => {
                    if let Some(promise) = promise {
                        self.gate()?.promise(&job.model, promise);
                        *promised.entry(job.batch_id.clone()).or_default() += promise.micros;
                    }
                    pass.admitted.push((job, promise));
                }
                Verdict::PassOver { bit, .. } => {
                    pass.passed_over |= bit != held::OVERSIZED || !self.is_known_oversized(&job)?;
                    match bit {
                        held::BATCH_CAPPED => {
                            held::batch_capped(self.connection, job.batch_id.as_str())?;
                            capped.push(job.batch_id);
                        }
                        held::NO_PRICE => held::without_price(self.connection, &job.model)?,
                        _ => held::oversized(self.connection, job.seq)?,
                    }
                }
                Verdict::Wait { shared, .. } => pass.waits = Some(shared),
            }
        }
        Ok(pass)
    }

    fn is_known_oversized(&self, job: &Candidate) -> Result<bool> {
        Ok(self
            .connection
            .prepare_cached("SELECT held & 16 <> 0 FROM jobs WHERE seq = ?1")?
            .query_row([job.seq], |row| row.get(0))?)
    }

    /// Marks admitted jobs as running, with what they are promised. Returns how many are Claude's.
    fn begin(&mut self, admitted: &[(Candidate, Option<Promise>)]) -> Result<u32> {
        if admitted.is_empty() {
            return Ok(0);
        }
        let admitted_jobs: Vec<&Candidate> = admitted.iter().map(|(job, _)| job).collect();
        let hold = Hold {
            now: self.request.local.now,
            until: self.request.lease_expires_at,
            delivery: Delivery::Each,
        };
        let jobs = take(self.connection, &admitted_jobs, &self.lease_id, hold)?;
        let mut of_claude = 0;
        for (job, promise) in admitted {
            if let Some(promise) = promise {
                ledger::reserve(
                    self.connection,
                    job,
                    &self.lease_id,
                    *promise,
                    &self.request.local,
                )?;
            }
            if job.provider == Provider::Claude {
                of_claude += 1;
            }
            let asks_nobody = self.asks_nobody(job);
            if let Some(open) = self.open.get_mut(&job.provider)
                && !asks_nobody
            {
                circuits::begin_probe(self.connection, job.provider, &self.lease_id)?;
                open.probing = true;
            }
        }
        self.claude_room = self.claude_room.saturating_sub(of_claude);
        self.room = self
            .room
            .saturating_sub(u32::try_from(jobs.len()).unwrap_or(u32::MAX));
        self.taken.extend(jobs);
        Ok(of_claude)
    }
}

/// Returns how many jobs of high were claimed since the last one of bulk.
pub(super) fn high_since_bulk(connection: &Connection) -> Result<u32> {
    Ok(connection
        .prepare_cached("SELECT high_since_bulk FROM turns")?
        .query_row([], |row| row.get(0))?)
}

fn note_turns(connection: &Connection, before: u32, after: u32) -> Result<()> {
    if before != after {
        connection
            .prepare_cached("UPDATE turns SET high_since_bulk = ?1")?
            .execute([after])?;
    }
    Ok(())
}
