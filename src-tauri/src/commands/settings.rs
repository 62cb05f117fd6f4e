//! Settings and the API key. The key goes in and never comes back.

use gistmill_engine::model::{KeyStatus, KeyTest, Settings};

use super::{Answer, Opened};

#[tauri::command]
pub(crate) async fn settings(engine: Opened<'_>) -> Answer<Settings> {
    engine.settings().await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn save_settings(engine: Opened<'_>, settings: Settings) -> Answer<Settings> {
    engine
        .save_settings(settings)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn save_key(
    engine: Opened<'_>,
    key: String,
    session_only: bool,
) -> Answer<KeyStatus> {
    engine
        .save_key(key, session_only)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn remove_key(engine: Opened<'_>) -> Answer<KeyStatus> {
    engine.remove_key().await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn test_key(engine: Opened<'_>) -> Answer<KeyTest> {
    engine.test_key().await.map_err(|error| error.problem())
}
