//! What the window may ask for. Each command parses, asks the engine and maps the error; names and
//! arguments are those of `ui/src/backend/tauri.ts`, and a test compares the two.

mod intake;
mod jobs;
mod settings;
mod system;

use gistmill_engine::Engine;
use gistmill_engine::model::Problem;
use tauri::{Builder, Runtime, State};

/// The engine that [`crate::startup`] opened.
type Opened<'a> = State<'a, Engine>;

/// What a command answers: an error reaches the window as a [`Problem`].
type Answer<T> = Result<T, Problem>;

/// Registers every command.
pub(crate) fn register<R: Runtime>(builder: Builder<R>) -> Builder<R> {
    builder.invoke_handler(tauri::generate_handler![
        jobs::overview,
        jobs::jobs,
        jobs::job,
        jobs::retry,
        jobs::retry_matching,
        jobs::run_now,
        jobs::cancel_jobs,
        jobs::pause_lane,
        jobs::close_circuit,
        intake::templates,
        intake::scan,
        intake::cancel_scan,
        intake::submit_scan,
        intake::submit_prompt,
        settings::settings,
        settings::save_settings,
        settings::save_key,
        settings::remove_key,
        settings::test_key,
        system::choose_files,
        system::choose_folder,
        system::open_path,
        system::reveal_path,
        system::open_url,
    ])
}
