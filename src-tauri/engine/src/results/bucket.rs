//! The bucket that copies of results go to: Cloudflare R2, or another server that speaks S3.
//!
//! An object is put there once, by a plain signed `PUT` with `If-None-Match: *`, and never over another.
//! A create that the server refuses may have been refused because its reply was lost and it was
//! sent again; then what lies there is compared with what was sent.

mod address;
mod pasted;
mod probe;
mod trouble;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use md5::{Digest as _, Md5};
use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::{
    Attribute, Attributes, BackoffConfig, ClientOptions, ObjectStore as _, ObjectStoreExt as _,
    PutMode, PutOptions, RetryConfig,
};
use secrecy::{ExposeSecret as _, SecretString};

use self::address::Place;
use self::trouble::{Step, trouble, was_cut};
use crate::model::{BucketSettings, UploadCause, UploadTrouble};

pub(crate) use self::address::checked;
pub(crate) use self::pasted::read_address;

/// How long a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a request may take, with a body of up to [`LARGE`].
const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Above this many bytes a request may take longer: slow lines take minutes for a large PDF.
const LARGE: usize = 4_000_000;
/// How many bytes a second a line carries at least, that large objects can be put over it.
const SLOWEST: usize = 50_000;
/// How long retries go on; what is not done then, the queue of uploads tries again.
const RETRY_TIMEOUT: Duration = Duration::from_secs(20);
/// How often a request is tried again.
const RETRIES: usize = 2;
/// R2 takes one write a second for each key.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The longest value of an object's metadata; R2 takes 8,192 bytes for all of them.
const LONGEST_VALUE: usize = 1_000;

/// Something to be put into the bucket.
#[derive(Clone, Debug)]
pub(crate) struct NewObject {
    /// ASCII, without the bucket's folder: `results/JOB.md`.
    pub(crate) key: String,
    pub(crate) bytes: Bytes,
    pub(crate) content_type: &'static str,
    /// Lower-case names without `x-amz-meta-`, and any text: what is not plain ASCII is percent-encoded.
    pub(crate) metadata: Vec<(&'static str, String)>,
}

/// How an object came to lie in the bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// This put it there.
    Created,
    /// The very same bytes lay there already.
    WasThere,
}

/// A bucket. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Bucket(Arc<Inner>);

struct Inner {
    place: Place,
    key_id: String,
    secret: SecretString,
    store: AmazonS3,
}

impl Bucket {
    /// Opens a bucket, without asking the server anything.
    ///
    /// # Errors
    /// When the settings can't be right, or the secret is empty.
    pub(crate) fn open(
        settings: &BucketSettings,
        secret: &SecretString,
    ) -> Result<Self, UploadTrouble> {
        let place = Place::of(settings)
            .map_err(|message| UploadTrouble::new(UploadCause::BucketMissing, message))?;
        let key_id = address::key_id(settings)
            .map_err(|message| UploadTrouble::new(UploadCause::KeyUnknown, message))?
            .to_owned();
        // Pasted text often ends with a line break.
        let secret = SecretString::from(secret.expose_secret().trim());
        if secret.expose_secret().is_empty() {
            return Err(UploadTrouble::new(
                UploadCause::SecretMissing,
                "The secret access key is missing.",
            ));
        }
        let client = Client {
            max_retries: RETRIES,
            timeout: REQUEST_TIMEOUT,
        };
        let store = client.open(&place.endpoint, &place.bucket, &key_id, &secret)?;
        Ok(Self(Arc::new(Inner {
            place,
            key_id,
            secret,
            store,
        })))
    }

    /// Returns what objects' keys are appended to with a slash, `https://SERVER/BUCKET[/FOLDER]`, once
    /// the settings name a bucket.
    pub(crate) fn address(settings: &BucketSettings) -> Option<String> {
        Place::of(settings).ok().map(|place| place.address())
    }

    /// Puts an object there, unless another lies there.
    ///
    /// # Errors
    /// [`UploadCause::Taken`] when another lies there; any other cause when it can't be told or done.
    pub(crate) async fn put(&self, object: NewObject) -> Result<Put, UploadTrouble> {
        let key = self.key(&object.key)?;
        let mut attributes = Attributes::with_capacity(object.metadata.len() + 1);
        attributes.insert(Attribute::ContentType, object.content_type.into());
        for (name, value) in &object.metadata {
            if !value.is_empty() {
                attributes.insert(Attribute::Metadata((*name).into()), encoded(value).into());
            }
        }
        let options = PutOptions {
            mode: PutMode::Create,
            attributes,
            ..PutOptions::default()
        };
        let store = self.store_for(object.bytes.len())?;
        let create = async || {
            let payload = object.bytes.clone().into();
            store.put_opts(&key, payload, options.clone()).await
        };
        let mut put = create().await;
        // `object_store` takes a create for one that must not be sent twice. This one may: whatever came
        // of the first is compared.
        if put.as_ref().is_err_and(was_cut) {
            tokio::time::sleep(FIRST_PAUSE).await;
            put = create().await;
        }
        match put {
            Ok(_) => Ok(Put::Created),
            Err(object_store::Error::AlreadyExists { .. }) => {
                self.compare(&key, &object.bytes).await
            }
            Err(error) => Err(self.trouble(&error, Step::Write)),
        }
    }

