//! Pictures of pages, for a window that shows what a job is about.

use std::path::Path;
use std::sync::Arc;

use super::Engine;
use super::kept::Kept;
use crate::error::EngineError;
use crate::model::{Cause, JobId, Sha256};
use crate::pdf::PdfError;

/// The longer side of a picture, in pixels.
const LARGEST_SIDE: u32 = 480;
/// Bytes of pictures that are kept; the one that was not asked for longest goes first.
const MOST_BYTES: usize = 16 << 20;
/// What a page without a picture counts for among them.
const NOTHING_BYTES: usize = 64;

/// A page as a PNG; `None` for one that can't be drawn.
pub(super) type Picture = Option<Arc<[u8]>>;

/// Pictures by document and page.
pub(super) type Pictures = Kept<(Sha256, u32), Picture>;

/// No pictures yet.
pub(super) fn none() -> Pictures {
    Kept::within(MOST_BYTES, |picture| {
        NOTHING_BYTES + picture.as_ref().map_or(0, |picture| picture.len())
    })
}

impl Engine {
    /// Returns a picture of a page of a job's PDF, counted from 1, as a PNG of 480 pixels at most on its longer
    /// side. `None` for a prompt, for a file that is not there or is another one by now, and for a page that
    /// can't be drawn.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for an unknown job, or when the database can't be read.
    pub async fn page_picture(
        &self,
        job_id: JobId,
        page: u32,
    ) -> Result<Option<Vec<u8>>, EngineError> {
        let record = self.0.store.job(job_id, self.list_context()).await?;
        let (Some(path), Some(document)) = (record.job.source_path, record.document) else {
            return Ok(None);
        };
        let path = Path::new(&path);
        let on_disk = tokio::fs::metadata(path).await;
        if !on_disk.is_ok_and(|metadata| metadata.len() == document.bytes) {
            return Ok(None);
        }
        let wanted = (document.sha256, page);
        if let Some(picture) = self.0.pictures.look_up(&wanted) {
            return Ok(picture.map(|picture| picture.to_vec()));
        }
        let password = self.0.passwords.of(&wanted.0);
        let drawn = self
            .0
            .pdf
            .picture(path, password.as_ref(), page, LARGEST_SIDE)
            .await;
        match drawn {
            Ok(picture) => {
                let kept = Some(Arc::from(picture.as_slice()));
                self.0.pictures.keep(wanted, kept);
                Ok(Some(picture))
            }
            Err(error) => {
                tracing::debug!(%error, page, "a page could not be drawn");
                if is_for_good(&error) {
                    self.0.pictures.keep(wanted, None);
                }
                Ok(None)
            }
        }
    }
}

/// Says whether a page will not be drawn another time either.
fn is_for_good(error: &PdfError) -> bool {
    match error {
        PdfError::NoSuchPages { .. } => true,
        PdfError::Refused(finding) => !matches!(
            finding.cause,
            Cause::PdfEncrypted | Cause::FileMissing | Cause::FileUnreadable
        ),
        PdfError::Start { .. }
        | PdfError::NoAnswer { .. }
        | PdfError::Stopped
        | PdfError::NotWritten { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_can_not_be_drawn_is_remembered() {
        let page = |number| (Sha256("1".to_owned()), number);
        let pictures = none();
        pictures.keep(page(1), None);
        pictures.keep(page(2), Some(Arc::from(vec![0; MOST_BYTES / 2])));
        assert_eq!(pictures.look_up(&page(1)), Some(None));
    }
}
