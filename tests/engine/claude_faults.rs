//! Every error that the API is known to give, with its exact body, and what it means here.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use gistmill_engine::model::{Cause, CauseClass};
use gistmill_engine::provider::{Billed, Failure};
use gistmill_testkit::fake_claude::{Canned, FakeClaude, Fault, Reply, Rule};

use crate::claude::{deliver, deliver_to, patient, prompt, provider_at};

async fn failure_of(reply: Reply) -> Failure {
    deliver_to(reply, &prompt("Hello")).await.unwrap_err()
}

/// Seed defect 6: every unforeseen status was retried to the limit.
#[tokio::test]
async fn every_documented_error_has_its_meaning() {
    use CauseClass::{Item, Queue, Retry};
    let cases = [
        (Fault::InvalidRequest, 400, Cause::InvalidRequest, Item),
        (Fault::CreditTooLow, 400, Cause::CreditExhausted, Queue),
        (Fault::UsageLimit, 400, Cause::UsageLimitReached, Queue),
        (
            Fault::WorkspaceUsageLimit,
            400,
            Cause::UsageLimitReached,
            Queue,
        ),
        (
            Fault::OrganizationOnHold,
            400,
            Cause::OrganizationOnHold,
            Queue,
        ),
        (Fault::ContentFiltered, 400, Cause::ContentFiltered, Item),
        (Fault::PdfPasswordProtected, 400, Cause::PdfEncrypted, Item),
        (Fault::PdfNotValid, 400, Cause::PdfDamaged, Item),
        (Fault::PdfTooManyPages, 400, Cause::TooManyPages, Item),
        (Fault::PdfNotProcessed, 400, Cause::PdfNotProcessed, Retry),
        (Fault::PromptTooLong, 400, Cause::PromptTooLong, Item),
        (Fault::Authentication, 401, Cause::KeyRefused, Queue),
        (Fault::Billing, 402, Cause::BillingProblem, Queue),
        (Fault::Permission, 403, Cause::PermissionDenied, Queue),
        (Fault::ModelNotFound, 404, Cause::ModelNotFound, Queue),
        (Fault::RequestTimeout, 408, Cause::TimedOut, Retry),
        (Fault::Conflict, 409, Cause::UnexpectedStatus, Retry),
        (Fault::TooLarge, 413, Cause::TooLarge, Item),
        (Fault::RateLimited, 429, Cause::RateLimited, Retry),
        (Fault::RampLimited, 429, Cause::RampLimited, Retry),
        (Fault::SpendLimit, 429, Cause::SpendLimitReached, Queue),
        (
            Fault::ContractSpendLimit,
            429,
            Cause::SpendLimitReached,
            Queue,
        ),
        (Fault::Internal, 500, Cause::ServerError, Retry),
        (Fault::BadGateway, 502, Cause::ServerError, Retry),
        (Fault::Unavailable, 503, Cause::ServerError, Retry),
        (Fault::GatewayTimeout, 504, Cause::TimedOut, Retry),
        (Fault::Overloaded, 529, Cause::Overloaded, Retry),
    ];
    for (fault, status, cause, class) in cases {
        let failure = failure_of(Reply::fault(fault)).await;
        assert_eq!(failure.cause, cause, "{fault:?}");
        assert_eq!(failure.cause.class(), class, "{fault:?}");
        assert_eq!(failure.http_status, Some(status), "{fault:?}");
        assert!(failure.request_id.unwrap().starts_with("req_"), "{fault:?}");
        assert!(!failure.message.contains('<'), "{}", failure.message);
        let unknown = matches!(fault, Fault::BadGateway | Fault::GatewayTimeout);
        assert_eq!(failure.billed == Billed::Unknown, unknown, "{fault:?}");
        if failure.message.contains("regain access on 2026-12-01") {
            // However long that is from today: it must be known, so that one job tries it then.
            assert!(failure.retry_after.is_some(), "{fault:?}");
            continue;
        }
        let wait = match fault {
            Fault::RateLimited => Some(Duration::from_secs(7)),
            Fault::RampLimited => Some(Duration::from_secs(12)),
            _ => None,
        };
        assert_eq!(failure.retry_after, wait, "{fault:?}");
        let should_retry = (fault == Fault::Overloaded).then_some(true);
        assert_eq!(failure.should_retry, should_retry, "{fault:?}");
    }
}

#[tokio::test]
async fn the_words_of_the_api_are_kept_without_their_place_in_the_request() {
    let failure = failure_of(Reply::fault(Fault::PdfPasswordProtected)).await;
    assert_eq!(failure.message, "The PDF specified is password protected.");
}

