//! `fake-claude`: the test suite's stand-in for Claude's Messages API as a program of its own.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use gistmill_testkit::fake_claude::{FakeClaude, Options, Scenario};

/// Answers as Claude's Messages API does, on 127.0.0.1, without a network.
#[derive(Debug, Parser)]
struct Arguments {
    /// Port to listen on; 0 takes a free one.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// JSON file with what is to happen: {"rules": [{"request": 2, "reply": {"kind": "hang"}}]}.
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,
    /// The only key accepted; every key is when left out.
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Milliseconds before each answer.
    #[arg(long, default_value_t = 0)]
    latency_ms: u64,
    /// Answer without a look at documents and count no tokens, as Ollama does.
    #[arg(long)]
    drops_documents: bool,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&*error);
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let scenario = match &arguments.scenario {
        Some(path) => Scenario::read(path)?,
        None => Scenario::default(),
    };
    let server = FakeClaude::start_with(Options {
        port: arguments.port,
        api_key: arguments.api_key,
        latency: Duration::from_millis(arguments.latency_ms),
        scenario,
        drops_documents: arguments.drops_documents,
    })
    .await?;
    announce(&server.url());
    tokio::signal::ctrl_c().await?;
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "whoever starts it reads the address here"
)]
fn announce(url: &str) {
    println!("{url}");
}

#[expect(clippy::print_stderr, reason = "it has no other place to complain")]
fn complain(error: &dyn std::error::Error) {
    eprintln!("fake-claude: {error}");
}
