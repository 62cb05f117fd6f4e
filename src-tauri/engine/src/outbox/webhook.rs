//! Telling others by HTTP, signed in the manner of Standard Webhooks (standardwebhooks.com).

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use reqwest::{Client, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use sha2::Sha256;

use crate::model::Timestamp;
use crate::store::WebhookMessage;

/// How long a receiver may take.
const TIMEOUT: Duration = Duration::from_secs(10);
/// What a secret begins with.
const PREFIX: &str = "whsec_";

/// How a delivery failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Undelivered {
    /// In a sentence.
    pub(super) reason: String,
    /// The receiver wants no more of it.
    pub(super) for_good: bool,
}

/// Returns the key within a secret (`whsec_` and base64), or nothing when it is none.
pub(crate) fn key(secret: &SecretString) -> Option<Vec<u8>> {
    let text = secret.expose_secret().trim();
    let key = STANDARD
        .decode(text.strip_prefix(PREFIX).unwrap_or(text))
        .ok()?;
    // The standard wants 24 to 64 bytes.
    (24..=64).contains(&key.len()).then_some(key)
}

/// Returns the client that all deliveries share.
pub(super) fn client() -> Result<Client, reqwest::Error> {
    Client::builder()
        .timeout(TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("gistmill/", env!("CARGO_PKG_VERSION")))
        .build()
}

/// Delivers a message once.
pub(super) async fn deliver(
    client: &Client,
    url: &str,
    secret: Option<&SecretString>,
    message: &WebhookMessage,
    now: Timestamp,
) -> Result<(), Undelivered> {
    // The same at every try, so that a receiver can tell that it has it already.
    let id = format!("{}:{}", message.event, message.subject);
    let seconds = now.0.div_euclid(1000);
    let mut request = client
        .post(url)
        .header("content-type", "application/json")
        .header("webhook-id", &id)
        .header("webhook-timestamp", seconds)
        .body(message.body.clone());
    if let Some(key) = secret.and_then(key) {
        request = request.header(
            "webhook-signature",
            signature(&key, &id, seconds, &message.body),
        );
    }
    let answer = request.send().await.map_err(|error| Undelivered {
        reason: format!("The webhook could not be reached: {}.", error.without_url()),
        for_good: false,
    })?;
    let status = answer.status();
    if status.is_success() {
        return Ok(());
    }
    Err(Undelivered {
        reason: format!("The webhook answered with status {}.", status.as_u16()),
        for_good: status == StatusCode::GONE,
    })
}

/// Signs `id.timestamp.body`.
fn signature(key: &[u8], id: &str, seconds: i64, body: &str) -> String {
    // A key of any length will do for HMAC.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return String::new();
    };
    mac.update(format!("{id}.{seconds}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_signed_as_the_standard_wants() {
        // The example of the standard's own libraries.
        let secret = SecretString::from("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        let key = key(&secret).unwrap();
        assert_eq!(
            signature(
                &key,
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                1_614_265_330,
                "{\"test\": 2432232314}"
            ),
            "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
        );
    }

    #[test]
    fn what_is_no_key_signs_nothing() {
        for bad in ["", "whsec_", "whsec_short", "not base64!", "whsec_AAAA"] {
            assert!(key(&SecretString::from(bad)).is_none(), "{bad:?}");
        }
    }
}
