//! The errors of the API with the bodies, codes and headers that they are known to come with, row by row.

use std::collections::BTreeMap;
use std::time::Duration;

use gistmill_engine::model::{Cause, CauseClass};
use gistmill_engine::provider::{Billed, Failure};
use gistmill_testkit::fake_claude::{Canned, Reply};
use serde_json::{Value, json};

use crate::claude::{deliver_to, prompt};

use Billed::{No, Unknown};
use CauseClass::{Item, Queue, Retry};

async fn failure_of(canned: Canned) -> Failure {
    deliver_to(Reply::Status(canned), &prompt("Hello"))
        .await
        .unwrap_err()
}

fn body(status: u16, body: Value) -> Canned {
    Canned {
        status,
        body: Some(body),
        ..Canned::default()
    }
}

fn error(kind: &str, message: &str, details: Value) -> Value {
    let mut error = json!({"type": kind, "message": message});
    if !details.is_null() {
        error["details"] = details;
    }
    json!({"type": "error", "error": error, "request_id": "req_011CSHoEeqs5C35K2UUqR7Fy"})
}

fn code(code: &str) -> Value {
    json!({ "error_code": code })
}

/// A row: status, body, what it means, and whether it may be billed.
type Row = (u16, Value, Cause, CauseClass, Billed);

