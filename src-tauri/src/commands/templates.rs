//! Templates: what a person writes, gives away and gets.

use gistmill_engine::model::{TemplateDraft, TemplatePreview, TemplateView, Variables};
use tauri::{AppHandle, Runtime};
use tauri_plugin_dialog::DialogExt as _;

use super::system::{choose, choose_target};
use super::{Answer, Opened};

/// The ending of templates' files.
const ENDING: &str = "json";

#[tauri::command]
pub(crate) async fn templates(engine: Opened<'_>) -> Answer<Vec<TemplateView>> {
    engine.templates().await.map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn create_template(
    engine: Opened<'_>,
    draft: TemplateDraft,
) -> Answer<TemplateView> {
    engine
        .create_template(draft)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn edit_template(
    engine: Opened<'_>,
    template_id: String,
    draft: TemplateDraft,
) -> Answer<TemplateView> {
    engine
        .edit_template(&template_id, draft)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn duplicate_template(
    engine: Opened<'_>,
    template: String,
) -> Answer<TemplateView> {
    engine
        .duplicate_template(&template)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn remove_template(engine: Opened<'_>, template_id: String) -> Answer<()> {
    engine
        .remove_template(&template_id)
        .await
        .map_err(|error| error.problem())
}

#[tauri::command]
pub(crate) async fn preview_template(
    engine: Opened<'_>,
    draft: TemplateDraft,
    variables: Variables,
) -> Answer<TemplatePreview> {
    Ok(engine.preview_template(&draft, variables))
}

/// Lets a person choose a template's file and stores what it holds; nothing when the dialog was closed.
#[tauri::command]
pub(crate) async fn import_template<R: Runtime>(
    app: AppHandle<R>,
    engine: Opened<'_>,
) -> Answer<Option<TemplateView>> {
    let dialog = app.dialog().file().add_filter("Gistmill", &[ENDING]);
    let chosen = choose(dialog, |dialog, answer| {
        dialog.pick_file(move |chosen| answer(chosen.into_iter().collect()));
    })
    .await?;
    let Some(path) = chosen.into_iter().next() else {
        return Ok(None);
    };
    engine
        .template_from_file(path)
        .await
        .map(Some)
        .map_err(|error| error.problem())
}

/// Lets a person say where a template's file is saved. Returns where; nothing when the dialog was closed.
#[tauri::command]
pub(crate) async fn export_template<R: Runtime>(
    app: AppHandle<R>,
    engine: Opened<'_>,
    template: String,
) -> Answer<Option<String>> {
    let Some((path, replace)) = choose_target(&app, &template, "Gistmill", ENDING).await? else {
        return Ok(None);
    };
    engine
        .template_to_file(&template, path.clone(), replace)
        .await
        .map_err(|error| error.problem())?;
    Ok(Some(path.to_string_lossy().into_owned()))
}
