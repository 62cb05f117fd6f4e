//! Accepting jobs.

use rusqlite::{Connection, named_params};

use super::{
    Lease, NewAnswer, Result, Store, answers, held, outbox, parts, pilots, policy, queues,
};
use crate::error::EngineError;
use crate::model::{
    BatchId, Cause, Delivery, DocumentView, JobId, JobKind, JobStatus, Provider, QueueName, Sends,
    Sha256, Timestamp, Variables,
};
use crate::parts::Part;
use crate::pdf::Measures;

/// A submission to be stored.
pub(crate) struct NewBatch {
    pub(crate) batch_id: BatchId,
    pub(crate) name: String,
    pub(crate) user_id: String,
    pub(crate) queue: QueueName,
    /// How its jobs go; `None` as the queue's settings say.
    pub(crate) delivery: Option<Delivery>,
    /// A template's id and version; `None` for prompts.
    pub(crate) template: Option<(String, u32)>,
    pub(crate) provider: Provider,
    pub(crate) model: String,
    pub(crate) max_tokens: u32,
    /// The most that it may cost; `None` for the cap of the settings.
    pub(crate) cap_micros: Option<i64>,
    /// Whether it waits for a person to resume it.
    pub(crate) paused: bool,
    /// Values of the template's variables, the same for all jobs.
    pub(crate) variables: Variables,
    /// What is sent of its documents.
    pub(crate) sends: Sends,
    /// Whether its jobs are asked even where earlier results would serve.
    pub(crate) fresh: bool,
    /// What one attempt at each job is expected to cost, and can cost at worst.
    pub(crate) expected_micros: Option<i64>,
    pub(crate) at_worst_micros: Option<i64>,
    /// The folder that holds all of its PDFs.
    pub(crate) folder: Option<String>,
    pub(crate) jobs: Vec<NewJob>,
    /// Those of them that run first, while the others wait for a person's word; none for all at once.
    pub(crate) pilot: Vec<JobId>,
}

/// A job of a submission.
pub(crate) struct NewJob {
    pub(crate) job_id: JobId,
    pub(crate) title: String,
    pub(crate) input: NewInput,
    /// Why it can't be delivered at all; it is stored as failed, so that nothing dropped is lost.
    pub(crate) finding: Option<(Cause, String)>,
    /// An earlier result that serves again; nobody is asked then.
    pub(crate) reused: Option<NewAnswer>,
    /// The parts that it is asked in; none where one call takes it.
    pub(crate) parts: Vec<Part>,
}

/// What a new job works on.
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all of them are PDFs, and each is read once"
)]
pub(crate) enum NewInput {
    /// A prompt alone.
    Prompt(String),
    /// A PDF where it lies.
    Pdf {
        path: String,
        relative_path: String,
        modified_ms: i64,
        /// `None` when the file could not be read.
        document: Option<DocumentView>,
        /// What each of its pages holds, where that may decide how it is divided.
        measures: Option<Measures>,
    },
}

impl Store {
    /// Stores a batch with its jobs in one transaction; each is in its queue when this returns.
    pub(crate) async fn submit(&self, batch: NewBatch, now: Timestamp) -> Result<()> {
        self.write(move |connection| insert(connection, &batch, now))
            .await
    }
}

impl Store {
    /// Remembers what a claimed job's file turned out to be, where nothing was known of it before.
    pub(crate) async fn adopt_document(
        &self,
        lease: Lease,
        document: DocumentView,
        measures: Option<Measures>,
        modified_ms: i64,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            remember_document(connection, &document, now)?;
            if let Some(measures) = &measures {
                parts::remember_measures(connection, &document.sha256, measures)?;
            }
            connection
                .prepare_cached(
                    "UPDATE jobs SET document_sha256 = ?3, source_bytes = ?4, source_modified = ?5
                     WHERE job_id = ?1 AND status = 'running' AND lease_id = ?2",
                )?
                .execute((
                    lease.job_id.as_str(),
                    &lease.lease_id,
                    document.sha256.as_str(),
                    document.bytes.cast_signed(),
                    modified_ms,
                ))?;
            Ok(())
        })
        .await
    }
}

