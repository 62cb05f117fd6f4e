//! A result beside its PDF.

use gistmill_engine::model::{DocumentFile, JobId, Reading};
use tauri::ipc::Response;

use super::{Answer, Opened};

#[tauri::command]
pub(crate) async fn reading(engine: Opened<'_>, job_id: JobId) -> Answer<Reading> {
    engine
        .reading(job_id)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn open_document(engine: Opened<'_>, job_id: JobId) -> Answer<DocumentFile> {
    engine
        .open_document(job_id)
        .await
        .map_err(|error| error.problem())
}

/// Answers the bytes as they are: as JSON a piece of a file would be four times as long.
#[tauri::command]
pub(crate) async fn document_bytes(
    engine: Opened<'_>,
    job_id: JobId,
    offset: u64,
    length: u32,
) -> Answer<Response> {
    engine
        .document_bytes(job_id, offset, length)
        .await
        .map(Response::new)
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn close_document(engine: Opened<'_>, job_id: JobId) -> Answer<()> {
    engine.close_document(&job_id);
    Ok(())
}
