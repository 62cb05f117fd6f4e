//! A store on a temporary file, and what tests put in it.

use jiff::tz::TimeZone;
use rusqlite::Connection;
use tempfile::TempDir;

use crate::calendar::LocalTime;
use crate::model::{
    Affected, AttemptOutcome, BatchId, BulkAction, Cause, ConsumerPlace, JobId, Provider,
    QueueName, ResultFormat, Selection, Settings, Timestamp, Variables,
};
use crate::store::lists::{JobRecord, ListContext};
use crate::store::{
    AfterAttempt, AttemptEnd, ClaimRequest, ClaimedJob, Lease, NewAnswer, NewBatch, NewInput,
    NewJob, NewResult, Result, Settlement, Store,
};

/// When tests begin: 2026-11-29T12:00:00Z.
pub(super) const NOW: Timestamp = Timestamp(1_795_953_600_000);
/// A model that has a price.
pub(super) const SONNET: &str = "claude-sonnet-4-6";

/// A store with the folder that it lives in.
pub(super) struct Shelf {
    pub(super) store: Store,
    pub(super) folder: TempDir,
}

pub(super) fn shelf() -> Shelf {
    let folder = tempfile::tempdir().unwrap();
    Shelf {
        store: Store::open(&folder.path().join("gistmill.db")).unwrap(),
        folder,
    }
}

pub(super) fn seconds(count: i64) -> Timestamp {
    Timestamp(NOW.0 + count * 1_000)
}

/// Returns the moment so many tenths of a second after [`NOW`].
pub(super) fn tenths(count: i64) -> Timestamp {
    Timestamp(NOW.0 + count * 100)
}

pub(super) fn minutes(count: i64) -> Timestamp {
    seconds(count * 60)
}

pub(super) fn local(now: Timestamp) -> LocalTime {
    LocalTime::at(now, &TimeZone::UTC)
}

pub(super) fn request(limit: u32, now: Timestamp) -> ClaimRequest {
    ClaimRequest {
        local: local(now),
        lease_expires_at: Timestamp(now.0 + 60_000),
        running: Vec::new(),
        claude_room: u32::MAX,
        limit,
    }
}

/// Returns a batch of Claude's in the high lane, a job for each prompt.
pub(super) fn batch(prompts: &[&str]) -> NewBatch {
    NewBatch {
        batch_id: BatchId::generate(),
        name: "Batch".to_owned(),
        user_id: "local".to_owned(),
        queue: QueueName::High,
        delivery: None,
        template: None,
        provider: Provider::Claude,
        model: SONNET.to_owned(),
        max_tokens: 1_000,
        cap_micros: None,
        paused: false,
        sends: crate::model::Sends::Pdf,
        variables: Variables::new(),
        fresh: false,
        expected_micros: None,
        at_worst_micros: None,
        folder: None,
        pilot: Vec::new(),
        jobs: prompts
            .iter()
            .map(|prompt| NewJob {
                job_id: JobId::generate(),
                title: (*prompt).to_owned(),
                input: NewInput::Prompt((*prompt).to_owned()),
                finding: None,
                reused: None,
                parts: Vec::new(),
            })
            .collect(),
    }
}

impl Shelf {
    /// Stores a batch, and returns its jobs.
    pub(super) async fn submit(&self, batch: NewBatch, now: Timestamp) -> Vec<JobId> {
        let job_ids = batch.jobs.iter().map(|job| job.job_id.clone()).collect();
        self.store.submit(batch, now).await.unwrap();
        job_ids
    }

    pub(super) async fn add(&self, prompts: &[&str]) -> Vec<JobId> {
        self.submit(batch(prompts), NOW).await
    }

    pub(super) async fn claim(&self, limit: u32, now: Timestamp) -> Vec<ClaimedJob> {
        self.store.claim(request(limit, now)).await.unwrap()
    }

    pub(super) async fn look(&self, job_id: &JobId) -> JobRecord {
        self.look_at(job_id, NOW).await
    }

    pub(super) async fn look_at(&self, job_id: &JobId, now: Timestamp) -> JobRecord {
        let context = ListContext {
            local: local(now),
            consumer: ConsumerPlace::Here,
        };
        self.store.job(job_id.clone(), context).await.unwrap()
    }

