//! The models that the program knows by itself.
//!
//! Source: Anthropic's list of models, its list of deprecations and its pages on thinking, effort and PDFs, as
//! of 2026-11-29.

use crate::model::{Effort, Lifecycle, ModelProfile, ProfileSource};

use Lifecycle::{Active, Deprecated, Legacy};

/// One model of the list.
pub(super) struct Row {
    pub(super) id: &'static str,
    lifecycle: Lifecycle,
    /// The day from which it answers no more.
    retires_on: Option<&'static str>,
    /// The day before which it does not end.
    kept_until: Option<&'static str>,
    window: Window,
    pub(super) newer_tokenizer: bool,
    pub(super) thinks: bool,
    efforts: &'static [Effort],
}

/// What goes with the size of the context window.
#[derive(Clone, Copy)]
enum Window {
    /// 1,000,000 tokens, 600 pages, 128,000 tokens of output.
    Large,
    /// 200,000 tokens, 100 pages, 64,000 tokens of output.
    Small,
}

/// Generation 5: every level of effort.
const EVERY: &[Effort] = &Effort::ALL;
/// Claude Opus 4.6 and Sonnet 4.6 have no `xhigh`.
const WITHOUT_XHIGH: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High, Effort::Max];
/// Claude Opus 4.5 has three levels.
const THREE: &[Effort] = &[Effort::Low, Effort::Medium, Effort::High];

/// A model of generation 5: large, counting anew, thinking before it writes.
const fn fifth(id: &'static str, lifecycle: Lifecycle, kept_until: Option<&'static str>) -> Row {
    Row {
        id,
        lifecycle,
        retires_on: None,
        kept_until,
        window: Window::Large,
        newer_tokenizer: true,
        thinks: true,
        efforts: EVERY,
    }
}

/// A model of generation 4, which thinks only when it is told to.
const fn fourth(
    id: &'static str,
    window: Window,
    newer_tokenizer: bool,
    efforts: &'static [Effort],
) -> Row {
    Row {
        id,
        lifecycle: Legacy,
        retires_on: None,
        kept_until: None,
        window,
        newer_tokenizer,
        thinks: false,
        efforts,
    }
}

/// The list.
pub(super) const ROWS: [Row; 18] = [
    fifth("claude-fable-5-2", Active, None),
    fifth("claude-fable-5-1", Legacy, None),
    fifth("claude-fable-5", Legacy, None),
    fifth("claude-mythos-5-2", Active, None),
    fifth("claude-mythos-5-1", Legacy, None),
    fifth("claude-mythos-5", Legacy, None),
    fifth("claude-opus-5-5", Active, None),
    fifth("claude-opus-5", Legacy, Some("2027-07-24")),
    fourth("claude-opus-4-8", Window::Large, true, EVERY),
    fourth("claude-opus-4-7", Window::Large, true, EVERY),
    fourth("claude-opus-4-6", Window::Large, false, WITHOUT_XHIGH),
    Row {
        lifecycle: Deprecated,
        retires_on: Some("2027-01-22"),
        ..fourth("claude-opus-4-5-20251101", Window::Small, false, THREE)
    },
    fifth("claude-sonnet-5-5", Active, Some("2027-09-28")),
    fifth("claude-sonnet-5", Legacy, None),
    Row {
        kept_until: Some("2027-02-17"),
        ..fourth("claude-sonnet-4-6", Window::Large, false, WITHOUT_XHIGH)
    },
    Row {
        lifecycle: Deprecated,
        retires_on: Some("2026-11-30"),
        ..fourth("claude-sonnet-4-5-20250929", Window::Small, false, &[])
    },
    // Nobody tells whether it thinks by itself: taken for one that does, so that a cap holds and it is asked for little.
    fifth("claude-haiku-5-5", Active, None),
    fourth("claude-haiku-4-5-20251001", Window::Small, false, &[]),
];

/// The current model of each line.
const CURRENT: [(&str, &str); 5] = [
    ("claude-fable-", "claude-fable-5-2"),
    ("claude-mythos-", "claude-mythos-5-2"),
    ("claude-opus-", "claude-opus-5-5"),
    ("claude-sonnet-", "claude-sonnet-5-5"),
    ("claude-haiku-", "claude-haiku-5-5"),
];

/// Returns the current model of a model's line; `None` where it is that itself, or of no line known here.
pub(super) fn successor(id: &str) -> Option<&'static str> {
    CURRENT
        .iter()
        .find(|(line, _)| id.starts_with(line))
        .map(|(_, current)| *current)
        .filter(|current| *current != id)
}

impl Row {
    /// Returns the most output tokens of an answer.
    pub(super) fn max_output_tokens(&self) -> u32 {
        match self.window {
            Window::Large => 128_000,
            Window::Small => 64_000,
        }
    }

    /// Returns the row as a profile of `model`, which may be written with a date or a maker's name.
    pub(super) fn profile(&self, model: &str) -> ModelProfile {
        let (context_tokens, pdf_pages) = match self.window {
            Window::Large => (1_000_000, 600),
            Window::Small => (200_000, 100),
        };
        ModelProfile {
            model: model.to_owned(),
            lifecycle: self.lifecycle,
            retires_on: self.retires_on.map(str::to_owned),
            kept_until: self.kept_until.map(str::to_owned),
            successor: successor(self.id).map(str::to_owned),
            context_tokens,
            max_output_tokens: self.max_output_tokens(),
            pdf_pages,
            newer_tokenizer: self.newer_tokenizer,
            thinks: self.thinks,
            efforts: self.efforts.to_vec(),
            citations: true,
            structured_outputs: true,
            batches: true,
            source: ProfileSource::Shipped,
        }
    }
}
