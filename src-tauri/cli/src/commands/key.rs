//! `gistmill key`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{EndpointView, KeySource, KeyStatus, KeyTest};

use super::endpoint::table;
use super::secret;
use crate::arguments::SecretArguments;
use crate::output::{Failed, Output, SOME_FAILED};
use crate::shown::grouped;

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
    let endpoint = engine.endpoint().await?;
    output.either(&test, || text(&test, &endpoint))?;
    // Whoever runs this in a script wants to know that no job can be worked.
    Ok(if test.model_available && test.price_known {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(SOME_FAILED)
    })
}

fn text(test: &KeyTest, endpoint: &EndpointView) -> String {
    let model = &test.model.model;
    let mut lines = vec![format!(
        "The key works. Claude was asked at {} ({}).",
        endpoint.address,
        endpoint.kind.name()
    )];
    lines.push(if test.model_available {
        format!("It may use {model}, the model of the settings.")
    } else {
        let instead = test.model.successor.as_ref().filter(|successor| {
            test.models
                .iter()
                .any(|listed| listed == *successor)
        });
        let instead = instead.map_or("MODEL", String::as_str);
        format!(
            "It may not use {model}, the model of the settings. Choose another: gistmill config set model {instead}"
        )
    });
    if let Some(notice) = &test.notice {
        lines.push(notice.message.clone());
    }
    lines.push(match (test.price_known, test.free) {
        (true, true) => format!("{model} is marked as free."),
        (true, false) => format!("The price of {model} is known."),
        (false, _) => format!(
            "Nobody knows what {model} costs, so no job is sent to it: gistmill prices set {model} --input AMOUNT \
             --output AMOUNT, or gistmill prices free {model}"
        ),
    });
    if endpoint.text_only || test.model.pdf_pages == 0 {
        lines
            .push("No PDFs are read there: their text is sent in place of their pages.".to_owned());
    }
    let limits: Vec<String> = [
        ("requests", test.requests_per_minute),
        ("input tokens", test.input_tokens_per_minute),
        ("output tokens", test.output_tokens_per_minute),
    ]
    .into_iter()
    .filter_map(|(what, limit)| Some(format!("{} {what}", grouped(limit?))))
    .collect();
    lines.push(if limits.is_empty() {
        "Its limits are told with the first answer.".to_owned()
    } else {
        format!("A minute has room for {}.", limits.join(", "))
    });
    if !test.profiles.is_empty() {
        lines.push(String::new());
        lines.push(table(&test.profiles));
    }
    lines.join("\n")
}

pub(crate) async fn remove(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let status: KeyStatus = engine.remove_key().await?;
    output.either(&status, || match status.source {
        KeySource::Environment => {
            "The key is out of the keychain. ANTHROPIC_API_KEY is still set and will be used."
                .to_owned()
        }
        KeySource::EnvironmentToken => {
            "The key is out of the keychain. ANTHROPIC_AUTH_TOKEN is still set and will be used."
                .to_owned()
        }
        _ => "The key is out of the keychain.".to_owned(),
    })?;
    Ok(ExitCode::SUCCESS)
}
