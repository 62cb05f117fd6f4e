//! Pilots: a few jobs of a batch run first, the others wait for a person's word.

use rusqlite::{Connection, Row, named_params};

use super::redrive::DELIVERY_AFTER;
use super::{Changes, Result, Store, actions, held, parts, rows};
use crate::model::{
    Affected, BatchId, BulkAction, Delivery, JobId, JobStatus, PilotView, Provider, QueueName,
    Selection, Sends, Timestamp,
};

/// Over `jobs AS j`: the jobs of a batch's pilot that have not ended, for one that waits for them.
pub(super) const LEFT_COLUMN: &str = "\
     CASE WHEN j.held & 64 = 0 THEN 0 \
          ELSE (SELECT count(*) FROM jobs AS p \
                WHERE p.batch_id = j.batch_id AND p.pilot = 1 AND p.completed_at IS NULL) END";
/// The columns of [`view`] over `batches AS b`.
pub(super) const VIEW_COLUMNS: &str = "\
     b.pilot_jobs, b.pilot_released_at IS NOT NULL, \
     CASE WHEN b.pilot_jobs IS NULL THEN 0 \
          ELSE (SELECT count(*) FROM jobs AS p \
                WHERE p.batch_id = b.batch_id AND p.pilot = 1 AND p.completed_at IS NULL) END, \
     CASE WHEN b.pilot_jobs IS NULL THEN 0 \
          ELSE (SELECT count(*) FROM jobs AS p \
                WHERE p.batch_id = b.batch_id AND p.status = 'pending' AND p.held & 64 <> 0) END";
/// The queries' bit.
const _: () = assert!(held::PILOT == 64, "the queries name the bit, too");

/// Reads [`VIEW_COLUMNS`] from column `at` on.
pub(super) fn view(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<PilotView>> {
    let Some(jobs) = rows::optional_unsigned(row, at)? else {
        return Ok(None);
    };
    Ok(Some(PilotView {
        jobs,
        released: row.get(at + 1)?,
        left: rows::unsigned(row, at + 2)?,
        waiting: rows::unsigned(row, at + 3)?,
    }))
}

/// What a pilot came to.
#[derive(Clone, Debug, Default)]
pub(crate) struct PilotRow {
    pub(crate) done: u64,
    pub(crate) needs_review: u64,
    /// Ended without an answer.
    pub(crate) failed: u64,
    /// What attempts cost; `None` when one of them is unknown.
    pub(crate) cost_micros: Option<i64>,
    /// Of the calls that were answered.
    pub(crate) calls: Vec<PilotCall>,
    /// The jobs that wait for it, in the order of their line.
    pub(crate) rest: Vec<JobId>,
}

/// A call of a pilot that was answered.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PilotCall {
    pub(crate) estimated_input: u64,
    pub(crate) input_tokens: u64,
    pub(crate) output_tokens: u64,
    pub(crate) ran_ms: u64,
}

impl Store {
    /// Returns what the pilot of a batch came to; `None` for a batch without one.
    pub(crate) async fn pilot(&self, batch_id: BatchId) -> Result<Option<PilotRow>> {
        self.read(move |connection| read(connection, &batch_id))
            .await
    }

    /// Lets the jobs go on that wait for the pilot of a batch, asked as changes say. Returns them; `None` where
    /// the batch has no pilot.
    pub(crate) async fn release_pilot(
        &self,
        batch_id: BatchId,
        changes: Changes,
        now: Timestamp,
    ) -> Result<Option<Vec<JobId>>> {
        self.write(move |connection| release(connection, &batch_id, &changes, now))
            .await
    }

    /// Calls off the jobs that wait for the pilot of a batch. Returns them; `None` where the batch has no pilot.
    pub(crate) async fn cancel_behind_pilot(
        &self,
        batch_id: BatchId,
        now: Timestamp,
    ) -> Result<Option<(Affected, Vec<JobId>)>> {
        self.write(move |connection| {
            if !note_released(connection, &batch_id, now)? {
                return Ok(None);
            }
            let selection = Selection::Jobs {
                job_ids: waiting(connection, &batch_id)?,
            };
            actions::apply(connection, &selection, BulkAction::Cancel, now).map(Some)
        })
        .await
    }
}

/// Holds the jobs of a new batch that are not of its pilot. What is answered already waits for nobody.
pub(super) fn begin(connection: &Connection, batch_id: &BatchId, pilot: &[JobId]) -> Result<()> {
    if pilot.is_empty() {
        return Ok(());
    }
    let jobs = i64::try_from(pilot.len()).unwrap_or(i64::MAX);
    connection
        .prepare_cached("UPDATE batches SET pilot_jobs = ?2 WHERE batch_id = ?1")?
        .execute((batch_id.as_str(), jobs))?;
    // What is to be seen before the others are paid must not take a day, so it is asked call by call.
    let mut marked = connection
        .prepare_cached("UPDATE jobs SET pilot = 1, delivery = 'each' WHERE job_id = ?1")?;
    for job_id in pilot {
        marked.execute([job_id.as_str()])?;
    }
    connection
        .prepare_cached(
            "UPDATE jobs SET held = held | 64
             WHERE batch_id = ?1 AND status = 'pending' AND pilot = 0
               AND NOT EXISTS (SELECT 1 FROM answers AS a WHERE a.job_id = jobs.job_id)",
        )?
        .execute([batch_id.as_str()])?;
    Ok(())
}

