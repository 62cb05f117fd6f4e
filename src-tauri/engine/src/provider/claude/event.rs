//! The JSON that the Messages API sends, read tolerantly.
//!
//! New event types, fields, block types and stop reasons may appear at any time within an API
//! version: whatever is unknown is skipped, and every number may be missing.

use serde::Deserialize;

use super::pages::Numbered;
use crate::lenient::lenient;
use crate::provider::{DocumentContent, RequestDocument, Usage};

/// One event of a streamed answer.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    MessageStart {
        message: Message,
    },
    ContentBlockStart {
        #[serde(default)]
        index: u64,
        content_block: Block,
    },
    ContentBlockDelta {
        #[serde(default)]
        index: u64,
        delta: Delta,
    },
    MessageDelta {
        #[serde(default)]
        delta: MessageDelta,
        usage: Option<UsageCount>,
    },
    MessageStop,
    Error {
        error: ApiError,
    },
    /// `ping`, `content_block_stop`, and what later versions add.
    #[serde(other)]
    Other,
}

/// An answer: the whole of it when not streamed, its beginning in `message_start`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Message {
    pub(super) model: Option<String>,
    pub(super) content: Option<Vec<Block>>,
    pub(super) stop_reason: Option<String>,
    pub(super) stop_details: Option<StopDetails>,
    pub(super) usage: Option<UsageCount>,
}

/// A block of content.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Block {
    Text {
        #[serde(default)]
        text: Option<String>,
        #[serde(default)]
        citations: Option<Vec<Citation>>,
    },
    /// Thinking, tools, and what later versions add.
    #[serde(other)]
    Other,
}

/// A piece of a block.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Delta {
    #[serde(rename = "text_delta")]
    Text { text: String },
    #[serde(rename = "citations_delta")]
    Citation { citation: Citation },
    /// Thinking, signatures, and what later versions add.
    #[serde(other)]
    Other,
}

/// Where in the document a text comes from: pages of a PDF, characters of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(super) struct Citation {
    start_page_number: Option<u64>,
    end_page_number: Option<u64>,
    start_char_index: Option<u64>,
    end_char_index: Option<u64>,
    /// The words there.
    #[serde(default, deserialize_with = "lenient")]
    pub(super) cited_text: Option<String>,
}

impl Citation {
    /// Returns the first and the last page of the document, counted from 1.
    pub(super) fn pages(&self, document: &RequestDocument) -> Option<(u64, u64)> {
        if let Some(first) = self.start_page_number.filter(|page| *page > 0) {
            // The end is the page after the last one.
            let last = self
                .end_page_number
                .map_or(first, |end| end.saturating_sub(1))
                .max(first);
            // What was sent begins with this page, which the API counts as the first.
            let before = u64::from(document.first_page.saturating_sub(1));
            return Some((first.saturating_add(before), last.saturating_add(before)));
        }
        match &document.content {
            DocumentContent::Text(pages) => {
                let start = self.start_char_index?;
                Numbered::new(pages, document.first_page)
                    .pages_of(start, self.end_char_index.unwrap_or(start))
            }
            DocumentContent::File { .. } | DocumentContent::Uploaded { .. } => None,
        }
    }
}

/// How the message ends.
#[derive(Debug, Default, Deserialize)]
pub(super) struct MessageDelta {
    pub(super) stop_reason: Option<String>,
    pub(super) stop_details: Option<StopDetails>,
}

/// What a refusal says about itself.
#[derive(Debug, Deserialize)]
pub(super) struct StopDetails {
    pub(super) category: Option<String>,
    pub(super) explanation: Option<String>,
}

/// Counted tokens; later counts replace earlier ones, since they are cumulative.
#[derive(Debug, Default, Deserialize)]
pub(super) struct UsageCount {
    input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    output_tokens: Option<u64>,
}

impl UsageCount {
    /// Writes what it counts over `usage`.
    pub(super) fn merge_into(&self, usage: &mut Usage) {
        let take = |count: Option<u64>, place: &mut u64| *place = count.unwrap_or(*place);
        take(self.input_tokens, &mut usage.input_tokens);
        take(
            self.cache_creation_input_tokens,
            &mut usage.cache_creation_input_tokens,
        );
        take(
            self.cache_read_input_tokens,
            &mut usage.cache_read_input_tokens,
        );
        take(self.output_tokens, &mut usage.output_tokens);
    }

    /// Returns the output tokens counted so far, if they are counted here.
    pub(super) fn output_tokens(&self) -> Option<u64> {
        self.output_tokens
    }
}

/// The body of an error answer.
#[derive(Debug, Deserialize)]
pub(super) struct ErrorBody {
    pub(super) error: ApiError,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) request_id: Option<String>,
}

/// An error as the API words it. What has another shape than expected, as gateways write it, is as good as left
/// out: the rest still counts.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ApiError {
    #[serde(default, rename = "type", deserialize_with = "lenient")]
    pub(super) kind: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    pub(super) message: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    details: Option<ErrorDetails>,
}

#[derive(Debug, Deserialize)]
struct ErrorDetails {
    error_code: Option<String>,
}

impl ApiError {
    /// Returns the stable code, which newer errors carry and which is preferred to any wording.
    pub(super) fn code(&self) -> Option<&str> {
        self.details.as_ref()?.error_code.as_deref()
    }

    pub(super) fn kind(&self) -> &str {
        self.kind.as_deref().unwrap_or_default()
    }

    pub(super) fn message(&self) -> &str {
        self.message.as_deref().unwrap_or_default().trim()
    }
}
