//! What a person does to jobs, one or many. A selection is a condition, so that what is counted first and
//! what is done then are the same.

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::{Result, Store, held, lists, policy, search};
use crate::model::{Affected, BatchId, BulkAction, JobId, Selection, Timestamp};

/// Which jobs are removed.
#[derive(Clone, Debug)]
pub(crate) enum Purge {
    /// Those that a person selected.
    Selected(Selection),
    /// Those that ended before a moment, but for those whose results are still on their way out.
    EndedBefore(Timestamp),
}

/// A part of a removal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Purged {
    pub(crate) jobs: u64,
    /// Keys of the results that nobody knows any more.
    pub(crate) result_keys: Vec<String>,
}

/// Returns the SQL condition of a selection over `jobs AS j`, and its values.
pub(super) fn chosen(selection: &Selection) -> (String, Vec<Value>) {
    match selection {
        Selection::Matching { filter } => lists::condition(filter),
        Selection::Jobs { job_ids } => {
            let ids: Vec<&str> = job_ids.iter().map(JobId::as_str).collect();
            (
                "j.job_id IN (SELECT value FROM json_each(?))".to_owned(),
                vec![Value::from(serde_json::to_string(&ids).unwrap_or_default())],
            )
        }
    }
}

/// Returns the condition over `jobs AS j` of jobs that an action fits, and the change that it makes.
fn effect(action: BulkAction, now: Timestamp) -> (String, Option<String>) {
    let (fits, change) = match action {
        BulkAction::RunNow => (
            format!("j.status = 'pending' AND j.available_at > {}", now.0),
            format!("available_at = {}", now.0),
        ),
        BulkAction::Cancel => (
            "(j.status IN ('pending', 'submitted')
                 OR (j.status = 'running' AND j.cancel_requested = 0))"
                .to_owned(),
            // What the batch API has may be paid all the same; then its result is kept.
            format!(
                "completed_at = CASE WHEN status <> 'running' THEN {} END,
                 cancel_requested = status = 'running',
                 status = CASE WHEN status <> 'running' THEN 'cancelled' ELSE status END",
                now.0
            ),
        ),
        BulkAction::Pause => (
            format!(
                "j.status IN ('pending', 'running', 'submitted') AND j.held & {} = 0",
                held::JOB_PAUSED
            ),
            format!("held = held | {}", held::JOB_PAUSED),
        ),
        BulkAction::Resume => (
            format!(
                "j.status IN ('pending', 'running', 'submitted') AND j.held & {} <> 0",
                held::JOB_PAUSED
            ),
            format!("held = held & ~{}", held::JOB_PAUSED),
        ),
        BulkAction::MoveTo { queue } => (
            format!("j.status = 'pending' AND j.queue <> '{}'", queue.as_str()),
            // Behind those that wait there; what is not visible yet stays so.
            format!(
                "queue = '{}',
                 delivery = iif(provider = 'claude',
                                (SELECT delivery FROM queues AS q WHERE q.queue = '{}'), 'each'),
                 position = max(0, coalesce((SELECT max(position) FROM jobs AS o
                     WHERE o.status = 'pending' AND o.queue = '{}'), 0)),
                 available_at = max(available_at, {})",
                queue.as_str(),
                queue.as_str(),
                queue.as_str(),
                now.0
            ),
        ),
        BulkAction::MarkReviewed => (
            "j.status = 'needs-review'".to_owned(),
            format!(
                "status = 'completed', reviewed_at = {}, review_code = error_code,
                 review = error, error_code = NULL, error = NULL",
                now.0
            ),
        ),
        BulkAction::UnmarkReviewed => (
            "j.status = 'completed' AND j.reviewed_at IS NOT NULL".to_owned(),
            "status = 'needs-review', error_code = review_code, error = review,
             reviewed_at = NULL, review_code = NULL, review = NULL"
                .to_owned(),
        ),
        BulkAction::Purge => {
            return ("j.status NOT IN ('running', 'submitted')".to_owned(), None);
        }
    };
    (fits, Some(change))
}

impl Store {
    /// Counts what an action would change.
    pub(crate) async fn plan_action(
        &self,
        selection: Selection,
        action: BulkAction,
        now: Timestamp,
    ) -> Result<Affected> {
        self.read(move |connection| count(connection, &selection, action, now))
            .await
    }

    /// Does what `action` says, but for removing. Returns the counts, and the ids that changed.
    pub(crate) async fn apply_action(
        &self,
        selection: Selection,
        action: BulkAction,
        now: Timestamp,
    ) -> Result<(Affected, Vec<JobId>)> {
        self.write(move |connection| apply(connection, &selection, action, now))
            .await
    }

    /// Returns the newest place in the table of jobs; what comes later is not meant by a removal.
    pub(crate) async fn newest_seq(&self) -> Result<i64> {
        self.read(|connection| {
            Ok(
                connection.query_row("SELECT coalesce(max(seq), 0) FROM jobs", [], |row| {
                    row.get(0)
                })?,
            )
        })
        .await
    }

    /// Removes at most `limit` jobs that don't run, the oldest first, with all that belongs to them.
    pub(crate) async fn purge_some(
        &self,
        which: Purge,
        up_to_seq: i64,
        limit: u32,
    ) -> Result<Purged> {
        self.write(move |connection| purge_some(connection, &which, up_to_seq, limit))
            .await
    }

