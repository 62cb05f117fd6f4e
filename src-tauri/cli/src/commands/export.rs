//! `gistmill export` and `gistmill copies`

use std::ffi::OsStr;
use std::path::Path;
use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{ExportFormat, ExportRequest, Exported, JobsShown, QueueName};
use serde_json::json;

use super::chosen;
use crate::arguments::{CopiesArguments, ExportArguments};
use crate::output::{Failed, Output, SOME_FAILED};
use crate::shown::counted;
use crate::values;

pub(crate) async fn run(
    engine: &Engine,
    arguments: ExportArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let format = match arguments.format {
        Some(format) => format.into(),
        None => format_of(&arguments.file)?,
    };
    let queue = arguments.queue.map(QueueName::from);
    let request = ExportRequest {
        selection: chosen::selection(engine, &arguments.chosen, queue, JobsShown::All).await?,
        format,
        byte_order_mark: !arguments.no_bom,
    };
    let path = values::absolute(&arguments.file);
    may_write(&path, arguments.replace)?;
    let exported = engine.export(request, path, arguments.replace).await?;
    output.either(&exported, || text(&exported))?;
    Ok(if exported.unreadable > 0 {
        ExitCode::from(SOME_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

/// Says how to write over a file that is there. The engine makes sure that it is not done otherwise.
pub(crate) fn may_write(file: &Path, replace: bool) -> Result<(), Failed> {
    if replace || !file.exists() {
        return Ok(());
    }
    Err(Failed::usage(
        &format!("{} exists already.", file.display()),
        "Name another file, or say --replace to write over it.",
    ))
}

/// Returns what a file's ending says that it holds.
fn format_of(file: &Path) -> Result<ExportFormat, Failed> {
    let ending = file
        .extension()
        .and_then(OsStr::to_str)
        .map(str::to_ascii_lowercase);
    match ending.as_deref() {
        Some("csv") => Ok(ExportFormat::Csv),
        Some("jsonl" | "ndjson") => Ok(ExportFormat::Jsonl),
        Some("md" | "markdown") => Ok(ExportFormat::Markdown),
        _ => Err(Failed::usage(
            &format!("{} does not say what to write.", file.display()),
            "Let its name end in .csv, .jsonl or .md, or say --format.",
        )),
    }
}

fn text(exported: &Exported) -> String {
    let mut lines = vec![format!(
        "{} with {} in {} ({}).",
        counted(exported.jobs, "job", "jobs"),
        counted(exported.results, "result", "results"),
        exported.path,
        counted(exported.bytes, "byte", "bytes")
    )];
    if exported.unreadable > 0 {
        let whose = if exported.unreadable == 1 {
            "its job is in it"
        } else {
            "their jobs are in it"
        };
        lines.push(format!(
            "{} could not be read; {whose} without a text. “gistmill show JOB” says why.",
            counted(exported.unreadable, "result", "results")
        ));
    }
    lines.join("\n")
}

pub(crate) async fn retry_copies(
    engine: &Engine,
    arguments: CopiesArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let queue = arguments.queue.map(QueueName::from);
    let selection = chosen::selection(engine, &arguments.chosen, queue, JobsShown::All).await?;
    let copies = engine.retry_copies(selection).await?;
    output.either(&json!({ "copies": copies }), || match copies {
        0 => "No copy is missing that could be made.".to_owned(),
        _ => format!(
            "{} made as soon as a Gistmill works the queue.",
            counted(copies, "copy is", "copies are")
        ),
    })?;
    Ok(ExitCode::SUCCESS)
}
