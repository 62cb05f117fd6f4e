//! Lists of jobs, and one job with everything about it.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension as _, Row, params_from_iter};

use super::outlook::{Outlook, held_reason, outlook, reason_of};
use super::results::ResultRow;
use super::{Result, Store, candidate, held, learned, pilots, remote, results, rows, search};
use crate::calendar::LocalTime;
use crate::error::EngineError;
use crate::model::{
    AttemptView, BatchId, Cause, ConsumerPlace, Delivery, DocumentView, Finding, JobFilter, JobId,
    JobPage, JobStatus, JobView, JobsShown, PageRange, PartState, PartView, PartsDone, Provider,
    RemoteView, Sends, Sha256, Timestamp, Variables, WaitingReason,
};
use crate::pricing::estimate_knowing;

/// What a list needs to know besides the database.
#[derive(Clone, Debug)]
pub(crate) struct ListContext {
    pub(crate) local: LocalTime,
    pub(crate) consumer: ConsumerPlace,
}

/// One job with everything that the database knows of it.
#[derive(Clone, Debug)]
pub(crate) struct JobRecord {
    pub(crate) job: JobView,
    pub(crate) prompt: Option<String>,
    pub(crate) document: Option<DocumentView>,
    pub(crate) attempts: Vec<AttemptView>,
    /// In order; empty for a job that is asked as a whole.
    pub(crate) parts: Vec<PartView>,
    pub(crate) sends: Sends,
    /// Where it stands with the batch API.
    pub(crate) remote: Option<RemoteView>,
    /// Values of the template's variables that a person gave.
    pub(crate) variables: Variables,
    /// Newest run first.
    pub(crate) results: Vec<ResultRow>,
}

/// The columns of [`job`], over [`JOB_TABLES`]; behind them stand the four of [`candidate::batch_money`], the
/// six of [`candidate::work`], the two of [`learned::learned`] and [`pilots::LEFT_COLUMN`].
const JOB_COLUMNS: &str = "j.seq, j.job_id, j.batch_id, b.name, j.kind, j.title, j.source_path, \
     j.status, j.queue, d.pages, j.template_id || '-v' || j.template_version, j.provider, j.model, \
     j.attempts, q.max_retries + 1 + j.attempts_before, j.created_at, j.started_at, j.completed_at, j.input_tokens, \
     j.output_tokens, j.cost_micros, j.cost_unknown, j.ran_ms, j.waited_ms, j.error_code, j.error, \
     j.available_at, q.paused, j.held, j.reused, \
     EXISTS (SELECT 1 FROM templates AS t WHERE t.template_id = j.template_id \
         AND t.version = j.template_version AND t.kind = 'fields'), j.parts, j.parts_done, j.delivery, \
     CASE WHEN j.status IN ('running', 'submitted') THEN (SELECT coalesce(sum(l.micros), 0) FROM ledger AS l \
         WHERE l.job_id = j.job_id AND l.state = 'reserved') ELSE 0 END, j.reviewed_at IS NOT NULL";
/// The first column after [`JOB_COLUMNS`].
const AFTER_JOB: usize = 36;

const JOB_TABLES: &str = "jobs AS j JOIN batches AS b USING (batch_id) JOIN queues AS q USING (queue) \
     LEFT JOIN documents AS d ON d.sha256 = j.document_sha256";

impl Store {
    /// Returns a page of the jobs that match, newest first. `after` is the `next` of the page before.
    pub(crate) async fn jobs(
        &self,
        filter: JobFilter,
        after: Option<i64>,
        limit: u32,
        context: ListContext,
    ) -> Result<JobPage> {
        self.read(move |connection| page(connection, &filter, after, limit, &context))
            .await
    }

