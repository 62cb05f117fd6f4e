//! `gistmill batches report`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{BatchReport, Cause, Fix, NextStep, RankedJob};

use crate::output::{Failed, Output};
use crate::shown::{cap, columns, counted, duration, moment, money, short_id};

/// Largest limit on output that is suggested: what models give at most.
const MOST_TOKENS: u32 = 128_000;

pub(crate) async fn run(engine: &Engine, batch: &str, output: Output) -> Result<ExitCode, Failed> {
    let batch_id = engine.batch_named(batch).await?;
    let report = engine.batch_report(batch_id).await?;
    let max_tokens = engine.settings().await?.max_tokens;
    output.either(&report, || text(&report, max_tokens))?;
    Ok(ExitCode::SUCCESS)
}

fn text(report: &BatchReport, max_tokens: u32) -> String {
    let mut parts = vec![
        head(report),
        ended(report),
        money_spent(report),
        time(report),
    ];
    if !report.next_steps.is_empty() {
        let batch = short_id(report.batch.batch_id.as_str());
        let steps = report
            .next_steps
            .iter()
            .map(|step| next_step(step, batch, max_tokens));
        parts.push(format!(
            "What to do next\n{}",
            steps.collect::<Vec<_>>().join("\n")
        ));
    }
    let more_than_one = report.batch.counts.total > 1;
    for (heading, jobs) in [("SLOWEST", &report.slowest), ("DEAREST", &report.dearest)] {
        if more_than_one && !jobs.is_empty() {
            parts.push(ranked(heading, jobs));
        }
    }
    parts.extend(files(report));
    parts.join("\n\n")
}

fn head(report: &BatchReport) -> String {
    let batch = &report.batch;
    let counts = batch.counts;
    let left = counts.waiting + counts.running;
    let mut lines = vec![format!("{}  {}", batch.name, batch.batch_id)];
    let template = report
        .template
        .as_ref()
        .map(|template| format!("{template}, "))
        .unwrap_or_default();
    lines.push(format!(
        "{}, {}, {template}{}",
        counted(counts.total, "job", "jobs"),
        counted(report.pages, "page", "pages"),
        report.model
    ));
    let mut times = vec![format!("added {}", moment(batch.created_at))];
    if let Some(started) = report.started_at {
        times.push(format!("began {}", moment(started)));
    }
    if let Some(ended) = report.ended_at {
        times.push(format!("ended {}", moment(ended)));
    }
    if let (Some(started), Some(ended)) = (report.started_at, report.ended_at) {
        times.push(format!(
            "{} in all",
            duration(ended.since(started).as_millis())
        ));
    }
    lines.push(times.join(", "));
    if batch.paused {
        lines.push(format!(
            "It is paused: “gistmill batches resume {}”.",
            short_id(batch.batch_id.as_str())
        ));
    }
    if left > 0 {
        lines.push(format!(
            "{} not ended yet: this is how it stands now.",
            counted(left, "job has", "jobs have")
        ));
    }
    lines.join("\n")
}

/// Returns how many jobs ended how.
fn ended(report: &BatchReport) -> String {
    let counts = report.batch.counts;
    let all = [
        ("done", counts.done),
        ("  of them reused, for $0.00", report.reused),
        ("to review", counts.needs_review),
        ("failed", counts.dead_letters),
        ("cancelled", counts.cancelled),
        ("running", counts.running),
        ("waiting", counts.waiting),
    ];
    let rows = all
        .into_iter()
        .filter(|(_, jobs)| *jobs > 0)
        .map(|(how, jobs)| [how.to_owned(), jobs.to_string()]);
    columns(["ENDED", "JOBS"], rows, &[1])
}

fn money_spent(report: &BatchReport) -> String {
    let spent = &report.batch.money;
    let mut line = format!("Spent: {}", money(Some(spent.settled_micros)));
    for (micros, what) in [
        (spent.reserved_micros, "reserved"),
        (spent.unknown_micros, "of unknown outcome"),
    ] {
        if micros > 0 {
            line.push_str(&format!(", {} {what}", money(Some(micros))));
        }
    }
    if spent.cap_micros.is_some() {
        line.push_str(&format!("; the cap is {}", cap(spent.cap_micros)));
    }
    let mut lines = vec![line];
    if report.expected_micros.is_some() || report.at_worst_micros.is_some() {
        lines.push(format!(
            "Forecast: {} as expected, {} at worst",
            money(report.expected_micros),
            money(report.at_worst_micros)
        ));
    }
    lines.push(format!(
        "Tokens: {} in, {} out; {}, {}",
        report.input_tokens,
        report.output_tokens,
        counted(report.attempts, "attempt", "attempts"),
        counted(report.retries, "of them a retry", "of them retries")
    ));
    if report.without_result > 0 {
        lines.push(format!(
            "{} something and {} no result",
            counted(report.without_result, "job has cost", "jobs have cost"),
            if report.without_result == 1 {
                "has"
            } else {
                "have"
            }
        ));
    }
    if report.wasted_micros > 0 {
        lines.push(format!(
            "Attempts without a result: {}",
            money(Some(report.wasted_micros))
        ));
    }
    lines.join("\n")
}

