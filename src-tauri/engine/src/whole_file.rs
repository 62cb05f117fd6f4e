//! Files for other programs: there as a whole or not at all, and never in place of another by accident.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use sha2::Digest as _;
use tempfile::NamedTempFile;

use crate::error::EngineError;
use crate::model::Sha256;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WholeFileWritten {
    pub(crate) sha256: Sha256,
    pub(crate) bytes: u64,
}

/// A file under way. It lies under another name until [`WholeFile::finish`], and is removed when that is
/// never reached.
pub(crate) struct WholeFile {
    target: PathBuf,
    folder: PathBuf,
    replace: bool,
    file: BufWriter<NamedTempFile>,
    digest: sha2::Sha256,
    bytes: u64,
}

impl WholeFile {
    /// Begins a file that becomes `target`; without `replace` there must be none. Blocks.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] when the folder is not there or can't be written, or the file is there.
    pub(crate) fn begin(target: &Path, replace: bool) -> Result<Self, EngineError> {
        let target = std::path::absolute(target).unwrap_or_else(|_| target.to_owned());
        // Where a link stands, the file that it leads to is replaced, not the link.
        let target = match target.canonicalize() {
            Ok(real) if replace => real,
            _ => target,
        };
        let (Some(folder), Some(_)) = (target.parent(), target.file_name()) else {
            return Err(EngineError::bad_input(
                format!("{} is no name of a file.", target.display()),
                "Give the name of a file.",
            ));
        };
        if target.is_dir() {
            return Err(EngineError::bad_input(
                format!("{} is a folder.", target.display()),
                "Give the name of a file in it.",
            ));
        }
        if !replace && target.symlink_metadata().is_ok() {
            return Err(taken(&target));
        }
        let unique = uuid::Uuid::now_v7().simple().to_string();
        let file =
            unfinished(folder, &unique[16..]).map_err(|source| unwritable(folder, source))?;
        Ok(Self {
            folder: folder.to_owned(),
            replace,
            file: BufWriter::new(file),
            digest: sha2::Sha256::new(),
            bytes: 0,
            target,
        })
    }

    /// Puts what was written on the disk and gives it its name. Blocks.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] when somebody took the name meanwhile, [`EngineError::File`] when the disk
    /// refuses.
    pub(crate) fn finish(self) -> Result<WholeFileWritten, EngineError> {
        let target = self.target;
        let refused = |source| trouble(&target, source);
        let file = self
            .file
            .into_inner()
            .map_err(|error| refused(error.into_error()))?;
        file.as_file().sync_all().map_err(refused)?;
        let named = if self.replace {
            file.persist(&target)
        } else {
            file.persist_noclobber(&target)
        };
        match named {
            Ok(_) => {}
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                return Err(taken(&target));
            }
            Err(error) => return Err(refused(error.error)),
        }
        sync(&self.folder);
        Ok(WholeFileWritten {
            sha256: Sha256(hex::encode(self.digest.finalize())),
            bytes: self.bytes,
        })
    }

    /// Returns the error of a write that the disk refused.
    pub(crate) fn trouble(&self, source: io::Error) -> EngineError {
        trouble(&self.target, source)
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.digest.update(&bytes[..written]);
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Begins a file under a hidden name that `tag` (letters, digits and hyphens) makes its own; one of that name
/// which a dead program left is removed. It goes with the handle unless it gets its real name. Blocks.
pub(crate) fn unfinished(folder: &Path, tag: &str) -> io::Result<NamedTempFile> {
    let (prefix, suffix) = (format!(".gistmill-{tag}"), ".part");
    match std::fs::remove_file(folder.join(format!("{prefix}{suffix}"))) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(suffix).rand_bytes(0);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // As any other program's new file: what the person's umask leaves of it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Puts the names in a folder on the disk; some systems can't do that, and do it by themselves. Blocks.
pub(crate) fn sync(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        drop(folder.sync_all());
    }
}

/// Writes a whole file. Blocks.
///
/// # Errors
/// As [`WholeFile::begin`] and [`WholeFile::finish`].
pub(crate) fn write(
    target: &Path,
    bytes: &[u8],
    replace: bool,
) -> Result<WholeFileWritten, EngineError> {
    let mut file = WholeFile::begin(target, replace)?;
    file.write_all(bytes)
        .map_err(|source| trouble(target, source))?;
    file.finish()
}

fn trouble(target: &Path, source: io::Error) -> EngineError {
    EngineError::File {
        path: target.to_owned(),
        action: "written",
        source,
    }
}

fn taken(target: &Path) -> EngineError {
    EngineError::bad_input(
        format!("{} exists already.", target.display()),
        "Choose another name, or say that it may be replaced.",
    )
}

fn unwritable(folder: &Path, source: io::Error) -> EngineError {
    match source.kind() {
        ErrorKind::NotFound => EngineError::bad_input(
            format!("The folder {} is not there.", folder.display()),
            "Choose a folder that exists, or make it first.",
        ),
        ErrorKind::NotADirectory => EngineError::bad_input(
            format!("{} is not a folder.", folder.display()),
            "Choose a folder.",
        ),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => EngineError::bad_input(
            format!("The folder {} can’t be written.", folder.display()),
            "Choose a folder that you may write to.",
        ),
        _ => EngineError::File {
            path: folder.to_owned(),
            action: "written",
            source,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_as_a_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("結果.csv");
        let mut given_up = WholeFile::begin(&target, false).unwrap();
        given_up.write_all(b"half").unwrap();
        assert!(!target.exists(), "half a file must not have its name");
        drop(given_up);
        assert_eq!(names(folder.path()), [""; 0], "nothing may stay behind");

        let written = write(&target, b"whole", false).unwrap();
        assert_eq!(written.bytes, 5);
        assert_eq!(written.sha256, Sha256::of(b"whole"));
        assert_eq!(names(folder.path()), ["結果.csv"]);
    }

    #[test]
    fn a_file_that_is_there_is_replaced_only_when_told() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.csv");
        // Taken between the beginning and the end.
        let mut late = WholeFile::begin(&target, false).unwrap();
        late.write_all(b"late").unwrap();
        std::fs::write(&target, "first").unwrap();
        let problem = late.finish().unwrap_err().to_string();
        assert!(problem.contains("exists already"), "{problem}");
        let problem = write(&target, b"second", false).unwrap_err().to_string();
        assert!(problem.contains("exists already"), "{problem}");
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "first");
        write(&target, b"second", true).unwrap();
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "second");
        assert_eq!(names(folder.path()), ["a.csv"]);
    }

    #[test]
    fn a_folder_that_cant_be_used_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("gone");
        let problem = write(&missing.join("a.csv"), b"", true).unwrap_err();
        assert!(
            problem.to_string().contains("gone is not there"),
            "{problem}"
        );
        let problem = write(folder.path(), b"", true).unwrap_err();
        assert!(problem.to_string().contains("is a folder"), "{problem}");
    }
}
