//! What `GET /v1/models` tells of a model. Addresses that only speak like Anthropic tell little more than ids.

use serde::Deserialize;

use super::shipped::successor;
use super::{shipped, without_day};
use crate::lenient::lenient;
use crate::model::{Effort, Lifecycle, ModelProfile, ProfileSource};

/// A line of the list, as far as it is read. Fields that this version does not know are passed over, and so are
/// those that hold something else than expected.
#[derive(Debug, Deserialize)]
pub(crate) struct Line {
    id: String,
    #[serde(default, deserialize_with = "lenient")]
    lifecycle: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    retires_at: Option<String>,
    // OpenRouter's word for it.
    #[serde(default, alias = "context_length", deserialize_with = "lenient")]
    max_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "lenient")]
    max_tokens: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    capabilities: Option<Capabilities>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Capabilities {
    #[serde(deserialize_with = "lenient")]
    pdf_input: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    citations: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    structured_outputs: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    batch: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    effort: Option<Efforts>,
}

#[derive(Debug, Deserialize)]
struct Support {
    supported: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Efforts {
    supported: bool,
    #[serde(deserialize_with = "lenient")]
    low: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    medium: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    high: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    xhigh: Option<Support>,
    #[serde(deserialize_with = "lenient")]
    max: Option<Support>,
}

impl Efforts {
    fn levels(&self) -> Vec<Effort> {
        if !self.supported {
            return Vec::new();
        }
        let told = [&self.low, &self.medium, &self.high, &self.xhigh, &self.max];
        Effort::ALL
            .into_iter()
            .zip(told)
            .filter(|(_, support)| support.as_ref().is_some_and(|support| support.supported))
            .map(|(level, _)| level)
            .collect()
    }
}

/// Returns the profile that a line of the list tells, filled up with what is known without it.
pub(crate) fn told(line: Line) -> ModelProfile {
    let known = shipped(&line.id);
    let capabilities = line.capabilities.unwrap_or_default();
    let can = |support: Option<Support>, otherwise: bool| {
        support.map_or(otherwise, |support| support.supported)
    };
    let context_tokens = line
        .max_input_tokens
        .filter(|tokens| *tokens > 0)
        .unwrap_or(known.context_tokens);
    let pages = if context_tokens >= 1_000_000 {
        600
    } else {
        100
    };
    let reads_pdfs = can(capabilities.pdf_input, known.pdf_pages > 0);
    let (lifecycle, retires_on, kept_until) = match line.lifecycle.as_deref() {
        // Nothing is told of its end.
        None => (known.lifecycle, known.retires_on, known.kept_until),
        Some("retired") => (
            Lifecycle::Retired,
            day(line.retires_at).or(known.retires_on),
            None,
        ),
        Some("deprecated") => (
            Lifecycle::Deprecated,
            day(line.retires_at).or(known.retires_on),
            None,
        ),
        Some(_) => {
            let lifecycle = if known.successor.is_some() {
                Lifecycle::Legacy
            } else {
                Lifecycle::Active
            };
            (lifecycle, day(line.retires_at), known.kept_until)
        }
    };
    ModelProfile {
        lifecycle,
        retires_on,
        kept_until,
        context_tokens,
        max_output_tokens: line
            .max_tokens
            .filter(|tokens| *tokens > 0)
            .unwrap_or(known.max_output_tokens),
        pdf_pages: if reads_pdfs { pages } else { 0 },
        efforts: capabilities
            .effort
            .map_or(known.efforts, |efforts| efforts.levels()),
        citations: can(capabilities.citations, known.citations),
        structured_outputs: can(capabilities.structured_outputs, known.structured_outputs),
        batches: can(capabilities.batch, known.batches),
        source: ProfileSource::Told,
        successor: known
            .successor
            .or_else(|| successor(without_day(&line.id)).map(str::to_owned))
            .filter(|_| lifecycle != Lifecycle::Active),
        // No list tells how it counts, and whether it thinks by itself.
        newer_tokenizer: known.newer_tokenizer,
        thinks: known.thinks,
        model: line.id,
    }
}

/// Returns the day of a moment such as `2027-01-22T00:00:00Z`.
fn day(moment: Option<String>) -> Option<String> {
    let day = moment?.get(..10)?.to_owned();
    day.parse::<jiff::civil::Date>().is_ok().then_some(day)
}