#[tokio::test]
async fn every_body_of_the_api_has_its_meaning() {
    let invalid = "invalid_request_error";
    let limited = "rate_limit_error";
    let plain = Value::Null;
    let rows: Vec<Row> = vec![
        // 400: the item.
        (
            400,
            error(
                invalid,
                "messages.0.content.0.pdf.source.base64.data: The PDF specified is password protected.",
                plain.clone(),
            ),
            Cause::PdfEncrypted,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "messages.0.content.0.pdf.source.base64.data: The PDF specified was not valid.",
                plain.clone(),
            ),
            Cause::PdfDamaged,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "A maximum of 600 PDF pages may be provided.",
                plain.clone(),
            ),
            Cause::TooManyPages,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "messages.0.content.0.pdf.source.base64.data: A maximum of 100 PDF pages may be provided.",
                plain.clone(),
            ),
            Cause::TooManyPages,
            Item,
            No,
        ),
        (
            400,
            error(invalid, "Could not process PDF", plain.clone()),
            Cause::PdfNotProcessed,
            Retry,
            No,
        ),
        (
            400,
            error(
                invalid,
                "prompt is too long: 1204113 tokens > 1000000 maximum",
                plain.clone(),
            ),
            Cause::PromptTooLong,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "Output blocked by content filtering policy",
                plain.clone(),
            ),
            Cause::ContentFiltered,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "This model does not support assistant message prefill. The conversation must end with a user message.",
                plain.clone(),
            ),
            Cause::InvalidRequest,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "temperature: Extra inputs are not permitted",
                plain.clone(),
            ),
            Cause::InvalidRequest,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "adaptive thinking is not supported on this model",
                plain.clone(),
            ),
            Cause::InvalidRequest,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "Too many pixels",
                code("image_dimensions_too_large"),
            ),
            Cause::InvalidRequest,
            Item,
            No,
        ),
        (
            400,
            error(
                invalid,
                "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-5-5",
                plain.clone(),
            ),
            Cause::InvalidRequest,
            Item,
            No,
        ),
        // 400: everybody.
        (
            400,
            error(
                invalid,
                "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.",
                plain.clone(),
            ),
            Cause::CreditExhausted,
            Queue,
            No,
        ),
        (
            400,
            error(
                invalid,
                "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
                plain.clone(),
            ),
            Cause::UsageLimitReached,
            Queue,
            No,
        ),
        (
            400,
            error(
                invalid,
                "You have reached your specified workspace API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.",
                plain.clone(),
            ),
            Cause::UsageLimitReached,
            Queue,
            No,
        ),
        (
            400,
            error(
                invalid,
                "This organization is on hold.",
                json!({"error_code": "organization_on_hold", "appeal_url": "https://example.com/appeal"}),
            ),
            Cause::OrganizationOnHold,
            Queue,
            No,
        ),
        // 401 to 409.
        (
            401,
            error("authentication_error", "invalid x-api-key", plain.clone()),
            Cause::KeyRefused,
            Queue,
            No,
        ),
        (
            401,
            error(
                "authentication_error",
                "CORS requests are not allowed for this Organization",
                plain.clone(),
            ),
            Cause::KeyRefused,
            Queue,
            No,
        ),
        (
            402,
            error(
                "billing_error",
                "There is an issue with your organization's payment details.",
                plain.clone(),
            ),
            Cause::BillingProblem,
            Queue,
            No,
        ),
        (
            402,
            error(
                "billing_error",
                "The linked organization has no budget left.",
                code("linked_organization_spend_limit_reached"),
            ),
            Cause::BillingProblem,
            Queue,
            No,
        ),
        (
            403,
            error(
                "permission_error",
                "Your API key does not have permission to use the specified resource.",
                plain.clone(),
            ),
            Cause::PermissionDenied,
            Queue,
            No,
        ),
        (
            404,
            error("not_found_error", "model: claude-sonnet-1-0", plain.clone()),
            Cause::ModelNotFound,
            Queue,
            No,
        ),
        (
            404,
            error(
                "not_found_error",
                "File file_011 has expired.",
                code("file_expired"),
            ),
            Cause::UnexpectedStatus,
            Retry,
            No,
        ),
        (
            408,
            error("timeout_error", "Request timed out", plain.clone()),
            Cause::TimedOut,
            Retry,
            No,
        ),
        (
            409,
            error(
                "conflict_error",
                "The resource has been modified.",
                plain.clone(),
            ),
            Cause::UnexpectedStatus,
            Retry,
            No,
        ),
        // 413 with the API's words, where the body was compressed.
        (
            413,
            error(
                "request_too_large",
                "Request exceeds the maximum size",
                plain.clone(),
            ),
            Cause::TooLarge,
            Item,
            No,
        ),
        (
            413,
            error(
                invalid,
                "The request is too large after decoding.",
                code("request_body_too_large_after_decoding"),
            ),
            Cause::TooLarge,
            Item,
            No,
        ),
        // 429 in all its kinds.
        (
            429,
            error(
                limited,
                "This request would exceed the rate limit for your organization (1234) of 30,000 input tokens per minute.",
                plain.clone(),
            ),
            Cause::RateLimited,
            Retry,
            No,
        ),
        (
            429,
            error(
                limited,
                "This request would exceed your organization's maximum usage increase rate for input tokens per minute. Your current limit is 58,276 input tokens per minute, and will increase to 68,276 at the next minute boundary.",
                code("ramp_limit_exceeded"),
            ),
            Cause::RampLimited,
            Retry,
            No,
        ),
        (
            429,
            error(
                limited,
                "You have reached your API usage limits: your organization has crossed its monthly API usage threshold. You will regain access on 2026-12-01 at 00:00 UTC.",
                code("enforced_spend_limit_reached"),
            ),
            Cause::SpendLimitReached,
            Queue,
            No,
        ),
        (
            429,
            error(
                limited,
                "Your organization has reached the spend limit of its contract.",
                code("contract_spend_limit_reached"),
            ),
            Cause::SpendLimitReached,
            Queue,
            No,
        ),
        (
            429,
            error(limited, "Slow down", code("limit_of_next_year")),
            Cause::RateLimited,
            Retry,
            No,
        ),
        // The server's own trouble.
        (
            500,
            error("api_error", "Internal server error", plain.clone()),
            Cause::ServerError,
            Retry,
            No,
        ),
        (
            500,
            error("overloaded_error", "Overloaded", plain.clone()),
            Cause::Overloaded,
            Retry,
            No,
        ),
        (
            502,
            error("api_error", "Bad gateway", plain.clone()),
            Cause::ServerError,
            Retry,
            No,
        ),
        (
            503,
            error("api_error", "Service unavailable", plain.clone()),
            Cause::ServerError,
            Retry,
            No,
        ),
        (
            504,
            error("timeout_error", "Request timed out", plain.clone()),
            Cause::TimedOut,
            Retry,
            Unknown,
        ),
        (
            529,
            error("overloaded_error", "Overloaded", plain.clone()),
            Cause::Overloaded,
            Retry,
            No,
        ),
        (
            529,
            error("overloaded_error", "Overloaded", code("new_code")),
            Cause::Overloaded,
            Retry,
            No,
        ),
        // What nobody foresaw.
        (
            418,
            error("teapot_error", "Short and stout", plain.clone()),
            Cause::UnexpectedStatus,
            Retry,
            No,
        ),
        (
            451,
            error("legal_error", "Not here", code("blocked_region")),
            Cause::UnexpectedStatus,
            Retry,
            No,
        ),
        (
            599,
            error("new_error", "New", plain),
            Cause::ServerError,
            Retry,
            No,
        ),
    ];
    for (status, sent, cause, class, billed) in rows {
        let message = sent["error"]["message"].as_str().unwrap().to_owned();
        let failure = failure_of(body(status, sent)).await;
        assert_eq!(failure.cause, cause, "{status} {message}");
        assert_eq!(failure.cause.class(), class, "{status} {message}");
        assert_eq!(failure.billed, billed, "{status} {message}");
        assert_eq!(failure.http_status, Some(status), "{message}");
        assert!(
            message.ends_with(&failure.message),
            "the API's own words are kept: {failure}"
        );
        assert!(failure.request_id.is_some(), "{status} {message}");
    }
}

#[tokio::test]
async fn a_spend_limit_is_waited_for_until_the_day_that_it_names() {
    let named = error(
        "rate_limit_error",
        "You will regain access on 2126-12-01 at 00:00 UTC.",
        code("enforced_spend_limit_reached"),
    );
    let failure = failure_of(body(429, named)).await;
    assert!(failure.retry_after.unwrap() > Duration::from_secs(365 * 24 * 3600));
    // A header says it better than words do.
    let told = error(
        "rate_limit_error",
        "You will regain access on 2126-12-01 at 00:00 UTC.",
        code("contract_spend_limit_reached"),
    );
    let failure = failure_of(body(429, told).with_header("retry-after", "3600")).await;
    assert_eq!(failure.retry_after, Some(Duration::from_secs(3600)));
    assert_eq!(failure.cause.class(), Queue);
}

