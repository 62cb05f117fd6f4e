//! Lists of jobs, and one job with everything about it.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

use super::{Result, Store, rows};
use crate::error::EngineError;
use crate::model::{
    AttemptView, BatchId, Cause, ConsumerPlace, DocumentView, Finding, JobFilter, JobId, JobPage,
    JobStatus, JobView, JobsShown, Sha256, Timestamp, WaitingReason,
};

/// What a list needs to know besides the database.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ListContext {
    pub(crate) now: Timestamp,
    pub(crate) consumer: ConsumerPlace,
}

/// A job's stored result, without its text.
#[derive(Clone, Debug)]
pub(crate) struct ResultRow {
    pub(crate) key: String,
    pub(crate) provider: crate::model::Provider,
    pub(crate) model: String,
    pub(crate) template: Option<String>,
    pub(crate) stop_reason: Option<String>,
    pub(crate) sha256: Sha256,
    pub(crate) bytes: u64,
    pub(crate) copy_path: Option<String>,
    pub(crate) copy_error: Option<String>,
    pub(crate) created_at: Timestamp,
}

/// One job with everything that the database knows of it.
#[derive(Clone, Debug)]
pub(crate) struct JobRecord {
    pub(crate) job: JobView,
    pub(crate) prompt: Option<String>,
    pub(crate) document: Option<DocumentView>,
    pub(crate) attempts: Vec<AttemptView>,
    pub(crate) result: Option<ResultRow>,
}

/// The columns of [`job`], over [`JOB_TABLES`].
const JOB_COLUMNS: &str = "j.seq, j.job_id, j.batch_id, b.name, j.kind, j.title, j.source_path, \
     j.status, j.queue, d.pages, j.template_id || '-v' || j.template_version, j.provider, j.model, \
     j.attempts, q.max_retries + 1, j.created_at, j.started_at, j.completed_at, j.input_tokens, \
     j.output_tokens, j.cost_micros, j.cost_unknown, j.ran_ms, j.waited_ms, j.error_code, j.error, \
     j.available_at, q.paused, c.cause";

const JOB_TABLES: &str = "jobs AS j JOIN batches AS b USING (batch_id) JOIN queues AS q USING (queue) \
     LEFT JOIN documents AS d ON d.sha256 = j.document_sha256 \
     LEFT JOIN circuits AS c ON c.provider = j.provider";

impl Store {
    /// Returns a page of the jobs that match, newest first. `after` is the `next` of the page before.
    pub(crate) async fn jobs(
        &self,
        filter: JobFilter,
        after: Option<i64>,
        limit: u32,
        context: ListContext,
    ) -> Result<JobPage> {
        self.read(move |connection| page(connection, &filter, after, limit, context))
            .await
    }

    /// Returns a job with everything about it.
    ///
    /// # Errors
    /// [`EngineError::NotFound`].
    pub(crate) async fn job(&self, job_id: JobId, context: ListContext) -> Result<JobRecord> {
        self.read(move |connection| record(connection, &job_id, context))
            .await
    }

    /// Returns the ids of the jobs whose id begins with `part`, or else ends with it; at most two.
    pub(crate) async fn jobs_named(&self, part: String) -> Result<Vec<JobId>> {
        self.read(move |connection| {
            // Ids begin with the time, so their beginnings are ordered and their ends tell them apart.
            for condition in [
                "job_id >= ?1 AND job_id < ?1 || 'g'",
                "substr(job_id, -length(?1)) = ?1",
            ] {
                let mut statement = connection.prepare_cached(&format!(
                    "SELECT job_id FROM jobs WHERE {condition} LIMIT 2"
                ))?;
                let found = statement
                    .query_map([&part], |row| row.get(0).map(JobId))?
                    .collect::<rusqlite::Result<Vec<_>>>()?;
                if !found.is_empty() {
                    return Ok(found);
                }
            }
            Ok(Vec::new())
        })
        .await
    }

    /// Says whether a path is a job's source or the copy of a result.
    pub(crate) async fn knows_path(&self, path: String) -> Result<bool> {
        self.read(move |connection| {
            Ok(connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE source_path = ?1)
                     OR EXISTS (SELECT 1 FROM results WHERE copy_path = ?1)",
                [&path],
                |row| row.get(0),
            )?)
        })
        .await
    }
}

