//! The order within a lane, as a person arranges it.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{Result, Store, remote, rows};
use crate::model::{JobId, Place, QueueName, Timestamp};

/// Where a pending job stands: its queue, and position, visible time and age.
struct Standing {
    seq: i64,
    queue: String,
    position: i64,
    available_at: i64,
}

/// Jobs of one lane that move together, in the order of their line; never none.
struct Block {
    jobs: Vec<Standing>,
    /// Their numbers as JSON.
    seqs: String,
}

impl Store {
    /// Moves pending jobs within their lane, keeping their order among them. Says how many have a new position.
    pub(crate) async fn move_jobs(&self, job_ids: Vec<JobId>, place: Place) -> Result<u64> {
        self.write(move |connection| move_jobs(connection, &job_ids, &place))
            .await
    }
}

pub(super) fn move_jobs(connection: &Connection, job_ids: &[JobId], place: &Place) -> Result<u64> {
    if let Place::Before { job_id } | Place::After { job_id } = place {
        let Some(other) = standing(connection, "job_id = ?1", &[&job_id.as_str()])? else {
            return Ok(0);
        };
        let Some(block) = block(connection, job_ids, &other.queue)? else {
            return Ok(0);
        };
        if block.jobs.iter().any(|job| job.seq == other.seq) {
            // Beside itself a job stands already.
            return Ok(0);
        }
        return if matches!(place, Place::Before { .. }) {
            put_before(connection, &block, &other)
        } else {
            put_behind(connection, &block, &other)
        };
    }
    let mut moved = 0;
    for queue in [QueueName::High, QueueName::Bulk] {
        if let Some(block) = block(connection, job_ids, queue.as_str())? {
            moved += match place {
                Place::Up => match neighbour(connection, &block, true)? {
                    Some(other) => put_before(connection, &block, &other)?,
                    None => 0,
                },
                Place::Down => match neighbour(connection, &block, false)? {
                    Some(other) => put_behind(connection, &block, &other)?,
                    None => 0,
                },
                _ => to_end(connection, &block, *place == Place::Top)?,
            };
        }
    }
    Ok(moved)
}

/// Returns those of some jobs that wait in a lane.
fn block(connection: &Connection, job_ids: &[JobId], queue: &str) -> Result<Option<Block>> {
    let ids: Vec<&str> = job_ids.iter().map(JobId::as_str).collect();
    let mut statement = connection.prepare_cached(
        "SELECT seq, queue, position, available_at FROM jobs
         WHERE job_id IN (SELECT value FROM json_each(?1)) AND status = 'pending' AND queue = ?2
         ORDER BY position, available_at, seq",
    )?;
    let jobs = statement
        .query_map((rows::to_json(&ids)?, queue), read)?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let seqs: Vec<i64> = jobs.iter().map(|job| job.seq).collect();
    Ok((!jobs.is_empty()).then_some(Block {
        jobs,
        seqs: rows::to_json(&seqs)?,
    }))
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
        .query_row(values, read)
        .optional()?)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Standing> {
    Ok(Standing {
        seq: row.get(0)?,
        queue: row.get(1)?,
        position: row.get(2)?,
        available_at: row.get(3)?,
    })
}

/// Returns the job just before the first of a block, or just behind its last.
fn neighbour(connection: &Connection, block: &Block, before: bool) -> Result<Option<Standing>> {
    let (end, sign, direction) = if before {
        (block.jobs.first(), "<", "DESC")
    } else {
        (block.jobs.last(), ">", "ASC")
    };
    match end {
        Some(end) => beside(connection, block, end, sign, direction),
        None => Ok(None),
    }
}

/// Returns the job next to `other` that is not of the block.
fn beside(
    connection: &Connection,
    block: &Block,
    other: &Standing,
    sign: &str,
    direction: &str,
) -> Result<Option<Standing>> {
    standing(
        connection,
        &format!(
            "queue = ?1 AND (position, available_at, seq) {sign} (?2, ?3, ?4)
             AND seq NOT IN (SELECT value FROM json_each(?5))
             ORDER BY position {direction}, available_at {direction}, seq {direction}"
        ),
        &[
            &other.queue,
            &other.position,
            &other.available_at,
            &other.seq,
            &block.seqs,
        ],
    )
}

/// Puts jobs before or behind all others of their lane.
fn to_end(connection: &Connection, block: &Block, top: bool) -> Result<u64> {
    let best = if top { "min" } else { "max" };
    let queue = block.jobs.first().map(|job| &job.queue);
    let outermost: Option<i64> = connection
        .prepare_cached(&format!(
            "SELECT {best}(position) FROM jobs
             WHERE status = 'pending' AND queue = ?1 AND seq NOT IN (SELECT value FROM json_each(?2))"
        ))?
        .query_row((queue, &block.seqs), |row| row.get(0))?;
    match outermost {
        Some(outermost) if top => {
            let first = outermost.saturating_sub_unsigned(block.jobs.len() as u64);
            set_positions(connection, block, first)
        }
        Some(outermost) => set_positions(connection, block, outermost.saturating_add(1)),
        None => Ok(0),
    }
}

fn put_behind(connection: &Connection, block: &Block, other: &Standing) -> Result<u64> {
    match beside(connection, block, other, ">", "ASC")? {
        Some(next) => put_before(connection, block, &next),
        None => to_end(connection, block, false),
    }
}

/// Puts jobs just before `other`, and all that stood before `other` before them, in their order.
///
/// Only what stands before is given new positions: what is added later has position 0, and belongs behind.
fn put_before(connection: &Connection, block: &Block, other: &Standing) -> Result<u64> {
    let first = other
        .position
        .saturating_sub_unsigned(block.jobs.len() as u64);
    connection
        .prepare_cached(
            "WITH before AS (
                 SELECT seq, row_number() OVER (ORDER BY position DESC, available_at DESC, seq DESC) AS rank
                 FROM jobs
                 WHERE status = 'pending' AND queue = ?1 AND seq NOT IN (SELECT value FROM json_each(?5))
                   AND (position, available_at, seq) < (?2, ?3, ?4))
             UPDATE jobs SET position = ?6 - before.rank FROM before WHERE jobs.seq = before.seq",
        )?
        .execute((
            &other.queue,
            other.position,
            other.available_at,
            other.seq,
            &block.seqs,
            first,
        ))?;
    set_positions(connection, block, first)
}

/// Gives jobs positions from `first` on.
fn set_positions(connection: &Connection, block: &Block, first: i64) -> Result<u64> {
    let mut statement = connection
        .prepare_cached("UPDATE jobs SET position = ?2 WHERE seq = ?1 AND position <> ?2")?;
    let mut moved = 0;
    for (job, position) in block.jobs.iter().zip(first..) {
        moved += statement.execute((job.seq, position))? as u64;
    }
    Ok(moved)
}
