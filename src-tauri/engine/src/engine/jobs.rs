//! Looking at jobs, lanes and circuits.

use std::path::Path;
use std::sync::PoisonError;

use super::{Engine, answer, missing};
use crate::calendar::LocalTime;
use crate::error::EngineError;
use crate::model::{
    EngineEvent, JobDetail, JobFilter, JobId, JobOrder, JobPage, JobRows, ModelNotice, OlderResult,
    Overview, Problem, Provider, QueueName, ResultFormat, ResultView,
};
use crate::results::without_origin;
use crate::store::ListContext;

/// Most rows of a page.
const LARGEST_PAGE: u32 = 500;
/// Most ids that are told at once.
const LONGEST_STRETCH: u32 = 100_000;

impl Engine {
    /// Returns everything that a front shows around its list.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn overview(&self) -> Result<Overview, EngineError> {
        let local = self.local_time();
        let row = self.0.store.overview(local.clone()).await?;
        let mut overview = Overview {
            counts: row.counts,
            lanes: row.lanes,
            batches: row.batches,
            consumer: self.place(),
            circuits: row.circuits,
            answer: None,
            budget: row.budget,
            storage_problem: self.trouble(),
            finished_per_minute: row.finished_per_minute,
            key: self.key_status(),
            model_notice: self.notice_of_settings().await?,
            uploads: row.uploads,
        };
        for lane in &mut overview.lanes {
            lane.answer = answer::sentence(lane, &overview.circuits, local.now);
        }
        overview.answer = answer::answer(&overview, local.now);
        Ok(overview)
    }

    /// Returns what should be known of the end of the model that new jobs ask for.
    async fn notice_of_settings(&self) -> Result<Option<ModelNotice>, EngineError> {
        let settings = self.0.store.settings().await?;
        Ok(match settings.provider {
            Provider::Claude => self.model_notice(&settings.model),
            Provider::Offline => None,
        })
    }

    /// Returns what the person's calendar shows now.
    pub(super) fn local_time(&self) -> LocalTime {
        LocalTime::at(self.0.config.clock.now(), &self.0.config.time_zone)
    }

    fn trouble(&self) -> Option<Problem> {
        self.0
            .trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn list_context(&self) -> ListContext {
        ListContext {
            local: self.local_time(),
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
        let page = self
            .0
            .store
            .jobs(filter, after, limit, self.list_context())
            .await?;
        Ok(JobPage {
            jobs: missing::marked(page.jobs).await,
            ..page
        })
    }

    /// Returns at most `limit` of the jobs that match, from `offset` on in an order: any place of a long list is read
    /// as quickly as its beginning.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn job_rows(
        &self,
        filter: JobFilter,
        order: JobOrder,
        offset: u64,
        limit: u32,
    ) -> Result<JobRows, EngineError> {
        let limit = limit.clamp(1, LARGEST_PAGE);
        let rows = self
            .0
            .store
            .job_rows(filter, order, offset, limit, self.list_context())
            .await?;
        Ok(JobRows {
            jobs: missing::marked(rows.jobs).await,
            ..rows
        })
    }

    /// Returns the ids of at most `limit` (100,000 at most) of the jobs that match, from `offset` on in an order: what
    /// lies between two rows of a list that is not read as a whole.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn job_ids(
        &self,
        filter: JobFilter,
        order: JobOrder,
        offset: u64,
        limit: u32,
    ) -> Result<Vec<JobId>, EngineError> {
        let limit = limit.min(LONGEST_STRETCH);
        self.0.store.job_ids(filter, order, offset, limit).await
    }

    /// Returns a job with everything about it, its result's text included.
    ///
    /// # Errors
    /// [`EngineError::NotFound`].
    pub async fn job(&self, job_id: JobId) -> Result<JobDetail, EngineError> {
        let record = self.0.store.job(job_id, self.list_context()).await?;
        let mut rows = record.results.into_iter();
        let newest = rows.next();
        let older = rows
            .map(|row| OlderResult {
                generation: row.generation,
                model: row.model,
                template: row.template.unwrap_or_default(),
                path: self.0.library.path(&row.key).to_string_lossy().into_owned(),
                created_at: row.created_at,
            })
            .collect();
        let result = match newest {
            None => None,
            Some(row) => {
                let text = self.0.library.read(&row.key).await;
                Some(ResultView {
                    // A vanished file is said where its text would be; the job stays as it is.
                    markdown: text.map_or_else(|reason| reason, |text| shown(row.format, &text)),
                    format: row.format,
                    generation: row.generation,
                    provider: row.provider,
                    model: row.model,
                    template: row.template.unwrap_or_default(),
                    stop_reason: row.stop_reason,
                    sha256: row.sha256,
                    bytes: row.bytes,
                    path: self.0.library.path(&row.key).to_string_lossy().into_owned(),
                    copy_path: row.copy_path,
                    copy_error: row.copy_error,
                    copy_retry_at: row.copy_retry_at,
                    upload: row.upload,
                    reused_from: row.reused_from,
                    older,
                    created_at: row.created_at,
                })
            }
        };
        let job = missing::marked(vec![record.job.clone()])
            .await
            .pop()
            .unwrap_or(record.job);
        Ok(JobDetail {
            job,
            prompt: record.prompt,
            variables: record.variables,
            document: record.document,
            attempts: record.attempts,
            parts: record.parts,
            sends: record.sends,
            remote: record.remote,
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

    /// Says whether a path is one that a front may open: a job's source, a result or its copy, a file that a
    /// batch left or that was exported, or the folder that copies go to.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn knows_path(&self, path: &Path) -> Result<bool, EngineError> {
        let results = self.0.config.data_directory.join("results");
        let in_library = path.parent() == Some(results.as_path());
        Ok(in_library
            || path == self.0.config.data_directory
            || self.was_exported(path)
            || self.is_output_folder(path).await?
            || self
                .0
                .store
                .knows_path(path.to_string_lossy().into_owned())
                .await?)
    }

    pub(super) fn jobs_changed(&self, job_ids: Vec<JobId>) -> u64 {
        let changed = job_ids.len() as u64;
        if changed > 0 {
            self.0.wake.notify_one();
            self.emit(EngineEvent::JobsChanged { job_ids });
        }
        changed
    }

    pub(super) fn everything_changed(&self) {
        self.0.wake.notify_one();
        self.emit(EngineEvent::JobsChanged {
            job_ids: Vec::new(),
        });
        self.emit(EngineEvent::OverviewChanged);
    }
}

/// Returns a stored result as Markdown.
fn shown(format: ResultFormat, text: &str) -> String {
    match format {
        ResultFormat::Markdown => without_origin(text).to_owned(),
        ResultFormat::Json => crate::templates::as_markdown(text),
    }
}
