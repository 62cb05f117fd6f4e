//! Batches, and what became of them.

use std::path::Path;

use super::Engine;
use crate::error::EngineError;
use crate::model::{
    BatchId, BatchReport, BatchView, CopiesTo, JobFilter, JobsShown, NextStep, RetryChanges,
    Selection,
};
use crate::store::StepRow;

/// Most batches of a page.
const LARGEST_PAGE: u32 = 500;

impl Engine {
    /// Returns at most `limit` batches that were added before `after`, newest first.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn batches(
        &self,
        after: Option<BatchId>,
        limit: u32,
    ) -> Result<Vec<BatchView>, EngineError> {
        let limit = limit.clamp(1, LARGEST_PAGE);
        self.0.store.batches(after, limit).await
    }

    /// Returns the one batch whose id begins or ends with `part`, or else whose name is `part`.
    ///
    /// # Errors
    /// [`EngineError::NotFound`], or [`EngineError::BadInput`] when several are.
    pub async fn batch_named(&self, part: &str) -> Result<BatchId, EngineError> {
        let mut found = if part.is_empty() {
            Vec::new()
        } else {
            self.0.store.batches_named(part.to_owned()).await?
        };
        match (found.pop(), found.is_empty()) {
            (Some(batch_id), true) => Ok(batch_id),
            (None, _) => Err(unknown(part)),
            _ => Err(EngineError::bad_input(
                format!("Several batches are named {part}, or have it in their ids."),
                "Give more of the id.",
            )),
        }
    }

    /// Returns what became of a batch, and what to do next.
    ///
    /// # Errors
    /// [`EngineError::NotFound`].
    pub async fn batch_report(&self, batch_id: BatchId) -> Result<BatchReport, EngineError> {
        let row = self
            .0
            .store
            .batch_report(batch_id.clone())
            .await?
            .ok_or_else(|| unknown(batch_id.as_str()))?;
        let mut next_steps = Vec::with_capacity(row.steps.len());
        for step in row.steps {
            next_steps.push(self.next_step(&batch_id, step).await?);
        }
        let settings = self.0.store.settings().await?;
        let folder = match settings.copies_to {
            CopiesTo::Nowhere => None,
            CopiesTo::BesidePdf => row.folder,
            CopiesTo::Folder => settings.output_folder,
        };
        Ok(BatchReport {
            batch: row.batch,
            template: row.template,
            model: row.model,
            started_at: row.started_at,
            ended_at: row.ended_at,
            pages: row.pages,
            expected_micros: row.expected_micros,
            at_worst_micros: row.at_worst_micros,
            input_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            reused: row.reused,
            without_result: row.without_result,
            wasted_micros: row.wasted_micros,
            attempts: row.attempts,
            retries: row.retries,
            typical_waited_ms: row.typical_waited_ms,
            typical_ran_ms: row.typical_ran_ms,
            slow_ran_ms: row.slow_ran_ms,
            slowest: row.slowest,
            dearest: row.dearest,
            next_steps,
            files: row.files,
            files_error: row.files_error,
            folder,
        })
    }

    /// Says what a person can do about jobs of one cause, and what running them again can cost.
    async fn next_step(&self, batch_id: &BatchId, step: StepRow) -> Result<NextStep, EngineError> {
        let filter = JobFilter {
            shown: if step.review {
                JobsShown::NeedsReview
            } else {
                JobsShown::DeadLetters
            },
            batch_id: Some(batch_id.clone()),
            cause: Some(step.cause),
            ..JobFilter::default()
        };
        let plan = self
            .plan_retry(Selection::Matching { filter }, RetryChanges::default())
            .await?;
        Ok(NextStep {
            cause: step.cause,
            review: step.review,
            jobs: step.jobs,
            hint: step.cause.hint().to_owned(),
            fix: step.cause.fix(),
            at_worst_micros: plan.at_worst_micros,
        })
    }

    /// Says whether a path is the folder that copies go to.
    pub(super) async fn is_output_folder(&self, path: &Path) -> Result<bool, EngineError> {
        let settings = self.0.store.settings().await?;
        Ok(settings
            .output_folder
            .is_some_and(|folder| Path::new(&folder) == path))
    }
}

fn unknown(name: &str) -> EngineError {
    EngineError::NotFound {
        what: "batch",
        name: name.to_owned(),
    }
}
