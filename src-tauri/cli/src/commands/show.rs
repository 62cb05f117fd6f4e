//! `gistmill show`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{AttemptOutcome, AttemptView, JobDetail};

use crate::arguments::ShowArguments;
use crate::output::{Failed, Output};
use crate::shown::{counted, duration, moment, money, remark, status};

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
        lines.push(cause.hint().to_owned());
    }
    lines.push(format!("Job: {}", job.job_id));
    if let Some(path) = &job.source_path {
        lines.push(format!("File: {path}"));
    }
    if let Some(pages) = job.pages {
        lines.push(format!("Pages: {pages}"));
    }
    lines.push(format!(
        "Answered by: {}, {}",
        job.provider.as_str(),
        job.model
    ));
    lines.push(format!(
        "Cost: {} ({} tokens in, {} out)",
        money(job.cost_micros),
        job.input_tokens,
        job.output_tokens
    ));
    lines.push(format!(
        "Attempts: {} of {}",
        job.attempts, job.max_attempts
    ));
    lines.extend(detail.attempts.iter().map(attempt));
    if let Some(result) = &detail.result {
        lines.push(format!("Result: {}", result.path));
        if let Some(path) = &result.copy_path {
            lines.push(format!("Copy: {path}"));
        }
        if let Some(reason) = &result.copy_error {
            lines.push(format!("No copy beside the PDF: {reason}"));
        }
        lines.push(String::new());
        lines.push(result.markdown.clone());
    }
    lines.join("\n")
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
    let mut parts = vec![format!(
        "waited {}",
        duration(u128::from(attempt.waited_ms))
    )];
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
