//! Claiming jobs and keeping their leases.

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};

use super::{Result, Store, rows};
use crate::model::{Cause, JobId, JobKind, Provider, QueueName, Timestamp};

/// A claim on a job: whoever holds it may end the attempt, nobody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lease {
    pub(crate) job_id: JobId,
    pub(crate) lease_id: String,
    /// Which run of the job.
    pub(crate) generation: u32,
    /// Which delivery within the run, from 1.
    pub(crate) number: u32,
}

/// A job taken for an attempt, with everything that the attempt needs.
#[derive(Clone, Debug)]
pub(crate) struct ClaimedJob {
    pub(crate) lease: Lease,
    pub(crate) kind: JobKind,
    pub(crate) title: String,
    pub(crate) prompt: Option<String>,
    pub(crate) template_body: Option<String>,
    pub(crate) source_path: Option<String>,
    pub(crate) source_bytes: Option<u64>,
    pub(crate) source_modified: Option<i64>,
    pub(crate) document_sha256: Option<String>,
    pub(crate) pages: Option<u32>,
    /// What speaks against the document.
    pub(crate) finding: Option<(Cause, String)>,
    pub(crate) provider: Provider,
    pub(crate) model: String,
    pub(crate) max_tokens: u32,
    /// Deliveries allowed in all.
    pub(crate) max_attempts: u32,
    pub(crate) template_id: Option<String>,
    pub(crate) template_version: Option<u32>,
    position: i64,
    available_at: i64,
    seq: i64,
}

/// A queue's settings that the dispatcher needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueRow {
    pub(crate) queue: QueueName,
    pub(crate) max_batch_size: u32,
    pub(crate) max_concurrency: u32,
    pub(crate) paused: bool,
}

impl Store {
    /// Returns the queues in serving order.
    pub(crate) async fn queues(&self) -> Result<Vec<QueueRow>> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT queue, max_batch_size, max_concurrency, paused FROM queues ORDER BY serving_order",
            )?;
            let found = statement.query_map([], |row| {
                Ok(QueueRow {
                    queue: rows::queue(row, 0)?,
                    max_batch_size: row.get(1)?,
                    max_concurrency: row.get(2)?,
                    paused: row.get(3)?,
                })
            })?;
            Ok(found.collect::<rusqlite::Result<_>>()?)
        })
        .await
    }

    /// Takes at most `limit` ready jobs of a queue for an attempt each, and records the attempts.
    ///
    /// Returns fewer when fewer are ready, and none while the queue is paused or a circuit holds them.
    pub(crate) async fn claim(
        &self,
        queue: QueueName,
        limit: u32,
        now: Timestamp,
        lease_expires_at: Timestamp,
    ) -> Result<Vec<ClaimedJob>> {
        self.write(move |connection| claim(connection, queue, limit, now, lease_expires_at))
            .await
    }

    /// Returns when the next pending job of any queue becomes visible, if one will.
    pub(crate) async fn next_available(&self, now: Timestamp) -> Result<Option<Timestamp>> {
        self.read(move |connection| {
            let next: Option<i64> = connection
                .prepare_cached(
                    "SELECT available_at FROM jobs
                     WHERE status = 'pending' AND available_at > ?1
                       AND queue IN (SELECT queue FROM queues WHERE paused = 0)
                       AND provider NOT IN (SELECT provider FROM circuits)
                     ORDER BY available_at LIMIT 1",
                )?
                .query_row([now.0], |row| row.get(0))
                .optional()?;
            Ok(next.map(Timestamp))
        })
        .await
    }

    /// Extends leases that are still held, and returns the jobs that somebody wants cancelled.
    pub(crate) async fn renew(
        &self,
        leases: Vec<Lease>,
        lease_expires_at: Timestamp,
    ) -> Result<Vec<JobId>> {
        self.write(move |connection| {
            let mut unwanted = Vec::new();
            let mut statement = connection.prepare_cached(
                "UPDATE jobs SET lease_expires_at = ?3
                 WHERE job_id = ?1 AND status = 'running' AND lease_id = ?2
                 RETURNING cancel_requested",
            )?;
            for lease in &leases {
                let cancelled: Option<bool> = statement
                    .query_row(
                        (lease.job_id.as_str(), &lease.lease_id, lease_expires_at.0),
                        |row| row.get(0),
                    )
                    .optional()?;
                if cancelled == Some(true) {
                    unwanted.push(lease.job_id.clone());
                }
            }
            Ok(unwanted)
        })
        .await
    }

    /// Says whether a job runs, or will run without a person's doing.
    pub(crate) async fn has_live_jobs(&self) -> Result<bool> {
        self.read(|connection| {
            Ok(connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'running')
                     OR EXISTS (SELECT 1 FROM jobs
                                WHERE status = 'pending'
                                  AND queue IN (SELECT queue FROM queues WHERE paused = 0)
                                  AND provider NOT IN (SELECT provider FROM circuits))",
                [],
                |row| row.get(0),
            )?)
        })
        .await
    }
}

