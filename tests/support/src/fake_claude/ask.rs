//! What the tests of scenarios ask. The double itself doesn't read it.

use serde::Deserialize;

/// What is asked of the double, by the official SDK and by Gistmill alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ask {
    /// What kind of call.
    pub kind: AskKind,
    /// The model.
    pub model: String,
    /// The limit of the output.
    pub max_tokens: u32,
    /// The question.
    pub prompt: String,
    /// How often the question is repeated within itself.
    pub repeated: usize,
    /// The document before it.
    pub document: Option<AskDocument>,
    /// Whether statements are to name their pages.
    pub cited: bool,
    /// How often it is asked.
    pub calls: usize,
    /// How far the clock is turned after each call.
    pub advance_seconds: u64,
    /// Whether a call that is to be retried is retried, by the SDK on its own. The last outcome counts.
    pub retried: bool,
    /// The `custom_id` of each request of a batch, and the document of each.
    pub requests: Vec<AskRequest>,
    /// Whether a batch is cancelled before its end.
    pub cancelled: bool,
    /// The name under which the document is uploaded.
    pub filename: String,
    /// How long an upload lives.
    pub expires_in_seconds: Option<u64>,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            kind: AskKind::Message,
            model: "claude-sonnet-4-6".to_owned(),
            max_tokens: 1024,
            prompt: "Summarize the document.".to_owned(),
            repeated: 1,
            document: None,
            cited: false,
            calls: 1,
            advance_seconds: 0,
            retried: false,
            requests: Vec::new(),
            cancelled: false,
            filename: "paper.pdf".to_owned(),
            expires_in_seconds: None,
        }
    }
}

/// What kind of call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskKind {
    /// A streamed message.
    Message,
    /// A count of tokens.
    Count,
    /// The list of models.
    Models,
    /// A batch, from its creation to its results.
    Batch,
    /// An upload, a message about it, and its deletion.
    File,
}

/// A request of a batch.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskRequest {
    /// The sender's id.
    pub custom_id: String,
    /// The document.
    #[serde(default)]
    pub document: Option<AskDocument>,
}

/// A made-up document.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskDocument {
    /// What it is.
    #[serde(default)]
    pub content: AskContent,
    /// Its pages.
    #[serde(default = "one")]
    pub pages: u32,
}

/// What a made-up document is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AskContent {
    /// A PDF.
    #[default]
    Pdf,
    /// A PDF that needs a password.
    Encrypted,
    /// A web page.
    Html,
}

fn one() -> u32 {
    1
}

impl AskDocument {
    /// Returns its bytes. `tests/sdk/scenarios.py` makes the same.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        if self.content == AskContent::Html {
            return b"<html>no</html>".to_vec();
        }
        let mut bytes = b"%PDF-1.4\n".to_vec();
        for _ in 0..self.pages {
            bytes.extend_from_slice(b"<< /Type /Page >>\n");
        }
        if self.content == AskContent::Encrypted {
            bytes.extend_from_slice(b"/Encrypt 5 0 R\n");
        }
        bytes.extend_from_slice(b"%%EOF\n");
        bytes
    }
}
