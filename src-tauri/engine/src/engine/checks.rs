//! What a person enters, tidied, or why it can't be used.

use std::path::Path;

use crate::error::EngineError;
use crate::model::{BucketSettings, CopiesTo, Settings};
use crate::results;

/// Returns a model's name tidied.
pub(super) fn checked_model(model: &str) -> Result<String, EngineError> {
    let model = model.trim().to_owned();
    if model.is_empty() || model.len() > 200 {
        return Err(EngineError::bad_input(
            "No model is named.",
            "Enter a model, such as claude-sonnet-4-6.",
        ));
    }
    Ok(model)
}

pub(super) fn checked_max_tokens(max_tokens: u32) -> Result<(), EngineError> {
    if (256..=128_000).contains(&max_tokens) {
        return Ok(());
    }
    Err(EngineError::bad_input(
        format!("An output limit of {max_tokens} tokens can't be used."),
        "Enter a number from 256 to 128,000.",
    ))
}

/// Returns an address without white space around it; nothing for an empty one.
fn tidied(address: Option<String>) -> Option<String> {
    address
        .map(|address| address.trim().to_owned())
        .filter(|address| !address.is_empty())
}

/// Makes sure that copies can go to the output folder, and makes it.
fn checked_folder(folder: Option<&str>) -> Result<(), EngineError> {
    let Some(folder) = folder.map(Path::new) else {
        return Err(EngineError::bad_input(
            "No folder for the copies of results is chosen.",
            "Choose one, or have the copies put beside the PDFs.",
        ));
    };
    if !folder.is_absolute() {
        return Err(EngineError::bad_input(
            format!("{} is not a whole path.", folder.display()),
            "Choose the folder, or enter its path from the root on.",
        ));
    }
    std::fs::create_dir_all(folder).map_err(|error| {
        EngineError::bad_input(
            format!("The folder {} can’t be used: {error}.", folder.display()),
            "Choose a folder that you may write to.",
        )
    })
}

/// Returns the settings of a bucket tidied, or which of them can't be used.
fn checked_bucket(mut bucket: BucketSettings) -> Result<BucketSettings, EngineError> {
    for text in [
        &mut bucket.account_id,
        &mut bucket.bucket,
        &mut bucket.folder,
        &mut bucket.access_key_id,
    ] {
        *text = text.trim().to_owned();
    }
    bucket.folder = bucket.folder.trim_matches('/').to_owned();
    bucket.account_id = bucket.account_id.to_lowercase();
    bucket.endpoint = tidied(bucket.endpoint);
    // What is switched off may be half entered.
    if bucket.enabled {
        results::checked_bucket(&bucket).map_err(super::bucket::not_right)?;
    }
    Ok(bucket)
}

/// Returns the settings tidied, or which of them can't be used.
pub(super) fn checked(mut settings: Settings) -> Result<Settings, EngineError> {
    settings.model = checked_model(&settings.model)?;
    checked_max_tokens(settings.max_tokens)?;
    settings.base_url = tidied(settings.base_url)
        .map(|url| url.trim_end_matches('/').to_owned())
        .filter(|url| !url.is_empty());
    settings.webhook_url = tidied(settings.webhook_url);
    settings.output_folder = tidied(settings.output_folder);
    if settings.copies_to == CopiesTo::Folder {
        checked_folder(settings.output_folder.as_deref())?;
    }
    settings.bucket = settings.bucket.map(checked_bucket).transpose()?;
    if let Some(url) = &settings.webhook_url
        && !is_web_address(url)
    {
        return Err(EngineError::bad_input(
            format!("{url} is not an address that could be told of failures."),
            "Enter one that begins with https:// or http://.",
        ));
    }
    let limits = [
        ("Requests", settings.requests_per_minute),
        ("Input tokens", settings.input_tokens_per_minute),
        ("Output tokens", settings.output_tokens_per_minute),
        ("Tokens", Some(settings.tokens_per_minute)),
        ("Counts", Some(settings.counts_per_minute)),
    ];
    for (what, limit) in limits {
        if limit == Some(0) {
            return Err(EngineError::bad_input(
                format!("{what} per minute can't be 0: nothing would ever start."),
                "Enter a larger number. To stop the work, pause the lanes.",
            ));
        }
    }
    let caps = [
        settings.day_cap_micros,
        settings.month_cap_micros,
        settings.batch_cap_micros,
    ];
    if caps.iter().flatten().any(|cap| *cap < 0) {
        return Err(EngineError::bad_input(
            "A cap can't be less than nothing.",
            "Enter an amount such as 5.00, or leave it empty for no cap.",
        ));
    }
    if let Some(hours) = settings.quiet_hours
        && (hours.from_minute >= 24 * 60 || hours.to_minute >= 24 * 60)
    {
        return Err(EngineError::bad_input(
            "These hours are not of one day.",
            "Enter times from 00:00 to 23:59.",
        ));
    }
    if settings.retention_days == Some(0) {
        return Err(EngineError::bad_input(
            "Jobs can't be kept for 0 days.",
            "Enter at least 1, or leave it empty to keep them.",
        ));
    }
    Ok(settings)
}

fn is_web_address(text: &str) -> bool {
    reqwest::Url::parse(text)
        .is_ok_and(|url| matches!(url.scheme(), "http" | "https") && url.host_str().is_some())
}
