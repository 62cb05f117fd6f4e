//! The calls that files come to: in which parts they are asked, and what the calls take and cost.

use super::document_work;
use crate::model::{Cause, Delivery, EstimateCheck, Finding, ScannedFile, Sends};
use crate::parts::{self, Known, Part, Question};
use crate::pdf::Measures;
use crate::pricing::{Estimate, Learned, Prices, estimate_knowing};

/// Returns the parts that a file is asked in; none where one call takes it.
///
/// `minute` is the budget of a minute in tokens.
///
/// # Errors
/// What speaks against it: no text where text is wanted, a page that no call takes, or more parts than can be
/// put together again.
pub(in crate::engine) fn parts_of(
    file: &ScannedFile,
    measures: Option<&Measures>,
    question: &Question<'_>,
    minute: u64,
) -> Result<Vec<Part>, Finding> {
    if question.sends == Sends::Text && is_blank(file) {
        return Err(Finding {
            cause: Cause::PdfWithoutText,
            message: "It has no text that could be sent in place of its pages; it may be scanned."
                .to_owned(),
        });
    }
    let known = Known {
        pages: file.document.pages,
        bytes: file.document.bytes,
        text: document_work(file, question.sends).text,
        measures,
    };
    parts::plan(&known, question, minute)
}

/// Says whether every page was read and none has a character.
fn is_blank(file: &ScannedFile) -> bool {
    let text = document_work(file, Sends::Text).text;
    text.is_some_and(|text| text.all_read && text.letters == 0 && text.ideographs == 0)
}

/// Returns what each call about a file takes, of which some may be known.
pub(in crate::engine) fn calls(
    file: &ScannedFile,
    parts: &[Part],
    question: &Question<'_>,
    learned: &Learned,
) -> Vec<Estimate> {
    if parts.is_empty() {
        let document = document_work(file, question.sends);
        let work = question.work(document.pages, document.text);
        return vec![estimate_knowing(question.model, &work, learned)];
    }
    let parted = parts.iter().map(|part| question.part(part));
    let combining = question.combining(&[], parts.len() as u64);
    parted
        .chain([combining])
        .map(|call| call.expecting(learned.output.as_ref()))
        .collect()
}

/// What calls come to together; nothing is known of a sum with an unknown part.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Sum {
    pub(in crate::engine) calls: u64,
    pub(in crate::engine) input_tokens: u64,
    pub(in crate::engine) expected_micros: Option<i64>,
    pub(in crate::engine) at_worst_micros: Option<i64>,
}

impl Sum {
    pub(in crate::engine) fn nothing() -> Self {
        Self {
            calls: 0,
            input_tokens: 0,
            expected_micros: Some(0),
            at_worst_micros: Some(0),
        }
    }

    /// Adds a call to a model that goes one way, whose estimates compared so with what was counted.
    pub(in crate::engine) fn add(
        &mut self,
        call: &Estimate,
        model: &str,
        delivery: Delivery,
        prices: &Prices,
        compared: Option<&EstimateCheck>,
    ) {
        let call = call.following(compared);
        self.join(&Self {
            calls: 1,
            input_tokens: call.expected_input,
            expected_micros: prices.expected_by(delivery, model, &call),
            at_worst_micros: prices.at_worst_by(delivery, model, &call),
        });
    }

    /// Adds other calls.
    pub(in crate::engine) fn join(&mut self, other: &Self) {
        let plus = |sum: Option<i64>, part: Option<i64>| sum?.checked_add(part?);
        self.calls += other.calls;
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.expected_micros = plus(self.expected_micros, other.expected_micros);
        self.at_worst_micros = plus(self.at_worst_micros, other.at_worst_micros);
    }
}
