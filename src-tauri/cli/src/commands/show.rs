//! `gistmill show`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    AttemptOutcome, AttemptView, Delivery, JobDetail, JobKind, JobView, ResultView, Variables,
};

use crate::arguments::ShowArguments;
use crate::output::{Failed, Output};
use crate::shown::{
    self, again, counted, duration, moment, money, remark, short_id, status, upload,
};

pub(crate) async fn run(
    engine: &Engine,
    arguments: ShowArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    engine.look_for_consumer();
    let job_id = engine.job_named(&arguments.job).await?;
    let detail = engine.job(job_id).await?;
    if arguments.result {
        let Some(result) = &detail.result else {
            return Err(Failed::usage(
                &format!("{} has no summary yet.", detail.job.title),
                &format!("It is {}. Look again when it is done.", status(&detail.job)),
            ));
        };
        output.either(result, || result.markdown.clone())?;
    } else {
        output.either(&detail, || text(&detail))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(detail: &JobDetail) -> String {
    let job = &detail.job;
    let mut lines = vec![format!("{}  {}", job.title, status(job))];
    let said = remark(job, super::now());
    if !said.is_empty() {
        lines.push(said);
    }
    if let Some(cause) = job.cause {
        lines.push(shown::hint(cause));
    }
    lines.push(format!("Job: {}", job.job_id));
    if let Some(path) = &job.source_path {
        lines.push(format!("File: {path}"));
    }
    if let Some(pages) = job.pages {
        lines.push(format!("Pages: {pages}"));
    }
    if let Some(document) = &detail.document {
        lines.extend(shown::facts(document, detail.sends));
    }
    if job.kind == JobKind::Pdf {
        lines.push(format!("Template: {}", job.template));
    }
    lines.extend(variables(&detail.variables));
    lines.push(format!(
        "Answered by: {}, {}{}",
        job.provider.as_str(),
        job.model,
        match job.delivery {
            Delivery::Each => "",
            Delivery::Batch => ", through the batch API at half price",
        }
    ));
    lines.push(format!(
        "Cost: {} ({} tokens in, {} out)",
        money(job.cost_micros),
        job.input_tokens,
        job.output_tokens
    ));
    if let Some(parts) = job.parts {
        lines.push(format!("Parts: {}", shown::progress(parts)));
    }
    if let Some(remote) = &detail.remote {
        lines.push(format!(
            "Batch API: one of {} requests, handed over {}, {}",
            remote.requests,
            moment(remote.sent_at),
            remote.remote_id.as_deref().map_or_else(
                || "whether it arrived is being found out".to_owned(),
                |remote_id| format!("as {remote_id}")
            )
        ));
        lines.extend(remote.trouble.clone());
    }
    lines.extend(detail.parts.iter().map(shown::part));
    lines.push(attempts(job));
    lines.extend(detail.attempts.iter().map(attempt));
    if let Some(result) = &detail.result {
        lines.extend(stored(result));
        lines.push(String::new());
        lines.push(result.markdown.clone());
    }
    lines.join("\n")
}

/// Says how often a job was asked about, and how often it may be: for one in parts, each of them and their
/// combining may be tried so often.
fn attempts(job: &JobView) -> String {
    let (made, most) = (job.attempts, job.max_attempts);
    let left = most.saturating_sub(made);
    match job.parts {
        None => format!("Attempts: {made} of {most}"),
        Some(_) if job.status.is_final() => format!("Attempts: {made} for all parts"),
        Some(_) => format!("Attempts: {made} for all parts, at most {left} more at this step"),
    }
}

/// Returns what a person gave values for.
fn variables(values: &Variables) -> Option<String> {
    let given: Vec<String> = values
        .iter()
        // The day is given by the day.
        .filter(|(name, _)| *name != "today")
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    (!given.is_empty()).then(|| format!("Variables: {}", given.join(", ")))
}

/// Says where a result lies, what it came from, and what it took the place of.
fn stored(result: &ResultView) -> Vec<String> {
    let now = super::now();
    let mut lines = vec![format!("Result: {}", result.path)];
    if let Some(from) = &result.reused_from {
        lines.push(format!(
            "Reused for $0.00: the result of job {}, stored {}",
            short_id(from.job_id.as_str()),
            moment(from.stored_at)
        ));
    }
    if let Some(path) = &result.copy_path {
        lines.push(format!("Copy: {path}"));
    }
    if let Some(reason) = &result.copy_error {
        // With a copy it says why it has another name.
        let what = if result.copy_path.is_some() {
            "  "
        } else {
            "No copy: "
        };
        let again = result
            .copy_retry_at
            .map(|at| again(at, now))
            .unwrap_or_default();
        lines.push(format!("{what}{reason}{again}"));
    }
    if let Some(view) = &result.upload {
        lines.push(format!("Upload: {}", upload(view, now)));
    }
    if !result.older.is_empty() {
        lines.push("Results of earlier runs:".to_owned());
        lines.extend(result.older.iter().map(|older| {
            format!(
                "  run {}, {}, {}, {}\n    {}",
                older.generation,
                moment(older.created_at),
                older.model,
                older.template,
                older.path
            )
        }));
    }
    lines
}

fn attempt(attempt: &AttemptView) -> String {
    let outcome = match attempt.outcome {
        AttemptOutcome::Running => "running",
        AttemptOutcome::Completed => "done",
        AttemptOutcome::NeedsReview => "needs review",
        AttemptOutcome::Retryable => "failed in a way that can pass",
        AttemptOutcome::Failed => "failed",
        AttemptOutcome::Deferred => "put off, not counted",
        AttemptOutcome::Interrupted => "interrupted, outcome unknown",
        AttemptOutcome::Cancelled => "cancelled",
    };
    let mut parts: Vec<String> = shown::step(attempt.step).into_iter().collect();
    parts.push(format!(
        "waited {}",
        duration(u128::from(attempt.waited_ms))
    ));
    if let Some(ended_at) = attempt.ended_at {
        parts.push(format!(
            "ran {}",
            duration(ended_at.since(attempt.started_at).as_millis())
        ));
    }
    if let Some(told) = attempt.told_to_wait_ms {
        parts.push(format!("told to wait {}", duration(u128::from(told))));
    }
    if let Some(tokens) = attempt.output_tokens.filter(|tokens| *tokens > 0) {
        parts.push(counted(tokens, "token out", "tokens out"));
    }
    let mut line = format!(
        "  {}  {outcome}, {}",
        moment(attempt.started_at),
        parts.join(", ")
    );
    if let Some(message) = &attempt.message {
        let code = attempt
            .http_status
            .map(|status| format!(" ({status})"))
            .unwrap_or_default();
        line.push_str(&format!("\n    {message}{code}"));
    }
    if let Some(request_id) = &attempt.request_id {
        line.push_str(&format!("\n    {request_id}"));
    }
    line
}
