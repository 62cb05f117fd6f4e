//! Measures the intake as the product does it: the engine, its child processes, its database on disk.
//!
//! The program is all of its own processes: `--pdf-worker` reads PDFs, `claude` is the fake Claude, `send` sends
//! ten large PDFs and tells how much memory that took.

mod drop;
mod files;
mod send;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use gistmill_engine::EngineConfig;
use gistmill_engine::pdf::PdfWorkerConfig;
use gistmill_engine::secrets::MemorySecrets;

type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words == ["--pdf-worker"] {
        return gistmill_engine::pdf::worker_main();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    let ended = runtime.map_err(Into::into).and_then(|runtime| {
        runtime.block_on(async {
            match words[..] {
                ["claude"] => send::claude().await,
                ["send", folder, url] => send::send(Path::new(folder), url).await,
                [folder, files, rounds] => {
                    let (files, rounds) = (files.parse()?, rounds.parse()?);
                    measure(Path::new(folder), files, rounds).await
                }
                _ => Err("usage: gistmill-bench-intake FOLDER FILES ROUNDS".into()),
            }
        })
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gistmill-bench-intake: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn measure(folder: &Path, files: usize, rounds: usize) -> Outcome<()> {
    let folder = tempfile::tempdir_in(folder)?;
    drop::measure(folder.path(), files, rounds).await?;
    send::measure(folder.path())
}

/// Returns how an engine of this bench is opened: as the product does, but for the keychain.
fn config(data: &Path) -> Outcome<EngineConfig> {
    let mut worker = PdfWorkerConfig::new(std::env::current_exe()?);
    worker.args = vec!["--pdf-worker".into()];
    let mut config = EngineConfig::new(data, worker);
    config.secrets = std::sync::Arc::new(MemorySecrets::default());
    Ok(config)
}

/// Prints a figure with its goal, of which it must not be more.
fn figure(name: &str, value: f64, unit: &str, goal: f64) {
    let verdict = if value <= goal { "met" } else { "missed" };
    println!("figure {name} {value:.2} {unit} goal {goal} {verdict}");
}
