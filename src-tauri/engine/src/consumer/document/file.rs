//! Whether the file of an attempt is still the one that was added.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::model::Cause;
use crate::provider::Failure;
use crate::results::digest;
use crate::store::ClaimedJob;

/// Makes sure that the file at `path` is the one that was added with a job.
pub(super) async fn verify(job: &ClaimedJob, path: PathBuf, sha256: String) -> Result<(), Failure> {
    let expected = Expected {
        sha256,
        bytes: job.source_bytes.unwrap_or_default(),
        modified_ms: job.source_modified.unwrap_or_default(),
    };
    tokio::task::spawn_blocking(move || check(&path, &expected))
        .await
        .map_err(|error| Failure::unsent(Cause::FileUnreadable, error.to_string()))?
}

struct Expected {
    sha256: String,
    bytes: u64,
    modified_ms: i64,
}

/// Makes sure that the file at `path` is the one that was added. Blocks.
fn check(path: &Path, expected: &Expected) -> Result<(), Failure> {
    let shown = path.display();
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Failure::unsent(
            Cause::FileMissing,
            format!("There is no file {shown} any more."),
        ),
        _ => Failure::unsent(
            Cause::FileUnreadable,
            format!("{shown} can't be read: {error}."),
        ),
    })?;
    if !metadata.is_file() {
        return Err(Failure::unsent(
            Cause::FileMissing,
            format!("{shown} is not a file any more."),
        ));
    }
    if metadata.len() == expected.bytes && modified_ms(&metadata) == expected.modified_ms {
        return Ok(());
    }
    let changed = || {
        Failure::unsent(
            Cause::FileChanged,
            format!("{shown} was changed after it was added."),
        )
    };
    if metadata.len() != expected.bytes {
        return Err(changed());
    }
    // Copied or touched: only the content counts.
    let found = digest(path).map_err(|error| {
        Failure::unsent(
            Cause::FileUnreadable,
            format!("{shown} can't be read: {error}."),
        )
    })?;
    if found.as_str() == expected.sha256 {
        Ok(())
    } else {
        Err(changed())
    }
}

/// Returns when a file was last changed, in milliseconds since 1970; 0 where the system can't tell.
fn modified_ms(metadata: &std::fs::Metadata) -> i64 {
    metadata
        .modified()
        .ok()
        .and_then(|moment| moment.duration_since(UNIX_EPOCH).ok())
        .and_then(|age| i64::try_from(age.as_millis()).ok())
        .unwrap_or(0)
}
