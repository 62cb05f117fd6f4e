//! What the shell reads from outside for the engine, which reads nothing by itself.

use std::path::PathBuf;
use std::sync::Arc;

use gistmill_engine::EngineConfig;
use gistmill_engine::model::{Problem, ProblemCode};
use gistmill_engine::pdf::PdfWorkerConfig;
use tracing_subscriber::EnvFilter;

use crate::PDF_WORKER;
use crate::notify::DesktopNotifications;

/// Writes the log to standard error; `GISTMILL_LOG` chooses how much of it.
pub(crate) fn start_logging() {
    let filter = EnvFilter::try_from_env("GISTMILL_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .init();
}

/// Returns what the engine is opened with.
pub(crate) fn engine_config() -> Result<EngineConfig, Problem> {
    let mut config = EngineConfig::new(&data_dir()?, pdf_worker()?);
    config.environment_base_url = variable("ANTHROPIC_BASE_URL");
    config.environment_key = variable("ANTHROPIC_API_KEY").map(Into::into);
    config.notifications = Some(Arc::new(DesktopNotifications));
    config.time_zone = jiff::tz::TimeZone::system();
    Ok(config)
}

/// This program reads PDFs too, when it is started in another way.
fn pdf_worker() -> Result<PdfWorkerConfig, Problem> {
    let program = std::env::current_exe().map_err(|error| Problem {
        code: ProblemCode::Internal,
        message: format!("Gistmill can't find its own program file: {error}."),
        hint: "Start it from where it was installed; it may have been moved or updated meanwhile."
            .to_owned(),
    })?;
    let mut worker = PdfWorkerConfig::new(program);
    worker.args = vec![PDF_WORKER.into()];
    Ok(worker)
}

/// Returns the folder of the database and the results: `GISTMILL_DATA_DIR`, or the system's place
/// for an application's data.
fn data_dir() -> Result<PathBuf, Problem> {
    if let Some(folder) = std::env::var_os("GISTMILL_DATA_DIR").filter(|folder| !folder.is_empty())
    {
        return Ok(PathBuf::from(folder));
    }
    directories::ProjectDirs::from("org", "gistmill", "Gistmill")
        .map(|folders| folders.data_dir().to_owned())
        .ok_or_else(|| Problem {
            code: ProblemCode::Storage,
            message: "Your home folder can't be found, so there is no place for Gistmill's database."
                .to_owned(),
            hint: "Set GISTMILL_DATA_DIR to a folder that you may write to, then start Gistmill again."
                .to_owned(),
        })
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}
