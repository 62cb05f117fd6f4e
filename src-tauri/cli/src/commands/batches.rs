//! `gistmill batches`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::BatchView;

use crate::output::{Failed, Output};
use crate::shown::{cap, columns, counted, money, short_id};

/// Batches that are listed unless all are asked for.
const LATEST: u32 = 10;
/// Batches that are read at once.
const PAGE: u32 = 100;

pub(crate) async fn show(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let mut batches = engine.batches(None, LATEST + 1).await?;
    let more = batches.len() > LATEST as usize;
    batches.truncate(LATEST as usize);
    print(&batches, output)?;
    if more && !output.is_json() {
        output.text("These are the latest; --all lists every batch.")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Lists every batch, newest first.
pub(crate) async fn show_all(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let mut batches: Vec<BatchView> = Vec::new();
    // Ends with the batches: each page begins where the one before ended.
    loop {
        let after = batches.last().map(|batch| batch.batch_id.clone());
        let page = engine.batches(after, PAGE).await?;
        if page.is_empty() {
            break;
        }
        batches.extend(page);
    }
    print(&batches, output)?;
    Ok(ExitCode::SUCCESS)
}

fn print(batches: &[BatchView], output: Output) -> Result<(), Failed> {
    output.either(&batches, || {
        if batches.is_empty() {
            "No batches.".to_owned()
        } else {
            text(batches)
        }
    })
}

pub(crate) async fn pause(
    engine: &Engine,
    name: &str,
    paused: bool,
    output: Output,
) -> Result<ExitCode, Failed> {
    let batch_id = engine.batch_named(name).await?;
    engine.pause_batch(batch_id, paused).await?;
    show(engine, output).await
}

pub(crate) async fn set_cap(
    engine: &Engine,
    name: &str,
    cap_micros: Option<i64>,
    output: Output,
) -> Result<ExitCode, Failed> {
    let batch_id = engine.batch_named(name).await?;
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
    if let Some(pilot) = batch.pilot.filter(|pilot| pilot.waiting > 0) {
        parts.push(match pilot.left {
            0 => "pilot ended".to_owned(),
            left => format!("{left} of the pilot left"),
        });
    }
    parts.join(", ")
}
