//! `gistmill status`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{ConsumerPlace, KeySource, Overview, QueueName};

use crate::output::{Failed, Output};
use crate::shown::money;

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
    for lane in &overview.lanes {
        let name = match lane.queue {
            QueueName::High => "high",
            QueueName::Bulk => "bulk",
        };
        let paused = if lane.paused { ", paused" } else { "" };
        lines.push(format!(
            "  {name}: {} running, {} waiting{paused}",
            lane.running, lane.waiting
        ));
    }
    if let Some(answer) = &overview.answer {
        lines.push(format!("Why is nothing moving? {answer}"));
    }
    lines.push(format!(
        "Spent today: {}",
        money(Some(overview.spent_today_micros))
    ));
    lines.push(match overview.consumer {
        ConsumerPlace::Here | ConsumerPlace::Elsewhere => {
            "A Gistmill is working the queue.".to_owned()
        }
        ConsumerPlace::Nowhere => "Nothing is working the queue.".to_owned(),
    });
    let ending = overview.key.ending.as_deref().unwrap_or_default();
    lines.push(match overview.key.source {
        KeySource::Keychain => format!("API key: …{ending}, from the keychain"),
        KeySource::Environment => format!("API key: …{ending}, from ANTHROPIC_API_KEY"),
        KeySource::Session => format!("API key: …{ending}, for this session only"),
        KeySource::None => "API key: none".to_owned(),
    });
    lines.push(format!("Data: {}", engine.data_directory().display()));
    lines.join("\n")
}
