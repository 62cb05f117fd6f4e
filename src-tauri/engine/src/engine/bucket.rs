//! The bucket that results are uploaded to.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use secrecy::SecretString;

use super::{Engine, blocking};
use crate::error::EngineError;
use crate::model::{
    BucketAddress, BucketSettings, BucketStatus, BucketTest, KeySource, Selection, Settings,
    UploadCause, UploadTrouble,
};
use crate::results::{Bucket, checked_bucket, read_address};

/// The name that the keychain files the secret of the bucket's key under.
const BUCKET_SECRET: &str = "bucket-secret";

/// Where the secret comes from.
struct Secret {
    value: Option<SecretString>,
    source: KeySource,
    keychain_problem: Option<String>,
}

impl Engine {
    /// Returns the bucket and how its uploads come on.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn bucket_status(&self) -> Result<BucketStatus, EngineError> {
        let settings = self.0.store.settings().await?;
        let address = settings.bucket.as_ref().and_then(Bucket::address);
        let counts = self.0.store.upload_counts(address.clone()).await?;
        let engine = self.clone();
        let secret = blocking(move || engine.find_bucket_secret()).await?;
        Ok(BucketStatus {
            address,
            secret_set: secret.value.is_some(),
            secret_source: secret.source,
            keychain_problem: secret.keychain_problem,
            uploads: self.0.store.uploads_view().await?,
            uploaded: counts.uploaded,
            not_uploaded: counts.not_uploaded,
            failures: counts.failures,
        })
    }

    /// Keeps the secret of the bucket's key in the keychain, or in memory for this session only; `None`
    /// forgets it.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for what can't be a secret, [`EngineError::Keychain`] when it can't be kept.
    pub async fn save_bucket_secret(
        &self,
        secret: Option<String>,
        session_only: bool,
    ) -> Result<BucketStatus, EngineError> {
        let secret = secret.as_deref().map(checked_secret).transpose()?;
        if session_only {
            self.set_session_secret(secret);
        } else {
            let secrets = Arc::clone(&self.0.config.secrets);
            let kept = secret.clone();
            blocking(move || match kept {
                Some(secret) => secrets.set(BUCKET_SECRET, &secret),
                None => secrets.remove(BUCKET_SECRET),
            })
            .await??;
            self.set_session_secret(None);
        }
        self.uploads_may_go_on().await?;
        self.bucket_status().await
    }

    /// Tries a bucket: writes an object, reads it, makes sure that it is not overwritten, deletes it.
    ///
    /// The settings need not be stored; without a `secret` the one that is kept is used.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for settings that can't be right. What the server says is in the test.
    pub async fn test_bucket(
        &self,
        settings: BucketSettings,
        secret: Option<String>,
    ) -> Result<BucketTest, EngineError> {
        checked_bucket(&settings).map_err(not_right)?;
        let secret = match secret {
            Some(secret) => Ok(checked_secret(&secret)?),
            None => {
                let engine = self.clone();
                blocking(move || engine.bucket_secret()).await?
            }
        };
        let begun = Instant::now();
        let trouble = match secret.and_then(|secret| Bucket::open(&settings, &secret)) {
            Ok(bucket) => bucket.test().await,
            Err(trouble) => Some(trouble),
        };
        if trouble.is_none() && self.0.store.settings().await?.bucket.as_ref() == Some(&settings) {
            self.uploads_may_go_on().await?;
        }
        Ok(BucketTest {
            trouble,
            took_ms: u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }

    /// Reads what a pasted address says of a bucket.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for what is no such address.
    pub fn read_bucket_address(&self, text: &str) -> Result<BucketAddress, EngineError> {
        read_address(text).map_err(not_right)
    }

    /// Queues the upload of every stored result that does not lie in the bucket. Returns how many.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] without a bucket, or when the database can't be written.
    pub async fn upload_missing(&self) -> Result<u64, EngineError> {
        let bucket = self.0.store.settings().await?.bucket;
        let address = bucket
            .as_ref()
            .filter(|bucket| bucket.enabled)
            .and_then(Bucket::address)
            .ok_or_else(|| {
                EngineError::bad_input(
                    "Uploads are switched off.",
                    "Set a bucket and switch uploads on first.",
                )
            })?;
        let now = self.0.config.clock.now();
        let mut queued = 0;
        // Ends with the results: each round queues some.
        loop {
            let some = self
                .0
                .store
                .queue_missing_uploads(address.clone(), now)
                .await?;
            if some == 0 {
                break;
            }
            queued += some;
        }
        self.uploads_may_go_on().await?;
        Ok(queued)
    }

    /// Queues the uploads again that were given up, and tries those that wait now. Returns how many were
    /// given up.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn retry_uploads(&self) -> Result<u64, EngineError> {
        let queued = self
            .0
            .store
            .retry_uploads(self.0.config.clock.now())
            .await?;
        self.uploads_may_go_on().await?;
        Ok(queued)
    }

    /// Tries the copies of the selected jobs again that could not be made. Returns how many.
    ///
    /// # Errors
    /// When the database can't be written.
    pub async fn retry_copies(&self, selection: Selection) -> Result<u64, EngineError> {
        let now = self.0.config.clock.now();
        let queued = self.0.store.retry_copies(selection, now).await?;
        self.0.ended.notify_one();
        Ok(queued)
    }

    /// Has uploads tried now, since what stood in their way may have been mended.
    pub(super) async fn uploads_may_go_on(&self) -> Result<(), EngineError> {
        self.0
            .store
            .release_uploads(self.0.config.clock.now())
            .await?;
        self.0.uploads.notify_one();
        self.everything_changed();
        Ok(())
    }

    /// Does what a change of the bucket's settings asks for.
    pub(super) async fn bucket_changed(
        &self,
        before: &Settings,
        after: &Settings,
    ) -> Result<(), EngineError> {
        if before.bucket == after.bucket {
            return Ok(());
        }
        let waits = after
            .bucket
            .as_ref()
            .is_some_and(|bucket| bucket.enabled && bucket.wait_for_upload);
        if !waits {
            let now = self.0.config.clock.now();
            let released = self.0.store.stop_waiting_for_uploads(now).await?;
            if !released.is_empty() {
                self.0.ended.notify_one();
            }
        }
        self.uploads_may_go_on().await
    }

    /// Returns the secret of the bucket's key. Blocks as long as the keychain does.
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn bucket_secret(&self) -> Result<SecretString, UploadTrouble> {
        let found = self.find_bucket_secret();
        found.value.ok_or_else(|| {
            let message = found.keychain_problem.map_or_else(
                || "No secret access key is set.".to_owned(),
                |problem| format!("The keychain does not give the secret access key: {problem}"),
            );
            UploadTrouble::new(UploadCause::SecretMissing, message)
        })
    }

    fn find_bucket_secret(&self) -> Secret {
        let session = self
            .0
            .bucket_secret
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        let (kept, keychain_problem) = match self.0.config.secrets.get(BUCKET_SECRET) {
            Ok(kept) => (kept, None),
            Err(error) => (None, Some(error.to_string())),
        };
        let environment = self.0.config.environment_bucket_secret.clone();
        let (value, source) = if session.is_some() {
            (session, KeySource::Session)
        } else if kept.is_some() {
            (kept, KeySource::Keychain)
        } else if environment.is_some() {
            (environment, KeySource::Environment)
        } else {
            (None, KeySource::None)
        };
        Secret {
            value,
            source,
            keychain_problem,
        }
    }

    fn set_session_secret(&self, secret: Option<SecretString>) {
        *self
            .0
            .bucket_secret
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = secret;
    }
}

fn checked_secret(secret: &str) -> Result<SecretString, EngineError> {
    let secret = secret.trim();
    if secret.is_empty() || !secret.chars().all(|one| one.is_ascii_graphic()) {
        return Err(EngineError::bad_input(
            "This can’t be a secret access key.",
            "Paste the secret access key that was shown once, when the R2 API token was made.",
        ));
    }
    Ok(SecretString::from(secret))
}

/// Says that settings of a bucket can't be right.
pub(super) fn not_right(message: String) -> EngineError {
    EngineError::bad_input(
        message,
        "The bucket’s page in Cloudflare’s dashboard shows its address; it can be pasted as it is.",
    )
}
