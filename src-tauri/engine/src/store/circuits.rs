//! Circuits: something would hit every job of a provider, so none is delivered.
//!
//! A circuit closes when a person mends what is wrong, or when one job that is sent to see (the probe)
//! gets through.

use std::collections::HashMap;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, named_params};

use super::{Lease, Result, Store, outbox, rows};
use crate::model::{Cause, CircuitView, Provider, Timestamp};

/// An open circuit, as far as a claim needs to know it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) cause: Cause,
    pub(super) probe_at: Option<Timestamp>,
    /// A probe is under way.
    pub(super) probing: bool,
}

impl Open {
    /// Says whether one job may be sent to see whether it has passed.
    pub(super) fn may_probe(&self, now: Timestamp) -> bool {
        !self.probing && self.probe_at.is_some_and(|moment| moment <= now)
    }

    /// Says whether results could not be stored.
    pub(super) fn is_about_storage(&self) -> bool {
        self.cause == Cause::StorageFailed
    }
}

/// Returns the open circuits.
pub(super) fn open(connection: &Connection) -> Result<HashMap<Provider, Open>> {
    let mut statement = connection.prepare_cached(
        "SELECT provider, cause, probe_at, probe_lease IS NOT NULL FROM circuits",
    )?;
    let found = statement.query_map([], |row| {
        Ok((
            rows::provider(row, 0)?,
            Open {
                cause: rows::cause(row, 1)?.unwrap_or(Cause::UnexpectedStatus),
                probe_at: rows::optional_timestamp(row, 2)?,
                probing: row.get(3)?,
            },
        ))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// How long after the circuit opened, or after a probe failed, the next probe is sent; `None` where only
/// a person can tell that it has passed.
fn probe_after(cause: Cause, probes: u32, told: Option<Duration>) -> Option<Duration> {
    const MINUTE: u64 = 60;
    let (first, longest) = match cause {
        Cause::Offline => (15, 5 * MINUTE),
        Cause::StorageFailed => (10, MINUTE),
        Cause::UsageLimitReached | Cause::SpendLimitReached => (60 * MINUTE, 360 * MINUTE),
        Cause::BillingProblem
        | Cause::PermissionDenied
        | Cause::CreditExhausted
        | Cause::OrganizationOnHold => (15 * MINUTE, 240 * MINUTE),
        _ => return None,
    };
    let doubled = Duration::from_secs(first).saturating_mul(2_u32.saturating_pow(probes));
    Some(
        doubled
            .min(Duration::from_secs(longest))
            .max(told.unwrap_or_default()),
    )
}

/// Opens the circuit of a provider, or keeps it open after its probe has failed.
///
/// An attempt that was under way when it opened, and met the same, changes nothing.
pub(super) fn trip(
    connection: &Connection,
    lease: &Lease,
    provider: Provider,
    cause: Cause,
    message: &str,
    told: Option<Duration>,
    now: Timestamp,
) -> Result<()> {
    let present: Option<(u32, bool)> = connection
        .prepare_cached(
            "SELECT probes, coalesce(probe_lease = ?2, 0) FROM circuits WHERE provider = ?1",
        )?
        .query_row((provider.as_str(), &lease.lease_id), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let probes = match present {
        Some((_, false)) => return Ok(()),
        Some((probes, true)) => probes + 1,
        None => 0,
    };
    let probe_at = probe_after(cause, probes, told).map(|wait| now.after(wait).0);
    connection
        .prepare_cached(
            "INSERT INTO circuits (provider, cause, message, model, opened_at, probes, probe_at)
             VALUES (:provider, :cause, :message, (SELECT model FROM jobs WHERE job_id = :job), :now,
                     :probes, :probe_at)
             ON CONFLICT (provider) DO UPDATE SET cause = excluded.cause, message = excluded.message,
                 model = excluded.model, probes = excluded.probes, probe_at = excluded.probe_at,
                 probe_lease = NULL",
        )?
        .execute(named_params! {
            ":provider": provider.as_str(),
            ":cause": cause.key(),
            ":message": message,
            ":job": lease.job_id.as_str(),
            ":now": now.0,
            ":probes": probes,
            ":probe_at": probe_at,
        })?;
    if probes == 0 {
        outbox::circuit_opened(connection, provider, cause, message, now)?;
    }
    Ok(())
}

/// Notes that a job was sent to see whether the circuit can be closed.
pub(super) fn begin_probe(
    connection: &Connection,
    provider: Provider,
    lease_id: &str,
) -> Result<()> {
    connection
        .prepare_cached("UPDATE circuits SET probe_lease = ?2 WHERE provider = ?1")?
        .execute((provider.as_str(), lease_id))?;
    Ok(())
}

/// Closes the circuit whose probe got through, if the attempt was one.
pub(super) fn passed(connection: &Connection, lease: &Lease, provider: Provider) -> Result<()> {
    connection
        .prepare_cached("DELETE FROM circuits WHERE provider = ?1 AND probe_lease = ?2")?
        .execute((provider.as_str(), &lease.lease_id))?;
    Ok(())
}

/// Notes that a result was stored for which nobody was asked: storage works, and nothing else is shown.
pub(super) fn stored(connection: &Connection, lease: &Lease, provider: Provider) -> Result<()> {
    let closed = connection
        .prepare_cached(
            "DELETE FROM circuits WHERE provider = ?1 AND probe_lease = ?2 AND cause = ?3",
        )?
        .execute((
            provider.as_str(),
            &lease.lease_id,
            Cause::StorageFailed.key(),
        ))?;
    if closed == 0 {
        // It may have been sent to see, and found that an earlier answer serves.
        release_probe(connection, lease, provider)?;
    }
    Ok(())
}

/// Lets another job probe, after an attempt ended that showed nothing.
pub(super) fn release_probe(
    connection: &Connection,
    lease: &Lease,
    provider: Provider,
) -> Result<()> {
    // A claim's lease is that of all its jobs, also of those of another provider.
    connection
        .prepare_cached(
            "UPDATE circuits SET probe_lease = NULL WHERE provider = ?1 AND probe_lease = ?2",
        )?
        .execute((provider.as_str(), &lease.lease_id))?;
    Ok(())
}

/// Lets other jobs probe, since nothing runs.
pub(super) fn release_probes(connection: &Connection) -> Result<()> {
    connection.execute("UPDATE circuits SET probe_lease = NULL", [])?;
    Ok(())
}

/// Returns the open circuits as they are shown.
pub(super) fn views(connection: &Connection) -> Result<Vec<CircuitView>> {
    let mut statement = connection.prepare_cached(
        "SELECT c.provider, c.cause, c.message, c.opened_at, c.model, c.probe_at,
                coalesce((SELECT sum(jobs) FROM lane_counts AS l
                          WHERE l.provider = c.provider AND l.status = 'pending'), 0)
         FROM circuits AS c ORDER BY c.provider",
    )?;
    let found = statement.query_map([], |row| {
        let cause = rows::cause(row, 1)?.unwrap_or(Cause::UnexpectedStatus);
        Ok(CircuitView {
            provider: rows::provider(row, 0)?,
            cause,
            message: row.get(2)?,
            hint: cause.hint().to_owned(),
            fix: cause.fix(),
            model: row.get(4)?,
            opened_at: rows::timestamp(row, 3)?,
            probe_at: rows::optional_timestamp(row, 5)?,
            waiting: rows::unsigned(row, 6)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn close(connection: &Connection, provider: Provider) -> Result<bool> {
    Ok(connection.execute(
        "DELETE FROM circuits WHERE provider = ?1",
        [provider.as_str()],
    )? == 1)
}

impl Store {
    /// Returns the circuits that are open.
    pub(crate) async fn open_circuits(&self) -> Result<Vec<CircuitView>> {
        self.read(views).await
    }

    /// Closes a circuit, so that the provider's jobs are delivered again. Says whether it was open.
    pub(crate) async fn close_circuit(&self, provider: Provider) -> Result<bool> {
        self.write(move |connection| close(connection, provider))
            .await
    }

    /// Gives the pending jobs of a model that does not exist another one. Returns how many changed.
    pub(crate) async fn replace_model(&self, from: String, to: String) -> Result<u64> {
        self.write(move |connection| {
            let changed = connection.execute(
                "UPDATE jobs SET model = ?2, held = held & ~24
                 WHERE status = 'pending' AND provider = 'claude' AND model = ?1",
                (&from, &to),
            )?;
            Ok(changed as u64)
        })
        .await
    }
}
