//! `gistmill bucket`

use std::process::ExitCode;

use gistmill_engine::model::{BucketSettings, BucketStatus, FailedUpload, KeySource, Problem};
use gistmill_engine::{Engine, EngineError};
use serde::Serialize;
use serde_json::json;

use super::secret;
use crate::arguments::{BucketArguments, BucketCommand, BucketSecretCommand, SecretArguments};
use crate::output::{Failed, Output, SOME_FAILED};
use crate::shown::{counted, moment, short_id, upload_trouble, uploads_in_full};
use crate::values;

/// What to do where the secret can't be kept.
const NO_KEYCHAIN: &str = "Unlock or install a keychain, or put the secret in the environment variable GISTMILL_R2_SECRET.";

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Bucket {
    settings: Option<BucketSettings>,
    #[serde(flatten)]
    status: BucketStatus,
}

pub(crate) async fn run(
    engine: &Engine,
    command: BucketCommand,
    output: Output,
) -> Result<ExitCode, Failed> {
    match command {
        BucketCommand::Status => print(engine, engine.bucket_status().await?, output).await?,
        BucketCommand::Set(arguments) => set(engine, arguments, output).await?,
        BucketCommand::Secret { command } => {
            let secret = match command {
                BucketSecretCommand::Set(arguments) => Some(read_secret(&arguments)?),
                BucketSecretCommand::Remove => None,
            };
            match engine.save_bucket_secret(secret, false).await {
                Ok(status) => print(engine, status, output).await?,
                // The engine's own hint is about the API key.
                Err(error @ EngineError::Keychain(_)) => {
                    return Err(Failed::from(Problem {
                        hint: NO_KEYCHAIN.to_owned(),
                        ..error.problem()
                    }));
                }
                Err(error) => return Err(error.into()),
            }
        }
        BucketCommand::Test => return test(engine, output).await,
        BucketCommand::Upload => {
            enabled(engine).await?;
            let queued = engine.upload_missing().await?;
            output.either(&json!({ "queued": queued }), || match queued {
                0 => "Every stored result is in the bucket, or on its way.".to_owned(),
                _ => format!(
                    "{} as soon as a Gistmill works the queue.",
                    counted(queued, "result is uploaded", "results are uploaded")
                ),
            })?;
        }
        BucketCommand::Retry => {
            enabled(engine).await?;
            let queued = engine.retry_uploads().await?;
            output.either(&json!({ "queued": queued }), || match queued {
                0 => "No upload waits to be tried again.".to_owned(),
                _ => format!(
                    "{} tried again as soon as a Gistmill works the queue.",
                    counted(queued, "upload is", "uploads are")
                ),
            })?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read_secret(arguments: &SecretArguments) -> Result<String, Failed> {
    let secret = secret::read("Secret of the access key", arguments)?;
    let secret = secret.trim();
    if secret.is_empty() {
        return Err(Failed::usage(
            "No secret was entered.",
            "Paste the secret that Cloudflare showed with the access key, or “gistmill bucket secret remove”.",
        ));
    }
    Ok(secret.to_owned())
}

/// Makes sure that results are uploaded at all.
async fn enabled(engine: &Engine) -> Result<(), Failed> {
    match engine.settings().await?.bucket {
        Some(bucket) if bucket.enabled => Ok(()),
        Some(_) => Err(Failed::usage(
            "Uploads are off.",
            "Turn them on with “gistmill bucket set --enable”.",
        )),
        None => Err(no_bucket()),
    }
}

fn no_bucket() -> Failed {
    Failed::usage(
        "No bucket is set.",
        "Set one with “gistmill bucket set URL --key-id ID”.",
    )
}

async fn set(engine: &Engine, arguments: BucketArguments, output: Output) -> Result<(), Failed> {
    let mut settings = engine.settings().await?;
    let mut bucket = settings.bucket.unwrap_or_default();
    if let Some(url) = &arguments.url {
        let address = engine.read_bucket_address(url)?;
        bucket.account_id = address.account_id;
        bucket.jurisdiction = address.jurisdiction;
        bucket.endpoint = address.endpoint;
        bucket.bucket = address.bucket.unwrap_or(bucket.bucket);
        bucket.folder = address.folder.unwrap_or(bucket.folder);
    }
    change(&mut bucket, arguments);
    settings.bucket = Some(bucket);
    engine.save_settings(settings).await?;
    print(engine, engine.bucket_status().await?, output).await
}

/// Changes what was named.
fn change(bucket: &mut BucketSettings, changes: BucketArguments) {
    let optional = |text: String| Some(text).filter(|text| text != values::NONE);
    if let Some(account_id) = changes.account_id {
        bucket.account_id = account_id;
        // One or the other says where the bucket is.
        bucket.endpoint = None;
    }
    if let Some(jurisdiction) = changes.jurisdiction {
        bucket.jurisdiction = jurisdiction.into();
    }
    if let Some(endpoint) = changes.endpoint {
        bucket.endpoint = optional(endpoint);
        if bucket.endpoint.is_some() {
            bucket.account_id.clear();
        }
    }
    if let Some(name) = changes.bucket {
        bucket.bucket = name;
    }
    if let Some(folder) = changes.folder {
        bucket.folder = optional(folder).unwrap_or_default();
    }
    if let Some(key_id) = changes.key_id {
        bucket.access_key_id = key_id;
    }
    if let Some(upload_pdfs) = changes.upload_pdfs {
        bucket.upload_documents = upload_pdfs;
    }
    if let Some(wait) = changes.wait {
        bucket.wait_for_upload = wait;
    }
    if changes.enable || changes.disable {
        bucket.enabled = changes.enable;
    }
}

async fn test(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    let bucket = engine.settings().await?.bucket.ok_or_else(no_bucket)?;
    let test = engine.test_bucket(bucket, None).await?;
    output.either(&test, || match &test.trouble {
        None => format!("The bucket works. Took {} ms.", test.took_ms),
        Some(trouble) => upload_trouble(trouble),
    })?;
    Ok(if test.trouble.is_some() {
        ExitCode::from(SOME_FAILED)
    } else {
        ExitCode::SUCCESS
    })
}

async fn print(engine: &Engine, status: BucketStatus, output: Output) -> Result<(), Failed> {
    let bucket = Bucket {
        settings: engine.settings().await?.bucket,
        status,
    };
    output.either(&bucket, || text(&bucket))
}

fn text(bucket: &Bucket) -> String {
    let status = &bucket.status;
    let Some(settings) = &bucket.settings else {
        return "No bucket: results stay on this computer. Set one with “gistmill bucket set URL --key-id ID”."
            .to_owned();
    };
    let mut lines = vec![match &status.address {
        Some(address) => format!("Bucket: {address}"),
        None => {
            "Bucket: not set in full; name its address or its parts with “gistmill bucket set”."
                .to_owned()
        }
    }];
    lines.push(what_goes(settings));
    lines.push(key(settings, status));
    if let Some(problem) = status
        .keychain_problem
        .as_ref()
        .filter(|_| !status.secret_set)
    {
        lines.push(format!(
            "The keychain can’t be used: {problem}. {NO_KEYCHAIN}"
        ));
    }
    lines.push(format!(
        "{} in the bucket.",
        counted(status.uploaded, "stored result is", "stored results are")
    ));
    if status.not_uploaded > 0 {
        lines.push(format!(
            "{} and not on the way: “gistmill bucket upload” sends them.",
            counted(status.not_uploaded, "is not", "are not")
        ));
    }
    lines.extend(uploads_in_full(&status.uploads, super::now()));
    if !status.failures.is_empty() {
        lines.push("Given up, newest first; “gistmill bucket retry” tries them again:".to_owned());
        lines.extend(status.failures.iter().map(failure));
    }
    lines.join("\n")
}

fn what_goes(settings: &BucketSettings) -> String {
    if !settings.enabled {
        return "Uploads are off; “gistmill bucket set --enable” turns them on.".to_owned();
    }
    let what = if settings.upload_documents {
        "Results and their PDFs are uploaded."
    } else {
        "Results are uploaded; PDFs stay here."
    };
    let when = if settings.wait_for_upload {
        "A job is done when its result is in the bucket."
    } else {
        "A job is done when its result is stored here."
    };
    format!("{what} {when}")
}

fn key(settings: &BucketSettings, status: &BucketStatus) -> String {
    let id = match settings.access_key_id.as_str() {
        "" => "none; name it with “gistmill bucket set --key-id ID”",
        id => id,
    };
    let secret = match status.secret_source {
        KeySource::Keychain => "in the keychain",
        KeySource::Environment | KeySource::EnvironmentToken => "from GISTMILL_R2_SECRET",
        KeySource::Session => "until this program ends",
        KeySource::None => "none; keep it with “gistmill bucket secret set”",
    };
    format!("Access key: {id}\nSecret: {secret}")
}

fn failure(failed: &FailedUpload) -> String {
    format!(
        "  {}  {} ({}): {}",
        moment(failed.at),
        failed.title,
        short_id(failed.job_id.as_str()),
        failed.message
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Arguments;
    use clap::Parser as _;
    use gistmill_engine::model::Jurisdiction;

    fn changed(mut bucket: BucketSettings, arguments: &[&str]) -> BucketSettings {
        let call = ["gistmill", "bucket", "set"].iter().chain(arguments);
        let parsed = Arguments::try_parse_from(call).unwrap_or_else(|error| panic!("{error}"));
        match parsed.command {
            crate::arguments::Command::Bucket {
                command: Some(BucketCommand::Set(arguments)),
            } => change(&mut bucket, arguments),
            _ => panic!("another command was read"),
        }
        bucket
    }

    #[test]
    fn what_is_named_becomes_different_and_the_rest_stays() {
        let bucket = changed(
            BucketSettings::default(),
            &[
                "--account-id",
                "0123456789abcdef0123456789abcdef",
                "--jurisdiction",
                "eu",
                "--bucket",
                "results",
                "--folder",
                "a/b",
                "--key-id",
                "key",
                "--upload-pdfs",
                "on",
                "--wait",
                "on",
                "--enable",
            ],
        );
        let all = BucketSettings {
            enabled: true,
            account_id: "0123456789abcdef0123456789abcdef".to_owned(),
            jurisdiction: Jurisdiction::Eu,
            endpoint: None,
            bucket: "results".to_owned(),
            folder: "a/b".to_owned(),
            access_key_id: "key".to_owned(),
            upload_documents: true,
            wait_for_upload: true,
        };
        assert_eq!(bucket, all);
        let off = changed(bucket, &["--disable", "--folder", "none"]);
        assert_eq!(
            off,
            BucketSettings {
                enabled: false,
                folder: String::new(),
                ..all
            }
        );
        let elsewhere = changed(off, &["--endpoint", "http://localhost:9000"]);
        assert_eq!(
            (elsewhere.account_id.as_str(), elsewhere.endpoint.as_deref()),
            ("", Some("http://localhost:9000")),
            "one or the other says where the bucket is"
        );
    }
}