    /// Does something to jobs.
    pub(super) async fn act(
        &self,
        job_ids: &[&JobId],
        action: BulkAction,
        now: Timestamp,
    ) -> Affected {
        let selection = Selection::Jobs {
            job_ids: job_ids.iter().copied().cloned().collect(),
        };
        self.store
            .apply_action(selection, action, now)
            .await
            .unwrap()
            .0
    }

    /// Leaves out waiting for the disk, in a test that shows nothing of it.
    pub(super) async fn hurry(&self) {
        let hurry =
            |connection: &Connection| Ok(connection.pragma_update(None, "synchronous", "OFF")?);
        self.store.write_alone(hurry).await.unwrap();
    }

    /// Changes the settings.
    pub(super) async fn set(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.store.settings().await.unwrap();
        change(&mut settings);
        self.store.save_settings(settings).await.unwrap();
    }

    /// Claims, keeps an answer and completes. Returns the jobs that were completed.
    pub(super) async fn work(&self, limit: u32, now: Timestamp) -> Vec<JobId> {
        let mut done = Vec::new();
        for job in self.claim(limit, now).await {
            self.finish(&job.lease, now).await;
            done.push(job.lease.job_id);
        }
        done
    }

    /// Keeps an answer and completes.
    pub(super) async fn finish(&self, lease: &Lease, now: Timestamp) {
        let store = &self.store;
        let kept = store.keep_answer(lease.clone(), answer(), settled(), now);
        assert!(kept.await.unwrap(), "the lease holds");
        let completed = store.complete(lease.clone(), result(&lease.job_id), now);
        assert!(completed.await.unwrap(), "the lease holds");
    }

    /// Ends an attempt.
    pub(super) async fn end(&self, lease: &Lease, end: AttemptEnd, now: Timestamp) -> bool {
        self.store
            .end_attempt(lease.clone(), Provider::Claude, end, now)
            .await
            .unwrap()
    }

    /// Returns what a query finds, read as one value.
    pub(super) async fn ask<T>(&self, sql: &'static str) -> T
    where
        T: rusqlite::types::FromSql + Send + 'static,
    {
        self.store
            .read(move |connection| Ok(connection.query_row(sql, [], |row| row.get(0))?))
            .await
            .unwrap()
    }

    /// Runs statements in the writing thread.
    pub(super) async fn change(&self, sql: &'static str) -> Result<()> {
        let run = |connection: &Connection| Ok(connection.execute_batch(sql)?);
        self.store.write(run).await
    }
}

pub(super) fn answer() -> NewAnswer {
    NewAnswer {
        body: "An answer.".to_owned(),
        model: SONNET.to_owned(),
        stop_reason: Some("end_turn".to_owned()),
        request_id: None,
        input_tokens: 100,
        output_tokens: 20,
        cost_micros: Some(600),
        review: None,
        format: ResultFormat::Markdown,
        reused_from: None,
        passages: Vec::new(),
    }
}

pub(super) fn settled() -> Settlement {
    Settlement::Known {
        input_tokens: 100,
        output_tokens: 20,
        micros: Some(600),
    }
}

pub(super) fn result(job_id: &JobId) -> NewResult {
    NewResult {
        key: format!("results/{job_id}.md"),
        sha256: "0".repeat(64),
        bytes: 10,
        provider: Provider::Claude,
        template: None,
        document_sha256: None,
        reuse_key: None,
        answer: answer(),
        copy_wanted: false,
    }
}

/// An attempt that was refused before it was worked on, and what becomes of its job.
pub(super) fn refused(outcome: AttemptOutcome, cause: Cause, next: AfterAttempt) -> AttemptEnd {
    AttemptEnd {
        outcome,
        cause,
        message: format!("It met {cause:?}."),
        http_status: Some(400),
        request_id: None,
        told_to_wait_ms: None,
        input_tokens: None,
        output_tokens: None,
        cost_micros: Some(0),
        settlement: Settlement::Nothing { asked: true },
        next,
    }
}

pub(super) fn retry_at(moment: Timestamp) -> AttemptEnd {
    let next = AfterAttempt::RetryAt(moment);
    refused(AttemptOutcome::Retryable, Cause::Overloaded, next)
}

/// An attempt that met what every job of its provider would meet.
pub(super) fn tripped(cause: Cause) -> AttemptEnd {
    let next = AfterAttempt::Deferred { open_circuit: true };
    refused(AttemptOutcome::Deferred, cause, next)
}
