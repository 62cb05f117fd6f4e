//! Putting ended jobs back in their queues, and dead letters by cause.

use std::collections::HashMap;

use rusqlite::{Connection, Row, named_params, params_from_iter};

use super::{Result, Store, actions, candidate, parts, policy, remote, rows};
use crate::model::{
    Cause, DeadLetterGroup, Delivery, JobId, JobKind, JobStatus, Provider, QueueName, Selection,
    Sends, Timestamp,
};
use crate::pricing::{Estimate, Prices};
use crate::templates::Template;

/// What is different when jobs are put back; checked before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    pub(crate) provider: Option<Provider>,
    pub(crate) model: Option<String>,
    pub(crate) template: Option<Template>,
    /// What is sent of documents, where the template says so.
    pub(crate) sends: Option<Sends>,
    pub(crate) queue: Option<QueueName>,
    /// How they go, of those that may go either way.
    pub(crate) delivery: Option<Delivery>,
    pub(crate) max_tokens: Option<u32>,
    /// Whether completed jobs run again, too.
    pub(crate) completed: bool,
}

/// Sets how jobs go that are put back with changes, which are bound as `:queue`, `:provider` and `:delivery`: only
/// those of bulk that ask Claude may go either way.
pub(super) const DELIVERY_AFTER: &str = "\
     delivery = CASE WHEN coalesce(:queue, queue) = 'bulk' AND coalesce(:provider, provider) = 'claude' \
                     THEN coalesce(:delivery, delivery) ELSE 'each' END";

impl Changes {
    /// Returns how a job goes when it is put back, as [`DELIVERY_AFTER`] says.
    pub(crate) fn delivery_of(&self, job: &Redrivable) -> Delivery {
        match (
            self.queue.unwrap_or(job.queue),
            self.provider.unwrap_or(job.provider),
        ) {
            (QueueName::Bulk, Provider::Claude) => self.delivery.unwrap_or(job.delivery),
            _ => Delivery::Each,
        }
    }
}

/// What a job's answer depends on, apart from its input.
struct Asked {
    status: JobStatus,
    provider: Provider,
    model: String,
    max_tokens: u32,
    /// Id and version of the template and what is sent of the document; `None` for a prompt.
    document: Option<(Option<String>, Option<u32>, Sends)>,
    /// An answer that was paid for and never stored.
    has_answer: bool,
}

/// The columns of [`asked`] over `jobs AS j`.
const ASKED_COLUMNS: &str = "j.status, j.provider, j.model, j.max_tokens, j.template_id, \
     j.template_version, j.sends, j.kind, \
     EXISTS (SELECT 1 FROM answers AS a WHERE a.job_id = j.job_id AND a.generation = j.generation)";

/// Reads [`ASKED_COLUMNS`] from column `at` on.
fn asked(row: &Row<'_>, at: usize) -> rusqlite::Result<Asked> {
    let document = match rows::kind(row, at + 7)? {
        JobKind::Prompt => None,
        JobKind::Pdf => Some((
            row.get(at + 4)?,
            row.get(at + 5)?,
            rows::sends(row, at + 6)?,
        )),
    };
    Ok(Asked {
        status: rows::status(row, at)?,
        provider: rows::provider(row, at + 1)?,
        model: row.get(at + 2)?,
        max_tokens: row.get(at + 3)?,
        document,
        has_answer: row.get(at + 8)?,
    })
}

impl Asked {
    /// Says whether answers of parts serve again: the question is the same, whatever it is called in the
    /// changes. With another limit of the output those that were not cut off serve, too.
    fn keeps_parts(&self, changes: &Changes) -> bool {
        let same_document = self.document.as_ref().is_none_or(|(id, version, sends)| {
            let same_template = changes.template.as_ref().is_none_or(|template| {
                id.as_ref() == Some(&template.template_id) && *version == Some(template.version)
            });
            same_template && changes.sends.is_none_or(|wanted| wanted == *sends)
        });
        // What runs again after it was completed is asked anew, every part of it.
        self.status != JobStatus::Completed
            && changes
                .provider
                .is_none_or(|wanted| wanted == self.provider)
            && changes
                .model
                .as_ref()
                .is_none_or(|wanted| *wanted == self.model)
            && same_document
    }

    /// Says whether an answer that was kept is published by the new run, not bought again.
    fn keeps_answer(&self, changes: &Changes) -> bool {
        self.has_answer
            && self.keeps_parts(changes)
            && changes
                .max_tokens
                .is_none_or(|wanted| wanted == self.max_tokens)
    }
}

