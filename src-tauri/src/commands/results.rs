//! Results as files, and what became of batches.

use gistmill_engine::model::{BatchId, BatchReport, ExportRequest, Exported};
use tauri::{AppHandle, Runtime};

use super::system::choose_target;
use super::{Answer, Opened};

/// Lets a person say where an export is saved, and writes it; nothing when the dialog was closed.
#[tauri::command]
pub(crate) async fn export_jobs<R: Runtime>(
    app: AppHandle<R>,
    engine: Opened<'_>,
    request: ExportRequest,
    name: String,
) -> Answer<Option<Exported>> {
    let ending = request.format.ending();
    let Some((path, replace)) = choose_target(&app, &name, &ending.to_uppercase(), ending).await?
    else {
        return Ok(None);
    };
    engine
        .export(request, path, replace)
        .await
        .map(Some)
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn batch_report(engine: Opened<'_>, batch_id: BatchId) -> Answer<BatchReport> {
    engine
        .batch_report(batch_id)
        .await
        .map_err(|error| error.problem())
}
