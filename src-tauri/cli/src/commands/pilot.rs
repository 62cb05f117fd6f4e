//! `gistmill batches pilot`, `release` and `cancel-rest`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{Delivery, PilotReport, PilotView, Provider, QueueName, RetryChanges};

use super::templates;
use crate::arguments::{ChangeArguments, PilotArguments};
use crate::output::{Failed, Output};
use crate::shown::{self, counted, grouped, money, short_id};

/// Shows what a pilot came to, and what the rest will come to by it.
pub(crate) async fn show(
    engine: &Engine,
    arguments: PilotArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let batch_id = engine.batch_named(&arguments.batch).await?;
    let changes = changes(engine, arguments.changes).await?;
    let report = engine.pilot(batch_id, changes).await?;
    output.either(&report, || text(&report))?;
    Ok(ExitCode::SUCCESS)
}

/// Lets the jobs go on that wait for a pilot.
pub(crate) async fn release(
    engine: &Engine,
    arguments: PilotArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let batch_id = engine.batch_named(&arguments.batch).await?;
    let changes = changes(engine, arguments.changes).await?;
    let affected = engine.release_pilot(batch_id, changes).await?;
    output.either(&affected, || {
        format!("{} on.", counted(affected.jobs, "job goes", "jobs go"))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Calls off the jobs that wait for a pilot.
pub(crate) async fn cancel_rest(
    engine: &Engine,
    batch: &str,
    output: Output,
) -> Result<ExitCode, Failed> {
    let batch_id = engine.batch_named(batch).await?;
    let affected = engine.cancel_behind_pilot(batch_id).await?;
    output.either(&affected, || {
        format!(
            "{} called off.",
            counted(affected.jobs, "job is", "jobs are")
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

async fn changes(engine: &Engine, asked: ChangeArguments) -> Result<RetryChanges, Failed> {
    let template = match asked.template {
        Some(name) => Some(templates::version_named(engine, name).await?),
        None => None,
    };
    Ok(RetryChanges {
        provider: asked.provider.map(Provider::from),
        model: asked.model,
        template,
        queue: asked.queue.map(QueueName::from),
        delivery: asked.delivery.map(Delivery::from),
        max_tokens: asked.max_tokens,
        completed: false,
    })
}

fn text(report: &PilotReport) -> String {
    let Some(pilot) = report.batch.pilot else {
        return "This batch has no pilot.".to_owned();
    };
    let mut lines = vec![stands(&report.batch.name, &pilot)];
    let ended = report.done + report.needs_review + report.failed;
    if ended > 0 {
        lines.push(format!(
            "{} done, {} to review, {} failed; cost {}.",
            report.done,
            report.needs_review,
            report.failed,
            money(report.cost_micros)
        ));
        lines.push(format!(
            "Input: {} tokens ({} were estimated). Output: {} tokens.",
            grouped(report.input_tokens),
            grouped(report.expected_input_tokens),
            grouped(report.output_tokens)
        ));
    }
    if pilot.waiting > 0 {
        lines.push(String::new());
        lines.push(format!(
            "The other {}:",
            counted(pilot.waiting, "job", "jobs")
        ));
        lines.extend(shown::forecast(&report.rest, super::now()));
        let id = short_id(report.batch.batch_id.as_str());
        lines.push(String::new());
        lines.push(format!(
            "“gistmill batches release {id}” lets them go on, with --model or --template asked otherwise; \
             “gistmill batches cancel-rest {id}” calls them off."
        ));
    }
    lines.join("\n")
}

/// Says where a pilot stands.
pub(crate) fn stands(name: &str, pilot: &PilotView) -> String {
    let ended = pilot.jobs.saturating_sub(pilot.left);
    let rest = match (pilot.waiting, pilot.released) {
        (0, true) => "nobody waits for it any more".to_owned(),
        (waiting, _) => format!("{} for it", counted(waiting, "job waits", "jobs wait")),
    };
    format!(
        "Pilot of {name}: {ended} of {} ended; {rest}.",
        counted(pilot.jobs, "job", "jobs")
    )
}
