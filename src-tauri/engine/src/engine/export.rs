//! Results as files for other programs.

use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use super::Engine;
use crate::error::EngineError;
use crate::export::{self, Wanted};
use crate::model::{BatchId, ExportRequest, Exported, JobFilter, Selection};

/// Files that a front may still open after they were written.
const REMEMBERED: usize = 50;

impl Engine {
    /// Writes the selected jobs with their results to a file; one that is there is replaced only with
    /// `replace`.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] when the file is there or its folder can't be used, or that the database
    /// can't be read or the disk refuses. Nothing is left behind then, and a file that was there stays.
    pub async fn export(
        &self,
        request: ExportRequest,
        path: PathBuf,
        replace: bool,
    ) -> Result<Exported, EngineError> {
        let wanted = Wanted {
            title: self.title_of(&request.selection).await?,
            selection: request.selection,
            format: request.format,
            byte_order_mark: request.byte_order_mark,
            day: self.local_time().day,
        };
        let path = std::path::absolute(&path).unwrap_or(path);
        let written = export::write(
            &self.0.store,
            &self.0.library,
            wanted,
            path.clone(),
            replace,
        )
        .await?;
        let exported = Exported {
            path: path.to_string_lossy().into_owned(),
            jobs: written.jobs,
            results: written.results,
            unreadable: written.unreadable,
            bytes: written.bytes,
        };
        self.remember_exported(path);
        Ok(exported)
    }

    /// Returns the title of a document: the batch's name, where the selection is of one.
    async fn title_of(&self, selection: &Selection) -> Result<String, EngineError> {
        let batch_id: Option<&BatchId> = match selection {
            Selection::Matching {
                filter: JobFilter { batch_id, .. },
            } => batch_id.as_ref(),
            Selection::Jobs { .. } => None,
        };
        let batch = match batch_id {
            Some(batch_id) => self.0.store.batch(batch_id.clone()).await?,
            None => None,
        };
        Ok(batch.map_or_else(|| "Results".to_owned(), |batch| batch.name))
    }

    /// Remembers a file that was written where a person wanted it, so that a front may open it.
    pub(super) fn remember_exported(&self, path: PathBuf) {
        let mut exported = self
            .0
            .exported
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        exported.retain(|other| *other != path);
        exported.push_back(path);
        if exported.len() > REMEMBERED {
            exported.pop_front();
        }
    }

    /// Says whether a file was written by this engine where a person wanted it.
    pub(super) fn was_exported(&self, path: &Path) -> bool {
        self.0
            .exported
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .iter()
            .any(|exported| exported == path)
    }
}
