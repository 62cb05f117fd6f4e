//! Settings, prices and secrets. A secret goes in and never comes back.

use gistmill_engine::model::{
    About, KeyStatus, KeyTest, ModelPrice, PriceTable, Settings, WebhookStatus,
};

use super::{Answer, Opened};

#[tauri::command]
pub(crate) async fn about(engine: Opened<'_>) -> Answer<About> {
    engine.about().await.map_err(|error| error.problem())
}

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

#[tauri::command]
pub(crate) async fn prices(engine: Opened<'_>) -> Answer<PriceTable> {
    engine.prices().await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn save_price(engine: Opened<'_>, price: ModelPrice) -> Answer<PriceTable> {
    engine
        .save_price(price)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn remove_price(engine: Opened<'_>, model: String) -> Answer<PriceTable> {
    engine
        .remove_price(model)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn webhook_status(engine: Opened<'_>) -> Answer<WebhookStatus> {
    engine
        .webhook_status()
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn save_webhook_secret(
    engine: Opened<'_>,
    secret: Option<String>,
) -> Answer<WebhookStatus> {
    engine
        .save_webhook_secret(secret)
        .await
        .map_err(|error| error.problem())
}
