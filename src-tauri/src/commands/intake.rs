//! From files and prompts to jobs.

use std::path::PathBuf;

use gistmill_engine::model::{
    Forecast, ScanId, ScanReport, Submission, SubmissionPlan, Submitted, TokenCounting,
};

use tauri::State;

use super::{Answer, Opened};
use crate::handed::Handed;

#[tauri::command]
pub(crate) async fn scan(engine: Opened<'_>, paths: Vec<PathBuf>) -> Answer<ScanReport> {
    engine.scan(paths).await.map_err(|error| error.problem())
}

/// Returns files that were dropped on the program's icon or opened with it, once.
#[tauri::command]
pub(crate) async fn handed_files(handed: State<'_, Handed>) -> Answer<Vec<PathBuf>> {
    Ok(handed.take())
}

#[tauri::command]
pub(crate) async fn cancel_scan(engine: Opened<'_>) -> Answer<()> {
    engine.cancel_scan();
    Ok(())
}

#[tauri::command]
pub(crate) async fn unlock_scan(
    engine: Opened<'_>,
    scan_id: ScanId,
    password: String,
) -> Answer<ScanReport> {
    engine
        .unlock_scan(scan_id, password.into())
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn plan_submission(
    engine: Opened<'_>,
    scan_id: ScanId,
    submission: Submission,
) -> Answer<SubmissionPlan> {
    engine
        .plan_submission(scan_id, submission)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn forecast_submission(
    engine: Opened<'_>,
    scan_id: ScanId,
    submission: Submission,
) -> Answer<Forecast> {
    engine
        .forecast_submission(scan_id, submission)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn count_tokens(
    engine: Opened<'_>,
    scan_id: ScanId,
    submission: Submission,
) -> Answer<TokenCounting> {
    engine
        .count_tokens(scan_id, submission)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn cancel_counting(engine: Opened<'_>) -> Answer<()> {
    engine.cancel_counting();
    Ok(())
}

#[tauri::command]
pub(crate) async fn submit_scan(
    engine: Opened<'_>,
    scan_id: ScanId,
    submission: Submission,
) -> Answer<Submitted> {
    engine
        .submit_scan(scan_id, submission)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn submit_prompt(
    engine: Opened<'_>,
    prompt: String,
    submission: Submission,
) -> Answer<Submitted> {
    engine
        .submit_prompt(prompt, submission)
        .await
        .map_err(|error| error.problem())
}
