//! A real S3 server that nobody here wrote: SeaweedFS, as PyPI has it.
//!
//! Starting it takes seconds, and nextest runs each test in a process of its own. So all share one
//! server: whoever comes first starts its keeper, which ends it when nobody has used it for a while,
//! however the tests ended. Each test makes buckets of its own.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use object_store::aws::{AmazonS3, AmazonS3Builder};
use object_store::path::Path as Key;
use object_store::signer::Signer as _;
use object_store::{GetResult, ObjectMeta, ObjectStore as _, ObjectStoreExt as _};
use serde::Deserialize;

/// What keeps the server. Python, since the server comes from PyPI and is never there without it.
const KEEPER: &str = include_str!("seaweed/keeper.py");
/// How long the server may take to store its first object.
const PATIENCE: Duration = Duration::from_secs(60);
/// The access key of whom may do everything.
const OWNER: (&str, &str) = (
    "0123456789abcdef0123456789abcdef",
    "c2c8a43c0f1d4b3a9e5d7f60718293a4b5c6d7e8f90a1b2c3d4e5f6071829304",
);
/// The access key of whom may only read.
const READER: (&str, &str) = (
    "fedcba9876543210fedcba9876543210",
    "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9",
);

/// A running server. Others may be using it at the same time.
pub struct Seaweed {
    /// Its address, without a slash at the end.
    pub url: String,
    /// The id of an access key that may do everything.
    pub access_key_id: &'static str,
    /// That key's secret.
    pub secret: &'static str,
    /// The id of an access key that may only read.
    pub reader_key_id: &'static str,
    /// That key's secret.
    pub reader_secret: &'static str,
    /// Shows the keeper that the server is used, until it is closed.
    _used: File,
}

/// A bucket of one test.
pub struct TestBucket {
    /// Its name.
    pub name: String,
    /// Someone else's client for it.
    pub store: AmazonS3,
}

#[derive(Deserialize)]
struct Said {
    port: u16,
    log: PathBuf,
}

#[expect(clippy::expect_used, reason = "a test without its server can't go on")]
impl Seaweed {
    /// Returns the server, starting it when it does not run.
    ///
    /// # Panics
    /// When SeaweedFS is not installed or does not come up, since no test could go on.
    pub async fn start() -> Self {
        let weed = installed();
        let folder = target_folder().join("tmp/seaweed");
        std::fs::create_dir_all(&folder).expect("a folder in the target folder");
        // Waiting for a lock blocks.
        let (used, starting, folder) = tokio::task::spawn_blocking(move || {
            let used = open(&folder.join("users"));
            used.lock_shared().expect("a lock on a file of our own");
            let starting = open(&folder.join("starting"));
            starting.lock().expect("a lock on a file of our own");
            (used, starting, folder)
        })
        .await
        .expect("locking does not panic");
        let since = Instant::now();
        let mut is_kept = false;
        let url = loop {
            match said(&folder) {
                Some(server) => {
                    let url = format!("http://127.0.0.1:{}", server.port);
                    if is_ready(&url).await {
                        break url;
                    }
                    // A server that was killed leaves word of itself.
                    if !is_kept && !is_listening(server.port).await {
                        is_kept = true;
                        drop(std::fs::remove_file(folder.join("server.json")));
                        keep(&folder, &weed);
                    }
                    assert!(
                        since.elapsed() < PATIENCE,
                        "SeaweedFS did not come up; its log: {}",
                        std::fs::read_to_string(&server.log).unwrap_or_default()
                    );
                }
                None if !is_kept => {
                    is_kept = true;
                    keep(&folder, &weed);
                }
                None => assert!(
                    since.elapsed() < PATIENCE,
                    "the keeper of SeaweedFS did not start it: {}",
                    std::fs::read_to_string(folder.join("keeper.log")).unwrap_or_default()
                ),
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        drop(starting);
        Self {
            url,
            access_key_id: OWNER.0,
            secret: OWNER.1,
            reader_key_id: READER.0,
            reader_secret: READER.1,
            _used: used,
        }
    }

    /// Makes a bucket that no other test knows.
    ///
    /// # Panics
    /// When it can't be made.
    pub async fn bucket(&self) -> TestBucket {
        let name = format!("test-{}", uuid::Uuid::now_v7().simple());
        assert!(make(&self.url, &name).await, "no bucket could be made");
        TestBucket {
            store: client(&self.url, &name),
            name,
        }
    }
}

#[expect(
    clippy::expect_used,
    reason = "a test whose server does not answer can't go on"
)]
impl TestBucket {
    /// Returns the bytes of an object, if there is one.
    ///
    /// # Panics
    /// When the server does not say.
    pub async fn object(&self, key: &str) -> Option<Vec<u8>> {
        match self.store.get(&Key::from(key)).await {
            Ok(found) => Some(found.bytes().await.expect("an object's bytes").to_vec()),
            Err(object_store::Error::NotFound { .. }) => None,
            Err(error) => panic!("SeaweedFS does not give {key}: {error}"),
        }
    }