fn time(report: &BatchReport) -> String {
    let mut parts = Vec::new();
    for (milliseconds, what) in [
        (report.typical_waited_ms, "waited"),
        (report.typical_ran_ms, "ran"),
    ] {
        if let Some(milliseconds) = milliseconds {
            parts.push(format!("{what} {}", duration(u128::from(milliseconds))));
        }
    }
    if parts.is_empty() {
        return "A job’s time: none has ended yet".to_owned();
    }
    let mut line = format!("A typical job {}", parts.join(" and "));
    if let Some(slow) = report.slow_ran_ms {
        line.push_str(&format!(
            "; one in twenty ran longer than {}",
            duration(u128::from(slow))
        ));
    }
    line
}

fn ranked(heading: &str, jobs: &[RankedJob]) -> String {
    let rows = jobs.iter().map(|job| {
        [
            job.title.clone(),
            duration(u128::from(job.ran_ms)),
            money(Some(job.cost_micros)),
            short_id(job.job_id.as_str()).to_owned(),
        ]
    });
    columns([heading, "RAN", "COST", "JOB"], rows, &[1, 2])
}

fn next_step(step: &NextStep, batch: &str, max_tokens: u32) -> String {
    let jobs = if step.review {
        counted(step.jobs, "job wants a look", "jobs want a look")
    } else {
        counted(step.jobs, "job failed", "jobs failed")
    };
    let mut lines = vec![format!("  {jobs} ({}): {}", step.cause.key(), step.hint)];
    lines.extend(
        commands(step, batch, max_tokens)
            .into_iter()
            .map(|command| format!("    {command}")),
    );
    if runs_again(step.fix) {
        lines.push(format!(
            "    At worst {} for one attempt at each.",
            money(step.at_worst_micros)
        ));
    }
    lines.join("\n")
}

/// Says whether the same jobs can be run again; else the files are added anew.
fn runs_again(fix: Fix) -> bool {
    fix != Fix::ReplaceFile
}

/// Returns what to run, one command a line, in order.
fn commands(step: &NextStep, batch: &str, max_tokens: u32) -> Vec<String> {
    let status = if step.review {
        " --status needs-review"
    } else {
        ""
    };
    let which = format!("--batch {batch} --cause {}{status}", step.cause.key());
    let retry = format!("gistmill retry {which}");
    let before = match step.fix {
        Fix::RunAgain
        | Fix::RaiseOutputLimit
        | Fix::ChangeModel
        | Fix::UseClaude
        | Fix::PutFileBack
        | Fix::OpenConsole
        | Fix::CheckConnection
        | Fix::FreeSpace => None,
        // The files are named, since they are to be replaced.
        Fix::ReplaceFile => {
            return vec![
                format!("gistmill jobs {which}"),
                "gistmill add FILE".to_owned(),
            ];
        }
        Fix::AddKey => Some("gistmill key set"),
        Fix::TestKey => Some("gistmill key test"),
        Fix::ChooseModel => Some("gistmill config set model MODEL"),
        Fix::OpenSettings if step.cause == Cause::DocumentNotRead => {
            Some("gistmill config set base-url none")
        }
        Fix::OpenSettings => Some("gistmill config"),
    };
    let change = match step.fix {
        Fix::RaiseOutputLimit => {
            let more = max_tokens.saturating_mul(2).min(MOST_TOKENS);
            format!(" --max-tokens {more}")
        }
        Fix::ChangeModel => " --model MODEL".to_owned(),
        Fix::UseClaude => " --provider claude".to_owned(),
        _ => String::new(),
    };
    before
        .map(str::to_owned)
        .into_iter()
        .chain([retry + &change])
        .collect()
}

fn files(report: &BatchReport) -> Option<String> {
    let mut lines: Vec<String> = report
        .files
        .iter()
        .map(|path| format!("  {path}"))
        .collect();
    if let Some(folder) = &report.folder {
        lines.push(format!("  {folder} (copies)"));
    }
    if let Some(error) = &report.files_error {
        lines.push(format!("  Not all could be written: {error}"));
    }
    (!lines.is_empty()).then(|| format!("Files\n{}", lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser as _;

    const FIXES: [Fix; 13] = [
        Fix::RunAgain,
        Fix::RaiseOutputLimit,
        Fix::ChangeModel,
        Fix::UseClaude,
        Fix::PutFileBack,
        Fix::ReplaceFile,
        Fix::AddKey,
        Fix::TestKey,
        Fix::ChooseModel,
        Fix::OpenSettings,
        Fix::OpenConsole,
        Fix::CheckConnection,
        Fix::FreeSpace,
    ];

    fn step(fix: Fix, review: bool) -> NextStep {
        NextStep {
            cause: Cause::CutOff,
            review,
            jobs: 2,
            hint: "Do it.".to_owned(),
            fix,
            at_worst_micros: Some(1),
        }
    }

    #[test]
    fn every_command_that_is_suggested_can_be_run() {
        for fix in FIXES {
            for review in [true, false] {
                for command in commands(&step(fix, review), "0a1b2c3d", 4096) {
                    let parsed = Arguments::try_parse_from(command.split(' '));
                    assert!(parsed.is_ok(), "{command}");
                }
            }
        }
    }

    #[test]
    fn a_cut_off_answer_is_run_again_with_twice_the_limit() {
        assert_eq!(
            commands(&step(Fix::RaiseOutputLimit, true), "0a1b2c3d", 4096),
            [
                "gistmill retry --batch 0a1b2c3d --cause cut-off --status needs-review --max-tokens 8192"
            ]
        );
        assert!(
            commands(&step(Fix::RaiseOutputLimit, false), "0a1b2c3d", 100_000)[0]
                .ends_with("--max-tokens 128000")
        );
    }
}
