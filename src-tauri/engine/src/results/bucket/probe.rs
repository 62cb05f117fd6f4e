//! Trying a bucket: an object is written, read, protected from overwriting and deleted.

use std::time::Duration;

use object_store::ObjectStore as _;
use object_store::path::Path as Key;
use object_store::{ObjectStoreExt as _, PutMode, PutOptions};
use uuid::Uuid;

use super::address::{Place, endpoint};
use super::trouble::{Step, code};
use super::{Bucket, Client, NewObject};
use crate::model::{Jurisdiction, UploadCause, UploadTrouble};

/// How long one other place may take to say whether it has the bucket.
const LOOK_TIMEOUT: Duration = Duration::from_secs(10);

impl Bucket {
    /// Tries the bucket: writes an object of its own, reads it, tries to overwrite it, deletes it.
    ///
    /// Nothing is listed, which a key for one bucket need not be allowed to. Returns what is wrong;
    /// `None` when all of it went well.
    pub(crate) async fn test(&self) -> Option<UploadTrouble> {
        let name = format!("gistmill-test-{}.txt", Uuid::now_v7());
        let trouble = match self.key(&name) {
            Ok(key) => self.tried(name, &key).await.err()?,
            Err(trouble) => trouble,
        };
        // A key for one bucket may not even learn that there is none of this name elsewhere.
        if !matches!(
            trouble.cause,
            UploadCause::BucketMissing | UploadCause::NotAllowed
        ) {
            return Some(trouble);
        }
        let found = self.found_at(elsewhere(&self.0.place)).await;
        Some(found.map_or(trouble, |found| self.kept_in(found)))
    }

    async fn tried(&self, name: String, key: &Key) -> Result<(), UploadTrouble> {
        let written = self.written_and_kept(name, key).await;
        if written
            .as_ref()
            .is_err_and(|trouble| was_refused(trouble.cause))
        {
            return written;
        }
        // Also when it failed: a write whose reply was lost may have been done.
        let deleted = self.0.store.delete(key).await;
        written?;
        match deleted {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.trouble(&error, Step::Delete)),
        }
    }

    async fn written_and_kept(&self, name: String, key: &Key) -> Result<(), UploadTrouble> {
        let text = format!("Gistmill tries this bucket, and removes {name} again.\n");
        self.put(NewObject {
            key: name,
            bytes: text.clone().into(),
            content_type: "text/plain; charset=utf-8",
            metadata: Vec::new(),
        })
        .await?;
        if self.read(key).await? != text.as_bytes() {
            return Err(UploadTrouble::new(
                UploadCause::Refused,
                format!(
                    "{} gives back other bytes than were written.",
                    self.0.place.server()
                ),
            ));
        }
        let create = PutOptions {
            mode: PutMode::Create,
            ..PutOptions::default()
        };
        let other = "This must not have been written.\n";
        match self.0.store.put_opts(key, other.into(), create).await {
            Err(object_store::Error::AlreadyExists { .. }) => Ok(()),
            Ok(_) => Err(UploadTrouble::new(
                UploadCause::Overwrites,
                format!(
                    "{} overwrote an object that it was told to keep.",
                    self.0.place.server()
                ),
            )),
            Err(error) => Err(self.trouble(&error, Step::Write)),
        }
    }

    /// Looks at other places of the same account for the bucket.
    async fn found_at(&self, places: Vec<(Jurisdiction, String)>) -> Option<Jurisdiction> {
        for (jurisdiction, endpoint) in places {
            if self.is_at(&endpoint).await {
                return Some(jurisdiction);
            }
        }
        None
    }

    /// Tells whether the bucket answers at another place: it then says that it has no such object.
    async fn is_at(&self, endpoint: &str) -> bool {
        let inner = &self.0;
        let client = Client {
            max_retries: 0,
            timeout: LOOK_TIMEOUT,
        };
        let opened = client.open(endpoint, &inner.place.bucket, &inner.key_id, &inner.secret);
        let Ok(store) = opened else {
            return false;
        };
        let absent = Key::from(format!("gistmill-test-{}.txt", Uuid::now_v7()));
        match store.get(&absent).await {
            Ok(_) => true,
            Err(error) => code(&error).as_deref() == Some("NoSuchKey"),
        }
    }

    fn kept_in(&self, jurisdiction: Jurisdiction) -> UploadTrouble {
        let name = match jurisdiction {
            Jurisdiction::Default => "none (“Default”)",
            Jurisdiction::Eu => "the European Union",
            Jurisdiction::Fedramp => "FedRAMP",
        };
        let bucket = &self.0.place.bucket;
        UploadTrouble::new(
            UploadCause::OtherJurisdiction,
            format!("The jurisdiction of the bucket “{bucket}” is {name}."),
        )
    }
}

