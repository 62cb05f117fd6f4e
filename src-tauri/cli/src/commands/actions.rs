//! `gistmill cancel`, `pause`, `resume`, `run-now`, `move-to`, `purge`, `move`

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    Affected, BulkAction, JobStatus, JobsShown, Place, QueueName, Selection,
};
use serde_json::json;

use super::chosen;
use crate::arguments::{ActionArguments, MoveArguments, PlaceArgument, PurgeArguments};
use crate::output::{Failed, Output, SOME_FAILED};
use crate::shown::counted;

/// Does an action to the chosen jobs, or counts what it would change.
pub(crate) async fn run(
    engine: &Engine,
    arguments: &ActionArguments,
    action: BulkAction,
    output: Output,
) -> Result<ExitCode, Failed> {
    let selection = selection(engine, arguments).await?;
    let affected = if arguments.dry_run {
        engine.plan_action(selection, action).await?
    } else {
        engine.apply_action(selection, action).await?
    };
    report(arguments, affected, action, output)
}

/// Removes the chosen jobs, once a person has agreed.
pub(crate) async fn purge(
    engine: &Engine,
    arguments: &PurgeArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let action = BulkAction::Purge;
    let selection = selection(engine, &arguments.action).await?;
    let planned = engine.plan_action(selection.clone(), action).await?;
    if arguments.action.dry_run || planned.jobs == 0 {
        return report(&arguments.action, planned, action, output);
    }
    if !arguments.yes && !agreed(planned.jobs)? {
        output.text("Nothing was removed.")?;
        return Ok(ExitCode::from(SOME_FAILED));
    }
    let affected = engine.apply_action(selection, action).await?;
    report(&arguments.action, affected, action, output)
}

/// Moves one job within its queue.
pub(crate) async fn move_one(
    engine: &Engine,
    arguments: &MoveArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let job_id = engine.job_named(&arguments.job).await?;
    let job = engine.job(job_id.clone()).await?.job;
    if job.status != JobStatus::Pending {
        return Err(Failed::usage(
            &format!(
                "{} does not wait, so it has no place in a queue.",
                job.title
            ),
            "Only jobs that wait can be moved: “gistmill jobs --status waiting” lists them.",
        ));
    }
    let moved = engine
        .move_jobs(vec![job_id], Place::from(arguments.place))
        .await?
        > 0;
    output.either(&json!({ "moved": moved }), || {
        let queue = job.queue.as_str();
        match (moved, arguments.place) {
            (true, PlaceArgument::Top) => format!("{} is the first of {queue} now.", job.title),
            (true, PlaceArgument::Bottom) => format!("{} is the last of {queue} now.", job.title),
            (true, PlaceArgument::Up) => format!("{} is one place further forward.", job.title),
            (true, PlaceArgument::Down) => format!("{} is one place further back.", job.title),
            (false, _) => format!("{} stays where it is.", job.title),
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn selection(engine: &Engine, arguments: &ActionArguments) -> Result<Selection, Failed> {
    let queue = arguments.queue.map(QueueName::from);
    chosen::selection(engine, &arguments.chosen, queue, JobsShown::All).await
}

/// Asks whether jobs may be removed.
fn agreed(jobs: u64) -> Result<bool, Failed> {
    let what = format!(
        "This removes {} for good, with their history and their stored results.",
        counted(jobs, "job", "jobs")
    );
    if !std::io::stdin().is_terminal() {
        return Err(Failed::usage(
            &what,
            "Say --yes to remove them; nothing was removed.",
        ));
    }
    let unread = |error: std::io::Error| Failed::system("The answer could not be read", &error);
    let mut asked = std::io::stderr().lock();
    write!(asked, "{what} Copies beside PDFs stay. Remove them? [y/N] ").map_err(unread)?;
    asked.flush().map_err(unread)?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer).map_err(unread)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Says what was or would be changed. Jobs that were named and stay as they are set the exit code.
fn report(
    arguments: &ActionArguments,
    affected: Affected,
    action: BulkAction,
    output: Output,
) -> Result<ExitCode, Failed> {
    output.either(&affected, || text(arguments.dry_run, affected, action))?;
    let named = !arguments.chosen.jobs.is_empty();
    Ok(if named && affected.unchanged > 0 {
        ExitCode::from(SOME_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

fn text(dry_run: bool, affected: Affected, action: BulkAction) -> String {
    let jobs = counted(affected.jobs, "job", "jobs");
    let is = if affected.jobs == 1 { "is" } else { "are" };
    let is = if dry_run { "would be" } else { is };
    let mut text = match action {
        BulkAction::RunNow => format!("{jobs} {is} run without waiting."),
        BulkAction::Cancel => format!("{jobs} {is} called off."),
        BulkAction::Pause => format!("{jobs} {is} paused."),
        BulkAction::Resume => format!("{jobs} {is} resumed."),
        BulkAction::MoveTo { queue } => format!("{jobs} {is} moved to {}.", queue.as_str()),
        BulkAction::MarkReviewed => format!("{jobs} {is} marked as reviewed."),
        BulkAction::UnmarkReviewed => format!("{jobs} {is} sent back to review."),
        BulkAction::Purge => format!("{jobs} {is} removed."),
    };
    if affected.unchanged > 0 {
        let stay = match (dry_run, affected.unchanged) {
            (true, _) => "would stay",
            (false, 1) => "stays",
            (false, _) => "stay",
        };
        text.push_str(&format!(
            "\n{} {stay} as before: {}",
            counted(affected.unchanged, "job", "jobs"),
            fits(action)
        ));
    }
    text
}

/// Says which jobs an action is for.
fn fits(action: BulkAction) -> &'static str {
    match action {
        BulkAction::RunNow => "only jobs that wait for a delay or a countdown can be hurried.",
        BulkAction::Cancel => "only jobs that wait or run can be called off.",
        BulkAction::Pause => "only jobs that wait or run, and are not paused yet, can be paused.",
        BulkAction::Resume => "only paused jobs can be resumed.",
        BulkAction::MoveTo { .. } => "only jobs that wait in the other queue can be moved.",
        BulkAction::MarkReviewed => "only jobs that need a review can be reviewed.",
        BulkAction::UnmarkReviewed => "only jobs that a person reviewed can be sent back.",
        BulkAction::Purge => "jobs that run can't be removed.",
    }
}
