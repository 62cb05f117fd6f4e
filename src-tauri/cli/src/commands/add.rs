//! `gistmill add`

use std::collections::BTreeMap;
use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    EndpointKind, Finding, Fix, Forecast, KeySource, Problem, Provider, QueueName, ScanReport,
    Submission, SubmissionPlan, Submitted,
};
use serde::Serialize;

use super::preflight::{left_out, reused};
use super::{asked, counting, input, passwords, scanning};
use crate::arguments::AddArguments;
use crate::output::{Failed, Output};
use crate::shown::{self, counted, money, short_id};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Added {
    #[serde(flatten)]
    submitted: Submitted,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<SubmissionPlan>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scan: Option<ScanReport>,
}

/// What would be added.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Planned {
    plan: SubmissionPlan,
    forecast: Forecast,
    /// Why tokens could not be counted, where that was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_counted: Option<Problem>,
    scan: ScanReport,
}

pub(crate) async fn run(
    engine: &Engine,
    arguments: AddArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let usual = if arguments.prompt.is_some() {
        QueueName::High
    } else {
        QueueName::Bulk
    };
    passwords::give(engine, &arguments.passwords)?;
    let mut submission = Submission {
        name: arguments.name.unwrap_or_default(),
        cap_micros: arguments.cap,
        paused: arguments.paused,
        fresh: arguments.again,
        pilot: arguments.pilot,
        ..asked::submission(engine, arguments.asked, usual).await?
    };
    let provider = submission.provider;
    let added = if let Some(prompt) = arguments.prompt {
        let prompt = if prompt == "-" {
            input::from_standard_input("prompt")?
        } else {
            prompt
        };
        if submission.name.is_empty() {
            submission.name = "Prompt".to_owned();
        }
        Added {
            submitted: engine.submit_prompt(prompt, submission).await?,
            plan: None,
            scan: None,
        }
    } else {
        let report = scanning::scan(engine, arguments.files).await?;
        if report.files.is_empty() {
            return Err(Failed::usage(
                &format!("No PDF was found. {}", left_out(&report)),
                "Name PDFs, or folders that hold some.",
            ));
        }
        if submission.name.is_empty() {
            submission.name.clone_from(&report.name);
        }
        let not_counted = if arguments.count {
            counting::count(engine, report.scan_id, &submission).await
        } else {
            None
        };
        let plan = engine
            .plan_submission(report.scan_id, submission.clone())
            .await?;
        if arguments.dry_run {
            let planned = Planned {
                plan,
                forecast: engine
                    .forecast_submission(report.scan_id, submission)
                    .await?,
                not_counted,
                scan: report,
            };
            output.either(&planned, || plan_text(&planned))?;
            return Ok(ExitCode::SUCCESS);
        }
        let submitted = engine.submit_scan(report.scan_id, submission).await?;
        Added {
            submitted,
            plan: Some(plan),
            scan: Some(report),
        }
    };
    // Who runs models on this computer wants no key, and others may not.
    let needs_key = provider == Provider::Claude
        && engine.key_status().source == KeySource::None
        && engine.endpoint().await?.kind == EndpointKind::Anthropic;
    // With no more files than that nobody waits.
    let pilot = arguments.pilot.filter(|pilot| {
        let to_run = added.plan.as_ref().map_or(0, |plan| plan.to_run);
        u64::from(*pilot) < to_run
    });
    let all_reused = added
        .plan
        .as_ref()
        .is_some_and(|plan| plan.reused > 0 && plan.to_run == 0);
    let next = if all_reused {
        Next::Nothing
    } else if arguments.paused {
        Next::Resume
    } else if needs_key {
        Next::Key
    } else {
        Next::Run
    };
    output.either(&added, || text(&added, next, pilot))?;
    Ok(ExitCode::SUCCESS)
}

/// What lets the jobs go on.
#[derive(Clone, Copy)]
enum Next {
    Nothing,
    Resume,
    Key,
    Run,
}

fn text(added: &Added, next: Next, pilot: Option<u32>) -> String {
    let total = added.submitted.job_ids.len() as u64;
    let mut lines = Vec::new();
    if let Some(report) = &added.scan {
        let unusable = unusable(report, added.plan.as_ref());
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
            lines.extend(
                unusable
                    .iter()
                    .take(20)
                    .map(|(name, finding)| format!("  {name}: {}", finding.message)),
            );
            if unusable.len() > 20 {
                lines.push(format!("  and {} more", unusable.len() - 20));
            }
            let locked = unusable
                .iter()
                .any(|(_, finding)| finding.cause.fix() == Fix::GivePassword);
            if locked {
                lines.push(
                    "Those that need a password: “gistmill retry --cause pdf-encrypted --password-file FILE”."
                        .to_owned(),
                );
            }
        }
        if !report.skipped.is_empty() {
            lines.push(left_out(report));
        }
    } else {
        lines.push("Added 1 prompt.".to_owned());
    }
    if let Some(plan) = added.plan.as_ref().filter(|plan| plan.reused > 0) {
        lines.push(format!("{}; --again asks anew.", reused(plan)));
    }
    if let Some(pilot) = pilot {
        let id = short_id(added.submitted.batch_id.as_str());
        lines.push(format!(
            "{} first; the others wait. “gistmill batches pilot {id}” shows what it came to, “gistmill batches release {id}” lets them go on.",
            counted(u64::from(pilot), "file runs", "files run")
        ));
    }
    lines.push(match next {
        Next::Nothing => "Nothing is left to be asked.".to_owned(),
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

/// Returns the files of a scan that can't be summarized as they are or as is wanted, and why.
fn unusable<'scan>(
    report: &'scan ScanReport,
    plan: Option<&'scan SubmissionPlan>,
) -> Vec<(&'scan str, &'scan Finding)> {
    let refused: BTreeMap<&str, &Finding> = plan
        .iter()
        .flat_map(|plan| &plan.refused)
        .map(|file| (file.path.as_str(), &file.finding))
        .collect();
    report
        .files
        .iter()
        .filter_map(|file| {
            let found = file.document.finding.as_ref();
            let finding = found.or_else(|| refused.get(file.path.as_str()).copied())?;
            Some((file.name.as_str(), finding))
        })
        .collect()
}

/// Says what would be added, and what it would cost.
fn plan_text(planned: &Planned) -> String {
    let Planned {
        plan,
        forecast,
        not_counted,
        scan,
    } = planned;
    let mut lines = vec![format!(
        "{} would be asked.",
        counted(plan.to_run, "file", "files")
    )];
    if plan.reused > 0 {
        lines.push(format!("{}.", reused(plan)));
    }
    if plan.to_fail > 0 {
        lines.push(format!(
            "{} be summarized as they are, and would fail at once.",
            counted(plan.to_fail, "file can't", "files can't")
        ));
    }
    let left_out = left_out(scan);
    if !left_out.is_empty() {
        lines.push(left_out);
    }
    if plan.to_run > 0 {
        lines.push(format!(
            "One attempt at each: {} as expected, {} at worst.",
            money(plan.expected_micros),
            money(plan.at_worst_micros)
        ));
        lines.extend(not_counted.as_ref().map(counting::words));
        lines.extend(shown::forecast(forecast, super::now()));
    }
    lines.join("\n")
}