/// Returns the SQL condition of a filter over `jobs AS j`, and its values.
pub(super) fn condition(filter: &JobFilter) -> (String, Vec<Value>) {
    let mut parts = Vec::new();
    let mut values = Vec::new();
    if filter.shown != JobsShown::All {
        let statuses = filter.shown.statuses();
        parts.push(format!(
            "j.status IN ({})",
            vec!["?"; statuses.len()].join(", ")
        ));
        values.extend(
            statuses
                .iter()
                .map(|status| Value::from(status.as_str().to_owned())),
        );
    }
    if let Some(queue) = filter.queue {
        parts.push("j.queue = ?".to_owned());
        values.push(Value::from(queue.as_str().to_owned()));
    }
    if let Some(batch_id) = &filter.batch_id {
        parts.push("j.batch_id = ?".to_owned());
        values.push(Value::from(batch_id.as_str().to_owned()));
    }
    if let Some(text) = filter
        .text
        .as_deref()
        .map(str::trim)
        .filter(|text| !text.is_empty())
    {
        parts.push("(j.title LIKE ? ESCAPE '\\' OR j.error LIKE ? ESCAPE '\\')".to_owned());
        let pattern = format!(
            "%{}%",
            text.replace('\\', "\\\\")
                .replace('%', "\\%")
                .replace('_', "\\_")
        );
        values.push(Value::from(pattern.clone()));
        values.push(Value::from(pattern));
    }
    if parts.is_empty() {
        parts.push("TRUE".to_owned());
    }
    (parts.join(" AND "), values)
}

fn page(
    connection: &Connection,
    filter: &JobFilter,
    after: Option<i64>,
    limit: u32,
    context: ListContext,
) -> Result<JobPage> {
    let (condition, values) = condition(filter);
    let total = total(connection, filter, &condition, &values)?;
    let mut all = values;
    all.push(Value::from(after.unwrap_or(i64::MAX)));
    all.push(Value::from(i64::from(limit) + 1));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {JOB_COLUMNS} FROM {JOB_TABLES}
         WHERE {condition} AND j.seq < ? ORDER BY j.seq DESC LIMIT ?"
    ))?;
    let mut found = statement
        .query_map(params_from_iter(all), |row| {
            Ok((row.get::<_, i64>(0)?, job(row, context)?))
        })?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    let more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let next = if more {
        found.last().map(|(seq, _)| *seq)
    } else {
        None
    };
    Ok(JobPage {
        jobs: found.into_iter().map(|(_, job)| job).collect(),
        total,
        next,
    })
}

/// Counts the jobs that match: from the kept counters where they can tell, else one by one.
fn total(
    connection: &Connection,
    filter: &JobFilter,
    condition: &str,
    values: &[Value],
) -> Result<u64> {
    let has_text = filter
        .text
        .as_deref()
        .is_some_and(|text| !text.trim().is_empty());
    let counted: i64 = if has_text || (filter.queue.is_some() && filter.batch_id.is_some()) {
        connection
            .prepare_cached(&format!("SELECT count(*) FROM jobs AS j WHERE {condition}"))?
            .query_row(params_from_iter(values.to_vec()), |row| row.get(0))?
    } else {
        let table = if filter.batch_id.is_some() {
            "batch_counts"
        } else {
            "lane_counts"
        };
        connection
            .prepare_cached(&format!(
                "SELECT coalesce(sum(j.jobs), 0) FROM {table} AS j WHERE {condition}"
            ))?
            .query_row(params_from_iter(values.to_vec()), |row| row.get(0))?
    };
    Ok(u64::try_from(counted).unwrap_or(0))
}

fn job(row: &Row<'_>, context: ListContext) -> rusqlite::Result<JobView> {
    let status = rows::status(row, 7)?;
    let attempts: u32 = row.get(13)?;
    let cause = rows::cause(row, 24)?;
    let waiting = (status == JobStatus::Pending)
        .then(|| {
            Ok::<_, rusqlite::Error>(waiting_reason(
                rows::timestamp(row, 26)?,
                row.get(27)?,
                rows::cause(row, 28)?,
                attempts,
                cause,
                context,
            ))
        })
        .transpose()?;
    let cost_unknown: bool = row.get(21)?;
    Ok(JobView {
        job_id: JobId(row.get(1)?),
        batch_id: BatchId(row.get(2)?),
        batch_name: row.get(3)?,
        kind: rows::kind(row, 4)?,
        title: row.get(5)?,
        source_path: row.get(6)?,
        status,
        waiting,
        queue: rows::queue(row, 8)?,
        pages: row.get(9)?,
        template: row.get::<_, Option<String>>(10)?.unwrap_or_default(),
        provider: rows::provider(row, 11)?,
        model: row.get(12)?,
        attempts,
        max_attempts: row.get(14)?,
        created_at: rows::timestamp(row, 15)?,
        started_at: rows::optional_timestamp(row, 16)?,
        completed_at: rows::optional_timestamp(row, 17)?,
        input_tokens: rows::unsigned(row, 18)?,
        output_tokens: rows::unsigned(row, 19)?,
        cost_micros: if cost_unknown {
            None
        } else {
            Some(row.get(20)?)
        },
        ran_ms: rows::unsigned(row, 22)?,
        waited_ms: rows::unsigned(row, 23)?,
        cause,
        error: row.get(25)?,
    })
}

