//! Looking at jobs, and what a person does to them.

use std::path::Path;

use super::Engine;
use crate::error::EngineError;
use crate::model::{
    EngineEvent, JobDetail, JobFilter, JobId, JobPage, Overview, Provider, QueueName, ResultView,
    Timestamp,
};
use crate::store::ListContext;

/// Most rows of a page.
const LARGEST_PAGE: u32 = 500;

impl Engine {
    /// Returns everything that a front shows around its list.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn overview(&self) -> Result<Overview, EngineError> {
        let now = self.0.config.clock.now();
        let place = self.place();
        let row = self.0.store.overview(now, self.midnight(now)).await?;
        let answer = super::answer::answer(&row, place, now);
        Ok(Overview {
            counts: row.counts,
            lanes: row.lanes,
            batches: row.batches,
            consumer: place,
            circuits: row.circuits,
            answer,
            spent_today_micros: row.spent_micros,
            requests_last_minute: row.requests,
            input_tokens_last_minute: row.input_tokens,
            output_tokens_last_minute: row.output_tokens,
            finished_per_minute: row.finished_per_minute,
            key: self.key_status(),
        })
    }

    /// Returns when the day of `now` began where the person lives.
    fn midnight(&self, now: Timestamp) -> Timestamp {
        let zone = self.0.config.time_zone.clone();
        jiff::Timestamp::from_millisecond(now.0)
            .ok()
            .and_then(|moment| moment.to_zoned_datetime(zone).start_of_day().ok())
            .map_or(now, |midnight| {
                Timestamp(midnight.timestamp().as_millisecond())
            })
    }

    fn list_context(&self) -> ListContext {
        ListContext {
            now: self.0.config.clock.now(),
            consumer: self.place(),
        }
    }

    /// Returns a page of the jobs that match, newest first. `after` is the `next` of the page before.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn jobs(
        &self,
        filter: JobFilter,
        after: Option<i64>,
        limit: u32,
    ) -> Result<JobPage, EngineError> {
        let limit = limit.clamp(1, LARGEST_PAGE);
        self.0
            .store
            .jobs(filter, after, limit, self.list_context())
            .await
    }

    /// Returns a job with everything about it, its result's text included.
    ///
    /// # Errors
    /// [`EngineError::NotFound`].
    pub async fn job(&self, job_id: JobId) -> Result<JobDetail, EngineError> {
        let record = self.0.store.job(job_id, self.list_context()).await?;
        let result = match record.result {
            None => None,
            Some(row) => {
                let text = self.0.library.read(&row.key).await;
                Some(ResultView {
                    // A vanished file is said where its text would be; the job stays as it is.
                    markdown: text.map_or_else(|reason| reason, |text| without_origin(&text)),
                    provider: row.provider,
                    model: row.model,
                    template: row.template.unwrap_or_default(),
                    stop_reason: row.stop_reason,
                    sha256: row.sha256,
                    bytes: row.bytes,
                    path: self.0.library.path(&row.key).to_string_lossy().into_owned(),
                    copy_path: row.copy_path,
                    copy_error: row.copy_error,
                    created_at: row.created_at,
                })
            }
        };
        Ok(JobDetail {
            job: record.job,
            prompt: record.prompt,
            document: record.document,
            attempts: record.attempts,
            result,
        })
    }

    /// Returns the one job whose id begins or ends with `part`.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], or [`EngineError::BadInput`] when several do.
    pub async fn job_named(&self, part: &str) -> Result<JobId, EngineError> {
        let mut found = if part.is_empty() {
            Vec::new()
        } else {
            self.0.store.jobs_named(part.to_owned()).await?
        };
        match (found.pop(), found.is_empty()) {
            (Some(job_id), true) => Ok(job_id),
            (None, _) => Err(EngineError::NotFound {
                what: "job",
                name: part.to_owned(),
            }),
            _ => Err(EngineError::bad_input(
                format!("Several jobs have {part} at the beginning or the end of their ids."),
                "Give more of the id.",
            )),
        }
    }

    /// Puts ended jobs back in their queues as new runs. Returns how many were.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn retry(&self, job_ids: Vec<JobId>) -> Result<u64, EngineError> {
        let changed = self
            .0
            .store
            .redrive(job_ids, self.0.config.clock.now())
            .await?;
        Ok(self.jobs_changed(changed))
    }

    /// Puts every ended job that matches `filter` back in its queue. Returns how many were.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn retry_matching(&self, filter: JobFilter) -> Result<u64, EngineError> {
        let changed = self
            .0
            .store
            .redrive_matching(filter, self.0.config.clock.now())
            .await?;
        Ok(self.jobs_changed(changed))
    }

    /// Lets pending jobs run without waiting for their delay or countdown. Returns how many changed.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn run_now(&self, job_ids: Vec<JobId>) -> Result<u64, EngineError> {
        let changed = self
            .0
            .store
            .run_now(job_ids, self.0.config.clock.now())
            .await?;
        Ok(self.jobs_changed(changed))
    }

    /// Cancels pending jobs, and running ones where that saves anything. Returns how many changed.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn cancel_jobs(&self, job_ids: Vec<JobId>) -> Result<u64, EngineError> {
        let changed = self
            .0
            .store
            .cancel(job_ids, self.0.config.clock.now())
            .await?;
        if let Some(consumer) = self.0.consumer.lock().await.as_ref() {
            consumer.cancel(&changed);
        }
        Ok(self.jobs_changed(changed))
    }

    /// Pauses or resumes a queue; jobs that run go on.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn pause_lane(&self, queue: QueueName, paused: bool) -> Result<(), EngineError> {
        if self.0.store.pause(queue, paused).await? {
            self.everything_changed();
        }
        Ok(())
    }

    /// Lets a provider's jobs be delivered again after something stood in the way of all of them.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn close_circuit(&self, provider: Provider) -> Result<(), EngineError> {
        if self.0.store.close_circuit(provider).await? {
            self.everything_changed();
        }
        Ok(())
    }

    /// Says whether a path is one that a front may open: a job's source, a result or its copy.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn knows_path(&self, path: &Path) -> Result<bool, EngineError> {
        let results = self.0.config.data_directory.join("results");
        let in_library = path.parent() == Some(results.as_path());
        Ok(in_library
            || self
                .0
                .store
                .knows_path(path.to_string_lossy().into_owned())
                .await?)
    }

    fn jobs_changed(&self, job_ids: Vec<JobId>) -> u64 {
        let changed = job_ids.len() as u64;
        if changed > 0 {
            self.0.wake.notify_one();
            self.emit(EngineEvent::JobsChanged { job_ids });
        }
        changed
    }

    fn everything_changed(&self) {
        self.0.wake.notify_one();
        self.emit(EngineEvent::JobsChanged {
            job_ids: Vec::new(),
        });
        self.emit(EngineEvent::OverviewChanged);
    }
}

/// Returns a result's text without the line that says where it comes from.
fn without_origin(text: &str) -> String {
    match text.rsplit_once("\n\n<!-- gistmill: ") {
        Some((body, _)) => body.to_owned(),
        None => text.to_owned(),
    }
}
