//! Counts what an answer uses while it is written, for the bill and for the limits.

use std::sync::Arc;

use super::Shared;
use super::answer::Message;
use super::bill::BilledCall;

/// The meter of one answer.
#[derive(Debug)]
pub(super) struct Meter {
    shared: Arc<Shared>,
    model: String,
    /// Its place in the bill; `None` where nothing is billed.
    place: Option<usize>,
}

impl Meter {
    /// The input is billed from here on, unless the answer was declined before any output.
    pub(super) fn begin(
        shared: &Arc<Shared>,
        title: Option<&String>,
        message: &Message,
        request_id: &str,
    ) -> Self {
        let begin = || {
            shared.bill.begin(BilledCall {
                id: request_id.to_owned(),
                batch: None,
                model: message.model.clone(),
                title: title.cloned(),
                tokens: message.billed_input(),
                micro_dollars: 0,
            })
        };
        Self {
            shared: Arc::clone(shared),
            model: message.model.clone(),
            place: (!message.is_declined_at_once()).then(begin),
        }
    }

    /// So many tokens have been written in all.
    pub(super) fn written(&self, tokens: u64) {
        if let Some(place) = self.place {
            let more = self.shared.bill.written(place, tokens);
            let now = self.shared.clock.now();
            self.shared.limits.generated(&self.model, more, now);
        }
    }
}
