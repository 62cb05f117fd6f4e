//! What the headers of an answer tell.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use crate::model::{Left, Timestamp, ToldLeft, ToldLimits};

/// A longer wait than this is a mistake of the server (a month: the longest real one is until the
/// first of the next month).
const MAX_WAIT: Duration = Duration::from_secs(31 * 24 * 3600);
/// The longest that a bucket of a minute takes to be full again, with room for what is told late.
const LONGEST_FILLING: Duration = Duration::from_secs(120);

/// Returns the provider's id of the call.
pub(super) fn request_id(headers: &HeaderMap) -> Option<String> {
    text(headers, "request-id")
        .or_else(|| text(headers, "x-request-id"))
        .filter(|id| !id.is_empty())
        .map(str::to_owned)
}

/// Returns how long to wait: `retry-after-ms`, or `retry-after` in seconds or as an HTTP date.
///
/// `None` for what makes no sense (negative, not a number); zero for a date gone by.
pub(super) fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = text(headers, "retry-after-ms").and_then(|text| seconds(text, 0.001)) {
        return Some(wait);
    }
    let value = text(headers, RETRY_AFTER.as_str())?;
    seconds(value, 1.0).or_else(|| {
        let date = httpdate::parse_http_date(value).ok()?;
        let wait = date.duration_since(now).unwrap_or(Duration::ZERO);
        Some(wait.min(MAX_WAIT))
    })
}

/// Returns `x-should-retry`.
pub(super) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match text(headers, "x-should-retry")? {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    text(headers, name)?.parse().ok()
}

/// Returns the limits of a minute, where at least one is told, and what is left of them.
pub(super) fn limits(headers: &HeaderMap, now: SystemTime) -> Option<ToldLimits> {
    // The server's clock says how far away its moments are; ours may be wrong.
    let present = text(headers, DATE.as_str())
        .and_then(|date| httpdate::parse_http_date(date).ok())
        .unwrap_or(now);
    let at = timestamp(now);
    let limit = |what: &str| number(headers, &format!("anthropic-ratelimit-{what}-limit"));
    let left = |what: &str| {
        let amount = number(headers, &format!("anthropic-ratelimit-{what}-remaining"))?;
        let reset: jiff::Timestamp = text(headers, &format!("anthropic-ratelimit-{what}-reset"))?
            .parse()
            .ok()?;
        let full_at = SystemTime::try_from(reset).ok()?;
        let full_in = full_at.duration_since(present).unwrap_or_default();
        // A bucket is full again within a minute; what is further away is another kind of limit.
        (full_in <= LONGEST_FILLING).then_some(Left {
            amount,
            full_at: at.after(full_in),
        })
    };
    let (requests, input_tokens) = (left("requests"), left("input-tokens"));
    let (output_tokens, tokens) = (left("output-tokens"), left("tokens"));
    let any = requests.or(input_tokens).or(output_tokens).or(tokens);
    let limits = ToldLimits {
        requests: limit("requests"),
        input_tokens: limit("input-tokens"),
        output_tokens: limit("output-tokens"),
        tokens: limit("tokens"),
        left: ToldLeft {
            at: any.map(|_| at),
            requests,
            input_tokens,
            output_tokens,
            tokens,
        },
    };
    (limits != ToldLimits::default()).then_some(limits)
}

fn timestamp(moment: SystemTime) -> Timestamp {
    let since_1970 = moment
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    Timestamp(i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX))
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn seconds(text: &str, unit: f64) -> Option<Duration> {
    let number: f64 = text.parse().ok()?;
    if number.is_nan() || number < 0.0 {
        return None;
    }
    Some(
        Duration::try_from_secs_f64(number * unit)
            .unwrap_or(MAX_WAIT)
            .min(MAX_WAIT),
    )
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use reqwest::header::HeaderValue;

    use super::*;

    fn wait(pairs: &[(&'static str, &'static str)]) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        // Sun, 06 Nov 1994 08:49:37 GMT
        retry_after(&headers, UNIX_EPOCH + Duration::from_secs(784_111_777))
    }

    #[test]
    fn waits_are_read_in_every_form() {
        let cases = [
            ("0", Some(Duration::ZERO)),
            ("7", Some(Duration::from_secs(7))),
            (" 1.5 ", Some(Duration::from_millis(1500))),
            ("-3", None),
            ("nan", None),
            ("soon", None),
            ("", None),
            ("inf", Some(MAX_WAIT)),
            ("99999999999999999999999999", Some(MAX_WAIT)),
            (
                "Sun, 06 Nov 1994 08:50:37 GMT",
                Some(Duration::from_secs(60)),
            ),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(Duration::ZERO)),
            ("Sat, 06 Nov 2094 08:49:37 GMT", Some(MAX_WAIT)),
        ];
        for (value, expected) in cases {
            assert_eq!(wait(&[("retry-after", value)]), expected, "{value:?}");
        }
    }

    #[test]
    fn milliseconds_are_preferred_when_they_make_sense() {
        assert_eq!(
            wait(&[("retry-after-ms", "250"), ("retry-after", "9")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            wait(&[("retry-after-ms", "x"), ("retry-after", "9")]),
            Some(Duration::from_secs(9))
        );
    }

    #[test]
    fn limits_are_told_apart_and_resets_are_counted_by_the_servers_clock() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("date", "Sun, 06 Nov 1994 08:00:00 GMT"),
            ("anthropic-ratelimit-requests-limit", "50"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "1994-11-06T08:00:01Z"),
            ("anthropic-ratelimit-input-tokens-limit", "30000"),
            ("anthropic-ratelimit-input-tokens-remaining", "12000"),
            (
                "anthropic-ratelimit-input-tokens-reset",
                "1994-11-06T08:00:36Z",
            ),
            ("anthropic-ratelimit-output-tokens-limit", "8000"),
            ("anthropic-ratelimit-output-tokens-remaining", "7000"),
            (
                "anthropic-ratelimit-output-tokens-reset",
                "1994-11-06T08:00:07.5Z",
            ),
            ("anthropic-ratelimit-tokens-limit", "38000"),
            ("anthropic-ratelimit-tokens-remaining", "soon"),
            ("anthropic-ratelimit-tokens-reset", "1994-11-07T08:00:00Z"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        // Our clock is an hour ahead.
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        let told = limits(&headers, now).unwrap();
        assert_eq!(told.requests, Some(50));
        assert_eq!(told.input_tokens, Some(30_000), "input is not output");
        assert_eq!(told.output_tokens, Some(8_000), "output is not input");
        assert_eq!(told.tokens, Some(38_000));
        let left = |amount, milliseconds: i64| {
            let full_at = Timestamp(784_111_777_000 + milliseconds);
            Some(Left { amount, full_at })
        };
        assert_eq!(told.left.at, Some(Timestamp(784_111_777_000)));
        assert_eq!(told.left.requests, left(49, 1_000));
        assert_eq!(told.left.input_tokens, left(12_000, 36_000));
        assert_eq!(told.left.output_tokens, left(7_000, 7_500));
        assert_eq!(told.left.tokens, None);
        assert_eq!(limits(&HeaderMap::new(), now), None);
    }

    #[test]
    fn only_a_clear_word_on_retrying_counts() {
        let mut headers = HeaderMap::new();
        assert_eq!(should_retry(&headers), None);
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
        assert_eq!(should_retry(&headers), Some(false));
        headers.insert("x-should-retry", HeaderValue::from_static("perhaps"));
        assert_eq!(should_retry(&headers), None);
    }
}
