//! The desktop shell: a window over the engine, and nothing else.
//!
//! It knows Tauri and the desktop, which the engine does not, and it holds no SQL, no HTTP and no rule
//! of the product. [`configure`] is generic over the runtime, so that the tests run the very same
//! commands on the mock runtime of Tauri.

mod commands;
mod events;
mod handed;
#[cfg(target_os = "linux")]
mod linux;
mod notify;
mod shutdown;
mod startup;

use std::process::ExitCode;

use tauri::{Builder, Manager as _, RunEvent, Runtime, WindowEvent};

/// The window's label in `tauri.conf.json`.
const MAIN_WINDOW: &str = "main";

/// Starts the desktop program and runs it until the window is closed.
#[must_use]
pub fn run() -> ExitCode {
    #[cfg(target_os = "linux")]
    if let Err(failure) = linux::prepare() {
        return failure;
    }
    gistmill_host::start_logging("info");

    let app = configure(Builder::default())
        .setup(|app| {
            startup::start(app.handle());
            Ok(())
        })
        .on_window_event(|window, event| {
            if let WindowEvent::CloseRequested { api, .. } = event {
                api.prevent_close();
                shutdown::begin(window.app_handle());
            }
        })
        .build(tauri::generate_context!());
    let app = match app {
        Ok(app) => app,
        Err(error) => {
            tracing::error!(%error, "the window system could not be started");
            return ExitCode::FAILURE;
        }
    };
    let code = app.run_return(|app, event| {
        #[cfg(target_os = "macos")]
        if let RunEvent::Opened { urls } = &event {
            handed::hand_over(app, urls.iter().filter_map(|url| url.to_file_path().ok()));
        }
        // Asked by the system (a quit from the dock, the end of a session) rather than by us.
        if let RunEvent::ExitRequested {
            code: None, api, ..
        } = event
        {
            api.prevent_exit();
            shutdown::begin(app);
        }
    });
    u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Registers everything the window may ask for. The engine is handed over separately, as managed
/// state, because opening it can fail.
pub fn configure<R: Runtime>(builder: Builder<R>) -> Builder<R> {
    let builder = builder.manage(handed::Handed::at_start());
    commands::register(builder.plugin(tauri_plugin_dialog::init()))
}
