//! Uploads of results and PDFs: each once, from what lies on this machine, until it is there.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use secrecy::SecretString;
use tokio::sync::{Notify, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::fault::{FaultHook, FaultPoint};
use crate::model::{BucketSettings, EngineEvent, ResultFormat, Sha256, UploadCause, UploadTrouble};
use crate::results::{Bucket, Library, NewObject};
use crate::store::{Result, Store, Upload, UploadContent};

/// Uploads under way at once.
const AT_ONCE: usize = 4;
/// Uploads that are looked up at once.
const LOOKED_UP: u32 = 32;
/// How often it is looked without being woken: another program may have queued some.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How often an upload that keeps breaking off is tried: for most of a day.
const TRIES: u32 = 200;
/// Largest PDF that is uploaded, in bytes: one upload holds all of it in memory.
const LARGEST_DOCUMENT: u64 = 256 * 1024 * 1024;

/// Hands out the secret of the bucket's key. Blocks as long as the keychain does.
pub(super) type BucketSecret =
    Arc<dyn Fn() -> std::result::Result<SecretString, UploadTrouble> + Send + Sync>;

/// Uploads what is due. One of these runs beside the consumer.
pub(crate) struct Uploader {
    pub(crate) store: Store,
    pub(crate) library: Library,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) secret: BucketSecret,
    pub(crate) events: tokio::sync::broadcast::Sender<EngineEvent>,
    pub(crate) fault: FaultHook,
    /// Wakes it: something may be due.
    pub(crate) wake: Arc<Notify>,
    /// Wakes who delivers the rest: a batch may be finished by an upload.
    pub(crate) ended: Arc<Notify>,
    /// One PDF at a time: each is in memory as a whole.
    pub(crate) documents: Semaphore,
}

impl Uploader {
    /// Uploads until cancelled.
    pub(crate) async fn run(self, stop: CancellationToken) {
        loop {
            // Of the moment at which it began to look: what became due since then is looked at in time.
            let now = self.clock.now();
            let uploading = self.upload_due(&stop);
            tokio::select! {
                // What is cut off is uploaded at the next start.
                () = stop.cancelled() => return,
                done = uploading => if let Err(error) = done {
                    tracing::warn!(%error, "uploads are put off, since the database can't be used");
                }
            }
            let latest = now.after(LOOK_AGAIN);
            let next = match self.store.next_upload_at().await {
                // What is due and was not done just now waits for a person, or for the database.
                Ok(Some(next)) if next > now => next.min(latest),
                Ok(_) | Err(_) => latest,
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.wake.notified() => {}
                () = self.clock.sleep_until(next) => {}
            }
        }
    }

