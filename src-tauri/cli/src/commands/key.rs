//! `gistmill key`

use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{KeySource, KeyStatus};

use crate::arguments::KeySetArguments;
use crate::output::{Failed, Output};

/// Longest key that is read.
const LONGEST_KEY: u64 = 4096;

pub(crate) async fn set(
    engine: &Engine,
    arguments: &KeySetArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let unread = |error: std::io::Error| Failed::system("The key could not be read", &error);
    // Never an argument: other users of the machine see those.
    let key = if arguments.stdin || !std::io::stdin().is_terminal() {
        let mut key = String::new();
        std::io::stdin()
            .take(LONGEST_KEY)
            .read_to_string(&mut key)
            .map_err(unread)?;
        key
    } else {
        rpassword::prompt_password("Anthropic API key (not shown): ").map_err(unread)?
    };
    let status = engine.save_key(key, false).await?;
    output.either(&status, || {
        format!(
            "The key …{} is in the keychain. Try it with “gistmill key test”.",
            status.ending.as_deref().unwrap_or_default()
        )
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn test(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let test = engine.test_key().await?;
    let model = engine.settings().await?.model;
    output.either(&test, || {
        let mut lines = vec!["The key works.".to_owned()];
        lines.push(if test.model_available {
            format!("It may use {model}, the model of the settings.")
        } else {
            format!("It may not use {model}, the model of the settings. Choose another.")
        });
        if !test.models.is_empty() {
            lines.push(format!("Models: {}", test.models.join(", ")));
        }
        let limits = [
            ("requests", test.requests_per_minute),
            ("input tokens", test.input_tokens_per_minute),
            ("output tokens", test.output_tokens_per_minute),
        ];
        for (what, limit) in limits {
            if let Some(limit) = limit {
                lines.push(format!("{limit} {what} a minute"));
            }
        }
        lines.join("\n")
    })?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn remove(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let status: KeyStatus = engine.remove_key().await?;
    output.either(&status, || match status.source {
        KeySource::Environment => {
            "The key is out of the keychain. ANTHROPIC_API_KEY is still set and will be used."
                .to_owned()
        }
        _ => "The key is out of the keychain.".to_owned(),
    })?;
    Ok(ExitCode::SUCCESS)
}
