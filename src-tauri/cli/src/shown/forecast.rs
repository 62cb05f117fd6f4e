//! What jobs will come to, in words.

use gistmill_engine::model::{
    CapFit, CapScope, Cause, DeliveryForecast, DeliveryWay, Finish, Forecast, InputForecast,
    LimitedBy, OutputForecast, Timestamp, WaitingReason,
};

use super::{columns, counted, duration, exact, grouped, money};

/// Says what jobs will come to, a line each: tokens, then price and time of each way that they may go, then
/// what fits under the caps.
pub(crate) fn forecast(forecast: &Forecast, now: Timestamp) -> Vec<String> {
    if forecast.jobs == 0 || forecast.input == InputForecast::default() {
        return Vec::new();
    }
    let mut lines = vec![
        input(&forecast.input),
        output(&forecast.output),
        String::new(),
        table(&forecast.deliveries, now),
    ];
    let caps: Vec<String> = forecast
        .deliveries
        .iter()
        .flat_map(|delivery| {
            let caps = delivery.caps.iter();
            caps.filter(|cap| cap.jobs_at_worst < forecast.jobs)
                .map(|cap| fit(delivery.delivery, cap, forecast.jobs))
        })
        .collect();
    if !caps.is_empty() {
        lines.push(String::new());
        lines.extend(caps);
    }
    lines.extend(obstacles(&forecast.deliveries));
    lines
}

fn input(input: &InputForecast) -> String {
    let off = input
        .usually_off_percent
        .map_or_else(String::new, |percent| {
            format!(", usually within {percent} %")
        });
    let sure = match (input.counted_jobs, input.estimated_jobs) {
        (0, _) => format!("estimated{off}"),
        (_, 0) => "counted".to_owned(),
        (counted, estimated) => format!(
            "counted for {counted} of {} jobs, the others estimated{off}",
            counted + estimated
        ),
    };
    format!(
        "Input: {} tokens ({sure}), {} at worst.",
        grouped(input.tokens),
        grouped(input.worst_tokens)
    )
}

fn output(output: &OutputForecast) -> String {
    let sure = match output.answers {
        0 => "a guess, until there are answers to this template".to_owned(),
        answers => format!("as {} were", counted(answers, "answer", "answers")),
    };
    format!(
        "Output: {} tokens an answer, mostly {} to {} ({sure}), {} at worst.",
        grouped(output.expected),
        grouped(output.low),
        grouped(output.high),
        grouped(output.worst)
    )
}

fn table(deliveries: &[DeliveryForecast], now: Timestamp) -> String {
    let rows = deliveries.iter().map(|way| {
        let price = |of: fn(&gistmill_engine::model::ForecastPrice) -> i64| {
            money(way.price.as_ref().map(of))
        };
        [
            name(way.delivery).to_owned(),
            price(|price| price.expected_micros),
            format!(
                "{} to {}",
                price(|price| price.low_micros),
                price(|price| price.high_micros)
            ),
            price(|price| price.worst_micros),
            way.finish
                .as_ref()
                .map_or_else(|| "nobody can tell".to_owned(), |finish| done(finish, now)),
        ]
    });
    columns(
        ["WAY", "EXPECTED", "MOSTLY", "AT WORST", "DONE IN"],
        rows,
        &[1, 2, 3],
    )
}

fn name(delivery: DeliveryWay) -> &'static str {
    match delivery {
        DeliveryWay::High => "high",
        DeliveryWay::Bulk => "bulk",
        DeliveryWay::Batch => "batch",
    }
}

fn done(finish: &Finish, now: Timestamp) -> String {
    let left = |moment: Timestamp| duration(moment.since(now).as_millis());
    match finish.at_latest {
        Some(latest) => format!(
            "usually {}, at most {}",
            left(finish.usually_at),
            left(latest)
        ),
        None => {
            let why = match finish.limited_by {
                LimitedBy::Answers => "the answers take that long",
                LimitedBy::Concurrency => "so many run at once",
                LimitedBy::Tokens => "the tokens of a minute",
                LimitedBy::Requests => "the requests of a minute",
                LimitedBy::Hours => "its hours and its delay",
                LimitedBy::Provider => "the provider",
            };
            format!("about {} ({why})", left(finish.usually_at))
        }
    }
}

