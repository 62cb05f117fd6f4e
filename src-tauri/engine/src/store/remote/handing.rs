//! From the intent to the id, or back.

use rusqlite::{Connection, OptionalExtension as _};

use super::look::Created;
use super::{Item, hold_again, is_dealt_with, open_items, settle_item};
use crate::model::{AttemptOutcome, Cause, JobId, Provider, Timestamp};
use crate::store::finish::{close_attempt, end_attempt, holds, is_unwanted, record_cost};
use crate::store::ledger::{self, Settlement};
use crate::store::{AfterAttempt, AttemptEnd, Lease, Result, Store, circuits};

/// Jobs that are put back in one transaction, so that others get their turn.
const AT_ONCE: u32 = 500;

/// A request that is about to be sent.
#[derive(Clone, Debug)]
pub(crate) struct NewRequest {
    pub(crate) lease: Lease,
    /// What of the question is needed to read its answer, as JSON.
    pub(crate) asked: String,
}

/// What is about to be sent, and where.
#[derive(Clone, Debug)]
pub(crate) struct Sealing {
    pub(crate) remote_no: i64,
    pub(crate) requests: Vec<NewRequest>,
    pub(crate) address: String,
    pub(crate) key_mark: String,
    /// When it is looked for, should its id not be known until then.
    pub(crate) look_at: Timestamp,
}

/// Why a remote batch was not created, for certain.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) cause: Cause,
    pub(crate) message: String,
    pub(crate) http_status: Option<u16>,
    pub(crate) told_to_wait_ms: Option<u64>,
    /// Whether it would hit every job of the provider.
    pub(crate) open_circuit: bool,
}

impl Store {
    /// Writes down what is about to be sent: from now on its jobs are with the batch API, as far as anybody
    /// knows. Returns the ids of the requests; jobs that were called off meanwhile are left out.
    pub(crate) async fn seal(
        &self,
        sealing: Sealing,
        now: Timestamp,
    ) -> Result<Vec<(JobId, String)>> {
        self.write(move |connection| seal(connection, &sealing, now))
            .await
    }

    /// Records the id that the provider gave a remote batch.
    pub(crate) async fn handed(
        &self,
        remote_no: i64,
        created: Created,
        look_at: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| handed(connection, remote_no, &created, look_at))
            .await
    }

    /// Puts jobs of a remote batch that was never created back in line; no attempt is counted, and nothing
    /// spent. Says whether more of them are left.
    pub(crate) async fn put_back(
        &self,
        remote_no: i64,
        refused: Refused,
        now: Timestamp,
    ) -> Result<bool> {
        self.write(move |connection| put_back(connection, remote_no, &refused, now))
            .await
    }

    /// Notes that the sending of a remote batch broke off, and nobody knows whether it arrived: it is looked for
    /// from now on. Others may be sent to see whether a circuit can be closed, since it showed nothing.
    pub(crate) async fn sending_broke_off(
        &self,
        remote_no: i64,
        trouble: String,
        look_at: Timestamp,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE remote_batches SET left_at = ?2, look_at = ?3, trouble = ?4
                     WHERE remote_no = ?1 AND state = 'sending'",
                )?
                .execute((remote_no, now.0, look_at.0, &trouble))?;
            release_probe(connection, remote_no)
        })
        .await
    }
}

pub(in crate::store) fn seal(
    connection: &Connection,
    sealing: &Sealing,
    now: Timestamp,
) -> Result<Vec<(JobId, String)>> {
    let mut sealed = Vec::with_capacity(sealing.requests.len());
    for request in &sealing.requests {
        let lease = &request.lease;
        if !holds(connection, lease)? {
            continue;
        }
        if is_unwanted(connection, lease)? {
            let end = uncounted(&called_off(), AfterAttempt::Cancelled);
            end_attempt(connection, lease, Provider::Claude, &end, now)?;
            continue;
        }
        sealed.push((
            lease.job_id.clone(),
            submit(connection, sealing.remote_no, request)?,
        ));
    }
    if sealed.is_empty() {
        release_probe(connection, sealing.remote_no)?;
        undone(connection, sealing.remote_no, now)?;
        return Ok(sealed);
    }
    connection
        .prepare_cached(
            "UPDATE remote_batches SET state = 'sending', requests = ?2, address = ?3, key_mark = ?4,
                 sent_at = ?5, look_at = ?6
             WHERE remote_no = ?1 AND state = 'gathering'",
        )?
        .execute((
            sealing.remote_no,
            i64::try_from(sealed.len()).unwrap_or(i64::MAX),
            &sealing.address,
            &sealing.key_mark,
            now.0,
            sealing.look_at.0,
        ))?;
    Ok(sealed)
}

