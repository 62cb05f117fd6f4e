//! `gistmill preflight`: what would happen, before anything does.

use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    Cause, Fix, Forecast, Notice, Problem as EngineProblem, Provider, QueueName, ScanReport,
    SkipReason, Submission, SubmissionPlan,
};
use serde::Serialize;

use super::{asked, counting, passwords, scanning};
use crate::arguments::PreflightArguments;
use crate::output::{ERROR, Failed, Output, SOME_FAILED};
use crate::shown::{self, counted, money};

/// Files of a group that are named; the JSON has them all.
const NAMED: usize = 5;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Preflight {
    problems: Vec<Problems>,
    notices: Vec<Notices>,
    skipped: Vec<LeftOut>,
    plan: SubmissionPlan,
    forecast: Forecast,
    /// Why tokens could not be counted, where that was wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_counted: Option<EngineProblem>,
    scan: ScanReport,
}

/// Files that can't be sent for the same cause.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Problems {
    cause: Cause,
    fix: Fix,
    hint: &'static str,
    files: Vec<Problem>,
}

#[derive(Serialize)]
struct Problem {
    path: String,
    message: String,
}

/// Files of which the same is worth knowing.
#[derive(Serialize)]
struct Notices {
    notice: Notice,
    meaning: &'static str,
    files: Vec<String>,
}

/// What is no file of the scan, by why.
#[derive(Serialize)]
struct LeftOut {
    reason: SkipReason,
    paths: Vec<String>,
}

pub(crate) async fn run(
    engine: &Engine,
    arguments: PreflightArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    passwords::give(engine, &arguments.passwords)?;
    let submission = Submission {
        fresh: arguments.again,
        ..asked::submission(engine, arguments.asked, QueueName::Bulk).await?
    };
    let provider = submission.provider;
    let scan = scanning::scan(engine, arguments.files).await?;
    let not_counted = if arguments.count {
        counting::count(engine, scan.scan_id, &submission).await
    } else {
        None
    };
    let plan = engine
        .plan_submission(scan.scan_id, submission.clone())
        .await?;
    let forecast = engine.forecast_submission(scan.scan_id, submission).await?;
    let preflight = Preflight {
        problems: problems(&scan, &plan),
        notices: notices(&scan),
        skipped: skipped(&scan),
        plan,
        forecast,
        not_counted,
        scan,
    };
    output.either(&preflight, || text(&preflight, provider))?;
    let sendable = preflight.plan.to_run + preflight.plan.reused;
    Ok(ExitCode::from(if sendable == 0 {
        ERROR
    } else if preflight.problems.is_empty() {
        0
    } else {
        SOME_FAILED
    }))
}

fn problems(scan: &ScanReport, plan: &SubmissionPlan) -> Vec<Problems> {
    let found = scan
        .files
        .iter()
        .filter_map(|file| Some((&file.path, file.document.finding.as_ref()?)));
    let refused = plan.refused.iter().map(|file| (&file.path, &file.finding));
    let mut groups: BTreeMap<Cause, Vec<Problem>> = BTreeMap::new();
    for (path, finding) in found.chain(refused) {
        groups.entry(finding.cause).or_default().push(Problem {
            path: path.clone(),
            message: finding.message.clone(),
        });
    }
    let mut groups: Vec<Problems> = groups
        .into_iter()
        .map(|(cause, files)| Problems {
            cause,
            fix: cause.fix(),
            hint: cause.hint(),
            files,
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.files.len()));
    groups
}

fn notices(scan: &ScanReport) -> Vec<Notices> {
    let mut groups: BTreeMap<Notice, Vec<String>> = BTreeMap::new();
    for file in &scan.files {
        for notice in &file.notices {
            groups.entry(*notice).or_default().push(file.path.clone());
        }
    }
    groups
        .into_iter()
        .map(|(notice, files)| Notices {
            notice,
            meaning: shown::meaning(notice),
            files,
        })
        .collect()
}

fn skipped(scan: &ScanReport) -> Vec<LeftOut> {
    let mut groups: BTreeMap<SkipReason, Vec<String>> = BTreeMap::new();
    for skipped in &scan.skipped {
        let path = match &skipped.same_as {
            Some(first) => format!("{} (the same as {first})", skipped.path),
            None => skipped.path.clone(),
        };
        groups.entry(skipped.reason).or_default().push(path);
    }
    groups
        .into_iter()
        .map(|(reason, paths)| LeftOut { reason, paths })
        .collect()
}

