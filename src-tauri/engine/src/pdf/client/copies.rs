//! Asking for copies of pages, and for pictures of them.

use std::path::Path;

use secrecy::SecretString;

use super::{PdfError, PdfWorker, request};
use crate::model::{Cause, Finding, PageRange};
use crate::pdf::protocol::{Operation, PdfCopy};

/// Most bytes that the answer to a copy has: a few numbers, or a finding.
const MAX_ANSWER_BYTES: usize = 64 << 10;

/// Most bytes that the answer to a picture has.
const MAX_PICTURE_BYTES: usize = 32 << 20;

impl PdfWorker {
    /// Writes an unencrypted, repaired copy of these pages, of all when `None`, over the file `into`.
    ///
    /// `into` must be there: an empty file that only its owner may read, since the copy has no password any
    /// more. The copy holds what its pages need and nothing else: no attached files, no bookmarks, no links to
    /// pages that aren't in it. It is counted once it is written. A password is used only where the empty one
    /// doesn't open the file.
    ///
    /// Dropping the future kills the child; what it leaves in `into` then is of no use.
    ///
    /// # Errors
    ///
    /// [`PdfError::Refused`] when there can be no such copy (a password is needed, the PDF is damaged, the copy
    /// would be larger than 512 MB); [`PdfError::NoSuchPages`] when it has not all of these pages;
    /// [`PdfError::NotWritten`] when `into` can't be written; otherwise like [`inspect`](Self::inspect). `into`
    /// is of no use then.
    pub async fn copy(
        &self,
        path: &Path,
        password: Option<&SecretString>,
        pages: Option<PageRange>,
        into: &Path,
    ) -> Result<PdfCopy, PdfError> {
        let operation = Operation::Copy {
            pages,
            into: into.as_os_str().to_owned(),
        };
        let passwords = password.map(std::slice::from_ref).unwrap_or_default();
        let request = request(path, passwords, operation);
        let heard = self.ask(&request, MAX_ANSWER_BYTES).await?;
        heard.check_pages(pages)?;
        match (heard.inspection.finding, heard.copy) {
            (None, Some(Ok(copy))) => Ok(copy),
            (_, Some(Err(how))) => Err(PdfError::NotWritten { how }),
            (Some(finding), _) => Err(PdfError::Refused(finding)),
            (None, None) => Err(PdfError::Refused(Finding {
                cause: Cause::PdfDamaged,
                message: "This PDF is damaged: its pages can't be copied.".to_owned(),
            })),
        }
    }

    /// Draws a page, counted from 1, on white, and returns the picture as a PNG. Its sides are as the page's are
    /// to each other; the longer one has `largest_side` pixels, of which there are 2,000 at most.
    ///
    /// Dropping the future kills the child.
    ///
    /// # Errors
    ///
    /// [`PdfError::Refused`] when the page can't be drawn (a password is needed, the PDF is damaged, or an image in
    /// it has over 100 megapixels); [`PdfError::NoSuchPages`] when there is no such page; otherwise like
    /// [`inspect`](Self::inspect).
    pub async fn picture(
        &self,
        path: &Path,
        password: Option<&SecretString>,
        page: u32,
        largest_side: u32,
    ) -> Result<Vec<u8>, PdfError> {
        let passwords = password.map(std::slice::from_ref).unwrap_or_default();
        let operation = Operation::Picture { page, largest_side };
        let request = request(path, passwords, operation);
        let heard = self.ask(&request, MAX_PICTURE_BYTES).await?;
        heard.check_pages(Some(PageRange {
            first: page,
            last: page,
        }))?;
        match (heard.inspection.finding, heard.picture) {
            (None, Some(png)) => Ok(png),
            (Some(finding), _) => Err(PdfError::Refused(finding)),
            (None, None) => Err(PdfError::Refused(Finding {
                cause: Cause::PdfDamaged,
                message: "This PDF is damaged: its pages can't be shown.".to_owned(),
            })),
        }
    }
}