    /// Returns a client with the patience that so many bytes need.
    fn store_for(&self, bytes: usize) -> Result<AmazonS3, UploadTrouble> {
        let inner = &self.0;
        if bytes <= LARGE {
            return Ok(inner.store.clone());
        }
        let client = Client {
            max_retries: RETRIES,
            timeout: timeout(bytes),
        };
        let Place {
            endpoint, bucket, ..
        } = &inner.place;
        client.open(endpoint, bucket, &inner.key_id, &inner.secret)
    }

    /// Tells whether what lies under a key that could not be created is `bytes`.
    async fn compare(&self, key: &Key, bytes: &Bytes) -> Result<Put, UploadTrouble> {
        let taken = || {
            let message = format!("Another object lies under {key} already; it stands.");
            UploadTrouble::new(UploadCause::Taken, message)
        };
        let there = match self.0.store.head(key).await {
            Ok(there) => there,
            // Someone else is writing it at this moment, or has just removed it.
            Err(object_store::Error::NotFound { .. }) => {
                let message = format!("Another program was at {key} at the same moment.");
                return Err(UploadTrouble::new(UploadCause::Interrupted, message));
            }
            Err(error) => return Err(self.trouble(&error, Step::Read)),
        };
        if there.size != bytes.len() as u64 {
            return Err(taken());
        }
        let tag = there.e_tag.unwrap_or_default();
        if tag.trim_matches('"') == hex::encode(Md5::digest(bytes)) {
            return Ok(Put::WasThere);
        }
        // The tag of an object that was put in parts or encrypted is no digest of its bytes.
        if self.read(key).await? == *bytes {
            Ok(Put::WasThere)
        } else {
            Err(taken())
        }
    }

    async fn read(&self, key: &Key) -> Result<Bytes, UploadTrouble> {
        async { self.0.store.get(key).await?.bytes().await }
            .await
            .map_err(|error| self.trouble(&error, Step::Read))
    }

    fn key(&self, name: &str) -> Result<Key, UploadTrouble> {
        self.0
            .place
            .key(name)
            .map_err(|message| UploadTrouble::new(UploadCause::Refused, message))
    }

    fn trouble(&self, error: &object_store::Error, step: Step) -> UploadTrouble {
        trouble(error, &self.0.place, step)
    }
}

/// Returns how long putting so many bytes may take.
fn timeout(bytes: usize) -> Duration {
    if bytes <= LARGE {
        return REQUEST_TIMEOUT;
    }
    REQUEST_TIMEOUT + Duration::from_secs((bytes / SLOWEST) as u64)
}

/// How a client behaves.
#[derive(Clone, Copy)]
struct Client {
    max_retries: usize,
    timeout: Duration,
}

impl Client {
    /// Makes the client of a bucket at `endpoint`.
    fn open(
        self,
        endpoint: &str,
        bucket: &str,
        key_id: &str,
        secret: &SecretString,
    ) -> Result<AmazonS3, UploadTrouble> {
        // The address has been checked: it is encrypted, or of this computer.
        let is_plain = endpoint.starts_with("http://");
        let options = ClientOptions::new()
            .with_allow_http(is_plain)
            .with_connect_timeout(CONNECT_TIMEOUT)
            .with_timeout(self.timeout)
            .with_user_agent(object_store::HeaderValue::from_static(concat!(
                "gistmill/",
                env!("CARGO_PKG_VERSION")
            )));
        AmazonS3Builder::new()
            .with_endpoint(endpoint)
            // What R2 calls its only region.
            .with_region("auto")
            .with_bucket_name(bucket)
            .with_virtual_hosted_style_request(false)
            .with_access_key_id(key_id)
            .with_secret_access_key(secret.expose_secret())
            // One request for each object says better what is wrong than a list of them does.
            .with_disable_bulk_delete(true)
            .with_client_options(options)
            .with_retry(RetryConfig {
                backoff: BackoffConfig {
                    init_backoff: FIRST_PAUSE,
                    max_backoff: LONGEST_PAUSE,
                    base: 2.0,
                },
                max_retries: self.max_retries,
                retry_timeout: RETRY_TIMEOUT,
            })
            .build()
            .map_err(|_| {
                UploadTrouble::new(
                    UploadCause::Refused,
                    format!("The bucket at {endpoint} can't be used on this computer."),
                )
            })
    }
}

/// Writes text for a header: what is not a letter, digit or sign of ASCII becomes `%XX` of its UTF-8,
/// as in addresses, and so does `%`. What is too long is cut between characters.
fn encoded(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for character in text.chars() {
        let before = value.len();
        if character.is_ascii_graphic() && character != '%' {
            value.push(character);
        } else {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                value.push_str(&format!("%{byte:02X}"));
            }
        }
        if value.len() > LONGEST_VALUE {
            value.truncate(before);
            break;
        }
    }
    value
}
