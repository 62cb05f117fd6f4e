//! Copies that exist only while they are sent or read: decrypted, repaired, or of some pages.
//!
//! They lie in a folder that only the person's own user may enter. Each is removed with its attempt; what a
//! program that died has left is swept before the next attempt.

use std::io;
use std::path::Path;

use tempfile::{Builder, TempPath};

use crate::model::Cause;
use crate::provider::Failure;

/// How the names of copies begin.
const PREFIX: &str = "sending-";

/// A copy; dropping it removes the file.
#[derive(Debug)]
pub(crate) struct PrivateCopy(TempPath);

impl PrivateCopy {
    /// Makes an empty file that only its owner may read.
    ///
    /// # Errors
    /// [`Cause::StorageFailed`]: a full or a read-only disk.
    pub(crate) async fn begin(directory: &Path) -> Result<Self, Failure> {
        let directory = directory.to_owned();
        let made = tokio::task::spawn_blocking(move || {
            prepare(&directory)?;
            let file = Builder::new()
                .prefix(PREFIX)
                .suffix(".pdf")
                .tempfile_in(&directory)?;
            Ok::<_, io::Error>(file.into_temp_path())
        });
        match made.await {
            Ok(Ok(path)) => Ok(Self(path)),
            Ok(Err(error)) => Err(unwritable(&error.to_string())),
            Err(error) => Err(unwritable(&error.to_string())),
        }
    }

    /// Returns where it lies.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

/// Returns the failure of a copy that could not be written.
pub(super) fn unwritable(reason: &str) -> Failure {
    Failure::unsent(
        Cause::StorageFailed,
        format!("The copy of the PDF that is to be sent can’t be written: {reason}."),
    )
}

/// Makes the folder of private copies, which only its owner may enter.
fn prepare(directory: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(directory)
}

/// Removes the copies that a program that died has left. Blocks.
pub(crate) fn sweep(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        // There was never one.
        return;
    };
    for path in entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| is_copy(path))
    {
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!(%error, path = %path.display(), "a private copy could not be removed");
        }
    }
}

fn is_copy(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with(PREFIX))
}
