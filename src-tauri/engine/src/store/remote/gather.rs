//! Choosing what is handed over together.

use std::collections::HashMap;

use rusqlite::Connection;

use super::hold::hold;
use crate::calendar::LocalTime;
use crate::model::{BatchId, Delivery, Provider, QueueName, Timestamp};
use crate::pricing::ceiling;
use crate::store::candidate::{Candidate, Line, in_line};
use crate::store::claim::{Hold as Taking, take};
use crate::store::gate::{Gate, Promise, Verdict};
use crate::store::queues::{self, Lane};
use crate::store::{ClaimedJob, Result, Store, circuits, held, ledger, order, policy};

/// Most requests that the provider keeps in its queue, of the smallest tier.
const MOST_QUEUED: u32 = 200_000;
/// The most bytes that are gathered: what the provider takes at once, with some room for what is around.
const MOST_BYTES: u64 = 250_000_000;
/// Bytes around the document and the prompt of a request, at most.
const AROUND: u64 = 4_096;
/// Most times that a gathering goes back to look at more candidates, after it passed over some.
const LOOKS: u32 = 10_000;

/// When jobs are gathered.
#[derive(Clone, Debug)]
pub(crate) struct GatherRequest {
    /// The moment, on the person's calendar.
    pub(crate) local: LocalTime,
    /// When the leases run out, which hold the jobs while their files are read.
    pub(crate) lease_expires_at: Timestamp,
}

/// Jobs taken to be handed over together, an attempt and a promise at batch prices for each.
#[derive(Clone, Debug)]
pub(crate) struct Gathered {
    pub(crate) remote_no: i64,
    pub(crate) jobs: Vec<ClaimedJob>,
}

impl Store {
    /// Takes jobs of bulk to be handed to the batch API, when enough have come together or the first of them
    /// has waited long enough. Returns none while nothing may be handed over.
    pub(crate) async fn gather(&self, request: GatherRequest) -> Result<Option<Gathered>> {
        self.write(move |connection| gather(connection, &request))
            .await
    }
}

/// Returns until when the first of some jobs waits for others, by its visible time.
pub(in crate::store) fn filled_at(lane: &Lane, available_at: i64) -> Timestamp {
    Timestamp(available_at.saturating_add(i64::from(lane.settings.remote_wait_ms)))
}

/// Chooses jobs and takes them. One transaction.
pub(in crate::store) fn gather(
    connection: &Connection,
    request: &GatherRequest,
) -> Result<Option<Gathered>> {
    let local = &request.local;
    order::follow_clock(connection, local.now)?;
    let lanes = queues::read(connection)?;
    let Some(lane) = lanes.iter().find(|lane| lane.queue == QueueName::Bulk) else {
        return Ok(None);
    };
    let Some(allowed) = allowed(connection, lane, local)? else {
        return Ok(None);
    };
    let mut gate = Gate::read(connection, local)?;
    let mut chosen = choose(connection, &gate, lane, local.now, &allowed)?;
    // Ends: each round sets some aside for good.
    for _ in 0..LOOKS {
        if !chosen.passed_over {
            break;
        }
        chosen = choose(connection, &gate, lane, local.now, &allowed)?;
    }
    let Chosen { jobs, full, .. } = chosen;
    let Some(oldest) = jobs.iter().map(|(job, _)| job.place.1).min() else {
        return Ok(None);
    };
    if !full && filled_at(lane, oldest) > local.now {
        return Ok(None);
    }
    let lease_id = uuid::Uuid::now_v7().to_string();
    let taking = Taking {
        now: local.now,
        until: request.lease_expires_at,
        delivery: Delivery::Batch,
    };
    let candidates: Vec<&Candidate> = jobs.iter().map(|(job, _)| job).collect();
    let taken = take(connection, &candidates, &lease_id, taking)?;
    for (job, promise) in &jobs {
        gate.promise(&job.model, *promise);
        ledger::reserve(connection, job, &lease_id, *promise, local)?;
    }
    if allowed.is_probe {
        circuits::begin_probe(connection, Provider::Claude, &lease_id)?;
    }
    let remote_no = connection
        .prepare_cached(
            "INSERT INTO remote_batches (lease_id, state, gathered_at) VALUES (?1, 'gathering', ?2)
             RETURNING remote_no",
        )?
        .query_row((&lease_id, local.now.0), |row| row.get(0))?;
    Ok(Some(Gathered {
        remote_no,
        jobs: taken,
    }))
}

/// How much may be handed over.
struct Allowed {
    requests: u32,
    /// One job is sent to see whether the circuit can be closed.
    is_probe: bool,
}

