//! Pictures of pages, for a window that shows what a job is about.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use hashlink::LruCache;

use super::Engine;
use crate::error::EngineError;
use crate::model::{Cause, JobId, Sha256};
use crate::pdf::PdfError;

/// The longer side of a picture, in pixels.
const LARGEST_SIDE: u32 = 480;
/// Bytes of pictures that are kept; the one that was not asked for longest goes first.
const MOST_BYTES: usize = 16 << 20;
/// What a page without a picture counts for among them.
const NOTHING_BYTES: usize = 64;

type Picture = Option<Arc<[u8]>>;

/// Pictures that were drawn, for those who look at a job again.
#[derive(Default)]
pub(super) struct Pictures(Mutex<Drawn>);

struct Drawn {
    bytes: usize,
    pages: LruCache<(Sha256, u32), Picture>,
}

impl Default for Drawn {
    fn default() -> Self {
        Self {
            bytes: 0,
            pages: LruCache::new_unbounded(),
        }
    }
}

impl Pictures {
    fn look_up(&self, page: &(Sha256, u32)) -> Option<Picture> {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.pages.get(page).cloned()
    }

    fn keep(&self, page: (Sha256, u32), picture: Picture) {
        let mut drawn = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.bytes += bytes(&picture);
        if let Some(before) = drawn.pages.insert(page, picture) {
            drawn.bytes -= bytes(&before);
        }
        while drawn.bytes > MOST_BYTES {
            let Some((_, oldest)) = drawn.pages.remove_lru() else {
                break;
            };
            drawn.bytes -= bytes(&oldest);
        }
    }
}

fn bytes(picture: &Picture) -> usize {
    NOTHING_BYTES + picture.as_ref().map_or(0, |picture| picture.len())
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

    fn page(number: u32) -> (Sha256, u32) {
        (Sha256("1".to_owned()), number)
    }

    #[test]
    fn pictures_are_kept_within_a_bound_and_the_one_not_looked_at_goes_first() {
        let pictures = Pictures::default();
        let large = || Some(Arc::from(vec![0; MOST_BYTES / 3]));
        pictures.keep(page(1), large());
        pictures.keep(page(2), large());
        assert!(pictures.look_up(&page(1)).is_some());
        pictures.keep(page(3), large());
        assert!(pictures.look_up(&page(2)).is_none(), "nobody looked at it");
        assert!(pictures.look_up(&page(1)).is_some());
        assert!(pictures.look_up(&page(3)).is_some());
    }

    #[test]
    fn a_page_that_can_not_be_drawn_is_remembered_and_one_drawn_anew_counts_once() {
        let pictures = Pictures::default();
        pictures.keep(page(1), None);
        assert_eq!(pictures.look_up(&page(1)), Some(None));
        for _ in 0..10 {
            pictures.keep(page(2), Some(Arc::from(vec![0; MOST_BYTES / 2])));
        }
        assert_eq!(pictures.look_up(&page(1)), Some(None));
    }
}
