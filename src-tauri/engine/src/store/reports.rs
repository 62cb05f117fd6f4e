//! What became of a batch.

use rusqlite::{Connection, OptionalExtension as _};

use super::{Result, Store, batches, rows};
use crate::model::{BatchId, BatchView, Cause, JobId, RankedJob, Timestamp};

/// Jobs that are ranked.
const RANKED: u32 = 5;

/// What the database knows of what became of a batch.
#[derive(Clone, Debug)]
pub(crate) struct ReportRow {
    pub(crate) batch: BatchView,
    pub(crate) template: Option<String>,
    pub(crate) model: String,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) pages: u64,
    pub(crate) expected_micros: Option<i64>,
    pub(crate) at_worst_micros: Option<i64>,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) reused: u64,
    pub(crate) without_result: u64,
    pub(crate) wasted_micros: i64,
    pub(crate) attempts: u64,
    pub(crate) retries: u64,
    pub(crate) typical_waited_ms: Option<u64>,
    pub(crate) typical_ran_ms: Option<u64>,
    pub(crate) slow_ran_ms: Option<u64>,
    pub(crate) slowest: Vec<RankedJob>,
    pub(crate) dearest: Vec<RankedJob>,
    /// Most jobs first.
    pub(crate) steps: Vec<StepRow>,
    pub(crate) files: Vec<String>,
    pub(crate) files_error: Option<String>,
    /// The folder that holds its PDFs.
    pub(crate) folder: Option<String>,
}

/// Jobs of one cause that a person can do something about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepRow {
    pub(crate) cause: Cause,
    /// Whether they need review; else they are dead letters.
    pub(crate) review: bool,
    pub(crate) jobs: u64,
}

impl Store {
    /// Returns what became of a batch, if it exists.
    pub(crate) async fn batch_report(&self, batch_id: BatchId) -> Result<Option<ReportRow>> {
        self.read(move |connection| {
            let Some(batch) = batches::one(connection, &batch_id)? else {
                return Ok(None);
            };
            report(connection, batch).map(Some)
        })
        .await
    }
}

fn report(connection: &Connection, batch: BatchView) -> Result<ReportRow> {
    let id = batch.batch_id.clone();
    let sums = sums(connection, &id)?;
    let tries = tries(connection, &id)?;
    let (expected_micros, at_worst_micros, folder) = connection
        .prepare_cached(
            "SELECT expected_micros, at_worst_micros, folder FROM batches WHERE batch_id = ?1",
        )?
        .query_row([id.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?;
    let (files, files_error) = files(connection, &id)?;
    Ok(ReportRow {
        batch,
        template: most(connection, &id, "template_id || '-v' || template_version")?,
        model: most(connection, &id, "model")?.unwrap_or_default(),
        started_at: tries.started_at,
        ended_at: sums.ended_at,
        pages: sums.pages,
        expected_micros,
        at_worst_micros,
        input_tokens: sums.input_tokens,
        output_tokens: sums.output_tokens,
        reused: sums.reused,
        without_result: sums.without_result,
        wasted_micros: tries.wasted_micros,
        attempts: tries.attempts,
        retries: tries.retries,
        typical_waited_ms: median(connection, &id, "waited_ms")?,
        typical_ran_ms: median(connection, &id, "ran_ms")?,
        slow_ran_ms: slow(connection, &id)?,
        slowest: ranked(connection, &id, "ran_ms")?,
        dearest: ranked(connection, &id, "cost_micros")?,
        steps: steps(connection, &id)?,
        files,
        files_error,
        folder,
    })
}

/// Sums over the jobs of a batch.
struct Sums {
    ended_at: Option<Timestamp>,
    pages: u64,
    input_tokens: u64,
    output_tokens: u64,
    reused: u64,
    without_result: u64,
}

fn sums(connection: &Connection, batch_id: &BatchId) -> Result<Sums> {
    Ok(connection
        .prepare_cached(
            "SELECT CASE WHEN count(*) = count(j.completed_at) THEN max(j.completed_at) END,
                    coalesce(sum(d.pages), 0), coalesce(sum(j.input_tokens), 0),
                    coalesce(sum(j.output_tokens), 0), coalesce(sum(j.reused), 0),
                    count(*) FILTER (WHERE j.result_id IS NULL
                                     AND (j.cost_micros > 0 OR j.cost_unknown))
             FROM jobs AS j LEFT JOIN documents AS d ON d.sha256 = j.document_sha256
             WHERE j.batch_id = ?1",
        )?
        .query_row([batch_id.as_str()], |row| {
            Ok(Sums {
                ended_at: rows::optional_timestamp(row, 0)?,
                pages: rows::unsigned(row, 1)?,
                input_tokens: rows::unsigned(row, 2)?,
                output_tokens: rows::unsigned(row, 3)?,
                reused: rows::unsigned(row, 4)?,
                without_result: rows::unsigned(row, 5)?,
            })
        })?)
}

/// Sums over the attempts of a batch.
struct Tries {
    started_at: Option<Timestamp>,
    attempts: u64,
    retries: u64,
    wasted_micros: i64,
}

/// Sums up attempts. Those that were put off don't count.
///
/// The ledger knows what an attempt of unknown outcome counts for. One that ended without a result but whose
/// cost is known got an answer that was kept: it was for nothing only if no later attempt published that.
fn tries(connection: &Connection, batch_id: &BatchId) -> Result<Tries> {
    Ok(connection
        .prepare_cached(
            "SELECT min(a.started_at), count(*) FILTER (WHERE a.outcome <> 'deferred'),
                    count(*) FILTER (WHERE a.outcome <> 'deferred' AND a.number > 1),
                    coalesce(sum(l.micros) FILTER (
                        WHERE a.outcome NOT IN ('completed', 'needs-review', 'running')
                          AND l.state IN ('settled', 'unknown')
                          AND (a.cost_micros IS NULL OR NOT EXISTS
                               (SELECT 1 FROM results AS r WHERE r.job_id = a.job_id
                                AND r.generation >= a.generation))), 0)
             FROM jobs AS j JOIN attempts AS a USING (job_id)
                  LEFT JOIN ledger AS l ON l.job_id = a.job_id AND l.lease_id = a.lease_id
             WHERE j.batch_id = ?1",
        )?
        .query_row([batch_id.as_str()], |row| {
            Ok(Tries {
                started_at: rows::optional_timestamp(row, 0)?,
                attempts: rows::unsigned(row, 1)?,
                retries: rows::unsigned(row, 2)?,
                wasted_micros: row.get(3)?,
            })
        })?)
}

/// Returns what most jobs of a batch have as `expression`.
fn most(connection: &Connection, batch_id: &BatchId, expression: &str) -> Result<Option<String>> {
    Ok(connection
        .prepare_cached(&format!(
            "SELECT {expression} AS it FROM jobs WHERE batch_id = ?1 AND it IS NOT NULL
             GROUP BY it ORDER BY count(*) DESC, it LIMIT 1"
        ))?
        .query_row([batch_id.as_str()], |row| row.get(0))
        .optional()?)
}

/// The jobs that say how long it takes: those that ended after an attempt. One that could not be delivered at
/// all neither waited nor ran.
const TIMED: &str = "batch_id = ?1 AND completed_at IS NOT NULL AND started_at IS NOT NULL";

/// Returns how many jobs say how long it takes.
fn timed(connection: &Connection, batch_id: &BatchId) -> Result<i64> {
    Ok(connection
        .prepare_cached(&format!("SELECT count(*) FROM jobs WHERE {TIMED}"))?
        .query_row([batch_id.as_str()], |row| row.get(0))?)
}

/// Returns the median of `column`: the mean of the two in the middle, where there are two.
fn median(connection: &Connection, batch_id: &BatchId, column: &str) -> Result<Option<u64>> {
    let jobs = timed(connection, batch_id)?;
    let median: Option<f64> = connection
        .prepare_cached(&format!(
            "SELECT avg({column}) FROM (SELECT {column} FROM jobs WHERE {TIMED}
                 ORDER BY {column} LIMIT ?2 OFFSET ?3)"
        ))?
        .query_row(
            (batch_id.as_str(), 2 - jobs % 2, (jobs - 1).max(0) / 2),
            |row| row.get(0),
        )?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "milliseconds that were counted up from zero, rounded"
    )]
    Ok(median.map(|median| median.round().max(0.0) as u64))
}

