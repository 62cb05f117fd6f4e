//! The text of PDFs for the offline provider, read by the PDF child process.

use std::path::Path;

use async_trait::async_trait;

use super::Failure;
use super::offline::TextSource;
use crate::model::Cause;
use crate::pdf::{PdfError, PdfWorker};

/// Most characters read of a document: about a thousand dense pages.
const MOST_CHARACTERS: usize = 3_000_000;
/// With a larger share of glyphs that stand for no known character, sentences would be nonsense.
const MOST_UNTRUSTED: f32 = 0.5;

#[async_trait]
impl TextSource for PdfWorker {
    async fn text(&self, path: &Path) -> Result<Vec<String>, Failure> {
        let text = PdfWorker::text(self, path, None, None, MOST_CHARACTERS)
            .await
            .map_err(failure)?;
        if text.untrusted_glyph_share > MOST_UNTRUSTED {
            return Err(Failure::unsent(
                Cause::PdfWithoutText,
                "Most of its letters have no known meaning, so its text can't be read.",
            ));
        }
        Ok(text.pages)
    }
}

fn failure(error: PdfError) -> Failure {
    match error {
        PdfError::Refused(finding) => Failure::unsent(finding.cause, finding.message),
        ours => Failure::unsent(Cause::UnexpectedStatus, ours.to_string()),
    }
}
