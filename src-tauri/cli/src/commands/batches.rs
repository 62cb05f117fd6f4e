//! `gistmill batches`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::BatchView;

use super::chosen::batch_named;
use crate::output::{Failed, Output};
use crate::shown::{cap, columns, counted, money, short_id};

pub(crate) async fn show(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let batches = engine.overview().await?.batches;
    output.either(&batches, || {
        if batches.is_empty() {
            "No batches.".to_owned()
        } else {
            text(&batches)
        }
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn pause(
    engine: &Engine,
    name: &str,
    paused: bool,
    output: Output,
) -> Result<ExitCode, Failed> {
    let batch_id = batch_named(engine, name).await?;
    engine.pause_batch(batch_id, paused).await?;
    show(engine, output).await
}

pub(crate) async fn set_cap(
    engine: &Engine,
    name: &str,
    cap_micros: Option<i64>,
    output: Output,
) -> Result<ExitCode, Failed> {
    let batch_id = batch_named(engine, name).await?;
    engine.set_batch_cap(batch_id, cap_micros).await?;
    show(engine, output).await
}

fn text(batches: &[BatchView]) -> String {
    let rows = batches.iter().map(|batch| {
        [
            short_id(batch.batch_id.as_str()).to_owned(),
            batch.name.clone(),
            progress(batch),
            money(Some(batch.money.settled_micros)),
            money(Some(batch.money.reserved_micros)),
            money(Some(batch.money.unknown_micros)),
            cap(batch.money.cap_micros),
        ]
    });
    let headings = [
        "BATCH", "NAME", "JOBS", "SPENT", "RESERVED", "UNKNOWN", "CAP",
    ];
    columns(headings, rows, &[3, 4, 5, 6])
}

fn progress(batch: &BatchView) -> String {
    let counts = batch.counts;
    let mut parts = vec![format!(
        "{} of {} done",
        counts.done,
        counted(counts.total, "job", "jobs")
    )];
    for (count, word) in [
        (counts.running, "running"),
        (counts.waiting, "waiting"),
        (counts.needs_review, "to review"),
        (counts.dead_letters, "failed"),
        (counts.cancelled, "cancelled"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {word}"));
        }
    }
    if batch.paused {
        parts.push("paused".to_owned());
    }
    parts.join(", ")
}
