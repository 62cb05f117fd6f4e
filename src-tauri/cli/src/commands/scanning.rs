//! Scanning with live counts, where somebody watches.

use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

use gistmill_engine::Engine;
use gistmill_engine::model::{EngineEvent, ScanReport};
use indicatif::ProgressBar;
use tokio::sync::broadcast::error::RecvError;

use crate::output::Failed;
use crate::shown::counted;

/// How often the sign of life moves.
const TICK: Duration = Duration::from_millis(120);

/// Scans files and folders, and shows on a terminal how far it is.
pub(crate) async fn scan(engine: &Engine, files: Vec<PathBuf>) -> Result<ScanReport, Failed> {
    if !std::io::stderr().is_terminal() {
        return Ok(engine.scan(files).await?);
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(TICK);
    bar.set_message("Looking for PDFs…");
    let mut events = engine.subscribe();
    let mut scan = std::pin::pin!(engine.scan(files));
    let ended = loop {
        tokio::select! {
            ended = &mut scan => break ended,
            event = events.recv() => match event {
                Ok(EngineEvent::ScanProgress { inspected, found, problems, walking }) => {
                    bar.set_message(words(inspected, found, problems, walking));
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break scan.await,
            },
        }
    };
    bar.finish_and_clear();
    Ok(ended?)
}

fn words(inspected: u64, found: u64, problems: u64, walking: bool) -> String {
    let mut words = format!(
        "{inspected} of {}{} looked into",
        counted(found, "PDF", "PDFs"),
        if walking { " so far" } else { "" }
    );
    if problems > 0 {
        words.push_str(&format!(", {problems} can’t be sent as they are"));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_say_whether_more_may_come_and_what_is_wrong() {
        assert_eq!(words(0, 1, 0, true), "0 of 1 PDF so far looked into");
        assert_eq!(
            words(312, 1_240, 3, false),
            "312 of 1240 PDFs looked into, 3 can’t be sent as they are"
        );
    }
}
