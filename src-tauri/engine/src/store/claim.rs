//! Claiming jobs and keeping their leases.
//!
//! A claim, what it promises of tokens and money, and the record of its attempt are one transaction.

use std::collections::HashMap;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Row, named_params};

use super::candidate::Candidate;
use super::{Result, Store, parts, rows, templates, turns};
use crate::calendar::LocalTime;
use crate::model::{
    AttemptStep, Cause, Delivery, DocumentFacts, Encryption, JobId, JobKind, Provider, QueueName,
    Sends, Timestamp, Variables,
};
use crate::templates::Template;

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
    pub(crate) queue: QueueName,
    pub(crate) kind: JobKind,
    pub(crate) title: String,
    pub(crate) prompt: Option<String>,
    pub(crate) template: Option<Template>,
    /// Values of the template's variables.
    pub(crate) variables: Variables,
    /// Whether it is asked even where an earlier result would serve.
    pub(crate) fresh: bool,
    pub(crate) source_path: Option<String>,
    pub(crate) source_bytes: Option<u64>,
    pub(crate) source_modified: Option<i64>,
    pub(crate) document_sha256: Option<String>,
    pub(crate) pages: Option<u32>,
    pub(crate) encryption: Encryption,
    pub(crate) facts: DocumentFacts,
    /// What speaks against the document.
    pub(crate) finding: Option<(Cause, String)>,
    /// What this attempt asks about.
    pub(crate) step: AttemptStep,
    pub(crate) sends: Sends,
    pub(crate) provider: Provider,
    pub(crate) model: String,
    pub(crate) max_tokens: u32,
    /// Deliveries allowed in all.
    pub(crate) max_attempts: u32,
    /// Deliveries that the parts answered before took; those of this step come after.
    pub(crate) attempts_before: u32,
    /// Input tokens that are expected; `None` where nobody is paid.
    pub(crate) estimated_input: Option<u64>,
    /// Whether it is a call of its own, or a request of a remote batch.
    pub(crate) delivery: Delivery,
}

impl ClaimedJob {
    /// Returns which delivery of its step this is, from 1.
    pub(crate) fn try_number(&self) -> u32 {
        self.lease.number.saturating_sub(self.attempts_before)
    }

    /// Returns how many deliveries its step may have.
    pub(crate) fn max_tries(&self) -> u32 {
        self.max_attempts.saturating_sub(self.attempts_before)
    }
}

/// For how long jobs are taken, and what for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) now: Timestamp,
    /// When the lease runs out.
    pub(super) until: Timestamp,
    pub(super) delivery: Delivery,
}

/// How much may be claimed.
#[derive(Clone, Debug)]
pub(crate) struct ClaimRequest {
    /// The moment, on the person's calendar.
    pub(crate) local: LocalTime,
    /// When the leases run out unless they are renewed.
    pub(crate) lease_expires_at: Timestamp,
    /// Jobs that run already, by queue; what a queue may run in all is in its settings.
    pub(crate) running: Vec<(QueueName, u32)>,
    /// Most jobs of Claude, whatever the queues allow.
    pub(crate) claude_room: u32,
    /// Most jobs in all.
    pub(crate) limit: u32,
}

impl ClaimRequest {
    /// Returns how many jobs of a queue run.
    pub(super) fn running(&self, queue: QueueName) -> u32 {
        self.running
            .iter()
            .find(|(of, _)| *of == queue)
            .map_or(0, |(_, running)| *running)
    }
}

