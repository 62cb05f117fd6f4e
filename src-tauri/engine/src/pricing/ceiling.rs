//! The most that one call takes, by model.
//!
//! Source: Anthropic's lists of models and limits of PDFs as of [`SHIPPED_ON`](super::SHIPPED_ON): 600 pages
//! a request where the context window has a million tokens, 100 where it has fewer, and 32 MB for the whole
//! body. A model that is not known here is taken for one of the small ones: a document in two parts that
//! would have gone in one costs a call more, one that is refused costs the answer.

/// What one call to a model takes at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ceiling {
    /// Pages of PDFs.
    pub pages: u32,
    /// Tokens of its context window: document, prompt and answer together.
    pub input_tokens: u64,
    /// Bytes of a document before it is written as base64.
    pub document_bytes: u64,
}

/// Bytes that become 30.7 MB as base64, which leaves 1.3 MB for the prompt, whether the API's 32 MB are read
/// as millions or as powers of two.
const DOCUMENT_BYTES: u64 = 23_000_000;

/// Models whose context window has a million tokens, by how their ids begin.
const MILLION: [&str; 9] = [
    "claude-fable-5",
    "claude-mythos-5",
    "claude-opus-5",
    "claude-opus-4-6",
    "claude-opus-4-7",
    "claude-opus-4-8",
    "claude-sonnet-5",
    "claude-sonnet-4-6",
    "claude-haiku-5-5",
];

/// Returns the most that one call to `model` takes.
#[must_use]
pub fn ceiling(model: &str) -> Ceiling {
    let id = model.strip_prefix("anthropic/").unwrap_or(model);
    let (pages, input_tokens) = if MILLION.iter().any(|known| is_or_is_newer(id, known)) {
        (600, 1_000_000)
    } else {
        (100, 200_000)
    };
    Ceiling {
        pages,
        input_tokens,
        document_bytes: DOCUMENT_BYTES,
    }
}

/// Says whether `id` is `known`, with a date or a smaller number behind it or without.
fn is_or_is_newer(id: &str, known: &str) -> bool {
    id.strip_prefix(known)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::claude::MAX_BODY_BYTES;

    #[test]
    fn the_pages_follow_the_context_window() {
        for model in [
            "claude-sonnet-4-6",
            "claude-haiku-5-5",
            "anthropic/claude-opus-5-5",
            "claude-fable-5-2",
            "claude-opus-4-6-20260101",
        ] {
            assert_eq!(ceiling(model).pages, 600, "{model}");
            assert_eq!(ceiling(model).input_tokens, 1_000_000, "{model}");
        }
        for model in [
            "claude-haiku-4-5",
            "claude-sonnet-4-5-20250929",
            "claude-opus-4-5-20251101",
            "claude-sonnet-4-60",
            "llama3",
        ] {
            assert_eq!(ceiling(model).pages, 100, "{model}");
            assert_eq!(ceiling(model).input_tokens, 200_000, "{model}");
        }
    }

    #[test]
    fn a_document_of_the_largest_size_leaves_a_megabyte_for_the_prompt() {
        let encoded = ceiling("claude-sonnet-4-6").document_bytes.div_ceil(3) * 4;
        assert!(encoded + 1_000_000 < 32_000_000.min(MAX_BODY_BYTES));
    }
}