impl Store {
    /// Remembers that a copy of a document is sent that lacks its annotations. An inspection, which knows
    /// nothing of it, does not take it back.
    pub(crate) async fn note_annotations_lost(&self, document: Sha256) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE documents SET facts = json_set(facts, '$.annotationsLost', json('true'))
                     WHERE sha256 = ?1",
                )?
                .execute([document.as_str()])?;
            Ok(())
        })
        .await
    }
}

pub(super) fn insert(connection: &Connection, batch: &NewBatch, now: Timestamp) -> Result<()> {
    let cap_micros = match batch.cap_micros {
        Some(cap) => Some(cap),
        None => policy::batch_cap(connection)?,
    };
    connection
        .prepare_cached(
            "INSERT INTO batches (batch_id, name, user_id, created_at, paused, cap_micros,
                                  expected_micros, at_worst_micros, folder)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?
        .execute((
            batch.batch_id.as_str(),
            &batch.name,
            &batch.user_id,
            now.0,
            batch.paused,
            cap_micros,
            batch.expected_micros,
            batch.at_worst_micros,
            &batch.folder,
        ))?;
    let variables = serde_json::to_string(&batch.variables)
        .map_err(|error| EngineError::Internal(error.to_string()))?;
    let documents_wanted =
        policy::bucket(connection)?.is_some_and(|bucket| bucket.upload_documents);
    let delay: i64 = connection
        .prepare_cached("SELECT delivery_delay_ms FROM queues WHERE queue = ?1")?
        .query_row([batch.queue.as_str()], |row| row.get(0))?;
    let delivery = match (batch.queue, batch.provider) {
        (QueueName::High, _) | (_, Provider::Offline) => Delivery::Each,
        (QueueName::Bulk, Provider::Claude) => match batch.delivery {
            Some(delivery) => delivery,
            None => queues::delivery(connection, batch.queue)?,
        },
    };
    for job in &batch.jobs {
        let document = match &job.input {
            NewInput::Pdf { document, .. } => document.as_ref(),
            NewInput::Prompt(_) => None,
        };
        if let Some(document) = document {
            remember_document(connection, document, now)?;
            if let NewInput::Pdf {
                measures: Some(measures),
                ..
            } = &job.input
            {
                parts::remember_measures(connection, &document.sha256, measures)?;
            }
        }
        let context = Context {
            batch,
            variables: &variables,
            now,
            delay_ms: delay,
            delivery,
        };
        insert_job(connection, &context, job, document)?;
        if !job.parts.is_empty() {
            parts::insert(connection, job.job_id.as_str(), &job.parts)?;
            parts::count(connection, job.job_id.as_str())?;
        }
        if let Some(answer) = &job.reused {
            answers::insert(connection, job.job_id.as_str(), 1, answer, now)?;
        }
        if documents_wanted && document.is_some() {
            outbox::document_added(connection, &job.job_id, now)?;
        }
    }
    pilots::begin(connection, &batch.batch_id, &batch.pilot)
}

pub(super) fn remember_document(
    connection: &Connection,
    document: &DocumentView,
    now: Timestamp,
) -> Result<()> {
    let facts = serde_json::to_string(&document.facts)
        .map_err(|error| EngineError::Internal(error.to_string()))?;
    let text = document.facts.text.map(|layer| layer.work(document.pages));
    connection
        .prepare_cached(
            "INSERT INTO documents (sha256, bytes, pages, encryption, has_text, finding_cause,
                                    finding_message, facts, text_pages, letters, ideographs, all_read,
                                    first_seen_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
             ON CONFLICT (sha256) DO UPDATE SET
                 pages = excluded.pages, encryption = excluded.encryption,
                 has_text = excluded.has_text, finding_cause = excluded.finding_cause,
                 finding_message = excluded.finding_message,
                 facts = iif(documents.facts ->> '$.annotationsLost',
                             json_set(excluded.facts, '$.annotationsLost', json('true')), excluded.facts),
                 text_pages = excluded.text_pages, letters = excluded.letters,
                 ideographs = excluded.ideographs, all_read = excluded.all_read",
        )?
        .execute((
            document.sha256.as_str(),
            document.bytes.cast_signed(),
            document.pages,
            super::rows::encryption_word(document.encryption),
            document.has_text,
            document.finding.as_ref().map(|finding| finding.cause.key()),
            document
                .finding
                .as_ref()
                .map(|finding| finding.message.as_str()),
            facts,
            text.map(|text| text.pages.cast_signed()),
            text.map(|text| text.letters.cast_signed()),
            text.map(|text| text.ideographs.cast_signed()),
            text.is_some_and(|text| text.all_read),
            now.0,
        ))?;
    Ok(())
}

