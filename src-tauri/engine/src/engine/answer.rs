//! Why nothing moves, in one sentence.

use std::time::Duration;

use crate::model::{ConsumerPlace, QueueName, Timestamp};
use crate::store::{OverviewRow, paused_lanes};

/// Returns why nothing moves; `None` while something runs, or nothing waits.
pub(super) fn answer(row: &OverviewRow, place: ConsumerPlace, now: Timestamp) -> Option<String> {
    if row.counts.running > 0 || row.counts.waiting == 0 {
        return None;
    }
    if place == ConsumerPlace::Nowhere {
        return Some(
            "No program is working the queue. Start the window, or run “gistmill run”.".to_owned(),
        );
    }
    if let Some((moment, retrying)) = row.next_available {
        let wait = moment.since(now);
        return (!wait.is_zero()).then(|| match retrying {
            true => format!("The next job is tried again in {}.", spoken(wait)),
            false => format!("The next job starts in {}.", spoken(wait)),
        });
    }
    if let Some(circuit) = row.circuits.first() {
        return Some(format!("{} {}", circuit.message, circuit.hint));
    }
    let paused: Vec<&str> = paused_lanes(&row.lanes).into_iter().map(lane).collect();
    match paused.as_slice() {
        [] => None,
        [one] => Some(format!("The lane {one} is paused. Resume it to go on.")),
        _ => Some(format!(
            "The lanes {} are paused. Resume one to go on.",
            paused.join(" and ")
        )),
    }
}

fn lane(queue: QueueName) -> &'static str {
    match queue {
        QueueName::High => "High",
        QueueName::Bulk => "Bulk",
    }
}

/// Returns a wait as a person says it.
fn spoken(wait: Duration) -> String {
    match wait.as_secs() + u64::from(wait.subsec_millis() > 0) {
        seconds @ 0..=89 => format!("{seconds} s"),
        seconds => format!("{} min", seconds.div_ceil(60)),
    }
}
