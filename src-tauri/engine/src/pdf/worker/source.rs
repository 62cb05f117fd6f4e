//! The bytes of a file: read once, without ever waiting for a pipe, and hashed on the way.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sha2::Digest as _;

use super::{finding, limits};
use crate::model::{Cause, Finding, Sha256};

/// Files larger than this are neither read nor hashed: no provider takes them.
pub(super) const MAX_FILE_BYTES: u64 = 2 << 30;

/// A file that is there and may be read.
pub(super) struct Source {
    /// Its size.
    pub(super) bytes: u64,
    /// Its digest; `None` when it is too large.
    pub(super) sha256: Option<Sha256>,
    /// Milliseconds since 1970.
    pub(super) modified_ms: i64,
    /// Its bytes, or why they were not kept.
    pub(super) content: Result<Vec<u8>, Finding>,
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Source, Finding> {
    let refuse = |error: std::io::Error| describe(&error);
    // Looked at before it is opened, because opening a device can have effects, and again afterwards,
    // because it may have been replaced in between.
    check_kind(&std::fs::metadata(path).map_err(refuse)?)?;
    let mut file = open(path).map_err(refuse)?;
    let metadata = file.metadata().map_err(refuse)?;
    check_kind(&metadata)?;

    let modified_ms = metadata.modified().map_or(0, milliseconds);
    if metadata.len() > MAX_FILE_BYTES {
        return Ok(Source {
            bytes: metadata.len(),
            sha256: None,
            modified_ms,
            content: Err(too_large(metadata.len())),
        });
    }
    limits::allow_file(metadata.len());
    let (content, sha256) = read_and_hash(&mut file, metadata.len()).map_err(refuse)?;
    let bytes = content.len() as u64;
    Ok(Source {
        bytes,
        // A file that grows while it is read has no digest worth keeping once it passes the limit.
        sha256: (bytes <= MAX_FILE_BYTES).then_some(sha256),
        modified_ms,
        content: if bytes > MAX_FILE_BYTES {
            Err(too_large(bytes))
        } else {
            Ok(content)
        },
    })
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a pipe that nobody writes to would wait for ever.
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    options.open(path)
}

fn read_and_hash(file: &mut File, expected: u64) -> std::io::Result<(Vec<u8>, Sha256)> {
    let mut content = Vec::new();
    content
        .try_reserve_exact(usize::try_from(expected).unwrap_or(usize::MAX))
        .map_err(|_| std::io::Error::from(ErrorKind::OutOfMemory))?;
    let mut hasher = sha2::Sha256::new();
    let mut chunk = vec![0; 256 << 10];
    loop {
        let count = match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(&chunk[..count]);
        content.extend_from_slice(&chunk[..count]);
        if content.len() as u64 > MAX_FILE_BYTES {
            break;
        }
    }
    Ok((content, Sha256(hex::encode(hasher.finalize()))))
}

fn check_kind(metadata: &Metadata) -> Result<(), Finding> {
    if metadata.is_dir() {
        return Err(finding(
            Cause::FileUnreadable,
            "This is a folder, not a file.",
        ));
    }
    if !metadata.is_file() {
        return Err(finding(
            Cause::FileUnreadable,
            "This is not an ordinary file but a pipe, a socket or a device.",
        ));
    }
    Ok(())
}

fn describe(error: &std::io::Error) -> Finding {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            finding(Cause::FileMissing, "There is no file at this place.")
        }
        ErrorKind::PermissionDenied => finding(
            Cause::FileUnreadable,
            "You don't have the permission to read this file.",
        ),
        ErrorKind::OutOfMemory => finding(
            Cause::TooLarge,
            "This file is too large to be held in memory.",
        ),
        _ => finding(
            Cause::FileUnreadable,
            format!("This file can't be read: {error}."),
        ),
    }
}

fn too_large(bytes: u64) -> Finding {
    let tenths = bytes / 100_000_000;
    finding(
        Cause::TooLarge,
        format!(
            "This file has {}.{} GB; files of up to 2 GB can be read.",
            tenths / 10,
            tenths % 10
        ),
    )
}

fn milliseconds(time: SystemTime) -> i64 {
    let signed =
        |duration: std::time::Duration| i64::try_from(duration.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => signed(since),
        Err(before) => -signed(before.duration()),
    }
}