fn waiting(connection: &Connection, batch_id: &BatchId) -> Result<Vec<JobId>> {
    let mut statement = connection.prepare_cached(
        "SELECT job_id FROM jobs WHERE batch_id = ?1 AND status = 'pending' AND held & 64 <> 0
         ORDER BY position, available_at, seq",
    )?;
    let found = statement.query_map([batch_id.as_str()], |row| row.get(0).map(JobId))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn read(connection: &Connection, batch_id: &BatchId) -> Result<Option<PilotRow>> {
    let has_one: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM batches WHERE batch_id = ?1 AND pilot_jobs IS NOT NULL)",
        )?
        .query_row([batch_id.as_str()], |row| row.get(0))?;
    if !has_one {
        return Ok(None);
    }
    let mut pilot = PilotRow {
        cost_micros: Some(0),
        rest: waiting(connection, batch_id)?,
        ..PilotRow::default()
    };
    let mut statement = connection.prepare_cached(
        "SELECT status, cost_micros, cost_unknown FROM jobs WHERE batch_id = ?1 AND pilot = 1",
    )?;
    let mut found = statement.query([batch_id.as_str()])?;
    while let Some(row) = found.next()? {
        match rows::status(row, 0)? {
            JobStatus::Completed => pilot.done += 1,
            JobStatus::NeedsReview => pilot.needs_review += 1,
            status if status.is_final() => pilot.failed += 1,
            _ => {}
        }
        let cost = (!row.get::<_, bool>(2)?).then_some(row.get::<_, i64>(1)?);
        pilot.cost_micros = pilot
            .cost_micros
            .and_then(|sum| Some(sum.saturating_add(cost?)));
    }
    let mut statement = connection.prepare_cached(
        "SELECT coalesce(a.estimated_input, 0), a.input_tokens, a.output_tokens,
                max(0, a.ended_at - a.started_at)
         FROM jobs AS j JOIN attempts AS a ON a.job_id = j.job_id
         WHERE j.batch_id = ?1 AND j.pilot = 1 AND a.output_tokens > 0
           AND (a.outcome IN ('completed', 'needs-review') OR a.step = 'part')",
    )?;
    let calls = statement.query_map([batch_id.as_str()], |row| {
        Ok(PilotCall {
            estimated_input: rows::unsigned(row, 0)?,
            input_tokens: rows::unsigned(row, 1)?,
            output_tokens: rows::unsigned(row, 2)?,
            ran_ms: rows::optional_unsigned(row, 3)?.unwrap_or(0),
        })
    })?;
    pilot.calls = calls.collect::<rusqlite::Result<_>>()?;
    Ok(Some(pilot))
}

/// Notes that nobody waits for the pilot any more. Says whether the batch has one.
fn note_released(connection: &Connection, batch_id: &BatchId, now: Timestamp) -> Result<bool> {
    Ok(connection
        .prepare_cached(
            "UPDATE batches SET pilot_released_at = coalesce(pilot_released_at, ?2)
             WHERE batch_id = ?1 AND pilot_jobs IS NOT NULL",
        )?
        .execute((batch_id.as_str(), now.0))?
        == 1)
}

pub(super) fn release(
    connection: &Connection,
    batch_id: &BatchId,
    changes: &Changes,
    now: Timestamp,
) -> Result<Option<Vec<JobId>>> {
    if !note_released(connection, batch_id, now)? {
        return Ok(None);
    }
    let template = changes.template.as_ref();
    let mut released = connection
        .prepare_cached(&format!(
            "UPDATE jobs SET held = held & ~64 & ~24, available_at = :now, waiting_since = :now,
                 provider = coalesce(:provider, provider), model = coalesce(:model, model),
                 template_id = CASE WHEN kind = 'pdf' THEN coalesce(:template, template_id)
                                    ELSE template_id END,
                 template_version = CASE WHEN kind = 'pdf' THEN coalesce(:version, template_version)
                                         ELSE template_version END,
                 sends = coalesce(:sends, sends), queue = coalesce(:queue, queue),
                 {DELIVERY_AFTER}, max_tokens = coalesce(:max_tokens, max_tokens)
             WHERE batch_id = :batch AND status = 'pending' AND held & 64 <> 0
             RETURNING seq, job_id, kind = 'pdf'"
        ))?
        .query_map(
            named_params! {
                ":now": now.0,
                ":provider": changes.provider.map(Provider::as_str),
                ":model": changes.model,
                ":template": template.map(|template| &template.template_id),
                ":version": template.map(|template| template.version),
                ":sends": changes.sends.map(Sends::as_str),
                ":queue": changes.queue.map(QueueName::as_str),
                ":delivery": changes.delivery.map(Delivery::as_str),
                ":max_tokens": changes.max_tokens,
                ":batch": batch_id.as_str(),
            },
            |row| Ok((row.get::<_, i64>(0)?, JobId(row.get(1)?), row.get(2)?)),
        )?
        .collect::<rusqlite::Result<Vec<(i64, JobId, bool)>>>()?;
    released.sort_by_key(|(seq, ..)| *seq);
    if *changes != Changes::default() {
        // None of them was asked yet: how each is divided is planned for what is asked now.
        for (_, job_id, _) in released.iter().filter(|(.., is_pdf)| *is_pdf) {
            parts::plan_again(connection, job_id.as_str(), false)?;
        }
    }
    Ok(Some(
        released.into_iter().map(|(_, job_id, _)| job_id).collect(),
    ))
}
