//! The PDF of an attempt, verified just before it is read.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::Shared;
use crate::model::{Cause, DocumentView, Timestamp};
use crate::pdf::Inspection;
use crate::provider::{DocumentContent, Failure, RequestDocument};
use crate::results::digest;
use crate::store::ClaimedJob;

/// Returns the PDF of a claimed job, after making sure that it is the file that was added.
pub(super) async fn verified(
    shared: &Shared,
    job: &ClaimedJob,
) -> Result<RequestDocument, Failure> {
    let path = PathBuf::from(job.source_path.clone().unwrap_or_default());
    let Some(sha256) = job.document_sha256.clone() else {
        return adopted(shared, job, path).await;
    };
    let expected = Expected {
        sha256,
        bytes: job.source_bytes.unwrap_or_default(),
        modified_ms: job.source_modified.unwrap_or_default(),
    };
    let checked = path.clone();
    tokio::task::spawn_blocking(move || check(&checked, &expected))
        .await
        .map_err(|error| Failure::unsent(Cause::FileUnreadable, error.to_string()))??;
    if let Some((cause, message)) = &job.finding {
        return Err(Failure::unsent(*cause, message.clone()));
    }
    Ok(RequestDocument {
        content: DocumentContent::File {
            path,
            bytes: job.source_bytes.unwrap_or_default(),
        },
        pages: job.pages,
        first_page: 1,
        name: job.title.clone(),
    })
}

/// Inspects a file that could not be read when it was added, and takes it as it is now.
async fn adopted(
    shared: &Shared,
    job: &ClaimedJob,
    path: PathBuf,
) -> Result<RequestDocument, Failure> {
    let inspection = shared
        .pdf
        .inspect(&path)
        .await
        .map_err(|error| Failure::unsent(Cause::StorageFailed, error.to_string()))?;
    let modified_ms = inspection.modified_ms;
    let Some(document) = known(inspection)? else {
        return Err(Failure::unsent(
            Cause::FileUnreadable,
            "The file can't be read.",
        ));
    };
    let now: Timestamp = shared.clock.now();
    shared
        .store
        .adopt_document(job.lease.clone(), document.clone(), modified_ms, now)
        .await
        .map_err(|error| Failure::unsent(Cause::StorageFailed, error.to_string()))?;
    match document.finding {
        Some(finding) => Err(Failure::unsent(finding.cause, finding.message)),
        None => Ok(RequestDocument {
            content: DocumentContent::File {
                path,
                bytes: document.bytes,
            },
            pages: document.pages,
            first_page: 1,
            name: job.title.clone(),
        }),
    }
}

/// Returns the document of an inspection; a file without a digest could not be read at all.
fn known(inspection: Inspection) -> Result<Option<DocumentView>, Failure> {
    match crate::intake::document(inspection) {
        Ok(document) => Ok(Some(document)),
        Err(finding) => Err(Failure::unsent(finding.cause, finding.message)),
    }
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
