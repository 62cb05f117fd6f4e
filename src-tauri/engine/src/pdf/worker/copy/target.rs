//! The file that a copy is written to.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{BufWriter, ErrorKind, Read as _, Seek as _, Write};
use std::path::Path;

use hayro::hayro_syntax::Pdf;

use super::NoCopy;
use crate::model::Cause;
use crate::pdf::worker::{finding, limits};

/// A file to write to, made by the parent for this alone.
pub(super) struct Target(File);

impl Target {
    /// Opens an ordinary file that is there, and never the one that is read.
    pub(super) fn open(path: &Path, source: &Path) -> Result<Self, NoCopy> {
        let file = open(path).map_err(|error| not_written(&error))?;
        let metadata = file.metadata().map_err(|error| not_written(&error))?;
        let read = std::fs::metadata(source).ok();
        if !metadata.is_file() || read.is_some_and(|read| is_same(&read, &metadata)) {
            return Err(NoCopy::NotWritten(
                "the place for the copy is no file of its own".to_owned(),
            ));
        }
        Ok(Self(file))
    }

    /// Writes the file from its beginning and returns its length.
    pub(super) fn write(
        &mut self,
        content: impl FnOnce(&mut Bounded<'_>) -> std::io::Result<()>,
    ) -> Result<u64, NoCopy> {
        let emptied = self.0.set_len(0).and_then(|()| self.0.rewind());
        let written = emptied.and_then(|()| {
            let mut bounded = Bounded {
                out: BufWriter::with_capacity(256 << 10, &self.0),
                written: 0,
            };
            content(&mut bounded)?;
            bounded.out.flush()?;
            Ok(bounded.written)
        });
        written.map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => NoCopy::Refused(finding(
                Cause::TooLarge,
                "A copy of these pages would be larger than 512 MB.",
            )),
            _ => not_written(&error),
        })
    }

    /// Says whether what was written is a PDF of so many pages that opens without a password, by the
    /// parser that doesn't write.
    pub(super) fn holds(&mut self, pages: u32) -> bool {
        let mut content = Vec::new();
        let read = self.0.rewind().and_then(|()| {
            let bytes = self.0.metadata()?.len();
            content
                .try_reserve_exact(usize::try_from(bytes).unwrap_or(usize::MAX))
                .map_err(|_| std::io::Error::from(ErrorKind::OutOfMemory))?;
            (&self.0).take(bytes).read_to_end(&mut content)
        });
        read.is_ok() && Pdf::new(content).is_ok_and(|pdf| pdf.pages().len() == pages as usize)
    }

    /// Leaves nothing of what was written.
    pub(super) fn empty(&mut self) {
        // What the parent finds then is not used in any case: there is no copy.
        let _ = self.0.set_len(0);
    }
}

/// Writes no more than a file may have.
pub(super) struct Bounded<'a> {
    out: BufWriter<&'a File>,
    written: u64,
}

impl Write for Bounded<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.written + bytes.len() as u64 > limits::WRITTEN_FILE_BYTES {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let count = self.out.write(bytes)?;
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

fn open(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    // Not emptied before it is known to be a file that may be.
    options.read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;

        use rustix::fs::OFlags;

        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits().cast_signed());
    }
    options.open(path)
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    // A file that is read can't be opened for writing there.
    false
}

fn not_written(error: &std::io::Error) -> NoCopy {
    NoCopy::NotWritten(error.to_string())
}
