//! Why nothing moves, in one sentence.

use std::time::Duration;

use crate::model::{
    CapScope, Cause, CircuitView, ConsumerPlace, LaneView, Overview, Problem, QueueName,
    SubmittedView, Timestamp, WaitingReason,
};

/// Returns why nothing moves; `None` while something runs, or nothing waits.
pub(super) fn answer(overview: &Overview, now: Timestamp) -> Option<String> {
    if let Some(Problem { message, hint, .. }) = &overview.storage_problem {
        return Some(format!("{message} {hint}"));
    }
    let submitted = (overview.lanes.iter()).find_map(|lane| lane.submitted.as_ref());
    let by_themselves = submitted.map_or(0, |submitted| submitted.jobs);
    if overview.counts.running > by_themselves {
        return None;
    }
    if overview.counts.waiting == 0 {
        return submitted.map(|submitted| with_batch_api(submitted, now));
    }
    if overview.consumer == ConsumerPlace::Nowhere {
        // What a person has to mend holds whoever begins to work the queue, so it is said first.
        let held = overview
            .lanes
            .iter()
            .filter(|lane| lane.waiting > 0)
            .map(|lane| lane.obstacle.clone())
            .collect::<Option<Vec<_>>>()
            .filter(|reasons| reasons.iter().all(wants_a_person));
        if held.is_none() {
            return Some(
                "No program is working the queue. Start the window, or run “gistmill run”."
                    .to_owned(),
            );
        }
    }
    let waiting: Vec<&LaneView> = overview
        .lanes
        .iter()
        .filter(|lane| lane.waiting > 0)
        .collect();
    let paused: Vec<&str> = waiting
        .iter()
        .filter(|lane| lane.obstacle == Some(WaitingReason::QueuePaused))
        .map(|lane| lane_name(lane.queue))
        .collect();
    if paused.len() > 1 {
        return Some(format!(
            "The lanes {} are paused. Resume one to go on.",
            paused.join(" and ")
        ));
    }
    // The lane that goes on first has the answer; a paused lane is no fault while the other waits.
    let lane = waiting
        .iter()
        .filter(|lane| lane.obstacle != Some(WaitingReason::QueuePaused))
        .min_by_key(|lane| {
            lane.obstacle
                .as_ref()
                .map_or(0, |reason| delay(reason, now))
        })
        .or_else(|| waiting.first())?;
    sentence(lane, &overview.circuits, now)
        .or_else(|| submitted.map(|submitted| with_batch_api(submitted, now)))
}

/// Says where the jobs are that the batch API has, and what to expect.
fn with_batch_api(submitted: &SubmittedView, now: Timestamp) -> String {
    let jobs = match submitted.jobs {
        1 => "1 job is".to_owned(),
        jobs => format!("{jobs} jobs are"),
    };
    let since = spoken(now.since(submitted.since));
    let trouble = submitted
        .trouble
        .as_ref()
        .map_or_else(String::new, |trouble| format!(" {trouble}"));
    format!(
        "{jobs} with Claude’s batch API, since {since}: usually done within an hour, at most within 24 h. It tells \
         nothing until then.{trouble}"
    )
}

fn wants_a_person(reason: &WaitingReason) -> bool {
    match reason {
        WaitingReason::CircuitOpen { cause } => !cause.passes_by_itself(),
        WaitingReason::QueuePaused
        | WaitingReason::BatchPaused
        | WaitingReason::JobPaused
        | WaitingReason::Pilot { left: 0 }
        | WaitingReason::PriceUnknown { .. }
        | WaitingReason::BatchApi {
            cause: Cause::BatchesNotOffered,
            ..
        }
        | WaitingReason::SpendCap { .. } => true,
        _ => false,
    }
}

/// Returns how long a reason lasts, in milliseconds; without a known end for ever.
fn delay(reason: &WaitingReason, now: Timestamp) -> i64 {
    match reason {
        WaitingReason::Delayed { until: moment }
        | WaitingReason::Retrying { at: moment, .. }
        | WaitingReason::TokenBudget { until: moment }
        | WaitingReason::RequestsBudget { until: moment }
        | WaitingReason::OutsideQuietHours { until: moment }
        | WaitingReason::FillingBatch { until: moment }
        | WaitingReason::BatchApi { until: moment, .. }
        | WaitingReason::Offline { until: moment }
        | WaitingReason::SpendCap {
            until: Some(moment),
            ..
        } => moment.0 - now.0,
        WaitingReason::LargerThanBudget => 60_000,
        _ => i64::MAX,
    }
}

