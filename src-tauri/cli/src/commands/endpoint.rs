//! `gistmill endpoint`: where Claude is asked, and what can be expected there.

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    AuthScheme, EndpointKind, EndpointView, KeySource, Lifecycle, ModelProfile, ProfileSource,
};

use super::secret;
use crate::arguments::{EndpointCommand, SecretArguments, UseArguments};
use crate::output::{Failed, Output};
use crate::shown::{columns, grouped};

pub(crate) async fn run(
    engine: &Engine,
    command: Option<EndpointCommand>,
    output: Output,
) -> Result<ExitCode, Failed> {
    let view = match command {
        None => engine.endpoint().await?,
        Some(EndpointCommand::Use(arguments)) => use_another(engine, arguments).await?,
        Some(EndpointCommand::Headers { secret, remove }) => {
            headers(engine, &secret, remove).await?
        }
        Some(EndpointCommand::Models) => return models(engine, output).await,
    };
    let model = engine.settings().await?.model;
    output.either(&view, || text(&view, &model))?;
    Ok(ExitCode::SUCCESS)
}

async fn use_another(engine: &Engine, arguments: UseArguments) -> Result<EndpointView, Failed> {
    let UseArguments {
        kind,
        address,
        model,
    } = arguments;
    let view = engine
        .use_endpoint(EndpointKind::from(kind), address, model)
        .await?;
    Ok(view)
}

async fn headers(
    engine: &Engine,
    arguments: &SecretArguments,
    remove: bool,
) -> Result<EndpointView, Failed> {
    let text = if remove {
        String::new()
    } else {
        secret::read("Header as “Name: value”", arguments)?
    };
    Ok(engine.save_headers(text, false).await?)
}

async fn models(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let test = engine.test_key().await?;
    output.either(&test.profiles, || table(&test.profiles))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns models as a table.
pub(super) fn table(profiles: &[ModelProfile]) -> String {
    let rows = profiles.iter().map(|profile| {
        let pages = match profile.pdf_pages {
            0 => "none".to_owned(),
            pages => pages.to_string(),
        };
        [
            profile.model.clone(),
            lifecycle(profile),
            grouped(profile.context_tokens),
            grouped(u64::from(profile.max_output_tokens)),
            pages,
        ]
    });
    columns(["MODEL", "", "WINDOW", "OUTPUT", "PAGES"], rows, &[2, 3, 4])
}

/// Says where a model stands in its life.
fn lifecycle(profile: &ModelProfile) -> String {
    let until = |day: &str| format!("not retired before {day}");
    match (profile.lifecycle, &profile.retires_on, &profile.kept_until) {
        (Lifecycle::Retired, Some(day), _) => format!("retired on {day}"),
        (Lifecycle::Retired, None, _) => "retired".to_owned(),
        (Lifecycle::Deprecated, Some(day), _) => format!("deprecated, retired on {day}"),
        (Lifecycle::Deprecated, None, _) => "deprecated".to_owned(),
        (Lifecycle::Legacy, _, Some(day)) => format!("legacy, {}", until(day)),
        (Lifecycle::Legacy, _, None) => "legacy".to_owned(),
        (Lifecycle::Active, _, Some(day)) => until(day),
        (Lifecycle::Active, _, None) if profile.source == ProfileSource::Assumed => {
            "unknown".to_owned()
        }
        (Lifecycle::Active, _, None) => "current".to_owned(),
    }
}

fn text(view: &EndpointView, model: &str) -> String {
    let from = if view.from_environment {
        ", from ANTHROPIC_BASE_URL"
    } else {
        ""
    };
    let mut lines = vec![format!(
        "Claude is asked at {}{from} ({}).",
        view.address,
        view.kind.name()
    )];
    let how = match view.auth {
        AuthScheme::ApiKey => "x-api-key",
        AuthScheme::Bearer => "Authorization: Bearer",
    };
    lines.push(format!(
        "The key is sent as {how}; API version {}.",
        view.api_version
    ));
    if !view.header_names.is_empty() {
        let source = match view.header_source {
            KeySource::Keychain => "from the keychain",
            KeySource::Environment | KeySource::EnvironmentToken => "from ANTHROPIC_CUSTOM_HEADERS",
            KeySource::Session | KeySource::None => "for this session only",
        };
        lines.push(format!(
            "Extra headers {source}: {}.",
            view.header_names.join(", ")
        ));
    }
    let can = view.abilities;
    let abilities = [
        ("PDFs", can.documents && !view.text_only),
        ("page references", can.citations && !view.text_only),
        ("fields by schema", can.structured_outputs),
        ("counting tokens", can.count_tokens),
        ("batches at half the price", can.batches),
        ("files", can.files),
        ("a list of models", can.models),
    ];
    let named = |wanted: bool| {
        let words: Vec<&str> = abilities
            .iter()
            .filter(|(_, can)| *can == wanted)
            .map(|(word, _)| *word)
            .collect();
        words.join(", ")
    };
    lines.push(format!("Expected there: {}.", named(true)));
    if !named(false).is_empty() {
        lines.push(format!("Not there: {}.", named(false)));
    }
    if view.text_only {
        lines.push("The text of PDFs is sent in place of their pages.".to_owned());
    }
    lines.push(format!("Model: {model}. Try it with “gistmill key test”."));
    lines.join("\n")
}