/// Returns how much may be handed over now; `None` for nothing.
fn allowed(connection: &Connection, lane: &Lane, local: &LocalTime) -> Result<Option<Allowed>> {
    if lane.paused {
        return Ok(None);
    }
    let hours = policy::quiet_hours(connection)?;
    if hours.is_some_and(|hours| local.until_quiet(hours).is_some()) {
        return Ok(None);
    }
    let mut requests = lane.settings.remote_requests;
    if let Some(hold) = hold(connection)? {
        if hold.retry_at > local.now {
            return Ok(None);
        }
        requests = requests.min(hold.requests.unwrap_or(u32::MAX));
    }
    let mut is_probe = false;
    if let Some(open) = circuits::open(connection)?.get(&Provider::Claude) {
        if !open.may_probe(local.now) {
            return Ok(None);
        }
        requests = 1;
        is_probe = true;
    }
    let queued: u32 = connection
        .prepare_cached("SELECT count(*) FROM remote_items WHERE settled_at IS NULL")?
        .query_row([], |row| row.get(0))?;
    requests = requests.min(MOST_QUEUED.saturating_sub(queued));
    Ok((requests > 0).then_some(Allowed { requests, is_probe }))
}

/// What became of choosing.
#[derive(Default)]
struct Chosen {
    jobs: Vec<(Candidate, Promise)>,
    /// Nothing more would go with them.
    full: bool,
    /// Some were set aside, so that others come to the front.
    passed_over: bool,
}

fn choose(
    connection: &Connection,
    gate: &Gate,
    lane: &Lane,
    now: Timestamp,
    allowed: &Allowed,
) -> Result<Chosen> {
    let found = candidates(connection, lane, now, allowed.requests)?;
    let sizes = source_bytes(connection, &found)?;
    let mut gate = gate.clone();
    let mut chosen = Chosen {
        full: found.len() >= allowed.requests as usize || allowed.is_probe,
        ..Chosen::default()
    };
    let mut capped: Vec<BatchId> = Vec::new();
    // Money promised to each batch since the candidates were read.
    let mut promised: HashMap<BatchId, i64> = HashMap::new();
    let mut bytes = 0;
    for mut job in found {
        if capped.contains(&job.batch_id) {
            continue;
        }
        job.batch_money.reserved_micros += promised.get(&job.batch_id).copied().unwrap_or(0);
        match gate.judge_for_batch(&job) {
            Verdict::Admit(None) => {}
            Verdict::Admit(Some(promise)) => {
                bytes += most_bytes(&job, sizes.get(&job.seq).copied());
                if bytes > MOST_BYTES && !chosen.jobs.is_empty() {
                    chosen.full = true;
                    break;
                }
                gate.promise(&job.model, promise);
                *promised.entry(job.batch_id.clone()).or_default() += promise.micros;
                chosen.jobs.push((job, promise));
            }
            Verdict::PassOver { bit, .. } => {
                chosen.passed_over = true;
                if bit == held::BATCH_CAPPED {
                    held::batch_capped(connection, job.batch_id.as_str())?;
                    capped.push(job.batch_id);
                } else {
                    held::without_price(connection, &job.model)?;
                }
            }
            Verdict::Wait { .. } => {
                // Whoever comes behind it waits, too, so these go as they are.
                chosen.full = true;
                break;
            }
        }
    }
    Ok(chosen)
}

/// Returns the first jobs in line that are to be asked. Those that are larger than the budget of a minute are
/// among them: a remote batch takes nothing of it.
fn candidates(
    connection: &Connection,
    lane: &Lane,
    now: Timestamp,
    requests: u32,
) -> Result<Vec<Candidate>> {
    let line = |line| {
        in_line(
            connection,
            line,
            lane.queue,
            Provider::Claude,
            Delivery::Batch,
            now,
            requests as usize,
        )
    };
    let mut found = line(Line::Ordinary)?;
    found.extend(line(Line::Oversized)?);
    // What is answered already is only published, by a claim.
    found.retain(|job| !job.has_answer);
    found.sort_by_key(|job| job.place);
    found.truncate(requests as usize);
    Ok(found)
}

fn source_bytes(connection: &Connection, jobs: &[Candidate]) -> Result<HashMap<i64, u64>> {
    let seqs: Vec<i64> = jobs.iter().map(|job| job.seq).collect();
    let mut statement = connection.prepare_cached(
        "SELECT seq, coalesce(source_bytes, 0) FROM jobs
         WHERE seq IN (SELECT value FROM json_each(?1))",
    )?;
    let found = statement.query_map([serde_json::to_string(&seqs).unwrap_or_default()], |row| {
        Ok((row.get(0)?, crate::store::rows::unsigned(row, 1)?))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns the bytes that a job's request takes, about at most: what it really takes is known when its file is
/// read, and one that does not fit any more then goes with the next.
fn most_bytes(job: &Candidate, source_bytes: Option<u64>) -> u64 {
    let document = match job.work.document {
        Some(_) => source_bytes
            .unwrap_or(0)
            .min(ceiling(&job.model).document_bytes),
        None => 0,
    };
    document.div_ceil(3) * 4 + job.work.prompt_bytes * 2 + AROUND
}
