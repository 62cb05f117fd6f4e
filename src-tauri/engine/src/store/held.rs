//! Why a pending job is passed over: the bits of `jobs.held`.

use rusqlite::Connection;

use super::Result;

/// A person paused the job.
pub(super) const JOB_PAUSED: i64 = 1;
/// A person paused its batch.
pub(super) const BATCH_PAUSED: i64 = 2;
/// Its batch has reached its cap.
pub(super) const BATCH_CAPPED: i64 = 4;
/// Its model has no price.
pub(super) const NO_PRICE: i64 = 8;
/// It is larger than the budget of a whole minute.
pub(super) const OVERSIZED: i64 = 16;
/// It is answered and stored, and completed when its upload is there.
pub(super) const UPLOADING: i64 = 32;
/// It waits until the pilot of its batch has ended and a person lets the others go on.
pub(super) const PILOT: i64 = 64;

/// Passes over every pending job of a batch that has reached its cap.
pub(super) fn batch_capped(connection: &Connection, batch_id: &str) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET held = held | 4
             WHERE batch_id = ?1 AND status = 'pending' AND held & 4 = 0",
        )?
        .execute([batch_id])?;
    Ok(())
}

/// Has a batch's jobs looked at again, since its cap or what counts against it changed.
pub(super) fn batch_may_go_on(connection: &Connection, batch_id: &str) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET held = held & ~4
             WHERE batch_id = ?1 AND status = 'pending' AND held & 4 <> 0",
        )?
        .execute([batch_id])?;
    Ok(())
}

/// Has the jobs of capped batches looked at again of which jobs go away: the others may fit.
///
/// `column` is `job_id` or `seq`, `values` are those of the jobs, as JSON.
pub(super) fn batches_may_go_on(
    connection: &Connection,
    column: &'static str,
    values: &str,
) -> Result<()> {
    connection
        .prepare_cached(&format!(
            "UPDATE jobs SET held = held & ~4
             WHERE status = 'pending' AND held & 4 <> 0 AND batch_id IN
                 (SELECT batch_id FROM jobs WHERE {column} IN (SELECT value FROM json_each(?1)))"
        ))?
        .execute([values])?;
    Ok(())
}

/// Passes over every pending job of a model that has no price.
pub(super) fn without_price(connection: &Connection, model: &str) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET held = held | 8
             WHERE status = 'pending' AND held & 8 = 0 AND provider = 'claude' AND model = ?1",
        )?
        .execute([model])?;
    Ok(())
}

/// Passes over a job that is larger than a minute's budget.
pub(super) fn oversized(connection: &Connection, seq: i64) -> Result<()> {
    connection
        .prepare_cached("UPDATE jobs SET held = held | 16 WHERE seq = ?1 AND status = 'pending'")?
        .execute([seq])?;
    Ok(())
}

/// Has all jobs looked at again that were passed over for one of `bits`.
pub(super) fn look_again(connection: &Connection, bits: i64) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE jobs SET held = held & ~?1
             WHERE status = 'pending' AND held <> 0 AND held & ?1 <> 0",
        )?
        .execute([bits])?;
    Ok(())
}