/// Marks a job as being with the batch API. Returns the id of its request.
fn submit(connection: &Connection, remote_no: i64, request: &NewRequest) -> Result<String> {
    let lease = &request.lease;
    // An attempt has one id on this machine; the lease tells it from those of others.
    let custom_id: String = connection
        .prepare_cached(
            "INSERT INTO remote_items (custom_id, remote_no, job_id, lease_id, generation, number, asked)
             SELECT replace(lease_id, '-', '') || '-' || attempt_id, ?3, job_id, lease_id, ?4, ?5, ?6
             FROM attempts WHERE job_id = ?1 AND lease_id = ?2
             RETURNING custom_id",
        )?
        .query_row(
            (
                lease.job_id.as_str(),
                &lease.lease_id,
                remote_no,
                lease.generation,
                lease.number,
                &request.asked,
            ),
            |row| row.get(0),
        )?;
    connection
        .prepare_cached(
            "UPDATE jobs SET status = 'submitted', lease_id = NULL, lease_expires_at = NULL
             WHERE job_id = ?1 AND status = 'running' AND lease_id = ?2",
        )?
        .execute((lease.job_id.as_str(), &lease.lease_id))?;
    Ok(custom_id)
}

pub(in crate::store) fn handed(
    connection: &Connection,
    remote_no: i64,
    created: &Created,
    look_at: Timestamp,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE remote_batches SET state = 'under-way', remote_id = ?2, created_at = ?3, look_at = ?4,
                 looks = 0, trouble = NULL
             WHERE remote_no = ?1 AND state = 'sending'",
        )?
        .execute((remote_no, &created.remote_id, created.created_at.0, look_at.0))?;
    if let Some(lease) = any_lease(connection, remote_no)? {
        circuits::passed(connection, &lease, Provider::Claude)?;
    }
    super::release(connection)
}

pub(in crate::store) fn put_back(
    connection: &Connection,
    remote_no: i64,
    refused: &Refused,
    now: Timestamp,
) -> Result<bool> {
    let items = open_items(connection, remote_no, AT_ONCE)?;
    if items.is_empty() {
        release_probe(connection, remote_no)?;
        undone(connection, remote_no, now)?;
        return Ok(false);
    }
    for item in &items {
        put_one_back(connection, item, refused, now)?;
        settle_item(connection, &item.custom_id, now)?;
    }
    Ok(true)
}

fn put_one_back(
    connection: &Connection,
    item: &Item,
    refused: &Refused,
    now: Timestamp,
) -> Result<()> {
    if hold_again(connection, item, false, now)? {
        let next = AfterAttempt::Deferred {
            open_circuit: refused.open_circuit,
        };
        let end = uncounted(refused, next);
        end_attempt(connection, &item.lease, Provider::Claude, &end, now)?;
        return Ok(());
    }
    let nothing = Settlement::Nothing { asked: false };
    close_unwanted(connection, &item.lease, nothing, now)
}

/// Ends the attempt of a job that was called off, or removed, while the batch API had it.
pub(super) fn close_unwanted(
    connection: &Connection,
    lease: &Lease,
    settlement: Settlement,
    now: Timestamp,
) -> Result<()> {
    let (input, output, micros) = match settlement {
        Settlement::Known {
            input_tokens,
            output_tokens,
            micros,
        } => (Some(input_tokens), Some(output_tokens), micros),
        Settlement::Nothing { .. } => (Some(0), Some(0), Some(0)),
        Settlement::Unknown => (None, None, None),
    };
    if is_dealt_with(connection, lease)? == Some(false) {
        record_cost(connection, lease, input, output, micros)?;
        let called_off = called_off();
        close_attempt(
            connection,
            lease,
            AttemptOutcome::Cancelled,
            Some(&called_off.cause.key()),
            Some(&called_off.message),
            now,
        )?;
    }
    ledger::settle(connection, lease, settlement, now)
}

fn called_off() -> Refused {
    Refused {
        cause: Cause::Interrupted,
        message: "It was called off.".to_owned(),
        http_status: None,
        told_to_wait_ms: None,
        open_circuit: false,
    }
}

/// An attempt that was not worked on.
fn uncounted(refused: &Refused, next: AfterAttempt) -> AttemptEnd {
    AttemptEnd {
        outcome: match next {
            AfterAttempt::Cancelled => AttemptOutcome::Cancelled,
            _ => AttemptOutcome::Deferred,
        },
        cause: refused.cause,
        message: refused.message.clone(),
        http_status: refused.http_status,
        request_id: None,
        told_to_wait_ms: refused.told_to_wait_ms,
        input_tokens: None,
        output_tokens: None,
        cost_micros: Some(0),
        settlement: Settlement::Nothing { asked: false },
        next,
    }
}

/// Notes that a remote batch was not created.
pub(super) fn undone(connection: &Connection, remote_no: i64, now: Timestamp) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE remote_batches SET state = 'undone', ended_at = ?2
             WHERE remote_no = ?1 AND state IN ('gathering', 'sending')",
        )?
        .execute((remote_no, now.0))?;
    Ok(())
}

fn release_probe(connection: &Connection, remote_no: i64) -> Result<()> {
    match any_lease(connection, remote_no)? {
        Some(lease) => circuits::release_probe(connection, &lease, Provider::Claude),
        None => Ok(()),
    }
}

/// Returns the lease that a remote batch was gathered by, without a job.
fn any_lease(connection: &Connection, remote_no: i64) -> Result<Option<Lease>> {
    Ok(connection
        .prepare_cached("SELECT lease_id FROM remote_batches WHERE remote_no = ?1")?
        .query_row([remote_no], |row| {
            Ok(Lease {
                job_id: JobId(String::new()),
                lease_id: row.get(0)?,
                generation: 0,
                number: 0,
            })
        })
        .optional()?)
}