/// A job that might be put back.
#[derive(Clone, Debug)]
pub(crate) struct Redrivable {
    pub(crate) seq: i64,
    pub(crate) status: JobStatus,
    /// Whether the batch API still has a request of it, which may be paid.
    pub(crate) is_out: bool,
    pub(crate) queue: QueueName,
    pub(crate) delivery: Delivery,
    pub(crate) provider: Provider,
    pub(crate) model: String,
    pub(crate) source_path: Option<String>,
    pub(crate) finding: Option<Cause>,
    /// Whether its template asks for fields.
    pub(crate) has_fields: bool,
    pub(crate) is_pdf: bool,
    /// The template with its version; empty for a prompt.
    pub(crate) template: String,
    /// Most output tokens.
    pub(crate) max_tokens: u32,
    /// What its calls take when it runs again.
    pub(crate) calls: Vec<Estimate>,
}

impl Store {
    /// Returns the selected jobs, oldest first, with what decides whether they would run again with changes.
    pub(crate) async fn redrivable(
        &self,
        selection: Selection,
        changes: Changes,
    ) -> Result<Vec<Redrivable>> {
        self.read(move |connection| {
            let (condition, values) = actions::chosen(&selection);
            let mut statement = connection.prepare_cached(&format!(
                "SELECT j.seq, j.status, j.provider, j.model, j.source_path,
                        (SELECT finding_cause FROM documents WHERE sha256 = j.document_sha256),
                        EXISTS (SELECT 1 FROM templates AS t WHERE t.template_id = j.template_id
                                AND t.version = j.template_version AND t.kind = 'fields'),
                        j.kind = 'pdf', j.job_id, {ASKED_COLUMNS}, {}, {}, j.queue, j.delivery
                 FROM jobs AS j WHERE {condition} ORDER BY j.seq",
                candidate::WHOLE_COLUMNS,
                remote::is_out()
            ))?;
            let found = statement.query_map(params_from_iter(values), |row| {
                let asked = asked(row, 9)?;
                let template = match &asked.document {
                    Some((Some(id), Some(version), _)) => format!("{id}-v{version}"),
                    _ => String::new(),
                };
                let job = Redrivable {
                    seq: row.get(0)?,
                    status: rows::status(row, 1)?,
                    is_out: row.get(24)?,
                    queue: rows::queue(row, 25)?,
                    delivery: rows::delivery(row, 26)?,
                    provider: rows::provider(row, 2)?,
                    model: row.get(3)?,
                    source_path: row.get(4)?,
                    finding: rows::cause(row, 5)?,
                    has_fields: row.get(6)?,
                    is_pdf: row.get(7)?,
                    template,
                    max_tokens: asked.max_tokens,
                    calls: Vec::new(),
                };
                let job_id: String = row.get(8)?;
                let keep = asked.keeps_parts(&changes);
                Ok((job, job_id, keep, candidate::work(row, 18)?))
            })?;
            let mut jobs = Vec::new();
            for found in found {
                let (mut job, job_id, keep, whole) = found?;
                job.calls =
                    parts::calls_left(connection, &job_id, &whole, &job.model, keep, &changes)?;
                jobs.push(job);
            }
            Ok(jobs)
        })
        .await
    }

    /// Puts ended jobs back in their queues as a new run with no attempts used; the history stays.
    ///
    /// They keep their order. Jobs that are not ended are left as they are, and so are completed ones unless
    /// the changes say otherwise; these are asked anew, and keep the result that they have until then.
    /// Returns those put back.
    pub(crate) async fn redrive(
        &self,
        seqs: Vec<i64>,
        changes: Changes,
        now: Timestamp,
    ) -> Result<Vec<JobId>> {
        self.write(move |connection| redrive(connection, &seqs, &changes, now))
            .await
    }

    /// Returns failed and dead-lettered jobs by cause, the most frequent first.
    pub(crate) async fn dead_letters(&self) -> Result<Vec<DeadLetterGroup>> {
        self.read(dead_letters).await
    }

    /// Returns the prices in force.
    pub(crate) async fn prices(&self) -> Result<Prices> {
        self.read(policy::prices).await
    }
}

