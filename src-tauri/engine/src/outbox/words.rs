//! What the person at the machine is told, grouped so that no message comes twice.

use std::collections::HashSet;

use super::Notification;
use crate::model::BatchId;
use crate::store::{FailedJob, FinishedBatch, OpenedCircuit, ToTell};

/// One message, with the entries of the outbox that it tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    pub(super) notification: Notification,
    pub(super) outbox_ids: Vec<i64>,
}

/// Batches that are told one by one; more are told together.
const BATCHES_ONE_BY_ONE: usize = 3;

/// Returns the messages for everything that nobody was told of yet: one for each circuit, one for each
/// finished batch with its failures, one for all other failures.
pub(super) fn messages(to_tell: &ToTell) -> Vec<Message> {
    let mut messages: Vec<Message> = to_tell.circuits.iter().map(circuit).collect();
    let finished: HashSet<&BatchId> = to_tell
        .batches
        .iter()
        .map(|batch| &batch.batch_id)
        .collect();
    let (with_batch, alone): (Vec<&FailedJob>, Vec<&FailedJob>) = to_tell
        .failures
        .iter()
        .partition(|failure| finished.contains(&failure.batch_id));
    if to_tell.batches.len() > BATCHES_ONE_BY_ONE {
        messages.push(batches(&to_tell.batches, &with_batch));
    } else {
        messages.extend(to_tell.batches.iter().map(|batch| {
            let failures: Vec<&FailedJob> = with_batch
                .iter()
                .copied()
                .filter(|failure| failure.batch_id == batch.batch_id)
                .collect();
            one_batch(batch, &failures)
        }));
    }
    if !alone.is_empty() {
        messages.push(failures(&alone));
    }
    messages
}

fn circuit(circuit: &OpenedCircuit) -> Message {
    Message {
        notification: Notification {
            title: "Gistmill needs you".to_owned(),
            body: format!("{} {}", circuit.message, circuit.cause.hint()),
        },
        outbox_ids: vec![circuit.outbox_id],
    }
}

fn one_batch(batch: &FinishedBatch, failures: &[&FailedJob]) -> Message {
    let title = if batch.done + batch.needs_review == 0 && batch.failed > 0 {
        format!("{} failed", batch.name)
    } else {
        format!("{} is finished", batch.name)
    };
    let body = match failures {
        // A batch of one file: why it failed is more than that it did.
        [failure] if batch.done + batch.needs_review == 0 && batch.failed == 1 => reason(failure),
        _ => counts(batch.done, batch.needs_review, batch.failed),
    };
    Message {
        notification: Notification { title, body },
        outbox_ids: ids(&[batch.outbox_id], failures),
    }
}

fn batches(batches: &[FinishedBatch], failures: &[&FailedJob]) -> Message {
    let sum = |part: fn(&FinishedBatch) -> u64| batches.iter().map(part).sum();
    let own: Vec<i64> = batches.iter().map(|batch| batch.outbox_id).collect();
    Message {
        notification: Notification {
            title: format!("{} batches are finished", batches.len()),
            body: counts(
                sum(|batch| batch.done),
                sum(|batch| batch.needs_review),
                sum(|batch| batch.failed),
            ),
        },
        outbox_ids: ids(&own, failures),
    }
}

fn failures(failures: &[&FailedJob]) -> Message {
    let outbox_ids = ids(&[], failures);
    if let [failure] = failures {
        return Message {
            notification: Notification {
                title: format!("{} failed", failure.title),
                body: reason(failure),
            },
            outbox_ids,
        };
    }
    let titles: Vec<&str> = failures
        .iter()
        .take(3)
        .map(|failure| failure.title.as_str())
        .collect();
    let more = failures.len().saturating_sub(titles.len());
    let others = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Message {
        notification: Notification {
            title: format!("{} jobs failed", failures.len()),
            body: format!(
                "{}{others}. Dead letters show why, and what to do.",
                titles.join(", ")
            ),
        },
        outbox_ids,
    }
}

