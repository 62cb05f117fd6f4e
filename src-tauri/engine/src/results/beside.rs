//! Copies of results beside their PDFs.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::model::Sha256;

/// Most numbered names that are tried before giving up.
const MOST_NUMBERS: u32 = 999;
/// Longest file name that common file systems take, in bytes.
const LONGEST_NAME: usize = 255;

/// Writes `text` beside `source` as `NAME.summary.md`, or with a number where that name is taken.
///
/// Nothing is ever overwritten. A file that holds this very text already is taken for the copy, so
/// that a copy whose record was lost is not made twice. Blocks.
///
/// # Errors
/// In a sentence, when the folder can't be written.
pub(crate) fn copy_beside(source: &Path, text: &str) -> Result<PathBuf, String> {
    let folder = source.parent().ok_or("The PDF lies in no folder.")?;
    if !folder.is_dir() {
        return Err(format!(
            "The folder {} is not there any more.",
            folder.display()
        ));
    }
    let stem = source
        .file_stem()
        .map(|stem| stem.to_string_lossy())
        .unwrap_or_default();
    for number in 1..=MOST_NUMBERS {
        let path = folder.join(name(&stem, number));
        match create(&path, text) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if holds(&path, text) {
                    return Ok(path);
                }
            }
            Err(error) => {
                return Err(format!(
                    "No file could be written in {}: {error}.",
                    folder.display()
                ));
            }
        }
    }
    Err(format!(
        "{MOST_NUMBERS} summaries of this PDF lie beside it already."
    ))
}

/// Returns `STEM.summary.md`, or `STEM.summary N.md`, with the stem cut where the name gets too long.
fn name(stem: &str, number: u32) -> String {
    let ending = if number == 1 {
        ".summary.md".to_owned()
    } else {
        format!(".summary {number}.md")
    };
    let mut end = stem.len().min(LONGEST_NAME - ending.len());
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ending}", &stem[..end])
}

/// Writes a new file whole, or none.
fn create(path: &Path, text: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
    let written = file
        .write_all(text.as_bytes())
        .and_then(|()| file.sync_all());
    if written.is_err() {
        // Half a file would be taken for a summary. Should it stay all the same, the next copy
        // takes the next number.
        drop(std::fs::remove_file(path));
    }
    written
}

/// Says whether the file at `path` holds exactly `text`.
fn holds(path: &Path, text: &str) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut found = Vec::with_capacity(text.len());
    // One byte more than expected tells a longer file apart without reading all of it.
    match file.take(text.len() as u64 + 1).read_to_end(&mut found) {
        Ok(_) => Sha256::of(&found) == Sha256::of(text.as_bytes()),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_never_overwrites_and_is_never_made_twice() {
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("報告 2026.pdf");
        let first = copy_beside(&source, "one").unwrap();
        assert_eq!(
            first.file_name().unwrap().to_str().unwrap(),
            "報告 2026.summary.md"
        );
        std::fs::write(&first, "edited by hand").unwrap();
        let second = copy_beside(&source, "one").unwrap();
        assert_eq!(
            second.file_name().unwrap().to_str().unwrap(),
            "報告 2026.summary 2.md"
        );
        assert_eq!(
            std::fs::read_to_string(&first).unwrap(),
            "edited by hand",
            "an edited file must stay as it is"
        );
        assert_eq!(
            copy_beside(&source, "one").unwrap(),
            second,
            "a copy whose record was lost must be found again, not made twice"
        );
    }

    #[test]
    fn a_name_that_would_be_too_long_is_cut_between_characters() {
        let stem = "長".repeat(100);
        let name = name(&stem, 1);
        assert!(
            name.len() <= LONGEST_NAME,
            "file systems refuse names of over 255 bytes"
        );
        assert!(name.starts_with("長長") && name.ends_with("長.summary.md"));
    }

    #[test]
    fn a_vanished_folder_is_said_plainly() {
        let error = copy_beside(Path::new("/nonexistent/place/a.pdf"), "text").unwrap_err();
        assert!(
            error.contains("/nonexistent/place"),
            "the message must name the folder: {error}"
        );
    }
}
