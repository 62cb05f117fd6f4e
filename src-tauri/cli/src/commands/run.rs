//! `gistmill run`: works the queue until it is empty.

use std::io::{IsTerminal as _, Write as _};
use std::mem::{Discriminant, discriminant};
use std::process::ExitCode;
use std::time::Duration;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    Cause, ConsumerPlace, JobCounts, JobFilter, JobStatus, JobView, Overview, Timestamp,
    UploadCause, UploadsView, WaitingReason,
};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::passwords;
use crate::arguments::RunArguments;
use crate::output::{ELSEWHERE, Failed, Output, PERSON_NEEDED, SOME_FAILED};
use crate::shown::{self, counted, money};

/// How often the queue is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// Most jobs that the table at the end names.
const MOST_ROWS: usize = 40;
/// Rows of a page.
const PAGE: u32 = 500;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    done: u64,
    needs_review: u64,
    failed: u64,
    waiting: u64,
    /// Why jobs still wait.
    answer: Option<String>,
    #[serde(skip)]
    way_on: Option<String>,
    results: String,
    /// How uploads come on, where results are uploaded.
    uploads: UploadsView,
    jobs: Vec<JobView>,
}

pub(crate) async fn run(
    engine: &Engine,
    arguments: RunArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    passwords::give(engine, &arguments.passwords)?;
    let started = super::now();
    let before = engine.overview().await?.counts;
    if engine.start_consumer(false).await? != ConsumerPlace::Here {
        let problem = gistmill_engine::EngineError::ConsumerElsewhere.problem();
        output.fail(problem.into());
        return Ok(ExitCode::from(ELSEWHERE));
    }
    let ended = work(engine, before).await?;
    let overview = engine.overview().await?;
    let report = report(engine, &overview, before, started).await?;
    output.either(&report, || text(&report, started))?;
    Ok(match ended {
        Ended::Stopped => ExitCode::from(130),
        Ended::Empty if report.failed > 0 => ExitCode::from(SOME_FAILED),
        Ended::Empty if report.waiting > 0 => ExitCode::from(PERSON_NEEDED),
        Ended::Empty => ExitCode::SUCCESS,
    })
}

enum Ended {
    /// Nothing is left that would run by itself.
    Empty,
    /// A person stopped it.
    Stopped,
}

/// Waits until the queue is empty, showing how far it is.
async fn work(engine: &Engine, before: JobCounts) -> Result<Ended, Failed> {
    let bar = bar();
    let mut log = Log::default();
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let ended = loop {
        let overview = engine.overview().await?;
        show(&bar, &overview, before);
        if bar.is_hidden() {
            log.note(&overview);
        }
        if !engine.has_live_jobs().await? {
            break Ended::Empty;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = &mut interrupted => {
                bar.finish_and_clear();
                tell("Stopping after the jobs that run. Press Ctrl C once more to stop at once.");
                stop(engine).await;
                break Ended::Stopped;
            }
        }
    };
    bar.finish_and_clear();
    Ok(ended)
}

/// Lets running jobs finish, unless a second Ctrl C comes.
async fn stop(engine: &Engine) {
    tokio::select! {
        () = engine.finish_running() => {}
        _ = tokio::signal::ctrl_c() => tell("Stopping now. Jobs that were cut off are tried again later."),
    }
}

fn bar() -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let bar = ProgressBar::with_draw_target(Some(0), target);
    // The template is fixed; were it wrong, the usual bar is as good.
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}") {
        bar.set_style(style);
    }
    bar
}

fn show(bar: &ProgressBar, overview: &Overview, before: JobCounts) {
    let counts = overview.counts;
    let ended = counts.total - counts.waiting - counts.running;
    let ended_before = before.total - before.waiting - before.running;
    let ended_here = ended.saturating_sub(ended_before);
    bar.set_length(ended_here + counts.waiting + counts.running);
    bar.set_position(ended_here);
    bar.set_message(match &overview.answer {
        Some(answer) => answer.clone(),
        None if counts.running + counts.waiting == 0 && overview.uploads.waiting > 0 => format!(
            "{} left",
            counted(overview.uploads.waiting, "upload", "uploads")
        ),
        None => format!(
            "{} running, {} failed, {} spent today",
            counts.running,
            counts.dead_letters.saturating_sub(before.dead_letters),
            money(Some(overview.budget.day.settled_micros))
        ),
    });
}

