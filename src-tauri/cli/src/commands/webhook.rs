//! `gistmill webhook`

use std::process::ExitCode;

use gistmill_engine::Engine;
use gistmill_engine::model::WebhookStatus;
use serde::Serialize;

use super::secret;
use crate::arguments::SecretArguments;
use crate::output::{Failed, Output};
use crate::shown::{counted, moment};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Webhook {
    url: Option<String>,
    #[serde(flatten)]
    status: WebhookStatus,
}

pub(crate) async fn show(engine: &Engine, output: Output) -> Result<ExitCode, Failed> {
    print(engine, engine.webhook_status().await?, output).await
}

pub(crate) async fn set_secret(
    engine: &Engine,
    arguments: &SecretArguments,
    remove: bool,
    output: Output,
) -> Result<ExitCode, Failed> {
    let secret = if remove {
        None
    } else {
        Some(secret::read("Secret of the webhook", arguments)?)
    };
    print(engine, engine.save_webhook_secret(secret).await?, output).await
}

async fn print(engine: &Engine, status: WebhookStatus, output: Output) -> Result<ExitCode, Failed> {
    let webhook = Webhook {
        url: engine.settings().await?.webhook_url,
        status,
    };
    output.either(&webhook, || text(&webhook))?;
    Ok(ExitCode::SUCCESS)
}

fn text(webhook: &Webhook) -> String {
    let status = &webhook.status;
    let mut lines = vec![match &webhook.url {
        Some(url) => format!("Failures are told to {url}."),
        None => "Nobody is told: set an address with “gistmill config set webhook-url ADDRESS”."
            .to_owned(),
    }];
    lines.push(if status.secret_set {
        "Messages are signed.".to_owned()
    } else {
        "Messages are not signed: keep a secret with “gistmill webhook secret”.".to_owned()
    });
    if status.waiting > 0 {
        lines.push(format!(
            "{} to be delivered.",
            counted(status.waiting, "message waits", "messages wait")
        ));
    }
    match (status.last_at, &status.last_error) {
        (Some(at), Some(error)) => {
            lines.push(format!(
                "The last one, {}, was not delivered: {error}",
                moment(at)
            ));
        }
        (Some(at), None) => lines.push(format!("The last one was delivered {}.", moment(at))),
        (None, _) => {}
    }
    lines.join("\n")
}