fn reason(failure: &FailedJob) -> String {
    let reason = failure
        .error
        .clone()
        .unwrap_or_else(|| "It failed.".to_owned());
    let hint = failure.cause.map_or("", |cause| cause.hint());
    format!("{reason} {hint}").trim_end().to_owned()
}

fn counts(done: u64, needs_review: u64, failed: u64) -> String {
    let mut parts = vec![format!("{done} done")];
    if needs_review > 0 {
        parts.push(format!("{needs_review} to review"));
    }
    if failed > 0 {
        parts.push(format!("{failed} failed"));
    }
    format!("{}.", parts.join(", "))
}

fn ids(own: &[i64], failures: &[&FailedJob]) -> Vec<i64> {
    own.iter()
        .copied()
        .chain(failures.iter().map(|failure| failure.outbox_id))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cause;

    fn failure(title: &str, batch: &str) -> FailedJob {
        FailedJob {
            outbox_id: 1,
            batch_id: BatchId(batch.to_owned()),
            title: title.to_owned(),
            cause: Some(Cause::PdfEncrypted),
            error: Some("It needs a password.".to_owned()),
        }
    }

    fn batch(id: &str, done: u64, failed: u64) -> FinishedBatch {
        FinishedBatch {
            outbox_id: 2,
            batch_id: BatchId(id.to_owned()),
            name: format!("Papers {id}"),
            done,
            needs_review: 0,
            failed,
        }
    }

    fn told(to_tell: &ToTell) -> Vec<(String, String)> {
        messages(to_tell)
            .into_iter()
            .map(|message| (message.notification.title, message.notification.body))
            .collect()
    }

    #[test]
    fn one_failure_says_why_and_what_to_do() {
        let to_tell = ToTell {
            failures: vec![failure("lease.pdf", "a")],
            ..ToTell::default()
        };
        assert_eq!(
            told(&to_tell),
            [(
                "lease.pdf failed".to_owned(),
                "It needs a password. Give its password. It is used on this machine only, and forgotten when Gistmill is closed."
                    .to_owned()
            )]
        );
    }

    #[test]
    fn many_failures_are_one_notification() {
        let to_tell = ToTell {
            failures: (1..=5).map(|n| failure(&format!("{n}.pdf"), "a")).collect(),
            ..ToTell::default()
        };
        assert_eq!(
            told(&to_tell),
            [(
                "5 jobs failed".to_owned(),
                "1.pdf, 2.pdf, 3.pdf and 2 more. Dead letters show why, and what to do.".to_owned()
            )]
        );
    }

    #[test]
    fn the_failures_of_a_finished_batch_are_told_with_it_and_not_again() {
        let to_tell = ToTell {
            failures: vec![failure("1.pdf", "a"), failure("2.pdf", "b")],
            batches: vec![batch("a", 7, 1)],
            ..ToTell::default()
        };
        let titles: Vec<String> = told(&to_tell).into_iter().map(|(title, _)| title).collect();
        assert_eq!(titles, ["Papers a is finished", "2.pdf failed"]);
        assert_eq!(messages(&to_tell)[0].notification.body, "7 done, 1 failed.");
    }

    #[test]
    fn many_batches_at_once_are_one_notification() {
        let to_tell = ToTell {
            batches: (1..=9).map(|n| batch(&n.to_string(), n, 0)).collect(),
            ..ToTell::default()
        };
        assert_eq!(
            told(&to_tell),
            [("9 batches are finished".to_owned(), "45 done.".to_owned())]
        );
    }

    #[test]
    fn a_circuit_is_told_by_itself() {
        let to_tell = ToTell {
            circuits: vec![OpenedCircuit {
                outbox_id: 3,
                message: "The key was refused.".to_owned(),
                cause: Cause::KeyRefused,
            }],
            ..ToTell::default()
        };
        assert!(told(&to_tell)[0].1.starts_with("The key was refused. Test"));
    }
}
