//! From a drop to the queue, against `sha256sum` on the same files.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gistmill_engine::Engine;
use gistmill_engine::model::{Provider, QueueName, Submission, Variables};

use crate::{Outcome, config, figure, files};

/// Bytes of a file, about.
const BYTES: usize = 1_000_000;
/// Most times that the digests' time may be taken.
const RATIO: f64 = 2.0;
/// Most milliseconds for which the window may not answer.
const STALL: f64 = 100.0;
/// Most milliseconds that the inspection of a file may take.
const INSPECTION: f64 = 20.0;
/// How often the ticker looks whether it is let.
const TICK: Duration = Duration::from_millis(2);

/// What a drop took.
struct Dropped {
    inspected: Duration,
    queued: Duration,
    stall: Duration,
}

pub(crate) async fn measure(folder: &Path, count: usize, rounds: usize) -> Outcome<()> {
    let pdfs = folder.join("pdfs");
    std::fs::create_dir(&pdfs)?;
    let mut paths = Vec::with_capacity(count);
    for number in 0..count {
        let path = pdfs.join(format!("{number:04}.pdf"));
        files::write(&path, number as u64, 1 + number % 12, BYTES)?;
        paths.push(path);
    }
    let bytes: u64 = paths
        .iter()
        .map(|path| path.metadata().map_or(0, |metadata| metadata.len()))
        .sum();
    println!("{count} PDFs, {} MB", bytes / 1_000_000);
    // Both find the files in memory.
    digests(&paths)?;
    let (mut digested, mut dropped) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        let took = digests(&paths)?;
        let drop = drop(&pdfs, &folder.join(format!("data-{round}")), count).await?;
        println!(
            "round {}: sha256sum {:.2} s; inspected after {:.2} s, queued after {:.2} s; longest stall {:.1} ms",
            round + 1,
            took.as_secs_f64(),
            drop.inspected.as_secs_f64(),
            drop.queued.as_secs_f64(),
            drop.stall.as_secs_f64() * 1e3
        );
        digested.push(took);
        dropped.push(drop);
    }
    let digested = median(digested).as_secs_f64();
    let queued = median(dropped.iter().map(|drop| drop.queued).collect()).as_secs_f64();
    let inspected = median(dropped.iter().map(|drop| drop.inspected).collect()).as_secs_f64();
    let stall = dropped
        .iter()
        .map(|drop| drop.stall)
        .max()
        .unwrap_or_default();
    figure("intake_ratio", queued / digested, "x", RATIO);
    figure(
        "inspect_ms_per_file",
        inspected * 1e3 / count as f64,
        "ms",
        INSPECTION,
    );
    figure(
        "intake_longest_stall",
        stall.as_secs_f64() * 1e3,
        "ms",
        STALL,
    );
    Ok(())
}

fn median(mut all: Vec<Duration>) -> Duration {
    all.sort_unstable();
    all[all.len() / 2]
}

/// Takes the time that `sha256sum` needs for all files.
fn digests(paths: &[PathBuf]) -> Outcome<Duration> {
    let began = Instant::now();
    let ended = Command::new("sha256sum")
        .args(paths)
        .stdout(Stdio::null())
        .status()?;
    if !ended.success() {
        return Err(format!("sha256sum: {ended}").into());
    }
    Ok(began.elapsed())
}

/// Drops a folder on a new engine, and waits until every file is a job on disk.
async fn drop(pdfs: &Path, data: &Path, count: usize) -> Outcome<Dropped> {
    let engine = Engine::open(config(data)?).await?;
    let stall = Arc::new(AtomicU64::new(0));
    let ticking = tokio::spawn(tick(Arc::clone(&stall)));
    let began = Instant::now();
    let report = engine.scan(vec![pdfs.to_owned()]).await?;
    let inspected = began.elapsed();
    let submission = Submission {
        name: report.name.clone(),
        queue: QueueName::Bulk,
        delivery: None,
        template: "pdf-summarize-v1".to_owned(),
        provider: Provider::Claude,
        model: None,
        cap_micros: None,
        paused: false,
        variables: Variables::new(),
        fresh: false,
        pilot: None,
    };
    let submitted = engine.submit_scan(report.scan_id, submission).await?;
    let queued = began.elapsed();
    ticking.abort();
    let problems = report
        .files
        .iter()
        .filter(|file| file.document.finding.is_some());
    let problems = problems.count();
    if submitted.job_ids.len() != count || problems > 0 {
        return Err(format!(
            "{} of {count} files were queued, {problems} of them as failed",
            submitted.job_ids.len()
        )
        .into());
    }
    engine.shutdown().await;
    Ok(Dropped {
        inspected,
        queued,
        stall: Duration::from_micros(stall.load(Ordering::Relaxed)),
    })
}

/// Notes the longest time for which it was not let, as a window would not be.
async fn tick(longest: Arc<AtomicU64>) {
    loop {
        let began = Instant::now();
        tokio::time::sleep(TICK).await;
        let stall = began.elapsed().saturating_sub(TICK).as_micros();
        longest.fetch_max(u64::try_from(stall).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}