/// Returns how long the fastest of the slowest twentieth ran.
fn slow(connection: &Connection, batch_id: &BatchId) -> Result<Option<u64>> {
    let jobs = timed(connection, batch_id)?;
    let before = (jobs * 95 + 99) / 100 - 1;
    Ok(connection
        .prepare_cached(&format!(
            "SELECT ran_ms FROM jobs WHERE {TIMED} ORDER BY ran_ms LIMIT 1 OFFSET ?2"
        ))?
        .query_row((batch_id.as_str(), before.max(0)), |row| {
            rows::unsigned(row, 0)
        })
        .optional()?)
}

/// Returns the jobs of a batch with most of `column`.
fn ranked(connection: &Connection, batch_id: &BatchId, column: &str) -> Result<Vec<RankedJob>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT job_id, title, ran_ms, cost_micros FROM jobs
         WHERE batch_id = ?1 AND {column} > 0 ORDER BY {column} DESC, seq LIMIT ?2"
    ))?;
    let found = statement.query_map((batch_id.as_str(), RANKED), |row| {
        Ok(RankedJob {
            job_id: JobId(row.get(0)?),
            title: row.get(1)?,
            ran_ms: rows::unsigned(row, 2)?,
            cost_micros: row.get(3)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn steps(connection: &Connection, batch_id: &BatchId) -> Result<Vec<StepRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT error_code, status = 'needs-review' AS review, count(*) FROM jobs
         WHERE batch_id = ?1 AND status IN ('needs-review', 'failed', 'dead-lettered')
         GROUP BY 1, 2 ORDER BY 3 DESC, 2 DESC, 1",
    )?;
    let found = statement.query_map([batch_id.as_str()], |row| {
        Ok(StepRow {
            cause: rows::cause(row, 0)?.unwrap_or(Cause::UnexpectedStatus),
            review: row.get(1)?,
            jobs: rows::unsigned(row, 2)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// Returns the files that a batch left, and why one could not be written.
fn files(connection: &Connection, batch_id: &BatchId) -> Result<(Vec<String>, Option<String>)> {
    let mut statement = connection.prepare_cached(
        "SELECT path, error FROM batch_files WHERE batch_id = ?1 ORDER BY format",
    )?;
    let mut found = statement.query([batch_id.as_str()])?;
    let (mut files, mut problem) = (Vec::new(), None);
    while let Some(row) = found.next()? {
        files.extend(row.get::<_, Option<String>>(0)?);
        problem = problem.or(row.get(1)?);
    }
    Ok((files, problem))
}
