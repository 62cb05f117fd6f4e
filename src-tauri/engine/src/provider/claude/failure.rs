//! From an error of the API, or of the way to it, to a [`Failure`] with its cause.
//!
//! The stable `error.details.error_code` is preferred to everything. Message text is matched only
//! where there is no code: bad PDFs, and limits of credit and usage, which come as plain 400s.

use std::error::Error as _;
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;

use super::event::{ApiError, ErrorBody};
use super::header;
use super::send::Sending;
use crate::model::Cause;
use crate::provider::{Billed, Failure};

/// Longest piece of a provider's message that is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// Returns the failure for an answer whose status is not a success.
pub(super) fn from_status(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    now: SystemTime,
) -> Failure {
    let parsed = serde_json::from_slice::<ErrorBody>(body).ok();
    let from_api = parsed.is_some();
    let (error, body_request_id) = parsed
        .map(|body| (body.error, body.request_id))
        .unwrap_or_default();
    Failure {
        cause: cause_of_status(status, &error, from_api),
        message: message_of_status(status, &error, from_api),
        http_status: Some(status),
        request_id: header::request_id(headers).or(body_request_id),
        retry_after: header::retry_after(headers, now).or_else(|| regains_access(&error, now)),
        should_retry: header::should_retry(headers),
        billed: billed_of_status(status, from_api),
        usage: None,
        limits: header::limits(headers, now).map(Box::new),
    }
}

/// Returns the failure for an `error` event within a stream that began with 200.
///
/// Such an error is passing trouble, whatever its type, unless it names what it is: by a code, or
/// by one of the known messages about PDFs and limits. The caller adds what was counted so far.
pub(super) fn from_event(error: &ApiError) -> Failure {
    let cause = cause_of_code(error).unwrap_or_else(|| match error.kind() {
        "overloaded_error" => Cause::Overloaded,
        "rate_limit_error" => Cause::RateLimited,
        "timeout_error" => Cause::TimedOut,
        "invalid_request_error" => cause_of_wording(error.message()).unwrap_or(Cause::ServerError),
        _ => Cause::ServerError,
    });
    let message = match (error.message(), error.kind()) {
        ("", "") => "The answer broke off with an error that says nothing.".to_owned(),
        ("", kind) => format!("The answer broke off with the error `{kind}`."),
        (message, _) => shortened(message),
    };
    Failure {
        http_status: Some(200),
        ..Failure::unsent(cause, message).billed(Billed::Unknown)
    }
}

/// Returns the failure for a request of a batch that was not answered, and so is not billed. It comes without a
/// status, which its type stands for.
pub(super) fn from_batch(error: &ApiError, request_id: Option<String>) -> Failure {
    let status = match error.kind() {
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "conflict_error" => 409,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "invalid_request_error" => 400,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    };
    Failure {
        request_id,
        ..Failure::unsent(
            cause_of_status(status, error, true),
            match error.message() {
                "" => format!("The batch API could not answer it ({}).", error.kind()),
                message => shortened(message),
            },
        )
    }
}

/// Returns the failure for a connection that could not be made or used, before any answer.
pub(super) fn from_transport(error: reqwest::Error, sending: &Sending) -> Failure {
    // The body knows best why it broke off.
    if let Some(failure) = sending.failure() {
        return failure;
    }
    let reason = reason(error);
    if reason.connect {
        return Failure::unsent(
            Cause::Offline,
            format!("No connection could be made: {}.", reason.text),
        );
    }
    let cause = if reason.timeout {
        Cause::TimedOut
    } else {
        Cause::ConnectionFailed
    };
    Failure::unsent(
        cause,
        format!("The connection broke before an answer: {}.", reason.text),
    )
    .billed(sending.billed())
}

/// Returns the failure for an answer that broke off.
pub(super) fn stream_cut(detail: impl std::fmt::Display) -> Failure {
    Failure {
        http_status: Some(200),
        ..Failure::unsent(Cause::StreamCut, format!("The answer broke off: {detail}."))
            .billed(Billed::Unknown)
    }
}

/// Returns what an error of the client says, innermost reason last, without the address.
pub(super) fn words(error: reqwest::Error) -> String {
    reason(error).text
}

struct Reason {
    connect: bool,
    timeout: bool,
    text: String,
}

fn reason(error: reqwest::Error) -> Reason {
    let (connect, timeout) = (error.is_connect(), error.is_timeout());
    // An address may hold what a person would not want in a log.
    let error = error.without_url();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = inner.source();
    }
    if text.contains("invalid peer certificate") {
        text.push_str("; the certificates of a gateway can be named in the settings (ca-file)");
    }
    Reason {
        connect,
        timeout,
        text,
    }
}

