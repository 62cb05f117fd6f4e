//! From a started program to a window over an open engine, or to a dialog that says why not.

use std::sync::Arc;

use gistmill_engine::Engine;
use gistmill_engine::model::{Problem, ProblemCode};
use tauri::webview::NewWindowResponse;
use tauri::{AppHandle, Manager as _, Runtime, WebviewWindowBuilder};
use tauri_plugin_dialog::{DialogExt as _, MessageDialogKind};

use crate::notify::DesktopNotifications;
use crate::{MAIN_WINDOW, events, shutdown};

/// Opens the engine, hands it to the commands and shows the window.
pub(crate) fn start<R: Runtime>(app: &AppHandle<R>) {
    // The window waits for the engine: a page without one could only show that it has none.
    let shown = tauri::async_runtime::block_on(open_engine(app)).and_then(|engine| {
        app.manage(engine);
        open_window(app).map_err(|error| window_problem(&error))
    });
    if let Err(problem) = shown {
        report(app, &problem);
    }
}

async fn open_engine<R: Runtime>(app: &AppHandle<R>) -> Result<Engine, Problem> {
    shutdown::on_signal(app.clone());
    let mut config = gistmill_host::engine_config(None)?;
    config.notifications = Some(Arc::new(DesktopNotifications));
    let engine = Engine::open(config)
        .await
        .map_err(|error| error.problem())?;
    tauri::async_runtime::spawn(events::forward(app.clone(), engine.subscribe()));
    // Another program may be at work on the same jobs; this one takes over when it ends.
    engine
        .start_consumer(true)
        .await
        .map_err(|error| error.problem())?;
    Ok(engine)
}

/// The configured window, which is not created by itself: it must not show before there is an engine.
fn open_window<R: Runtime>(app: &AppHandle<R>) -> tauri::Result<()> {
    let config = app.config();
    let Some(window) = config
        .app
        .windows
        .iter()
        .find(|window| window.label == MAIN_WINDOW)
    else {
        return Err(tauri::Error::WindowNotFound);
    };
    WebviewWindowBuilder::from_config(app, window)?
        // Summaries hold links that a model wrote. None may lead the window away; the interface
        // opens those that a person confirmed through `open_url`.
        .on_navigation(|address| {
            address.scheme() == "tauri" || address.host_str() == Some("tauri.localhost")
        })
        .on_new_window(|_, _| NewWindowResponse::Deny)
        .build()?;
    Ok(())
}

fn window_problem(error: &tauri::Error) -> Problem {
    Problem {
        code: ProblemCode::Internal,
        message: format!("The window could not be opened: {error}."),
        hint: "Your jobs are safe. Start Gistmill again, or use the command line: gistmill status"
            .to_owned(),
    }
}

/// Says what happened and what to do, then ends the program.
fn report<R: Runtime>(app: &AppHandle<R>, problem: &Problem) {
    tracing::error!(code = ?problem.code, "{} {}", problem.message, problem.hint);
    let handle = app.clone();
    app.dialog()
        .message(format!("{}\n\n{}", problem.message, problem.hint))
        .title("Gistmill can't start")
        .kind(MessageDialogKind::Error)
        .show(move |_| handle.exit(1));
}
