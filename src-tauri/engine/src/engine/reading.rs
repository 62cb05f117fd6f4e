//! A result beside the PDF that it is about: the quotes are checked here, on this machine, and nothing is sent.

use std::path::Path;
use std::sync::Arc;

use secrecy::SecretString;

use super::Engine;
use super::kept::Kept;
use crate::error::EngineError;
use crate::model::{
    Cause, DocumentView, Encryption, JobId, Passage, Quote, QuoteVerdict, Reading, Sha256,
    Unchecked,
};
use crate::pdf::{DocumentText, PdfError};
use crate::reading::{Source, named_pages, quotes, references_from};

/// Most characters that are read of a document; a book of 1,000 pages has two millions.
const MOST_CHARACTERS: usize = 8_000_000;
/// Bytes of texts that are kept; the one that was not asked for longest goes first.
const MOST_BYTES: usize = 32 << 20;
/// Above this share of unknown characters a text is not relied on.
const MOST_UNKNOWN: f32 = 0.05;

/// Most pages that one passage may stand on: more is a mistake of whoever cited it.
const WIDEST: usize = 2_000;

/// Texts that were read, by document.
pub(super) type Texts = Kept<Sha256, Arc<DocumentText>>;

/// No texts yet.
pub(super) fn no_texts() -> Texts {
    Kept::within(MOST_BYTES, |text| {
        // What each page takes besides its letters counts, too.
        text.pages.iter().map(|page| page.len() + 64).sum()
    })
}

impl Engine {
    /// Returns what a reader is shown beside a job's result: the pages it names, its quotes, and whether its PDF
    /// says so. Everything is read on this machine; what can't be checked is told with its reason. The text is
    /// read the first time and kept for the next.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for an unknown job, or when the database can't be read.
    pub async fn reading(&self, job_id: JobId) -> Result<Reading, EngineError> {
        let detail = self.job(job_id).await?;
        let markdown = detail.result.map(|result| result.markdown);
        let markdown = markdown.unwrap_or_default();
        let passages = self.0.store.passages(detail.job.job_id).await?;
        let pages = detail.document.as_ref().and_then(|document| document.pages);
        let text = match (&detail.job.source_path, &detail.document) {
            (Some(path), Some(document)) => self.text_of(Path::new(path), document).await,
            _ => Err(Unchecked::NoDocument),
        };
        let reading =
            tokio::task::spawn_blocking(move || compared(&markdown, passages, pages, text));
        reading
            .await
            .map_err(|error| EngineError::Internal(error.to_string()))
    }

    /// Returns the text of a job's own document, and none of another file that lies there by now.
    async fn text_of(
        &self,
        path: &Path,
        document: &DocumentView,
    ) -> Result<Arc<DocumentText>, Unchecked> {
        is_still_there(path, document).await?;
        if let Some(text) = self.0.texts.look_up(&document.sha256) {
            return Ok(text);
        }
        let password = self.password_for(path, document).await?;
        let read = self
            .0
            .pdf
            .text(path, password.as_ref(), None, MOST_CHARACTERS)
            .await;
        let text = read.map_err(|error| {
            tracing::debug!(%error, "the text of a document could not be read");
            match error {
                PdfError::Refused(finding) => match finding.cause {
                    Cause::PdfEncrypted => Unchecked::Locked,
                    Cause::FileMissing | Cause::FileUnreadable => Unchecked::FileMissing,
                    _ => Unchecked::Failed,
                },
                _ => Unchecked::Failed,
            }
        })?;
        let has_letters = text.pages.iter().any(|page| !page.trim().is_empty());
        if !has_letters || text.untrusted_glyph_share > MOST_UNKNOWN {
            return Err(Unchecked::NoText);
        }
        let text = Arc::new(text);
        self.0
            .texts
            .keep(document.sha256.clone(), Arc::clone(&text));
        Ok(text)
    }

