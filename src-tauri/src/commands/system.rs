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

/// Lets a person choose a file of certificates; empty when the dialog was closed.
#[tauri::command]
pub(crate) async fn choose_certificates<R: Runtime>(app: AppHandle<R>) -> Answer<Vec<PathBuf>> {
    let dialog = app.dialog().file();
    choose(
        dialog.add_filter("PEM", &["pem", "crt", "cer"]),
        |dialog, answer| {
            dialog.pick_file(move |chosen| answer(chosen.into_iter().collect()));
        },
    )
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

/// Lets a person say where a file is saved. Returns where, and whether a file that is there may be replaced:
/// the dialog asked about the name that it gave. `None` when the dialog was closed.
pub(super) async fn choose_target<R: Runtime>(
    app: &AppHandle<R>,
    name: &str,
    kind: &str,
    ending: &str,
) -> Answer<Option<(PathBuf, bool)>> {
    let dialog = app
        .dialog()
        .file()
        .set_file_name(suggested(name, ending))
        .add_filter(kind, &[ending]);
    let chosen = choose(dialog, |dialog, answer| {
        dialog.save_file(move |chosen| answer(chosen.into_iter().collect()));
    })
    .await?;
    Ok(chosen
        .into_iter()
        .next()
        .map(|path| with_ending(path, ending)))
}

/// Returns a name that no system takes for a folder, with its ending.
fn suggested(name: &str, ending: &str) -> String {
    let name: String = name
        .chars()
        .map(|one| match one {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '-',
            one if one.is_control() => '-',
            one => one,
        })
        .take(100)
        .collect();
    let name = name.trim().trim_start_matches('.');
    let name = name.strip_suffix(&format!(".{ending}")).unwrap_or(name);
    let name = if name.is_empty() { "Gistmill" } else { name };
    format!("{name}.{ending}")
}

/// Gives a path its ending, which not every dialog does. Nobody was asked about a file of that name then.
fn with_ending(path: PathBuf, ending: &str) -> (PathBuf, bool) {
    let has_ending = path
        .extension()
        .is_some_and(|given| given.eq_ignore_ascii_case(ending));
    if has_ending {
        return (path, true);
    }
    let mut name = path.into_os_string();
    name.push(".");
    name.push(ending);
    (PathBuf::from(name), false)
}

/// Shows a dialog and waits for it without holding a thread.
pub(super) async fn choose<R: Runtime>(
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
    use std::path::PathBuf;

    use super::{is_https, suggested, with_ending};

    #[test]
    fn a_name_is_no_folder_and_gets_its_ending_once() {
        assert_eq!(suggested("Q1/Q2: a", "csv"), "Q1-Q2- a.csv");
        assert_eq!(suggested("報告.csv", "csv"), "報告.csv");
        assert_eq!(suggested("../..", "md"), "-...md");
        assert_eq!(suggested(" ", "md"), "Gistmill.md");
    }

    #[test]
    fn only_what_the_dialog_asked_about_is_replaced() {
        assert_eq!(
            with_ending(PathBuf::from("/out/a.CSV"), "csv"),
            (PathBuf::from("/out/a.CSV"), true)
        );
        assert_eq!(
            with_ending(PathBuf::from("/out/v1.2"), "csv"),
            (PathBuf::from("/out/v1.2.csv"), false)
        );
    }

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