fn fit(delivery: DeliveryWay, cap: &CapFit, jobs: u64) -> String {
    let which = match cap.scope {
        CapScope::Batch => "the batch’s cap",
        CapScope::Day => "today’s cap",
        CapScope::Month => "this month’s cap",
    };
    format!(
        "By {}: under {which} of {} fit {} of {jobs} jobs as expected, {} at worst.",
        name(delivery),
        exact(cap.cap_micros),
        cap.jobs_expected,
        cap.jobs_at_worst
    )
}

/// Says what only a person can change, once for all ways.
fn obstacles(deliveries: &[DeliveryForecast]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for way in deliveries {
        let line = match &way.obstacle {
            Some(WaitingReason::QueuePaused) => {
                let queue = way.delivery.queue().as_str();
                format!(
                    "The queue {queue} is paused; the time is that after “gistmill queues resume {queue}”."
                )
            }
            Some(WaitingReason::CircuitOpen {
                cause: Cause::KeyMissing,
            }) => "No API key is set; the time is that after “gistmill key set”.".to_owned(),
            Some(WaitingReason::CircuitOpen { cause }) => format!(
                "Claude is not asked at the moment; the time is that after it is. {}",
                cause.hint()
            ),
            // Whoever forecasts on the command line works the queue after that.
            _ => continue,
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use gistmill_engine::model::ForecastPrice;

    fn way(delivery: DeliveryWay, finish: Option<Finish>, caps: Vec<CapFit>) -> DeliveryForecast {
        DeliveryForecast {
            delivery,
            price: Some(ForecastPrice {
                low_micros: 500_000,
                expected_micros: 1_000_000,
                high_micros: 2_000_000,
                worst_micros: 9_000_000,
            }),
            finish,
            obstacle: Some(WaitingReason::CircuitOpen {
                cause: Cause::KeyMissing,
            }),
            caps,
        }
    }

    fn finish(seconds: i64, latest: Option<i64>) -> Finish {
        Finish {
            usually_at: Timestamp(seconds * 1_000),
            at_latest: latest.map(|seconds| Timestamp(seconds * 1_000)),
            limited_by: LimitedBy::Tokens,
        }
    }

    #[test]
    fn tokens_price_time_and_caps_are_said() {
        let cap = CapFit {
            scope: CapScope::Day,
            cap_micros: 5_000_000,
            committed_micros: 0,
            jobs_expected: 40,
            jobs_at_worst: 12,
        };
        let told = Forecast {
            jobs: 40,
            calls: 41,
            model: "claude-sonnet-4-6".to_owned(),
            input: InputForecast {
                tokens: 123_456,
                worst_tokens: 400_000,
                counted_jobs: 12,
                estimated_jobs: 28,
                usually_off_percent: Some(6),
            },
            output: OutputForecast {
                low: 300,
                expected: 900,
                high: 4_096,
                worst: 4_096,
                answers: 0,
            },
            deliveries: vec![
                way(DeliveryWay::High, Some(finish(300, None)), vec![cap]),
                way(
                    DeliveryWay::Batch,
                    Some(finish(3_600, Some(86_400))),
                    vec![],
                ),
            ],
        };
        let text = forecast(&told, Timestamp(0)).join("\n");
        for words in [
            "counted for 12 of 40 jobs, the others estimated, usually within 6 %",
            "a guess",
            "$1.00",
            "the tokens of a minute",
            "usually 1 h",
            "under today’s cap of $5.00 fit 40 of 40 jobs as expected, 12 at worst",
        ] {
            assert!(text.contains(words), "{words:?} is missing:\n{text}");
        }
        assert_eq!(
            text.matches("gistmill key set").count(),
            1,
            "what holds all ways is said once:\n{text}"
        );
        let nothing = Forecast { jobs: 0, ..told };
        assert!(forecast(&nothing, Timestamp(0)).is_empty());
    }
}
