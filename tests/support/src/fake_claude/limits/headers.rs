//! The headers that tell the limits.

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Response, StatusCode};
use jiff::Timestamp;

use super::bucket::Bucket;
use super::{Limits, MinuteLimits, class};

/// What is told of a limit.
struct Told {
    what: &'static str,
    limit: u64,
    remaining: u64,
    reset: Timestamp,
}

/// Tells the limits of a model's class as they are now. Where nothing is limited, everything remains.
pub(in super::super) fn add(
    limits: &Limits,
    response: &mut Response<Body>,
    model: Option<&str>,
    now: Timestamp,
) {
    // Whose key is refused belongs to no organization.
    if response.status() == StatusCode::UNAUTHORIZED {
        return;
    }
    let headers = response.headers_mut();
    for told in limits.told(model.unwrap_or_default(), now) {
        insert(headers, told.what, "limit", &told.limit.to_string());
        insert(headers, told.what, "remaining", &told.remaining.to_string());
        // Rounded up: at that second it is full.
        let reset = Timestamp::from_second(told.reset.as_second() + 1).unwrap_or(told.reset);
        let reset = reset.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        insert(headers, told.what, "reset", &reset);
    }
}

fn insert(headers: &mut HeaderMap, what: &str, part: &str, value: &str) {
    let name = HeaderName::try_from(format!("anthropic-ratelimit-{what}-{part}"));
    if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
        // What a script says of it stays.
        headers.entry(name).or_insert(value);
    }
}

impl Limits {
    fn told(&self, model: &str, now: Timestamp) -> Vec<Told> {
        let mut state = self.lock();
        if let Some(class) = self.class(&mut state.classes, model, now) {
            let requests = told("requests", &mut class.requests, now, 1);
            let input = told("input-tokens", &mut class.input, now, 1_000);
            let output = told("output-tokens", &mut class.output, now, 1_000);
            let scarce = if share(&output) < share(&input) {
                &output
            } else {
                &input
            };
            let tokens = Told {
                what: "tokens",
                ..*scarce
            };
            return vec![requests, input, output, tokens];
        }
        let name = class(model);
        let limits = self.settings.classes.get(name).copied().unwrap_or_default();
        let MinuteLimits {
            requests,
            input_tokens,
            output_tokens,
        } = limits;
        let whole = |what, limit| Told {
            what,
            limit,
            remaining: limit,
            reset: now,
        };
        vec![
            whole("requests", requests),
            whole("input-tokens", input_tokens),
            whole("output-tokens", output_tokens),
            whole("tokens", input_tokens + output_tokens),
        ]
    }
}

fn told(what: &'static str, bucket: &mut Bucket, now: Timestamp, rounded_to: u64) -> Told {
    let (left, reset) = bucket.look(now);
    Told {
        what,
        limit: bucket.limit,
        remaining: (left + rounded_to / 2) / rounded_to * rounded_to,
        reset,
    }
}

/// The part of a limit that remains.
fn share(told: &Told) -> f64 {
    told.remaining as f64 / told.limit.max(1) as f64
}
