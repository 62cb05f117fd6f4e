//! `gistmill config`

use std::path::Path;
use std::process::ExitCode;

use clap::ValueEnum as _;
use gistmill_engine::Engine;
use gistmill_engine::model::{Provider, Settings};

use crate::arguments::SettingName;
use crate::output::{Failed, Output};
use crate::shown::{cap, columns};
use crate::values::{self, OptionalAmount};

pub(crate) async fn show(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let settings = engine.settings().await?;
    output.either(&settings, || text(&settings))?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn set(
    engine: &Engine,
    name: SettingName,
    value: &str,
    output: Output,
) -> Result<ExitCode, Failed> {
    let mut settings = engine.settings().await?;
    change(&mut settings, name, value).map_err(|hint| {
        let mut letters = hint.chars();
        let hint: String = letters
            .next()
            .into_iter()
            .flat_map(char::to_uppercase)
            .chain(letters)
            .collect();
        Failed::usage(
            &format!("{} can’t be “{value}”.", word(name)),
            &format!("{hint}."),
        )
    })?;
    let stored = engine.save_settings(settings).await?;
    output.either(&stored, || {
        format!("{} is {} now.", word(name), written(&stored, name))
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Changes one setting, or says how its values are written.
fn change(settings: &mut Settings, name: SettingName, value: &str) -> Result<(), String> {
    let value = value.trim();
    let money = |text| values::optional_amount(text).map(|OptionalAmount(micros)| micros);
    let limit = |text| values::optional(text, values::number);
    let text = |text: &str| values::optional(text, |text| Ok(text.to_owned()));
    match name {
        SettingName::Provider => {
            settings.provider =
                Provider::from_word(value).ok_or_else(|| "write claude or offline".to_owned())?;
        }
        SettingName::Model => value.clone_into(&mut settings.model),
        SettingName::MaxTokens => settings.max_tokens = values::number(value)?,
        SettingName::BaseUrl => settings.base_url = text(value)?,
        SettingName::Endpoint => settings.endpoint = values::optional(value, values::word)?,
        SettingName::Auth => settings.auth = values::optional(value, values::word)?,
        SettingName::CaFile => settings.ca_file = text(value)?.as_deref().map(from_the_root),
        SettingName::TextOnly => settings.text_only = values::switch(value)?,
        SettingName::CopiesTo => settings.copies_to = values::word(value)?,
        SettingName::OutputFolder => {
            settings.output_folder = text(value)?.as_deref().map(from_the_root);
        }
        SettingName::NameTaken => settings.name_taken = values::word(value)?,
        SettingName::BatchCsv => settings.batch_csv = values::switch(value)?,
        SettingName::BatchJsonl => settings.batch_jsonl = values::switch(value)?,
        SettingName::BatchMarkdown => settings.batch_markdown = values::switch(value)?,
        SettingName::TokensPerMinute => settings.tokens_per_minute = values::number(value)?,
        SettingName::RequestsPerMinute => settings.requests_per_minute = limit(value)?,
        SettingName::InputTokensPerMinute => settings.input_tokens_per_minute = limit(value)?,
        SettingName::OutputTokensPerMinute => settings.output_tokens_per_minute = limit(value)?,
        SettingName::CountsPerMinute => settings.counts_per_minute = values::number(value)?,
        SettingName::DayCap => settings.day_cap_micros = money(value)?,
        SettingName::MonthCap => settings.month_cap_micros = money(value)?,
        SettingName::BatchCap => settings.batch_cap_micros = money(value)?,
        SettingName::BulkFloor => settings.bulk_floor = values::number(value)?,
        SettingName::QuietHours => settings.quiet_hours = values::optional(value, values::hours)?,
        SettingName::RetentionDays => settings.retention_days = limit(value)?,
        SettingName::WebhookUrl => settings.webhook_url = text(value)?,
        SettingName::WebhookBatches => settings.webhook_batches = values::switch(value)?,
        SettingName::NotifyBatches => settings.notify_batches = values::switch(value)?,
        SettingName::SingleKeys => settings.single_keys = values::switch(value)?,
    }
    Ok(())
}

/// Returns a path that means the same to the window, which is started in another folder.
fn from_the_root(path: &str) -> String {
    let path = values::absolute(Path::new(path));
    path.to_string_lossy().into_owned()
}

/// Returns a setting as it is written.
fn written(settings: &Settings, name: SettingName) -> String {
    let limit =
        |limit: Option<u32>| limit.map_or_else(|| "none".to_owned(), |limit| limit.to_string());
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "none".to_owned());
    let switch = |on: bool| if on { "on" } else { "off" }.to_owned();
    match name {
        SettingName::Provider => settings.provider.as_str().to_owned(),
        SettingName::Model => settings.model.clone(),
        SettingName::MaxTokens => settings.max_tokens.to_string(),
        SettingName::BaseUrl => text(&settings.base_url),
        SettingName::Endpoint => settings
            .endpoint
            .as_ref()
            .map_or_else(|| values::NONE.to_owned(), values::written),
        SettingName::Auth => settings
            .auth
            .as_ref()
            .map_or_else(|| values::NONE.to_owned(), values::written),
        SettingName::CaFile => text(&settings.ca_file),
        SettingName::TextOnly => switch(settings.text_only),
        SettingName::CopiesTo => values::written(&settings.copies_to),
        SettingName::OutputFolder => text(&settings.output_folder),
        SettingName::NameTaken => values::written(&settings.name_taken),
        SettingName::BatchCsv => switch(settings.batch_csv),
        SettingName::BatchJsonl => switch(settings.batch_jsonl),
        SettingName::BatchMarkdown => switch(settings.batch_markdown),
        SettingName::TokensPerMinute => settings.tokens_per_minute.to_string(),
        SettingName::RequestsPerMinute => limit(settings.requests_per_minute),
        SettingName::InputTokensPerMinute => limit(settings.input_tokens_per_minute),
        SettingName::OutputTokensPerMinute => limit(settings.output_tokens_per_minute),
        SettingName::CountsPerMinute => settings.counts_per_minute.to_string(),
        SettingName::DayCap => cap(settings.day_cap_micros),
        SettingName::MonthCap => cap(settings.month_cap_micros),
        SettingName::BatchCap => cap(settings.batch_cap_micros),
        SettingName::BulkFloor => settings.bulk_floor.to_string(),
        SettingName::QuietHours => settings
            .quiet_hours
            .map_or_else(|| "none".to_owned(), values::written_hours),
        SettingName::RetentionDays => limit(settings.retention_days),
        SettingName::WebhookUrl => text(&settings.webhook_url),
        SettingName::WebhookBatches => switch(settings.webhook_batches),
        SettingName::NotifyBatches => switch(settings.notify_batches),
        SettingName::SingleKeys => switch(settings.single_keys),
    }
}

fn text(settings: &Settings) -> String {
    let rows = SettingName::value_variants().iter().map(|name| {
        let help = name
            .to_possible_value()
            .and_then(|value| value.get_help().map(ToString::to_string))
            .unwrap_or_default();
        [word(*name), written(settings, *name), help]
    });
    columns(["NAME", "VALUE", ""], rows, &[])
}

/// Returns a setting's name as it is given on the command line.
fn word(name: SettingName) -> String {
    name.to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gistmill_engine::model::{AuthScheme, EndpointKind, NameTaken};

    #[test]
    fn every_setting_is_read_as_it_is_written() {
        let settings = Settings {
            base_url: Some("http://127.0.0.1:9".to_owned()),
            endpoint: Some(EndpointKind::LmStudio),
            auth: Some(AuthScheme::Bearer),
            ca_file: std::env::temp_dir().to_str().map(str::to_owned),
            text_only: true,
            output_folder: std::env::temp_dir().to_str().map(str::to_owned),
            name_taken: NameTaken::Overwrite,
            batch_csv: false,
            batch_jsonl: true,
            batch_markdown: false,
            requests_per_minute: Some(50),
            day_cap_micros: Some(1),
            quiet_hours: values::hours("22:00-07:00").ok(),
            webhook_url: Some("https://example.com/hook".to_owned()),
            ..Settings::default()
        };
        for name in SettingName::value_variants() {
            let text = written(&settings, *name);
            let mut read = Settings::default();
            change(&mut read, *name, &text)
                .unwrap_or_else(|hint| panic!("{}: {hint}", word(*name)));
            assert_eq!(written(&read, *name), text, "{}", word(*name));
        }
    }
}
