//! `gistmill batches report`

mod next;

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{BatchReport, RankedJob};

use crate::output::{Failed, Output};
use crate::shown::{cap, columns, counted, duration, moment, money, short_id};

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
            .map(|step| next::text(step, batch, max_tokens));
        parts.push(format!(
            "What to do next\n{}",
            steps.collect::<Vec<_>>().join("\n")
        ));
    }
    if report.batch.counts.total > 1 && !report.slowest.is_empty() {
        parts.push(ranked("SLOWEST", &report.slowest));
        if report.dearest.iter().any(|job| job.cost_micros > 0) {
            parts.push(ranked("DEAREST", &report.dearest));
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
    use super::next::tests::step;
    use super::*;
    use gistmill_engine::model::{BatchId, BatchView, Fix, JobCounts, JobId, Money, Timestamp};

    fn report() -> BatchReport {
        let batch = BatchView {
            batch_id: BatchId("01a22b27-1e20-72b9-acc0-501c0a1b2c3d".to_owned()),
            name: "Contracts".to_owned(),
            created_at: Timestamp(0),
            counts: JobCounts {
                total: 12,
                done: 9,
                needs_review: 2,
                dead_letters: 1,
                ..JobCounts::default()
            },
            paused: false,
            money: Money {
                settled_micros: 1_230_000,
                unknown_micros: 50_000,
                reserved_micros: 0,
                cap_micros: Some(5_000_000),
            },
            pilot: None,
        };
        let ranked = |title: &str, ran_ms, cost_micros| RankedJob {
            job_id: JobId("01a22b27-1e20-72b9-acc0-501c11112222".to_owned()),
            title: title.to_owned(),
            ran_ms,
            cost_micros,
        };
        BatchReport {
            batch,
            template: Some("contract-key-terms-v1".to_owned()),
            model: "claude-sonnet-4-6".to_owned(),
            started_at: Some(Timestamp(5_000)),
            ended_at: Some(Timestamp(65_000)),
            pages: 120,
            expected_micros: Some(1_000_000),
            at_worst_micros: Some(4_000_000),
            input_tokens: 300_000,
            output_tokens: 9_000,
            reused: 3,
            without_result: 1,
            wasted_micros: 50_000,
            attempts: 11,
            retries: 2,
            typical_waited_ms: Some(2_000),
            typical_ran_ms: Some(8_000),
            slow_ran_ms: Some(31_000),
            slowest: vec![ranked("slow.pdf", 31_000, 90_000)],
            dearest: vec![ranked("dear.pdf", 9_000, 250_000)],
            next_steps: vec![
                step(Fix::RaiseOutputLimit, true),
                step(Fix::ReplaceFile, false),
            ],
            files: vec!["/home/ada/out/Contracts.csv".to_owned()],
            files_error: Some("The disk is full.".to_owned()),
            folder: Some("/home/ada/out".to_owned()),
        }
    }

    #[test]
    fn a_report_says_how_it_ended_what_it_cost_and_what_to_do() {
        let text = text(&report(), 4096);
        for words in [
            "Contracts  01a22b27-1e20-72b9-acc0-501c0a1b2c3d",
            "12 jobs, 120 pages, contract-key-terms-v1, claude-sonnet-4-6",
            "1:00 in all",
            "done                            9",
            "  of them reused, for $0.00     3",
            "to review                       2",
            "Spent: $1.23, $0.0500 of unknown outcome; the cap is $5.00",
            "Forecast: $1.00 as expected, $4.00 at worst",
            "Tokens: 300000 in, 9000 out; 11 attempts, 2 of them retries",
            "1 job has cost something and has no result",
            "Attempts without a result: $0.0500",
            "A typical job waited 0:02 and ran 0:08; one in twenty ran longer than 0:31",
            "  2 jobs want a look (cut-off): Do it.",
            "    gistmill retry --batch 0a1b2c3d --cause cut-off --status needs-review --max-tokens 8192",
            "    gistmill jobs --batch 0a1b2c3d --cause cut-off",
            "slow.pdf  0:31  $0.0900  11112222",
            "dear.pdf  0:09  $0.2500  11112222",
            "  /home/ada/out/Contracts.csv",
            "  Not all could be written: The disk is full.",
        ] {
            assert!(text.contains(words), "“{words}” is missing:\n{text}");
        }
        assert!(!text.contains("waiting"), "nobody waits:\n{text}");
    }

    #[test]
    fn a_batch_that_has_not_begun_has_a_report_too() {
        let mut report = report();
        report.batch.counts = JobCounts {
            total: 12,
            waiting: 12,
            ..JobCounts::default()
        };
        report.started_at = None;
        report.ended_at = None;
        report.typical_ran_ms = None;
        report.typical_waited_ms = None;
        report.next_steps.clear();
        let text = text(&report, 4096);
        assert!(text.contains("12 jobs have not ended yet"), "{text}");
        assert!(text.contains("none has ended yet"), "{text}");
        assert!(!text.contains("What to do next"), "{text}");
    }
}