/// What the jobs of a batch have in common.
struct Context<'batch> {
    batch: &'batch NewBatch,
    /// As JSON.
    variables: &'batch str,
    now: Timestamp,
    delay_ms: i64,
    delivery: Delivery,
}

fn insert_job(
    connection: &Connection,
    context: &Context<'_>,
    job: &NewJob,
    document: Option<&DocumentView>,
) -> Result<()> {
    let (batch, now) = (context.batch, context.now);
    let (kind, prompt, path, relative_path, modified) = match &job.input {
        NewInput::Prompt(prompt) => (JobKind::Prompt, Some(prompt.as_str()), None, None, None),
        NewInput::Pdf {
            path,
            relative_path,
            modified_ms,
            ..
        } => (
            JobKind::Pdf,
            None,
            Some(path.as_str()),
            Some(relative_path.as_str()),
            Some(*modified_ms),
        ),
    };
    let status = if job.finding.is_some() {
        JobStatus::Failed
    } else {
        JobStatus::Pending
    };
    connection
        .prepare_cached(
            "INSERT INTO jobs (job_id, batch_id, user_id, kind, title, status, queue, available_at,
                 waiting_since, prompt, document_sha256, source_path, source_bytes, source_modified,
                 relative_path, template_id, template_version, variables, sends, fresh, provider, model,
                 max_tokens, held, created_at, completed_at, error_code, error, delivery)
             VALUES (:job, :batch, :user, :kind, :title, :status, :queue, :available, :now, :prompt,
                 :sha256, :path, :bytes, :modified, :relative_path, :template, :version, :variables, :sends,
                 :fresh, :provider, :model, :max_tokens, :held, :now, :completed, :error_code, :error,
                 :delivery)",
        )?
        .execute(named_params! {
            ":job": job.job_id.as_str(),
            ":batch": batch.batch_id.as_str(),
            ":user": batch.user_id,
            ":kind": super::rows::kind_word(kind),
            ":title": job.title,
            ":status": status.as_str(),
            ":queue": batch.queue.as_str(),
            // What is answered already delays nobody.
            ":available": now.0 + if job.reused.is_some() { 0 } else { context.delay_ms },
            ":now": now.0,
            ":prompt": prompt,
            ":sha256": document.map(|document| document.sha256.as_str()),
            ":path": path,
            ":bytes": document.map(|document| document.bytes.cast_signed()),
            ":modified": modified,
            ":relative_path": relative_path,
            ":variables": context.variables,
            ":sends": batch.sends.as_str(),
            ":fresh": batch.fresh,
            ":template": batch.template.as_ref().map(|(id, _)| id.as_str()),
            ":version": batch.template.as_ref().map(|(_, version)| *version),
            ":provider": batch.provider.as_str(),
            ":model": batch.model,
            ":max_tokens": batch.max_tokens,
            ":held": if batch.paused { held::BATCH_PAUSED } else { 0 },
            ":completed": job.finding.is_some().then_some(now.0),
            ":error_code": job.finding.as_ref().map(|(cause, _)| cause.key()),
            ":error": job.finding.as_ref().map(|(_, message)| message.as_str()),
            ":delivery": context.delivery.as_str(),
        })?;
    Ok(())
}
