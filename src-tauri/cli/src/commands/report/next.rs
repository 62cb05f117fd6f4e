//! What to do about the jobs of a batch that ended without a result, with the commands for it.

use gistmill_engine::model::{Fix, NextStep};

use crate::shown::{SEND_TEXT, counted, money};

/// Largest limit on output that is suggested: what models give at most.
const MOST_TOKENS: u32 = 128_000;

/// Returns a step with its commands.
pub(super) fn text(step: &NextStep, batch: &str, max_tokens: u32) -> String {
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
        // Passwords are known only to the program that works the jobs.
        Fix::GivePassword => {
            return vec![
                format!("{retry} --password-file FILE"),
                "gistmill run --password-file FILE".to_owned(),
            ];
        }
        Fix::AddKey => Some("gistmill key set"),
        Fix::TestKey => Some("gistmill key test"),
        Fix::ChooseModel => Some("gistmill config set model MODEL"),
        Fix::ChangeDelivery => Some("gistmill queues set bulk --delivery each"),
        Fix::SendText => Some(SEND_TEXT),
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use gistmill_engine::model::Cause;

    use crate::arguments::Arguments;
    use clap::Parser as _;

    const FIXES: [Fix; 15] = [
        Fix::RunAgain,
        Fix::RaiseOutputLimit,
        Fix::ChangeModel,
        Fix::UseClaude,
        Fix::PutFileBack,
        Fix::ReplaceFile,
        Fix::AddKey,
        Fix::TestKey,
        Fix::ChooseModel,
        Fix::ChangeDelivery,
        Fix::SendText,
        Fix::OpenConsole,
        Fix::CheckConnection,
        Fix::FreeSpace,
        Fix::GivePassword,
    ];

    pub(in super::super) fn step(fix: Fix, review: bool) -> NextStep {
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
