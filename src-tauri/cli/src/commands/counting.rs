//! Counting tokens, with live counts where somebody watches.

use std::io::IsTerminal as _;
use std::time::Duration;

use gistmill_engine::Engine;
use gistmill_engine::model::{EngineEvent, Problem, ScanId, Submission};
use indicatif::ProgressBar;
use tokio::sync::broadcast::error::RecvError;

/// How often the sign of life moves.
const TICK: Duration = Duration::from_millis(120);

/// Has the files of a scan counted. Returns why they could not be: what is not counted is estimated.
pub(crate) async fn count(
    engine: &Engine,
    scan_id: ScanId,
    submission: &Submission,
) -> Option<Problem> {
    let counting = engine.count_tokens(scan_id, submission.clone());
    if !std::io::stderr().is_terminal() {
        return counting.await.err().map(|error| error.problem());
    }
    let bar = ProgressBar::new_spinner();
    bar.enable_steady_tick(TICK);
    bar.set_message("Counting tokens…");
    let mut events = engine.subscribe();
    let mut counting = std::pin::pin!(counting);
    let ended = loop {
        tokio::select! {
            ended = &mut counting => break ended,
            event = events.recv() => match event {
                Ok(EngineEvent::CountProgress { counting, .. }) => {
                    bar.set_message(format!(
                        "{} of {} files counted",
                        counting.counted, counting.countable
                    ));
                }
                Ok(_) | Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => break counting.await,
            },
        }
    };
    bar.finish_and_clear();
    ended.err().map(|error| error.problem())
}

/// Says why tokens were not counted.
pub(crate) fn words(problem: &Problem) -> String {
    format!(
        "The tokens were not counted: {} {}",
        problem.message, problem.hint
    )
}