/// Says why nothing moves where no bar can show it: once for each reason, not for each second of a countdown.
#[derive(Default)]
struct Log {
    told: Vec<Option<Discriminant<WaitingReason>>>,
    told_of_uploads: Option<UploadCause>,
}

impl Log {
    fn note(&mut self, overview: &Overview) {
        let trouble = overview.uploads.trouble.as_ref();
        let cause = trouble.map(|trouble| trouble.cause);
        if self.told_of_uploads != cause {
            self.told_of_uploads = cause;
            if let Some(trouble) = trouble {
                tell(&format!("Uploads wait. {}", shown::upload_trouble(trouble)));
            }
        }
        let Some(answer) = &overview.answer else {
            return;
        };
        let reasons = overview
            .lanes
            .iter()
            .map(|lane| lane.obstacle.as_ref().map(discriminant))
            .collect();
        if self.told != reasons {
            self.told = reasons;
            tell(answer);
        }
    }
}

fn tell(text: &str) {
    // With standard error gone there is nobody left to tell.
    writeln!(std::io::stderr().lock(), "{text}").ok();
}

async fn report(
    engine: &Engine,
    overview: &Overview,
    before: JobCounts,
    started: Timestamp,
) -> Result<Report, Failed> {
    let counts = overview.counts;
    Ok(Report {
        done: counts.done.saturating_sub(before.done),
        needs_review: counts.needs_review.saturating_sub(before.needs_review),
        failed: counts.dead_letters.saturating_sub(before.dead_letters),
        waiting: counts.waiting,
        answer: overview.answer.clone(),
        way_on: shown::way_on(overview),
        results: engine
            .data_directory()
            .join("results")
            .to_string_lossy()
            .into_owned(),
        uploads: overview.uploads.clone(),
        jobs: ended_since(engine, started).await?,
    })
}

/// Returns the jobs that ended since `started`, oldest first.
async fn ended_since(engine: &Engine, started: Timestamp) -> Result<Vec<JobView>, Failed> {
    let mut found = Vec::new();
    let mut after = None;
    // Ends with the list: each page begins where the one before ended.
    loop {
        let page = engine.jobs(JobFilter::default(), after, PAGE).await?;
        found.extend(page.jobs.into_iter().filter(|job| {
            job.started_at.is_some() && job.completed_at.is_some_and(|ended| ended >= started)
        }));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    found.reverse();
    Ok(found)
}

fn text(report: &Report, now: Timestamp) -> String {
    let mut lines = Vec::new();
    // Of many jobs only those that want a look are named.
    let many = report.jobs.len() > MOST_ROWS;
    let worth_a_look = |job: &&JobView| !many || job.status != JobStatus::Completed;
    let mut rows: Vec<JobView> = report.jobs.iter().filter(worth_a_look).cloned().collect();
    let left_out = rows.len().saturating_sub(MOST_ROWS) as u64;
    rows.truncate(MOST_ROWS);
    if !rows.is_empty() {
        lines.push(shown::table(&rows, now));
        if left_out > 0 {
            lines.push(format!(
                "and {left_out} more; “gistmill jobs” lists them all"
            ));
        }
        lines.push(String::new());
    }
    // Not the moment at which it began: what is tried again is counted down from now.
    let left = shown::uploads_left(&report.uploads, super::now());
    if report.done + report.needs_review + report.failed == 0 && report.waiting == 0 {
        lines = vec!["The queue is empty. Add PDFs with “gistmill add”.".to_owned()];
        lines.extend(left);
        return lines.join("\n");
    }
    lines.push(format!(
        "{} done, {} to review, {} failed",
        report.done, report.needs_review, report.failed
    ));
    if (report.jobs.iter()).any(|job| job.cause == Some(Cause::PdfEncrypted)) {
        lines.push(
            "Those that need a password: “gistmill retry --cause pdf-encrypted --password-file FILE”, \
             then “gistmill run --password-file FILE”."
                .to_owned(),
        );
    }
    if report.waiting > 0 {
        let answer = report.answer.as_deref().unwrap_or("Run it again to go on.");
        lines.push(format!(
            "{} still waiting. {answer}",
            counted(report.waiting, "job is", "jobs are")
        ));
        lines.extend(report.way_on.clone());
    }
    lines.extend(left);
    lines.push(format!("Results: {}", report.results));
    lines.join("\n")
}
