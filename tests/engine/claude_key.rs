//! The key: where it goes, where it never goes, and how it is tested.

use gistmill_engine::model::{Cause, ProfileSource};
use gistmill_engine::provider::Billed;
use gistmill_engine::provider::claude::{ANTHROPIC_BASE_URL, ClaudeConfig, ClaudeProvider};
use gistmill_testkit::fake_claude::{Canned, FakeClaude, Options, Reply, Rule};
use secrecy::SecretString;

use crate::claude::{KEY, MODEL, deliver, patient, prompt, provider_at};

#[tokio::test]
async fn the_key_appears_nowhere() {
    let server = FakeClaude::start().await;
    let echo = format!("invalid x-api-key: {KEY}");
    server.script(Rule::always(Reply::Status(Canned::error(
        401,
        "authentication_error",
        &echo,
    ))));
    let provider = provider_at(&server.url(), patient());
    let failure = deliver(&provider, &prompt("Hello")).await.unwrap_err();
    assert_eq!(failure.cause, Cause::KeyRefused);
    assert_eq!(failure.message, "invalid x-api-key: [key]");
    assert!(!format!("{provider:?} {failure:?} {failure}").contains(KEY));

    let config = ClaudeConfig::new(SecretString::from(format!("{KEY}\nsecond line")));
    let error = ClaudeProvider::new(&config).unwrap_err();
    assert!(!format!("{config:?} {error:?} {error}").contains(KEY));
}

#[tokio::test]
async fn without_a_key_anthropic_is_not_asked_but_other_endpoints_are() {
    let nothing = SecretString::from("  ");
    let config = ClaudeConfig::new(nothing.clone());
    assert_eq!(config.base_url, ANTHROPIC_BASE_URL);
    let provider = ClaudeProvider::new(&config).unwrap();
    let failure = deliver(&provider, &prompt("Hello")).await.unwrap_err();
    assert_eq!(failure.cause, Cause::KeyMissing);
    let failure = provider.models().await.unwrap_err();
    assert_eq!(failure.cause, Cause::KeyMissing);

    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient())
        .with_key(&nothing)
        .unwrap();
    let failure = deliver(&provider, &prompt("Hello")).await.unwrap_err();
    assert_eq!(failure.message, "x-api-key header is required");
    assert!(!server.requests()[0].headers.contains_key("x-api-key"));
}

#[test]
fn addresses_that_are_none_are_told_at_once() {
    for address in ["", "api.anthropic.com", "ftp://example.com", "http://"] {
        let config = ClaudeConfig {
            base_url: address.to_owned(),
            ..ClaudeConfig::new(SecretString::from(KEY))
        };
        assert!(ClaudeProvider::new(&config).is_err(), "{address}");
    }
}

#[tokio::test]
async fn a_key_is_tested_for_free() {
    let server = FakeClaude::start_with(Options {
        api_key: Some(KEY.to_owned()),
        ..Options::default()
    })
    .await
    .unwrap();
    let provider = provider_at(&server.url(), patient());
    let (models, limits) = provider.models().await.unwrap();
    let sonnet = models.iter().find(|model| model.model == MODEL).unwrap();
    assert_eq!(sonnet.source, ProfileSource::Told);
    assert_eq!(sonnet.context_tokens, 1_000_000);
    assert_eq!(limits.requests, Some(1_000));
    assert_eq!(limits.input_tokens, Some(2_000_000));
    assert_eq!(limits.output_tokens, Some(400_000));

    let other = provider
        .with_key(&SecretString::from("sk-ant-other"))
        .unwrap();
    let failure = other.models().await.unwrap_err();
    assert_eq!(failure.cause, Cause::KeyRefused);
    assert_eq!(failure.billed, Billed::No);
    assert!(server.requests().is_empty(), "no message was asked for");
}