#[tokio::test]
async fn a_part_of_another_shape_does_not_hide_the_rest() {
    let rows = [
        (
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "M", "details": null}}),
            Cause::RateLimited,
        ),
        (
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "M", "details": [1]}}),
            Cause::RateLimited,
        ),
        (
            json!({"type": "error", "error": {"type": "rate_limit_error", "message": "M", "details": {"error_code": 7}}}),
            Cause::RateLimited,
        ),
        (
            json!({"type": "error", "error": {"type": 3, "message": "M",
                   "details": {"error_code": "ramp_limit_exceeded", "more": {"deep": []}}, "new": {}}, "request_id": 5}),
            Cause::RampLimited,
        ),
        // As LiteLLM and OpenRouter write it.
        (
            json!({"error": {"message": "M", "type": "None", "param": "None", "code": "429"}}),
            Cause::RateLimited,
        ),
        (
            json!({"error": {"code": 429, "message": "M", "metadata": {"provider_name": "Anthropic"}}}),
            Cause::RateLimited,
        ),
    ];
    for (sent, cause) in rows {
        let failure = failure_of(body(429, sent.clone())).await;
        assert_eq!(failure.cause, cause, "{sent}");
        assert_eq!(failure.message, "M", "{sent}");
    }
}

#[tokio::test]
async fn the_edge_and_gateways_answer_without_json() {
    let page = |status: u16, title: &str| {
        Canned::text(
            status,
            "text/html; charset=UTF-8",
            &format!(
                "<html>\r\n<head><title>{status} {title}</title></head>\r\n<body>\r\n<center><h1>{status} \
                 {title}</h1></center>\r\n<hr><center>cloudflare</center>\r\n</body>\r\n</html>\r\n"
            ),
        )
    };
    let empty = |status: u16| Canned {
        status,
        ..Canned::default()
    };
    let rows = [
        (page(413, "Request Entity Too Large"), Cause::TooLarge, No),
        (empty(413), Cause::TooLarge, No),
        (page(403, "Forbidden"), Cause::PermissionDenied, No),
        (page(429, "Too Many Requests"), Cause::RateLimited, No),
        (empty(429), Cause::RateLimited, No),
        (
            page(500, "Internal Server Error"),
            Cause::ServerError,
            Unknown,
        ),
        (page(502, "Bad Gateway"), Cause::ServerError, Unknown),
        (empty(503), Cause::ServerError, No),
        (page(504, "Gateway Time-out"), Cause::TimedOut, Unknown),
        (empty(504), Cause::TimedOut, Unknown),
        (
            page(522, "Connection Timed Out"),
            Cause::ServerError,
            Unknown,
        ),
        (empty(529), Cause::Overloaded, No),
        (
            Canned::text(
                401,
                "application/json",
                "{\"detail\": \"Not authenticated\"}",
            ),
            Cause::KeyRefused,
            No,
        ),
    ];
    for (canned, cause, billed) in rows {
        let failure = failure_of(canned.clone()).await;
        assert_eq!(failure.cause, cause, "{canned:?}");
        assert_eq!(failure.billed, billed, "{canned:?}");
        assert!(
            !failure.message.contains('<') && failure.message.contains(&canned.status.to_string()),
            "a person reads a sentence, no page: {failure}"
        );
    }
}

#[tokio::test]
async fn waits_are_told_in_every_form() {
    let at = |headers: &[(&str, &str)]| Canned {
        headers: headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect::<BTreeMap<_, _>>(),
        ..body(429, error("rate_limit_error", "Slower", Value::Null))
    };
    let month = Duration::from_secs(31 * 24 * 3600);
    for (headers, wait) in [
        (vec![("retry-after", "7")], Some(Duration::from_secs(7))),
        (
            vec![("retry-after", "0.5")],
            Some(Duration::from_millis(500)),
        ),
        (vec![("retry-after", "0")], Some(Duration::ZERO)),
        (vec![("retry-after", "-5")], None),
        (vec![("retry-after", "soon")], None),
        (vec![("retry-after", "999999999999999999999")], Some(month)),
        (
            vec![("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")],
            Some(Duration::ZERO),
        ),
        (
            vec![("retry-after-ms", "1500"), ("retry-after", "9")],
            Some(Duration::from_millis(1_500)),
        ),
        (vec![], None),
    ] {
        let failure = failure_of(at(&headers)).await;
        assert_eq!(failure.retry_after, wait, "{headers:?}");
    }
}

#[tokio::test]
async fn the_servers_word_on_retrying_is_handed_on_as_it_is() {
    for (word, wanted) in [
        ("true", Some(true)),
        ("false", Some(false)),
        ("TRUE", None),
        ("", None),
    ] {
        for status in [400, 429, 500, 529] {
            let canned = body(status, error("api_error", "Words", Value::Null))
                .with_header("x-should-retry", word);
            let failure = failure_of(canned).await;
            assert_eq!(failure.should_retry, wanted, "{status} {word:?}");
        }
    }
}
