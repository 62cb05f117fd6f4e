//! The most that one call takes, by model.
//!
//! Pages and tokens are those of the model's [profile](crate::profiles); the size of a document follows from the
//! 32 MB that the API takes as a whole body (Anthropic's limits as of 2026-11-29).

use crate::model::ModelProfile;
use crate::profiles;
use crate::provider::claude::MAX_FILE_BYTES;

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

impl Ceiling {
    /// Returns the same where a document can be uploaded before the call.
    #[must_use]
    pub fn with_files(self) -> Self {
        Self {
            document_bytes: MAX_FILE_BYTES,
            ..self
        }
    }

    /// Returns the most that one call takes to a model of which this is known.
    #[must_use]
    pub fn of(profile: &ModelProfile) -> Self {
        Self {
            pages: profile.pdf_pages,
            input_tokens: profile.context_tokens,
            document_bytes: DOCUMENT_BYTES,
        }
    }
}

/// Returns the most that one call to `model` takes, as far as it is known without asking.
#[must_use]
pub fn ceiling(model: &str) -> Ceiling {
    Ceiling::of(&profiles::shipped(model))
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