    /// Returns a job with everything about it.
    ///
    /// # Errors
    /// [`EngineError::NotFound`].
    pub(crate) async fn job(&self, job_id: JobId, context: ListContext) -> Result<JobRecord> {
        self.read(move |connection| record(connection, &job_id, &context))
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

    /// Says whether a path is a job's source, the copy of a result, a file that a batch left or its folder.
    pub(crate) async fn knows_path(&self, path: String) -> Result<bool> {
        self.read(move |connection| {
            Ok(connection.query_row(
                "SELECT EXISTS (SELECT 1 FROM jobs WHERE source_path = ?1)
                     OR EXISTS (SELECT 1 FROM results WHERE copy_path = ?1)
                     OR EXISTS (SELECT 1 FROM batch_files WHERE path = ?1)
                     OR EXISTS (SELECT 1 FROM batches WHERE folder = ?1)",
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
        if !statuses.contains(&JobStatus::Completed) {
            // In these words the index of all others applies.
            parts.push("j.status <> 'completed'".to_owned());
        }
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
        let (part, words) = search::condition(text);
        parts.push(part);
        values.extend(words);
    }
    if let Some(cause) = filter.cause {
        parts.push("j.error_code = ?".to_owned());
        values.push(Value::from(cause.key()));
    }
    if let Some(template) = &filter.template {
        parts.push("j.template_id = ?".to_owned());
        values.push(Value::from(template.clone()));
    }
    if let Some(provider) = filter.provider {
        parts.push("j.provider = ?".to_owned());
        values.push(Value::from(provider.as_str().to_owned()));
    }
    if let Some(model) = &filter.model {
        parts.push("j.model = ?".to_owned());
        values.push(Value::from(model.clone()));
    }
    if let Some(since) = filter.added_since {
        parts.push("j.created_at >= ?".to_owned());
        values.push(Value::from(since.0));
    }
    if parts.is_empty() {
        parts.push("TRUE".to_owned());
    }
    (parts.join(" AND "), values)
}

pub(super) fn page(
    connection: &Connection,
    filter: &JobFilter,
    after: Option<i64>,
    limit: u32,
    context: &ListContext,
) -> Result<JobPage> {
    let (condition, values) = condition(filter);
    let total = total(connection, filter, &condition, &values)?;
    let mut all = values;
    all.push(Value::from(after.unwrap_or(i64::MAX)));
    all.push(Value::from(i64::from(limit) + 1));
    let mut statement = connection.prepare_cached(&format!(
        "SELECT j.seq FROM jobs AS j WHERE {condition} AND j.seq < ? ORDER BY j.seq DESC LIMIT ?"
    ))?;
    let mut seqs = statement
        .query_map(params_from_iter(all), |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<i64>>>()?;
    let more = seqs.len() > limit as usize;
    seqs.truncate(limit as usize);
    Ok(JobPage {
        jobs: views(connection, &seqs, context)?,
        total,
        next: seqs.last().copied().filter(|_| more),
    })
}

/// Counts the jobs that match: from the kept counters where they can tell, else one by one.
fn total(
    connection: &Connection,
    filter: &JobFilter,
    condition: &str,
    values: &[Value],
) -> Result<u64> {
    let Some(table) = counters_of(filter) else {
        let sql = format!("SELECT count(*) FROM jobs AS j WHERE {condition}");
        return search::count(connection, &sql, values);
    };
    let sql = format!("SELECT coalesce(sum(j.jobs), 0) FROM {table} AS j WHERE {condition}");
    search::count(connection, &sql, values)
}

/// Returns the table of counters that can tell how many jobs match; `None` where only counting can.
pub(super) fn counters_of(filter: &JobFilter) -> Option<&'static str> {
    let has_text = filter
        .text
        .as_deref()
        .is_some_and(|text| !text.trim().is_empty());
    let is_narrow = has_text
        || filter.cause.is_some()
        || filter.template.is_some()
        || filter.model.is_some()
        || filter.added_since.is_some();
    let in_lane = filter.queue.is_some() || filter.provider.is_some();
    match (is_narrow, filter.batch_id.is_some(), in_lane) {
        (false, true, false) => Some("batch_counts"),
        (false, false, _) => Some("lane_counts"),
        _ => None,
    }
}

/// Returns the rows of some jobs, in the order given.
pub(super) fn views(
    connection: &Connection,
    seqs: &[i64],
    context: &ListContext,
) -> Result<Vec<JobView>> {
    let outlook = outlook(connection, &context.local)?;
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {JOB_COLUMNS}, {}, {}, {}, {} FROM {JOB_TABLES}
         WHERE j.seq IN (SELECT value FROM json_each(?1))",
        candidate::BATCH_MONEY_COLUMNS,
        candidate::WORK_COLUMNS,
        learned::LEARNED_COLUMNS,
        pilots::LEFT_COLUMN
    ))?;
    let mut found = statement
        .query_map([rows::to_json(&seqs)?], |row| {
            Ok((row.get::<_, i64>(0)?, job(row, context, &outlook)?))
        })?
        .collect::<rusqlite::Result<HashMap<_, _>>>()?;
    Ok(seqs.iter().filter_map(|seq| found.remove(seq)).collect())
}

fn job(row: &Row<'_>, context: &ListContext, outlook: &Outlook) -> rusqlite::Result<JobView> {
    let status = rows::status(row, 7)?;
    let waiting = (status == JobStatus::Pending)
        .then(|| waiting_reason(row, context, outlook))
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
        paused: row.get::<_, i64>(28)? & held::JOB_PAUSED != 0 && !status.is_final(),
        queue: rows::queue(row, 8)?,
        delivery: rows::delivery(row, 33)?,
        pages: row.get(9)?,
        parts: parts_done(row)?,
        template: row.get::<_, Option<String>>(10)?.unwrap_or_default(),
        has_fields: row.get(30)?,
        reused: row.get(29)?,
        reviewed: status == JobStatus::Completed && row.get(35)?,
        provider: rows::provider(row, 11)?,
        model: row.get(12)?,
        attempts: row.get(13)?,
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
        reserved_micros: row.get(34)?,
        ran_ms: rows::unsigned(row, 22)?,
        waited_ms: rows::unsigned(row, 23)?,
        cause: rows::cause(row, 24)?,
        error: row.get(25)?,
    })
}

/// Returns how far the parts of a job have come, of one that has parts.
fn parts_done(row: &Row<'_>) -> rusqlite::Result<Option<PartsDone>> {
    let (total, done) = (row.get(31)?, row.get(32)?);
    Ok((total > 0).then_some(PartsDone { done, total }))
}

/// Says why a pending job does not run at this moment; the hardest obstacle first.
fn waiting_reason(
    row: &Row<'_>,
    context: &ListContext,
    outlook: &Outlook,
) -> rusqlite::Result<WaitingReason> {
    let (queue, provider) = (rows::queue(row, 8)?, rows::provider(row, 11)?);
    let (model, bits): (String, i64) = (row.get(12)?, row.get(28)?);
    let attempts: u32 = row.get(13)?;
    let cause: Option<Cause> = rows::cause(row, 24)?;
    let available_at: Timestamp = rows::timestamp(row, 26)?;
    let later = available_at > context.local.now;
    if row.get::<_, bool>(27)? {
        return Ok(WaitingReason::QueuePaused);
    }
    let delivery = rows::delivery(row, 33)?;
    let money = candidate::batch_money(row, AFTER_JOB)?;
    let work = candidate::work(row, AFTER_JOB + 4)?;
    let estimate = estimate_knowing(&model, &work, &learned::learned(row, AFTER_JOB + 10)?);
    let gate = &outlook.gate;
    let prices = &gate.policy.prices;
    let worst = prices.at_worst_by(delivery, &model, &estimate);
    // What no claim has looked at yet, and would find.
    let bits = match provider {
        Provider::Claude if worst.is_none() => bits | held::NO_PRICE,
        // What goes by the batch API takes nothing of the minute.
        Provider::Claude if delivery == Delivery::Batch => bits & !held::OVERSIZED,
        Provider::Claude if gate.is_oversized(&model, &estimate) => bits | held::OVERSIZED,
        _ => bits,
    };
    if let Some(reason) = held_reason(
        bits,
        model,
        &money,
        worst,
        outlook.upload_message.as_deref(),
        rows::unsigned(row, AFTER_JOB + 12)?,
    ) {
        return Ok(reason);
    }
    if let Some(open) = outlook.open.get(&provider) {
        return Ok(reason_of(open));
    }
    if later && attempts > 0 {
        return Ok(WaitingReason::Retrying {
            at: available_at,
            cause,
        });
    }
    if context.consumer == ConsumerPlace::Nowhere {
        return Ok(WaitingReason::NoConsumer);
    }
    let obstacle = outlook.obstacle(queue, delivery);
    if let Some(reason @ WaitingReason::OutsideQuietHours { .. }) = obstacle {
        return Ok(reason.clone());
    }
    if later {
        return Ok(WaitingReason::Delayed {
            until: available_at,
        });
    }
    Ok(match obstacle {
        Some(
            reason @ (WaitingReason::TokenBudget { .. }
            | WaitingReason::RequestsBudget { .. }
            | WaitingReason::SpendCap { .. }
            | WaitingReason::FillingBatch { .. }
            | WaitingReason::BatchApi { .. }
            | WaitingReason::BehindHigh),
        ) if provider == Provider::Claude => reason.clone(),
        _ => WaitingReason::Ready,
    })
}

fn record(connection: &Connection, job_id: &JobId, context: &ListContext) -> Result<JobRecord> {
    let outlook = outlook(connection, &context.local)?;
    let (job, prompt, document_sha256, variables, sends) = connection
        .prepare_cached(&format!(
            "SELECT {JOB_COLUMNS}, {}, {}, {}, {}, j.prompt, j.document_sha256, j.variables, j.sends
             FROM {JOB_TABLES}
             WHERE j.job_id = ?1",
            candidate::BATCH_MONEY_COLUMNS,
            candidate::WORK_COLUMNS,
            learned::LEARNED_COLUMNS,
            pilots::LEFT_COLUMN
        ))?
        .query_row([job_id.as_str()], |row| {
            Ok((
                job(row, context, &outlook)?,
                row.get(AFTER_JOB + 13)?,
                row.get::<_, Option<String>>(AFTER_JOB + 14)?,
                rows::json(row, AFTER_JOB + 15)?,
                rows::sends(row, AFTER_JOB + 16)?,
            ))
        })
        .optional()?
        .ok_or_else(|| EngineError::NotFound {
            what: "job",
            name: job_id.to_string(),
        })?;
    Ok(JobRecord {
        job,
        prompt,
        variables,
        document: document_sha256
            .map(|sha256| document(connection, &sha256))
            .transpose()?,
        attempts: attempts(connection, job_id)?,
        parts: parts(connection, job_id)?,
        sends,
        remote: remote::of_job(connection, job_id)?,
        results: results::of_job(connection, job_id)?,
    })
}

fn document(connection: &Connection, sha256: &str) -> Result<DocumentView> {
    Ok(connection
        .prepare_cached(
            "SELECT bytes, pages, encryption, has_text, finding_cause, finding_message, facts
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
                facts: rows::json(row, 6)?,
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

fn parts(connection: &Connection, job_id: &JobId) -> Result<Vec<PartView>> {
    let mut statement = connection.prepare_cached(
        "SELECT p.first_page, p.last_page, p.answered_at IS NOT NULL, p.input_tokens, p.output_tokens,
                p.cost_micros, p.review,
                EXISTS (SELECT 1 FROM attempts AS a WHERE a.job_id = p.job_id AND a.outcome = 'running'
                        AND a.first_page = p.first_page)
         FROM parts AS p WHERE p.job_id = ?1 ORDER BY p.first_page",
    )?;
    let found = statement.query_map([job_id.as_str()], |row| {
        let state = match (row.get(2)?, row.get(7)?) {
            (true, _) => PartState::Answered,
            (false, true) => PartState::Running,
            (false, false) => PartState::Waiting,
        };
        Ok(PartView {
            pages: PageRange {
                first: row.get(0)?,
                last: row.get(1)?,
            },
            state,
            input_tokens: rows::unsigned(row, 3)?,
            output_tokens: rows::unsigned(row, 4)?,
            cost_micros: row.get(5)?,
            review: row.get(6)?,
        })
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