/// Says why a pending job does not run at this moment; the hardest obstacle first.
fn waiting_reason(
    available_at: Timestamp,
    paused: bool,
    circuit: Option<Cause>,
    attempts: u32,
    cause: Option<Cause>,
    context: ListContext,
) -> WaitingReason {
    if paused {
        WaitingReason::QueuePaused
    } else if let Some(cause) = circuit {
        WaitingReason::CircuitOpen { cause }
    } else if available_at > context.now && attempts > 0 {
        WaitingReason::Retrying {
            at: available_at,
            cause,
        }
    } else if context.consumer == ConsumerPlace::Nowhere {
        WaitingReason::NoConsumer
    } else if available_at > context.now {
        WaitingReason::Delayed {
            until: available_at,
        }
    } else {
        WaitingReason::Ready
    }
}

fn record(connection: &Connection, job_id: &JobId, context: ListContext) -> Result<JobRecord> {
    let (job, prompt, document_sha256) = connection
        .prepare_cached(&format!(
            "SELECT {JOB_COLUMNS}, j.prompt, j.document_sha256 FROM {JOB_TABLES} WHERE j.job_id = ?1"
        ))?
        .query_row([job_id.as_str()], |row| {
            Ok((job(row, context)?, row.get(29)?, row.get::<_, Option<String>>(30)?))
        })
        .optional()?
        .ok_or_else(|| EngineError::NotFound { what: "job", name: job_id.to_string() })?;
    Ok(JobRecord {
        job,
        prompt,
        document: document_sha256
            .map(|sha256| document(connection, &sha256))
            .transpose()?,
        attempts: attempts(connection, job_id)?,
        result: newest_result(connection, job_id)?,
    })
}

fn document(connection: &Connection, sha256: &str) -> Result<DocumentView> {
    Ok(connection
        .prepare_cached(
            "SELECT bytes, pages, encryption, has_text, finding_cause, finding_message
             FROM documents WHERE sha256 = ?1",
        )?
        .query_row([sha256], |row| {
            let message: Option<String> = row.get(5)?;
            Ok(DocumentView {
                sha256: Sha256(sha256.to_owned()),
                bytes: rows::unsigned(row, 0)?,
                pages: row.get(1)?,
                encryption: rows::encryption(row, 2)?,
                has_text: row.get(3)?,
                finding: rows::cause(row, 4)?
                    .zip(message)
                    .map(|(cause, message)| Finding { cause, message }),
            })
        })?)
}

fn attempts(connection: &Connection, job_id: &JobId) -> Result<Vec<AttemptView>> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {} FROM attempts WHERE job_id = ?1 ORDER BY attempt_id DESC LIMIT 1000",
        rows::ATTEMPT_COLUMNS
    ))?;
    let found = statement.query_map([job_id.as_str()], rows::attempt)?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn newest_result(connection: &Connection, job_id: &JobId) -> Result<Option<ResultRow>> {
    Ok(connection
        .prepare_cached(
            "SELECT key, provider, model, template_id || '-v' || template_version, stop_reason,
                    sha256, bytes, copy_path, copy_error, created_at
             FROM results WHERE job_id = ?1 ORDER BY generation DESC LIMIT 1",
        )?
        .query_row([job_id.as_str()], |row| {
            Ok(ResultRow {
                key: row.get(0)?,
                provider: rows::provider(row, 1)?,
                model: row.get(2)?,
                template: row.get(3)?,
                stop_reason: row.get(4)?,
                sha256: Sha256(row.get(5)?),
                bytes: rows::unsigned(row, 6)?,
                copy_path: row.get(7)?,
                copy_error: row.get(8)?,
                created_at: rows::timestamp(row, 9)?,
            })
        })
        .optional()?)
}
