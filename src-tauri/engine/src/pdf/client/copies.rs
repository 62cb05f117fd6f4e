//! Asking for copies of pages.

use std::path::Path;

use secrecy::SecretString;

use super::{MAX_INSPECTION_BYTES, PdfError, PdfWorker, request};
use crate::model::{Cause, Finding, PageRange};
use crate::pdf::protocol::{Operation, PdfCopy};

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
    /// [`PdfError::Refused`] when there can be no such copy (a password is needed, the PDF is damaged or hasn't
    /// these pages, the copy would be larger than 512 MB); [`PdfError::NotWritten`] when `into` can't be
    /// written; otherwise like [`inspect`](Self::inspect). `into` is of no use then.
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
        let request = request(path, password, operation);
        let heard = self.ask(&request, MAX_INSPECTION_BYTES).await?;
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
}