/// Returns how long a spend limit lasts, where the message says "You will regain access on 2026-12-01 at
/// 00:00 UTC".
fn regains_access(error: &ApiError, now: SystemTime) -> Option<Duration> {
    let (_, rest) = error.message().split_once("regain access on ")?;
    let date = rest.get(..10)?;
    let time = rest
        .get(10..)
        .and_then(|rest| rest.strip_prefix(" at "))
        .and_then(|rest| rest.get(..5))
        .unwrap_or("00:00");
    let moment: jiff::Timestamp = format!("{date}T{time}:00Z").parse().ok()?;
    let since_1970 = Duration::from_millis(u64::try_from(moment.as_millisecond()).ok()?);
    let moment = SystemTime::UNIX_EPOCH + since_1970;
    Some(moment.duration_since(now).unwrap_or(Duration::ZERO))
}

fn cause_of_status(status: u16, error: &ApiError, from_api: bool) -> Cause {
    if let Some(cause) = cause_of_code(error) {
        return cause;
    }
    match status {
        400 => cause_of_wording(error.message()).unwrap_or(Cause::InvalidRequest),
        401 => Cause::KeyRefused,
        402 => Cause::BillingProblem,
        403 => Cause::PermissionDenied,
        404 => Cause::ModelNotFound,
        408 | 504 => Cause::TimedOut,
        413 => Cause::TooLarge,
        429 => Cause::RateLimited,
        529 => Cause::Overloaded,
        500..=599 if from_api && error.kind() == "overloaded_error" => Cause::Overloaded,
        500..=599 => Cause::ServerError,
        _ => Cause::UnexpectedStatus,
    }
}

fn cause_of_code(error: &ApiError) -> Option<Cause> {
    match error.code()? {
        "ramp_limit_exceeded" => Some(Cause::RampLimited),
        "enforced_spend_limit_reached" | "contract_spend_limit_reached" => {
            Some(Cause::SpendLimitReached)
        }
        "organization_on_hold" => Some(Cause::OrganizationOnHold),
        "request_body_too_large_after_decoding" => Some(Cause::TooLarge),
        "image_dimensions_too_large" => Some(Cause::InvalidRequest),
        // It was uploaded for the attempt, and is uploaded anew for the next one.
        "file_expired" => Some(Cause::UnexpectedStatus),
        // A code that this version does not know says no more than the bare type.
        _ => None,
    }
}

/// Messages have no stable wording: a few words decide, in any case.
fn cause_of_wording(message: &str) -> Option<Cause> {
    let message = message.to_lowercase();
    let has = |words: &[&str]| words.iter().all(|word| message.contains(word));
    let cause = if has(&["credit balance", "too low"]) {
        Cause::CreditExhausted
    } else if has(&["reached your", "usage limit"]) {
        Cause::UsageLimitReached
    } else if has(&["pdf", "password"]) {
        Cause::PdfEncrypted
    } else if has(&["maximum of", "pdf pages"]) {
        Cause::TooManyPages
    } else if has(&["could not process pdf"]) {
        Cause::PdfNotProcessed
    } else if has(&["pdf", "not valid"]) {
        Cause::PdfDamaged
    } else if has(&["prompt is too long"]) {
        Cause::PromptTooLong
    } else if has(&["content filter"]) {
        Cause::ContentFiltered
    } else {
        return None;
    };
    Some(cause)
}

/// An error that the API words itself was raised instead of an answer. One that a gateway between
/// words (500, 502, 504 without the API's body) says nothing of what ran behind it.
fn billed_of_status(status: u16, from_api: bool) -> Billed {
    match status {
        504 => Billed::Unknown,
        503 | 529 => Billed::No,
        500..=599 if !from_api => Billed::Unknown,
        _ => Billed::No,
    }
}

fn message_of_status(status: u16, error: &ApiError, from_api: bool) -> String {
    if from_api && !error.message().is_empty() {
        return shortened(error.message());
    }
    match status {
        300..=399 => format!(
            "The address answers with a redirect (status {status}), which is not followed: it could carry the key elsewhere."
        ),
        404 => "There is no Messages API at this address (status 404).".to_owned(),
        413 => "The request is larger than the server takes (status 413).".to_owned(),
        _ => format!("The server answered with status {status} and no readable reason."),
    }
}

fn shortened(message: &str) -> String {
    without_place(message)
        .chars()
        .take(MAX_MESSAGE_CHARS)
        .collect()
}

/// Leaves out where in the request something is wrong (`messages.0.content.0.pdf.source: `), which
/// says nothing to a person.
fn without_place(message: &str) -> &str {
    let is_place = |text: &str| {
        text.starts_with("messages.")
            && text.chars().all(|character| {
                character.is_ascii_alphanumeric() || matches!(character, '.' | '_')
            })
    };
    match message.split_once(": ") {
        Some((place, rest)) if is_place(place) => rest,
        _ => message,
    }
}
