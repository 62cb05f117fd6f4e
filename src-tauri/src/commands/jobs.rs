//! The list, its jobs, and what is done to them, one or many.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use gistmill_engine::model::{
    Affected, BulkAction, DeadLetterGroup, Forecast, JobDetail, JobFilter, JobId, JobOrder,
    JobPage, JobRows, Overview, Place, RetryChanges, RetryPlan, Selection,
};

use super::{Answer, Opened};

#[tauri::command]
pub(crate) async fn overview(engine: Opened<'_>) -> Answer<Overview> {
    engine.overview().await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn jobs(
    engine: Opened<'_>,
    filter: JobFilter,
    after: Option<i64>,
    limit: u32,
) -> Answer<JobPage> {
    engine
        .jobs(filter, after, limit)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn job_rows(
    engine: Opened<'_>,
    filter: JobFilter,
    order: JobOrder,
    offset: u64,
    limit: u32,
) -> Answer<JobRows> {
    engine
        .job_rows(filter, order, offset, limit)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn job_ids(
    engine: Opened<'_>,
    filter: JobFilter,
    order: JobOrder,
    offset: u64,
    limit: u32,
) -> Answer<Vec<JobId>> {
    engine
        .job_ids(filter, order, offset, limit)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn job(engine: Opened<'_>, job_id: JobId) -> Answer<JobDetail> {
    engine.job(job_id).await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn dead_letters(engine: Opened<'_>) -> Answer<Vec<DeadLetterGroup>> {
    engine.dead_letters().await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn plan_retry(
    engine: Opened<'_>,
    selection: Selection,
    changes: RetryChanges,
) -> Answer<RetryPlan> {
    engine
        .plan_retry(selection, changes)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn forecast_retry(
    engine: Opened<'_>,
    selection: Selection,
    changes: RetryChanges,
) -> Answer<Forecast> {
    engine
        .forecast_retry(selection, changes)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn retry(
    engine: Opened<'_>,
    selection: Selection,
    changes: RetryChanges,
) -> Answer<Affected> {
    engine
        .retry(selection, changes)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn plan_action(
    engine: Opened<'_>,
    selection: Selection,
    action: BulkAction,
) -> Answer<Affected> {
    engine
        .plan_action(selection, action)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn apply_action(
    engine: Opened<'_>,
    selection: Selection,
    action: BulkAction,
) -> Answer<Affected> {
    engine
        .apply_action(selection, action)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn move_jobs(
    engine: Opened<'_>,
    job_ids: Vec<JobId>,
    place: Place,
) -> Answer<u64> {
    engine
        .move_jobs(job_ids, place)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn unlock_jobs(
    engine: Opened<'_>,
    selection: Selection,
    password: String,
) -> Answer<Affected> {
    engine
        .unlock_jobs(selection, password.into())
        .await
        .map_err(|error| error.problem())
}

/// Answers a `data:` address, which is all that the window's policy lets an image come from.
#[tauri::command]
pub(crate) async fn page_picture(
    engine: Opened<'_>,
    job_id: JobId,
    page: u32,
) -> Answer<Option<String>> {
    let picture = engine.page_picture(job_id, page).await;
    picture
        .map(|png| png.map(|png| format!("data:image/png;base64,{}", STANDARD.encode(png))))
        .map_err(|error| error.problem())
}
