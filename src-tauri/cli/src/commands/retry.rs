//! `gistmill retry` and `gistmill dead-letters`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    DeadLetterGroup, Delivery, Forecast, JobsShown, LeftOut, LeftOutReason, Provider, QueueName,
    RetryChanges, RetryPlan,
};
use serde::Serialize;

use super::{chosen, passwords, templates};
use crate::arguments::RetryArguments;
use crate::output::{Failed, Output, SOME_FAILED};
use crate::shown::{counted, forecast, hint, money};

pub(crate) async fn run(
    engine: &Engine,
    arguments: RetryArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    passwords::give(engine, &arguments.passwords)?;
    let usual = if arguments.completed {
        JobsShown::Done
    } else {
        JobsShown::DeadLetters
    };
    let selection = chosen::selection(engine, &arguments.chosen, None, usual).await?;
    let template = match arguments.template {
        Some(name) => Some(templates::version_named(engine, name).await?),
        None => None,
    };
    let changes = RetryChanges {
        provider: arguments.provider.map(Provider::from),
        model: arguments.model,
        template,
        queue: arguments.queue.map(QueueName::from),
        delivery: arguments.delivery.map(Delivery::from),
        max_tokens: arguments.max_tokens,
        completed: arguments.completed,
    };
    let plan = engine
        .plan_retry(selection.clone(), changes.clone())
        .await?;
    let left = if arguments.dry_run {
        let forecast = engine.forecast_retry(selection, changes).await?;
        let planned = Planned { plan, forecast };
        output.either(&planned, || planned.text())?;
        let plan = planned.plan;
        plan.would_not.iter().map(|left| left.jobs).sum()
    } else {
        let affected = engine.retry(selection, changes).await?;
        output.either(&affected, || {
            let mut lines = vec![format!(
                "{} back in the queue.",
                counted(affected.jobs, "job is", "jobs are")
            )];
            lines.extend(
                plan.would_not
                    .iter()
                    .map(|left| left_out(left, "left as before")),
            );
            lines.extend(ends(&plan));
            lines.join("\n")
        })?;
        affected.unchanged
    };
    Ok(if left > 0 {
        ExitCode::from(SOME_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

pub(crate) async fn dead_letters(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let groups = engine.dead_letters().await?;
    output.either(&groups, || {
        if groups.is_empty() {
            return "No dead letters.".to_owned();
        }
        let mut parts: Vec<String> = groups.iter().map(group).collect();
        parts.push(
            "“gistmill retry --cause KEY” runs one group again; --dry-run says what it would cost."
                .to_owned(),
        );
        parts.join("\n\n")
    })?;
    Ok(ExitCode::SUCCESS)
}

fn group(group: &DeadLetterGroup) -> String {
    let mut titles = group.titles.join(", ");
    let more = group.jobs.saturating_sub(group.titles.len() as u64);
    if more > 0 {
        titles.push_str(&format!(" and {more} more"));
    }
    format!(
        "{}  {}\n  {}\n  {}\n  {titles}",
        group.cause.key(),
        counted(group.jobs, "job", "jobs"),
        group.message,
        hint(group.cause)
    )
}

/// What would run again, and what that would come to.
#[derive(Serialize)]
struct Planned {
    #[serde(flatten)]
    plan: RetryPlan,
    forecast: Forecast,
}

impl Planned {
    fn text(&self) -> String {
        let mut lines = vec![planned(&self.plan)];
        lines.extend(forecast(&self.forecast, super::now()));
        lines.join("\n")
    }
}

fn planned(plan: &RetryPlan) -> String {
    let mut lines = vec![format!(
        "{} would go back in the queue.",
        counted(plan.would_run, "job", "jobs")
    )];
    lines.extend(
        plan.would_not
            .iter()
            .map(|left| left_out(left, "would be left")),
    );
    if plan.would_run > 0 {
        lines.push(format!(
            "One attempt at each: {} as expected, {} at worst.",
            money(plan.expected_micros),
            money(plan.at_worst_micros)
        ));
    }
    lines.extend(ends(plan));
    lines.join("\n")
}

/// Says which of the models end soon, or have ended.
fn ends(plan: &RetryPlan) -> impl Iterator<Item = String> {
    plan.model_notices.iter().map(|notice| {
        let model = notice.successor.as_deref().unwrap_or("MODEL");
        format!("{} (gistmill retry … --model {model})", notice.message)
    })
}

fn left_out(left: &LeftOut, how: &str) -> String {
    let why = match &left.reason {
        LeftOutReason::Completed => {
            "done, with a result. --completed runs such jobs again".to_owned()
        }
        LeftOutReason::Live => "waiting or running already".to_owned(),
        LeftOutReason::FileMissing => {
            "its file is not where it was. Put it back, then run it again".to_owned()
        }
        LeftOutReason::Finding { cause } => format!("{}: {}", cause.key(), trimmed(&hint(*cause))),
        LeftOutReason::FieldsNeedClaude => {
            "its template asks for fields, which only Claude can fill in".to_owned()
        }
        LeftOutReason::PriceUnknown { model } => format!(
            "nobody knows what {model} costs. Set it with “gistmill prices set {model}”, or mark it as free with “gistmill prices free {model}”"
        ),
    };
    format!("{} {how}: {why}.", counted(left.jobs, "job", "jobs"))
}

fn trimmed(sentence: &str) -> &str {
    sentence.trim_end_matches('.')
}
