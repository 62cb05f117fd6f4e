//! The list, its jobs and its lanes.

use gistmill_engine::model::{JobDetail, JobFilter, JobId, JobPage, Overview, Provider, QueueName};

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
pub(crate) async fn job(engine: Opened<'_>, job_id: JobId) -> Answer<JobDetail> {
    engine.job(job_id).await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn retry(engine: Opened<'_>, job_ids: Vec<JobId>) -> Answer<u64> {
    engine.retry(job_ids).await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn retry_matching(engine: Opened<'_>, filter: JobFilter) -> Answer<u64> {
    engine
        .retry_matching(filter)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn run_now(engine: Opened<'_>, job_ids: Vec<JobId>) -> Answer<u64> {
    engine
        .run_now(job_ids)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn cancel_jobs(engine: Opened<'_>, job_ids: Vec<JobId>) -> Answer<u64> {
    engine
        .cancel_jobs(job_ids)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn pause_lane(engine: Opened<'_>, queue: QueueName, paused: bool) -> Answer<()> {
    engine
        .pause_lane(queue, paused)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn close_circuit(engine: Opened<'_>, provider: Provider) -> Answer<()> {
    engine
        .close_circuit(provider)
        .await
        .map_err(|error| error.problem())
}
