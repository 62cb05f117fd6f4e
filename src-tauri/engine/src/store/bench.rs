//! The queue as `benches/queue` measures it: thin names for what the product itself calls.
//!
//! Nothing here has SQL of the queue, so a figure can't be better than the product.

use std::path::Path;
use std::time::Duration;

use super::{ClaimRequest, ClaimedJob, NewAnswer, NewBatch, NewInput, NewJob, NewResult, Store};
use crate::calendar::LocalTime;
use crate::clock::{Clock as _, SystemClock};
use crate::error::EngineError;
use crate::model::{BatchId, JobId, Provider, QueueName, ResultFormat, Sends, Variables};

/// As long as the dispatcher's leases.
const LEASE: Duration = Duration::from_secs(60);
/// The queue without a delay before its jobs become visible.
const QUEUE: QueueName = QueueName::High;

/// An open store.
#[derive(Clone)]
pub struct BenchQueue(Store);

/// A claimed job. Only [`BenchQueue::complete`] can use it.
pub struct Claimed(ClaimedJob);

impl BenchQueue {
    /// Opens the store of a database file, making or migrating it where needed.
    ///
    /// # Errors
    /// Whatever keeps the product's store from opening.
    pub fn open(path: &Path) -> Result<Self, EngineError> {
        Store::open(path).map(Self)
    }

    /// Accepts one prompt as a batch of its own; the job is on disk when this returns.
    ///
    /// # Errors
    /// That the store refuses.
    pub async fn enqueue(&self, prompt: String) -> Result<(), EngineError> {
        let batch = NewBatch {
            batch_id: BatchId::generate(),
            name: "Bench".to_owned(),
            user_id: "local".to_owned(),
            queue: QUEUE,
            delivery: None,
            template: None,
            provider: Provider::Offline,
            model: "extractive".to_owned(),
            max_tokens: 1_000,
            cap_micros: None,
            paused: false,
            sends: Sends::default(),
            variables: Variables::new(),
            fresh: false,
            expected_micros: None,
            at_worst_micros: None,
            folder: None,
            pilot: Vec::new(),
            jobs: vec![NewJob {
                job_id: JobId::generate(),
                title: "Bench".to_owned(),
                input: NewInput::Prompt(prompt),
                finding: None,
                reused: None,
                parts: Vec::new(),
            }],
        };
        self.0.submit(batch, SystemClock.now()).await
    }

    /// Claims at most `limit` jobs, as the dispatcher does.
    ///
    /// # Errors
    /// That the store refuses.
    pub async fn claim(&self, limit: u32) -> Result<Vec<Claimed>, EngineError> {
        let now = SystemClock.now();
        let request = ClaimRequest {
            local: LocalTime::at(now, &jiff::tz::TimeZone::UTC),
            lease_expires_at: now.after(LEASE),
            // The bench counts by itself how many run.
            running: Vec::new(),
            claude_room: limit,
            limit,
        };
        let jobs = self.0.claim(request).await?;
        Ok(jobs.into_iter().map(Claimed).collect())
    }

    /// Completes a claimed job with a small result. Says whether its lease still held.
    ///
    /// # Errors
    /// That the store refuses.
    pub async fn complete(&self, Claimed(job): Claimed) -> Result<bool, EngineError> {
        let result = NewResult {
            key: format!("results/{}.md", job.lease.job_id),
            sha256: "0".repeat(64),
            bytes: 2,
            provider: job.provider,
            template: None,
            document_sha256: None,
            reuse_key: None,
            answer: NewAnswer {
                body: "ok".to_owned(),
                model: job.model,
                stop_reason: None,
                request_id: None,
                input_tokens: 0,
                output_tokens: 0,
                cost_micros: Some(0),
                review: None,
                format: ResultFormat::Markdown,
                reused_from: None,
                passages: Vec::new(),
            },
            copy_wanted: false,
        };
        self.0.complete(job.lease, result, SystemClock.now()).await
    }

    /// Returns `PRAGMA synchronous` and `PRAGMA journal_mode` of the connection that writes.
    ///
    /// # Errors
    /// That the store refuses.
    pub async fn durability(&self) -> Result<(i64, String), EngineError> {
        self.0
            .write(|connection| {
                let synchronous =
                    connection.pragma_query_value(None, "synchronous", |row| row.get(0))?;
                let journal =
                    connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
                Ok((synchronous, journal))
            })
            .await
    }

    /// Merges the log and ends the writing thread.
    pub async fn close(&self) {
        self.0.close().await;
    }
}