fn claim(
    connection: &Connection,
    queue: QueueName,
    limit: u32,
    now: Timestamp,
    lease_expires_at: Timestamp,
) -> Result<Vec<ClaimedJob>> {
    let lease_id = uuid::Uuid::now_v7().to_string();
    let mut taken = connection
        .prepare_cached(
            "UPDATE jobs SET status = 'running', lease_id = :lease, lease_expires_at = :expires,
                 started_at = :now, attempts = attempts + 1, cancel_requested = 0,
                 waited_ms = waited_ms + max(0, :now - waiting_since)
             WHERE seq IN (
                 SELECT seq FROM jobs
                 WHERE queue = :queue AND status = 'pending' AND available_at <= :now
                   AND provider NOT IN (SELECT provider FROM circuits)
                   AND EXISTS (SELECT 1 FROM queues WHERE queue = :queue AND paused = 0)
                 ORDER BY position, available_at, seq
                 LIMIT :limit)
             RETURNING job_id, generation, attempts, kind, title, prompt,
                 (SELECT body FROM templates AS t
                  WHERE t.template_id = jobs.template_id AND t.version = jobs.template_version),
                 source_path, source_bytes, source_modified, document_sha256,
                 (SELECT pages FROM documents WHERE sha256 = document_sha256),
                 provider, model, max_tokens,
                 (SELECT max_retries + 1 FROM queues AS q WHERE q.queue = jobs.queue),
                 template_id, template_version, position, available_at, seq,
                 max(0, :now - waiting_since),
                 (SELECT finding_cause FROM documents WHERE sha256 = document_sha256),
                 (SELECT finding_message FROM documents WHERE sha256 = document_sha256)",
        )?
        .query_map(
            named_params! {
                ":lease": lease_id,
                ":expires": lease_expires_at.0,
                ":now": now.0,
                ":queue": queue.as_str(),
                ":limit": limit,
            },
            |row| Ok((claimed(row, &lease_id)?, row.get::<_, i64>(21)?)),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    // SQLite returns rows in the order of the update, not of the line.
    taken.sort_by_key(|(job, _)| (job.position, job.available_at, job.seq));
    let mut statement = connection.prepare_cached(
        "INSERT INTO attempts (job_id, generation, number, lease_id, provider, model, started_at,
                               outcome, waited_ms)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'running', ?8)",
    )?;
    for (job, waited_ms) in &taken {
        statement.execute((
            job.lease.job_id.as_str(),
            job.lease.generation,
            job.lease.number,
            &job.lease.lease_id,
            job.provider.as_str(),
            &job.model,
            now.0,
            waited_ms,
        ))?;
    }
    Ok(taken.into_iter().map(|(job, _)| job).collect())
}

fn claimed(row: &Row<'_>, lease_id: &str) -> rusqlite::Result<ClaimedJob> {
    Ok(ClaimedJob {
        lease: Lease {
            job_id: JobId(row.get(0)?),
            lease_id: lease_id.to_owned(),
            generation: row.get(1)?,
            number: row.get(2)?,
        },
        kind: rows::kind(row, 3)?,
        title: row.get(4)?,
        prompt: row.get(5)?,
        template_body: row.get(6)?,
        source_path: row.get(7)?,
        source_bytes: rows::optional_unsigned(row, 8)?,
        source_modified: row.get(9)?,
        document_sha256: row.get(10)?,
        pages: row.get(11)?,
        finding: rows::cause(row, 22)?.zip(row.get(23)?),
        provider: rows::provider(row, 12)?,
        model: row.get(13)?,
        max_tokens: row.get(14)?,
        max_attempts: row.get(15)?,
        template_id: row.get(16)?,
        template_version: row.get(17)?,
        position: row.get(18)?,
        available_at: row.get(19)?,
        seq: row.get(20)?,
    })
}
