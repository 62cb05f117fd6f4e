//! `gistmill add`

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    KeySource, Provider, QueueName, ScanReport, SkipReason, Submission, Submitted, Variables,
};
use serde::Serialize;

use crate::arguments::AddArguments;
use crate::output::{Failed, Output};
use crate::shown::{counted, short_id};

/// Most bytes read as a prompt; longer ones are refused by the engine with its own words.
const LONGEST_INPUT: u64 = 4 * 1024 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    #[serde(flatten)]
    submitted: Submitted,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<ScanReport>,
}

pub(crate) async fn run(
    engine: &Engine,
    arguments: AddArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let settings = engine.settings().await?;
    let provider = arguments.provider.map_or(settings.provider, Provider::from);
    let usual = if arguments.prompt.is_some() {
        QueueName::High
    } else {
        QueueName::Bulk
    };
    let mut submission = Submission {
        name: arguments.name.unwrap_or_default(),
        queue: arguments.queue.map_or(usual, QueueName::from),
        template: arguments.template,
        provider,
        model: arguments.model,
        cap_micros: arguments.cap,
        paused: arguments.paused,
        variables: Variables::new(),
        fresh: false,
    };
    let added = if let Some(prompt) = arguments.prompt {
        let prompt = if prompt == "-" {
            read_prompt()?
        } else {
            prompt
        };
        if submission.name.is_empty() {
            submission.name = "Prompt".to_owned();
        }
        Added {
            submitted: engine.submit_prompt(prompt, submission).await?,
            scan: None,
        }
    } else {
        let report = engine.scan(arguments.files).await?;
        if report.files.is_empty() {
            return Err(Failed::usage(
                &format!("No PDF was found. {}", left_out(&report)),
                "Name PDFs, or folders that hold some.",
            ));
        }
        if submission.name.is_empty() {
            submission.name.clone_from(&report.name);
        }
        let submitted = engine.submit_scan(report.scan_id, submission).await?;
        Added {
            submitted,
            scan: Some(report),
        }
    };
    let needs_key = provider == Provider::Claude && engine.key_status().source == KeySource::None;
    let next = if arguments.paused {
        Next::Resume
    } else if needs_key {
        Next::Key
    } else {
        Next::Run
    };
    output.either(&added, || text(&added, next))?;
    Ok(ExitCode::SUCCESS)
}

fn read_prompt() -> Result<String, Failed> {
    let mut prompt = String::new();
    let mut input = std::io::stdin();
    if input.is_terminal() {
        // Otherwise the program seems to hang.
        eprint_line("Type the prompt, then end it with Ctrl D on a line of its own.");
    }
    input
        .by_ref()
        .take(LONGEST_INPUT)
        .read_to_string(&mut prompt)
        .map_err(|error| Failed::system("The prompt could not be read", &error))?;
    Ok(prompt)
}

fn eprint_line(text: &str) {
    use std::io::Write as _;
    // With standard error gone there is nobody left to tell.
    writeln!(std::io::stderr().lock(), "{text}").ok();
}

/// What lets the jobs go on.
#[derive(Clone, Copy)]
enum Next {
    Resume,
    Key,
    Run,
}

fn text(added: &Added, next: Next) -> String {
    let total = added.submitted.job_ids.len() as u64;
    let mut lines = Vec::new();
    if let Some(report) = &added.scan {
        let unusable: Vec<_> = report
            .files
            .iter()
            .filter(|file| file.document.finding.is_some())
            .collect();
        let usable = total - unusable.len() as u64;
        lines.push(format!(
            "Added {}, {}.",
            counted(usable, "PDF", "PDFs"),
            counted(report.pages, "page", "pages")
        ));
        if !unusable.is_empty() {
            lines.push(format!(
                "{} can't be summarized as they are; they are listed as failed:",
                counted(unusable.len() as u64, "file", "files")
            ));
            lines.extend(unusable.iter().take(20).map(|file| {
                let message = file
                    .document
                    .finding
                    .as_ref()
                    .map_or("", |finding| finding.message.as_str());
                format!("  {}: {message}", file.name)
            }));
            if unusable.len() > 20 {
                lines.push(format!("  and {} more", unusable.len() - 20));
            }
        }
        if !report.skipped.is_empty() {
            lines.push(left_out(report));
        }
    } else {
        lines.push("Added 1 prompt.".to_owned());
    }
    lines.push(match next {
        Next::Resume => format!(
            "They are paused: “gistmill batches resume {}” lets them go on.",
            short_id(added.submitted.batch_id.as_str())
        ),
        Next::Key => "They wait for an API key: set one with “gistmill key set”, or add them with --provider offline."
            .to_owned(),
        Next::Run => "Work the queue with “gistmill run”, unless the window is open.".to_owned(),
    });
    lines.join("\n")
}

/// Says what a scan left out, by reason.
fn left_out(report: &ScanReport) -> String {
    const REASONS: [(SkipReason, &str); 8] = [
        (SkipReason::Duplicate, "with the same content as another"),
        (SkipReason::OtherKind, "of another kind"),
        (SkipReason::Hidden, "hidden"),
        (
            SkipReason::LinkLoop,
            "behind a link that leads nowhere or back",
        ),
        (SkipReason::Unreadable, "that can't be read"),
        (SkipReason::Missing, "that don't exist"),
        (SkipReason::TooMany, "over the limit of one drop"),
        (SkipReason::OwnOutput, "in Gistmill's own folder"),
    ];
    let parts: Vec<String> = REASONS
        .iter()
        .filter_map(|(reason, words)| {
            let count = report
                .skipped
                .iter()
                .filter(|skipped| skipped.reason == *reason)
                .count();
            (count > 0).then(|| format!("{count} {words}"))
        })
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("Left out: {}.", parts.join(", "))
    }
}