pub(super) fn redrive(
    connection: &Connection,
    seqs: &[i64],
    changes: &Changes,
    now: Timestamp,
) -> Result<Vec<JobId>> {
    let (template_id, version) = match &changes.template {
        Some(template) => (Some(template.template_id.as_str()), Some(template.version)),
        None => (None, None),
    };
    let seqs_json = serde_json::to_string(seqs).unwrap_or_default();
    let before: HashMap<i64, Asked> = connection
        .prepare_cached(&format!(
            "SELECT j.seq, {ASKED_COLUMNS} FROM jobs AS j
             WHERE j.seq IN (SELECT value FROM json_each(?1))"
        ))?
        .query_map([&seqs_json], |row| Ok((row.get(0)?, asked(row, 1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let redriven = connection
        .prepare_cached(&format!(
            "UPDATE jobs AS j SET status = 'pending', generation = generation + 1, attempts = 0,
                 attempts_before = 0,
                 available_at = :now, waiting_since = :now, completed_at = NULL, position = 0,
                 error_code = NULL, error = NULL, cancel_requested = 0,
                 reviewed_at = NULL, review_code = NULL, review = NULL,
                 fresh = max(fresh, status = 'completed'),
                 held = 2 * (SELECT paused FROM batches AS b WHERE b.batch_id = j.batch_id),
                 provider = coalesce(:provider, provider), model = coalesce(:model, model),
                 template_id = CASE WHEN kind = 'pdf' THEN coalesce(:template, template_id)
                                    ELSE template_id END,
                 template_version = CASE WHEN kind = 'pdf' THEN coalesce(:version, template_version)
                                         ELSE template_version END,
                 sends = coalesce(:sends, sends), queue = coalesce(:queue, queue),
                 {DELIVERY_AFTER}, max_tokens = coalesce(:max_tokens, max_tokens)
             WHERE seq IN (SELECT value FROM json_each(:seqs))
               AND (status IN ('failed', 'dead-lettered', 'needs-review', 'cancelled')
                    OR (:completed AND status = 'completed'))
               AND NOT {}
             RETURNING seq, job_id",
            // It may be answered and paid; asked again now, it would be paid twice.
            remote::is_out()
        ))?
        .query_map(
            named_params! {
                ":now": now.0,
                ":provider": changes.provider.map(Provider::as_str),
                ":model": changes.model,
                ":template": template_id,
                ":version": version,
                ":sends": changes.sends.map(Sends::as_str),
                ":queue": changes.queue.map(QueueName::as_str),
                ":delivery": changes.delivery.map(Delivery::as_str),
                ":max_tokens": changes.max_tokens,
                ":completed": changes.completed,
                ":seqs": seqs_json,
            },
            |row| Ok((row.get::<_, i64>(0)?, JobId(row.get(1)?))),
        )?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    for (seq, job_id) in &redriven {
        let Some(asked) = before.get(seq) else {
            continue;
        };
        if asked.keeps_answer(changes) {
            // Nothing is left to ask, so its parts stay those that the answer was made of.
            connection
                .prepare_cached(
                    "UPDATE answers SET generation = generation + 1
                     WHERE job_id = ?1 AND generation = (SELECT generation - 1 FROM jobs AS j
                                                         WHERE j.job_id = answers.job_id)",
                )?
                .execute([job_id.as_str()])?;
        } else {
            parts::plan_again(connection, job_id.as_str(), asked.keeps_parts(changes))?;
        }
    }
    Ok(redriven.into_iter().map(|(_, job_id)| job_id).collect())
}

/// Titles shown of a group.
const TITLES: u32 = 3;

fn dead_letters(connection: &Connection) -> Result<Vec<DeadLetterGroup>> {
    let mut statement = connection.prepare_cached(
        "SELECT error_code, count(*) FROM jobs WHERE status IN ('failed', 'dead-lettered')
         GROUP BY error_code ORDER BY 2 DESC, 1",
    )?;
    let counted = statement
        .query_map([], |row| {
            Ok((rows::cause(row, 0)?, row.get(0)?, rows::unsigned(row, 1)?))
        })?
        .collect::<rusqlite::Result<Vec<(Option<Cause>, String, u64)>>>()?;
    let mut groups = Vec::new();
    for (cause, key, jobs) in counted {
        let cause = cause.unwrap_or(Cause::UnexpectedStatus);
        let mut statement = connection.prepare_cached(
            "SELECT title, error FROM jobs
             WHERE status IN ('failed', 'dead-lettered') AND error_code = ?1
             ORDER BY seq DESC LIMIT ?2",
        )?;
        let newest = statement
            .query_map((&key, TITLES), |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<Vec<(String, Option<String>)>>>()?;
        groups.push(DeadLetterGroup {
            cause,
            jobs,
            message: newest
                .first()
                .and_then(|(_, error)| error.clone())
                .unwrap_or_default(),
            hint: cause.hint().to_owned(),
            fix: cause.fix(),
            titles: newest.into_iter().map(|(title, _)| title).collect(),
        });
    }
    Ok(groups)
}
