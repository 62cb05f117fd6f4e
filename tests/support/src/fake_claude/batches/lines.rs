//! The results of a batch, as JSON lines.

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::{Batch, Fate, Outcome};

/// The results, in an order that is not that of the requests.
pub(super) fn lines(batch: &Batch, now: Timestamp) -> Vec<String> {
    let mut order: Vec<usize> = (0..batch.items.len()).collect();
    order.sort_by_cached_key(|at| Sha256::digest(&batch.items[*at].custom_id));
    // Two may happen to be in order.
    if order.len() > 1 && order.is_sorted() {
        order.reverse();
    }
    order.into_iter().map(|at| line(batch, at, now)).collect()
}

fn line(batch: &Batch, at: usize, now: Timestamp) -> String {
    let item = &batch.items[at];
    let fate = batch.fate(at, now);
    let mut result = json!({"type": fate.word()});
    match (&item.outcome, fate) {
        (Outcome::Answered(message), Fate::Succeeded) => result["message"] = message.clone(),
        // The error object within an error object.
        (Outcome::Failed(error), Fate::Errored) => result["error"] = error.clone(),
        _ => {}
    }
    let line: Value = json!({"custom_id": item.custom_id, "result": result});
    format!("{line}\n")
}
