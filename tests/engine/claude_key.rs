//! The key: where it goes, where it never goes, and how it is tested.

use gistmill_engine::model::Cause;
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
    let failure = provider.test_key(MODEL).await.unwrap_err();
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
    let test = provider.test_key(MODEL).await.unwrap();
    assert!(test.models.contains(&MODEL.to_owned()));
    assert!(test.model_available);
    assert_eq!(test.requests_per_minute, Some(1_000));
    assert_eq!(test.input_tokens_per_minute, Some(2_000_000));
    assert_eq!(test.output_tokens_per_minute, Some(400_000));
    assert!(!provider.test_key("claude-2").await.unwrap().model_available);
    let undated = provider.test_key("claude-haiku-4-5").await.unwrap();
    assert!(undated.model_available);

    let other = provider
        .with_key(&SecretString::from("sk-ant-other"))
        .unwrap();
    let failure = other.test_key(MODEL).await.unwrap_err();
    assert_eq!(failure.cause, Cause::KeyRefused);
    assert_eq!(failure.billed, Billed::No);
    assert!(server.requests().is_empty(), "no message was asked for");
}
