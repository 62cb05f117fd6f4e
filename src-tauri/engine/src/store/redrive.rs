//! What a person does to jobs, queues and circuits.

use rusqlite::{Connection, OptionalExtension as _, params_from_iter};

use super::{Result, Store, lists};
use crate::model::{JobFilter, JobId, Provider, QueueName, Timestamp};

impl Store {
    /// Puts ended jobs back in their queues as a new run with no attempts used; the history stays.
    ///
    /// Jobs that run, wait or are completed are left as they are. Returns those put back.
    pub(crate) async fn redrive(&self, job_ids: Vec<JobId>, now: Timestamp) -> Result<Vec<JobId>> {
        self.write(move |connection| {
            let mut redriven = Vec::new();
            for job_id in job_ids {
                if redrive(connection, &job_id, now)? {
                    redriven.push(job_id);
                }
            }
            Ok(redriven)
        })
        .await
    }

    /// Puts every ended job that matches `filter` back in its queue, in the order of their ages.
    pub(crate) async fn redrive_matching(
        &self,
        filter: JobFilter,
        now: Timestamp,
    ) -> Result<Vec<JobId>> {
        self.write(move |connection| {
            let (condition, values) = lists::condition(&filter);
            let mut statement = connection.prepare(&format!(
                "SELECT j.job_id FROM jobs AS j WHERE {condition}
                     AND j.status IN ('failed', 'dead-lettered', 'needs-review', 'cancelled')
                 ORDER BY j.seq"
            ))?;
            let job_ids = statement
                .query_map(params_from_iter(values), |row| row.get(0).map(JobId))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            for job_id in &job_ids {
                redrive(connection, job_id, now)?;
            }
            Ok(job_ids)
        })
        .await
    }

    /// Lets pending jobs run at once, whatever delay or countdown they had. Returns those that changed.
    pub(crate) async fn run_now(&self, job_ids: Vec<JobId>, now: Timestamp) -> Result<Vec<JobId>> {
        self.write(move |connection| {
            let mut statement = connection.prepare_cached(
                "UPDATE jobs SET available_at = ?2
                 WHERE job_id = ?1 AND status = 'pending' AND available_at > ?2",
            )?;
            let mut changed = Vec::new();
            for job_id in job_ids {
                if statement.execute((job_id.as_str(), now.0))? == 1 {
                    changed.push(job_id);
                }
            }
            Ok(changed)
        })
        .await
    }

    /// Cancels pending jobs, and asks running ones to end. Returns those that changed.
    pub(crate) async fn cancel(&self, job_ids: Vec<JobId>, now: Timestamp) -> Result<Vec<JobId>> {
        self.write(move |connection| {
            let mut statement = connection.prepare_cached(
                "UPDATE jobs SET
                     completed_at = CASE WHEN status = 'pending' THEN ?2 END,
                     cancel_requested = status = 'running',
                     status = CASE WHEN status = 'pending' THEN 'cancelled' ELSE status END
                 WHERE job_id = ?1 AND (status = 'pending' OR (status = 'running' AND cancel_requested = 0))",
            )?;
            let mut changed = Vec::new();
            for job_id in job_ids {
                if statement.execute((job_id.as_str(), now.0))? == 1 {
                    changed.push(job_id);
                }
            }
            Ok(changed)
        })
        .await
    }

    /// Pauses or resumes a queue. Says whether that changed anything.
    pub(crate) async fn pause(&self, queue: QueueName, paused: bool) -> Result<bool> {
        self.write(move |connection| {
            Ok(connection.execute(
                "UPDATE queues SET paused = ?2 WHERE queue = ?1 AND paused <> ?2",
                (queue.as_str(), paused),
            )? == 1)
        })
        .await
    }

    /// Closes a circuit, so that the provider's jobs are delivered again. Says whether it was open.
    pub(crate) async fn close_circuit(&self, provider: Provider) -> Result<bool> {
        self.write(move |connection| {
            Ok(connection.execute(
                "DELETE FROM circuits WHERE provider = ?1",
                [provider.as_str()],
            )? == 1)
        })
        .await
    }
}

fn redrive(connection: &Connection, job_id: &JobId, now: Timestamp) -> Result<bool> {
    let generation: Option<u32> = connection
        .prepare_cached(
            "UPDATE jobs SET status = 'pending', generation = generation + 1, attempts = 0,
                 available_at = ?2, waiting_since = ?2, completed_at = NULL,
                 error_code = NULL, error = NULL
             WHERE job_id = ?1
               AND status IN ('failed', 'dead-lettered', 'needs-review', 'cancelled')
             RETURNING generation",
        )?
        .query_row((job_id.as_str(), now.0), |row| row.get(0))
        .optional()?;
    let Some(generation) = generation else {
        return Ok(false);
    };
    // An answer that was paid for but never stored is published by the new run, not bought again.
    connection
        .prepare_cached("UPDATE answers SET generation = ?2 WHERE job_id = ?1")?
        .execute((job_id.as_str(), generation))?;
    Ok(true)
}
