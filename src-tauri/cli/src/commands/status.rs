//! `gistmill status`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    BudgetView, CircuitView, ConsumerPlace, Gauge, KeySource, KeyStatus, LaneView, Money, Overview,
    Provider, Timestamp,
};

use crate::output::{Failed, Output};
use crate::shown::{columns, counted, duration, exact, left, money, short_id, uploads, way_on};

pub(crate) async fn run(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    engine.look_for_consumer();
    let overview = engine.overview().await?;
    output.either(&overview, || text(&overview, engine))?;
    Ok(ExitCode::SUCCESS)
}

fn text(overview: &Overview, engine: &Engine) -> String {
    let counts = overview.counts;
    let mut lines = vec![format!(
        "{} jobs: {} running, {} waiting, {} done, {} to review, {} failed, {} cancelled",
        counts.total,
        counts.running,
        counts.waiting,
        counts.done,
        counts.needs_review,
        counts.dead_letters,
        counts.cancelled
    )];
    lines.extend(overview.lanes.iter().map(|of| lane(of, overview)));
    if let Some(answer) = &overview.answer {
        lines.push(format!("Why is nothing moving? {answer}"));
        lines.extend(way_on(overview));
    }
    lines.extend(overview.batches.iter().filter_map(|batch| {
        let pilot = batch.pilot.filter(|pilot| pilot.waiting > 0)?;
        Some(format!(
            "{} See “gistmill batches pilot {}”.",
            super::pilot::stands(&batch.name, &pilot),
            short_id(batch.batch_id.as_str())
        ))
    }));
    let now = super::now();
    lines.extend(overview.circuits.iter().map(|open| circuit(open, now)));
    if let Some(problem) = &overview.storage_problem {
        lines.push(format!("{} {}", problem.message, problem.hint));
    }
    lines.extend(uploads(&overview.uploads, now));
    lines.push(gauges(&overview.budget));
    lines.push(purse("Today", &overview.budget.day));
    lines.push(purse("This month", &overview.budget.month));
    lines.push(match overview.consumer {
        ConsumerPlace::Here | ConsumerPlace::Elsewhere => {
            "A Gistmill is working the queue.".to_owned()
        }
        ConsumerPlace::Nowhere => "Nothing is working the queue.".to_owned(),
    });
    lines.push(key(&overview.key));
    lines.extend(
        overview
            .model_notice
            .as_ref()
            .map(|notice| notice.message.clone()),
    );
    lines.push(format!("Data: {}", engine.data_directory().display()));
    lines.join("\n")
}

fn lane(lane: &LaneView, overview: &Overview) -> String {
    let mut line = format!(
        "  {}: {} running, {} waiting",
        lane.queue.as_str(),
        lane.running,
        lane.waiting
    );
    if let Some(submitted) = &lane.submitted {
        line.push_str(&format!(
            ", {} of the running with Claude’s batch API",
            submitted.jobs
        ));
    }
    if lane.paused {
        line.push_str(", paused");
    }
    // The answer to everything stands below; it is not said twice.
    if let Some(answer) = &lane.answer
        && lane.answer != overview.answer
    {
        line.push_str(&format!(". {answer}"));
    }
    line
}

fn circuit(open: &CircuitView, now: Timestamp) -> String {
    let who = match open.provider {
        Provider::Claude => "Claude is not asked",
        Provider::Offline => "The offline summary stands still",
    };
    let probe = open.probe_at.map_or_else(
        || "It goes on when that is done.".to_owned(),
        |moment| {
            format!(
                "Tried again in {}.",
                duration(moment.since(now).as_millis())
            )
        },
    );
    format!(
        "{who}, {} held: {} {} {probe}",
        counted(open.waiting, "job is", "jobs are"),
        open.message,
        open.hint
    )
}

fn gauges(budget: &BudgetView) -> String {
    let gauges = [
        ("requests", budget.requests),
        ("input tokens", budget.input_tokens),
        ("output tokens", budget.output_tokens),
        ("tokens", budget.tokens),
    ];
    let rows = gauges.into_iter().map(|(what, Gauge { used, limit })| {
        let limit = limit.map_or_else(|| "no limit".to_owned(), |limit| format!("of {limit}"));
        [format!("  {what}"), used.to_string(), limit]
    });
    columns(["Last minute", "", ""], rows, &[1])
}

/// Says what a day or a month has cost, what it may still cost, and what is left.
fn purse(when: &str, spending: &Money) -> String {
    let mut text = format!(
        "{when}: {} spent, {} reserved, {} unknown",
        money(Some(spending.settled_micros)),
        money(Some(spending.reserved_micros)),
        money(Some(spending.unknown_micros))
    );
    match spending.cap_micros {
        Some(cap) => text.push_str(&format!(
            "; {} left of the cap of {}",
            left(cap, spending.committed_micros()),
            exact(cap)
        )),
        None => text.push_str("; no cap"),
    }
    text
}

fn key(key: &KeyStatus) -> String {
    let ending = key.ending.as_deref().unwrap_or_default();
    match key.source {
        KeySource::Keychain => format!("API key: …{ending}, from the keychain"),
        KeySource::Environment => format!("API key: …{ending}, from ANTHROPIC_API_KEY"),
        KeySource::EnvironmentToken => {
            format!("API key: …{ending}, from ANTHROPIC_AUTH_TOKEN")
        }
        KeySource::Session => format!("API key: …{ending}, for this session only"),
        KeySource::None => "API key: none".to_owned(),
    }
}
