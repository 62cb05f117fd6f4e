//! The order within a lane, as a person arranges it.

use rusqlite::{Connection, OptionalExtension as _};

use super::{Result, Store, remote};
use crate::model::{JobId, Place, Timestamp};

/// Where a pending job stands: its queue, and position, visible time and age.
struct Standing {
    seq: i64,
    queue: String,
    position: i64,
    available_at: i64,
}

impl Store {
    /// Moves a pending job within its lane. Says whether that changed anything.
    pub(crate) async fn move_job(&self, job_id: JobId, place: Place) -> Result<bool> {
        self.write(move |connection| move_job(connection, &job_id, place))
            .await
    }
}

pub(super) fn move_job(connection: &Connection, job_id: &JobId, place: Place) -> Result<bool> {
    let Some(job) = standing(connection, "job_id = ?1", &[&job_id.as_str()])? else {
        return Ok(false);
    };
    match place {
        Place::Top | Place::Bottom => to_end(connection, &job, place == Place::Top),
        Place::Up => match neighbour(connection, &job, Place::Up)? {
            Some(before) => put_before(connection, &job, &before),
            None => Ok(false),
        },
        Place::Down => match neighbour(connection, &job, Place::Down)? {
            Some(behind) => put_before(connection, &behind, &job),
            None => Ok(false),
        },
    }
}

/// Lets jobs wait as long from now as they would have, where the clock went back behind their beginning.
pub(super) fn follow_clock(connection: &Connection, now: Timestamp) -> Result<()> {
    let went_back: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM jobs WHERE seq = (SELECT max(seq) FROM jobs)
                            AND created_at > ?1)
                 OR EXISTS (SELECT 1 FROM attempts
                            WHERE attempt_id = (SELECT max(attempt_id) FROM attempts)
                            AND max(started_at, coalesce(ended_at, 0)) > ?1)",
        )?
        .query_row([now.0], |row| row.get(0))?;
    if went_back {
        connection
            .prepare_cached(
                "UPDATE jobs SET available_at = CASE WHEN available_at > ?1
                         THEN max(?1, available_at - (waiting_since - ?1)) ELSE available_at END,
                     waiting_since = ?1
                 WHERE status = 'pending' AND waiting_since > ?1",
            )?
            .execute([now.0])?;
        connection
            .prepare_cached(
                "UPDATE circuits SET probe_at = ?1 WHERE probe_at > ?1 AND opened_at > ?1",
            )?
            .execute([now.0])?;
        remote::follow_clock(connection, now)?;
    }
    Ok(())
}

fn standing(
    connection: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<Option<Standing>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT seq, queue, position, available_at FROM jobs
             WHERE status = 'pending' AND {condition} LIMIT 1"
        ))?
        .query_row(values, |row| {
            Ok(Standing {
                seq: row.get(0)?,
                queue: row.get(1)?,
                position: row.get(2)?,
                available_at: row.get(3)?,
            })
        })
        .optional()?)
}

/// Returns the job just before or behind another one.
fn neighbour(connection: &Connection, job: &Standing, place: Place) -> Result<Option<Standing>> {
    let (sign, direction) = if place == Place::Up {
        ("<", "DESC")
    } else {
        (">", "ASC")
    };
    standing(
        connection,
        &format!(
            "queue = ?1 AND (position, available_at, seq) {sign} (?2, ?3, ?4)
             ORDER BY position {direction}, available_at {direction}, seq {direction}"
        ),
        &[&job.queue, &job.position, &job.available_at, &job.seq],
    )
}

/// Puts a job before or behind all others of its lane.
fn to_end(connection: &Connection, job: &Standing, top: bool) -> Result<bool> {
    let (best, step) = if top { ("min", -1) } else { ("max", 1) };
    let outermost: Option<i64> = connection
        .prepare_cached(&format!(
            "SELECT {best}(position) FROM jobs
             WHERE status = 'pending' AND queue = ?1 AND seq <> ?2"
        ))?
        .query_row((&job.queue, job.seq), |row| row.get(0))?;
    let Some(outermost) = outermost else {
        return Ok(false);
    };
    set_position(connection, job.seq, outermost.saturating_add(step))
}

/// Puts `job` just before `other`, and all that stood before `other` before it, in their order.
fn put_before(connection: &Connection, job: &Standing, other: &Standing) -> Result<bool> {
    connection
        .prepare_cached(
            "WITH before AS (
                 SELECT seq, row_number() OVER (ORDER BY position DESC, available_at DESC, seq DESC) AS rank
                 FROM jobs
                 WHERE status = 'pending' AND queue = ?1 AND seq <> ?5
                   AND (position, available_at, seq) < (?2, ?3, ?4))
             UPDATE jobs SET position = ?2 - 1 - before.rank FROM before WHERE jobs.seq = before.seq",
        )?
        .execute((
            &other.queue,
            other.position,
            other.available_at,
            other.seq,
            job.seq,
        ))?;
    set_position(connection, job.seq, other.position - 1)
}

fn set_position(connection: &Connection, seq: i64, position: i64) -> Result<bool> {
    Ok(connection
        .prepare_cached("UPDATE jobs SET position = ?2 WHERE seq = ?1 AND position <> ?2")?
        .execute((seq, position))?
        == 1)
}
