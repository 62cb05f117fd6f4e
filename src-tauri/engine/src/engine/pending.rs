//! Stands in for functions that are being written, so that fronts compile. It goes away with them.

use std::path::PathBuf;

use super::Engine;
use crate::error::EngineError;
use crate::model::{
    BatchId, BatchReport, BatchView, ExportRequest, Exported, JobFilter, TemplateDraft,
    TemplatePreview, TemplateView, Variables,
};

fn pending<T>(what: &str) -> Result<T, EngineError> {
    Err(EngineError::Internal(format!("{what} is not there yet.")))
}

impl Engine {
    pub async fn create_template(&self, _: TemplateDraft) -> Result<TemplateView, EngineError> {
        pending("create_template")
    }

    pub async fn edit_template(
        &self,
        _: String,
        _: TemplateDraft,
    ) -> Result<TemplateView, EngineError> {
        pending("edit_template")
    }

    pub async fn duplicate_template(&self, _: String) -> Result<TemplateView, EngineError> {
        pending("duplicate_template")
    }

    pub async fn remove_template(&self, _: String) -> Result<(), EngineError> {
        pending("remove_template")
    }

    pub async fn preview_template(
        &self,
        _: TemplateDraft,
        _: Variables,
    ) -> Result<TemplatePreview, EngineError> {
        pending("preview_template")
    }

    pub async fn template_to_file(&self, _: String, _: PathBuf) -> Result<(), EngineError> {
        pending("template_to_file")
    }

    pub async fn template_from_file(&self, _: PathBuf) -> Result<TemplateView, EngineError> {
        pending("template_from_file")
    }

    pub async fn export(
        &self,
        _: ExportRequest,
        _: PathBuf,
        _: bool,
    ) -> Result<Exported, EngineError> {
        pending("export")
    }

    pub async fn batch_report(&self, _: BatchId) -> Result<BatchReport, EngineError> {
        pending("batch_report")
    }

    pub async fn batches(
        &self,
        after: Option<BatchId>,
        _: u32,
    ) -> Result<Vec<BatchView>, EngineError> {
        Ok(match after {
            None => self.overview().await?.batches,
            Some(_) => Vec::new(),
        })
    }

    // As the command line found batches so far.
    pub async fn batch_named(&self, part: &str) -> Result<BatchId, EngineError> {
        let latest = self.overview().await?.batches;
        let mut found = latest.into_iter().map(|batch| batch.batch_id).filter(|id| {
            !part.is_empty() && (id.as_str().starts_with(part) || id.as_str().ends_with(part))
        });
        match (found.next(), found.next()) {
            (Some(batch_id), None) => return Ok(batch_id),
            (Some(_), Some(_)) => {
                return Err(EngineError::bad_input(
                    format!("Several batches are called {part}."),
                    "Give more of the id.",
                ));
            }
            (None, _) => {}
        }
        let batch_id = BatchId(part.to_owned());
        let filter = JobFilter {
            batch_id: Some(batch_id.clone()),
            ..JobFilter::default()
        };
        if self.jobs(filter, None, 1).await?.total > 0 {
            return Ok(batch_id);
        }
        Err(EngineError::NotFound {
            what: "batch",
            name: part.to_owned(),
        })
    }
}