    /// Returns the password that a document needs, if it needs one.
    pub(super) async fn password_for(
        &self,
        path: &Path,
        document: &DocumentView,
    ) -> Result<Option<SecretString>, Unchecked> {
        if document.encryption != Encryption::NeedsPassword {
            return Ok(None);
        }
        if let Some(password) = self.0.passwords.of(&document.sha256) {
            return Ok(Some(password));
        }
        let given = self.0.passwords.to_try(&document.sha256);
        if given.is_empty() {
            return Err(Unchecked::Locked);
        }
        let tried = self.0.pdf.inspect_trying(path, &given).await;
        let (_, opened) = tried.map_err(|_| Unchecked::Failed)?;
        let password = opened.and_then(|at| given.into_iter().nth(at));
        let password = password.ok_or(Unchecked::Locked)?;
        self.0.passwords.opens(&document.sha256, password.clone());
        Ok(Some(password))
    }
}

/// Makes sure that a file is the document that a job is about: by its size, and then by its content.
pub(super) async fn is_still_there(path: &Path, document: &DocumentView) -> Result<(), Unchecked> {
    let (path, bytes, sha256) = (path.to_owned(), document.bytes, document.sha256.clone());
    let looked = tokio::task::spawn_blocking(move || {
        let metadata = std::fs::metadata(&path).map_err(|_| Unchecked::FileMissing)?;
        if !metadata.is_file() {
            return Err(Unchecked::FileMissing);
        }
        if metadata.len() != bytes {
            return Err(Unchecked::FileChanged);
        }
        match crate::results::digest(&path) {
            Ok(found) if found == sha256 => Ok(()),
            Ok(_) => Err(Unchecked::FileChanged),
            Err(_) => Err(Unchecked::Failed),
        }
    });
    looked.await.unwrap_or(Err(Unchecked::Failed))
}

/// Compares a result with the text of its document. Takes a while for long ones.
fn compared(
    markdown: &str,
    passages: Vec<Passage>,
    pages: Option<u32>,
    text: Result<Arc<DocumentText>, Unchecked>,
) -> Reading {
    let quoted = quotes(markdown);
    let source = match &text {
        Ok(text) if !quoted.is_empty() => Some(Source::new(&text.pages)),
        _ => None,
    };
    let truncated = text.as_ref().is_ok_and(|text| text.truncated);
    let quotes = quoted.into_iter().map(|quote| {
        let verdict = source.as_ref().map_or(QuoteVerdict::Unchecked, |source| {
            match source.check(&quote.text, quote.page) {
                found @ QuoteVerdict::Found { .. } => found,
                // It may stand on a page that was not read.
                _ if truncated => QuoteVerdict::Unchecked,
                other => other,
            }
        });
        Quote {
            text: quote.text,
            page: quote.page,
            verdict,
        }
    });
    let references_from = match &text {
        Ok(text) if !text.truncated => references_from(&text.pages),
        _ => None,
    };
    let mut cited_pages = named_pages(markdown, pages);
    for passage in &passages {
        let last = pages.map_or(passage.last_page, |pages| passage.last_page.min(pages));
        cited_pages.extend((passage.first_page..=last).take(WIDEST));
    }
    Reading {
        pages,
        passages,
        quotes: quotes.collect(),
        cited_pages: cited_pages.into_iter().collect(),
        references_from,
        unchecked: text.err(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_was_not_read_to_its_end_accuses_nobody() {
        let text = DocumentText {
            pages: vec!["The first page says something.".to_owned()],
            truncated: true,
            ..DocumentText::default()
        };
        let markdown = "“The first page says something” and “the last one says another thing”.";
        let reading = compared(markdown, Vec::new(), Some(2), Ok(Arc::new(text)));
        let verdicts: Vec<_> = reading
            .quotes
            .into_iter()
            .map(|quote| quote.verdict)
            .collect();
        assert_eq!(
            verdicts,
            [QuoteVerdict::Found { page: 1 }, QuoteVerdict::Unchecked]
        );
    }
}
