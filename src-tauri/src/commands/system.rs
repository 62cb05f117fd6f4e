//! The system's dialogs, file manager and browser, for the window that has none of them itself.

use std::path::PathBuf;

use gistmill_engine::model::{Problem, ProblemCode};
use tauri::{AppHandle, Runtime};
use tauri_plugin_dialog::{DialogExt as _, FileDialogBuilder, FilePath};
use tokio::sync::oneshot;

use super::{Answer, Opened};

/// Lets a person choose PDFs; empty when the dialog was closed.
#[tauri::command]
pub(crate) async fn choose_files<R: Runtime>(app: AppHandle<R>) -> Answer<Vec<PathBuf>> {
    choose(
        app.dialog().file().add_filter("PDF", &["pdf", "PDF"]),
        |dialog, answer| {
            dialog.pick_files(move |chosen| answer(chosen.unwrap_or_default()));
        },
    )
    .await
}

/// Lets a person choose folders; empty when the dialog was closed.
#[tauri::command]
pub(crate) async fn choose_folder<R: Runtime>(app: AppHandle<R>) -> Answer<Vec<PathBuf>> {
    choose(app.dialog().file(), |dialog, answer| {
        dialog.pick_folders(move |chosen| answer(chosen.unwrap_or_default()));
    })
    .await
}

/// Opens a file in its usual program.
#[tauri::command]
pub(crate) async fn open_path(engine: Opened<'_>, path: PathBuf) -> Answer<()> {
    known(&engine, &path).await?;
    opened(move || tauri_plugin_opener::open_path(path, None::<&str>)).await
}

/// Shows a file in the file manager.
#[tauri::command]
pub(crate) async fn reveal_path(engine: Opened<'_>, path: PathBuf) -> Answer<()> {
    known(&engine, &path).await?;
    opened(move || tauri_plugin_opener::reveal_item_in_dir(path)).await
}

/// Opens an address in the browser.
#[tauri::command]
pub(crate) async fn open_url(url: String) -> Answer<()> {
    if !is_https(&url) {
        return Err(Problem {
            code: ProblemCode::BadInput,
            message: "Only addresses that begin with https:// are opened.".to_owned(),
            hint: "Copy the address and open it yourself if you trust it.".to_owned(),
        });
    }
    opened(move || tauri_plugin_opener::open_url(url, None::<&str>)).await
}

type Answering = Box<dyn FnOnce(Vec<FilePath>) + Send>;

/// Shows a dialog and waits for it without holding a thread.
async fn choose<R: Runtime>(
    dialog: FileDialogBuilder<R>,
    show: impl FnOnce(FileDialogBuilder<R>, Answering),
) -> Answer<Vec<PathBuf>> {
    let (sender, receiver) = oneshot::channel();
    show(
        dialog,
        Box::new(move |chosen| {
            // The window may have been closed meanwhile.
            let _ = sender.send(chosen);
        }),
    );
    let chosen = receiver.await.unwrap_or_default();
    Ok(chosen
        .into_iter()
        .filter_map(|path| path.into_path().ok())
        .collect())
}

/// Refuses paths that are no job's: the window shows text that a model wrote, and whatever speaks
/// in its name must not start programs or look around in the file system.
async fn known(engine: &Opened<'_>, path: &std::path::Path) -> Answer<()> {
    if engine
        .knows_path(path)
        .await
        .map_err(|error| error.problem())?
    {
        return Ok(());
    }
    Err(Problem {
        code: ProblemCode::NotFound,
        message: "This file belongs to no job, so it was not opened.".to_owned(),
        hint: "Open it in your file manager.".to_owned(),
    })
}

/// Runs what opens something on a thread that may block: it talks to the desktop.
async fn opened(
    open: impl FnOnce() -> Result<(), tauri_plugin_opener::Error> + Send + 'static,
) -> Answer<()> {
    let failed = |reason: String| Problem {
        code: ProblemCode::NotFound,
        message: format!("The system could not open it: {reason}."),
        hint: "Check that it still exists and that a program is set for its kind.".to_owned(),
    };
    match tauri::async_runtime::spawn_blocking(open).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(failed(error.to_string())),
        Err(error) => Err(failed(error.to_string())),
    }
}

fn is_https(address: &str) -> bool {
    tauri::Url::parse(address)
        .is_ok_and(|address| address.scheme() == "https" && address.host_str().is_some())
}

#[cfg(test)]
mod tests {
    use super::is_https;

    #[test]
    fn only_https_addresses_are_opened() {
        assert!(is_https("https://console.anthropic.com/settings/keys"));
        for address in [
            "http://example.com",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "smb://host/share",
            "--help",
            "https://",
            "",
        ] {
            assert!(!is_https(address), "{address}");
        }
    }
}