impl Store {
    /// Takes ready jobs for an attempt each, and records the attempts and what they may cost.
    ///
    /// Which ones, and how many: high before bulk, each queue by position, visible time and age, as far
    /// as concurrency, budget and caps have room. Returns none while nothing may start.
    pub(crate) async fn claim(&self, request: ClaimRequest) -> Result<Vec<ClaimedJob>> {
        self.write(move |connection| turns::claim(connection, &request))
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
}

/// The columns of [`claimed`] over `jobs`, as an UPDATE returns them.
pub(super) const CLAIMED_COLUMNS: &str = "job_id, generation, attempts, kind, title, prompt, fresh, \
     source_path, source_bytes, source_modified, document_sha256, \
     (SELECT pages FROM documents WHERE sha256 = document_sha256), \
     provider, model, max_tokens, \
     (SELECT max_retries + 1 FROM queues AS q WHERE q.queue = jobs.queue) + attempts_before, \
     template_id, template_version, queue, seq, \
     (SELECT finding_cause FROM documents WHERE sha256 = document_sha256), \
     (SELECT finding_message FROM documents WHERE sha256 = document_sha256), variables, \
     sends, attempts_before, parts, \
     (SELECT encryption FROM documents WHERE sha256 = document_sha256), \
     (SELECT facts FROM documents WHERE sha256 = document_sha256)";
/// The first column after [`CLAIMED_COLUMNS`].
const AFTER_CLAIMED: usize = 28;

/// Marks jobs as running and records an attempt for each, in their order.
pub(super) fn take(
    connection: &Connection,
    jobs: &[&Candidate],
    lease_id: &str,
    hold: Hold,
) -> Result<Vec<ClaimedJob>> {
    let now = hold.now;
    let seqs: Vec<i64> = jobs.iter().map(|job| job.seq).collect();
    let places: HashMap<i64, usize> = (0..).zip(&seqs).map(|(at, seq)| (*seq, at)).collect();
    let mut taken = connection
        .prepare_cached(&format!(
            "UPDATE jobs SET status = 'running', held = 0, lease_id = :lease,
                 lease_expires_at = :expires, started_at = :now, attempts = attempts + 1,
                 cancel_requested = 0, waited_ms = waited_ms + max(0, :now - waiting_since)
             WHERE seq IN (SELECT value FROM json_each(:seqs)) AND status = 'pending'
             RETURNING {CLAIMED_COLUMNS}, max(0, :now - waiting_since)"
        ))?
        .query_map(
            named_params! {
                ":lease": lease_id,
                ":expires": hold.until.0,
                ":now": now.0,
                ":seqs": serde_json::to_string(&seqs).unwrap_or_default(),
            },
            |row| {
                Ok((
                    claimed(row, lease_id)?,
                    row.get::<_, i64>(19)?,
                    row.get(AFTER_CLAIMED)?,
                    template_of(row)?,
                    row.get::<_, u32>(25)?,
                ))
            },
        )?
        .collect::<rusqlite::Result<Vec<(ClaimedJob, i64, i64, _, u32)>>>()?;
    // SQLite returns rows in the order of the update, not of the line.
    taken.sort_by_key(|(_, seq, ..)| places.get(seq));
    for (job, seq, waited_ms, template, parts) in &mut taken {
        if let Some((template_id, version)) = template {
            job.template = templates::template(connection, template_id, *version)?;
        }
        job.delivery = hold.delivery;
        if *parts > 0 {
            job.step = match parts::next(connection, job.lease.job_id.as_str())? {
                Some(pages) => AttemptStep::Part { pages },
                None => AttemptStep::Combine,
            };
        }
        job.estimated_input = places
            .get(seq)
            .and_then(|at| jobs.get(*at))
            .filter(|candidate| candidate.provider == Provider::Claude && !candidate.has_answer)
            .map(|candidate| candidate.guess().expected_input);
        record_attempt(connection, job, *waited_ms, now)?;
    }
    Ok(taken.into_iter().map(|(job, ..)| job).collect())
}

/// Returns id and version of the template of a claimed job, of [`CLAIMED_COLUMNS`].
pub(super) fn template_of(row: &Row<'_>) -> rusqlite::Result<Option<(String, u32)>> {
    Ok(row.get::<_, Option<String>>(16)?.zip(row.get(17)?))
}

fn record_attempt(
    connection: &Connection,
    job: &ClaimedJob,
    waited_ms: i64,
    now: Timestamp,
) -> Result<()> {
    let (step, pages) = match job.step {
        AttemptStep::Whole => ("whole", None),
        AttemptStep::Part { pages } => ("part", Some(pages)),
        AttemptStep::Combine => ("combine", None),
    };
    connection
        .prepare_cached(
            "INSERT INTO attempts (job_id, generation, number, lease_id, provider, model, started_at,
                                   outcome, waited_ms, step, first_page, last_page, estimated_input)
             VALUES (:job, :generation, :number, :lease, :provider, :model, :now, 'running', :waited,
                     :step, :first, :last, :estimated)",
        )?
        .execute(named_params! {
            ":job": job.lease.job_id.as_str(),
            ":generation": job.lease.generation,
            ":number": job.lease.number,
            ":lease": job.lease.lease_id,
            ":provider": job.provider.as_str(),
            ":model": job.model,
            ":now": now.0,
            ":waited": waited_ms,
            ":step": step,
            ":first": pages.map(|pages| pages.first),
            ":last": pages.map(|pages| pages.last),
            ":estimated": job.estimated_input.map(u64::cast_signed),
        })?;
    Ok(())
}

/// Reads [`CLAIMED_COLUMNS`].
pub(super) fn claimed(row: &Row<'_>, lease_id: &str) -> rusqlite::Result<ClaimedJob> {
    Ok(ClaimedJob {
        lease: Lease {
            job_id: JobId(row.get(0)?),
            lease_id: lease_id.to_owned(),
            generation: row.get(1)?,
            number: row.get(2)?,
        },
        queue: rows::queue(row, 18)?,
        kind: rows::kind(row, 3)?,
        title: row.get(4)?,
        prompt: row.get(5)?,
        template: None,
        fresh: row.get(6)?,
        variables: rows::json(row, 22)?,
        source_path: row.get(7)?,
        source_bytes: rows::optional_unsigned(row, 8)?,
        source_modified: row.get(9)?,
        document_sha256: row.get(10)?,
        pages: row.get(11)?,
        encryption: match row.get_ref(26)? {
            ValueRef::Null => Encryption::None,
            _ => rows::encryption(row, 26)?,
        },
        facts: rows::optional_json(row, 27)?.unwrap_or_default(),
        finding: rows::cause(row, 20)?.zip(row.get(21)?),
        step: AttemptStep::Whole,
        sends: rows::sends(row, 23)?,
        attempts_before: row.get(24)?,
        estimated_input: None,
        delivery: Delivery::Each,
        provider: rows::provider(row, 12)?,
        model: row.get(13)?,
        max_tokens: row.get(14)?,
        max_attempts: row.get(15)?,
    })
}
