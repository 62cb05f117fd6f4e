//! The basic flows against a double that nobody here wrote: aimock.
//!
//! It knows less of the API than the fake server does: it drops `error.details`, sends neither `request-id` nor
//! `anthropic-ratelimit-*`, and has no `ping`. What it does it does by somebody else's reading of the API.

use std::time::Duration;

use gistmill_engine::model::{Cause, CauseClass};
use gistmill_engine::provider::{Answer, Billed, Failure};
use gistmill_testkit::aimock::Aimock;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::claude::{deliver, patient, prompt, provider_at, summarize, write_pdf};

const SUMMARY: &str = "The paper asks a question, and answers it with care.";

fn fixture(response: Value) -> Value {
    json!({"match": {"userMessage": "Summarize"}, "response": response})
}

/// Asks for the same summary so many times.
async fn ask(fixtures: Value, times: usize) -> Vec<Result<Answer, Failure>> {
    let directory = TempDir::new().unwrap();
    let path = write_pdf(&directory, "paper.pdf", 50_000);
    let aimock = Aimock::start(&fixtures);
    let provider = provider_at(aimock.url(), patient());
    let mut ends = Vec::new();
    for _ in 0..times {
        ends.push(deliver(&provider, &summarize(&path, 1)).await);
    }
    ends
}

#[tokio::test]
async fn a_streamed_answer_is_read_whole() {
    let answer = json!({
        "content": SUMMARY,
        "usage": {"input_tokens": 4_321, "output_tokens": 17},
    });
    let ends = ask(json!([fixture(answer)]), 2).await;
    for end in ends {
        let answer = end.unwrap();
        assert_eq!(answer.text, SUMMARY);
        assert_eq!(answer.stop_reason.as_deref(), Some("end_turn"));
        assert_eq!(answer.usage.input_tokens, 4_321);
        assert_eq!(answer.usage.output_tokens, 17);
        assert_eq!(answer.review, None);
    }
}

#[tokio::test]
async fn an_answer_that_was_cut_off_is_for_a_person_to_look_at() {
    let answer = json!({
        "content": SUMMARY,
        "finishReason": "length",
        "usage": {"input_tokens": 4_321, "output_tokens": 1_024},
    });
    let answer = ask(json!([fixture(answer)]), 1).await.remove(0).unwrap();
    assert_eq!(answer.review.unwrap().0, Cause::CutOff);
    assert_eq!(answer.text, SUMMARY, "what came is kept");
}

#[tokio::test]
async fn thinking_is_no_part_of_the_text() {
    let answer = json!({
        "content": SUMMARY,
        "reasoning": "Let me read this first.",
        "usage": {"input_tokens": 4_321, "output_tokens": 40},
    });
    let answer = ask(json!([fixture(answer)]), 1).await.remove(0).unwrap();
    assert_eq!(answer.text, SUMMARY);
}

#[tokio::test]
async fn a_document_that_was_not_counted_was_not_read() {
    let answer = json!({"content": SUMMARY, "usage": {"input_tokens": 9, "output_tokens": 17}});
    let answer = ask(json!([fixture(answer)]), 1).await.remove(0).unwrap();
    assert_eq!(answer.review.unwrap().0, Cause::DocumentNotRead);
}

#[tokio::test]
async fn an_overload_passes() {
    let overload =
        json!({"error": {"message": "Overloaded", "type": "overloaded_error"}, "status": 529});
    let answer = json!({"content": SUMMARY, "usage": {"input_tokens": 4_321, "output_tokens": 17}});
    let mut first = fixture(overload);
    first["match"]["sequenceIndex"] = json!(0);
    let mut second = fixture(answer);
    second["match"]["sequenceIndex"] = json!(1);
    let mut ends = ask(json!([first, second]), 2).await;
    let answer = ends.pop().unwrap().unwrap();
    assert_eq!(answer.text, SUMMARY);
    let failure = ends.pop().unwrap().unwrap_err();
    assert_eq!(failure.cause, Cause::Overloaded);
    assert_eq!(failure.http_status, Some(529));
    assert_eq!(failure.billed, Billed::No);
}

#[tokio::test]
async fn a_limit_says_when_to_come_back() {
    let limit = json!({
        "error": {"message": "Slower.", "type": "rate_limit_error"},
        "status": 429,
        "retryAfter": 7,
    });
    let failure = ask(json!([fixture(limit)]), 1).await.remove(0).unwrap_err();
    assert_eq!(failure.cause, Cause::RateLimited);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(failure.message, "Slower.");
}

#[tokio::test]
async fn refusals_are_classed_by_status_and_words() {
    for (status, kind, message, cause, class) in [
        (
            400,
            "invalid_request_error",
            "Could not process PDF",
            Cause::PdfNotProcessed,
            CauseClass::Retry,
        ),
        (
            400,
            "invalid_request_error",
            "The PDF specified was not valid.",
            Cause::PdfDamaged,
            CauseClass::Item,
        ),
        (
            401,
            "authentication_error",
            "invalid x-api-key",
            Cause::KeyRefused,
            CauseClass::Queue,
        ),
        (
            404,
            "not_found_error",
            "model: claude-sonnet-1-0",
            Cause::ModelNotFound,
            CauseClass::Queue,
        ),
        (
            500,
            "api_error",
            "Internal server error",
            Cause::ServerError,
            CauseClass::Retry,
        ),
    ] {
        let refusal = json!({"error": {"message": message, "type": kind}, "status": status});
        let failure = ask(json!([fixture(refusal)]), 1)
            .await
            .remove(0)
            .unwrap_err();
        assert_eq!(
            (failure.cause, failure.cause.class()),
            (cause, class),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_never_taken_for_an_answer() {
    for fault in [
        json!({"truncateAfterChunks": 4, "latency": 150}),
        json!({"disconnectAfterMs": 800, "latency": 150}),
    ] {
        let mut broken = fixture(json!({"content": SUMMARY.repeat(10)}));
        broken["chunkSize"] = json!(20);
        for (key, value) in fault.as_object().unwrap() {
            broken[key] = value.clone();
        }
        let failure = ask(json!([broken]), 1).await.remove(0).unwrap_err();
        assert_eq!(failure.cause, Cause::StreamCut, "{fault}");
        assert_eq!(failure.billed, Billed::Unknown, "it had begun to work");
    }
}

#[tokio::test]
async fn what_it_does_not_know_is_an_error_and_no_answer() {
    let nothing =
        json!([{"match": {"userMessage": "Something else"}, "response": {"content": "No."}}]);
    let aimock = Aimock::start(&nothing);
    let provider = provider_at(aimock.url(), patient());
    let failure = deliver(&provider, &prompt("Summarize")).await.unwrap_err();
    assert_eq!(failure.cause.class(), CauseClass::Queue, "{failure}");
}