    /// Pauses or resumes a batch; jobs that run go on. Says whether there is such a batch.
    pub(crate) async fn pause_batch(&self, batch_id: BatchId, paused: bool) -> Result<bool> {
        self.write(move |connection| pause_batch(connection, &batch_id, paused))
            .await
    }

    /// Caps what a batch may cost. Says whether there is such a batch.
    pub(crate) async fn cap_batch(
        &self,
        batch_id: BatchId,
        cap_micros: Option<i64>,
    ) -> Result<bool> {
        self.write(move |connection| cap_batch(connection, &batch_id, cap_micros))
            .await
    }
}

pub(super) fn apply(
    connection: &Connection,
    selection: &Selection,
    action: BulkAction,
    now: Timestamp,
) -> Result<(Affected, Vec<JobId>)> {
    let affected = count(connection, selection, action, now)?;
    let (condition, values) = chosen(selection);
    let (fits, Some(change)) = effect(action, now) else {
        return Ok((affected, Vec::new()));
    };
    let mut statement = connection.prepare_cached(&format!(
        "UPDATE jobs SET {change}
         WHERE seq IN (SELECT j.seq FROM jobs AS j WHERE {condition} AND {fits})
         RETURNING job_id"
    ))?;
    let changed = statement
        .query_map(params_from_iter(values), |row| row.get(0).map(JobId))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    if action == BulkAction::Cancel {
        let ids: Vec<&str> = changed.iter().map(JobId::as_str).collect();
        let ids = serde_json::to_string(&ids).unwrap_or_default();
        held::batches_may_go_on(connection, "job_id", &ids)?;
    }
    Ok((affected, changed))
}

pub(super) fn pause_batch(
    connection: &Connection,
    batch_id: &BatchId,
    paused: bool,
) -> Result<bool> {
    let changed = connection.execute(
        "UPDATE batches SET paused = ?2 WHERE batch_id = ?1",
        (batch_id.as_str(), paused),
    )?;
    let held = if paused { "held | 2" } else { "held & ~2" };
    connection.execute(
        &format!(
            "UPDATE jobs SET held = {held}
             WHERE batch_id = ?1 AND status IN ('pending', 'running', 'submitted')"
        ),
        [batch_id.as_str()],
    )?;
    Ok(changed == 1)
}

pub(super) fn cap_batch(
    connection: &Connection,
    batch_id: &BatchId,
    cap_micros: Option<i64>,
) -> Result<bool> {
    let changed = connection.execute(
        "UPDATE batches SET cap_micros = ?2 WHERE batch_id = ?1",
        (batch_id.as_str(), cap_micros),
    )?;
    held::batch_may_go_on(connection, batch_id.as_str())?;
    Ok(changed == 1)
}

pub(super) fn count(
    connection: &Connection,
    selection: &Selection,
    action: BulkAction,
    now: Timestamp,
) -> Result<Affected> {
    let (condition, values) = chosen(selection);
    let (fits, _) = effect(action, now);
    let all = format!("SELECT count(*) FROM jobs AS j WHERE {condition}");
    let fitting = format!("{all} AND {fits}");
    let jobs = search::count(connection, &fitting, &values)?;
    Ok(Affected {
        jobs,
        unchanged: search::count(connection, &all, &values)?.saturating_sub(jobs),
    })
}

/// Returns the condition that leaves out jobs which copies or uploads wait for: nobody else has their results.
fn still_leaving(connection: &Connection) -> Result<&'static str> {
    // Where uploads are switched off, nothing waits for them.
    Ok(match policy::bucket(connection)? {
        Some(_) => {
            " AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.job_id = j.job_id
                 AND o.receiver IN ('folder', 'bucket') AND o.ended_at IS NULL)"
        }
        None => {
            " AND NOT EXISTS (SELECT 1 FROM outbox AS o WHERE o.job_id = j.job_id
                 AND o.receiver = 'folder' AND o.ended_at IS NULL)"
        }
    })
}

pub(super) fn purge_some(
    connection: &Connection,
    which: &Purge,
    up_to_seq: i64,
    limit: u32,
) -> Result<Purged> {
    let (condition, mut values) = match which {
        Purge::Selected(selection) => chosen(selection),
        Purge::EndedBefore(moment) => (
            format!(
                "j.completed_at IS NOT NULL AND j.completed_at < ?{}",
                still_leaving(connection)?
            ),
            vec![Value::from(moment.0)],
        ),
    };
    let (fits, _) = effect(BulkAction::Purge, Timestamp(0));
    values.push(Value::from(up_to_seq));
    values.push(Value::from(i64::from(limit)));
    let seqs = connection
        .prepare_cached(&format!(
            "SELECT j.seq FROM jobs AS j WHERE {condition} AND {fits} AND j.seq <= ? LIMIT ?"
        ))?
        .query_map(params_from_iter(values), |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let seqs = serde_json::to_string(&seqs).unwrap_or_default();
    let result_keys = connection
        .prepare_cached(
            "SELECT key FROM results WHERE job_id IN
                 (SELECT job_id FROM jobs WHERE seq IN (SELECT value FROM json_each(?1)))",
        )?
        .query_map([&seqs], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    held::batches_may_go_on(connection, "seq", &seqs)?;
    let jobs = connection
        .prepare_cached("DELETE FROM jobs WHERE seq IN (SELECT value FROM json_each(?1))")?
        .execute([&seqs])?;
    Ok(Purged {
        jobs: jobs as u64,
        result_keys,
    })
}