fn text(preflight: &Preflight, provider: Provider) -> String {
    let Preflight {
        problems,
        notices,
        skipped,
        plan,
        forecast,
        not_counted,
        scan,
    } = preflight;
    let unusable: usize = problems.iter().map(|group| group.files.len()).sum();
    let usable = scan.files.len() - unusable;
    let mut lines = vec![if usable == 0 {
        "Nothing here can be sent.".to_owned()
    } else {
        format!(
            "{}, {}, can be sent.",
            counted(usable as u64, "PDF", "PDFs"),
            counted(pages(scan, plan), "page", "pages")
        )
    }];
    if unusable > 0 {
        lines.push(String::new());
        lines.push(format!(
            "{} be sent as they are:",
            counted(unusable as u64, "file can’t", "files can’t")
        ));
    }
    for group in problems {
        lines.push(format!("  {} ({})", group.cause.key(), group.files.len()));
        lines.extend(named(&group.files, |file| {
            format!("{}: {}", file.path, file.message)
        }));
        lines.push(format!("    What to do: {}", shown::hint(group.cause)));
    }
    if !notices.is_empty() {
        lines.push(String::new());
        lines.push("Worth knowing:".to_owned());
    }
    for group in notices {
        let files = counted(group.files.len() as u64, "file", "files");
        lines.push(format!("  {files}: {}", group.meaning));
        lines.extend(named(&group.files, Clone::clone));
    }
    if !skipped.is_empty() {
        lines.push(String::new());
        lines.push("Left out:".to_owned());
    }
    for group in skipped {
        lines.push(format!("  {} {}", group.paths.len(), words(group.reason)));
        lines.extend(named(&group.paths, Clone::clone));
    }
    if usable > 0 {
        lines.push(String::new());
        lines.extend(comes_to(plan, provider));
        lines.extend(not_counted.as_ref().map(counting::words));
        if plan.to_run > 0 {
            lines.extend(shown::forecast(forecast, super::now()));
        }
    }
    lines.join("\n")
}

/// Returns how many pages can be sent.
fn pages(scan: &ScanReport, plan: &SubmissionPlan) -> u64 {
    let refused: BTreeSet<&str> = plan.refused.iter().map(|file| file.path.as_str()).collect();
    let pages = scan
        .files
        .iter()
        .filter(|file| refused.contains(file.path.as_str()))
        .filter_map(|file| file.document.pages);
    scan.pages - pages.map(u64::from).sum::<u64>()
}

/// Names the first of many.
fn named<T>(all: &[T], line: impl Fn(&T) -> String) -> Vec<String> {
    let mut lines: Vec<String> = all
        .iter()
        .take(NAMED)
        .map(|one| format!("    {}", line(one)))
        .collect();
    if all.len() > NAMED {
        lines.push(format!("    and {} more", all.len() - NAMED));
    }
    lines
}

/// Says what a submission would come to.
fn comes_to(plan: &SubmissionPlan, provider: Provider) -> Vec<String> {
    let mut lines = Vec::new();
    if plan.reused > 0 {
        lines.push(format!("{}.", reused(plan)));
    }
    if plan.to_run == 0 {
        lines.push("Nothing is left to be asked.".to_owned());
        return lines;
    }
    if provider == Provider::Offline {
        lines.push(format!(
            "{} would be summarized offline, for nothing.",
            counted(plan.to_run, "file", "files")
        ));
        return lines;
    }
    let mut asked = format!(
        "{} would be asked in {}",
        counted(plan.to_run, "file", "files"),
        counted(plan.calls, "call", "calls")
    );
    if plan.in_parts > 0 {
        asked.push_str(&format!(", {} of them part by part", plan.in_parts));
    }
    lines.push(format!("{asked}."));
    let sure = match plan.estimates {
        _ if plan.counted == plan.to_run => "counted".to_owned(),
        Some(check) => format!(
            "estimated: usually within {} %, {} compared",
            check.usually_off_percent,
            counted(check.calls, "call", "calls")
        ),
        None => "estimated".to_owned(),
    };
    lines.push(format!(
        "About {} input tokens ({sure}).",
        shown::grouped(plan.input_tokens)
    ));
    lines.push(format!(
        "One attempt at each: {} as expected, {} at worst.",
        money(plan.expected_micros),
        money(plan.at_worst_micros)
    ));
    lines.extend(
        plan.model_notice
            .as_ref()
            .map(|notice| notice.message.clone()),
    );
    lines
}

/// Says how many files need not be asked about.
pub(super) fn reused(plan: &SubmissionPlan) -> String {
    counted(
        plan.reused,
        "file has an earlier result, reused for $0.00",
        "files have earlier results, reused for $0.00",
    )
}

/// Says what a scan left out, by reason, in one line; nothing when it left out nothing.
pub(super) fn left_out(report: &ScanReport) -> String {
    let parts: Vec<String> = skipped(report)
        .iter()
        .map(|group| format!("{} {}", group.paths.len(), words(group.reason)))
        .collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("Left out: {}.", parts.join(", "))
    }
}

fn words(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::Hidden => "hidden",
        SkipReason::OtherKind => "of another kind",
        SkipReason::LinkLoop => "behind a link that leads nowhere or back",
        SkipReason::Duplicate => "with the same content as another",
        SkipReason::Unreadable => "that can't be read",
        SkipReason::Missing => "that don't exist",
        SkipReason::TooMany => "over the limit of one drop",
        SkipReason::OwnOutput => "in Gistmill's own folder",
        SkipReason::NotAFile => "that are no files (pipes, sockets, devices)",
        SkipReason::NameNotText => {
            "whose name is not valid text (UTF-8): rename them, then add them"
        }
        SkipReason::StillWritten => "still being copied or downloaded: add them when that is done",
    }
}
