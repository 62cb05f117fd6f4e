//! The ledger: every call that may cost is promised in the transaction that claims its job, and settled
//! after it. What is not known counts in full; only what the provider did not work on is given back.

use rusqlite::{Connection, OptionalExtension as _};

use super::candidate::Candidate;
use super::gate::Promise;
use super::windows::{self, Amount, tenth_of};
use super::{Lease, Result, held, learned, rows};
use crate::calendar::LocalTime;
use crate::model::Timestamp;

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Settlement {
    /// The provider counted it.
    Known {
        /// Input tokens that count against the limit of a minute.
        input_tokens: u64,
        /// Output tokens.
        output_tokens: u64,
        /// What it cost; `None` when nobody knows the price, so that the worst case stands.
        micros: Option<i64>,
    },
    /// It may have run: its worst case stands.
    Unknown,
    /// It was not worked on.
    Nothing {
        /// Whether the provider was asked at all, so that it counts as a request.
        asked: bool,
    },
}

/// Promises a call what it may take at most.
pub(super) fn reserve(
    connection: &Connection,
    job: &Candidate,
    lease_id: &str,
    promise: Promise,
    local: &LocalTime,
) -> Result<()> {
    let tenth = tenth_of(local.now);
    // A request of a remote batch takes nothing of the minute, now or when it is answered.
    let batched = promise.amount == Amount::default();
    connection
        .prepare_cached(
            "INSERT INTO ledger (job_id, lease_id, batch_id, model, state, day, tenth, requests,
                                 input_tokens, output_tokens, micros, reserved_at, batched)
             VALUES (?1, ?2, ?3, ?4, 'reserved', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute((
            job.job_id.as_str(),
            lease_id,
            job.batch_id.as_str(),
            &job.model,
            &local.day,
            tenth,
            promise.amount.requests.cast_signed(),
            promise.amount.input.cast_signed(),
            promise.amount.output.cast_signed(),
            promise.micros,
            local.now.0,
            batched,
        ))?;
    if batched {
        return Ok(());
    }
    windows::record(connection, tenth, &job.model, promise.amount)
}

/// Counts as spent what is still promised though no attempt runs any more.
pub(super) fn settle_orphans(connection: &Connection, now: Timestamp) -> Result<()> {
    connection.execute(
        "UPDATE ledger SET state = 'unknown', settled_at = ?1
         WHERE state = 'reserved'
           AND NOT EXISTS (SELECT 1 FROM jobs AS j WHERE j.job_id = ledger.job_id
                           AND j.status = 'running' AND j.lease_id = ledger.lease_id)
           -- What the batch API has is settled by its results.
           AND NOT EXISTS (SELECT 1 FROM remote_items AS i WHERE i.job_id = ledger.job_id
                           AND i.lease_id = ledger.lease_id AND i.settled_at IS NULL)",
        [now.0],
    )?;
    Ok(())
}

struct Entry {
    entry_id: i64,
    state: String,
    batch_id: String,
    model: String,
    tenth: i64,
    amount: Amount,
    micros: i64,
    batched: bool,
}

/// Corrects a promise by what the call came to. What is settled stays so: the first who knows wins.
pub(super) fn settle(
    connection: &Connection,
    lease: &Lease,
    settlement: Settlement,
    now: Timestamp,
) -> Result<()> {
    let Some(entry) = entry(connection, lease)? else {
        return Ok(());
    };
    // A late finisher may know what was unknown when its lease was lost.
    let open = match settlement {
        Settlement::Unknown => entry.state == "reserved",
        _ => matches!(entry.state.as_str(), "reserved" | "unknown"),
    };
    if !open {
        return Ok(());
    }
    let (state, amount, micros) = match settlement {
        Settlement::Unknown => ("unknown", entry.amount, entry.micros),
        Settlement::Nothing { asked } => {
            let amount = Amount {
                requests: entry.amount.requests.min(u64::from(asked)),
                ..Amount::default()
            };
            ("refunded", amount, 0)
        }
        Settlement::Known {
            input_tokens,
            output_tokens,
            micros,
        } => {
            let amount = Amount {
                input: input_tokens,
                output: output_tokens,
                ..entry.amount
            };
            match micros {
                Some(micros) => ("settled", amount, micros),
                None => ("unknown", amount, entry.micros),
            }
        }
    };
    if !entry.batched {
        correct_window(connection, &entry, amount, now)?;
    }
    if let Settlement::Known {
        input_tokens,
        output_tokens,
        ..
    } = settlement
    {
        let took = learned::Took {
            input_tokens,
            output_tokens,
            // How long a request of a remote batch lay there says nothing of calls.
            ended_at: (!entry.batched).then_some(now),
        };
        learned::note(connection, lease, took, now)?;
    }
    connection
        .prepare_cached(
            "UPDATE ledger SET state = ?2, requests = ?3, input_tokens = ?4, output_tokens = ?5,
                 micros = ?6, settled_at = ?7
             WHERE entry_id = ?1",
        )?
        .execute((
            entry.entry_id,
            state,
            amount.requests.cast_signed(),
            amount.input.cast_signed(),
            amount.output.cast_signed(),
            micros,
            now.0,
        ))?;
    if micros < entry.micros {
        let capped: Option<bool> = connection
            .prepare_cached("SELECT cap_micros IS NOT NULL FROM batches WHERE batch_id = ?1")?
            .query_row([&entry.batch_id], |row| row.get(0))
            .optional()?;
        if capped == Some(true) {
            held::batch_may_go_on(connection, &entry.batch_id)?;
        }
    }
    Ok(())
}

/// Gives back to the moment of the promise what was not used; what was used beyond it counts from now.
fn correct_window(
    connection: &Connection,
    entry: &Entry,
    used: Amount,
    now: Timestamp,
) -> Result<()> {
    let promised = entry.amount;
    let unused = Amount {
        requests: promised.requests.saturating_sub(used.requests),
        input: promised.input.saturating_sub(used.input),
        output: promised.output.saturating_sub(used.output),
    };
    if unused != Amount::default() {
        windows::give_back(connection, entry.tenth, &entry.model, unused)?;
    }
    let beyond = Amount {
        requests: 0,
        input: used.input.saturating_sub(promised.input),
        output: used.output.saturating_sub(promised.output),
    };
    if beyond != Amount::default() {
        windows::record(connection, tenth_of(now), &entry.model, beyond)?;
    }
    Ok(())
}

fn entry(connection: &Connection, lease: &Lease) -> Result<Option<Entry>> {
    Ok(connection
        .prepare_cached(
            "SELECT entry_id, state, batch_id, model, tenth, requests, input_tokens, output_tokens,
                    micros, batched
             FROM ledger WHERE job_id = ?1 AND lease_id = ?2",
        )?
        .query_row((lease.job_id.as_str(), &lease.lease_id), |row| {
            Ok(Entry {
                entry_id: row.get(0)?,
                state: row.get(1)?,
                batch_id: row.get(2)?,
                model: row.get(3)?,
                tenth: row.get(4)?,
                amount: Amount {
                    requests: rows::unsigned(row, 5)?,
                    input: rows::unsigned(row, 6)?,
                    output: rows::unsigned(row, 7)?,
                },
                micros: row.get(8)?,
                batched: row.get(9)?,
            })
        })
        .optional()?)
}
