//! The way out: the engine gets time to end what runs and to release its leases, but not for ever.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gistmill_engine::Engine;
use tauri::{AppHandle, Manager as _, Runtime};

/// How long the engine may take; it has shorter deadlines of its own. Whatever still runs then is
/// recovered at the next start.
const DEADLINE: Duration = Duration::from_secs(15);

/// Set by the first call, since a person closes twice when nothing seems to happen.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Hides the window, shuts the engine down and ends the program. Returns at once.
pub(crate) fn begin<R: Runtime>(app: &AppHandle<R>) {
    if BEGUN.swap(true, Ordering::SeqCst) {
        return;
    }
    for window in app.webview_windows().values() {
        if let Err(error) = window.hide() {
            tracing::warn!(%error, "the window could not be hidden while the engine ends");
        }
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        if let Some(engine) = app.try_state::<Engine>()
            && tokio::time::timeout(DEADLINE, engine.shutdown())
                .await
                .is_err()
        {
            tracing::warn!("calls were still under way: they are recovered at the next start");
        }
        app.exit(0);
    });
}

/// Leaves the same way when the session ends or a terminal says stop. Needs a running runtime.
pub(crate) fn on_signal<R: Runtime>(app: AppHandle<R>) {
    tauri::async_runtime::spawn(async move {
        match stop_signal().await {
            Ok(()) => begin(&app),
            Err(error) => tracing::warn!(%error, "signals can't be heard"),
        }
    });
}

#[cfg(unix)]
async fn stop_signal() -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

#[cfg(not(unix))]
async fn stop_signal() -> std::io::Result<()> {
    tokio::signal::ctrl_c().await
}