/// Returns the places where a bucket of the same account may be instead; none for other servers.
fn elsewhere(place: &Place) -> Vec<(Jurisdiction, String)> {
    let Some((account, chosen)) = &place.account else {
        return Vec::new();
    };
    [
        Jurisdiction::Default,
        Jurisdiction::Eu,
        Jurisdiction::Fedramp,
    ]
    .into_iter()
    .filter(|other| other != chosen)
    .map(|other| (other, endpoint(account, other)))
    .collect()
}

/// Tells whether a write that failed so can't have been done.
const fn was_refused(cause: UploadCause) -> bool {
    matches!(
        cause,
        UploadCause::KeyUnknown
            | UploadCause::SecretWrong
            | UploadCause::BucketMissing
            | UploadCause::ClockWrong
            | UploadCause::NotSubscribed
            | UploadCause::Unreachable
    )
}

#[cfg(test)]
mod tests {
    use gistmill_testkit::fault_proxy::{Fault, FaultProxy};
    use secrecy::SecretString;

    use super::*;
    use crate::model::BucketSettings;

    fn bucket(jurisdiction: Jurisdiction) -> Bucket {
        let settings = BucketSettings {
            account_id: "0123456789abcdef0123456789abcdef".to_owned(),
            jurisdiction,
            bucket: "results".to_owned(),
            access_key_id: "key".to_owned(),
            ..BucketSettings::default()
        };
        Bucket::open(&settings, &SecretString::from("secret")).unwrap()
    }

    #[tokio::test]
    async fn a_bucket_is_found_in_the_jurisdiction_that_has_it() {
        let bucket = bucket(Jurisdiction::Default);
        let places: Vec<_> = elsewhere(&bucket.0.place).into_iter().collect();
        assert_eq!(
            places,
            [
                (
                    Jurisdiction::Eu,
                    "https://0123456789abcdef0123456789abcdef.eu.r2.cloudflarestorage.com"
                        .to_owned()
                ),
                (
                    Jurisdiction::Fedramp,
                    "https://0123456789abcdef0123456789abcdef.fedramp.r2.cloudflarestorage.com"
                        .to_owned()
                ),
            ]
        );
        let (eu, fedramp) = (
            FaultProxy::before("http://127.0.0.1:9").await,
            FaultProxy::before("http://127.0.0.1:9").await,
        );
        eu.always("GET", Fault::error(404, "NoSuchBucket"));
        fedramp.always("GET", Fault::error(404, "NoSuchKey"));
        let at = || {
            vec![
                (Jurisdiction::Eu, eu.url()),
                (Jurisdiction::Fedramp, fedramp.url()),
            ]
        };
        assert_eq!(bucket.found_at(at()).await, Some(Jurisdiction::Fedramp));
        fedramp.always("GET", Fault::error(403, "AccessDenied"));
        assert_eq!(bucket.found_at(at()).await, None);
        let said = bucket.kept_in(Jurisdiction::Eu);
        assert_eq!(said.cause, UploadCause::OtherJurisdiction);
        assert!(said.message.contains("European Union"), "{said:?}");
    }
}
