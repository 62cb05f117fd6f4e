//! From what holds a job to the reason that is said.

use crate::model::{CapScope, Cause, Money, WaitingReason};
use crate::store::circuits::Open;
use crate::store::held;

/// Returns why the jobs behind an open circuit wait.
pub(in crate::store) fn reason_of(open: &Open) -> WaitingReason {
    match (open.cause, open.probe_at) {
        (Cause::Offline, Some(until)) => WaitingReason::Offline { until },
        (cause, _) => WaitingReason::CircuitOpen { cause },
    }
}

/// Returns why a job is passed over, of its bits; `None` without any. `pilot_left` are the jobs of its batch's
/// pilot that have not ended.
pub(in crate::store) fn held_reason(
    bits: i64,
    model: String,
    batch_money: &Money,
    at_worst_micros: Option<i64>,
    upload_message: Option<&str>,
    pilot_left: u64,
) -> Option<WaitingReason> {
    if bits & held::UPLOADING != 0 {
        Some(WaitingReason::Uploading {
            message: upload_message.map(str::to_owned),
        })
    } else if bits & held::JOB_PAUSED != 0 {
        Some(WaitingReason::JobPaused)
    } else if bits & held::BATCH_PAUSED != 0 {
        Some(WaitingReason::BatchPaused)
    } else if bits & held::PILOT != 0 {
        Some(WaitingReason::Pilot { left: pilot_left })
    } else if bits & held::NO_PRICE != 0 {
        Some(WaitingReason::PriceUnknown { model })
    } else if bits & held::BATCH_CAPPED != 0 {
        Some(WaitingReason::SpendCap {
            scope: CapScope::Batch,
            cap_micros: batch_money.cap_micros.unwrap_or(0),
            needed_micros: batch_money.committed_micros() + at_worst_micros.unwrap_or(0),
            until: None,
        })
    } else if bits & held::OVERSIZED != 0 {
        Some(WaitingReason::LargerThanBudget)
    } else {
        None
    }
}
