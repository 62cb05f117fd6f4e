//! What the window may ask for. Each command parses, asks the engine and maps the error; names and
//! arguments are those of `ui/src/backend/tauri.ts`, and a test compares the two.

mod bucket;
mod endpoint;
mod intake;
mod jobs;
mod lanes;
mod reading;
mod results;
mod settings;
mod system;
mod templates;

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
        jobs::job_rows,
        jobs::job_ids,
        jobs::job,
        jobs::dead_letters,
        jobs::plan_retry,
        jobs::forecast_retry,
        jobs::retry,
        jobs::plan_action,
        jobs::apply_action,
        jobs::move_jobs,
        jobs::unlock_jobs,
        jobs::page_picture,
        reading::reading,
        reading::open_document,
        reading::document_bytes,
        reading::close_document,
        lanes::pause_lane,
        lanes::save_lane,
        lanes::pause_batch,
        lanes::set_batch_cap,
        lanes::pilot,
        lanes::release_pilot,
        lanes::cancel_behind_pilot,
        lanes::close_circuit,
        templates::templates,
        templates::create_template,
        templates::edit_template,
        templates::duplicate_template,
        templates::remove_template,
        templates::preview_template,
        templates::import_template,
        templates::export_template,
        results::export_jobs,
        results::batch_report,
        intake::scan,
        intake::handed_files,
        intake::cancel_scan,
        intake::unlock_scan,
        intake::plan_submission,
        intake::forecast_submission,
        intake::count_tokens,
        intake::cancel_counting,
        intake::submit_scan,
        intake::submit_prompt,
        settings::about,
        settings::settings,
        settings::save_settings,
        settings::save_key,
        settings::remove_key,
        settings::test_key,
        settings::prices,
        settings::save_price,
        settings::remove_price,
        settings::webhook_status,
        settings::save_webhook_secret,
        endpoint::endpoint,
        endpoint::use_endpoint,
        endpoint::save_headers,
        endpoint::models_told,
        endpoint::model_profiles,
        bucket::bucket_status,
        bucket::save_bucket_secret,
        bucket::test_bucket,
        bucket::read_bucket_address,
        bucket::upload_missing,
        bucket::retry_uploads,
        bucket::retry_copies,
        system::choose_files,
        system::choose_folder,
        system::choose_certificates,
        system::open_path,
        system::reveal_path,
        system::open_url,
    ])
}
