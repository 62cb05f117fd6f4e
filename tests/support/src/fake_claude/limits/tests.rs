use super::*;

const MODEL: &str = "claude-sonnet-4-6";

fn limits(settings: LimitSettings) -> Limits {
    Limits::new(settings)
}

fn minute(requests: u64, input_tokens: u64, output_tokens: u64) -> LimitSettings {
    LimitSettings {
        minute: Some(MinuteLimits {
            requests,
            input_tokens,
            output_tokens,
        }),
        ..LimitSettings::default()
    }
}

/// A full minute, and so many seconds.
fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_800_000_000 + seconds).unwrap()
}

fn wait(refused: Result<(), Canned>) -> String {
    refused.unwrap_err().headers["retry-after"].clone()
}

#[test]
fn input_refills_continuously_and_whoever_waits_as_told_passes() {
    let limits = limits(minute(100, 60_000, 10_000));
    limits.take(MODEL, 60_000, at(0)).unwrap();
    assert_eq!(wait(limits.take(MODEL, 15_000, at(1))), "14");
    limits.take(MODEL, 15_000, at(15)).unwrap();
    assert_eq!(wait(limits.take(MODEL, 1_000, at(15))), "1");
    assert_eq!(limits.refusals().input_tokens, 2);
    assert_eq!(limits.refusals().total(), 2);
}

#[test]
fn output_counts_when_it_is_generated() {
    let limits = limits(minute(100, 60_000, 6_000));
    limits.take(MODEL, 10, at(0)).unwrap();
    limits.generated(MODEL, 7_000, at(0));
    assert_eq!(
        wait(limits.take(MODEL, 10, at(0))),
        "11",
        "more was generated than the minute has, which has to come back first"
    );
    limits.take(MODEL, 10, at(11)).unwrap();
    assert_eq!(limits.refusals().output_tokens, 1);
}

#[test]
fn models_of_a_class_share_and_others_have_their_own() {
    let limits = limits(minute(1, 60_000, 6_000));
    limits.take("claude-sonnet-4-6", 10, at(0)).unwrap();
    assert_eq!(
        wait(limits.take("claude-sonnet-4-5-20250929", 10, at(0))),
        "60"
    );
    limits.take("claude-sonnet-5-5", 10, at(0)).unwrap();
    assert_eq!(limits.refusals().requests, 1);
}

#[test]
fn growth_is_measured_from_minute_to_minute() {
    let limits = limits(LimitSettings {
        ramp: Some(RampSettings {
            input_tokens: 50_000,
            step: 10_000,
        }),
        ..LimitSettings::default()
    });
    limits.take(MODEL, 50_000, at(20)).unwrap();
    let refused = limits.take(MODEL, 1, at(30)).unwrap_err();
    assert_eq!(refused.headers["retry-after"], "30");
    assert_eq!(
        refused.body.unwrap()["error"]["details"]["error_code"],
        "ramp_limit_exceeded"
    );
    limits.take(MODEL, 60_000, at(60)).unwrap();
    limits.take(MODEL, 1, at(61)).unwrap_err();
    limits.take(MODEL, 70_000, at(120)).unwrap();
    assert_eq!(limits.refusals().ramp, 2);
}

#[test]
fn counts_files_and_batches_have_limits_of_their_own() {
    let limits = limits(LimitSettings {
        counts_per_minute: Some(2),
        files_per_minute: Some(1),
        ..LimitSettings::default()
    });
    for call in [Call::CountTokens, Call::CountTokens, Call::UploadFile] {
        limits.take_other(call, at(0)).unwrap();
    }
    assert_eq!(wait(limits.take_other(Call::CountTokens, at(0))), "30");
    assert_eq!(wait(limits.take_other(Call::DeleteFile, at(0))), "60");
    limits.take_other(Call::CreateBatch, at(0)).unwrap();
    limits.take(MODEL, 1, at(0)).unwrap();
    assert_eq!(limits.refusals().other_calls, 2);
}
