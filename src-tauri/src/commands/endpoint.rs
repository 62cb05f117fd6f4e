//! Where Claude is asked, and what is known of models there. Headers go in and never come back.

use gistmill_engine::model::{EndpointKind, EndpointView, ModelProfile};

use super::{Answer, Opened};

#[tauri::command]
pub(crate) async fn endpoint(engine: Opened<'_>) -> Answer<EndpointView> {
    engine.endpoint().await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn use_endpoint(
    engine: Opened<'_>,
    kind: EndpointKind,
    address: Option<String>,
    model: Option<String>,
) -> Answer<EndpointView> {
    engine
        .use_endpoint(kind, address, model)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn save_headers(
    engine: Opened<'_>,
    text: String,
    session_only: bool,
) -> Answer<EndpointView> {
    engine
        .save_headers(text, session_only)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn models_told(engine: Opened<'_>) -> Answer<Vec<ModelProfile>> {
    Ok(engine.models_told())
}

#[tauri::command]
pub(crate) async fn model_profiles(
    engine: Opened<'_>,
    models: Vec<String>,
) -> Answer<Vec<ModelProfile>> {
    let known = models.iter().map(|model| engine.model_profile(model));
    Ok(known.collect())
}
