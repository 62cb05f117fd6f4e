//! Lanes, batches and circuits: what holds jobs back, and lets them go on.

use gistmill_engine::model::{
    Affected, BatchId, LaneSettings, PilotReport, Provider, QueueName, RetryChanges,
};

use super::{Answer, Opened};

#[tauri::command]
pub(crate) async fn pause_lane(engine: Opened<'_>, queue: QueueName, paused: bool) -> Answer<()> {
    engine
        .pause_lane(queue, paused)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn save_lane(
    engine: Opened<'_>,
    queue: QueueName,
    settings: LaneSettings,
) -> Answer<()> {
    engine
        .save_lane(queue, settings)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn pause_batch(engine: Opened<'_>, batch_id: BatchId, paused: bool) -> Answer<()> {
    engine
        .pause_batch(batch_id, paused)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn set_batch_cap(
    engine: Opened<'_>,
    batch_id: BatchId,
    cap_micros: Option<i64>,
) -> Answer<()> {
    engine
        .set_batch_cap(batch_id, cap_micros)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn pilot(
    engine: Opened<'_>,
    batch_id: BatchId,
    changes: RetryChanges,
) -> Answer<PilotReport> {
    engine
        .pilot(batch_id, changes)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn release_pilot(
    engine: Opened<'_>,
    batch_id: BatchId,
    changes: RetryChanges,
) -> Answer<Affected> {
    engine
        .release_pilot(batch_id, changes)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn cancel_behind_pilot(engine: Opened<'_>, batch_id: BatchId) -> Answer<Affected> {
    engine
        .cancel_behind_pilot(batch_id)
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
