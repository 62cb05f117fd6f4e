//! Why a job waits, in words.

use gistmill_engine::model::{
    CapScope, Cause, CauseClass, Fix, JobStatus, JobView, Overview, QueueName, Timestamp,
    WaitingReason,
};

use super::money::{exact, money};
use super::{counted, duration};

/// Returns what is worth saying of a job besides its state.
pub(crate) fn remark(job: &JobView, now: Timestamp) -> String {
    let Some(reason) = &job.waiting else {
        if let (JobStatus::Submitted, Some(since)) = (job.status, job.started_at) {
            return format!(
                "With Claude’s batch API since {}; usually within an hour, at most 24 h.",
                super::moment(since)
            );
        }
        return match &job.error {
            Some(error) => error.clone(),
            None if job.reused => "An earlier result, reused for $0.00.".to_owned(),
            None => String::new(),
        };
    };
    let wait = |moment: &Timestamp| duration(moment.since(now).as_millis());
    match reason {
        WaitingReason::Ready => String::new(),
        WaitingReason::Delayed { until } => format!("Starts in {}.", wait(until)),
        WaitingReason::Retrying { at, .. } => {
            let error = job.error.as_deref().unwrap_or_default();
            format!("{error} Again in {}.", wait(at))
                .trim_start()
                .to_owned()
        }
        WaitingReason::TokenBudget { until } => {
            format!("Waits {} for tokens of the minute.", wait(until))
        }
        WaitingReason::RequestsBudget { until } => {
            format!("Waits {} for requests of the minute.", wait(until))
        }
        WaitingReason::LargerThanBudget => {
            "Larger than the tokens of a minute: runs alone, after a minute without another."
                .to_owned()
        }
        WaitingReason::SpendCap {
            scope,
            cap_micros,
            needed_micros,
            ..
        } => {
            let which = match scope {
                CapScope::Batch => "Its batch’s cap",
                CapScope::Day => "Today’s cap",
                CapScope::Month => "This month’s cap",
            };
            format!(
                "{which} of {} is reached; it may need {} in all.",
                exact(*cap_micros),
                money(Some(*needed_micros))
            )
        }
        WaitingReason::PriceUnknown { model } => format!(
            "Nobody knows what {model} costs: “gistmill prices set {model}”, or “gistmill prices free {model}”."
        ),
        WaitingReason::Uploading { message } => match message {
            Some(message) => format!("Answered and stored; waits for its upload. {message}"),
            None => "Answered and stored; its upload is on the way.".to_owned(),
        },
        WaitingReason::BehindHigh => "Jobs of high wait for tokens, and go first.".to_owned(),
        WaitingReason::QueuePaused => {
            format!(
                "Its queue is paused: “gistmill queues resume {}”.",
                job.queue.as_str()
            )
        }
        WaitingReason::BatchPaused => "Its batch is paused: “gistmill batches resume”.".to_owned(),
        WaitingReason::JobPaused => "It is paused: “gistmill resume”.".to_owned(),
        WaitingReason::Pilot { left: 0 } => {
            "The pilot of its batch has ended: “gistmill batches pilot” shows what it came to."
                .to_owned()
        }
        WaitingReason::Pilot { left } => format!(
            "Waits for the pilot of its batch, of which {} left.",
            counted(*left, "job is", "jobs are")
        ),
        WaitingReason::OutsideQuietHours { until } => {
            format!("Bulk runs at its own hours; they begin in {}.", wait(until))
        }
        WaitingReason::CircuitOpen { cause } => cause.hint().to_owned(),
        WaitingReason::Offline { until } => {
            format!("No connection; tried again in {}.", wait(until))
        }
        WaitingReason::FillingBatch { until } => format!(
            "Handed to the batch API together with others, in {} at most.",
            wait(until)
        ),
        WaitingReason::BatchApi { message, until, .. } => {
            format!("{message} Tried again in {}.", wait(until))
        }
        WaitingReason::FileMissing => {
            "Its file is not where it was. Put it back before its turn comes.".to_owned()
        }
        WaitingReason::NoConsumer => "Nothing works the queue.".to_owned(),
    }
}

/// Says what a person can do about a cause, here on the command line.
pub(crate) fn hint(cause: Cause) -> String {
    match cause.fix() {
        Fix::GivePassword => format!(
            "{} On the command line: --password-file FILE, or GISTMILL_PDF_PASSWORD.",
            cause.hint()
        ),
        Fix::SendText => format!(
            "{} On the command line: {SEND_TEXT}, then gistmill retry --cause {}{}.",
            cause.hint(),
            cause.key(),
            if cause.class() == CauseClass::Review {
                " --status needs-review"
            } else {
                ""
            }
        ),
        _ => cause.hint().to_owned(),
    }
}

/// The command after which the text of PDFs is sent in place of their pages.
pub(crate) const SEND_TEXT: &str = "gistmill config set text-only on";

/// Returns the command that lets the first lane go on which only a person can.
pub(crate) fn way_on(overview: &Overview) -> Option<String> {
    overview.lanes.iter().find_map(|lane| {
        let command = command(lane.obstacle.as_ref()?, lane.queue)?;
        Some(format!("To go on: {command}"))
    })
}

fn command(reason: &WaitingReason, queue: QueueName) -> Option<String> {
    Some(match reason {
        WaitingReason::QueuePaused => format!("gistmill queues resume {}", queue.as_str()),
        WaitingReason::BatchPaused => "gistmill batches resume ID".to_owned(),
        WaitingReason::JobPaused => format!("gistmill resume --queue {}", queue.as_str()),
        WaitingReason::Pilot { left: 0 } => "gistmill batches pilot ID".to_owned(),
        WaitingReason::SpendCap { scope, .. } => match scope {
            CapScope::Batch => "gistmill batches cap ID AMOUNT",
            CapScope::Day => "gistmill config set day-cap AMOUNT",
            CapScope::Month => "gistmill config set month-cap AMOUNT",
        }
        .to_owned(),
        WaitingReason::PriceUnknown { model } => format!(
            "gistmill prices set {model} --input AMOUNT --output AMOUNT, or gistmill prices free {model}"
        ),
        WaitingReason::CircuitOpen { cause } => match cause {
            Cause::KeyMissing | Cause::KeyRefused | Cause::PermissionDenied => "gistmill key set",
            Cause::ModelNotFound | Cause::ModelRetired => "gistmill config set model MODEL",
            _ => return None,
        }
        .to_owned(),
        WaitingReason::BatchApi {
            cause: Cause::BatchesNotOffered,
            ..
        } => "gistmill queues set bulk --delivery each".to_owned(),
        _ => return None,
    })
}