    /// Returns an object with its content type and metadata.
    ///
    /// # Panics
    /// When there is none.
    pub async fn described(&self, key: &str) -> GetResult {
        self.store.get(&Key::from(key)).await.expect("an object")
    }

    /// Puts an object there, over the one before it.
    ///
    /// # Panics
    /// When it can't be put there.
    pub async fn put(&self, key: &str, bytes: &'static [u8]) {
        self.store
            .put(&Key::from(key), bytes.into())
            .await
            .expect("an object that is put there");
    }

    /// Returns the keys that begin with a folder (all with an empty one), in order.
    ///
    /// # Panics
    /// When the server does not say.
    pub async fn list(&self, folder: &str) -> Vec<String> {
        use futures_util::TryStreamExt as _;
        let found: Vec<ObjectMeta> = self
            .store
            .list(Some(&Key::from(folder)))
            .try_collect()
            .await
            .expect("a list of objects");
        let mut keys: Vec<String> = found
            .into_iter()
            .map(|object| object.location.to_string())
            .collect();
        keys.sort();
        keys
    }
}

/// Starts the keeper.
#[expect(clippy::expect_used, reason = "a test without its server can't go on")]
#[expect(
    clippy::zombie_processes,
    reason = "it outlives this process, which only tests are"
)]
fn keep(folder: &Path, weed: &Path) {
    let program = folder.join("keeper.py");
    std::fs::write(&program, KEEPER).expect("a file in the target folder");
    let log = File::create(folder.join("keeper.log")).expect("a file in the target folder");
    let mut keeper = Command::new("python3");
    keeper
        .arg(program)
        .arg(folder)
        .arg(weed)
        .arg(identities())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log);
    // It outlives this process: whoever ends this one's group must not end the server of others.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut keeper, 0);
    keeper
        .spawn()
        .expect("python3, which keeps SeaweedFS for the tests");
}

fn identities() -> String {
    let identity = |name: &str, key: (&str, &str), actions: &[&str]| {
        serde_json::json!({
            "name": name,
            "credentials": [{"accessKey": key.0, "secretKey": key.1}],
            "actions": actions,
        })
    };
    serde_json::json!({"identities": [
        identity("owner", OWNER, &["Admin", "Read", "Write", "List"]),
        identity("reader", READER, &["Read", "List"]),
    ]})
    .to_string()
}

fn said(folder: &Path) -> Option<Said> {
    let text = std::fs::read_to_string(folder.join("server.json")).ok()?;
    serde_json::from_str(&text).ok()
}

async fn is_listening(port: u16) -> bool {
    // Its first port is open a moment after its keeper said so.
    for _ in 0..30 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .is_ok()
        {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    false
}

/// Tells whether objects can be stored, which is a while after the server first answers.
async fn is_ready(url: &str) -> bool {
    const BUCKET: &str = "is-it-ready";
    if !make(url, BUCKET).await {
        return false;
    }
    let object = Key::from("ready");
    client(url, BUCKET).put(&object, "yes".into()).await.is_ok()
}

/// Makes a bucket unless it is there; tells whether it is there now.
async fn make(url: &str, bucket: &str) -> bool {
    let Ok(address) = client(url, bucket)
        .signed_url(
            reqwest::Method::PUT,
            &Key::default(),
            Duration::from_secs(60),
        )
        .await
    else {
        return false;
    };
    match reqwest::Client::new().put(address).send().await {
        // 409: it is there and ours.
        Ok(answer) => answer.status().is_success() || answer.status().as_u16() == 409,
        Err(_) => false,
    }
}

#[expect(
    clippy::expect_used,
    reason = "a client of constants can always be made"
)]
fn client(url: &str, bucket: &str) -> AmazonS3 {
    AmazonS3Builder::new()
        .with_endpoint(url)
        .with_region("auto")
        .with_bucket_name(bucket)
        .with_access_key_id(OWNER.0)
        .with_secret_access_key(OWNER.1)
        .with_allow_http(true)
        .with_retry(object_store::RetryConfig {
            max_retries: 0,
            ..object_store::RetryConfig::default()
        })
        .build()
        .expect("a client")
}

#[expect(clippy::expect_used, reason = "a test without its server can't go on")]
fn open(path: &Path) -> File {
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .expect("a file in the target folder")
}

/// Returns the workspace's root.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace().join("target"), PathBuf::from)
}

/// Returns where SeaweedFS is.
///
/// # Panics
/// When it is not installed: a test that is left out would look like one that passed.
fn installed() -> PathBuf {
    let weed = std::env::var_os("SEAWEED_BIN").map_or_else(
        || {
            let scripts = if cfg!(windows) {
                "Scripts/weed.exe"
            } else {
                "bin/weed"
            };
            workspace().join(".venv").join(scripts)
        },
        PathBuf::from,
    );
    assert!(
        weed.is_file(),
        "SeaweedFS, which this test uploads to, is not at {}: run scripts/test python",
        weed.display()
    );
    weed
}