#[tokio::test]
async fn wordings_seen_in_the_wild_are_known() {
    let cases = [
        (
            "The PDF specified is password protected.",
            Cause::PdfEncrypted,
        ),
        (
            "messages.3.content.1.pdf.source.base64.data: the pdf specified WAS NOT VALID",
            Cause::PdfDamaged,
        ),
        (
            "A maximum of 100 PDF pages may be provided.",
            Cause::TooManyPages,
        ),
        ("Could not process PDF.", Cause::PdfNotProcessed),
        (
            "prompt is too long: 213214 tokens > 200000 maximum",
            Cause::PromptTooLong,
        ),
        ("Could not process image", Cause::InvalidRequest),
        ("max_tokens: 200000 > 128000", Cause::InvalidRequest),
        ("", Cause::InvalidRequest),
    ];
    for (message, cause) in cases {
        let error = Canned::error(400, "invalid_request_error", message);
        assert_eq!(
            failure_of(Reply::Status(error)).await.cause,
            cause,
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_code_counts_more_than_words_and_an_unknown_code_nothing() {
    let coded = |status, kind, message, code| {
        Reply::Status(Canned::error(status, kind, message).with_code(code))
    };
    let cases = [
        (
            coded(
                400,
                "invalid_request_error",
                "Could not process PDF",
                "organization_on_hold",
            ),
            Cause::OrganizationOnHold,
        ),
        (
            coded(
                413,
                "request_too_large",
                "Too large",
                "request_body_too_large_after_decoding",
            ),
            Cause::TooLarge,
        ),
        (
            coded(404, "not_found_error", "Gone", "file_expired"),
            Cause::UnexpectedStatus,
        ),
        (
            coded(429, "rate_limit_error", "Slower", "brand_new_code"),
            Cause::RateLimited,
        ),
        (
            coded(400, "invalid_request_error", "Could not process PDF", "new"),
            Cause::PdfNotProcessed,
        ),
        (
            coded(500, "overloaded_error", "Overloaded", "new"),
            Cause::Overloaded,
        ),
    ];
    for (reply, cause) in cases {
        assert_eq!(failure_of(reply.clone()).await.cause, cause, "{reply:?}");
    }
}

#[tokio::test]
async fn bodies_that_are_no_errors_of_the_api_do_no_harm() {
    let statuses = [
        (400, Cause::InvalidRequest, Billed::No),
        (401, Cause::KeyRefused, Billed::No),
        (404, Cause::ModelNotFound, Billed::No),
        (413, Cause::TooLarge, Billed::No),
        (418, Cause::UnexpectedStatus, Billed::No),
        (429, Cause::RateLimited, Billed::No),
        (500, Cause::ServerError, Billed::Unknown),
        (502, Cause::ServerError, Billed::Unknown),
        (503, Cause::ServerError, Billed::No),
        (504, Cause::TimedOut, Billed::Unknown),
        (520, Cause::ServerError, Billed::Unknown),
        (529, Cause::Overloaded, Billed::No),
    ];
    let bodies = [
        "",
        "<html>no</html>",
        "{\"error\":",
        "{\"error\":\"text\"}",
        "[]",
        "null",
        "\u{0}",
    ];
    for (status, cause, billed) in statuses {
        for body in bodies {
            let reply = Reply::Status(Canned::text(status, "application/json", body));
            let failure = failure_of(reply).await;
            assert_eq!(failure.cause, cause, "{status} {body:?}");
            assert_eq!(failure.billed, billed, "{status} {body:?}");
            assert!(failure.message.contains(&status.to_string()), "{failure}");
        }
    }
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = FakeClaude::start().await;
    let redirect = Canned::text(307, "text/plain", "")
        .with_header("location", &format!("{}/v1/messages", elsewhere.url()));
    let failure = failure_of(Reply::Status(redirect)).await;
    assert_eq!(failure.cause, Cause::UnexpectedStatus);
    assert!(elsewhere.all_requests().is_empty(), "the key stays here");
}

#[tokio::test]
async fn a_wait_told_as_a_date_counts_from_the_given_now() {
    let server = FakeClaude::start().await;
    let limited = Fault::RateLimited
        .canned()
        .with_header("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")
        .with_header("x-should-retry", "false");
    server.script(Rule::always(Reply::Status(limited)));
    let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
    let provider = provider_at(&server.url(), patient()).with_now(Arc::new(move || now));
    let failure = deliver(&provider, &prompt("Hello")).await.unwrap_err();
    assert_eq!(failure.retry_after, Some(Duration::from_secs(30)));
    assert_eq!(failure.should_retry, Some(false));
}

#[tokio::test]
async fn errors_within_a_stream_pass_unless_they_say_otherwise() {
    let event = |error| Reply::ErrorEvent {
        after_deltas: 2,
        error,
    };
    let plain = |kind, message: &str| serde_json::json!({"type": kind, "message": message});
    let coded = serde_json::json!({
        "type": "rate_limit_error",
        "message": "No more",
        "details": {"error_code": "enforced_spend_limit_reached"},
    });
    let cases = [
        (plain("overloaded_error", "Overloaded"), Cause::Overloaded),
        (
            plain("api_error", "Internal server error"),
            Cause::ServerError,
        ),
        (plain("rate_limit_error", "Slower"), Cause::RateLimited),
        (plain("timeout_error", "Timed out"), Cause::TimedOut),
        (plain("brand_new_error", ""), Cause::ServerError),
        (plain("invalid_request_error", "What?"), Cause::ServerError),
        (
            plain("invalid_request_error", "Could not process PDF"),
            Cause::PdfNotProcessed,
        ),
        (coded, Cause::SpendLimitReached),
        (serde_json::json!({}), Cause::ServerError),
    ];
    for (error, cause) in cases {
        let failure = failure_of(event(error.clone())).await;
        assert_eq!(failure.cause, cause, "{error}");
        assert_eq!(failure.http_status, Some(200));
        assert_eq!(failure.billed, Billed::Unknown, "it had begun to work");
        assert!(
            failure.usage.unwrap().input_tokens > 0,
            "what was counted is kept"
        );
        assert!(failure.request_id.is_some());
        assert!(!failure.message.is_empty());
    }
}
