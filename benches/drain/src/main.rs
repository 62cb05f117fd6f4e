//! Measures how fast the product works its queue: the engine, its database on disk, the real dispatcher and clock.
//!
//! The program is all of its own processes: `--pdf-worker` reads PDFs, `claude` is the fake Claude, `work` works
//! the queue and tells how long that took.

mod bound;
mod claude;
#[path = "../../intake/src/files.rs"]
mod files;
mod measure;
mod setting;
mod work;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

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
    let ended = runtime
        .map_err(Into::into)
        .and_then(|runtime| runtime.block_on(run(&words)));
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gistmill-bench-drain: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[&str]) -> Outcome<()> {
    match *words {
        ["claude", name, files] => claude::answer(setting::named(name)?, files.parse()?).await,
        ["work", name, folder, url] => {
            work::work(setting::named(name)?, Path::new(folder), url).await
        }
        [folder, files] => measure::measure(Path::new(folder), files.parse()?, &setting::ALL),
        [folder, files, name] => {
            measure::measure(Path::new(folder), files.parse()?, &[setting::named(name)?])
        }
        _ => Err("usage: gistmill-bench-drain FOLDER FILES [SETTING]".into()),
    }
}