    /// Uploads what is due.
    async fn upload_due(&self, stop: &CancellationToken) -> Result<()> {
        // Ends: each round ends its uploads or brings a hold.
        while !stop.is_cancelled() {
            let due = self.store.uploads_due(self.clock.now(), LOOKED_UP).await?;
            if due.is_empty() {
                return Ok(());
            }
            let settings = self.store.settings().await?;
            let Some(settings) = settings.bucket.filter(|bucket| bucket.enabled) else {
                // They wait until uploads are switched on again.
                return Ok(());
            };
            let bucket = match self.open(settings.clone()).await {
                Ok(bucket) => bucket,
                Err(trouble) => return self.hold(None, trouble).await,
            };
            let address = Bucket::address(&settings).unwrap_or_default();
            let mut ended = futures_util::stream::iter(due)
                .map(|upload| self.upload(&bucket, &address, upload))
                .buffer_unordered(AT_ONCE);
            let mut held = false;
            while let Some(end) = ended.next().await {
                held |= end?;
            }
            if held {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn open(&self, settings: BucketSettings) -> std::result::Result<Bucket, UploadTrouble> {
        let secret = Arc::clone(&self.secret);
        let secret = tokio::task::spawn_blocking(move || secret())
            .await
            .unwrap_or_else(|error| {
                Err(UploadTrouble::new(
                    UploadCause::SecretMissing,
                    error.to_string(),
                ))
            })?;
        Bucket::open(&settings, &secret)
    }

    /// Uploads one thing. Says whether something stands in the way of all.
    async fn upload(&self, bucket: &Bucket, address: &str, upload: Upload) -> Result<bool> {
        // Never closed, so there is always a permit to wait for.
        let _one_document = match upload.content {
            UploadContent::Document { .. } => self.documents.acquire().await.ok(),
            UploadContent::Result { .. } => None,
        };
        let object = match self.object(&upload).await {
            Ok(object) => object,
            Err(trouble) => return self.failed(upload, trouble).await,
        };
        let key = object.key.clone();
        match bucket.put(object).await {
            Ok(_) => {
                (self.fault)(FaultPoint::Uploaded);
                let job_id = upload.job_id.clone();
                let completed = self
                    .store
                    .uploaded(upload, format!("{address}/{key}"), self.clock.now())
                    .await?;
                if completed {
                    self.ended.notify_one();
                }
                self.tell(vec![job_id]);
                Ok(false)
            }
            Err(trouble) => self.failed(upload, trouble).await,
        }
    }

    async fn failed(&self, upload: Upload, trouble: UploadTrouble) -> Result<bool> {
        if trouble.cause.concerns_all() {
            self.hold(Some(upload), trouble).await?;
            return Ok(true);
        }
        let job_id = upload.job_id.clone();
        if trouble.cause.passes_by_itself() && upload.tries + 1 < TRIES {
            self.store
                .upload_later(upload, trouble.message, self.clock.now())
                .await?;
            self.tell(vec![job_id]);
            return Ok(false);
        }
        tracing::warn!(%job_id, reason = trouble.message, "an upload was given up");
        self.store
            .upload_given_up(upload, trouble.message, self.clock.now())
            .await?;
        self.ended.notify_one();
        self.tell(vec![job_id]);
        Ok(false)
    }

    async fn hold(&self, upload: Option<Upload>, trouble: UploadTrouble) -> Result<()> {
        tracing::warn!(reason = trouble.message, "uploads wait");
        self.store
            .hold_uploads(upload, trouble, self.clock.now())
            .await?;
        self.tell(Vec::new());
        Ok(())
    }

    fn tell(&self, job_ids: Vec<crate::model::JobId>) {
        // Nobody may be listening.
        drop(self.events.send(EngineEvent::JobsChanged { job_ids }));
        drop(self.events.send(EngineEvent::OverviewChanged));
    }

    /// Returns the object of an upload, with what lies on this machine.
    async fn object(&self, upload: &Upload) -> std::result::Result<NewObject, UploadTrouble> {
        match &upload.content {
            UploadContent::Result {
                key,
                sha256,
                format,
                model,
                template,
                ..
            } => {
                let text = self
                    .library
                    .read(key)
                    .await
                    .map_err(|reason| UploadTrouble::new(UploadCause::FileGone, reason))?;
                let bytes = verified(Bytes::from(text), sha256, "The stored result")?;
                Ok(NewObject {
                    key: key.clone(),
                    bytes,
                    content_type: match format {
                        ResultFormat::Markdown => "text/markdown; charset=utf-8",
                        ResultFormat::Json => "application/json",
                    },
                    metadata: vec![
                        ("file-name", upload.title.clone()),
                        ("model", model.clone()),
                        ("template", template.clone().unwrap_or_default()),
                        ("sha256", sha256.clone()),
                    ],
                })
            }
            UploadContent::Document {
                path,
                sha256,
                batch_id,
            } => {
                let bytes = document(path.clone()).await?;
                Ok(NewObject {
                    key: format!("uploads/{batch_id}/{}.pdf", upload.job_id),
                    bytes: verified(bytes, sha256, path)?,
                    content_type: "application/pdf",
                    metadata: vec![
                        ("file-name", upload.title.clone()),
                        ("sha256", sha256.clone()),
                    ],
                })
            }
        }
    }
}

/// Reads a PDF.
async fn document(path: String) -> std::result::Result<Bytes, UploadTrouble> {
    let gone = |path: &str, error: std::io::Error| {
        UploadTrouble::new(
            UploadCause::FileGone,
            format!("{path} can't be read: {error}."),
        )
    };
    let metadata = tokio::fs::metadata(&path)
        .await
        .map_err(|error| gone(&path, error))?;
    if metadata.len() > LARGEST_DOCUMENT {
        return Err(UploadTrouble::new(
            UploadCause::TooLarge,
            format!("{path} is larger than 256 MB."),
        ));
    }
    let bytes = tokio::fs::read(&path)
        .await
        .map_err(|error| gone(&path, error))?;
    Ok(Bytes::from(bytes))
}

/// Makes sure that what is uploaded is what was stored or added.
fn verified(bytes: Bytes, sha256: &str, what: &str) -> std::result::Result<Bytes, UploadTrouble> {
    if Sha256::of(&bytes).as_str() == sha256 {
        return Ok(bytes);
    }
    Err(UploadTrouble::new(
        UploadCause::FileChanged,
        format!("{what} was changed since."),
    ))
}
