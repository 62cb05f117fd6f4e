//! What the window and the command line read from the machine for the engine, which reads nothing
//! itself: environment variables, the home folder, the time zone, the program's own place.

#[cfg(feature = "fault-points")]
mod fault_points;

use std::ffi::OsStr;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

use gistmill_engine::EngineConfig;
use gistmill_engine::model::{Problem, ProblemCode};
use gistmill_engine::pdf::PdfWorkerConfig;
use tracing_subscriber::EnvFilter;

/// What a process that reads PDFs gets of the environment: what the system needs to start it, and what says how much
/// it tells of a defect. Keys, tokens and passwords are not among it.
const WORKER_VARIABLES: [&str; 12] = [
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SystemRoot",
    "LD_LIBRARY_PATH",
    "DYLD_LIBRARY_PATH",
    "RUST_BACKTRACE",
    "LLVM_PROFILE_FILE",
];

/// The hidden argument that makes either program the child process which reads PDFs.
const PDF_WORKER: &str = "--pdf-worker";

/// Says whether this program was started to read PDFs: then it calls
/// [`worker_main`](gistmill_engine::pdf::worker_main) before anything else, and nothing after it.
#[must_use]
pub fn is_pdf_worker() -> bool {
    std::env::args_os().nth(1).as_deref() == Some(OsStr::new(PDF_WORKER))
}

/// Writes the log to standard error; `GISTMILL_LOG` chooses how much of it, else `usual` does.
pub fn start_logging(usual: &str) {
    let filter = EnvFilter::try_from_env("GISTMILL_LOG").unwrap_or_else(|_| EnvFilter::new(usual));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
}

/// Returns what the engine is opened with, in `data_directory` or else in the usual folder:
/// `GISTMILL_DATA_DIR`, or the system's place for an application's data.
///
/// # Errors
/// When there is no home folder, or the program can't find itself.
pub fn engine_config(data_directory: Option<&Path>) -> Result<EngineConfig, Problem> {
    let directory = match data_directory {
        Some(directory) => directory.to_owned(),
        None => usual_data_directory()?,
    };
    let mut config = EngineConfig::new(&directory, pdf_worker()?);
    config.environment_base_url = variable("ANTHROPIC_BASE_URL");
    config.environment_key = variable("ANTHROPIC_API_KEY").map(Into::into);
    config.environment_token = variable("ANTHROPIC_AUTH_TOKEN").map(Into::into);
    config.environment_headers = variable("ANTHROPIC_CUSTOM_HEADERS").map(Into::into);
    config.environment_bucket_secret = variable("GISTMILL_R2_SECRET").map(Into::into);
    config.environment_pdf_password = variable("GISTMILL_PDF_PASSWORD").map(Into::into);
    config.time_zone = jiff::tz::TimeZone::system();
    #[cfg(feature = "fault-points")]
    if let Some(wish) = variable(fault_points::VARIABLE) {
        config.fault = fault_points::hook(&wish)?;
    }
    #[cfg(feature = "fault-points")]
    if let Some(wish) = variable(fault_points::BATCH_PACE) {
        (config.batch_first_look, config.batch_settle_time) = fault_points::batch_pace(&wish)?;
    }
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
    worker.environment = WORKER_VARIABLES
        .iter()
        .filter_map(|name| Some((name.into(), std::env::var_os(name)?)))
        .collect();
    Ok(worker)
}

fn usual_data_directory() -> Result<PathBuf, Problem> {
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
