//! Where results lie: each stored once, by create-if-absent, on disk before anyone says so.
//!
//! The library is a folder of Markdown files in the data directory, reached through `object_store`,
//! so that another store can stand beside it under the same keys.

mod bucket;
mod copies;

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode, PutOptions};

use sha2::Digest as _;

use crate::error::EngineError;
use crate::model::{JobId, ResultFormat, Sha256};

pub(crate) use bucket::{Bucket, NewObject, checked as checked_bucket, read_address};
pub(crate) use copies::{Left, WantedFile, folder_of, leave, mirrored_folder, numbered};

/// A result that lies in the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stored {
    pub(crate) key: String,
    pub(crate) sha256: Sha256,
    pub(crate) bytes: u64,
}

/// Returns the digest of a file. Blocks.
pub(crate) fn digest(path: &Path) -> std::io::Result<Sha256> {
    let mut file = std::fs::File::open(path)?;
    let mut digest = sha2::Sha256::new();
    let mut buffer = vec![0; 256 * 1024];
    // Ends with the file.
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Sha256(hex::encode(digest.finalize()))),
            read => digest.update(&buffer[..read]),
        }
    }
}

/// Returns the ending of a result's file, without a dot.
pub(crate) fn ending(format: ResultFormat) -> &'static str {
    match format {
        ResultFormat::Markdown => "md",
        ResultFormat::Json => "json",
    }
}

/// Begins the last line of a stored text, which says where it comes from and which Markdown readers
/// don't show.
const ORIGIN: &str = "\n\n<!-- gistmill: ";

/// Returns a text with the line that says where it comes from.
pub(crate) fn with_origin(text: &str, origin: &str) -> String {
    format!("{}{ORIGIN}{origin} -->\n", text.trim_end())
}

/// Returns a stored text without the line that says where it comes from.
pub(crate) fn without_origin(text: &str) -> &str {
    text.rsplit_once(ORIGIN).map_or(text, |(body, _)| body)
}

/// The local library of results. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Library {
    folder: PathBuf,
    store: Arc<LocalFileSystem>,
}

impl Library {
    /// Opens the library of a data directory, making its folder when missing.
    pub(crate) fn open(data_directory: &Path) -> Result<Self, EngineError> {
        let folder = data_directory.join("results");
        std::fs::create_dir_all(&folder).map_err(|source| EngineError::File {
            path: folder.clone(),
            action: "created",
            source,
        })?;
        let store = LocalFileSystem::new_with_prefix(data_directory)
            .map_err(|error| EngineError::Internal(error.to_string()))?
            .with_fsync(true);
        Ok(Self {
            folder: data_directory.to_owned(),
            store: Arc::new(store),
        })
    }

    /// Removes the half-written files that a program left when it died. Blocks.
    ///
    /// Only the one consumer may call this, before it writes anything.
    pub(crate) fn sweep(&self) {
        // A folder that can't be read is said by the first result that can't be written.
        let Ok(entries) = std::fs::read_dir(self.folder.join("results")) else {
            return;
        };
        for entry in entries.flatten() {
            // `object_store` writes KEY#N, then links it as KEY.
            let name = entry.file_name();
            let staged = name
                .to_str()
                .and_then(|name| name.rsplit_once('#'))
                .is_some_and(|(key, number)| {
                    (key.ends_with(".md") || key.ends_with(".json"))
                        && number.parse::<u64>().is_ok()
                });
            if staged && let Err(error) = std::fs::remove_file(entry.path()) {
                tracing::warn!(%error, "a half-written result could not be removed");
            }
        }
    }

    /// Returns the key of a job's result: `results/JOB.md` (`.json` for fields), later runs
    /// `results/JOB.2.md` and so on.
    pub(crate) fn key(job_id: &JobId, generation: u32, format: ResultFormat) -> String {
        let ending = ending(format);
        match generation {
            1 => format!("results/{job_id}.{ending}"),
            later => format!("results/{job_id}.{later}.{ending}"),
        }
    }

    /// Returns where the file of a key lies.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.folder.join(key)
    }

    /// Stores `text` unless the key exists; then the first result stands and is returned.
    ///
    /// # Errors
    /// In a sentence, when the disk refuses.
    pub(crate) async fn put_if_absent(&self, key: &str, text: String) -> Result<Stored, String> {
        let digest = Sha256::of(text.as_bytes());
        let bytes = text.len() as u64;
        let options = PutOptions {
            mode: PutMode::Create,
            ..PutOptions::default()
        };
        match self
            .store
            .put_opts(&Key::from(key), text.into(), options)
            .await
        {
            Ok(_) => Ok(Stored {
                key: key.to_owned(),
                sha256: digest,
                bytes,
            }),
            Err(object_store::Error::AlreadyExists { .. }) => {
                let first = self.read(key).await?;
                Ok(Stored {
                    key: key.to_owned(),
                    sha256: Sha256::of(first.as_bytes()),
                    bytes: first.len() as u64,
                })
            }
            Err(error) => Err(format!("The result could not be written: {error}.")),
        }
    }

    /// Removes stored results whose jobs were removed. One that is gone already is as good.
    pub(crate) async fn remove(&self, keys: Vec<String>) {
        for key in keys {
            match self.store.delete(&Key::from(key.as_str())).await {
                Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
                Err(error) => tracing::warn!(%error, key, "a result could not be removed"),
            }
        }
    }

    /// Returns the text of a stored result.
    ///
    /// # Errors
    /// In a sentence, when it is gone or can't be read.
    pub(crate) async fn read(&self, key: &str) -> Result<String, String> {
        let bytes = async { self.store.get(&Key::from(key)).await?.bytes().await }
            .await
            .map_err(|error| format!("The stored result could not be read: {error}."))?;
        String::from_utf8(bytes.to_vec())
            .map_err(|_| "The stored result is not text any more.".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seed defect 20 and 21: several writers of one result all said that they wrote it.
    #[tokio::test]
    async fn the_first_result_stands_and_half_written_files_are_swept() {
        let folder = tempfile::tempdir().unwrap();
        let library = Library::open(folder.path()).unwrap();
        let (one, two) = (JobId::generate(), JobId::generate());
        let first = library
            .put_if_absent(
                &Library::key(&one, 1, ResultFormat::Markdown),
                "first".to_owned(),
            )
            .await
            .unwrap();
        let second = library
            .put_if_absent(
                &Library::key(&one, 1, ResultFormat::Markdown),
                "second".to_owned(),
            )
            .await
            .unwrap();
        assert_eq!(first, second, "whoever comes second gets the first result");
        library
            .put_if_absent(
                &Library::key(&two, 2, ResultFormat::Markdown),
                "other".to_owned(),
            )
            .await
            .unwrap();
        let half = folder.path().join(format!("results/{one}.md#1"));
        std::fs::write(&half, "fir").unwrap();
        library.sweep();
        assert!(
            !half.exists(),
            "what a dead program left half-written must go"
        );
        assert_eq!(
            library
                .read(&Library::key(&one, 1, ResultFormat::Markdown))
                .await
                .unwrap(),
            "first"
        );
        assert_eq!(
            library
                .read(&Library::key(&two, 2, ResultFormat::Markdown))
                .await
                .unwrap(),
            "other"
        );
    }
}
