//! `gistmill key`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{KeySource, KeyStatus};

use super::secret;
use crate::arguments::SecretArguments;
use crate::output::{Failed, Output};

pub(crate) async fn set(
    engine: &Engine,
    arguments: &SecretArguments,
    output: Output,
) -> Result<ExitCode, Failed> {
    let key = secret::read("Anthropic API key", arguments)?;
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