/// Returns what holds a lane, in one sentence; `None` where nothing does.
pub(super) fn sentence(
    lane: &LaneView,
    circuits: &[CircuitView],
    now: Timestamp,
) -> Option<String> {
    let name = lane_name(lane.queue);
    let wait = |moment: &Timestamp| spoken(moment.since(now));
    Some(match lane.obstacle.as_ref()? {
        WaitingReason::Ready => return None,
        WaitingReason::Delayed { until } => format!("The next job starts in {}.", wait(until)),
        WaitingReason::Retrying { at, .. } => {
            format!("The next job is tried again in {}.", wait(at))
        }
        WaitingReason::TokenBudget { until } => format!(
            "The tokens for this minute are used up. The next job starts in {}.",
            wait(until)
        ),
        WaitingReason::RequestsBudget { until } => format!(
            "The requests for this minute are used up. The next job starts in {}.",
            wait(until)
        ),
        WaitingReason::LargerThanBudget => {
            "The next job is larger than the tokens of a whole minute: it runs alone, once a minute has \
             passed without another. Raise the tokens per minute to have it run beside others."
                .to_owned()
        }
        WaitingReason::SpendCap {
            scope,
            cap_micros,
            needed_micros,
            until,
        } => {
            let which = match scope {
                CapScope::Batch => "The batch’s cap",
                CapScope::Day => "Today’s cap",
                CapScope::Month => "This month’s cap",
            };
            let again = until.as_ref().map_or_else(String::new, |moment| {
                format!(" It begins anew in {}.", wait(moment))
            });
            format!(
                "{which} of {} is reached. The next job may need {} in all: raise the cap to start it.{again}",
                dollars(*cap_micros, false),
                dollars(*needed_micros, true)
            )
        }
        WaitingReason::PriceUnknown { model } => format!(
            "Nobody knows what {model} costs. Set its price, or mark it as free, to go on."
        ),
        WaitingReason::BehindHigh => {
            "Jobs of High wait for tokens, and go first.".to_owned()
        }
        WaitingReason::QueuePaused => format!("The lane {name} is paused. Resume it to go on."),
        WaitingReason::BatchPaused => {
            "The batch of the next job is paused. Resume it to go on.".to_owned()
        }
        WaitingReason::JobPaused => "The jobs that wait are paused. Resume them to go on.".to_owned(),
        WaitingReason::Pilot { left: 0 } => {
            "The pilot has ended. Look at what it came to, then release the other jobs of its batch or call them \
             off."
                .to_owned()
        }
        WaitingReason::Pilot { left } => format!(
            "The jobs that wait are waiting for the pilot of their batch, of which {left} {} left.",
            if *left == 1 { "is" } else { "are" }
        ),
        WaitingReason::OutsideQuietHours { until } => format!(
            "{name} runs at its own hours only. They begin in {}.",
            wait(until)
        ),
        WaitingReason::CircuitOpen { cause } => circuit(*cause, circuits),
        WaitingReason::Offline { until } => format!(
            "{} That is tried again in {}.",
            circuit(Cause::Offline, circuits),
            wait(until)
        ),
        WaitingReason::Uploading { message } => match message {
            Some(message) => format!(
                "The jobs that wait are answered and stored here; they are completed when their results are in \
                 the bucket. {message}"
            ),
            None => "The jobs that wait are answered; their results are on their way to the bucket."
                .to_owned(),
        },
        WaitingReason::FillingBatch { until } => format!(
            "The jobs that wait are handed to the batch API together, in {} at most.",
            wait(until)
        ),
        WaitingReason::BatchApi {
            cause: Cause::BatchesNotOffered,
            message,
            ..
        } => format!("{message} {}", Cause::BatchesNotOffered.hint()),
        WaitingReason::BatchApi { message, until, .. } => format!(
            "The batch API took nothing: {message} That is tried again in {}.",
            wait(until)
        ),
        WaitingReason::FileMissing => "The file of the next job is missing.".to_owned(),
        WaitingReason::NoConsumer => "No program is working the queue.".to_owned(),
    })
}

fn circuit(cause: Cause, circuits: &[CircuitView]) -> String {
    match circuits.iter().find(|circuit| circuit.cause == cause) {
        Some(circuit) => format!("{} {}", circuit.message, circuit.hint),
        None => cause.hint().to_owned(),
    }
}

fn lane_name(queue: QueueName) -> &'static str {
    match queue {
        QueueName::High => "High",
        QueueName::Bulk => "Bulk",
    }
}

/// Returns micro-dollars as dollars and cents; what is needed is rounded up, what is allowed down.
fn dollars(micros: i64, up: bool) -> String {
    let cents = if up {
        micros.saturating_add(9_999) / 10_000
    } else {
        micros / 10_000
    };
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// Returns a wait as a person says it.
fn spoken(wait: Duration) -> String {
    match wait.as_secs() + u64::from(wait.subsec_millis() > 0) {
        seconds @ 0..=89 => format!("{seconds} s"),
        seconds @ 90..=5_399 => format!("{} min", seconds.div_ceil(60)),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
