//! `gistmill`: the command line over the same engine and queue as the window.

mod arguments;
mod commands;
mod output;
mod shown;
mod values;

use std::process::ExitCode;

use clap::Parser as _;
use gistmill_engine::Engine;

use arguments::Arguments;
use output::{Failed, Output};

fn main() -> ExitCode {
    if gistmill_host::is_pdf_worker() {
        return gistmill_engine::pdf::worker_main();
    }
    let arguments = Arguments::parse();
    let output = Output::new(arguments.json);
    gistmill_host::start_logging("error");
    let runtime = match tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(error) => return output.fail(Failed::system("The program could not start", &error)),
    };
    let ended = runtime.block_on(run(arguments, output));
    // Blocking work that was given up (a keychain that never answers) must not hold the program.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    match ended {
        Ok(code) => code,
        Err(failed) => output.fail(failed),
    }
}

async fn run(arguments: Arguments, output: Output) -> Result<ExitCode, Failed> {
    let config = gistmill_host::engine_config(arguments.data_dir.as_deref())?;
    let engine = Engine::open(config).await?;
    let ended = commands::run(&engine, arguments.command, output).await;
    engine.shutdown().await;
    ended
}
