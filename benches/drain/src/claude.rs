//! The Claude of a setting, until its standard input ends; then it tells what it met.

use gistmill_testkit::fake_claude::{
    FakeClaude, LimitSettings, MinuteLimits, Options, Plan, Reply, Rule, Scenario,
};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncReadExt as _;

use crate::Outcome;
use crate::setting::Setting;

/// More than a setting in which it is not scarce comes to.
const PLENTY: u64 = 1_000_000_000;

/// What it met.
#[derive(Debug, Deserialize, Serialize)]
pub(crate) struct Met {
    /// Calls that it refused since they were too many for a minute.
    pub(crate) refused: u64,
    /// Connections that it took.
    pub(crate) connections: u64,
    /// Calls in all.
    pub(crate) calls: u64,
}

pub(crate) async fn answer(setting: Setting, files: usize) -> Outcome<()> {
    let rules = setting
        .files(files)
        .into_iter()
        .map(|file| {
            let answer = Plan {
                text: Some(file.text()),
                output_tokens: Some(file.output_tokens),
                event_delay_ms: file.event_delay_ms,
                ..Plan::default()
            };
            Rule::titled(file.file_name(), Reply::Answer(answer))
        })
        .collect();
    let tokens = setting.tokens_per_minute.map_or(PLENTY, u64::from);
    let limits = LimitSettings {
        minute: Some(MinuteLimits {
            requests: PLENTY,
            input_tokens: tokens,
            output_tokens: tokens,
        }),
        ..LimitSettings::default()
    };
    let options = Options {
        scenario: Scenario {
            rules,
            limits,
            ..Scenario::default()
        },
        ..Options::default()
    };
    let claude = FakeClaude::start_with(options).await?;
    println!("{}", claude.url());
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    let met = Met {
        refused: claude.refusals().total() as u64,
        connections: claude.connections() as u64,
        calls: claude.requests().len() as u64,
    };
    println!("{}", serde_json::to_string(&met)?);
    Ok(())
}
