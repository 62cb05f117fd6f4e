//! Copies of results outside the library: beside their PDFs, or in folders like those that were added.

use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::digest;
use crate::model::{NameTaken, Sha256};
use crate::whole_file;

/// Most numbered names that are tried before giving up.
const MOST_NUMBERS: u32 = 999;
/// Longest file name that common file systems take, in bytes.
const LONGEST_NAME: usize = 255;

/// A file that is wanted outside the library.
pub(crate) struct WantedFile<'file> {
    /// Where; the folder is there.
    pub(crate) folder: &'file Path,
    /// Its name without number and ending; cut where it gets too long.
    pub(crate) stem: &'file str,
    /// Its ending with a dot, such as `.summary.md`.
    pub(crate) ending: &'file str,
    pub(crate) text: &'file [u8],
    /// What is done where another file has its name.
    pub(crate) name_taken: NameTaken,
    /// Digests of what was written here for the same purpose before; a file that has none of them was
    /// edited, or is somebody else's.
    pub(crate) ours: &'file [Sha256],
    /// Tells its unfinished file from others; letters, digits and hyphens.
    pub(crate) tag: &'file str,
}

/// What became of a wanted file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Left {
    /// The file; `None` where its name was taken and none was wanted then.
    pub(crate) path: Option<PathBuf>,
    /// What a person may want to know of it, in a sentence.
    pub(crate) note: Option<String>,
}

/// Writes a file whole, or not at all; nothing that somebody else wrote is overwritten.
///
/// A file that holds this very text already is taken for it, so that one whose record was lost is not
/// made twice. Blocks.
///
/// # Errors
/// In a sentence, when the folder can't be written.
pub(crate) fn leave(wanted: &WantedFile<'_>) -> Result<Left, String> {
    let refused = |error: std::io::Error| {
        format!(
            "No file could be written in {}: {}.",
            wanted.folder.display(),
            reason(&error)
        )
    };
    let unfinished = unfinished(wanted).map_err(refused)?;
    let mut unfinished = Some(unfinished);
    let mut note = None;
    for number in 1..=MOST_NUMBERS {
        let path = wanted
            .folder
            .join(numbered(wanted.stem, wanted.ending, number));
        let Some(file) = unfinished.take() else {
            break;
        };
        match file.persist_noclobber(&path) {
            Ok(_) => return Ok(left(wanted.folder, path, note)),
            Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
                let found = digest(&path).ok();
                if found.as_ref() == Some(&Sha256::of(wanted.text)) {
                    return Ok(left(wanted.folder, path, note));
                }
                match wanted.name_taken {
                    NameTaken::Skip => {
                        return Ok(Left {
                            path: None,
                            note: Some(format!("{} was there already.", shown(&path))),
                        });
                    }
                    NameTaken::Overwrite if number == 1 => {
                        if found.is_some_and(|found| wanted.ours.contains(&found)) {
                            error
                                .file
                                .persist(&path)
                                .map_err(|error| refused(error.error))?;
                            return Ok(left(wanted.folder, path, None));
                        }
                        note = Some(format!(
                            "{} was edited or is another’s, so it was kept.",
                            shown(&path)
                        ));
                    }
                    NameTaken::Overwrite | NameTaken::Number => {}
                }
                unfinished = Some(error.file);
            }
            Err(error) => return Err(refused(error.error)),
        }
    }
    Err(format!(
        "{MOST_NUMBERS} files of this name lie in {} already.",
        wanted.folder.display()
    ))
}

/// Returns the folder of a copy beside its PDF.
///
/// # Errors
/// In a sentence, when it is not there any more.
pub(crate) fn folder_of(source: &Path) -> Result<PathBuf, String> {
    let folder = source.parent().ok_or("The PDF lies in no folder.")?;
    present(folder)?;
    Ok(folder.to_owned())
}

/// Returns the folder of a mirrored copy within the output folder, and makes it.
///
/// # Errors
/// In a sentence, when the output folder is not there (a drive that was taken away), or refuses.
pub(crate) fn mirrored_folder(output: &Path, relative: &Path) -> Result<PathBuf, String> {
    // Made anew on whatever lies below, a vanished drive's folder would hide the drive's own.
    present(output)?;
    let folder = match relative.parent() {
        Some(within) => output.join(within),
        None => output.to_owned(),
    };
    std::fs::create_dir_all(&folder).map_err(|error| {
        format!(
            "The folder {} could not be made: {}.",
            folder.display(),
            reason(&error)
        )
    })?;
    Ok(folder)
}

fn present(folder: &Path) -> Result<(), String> {
    if folder.is_dir() {
        return Ok(());
    }
    Err(format!(
        "The folder {} is not there any more.",
        folder.display()
    ))
}

/// Returns `STEM.summary.md`, or `STEM.summary 2.md`, with the stem cut where the name gets too long.
pub(crate) fn numbered(stem: &str, ending: &str, number: u32) -> String {
    let ending = match (number, ending.rsplit_once('.')) {
        (1, _) => ending.to_owned(),
        (_, Some((before, last))) => format!("{before} {number}.{last}"),
        (_, None) => format!("{ending} {number}"),
    };
    let mut end = stem.len().min(LONGEST_NAME.saturating_sub(ending.len()));
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ending}", &stem[..end])
}

/// Writes the text under a name of its own, on disk before it gets its real one.
fn unfinished(wanted: &WantedFile<'_>) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = whole_file::unfinished(wanted.folder, wanted.tag)?;
    file.write_all(wanted.text)?;
    file.as_file().sync_all()?;
    Ok(file)
}

fn left(folder: &Path, path: PathBuf, note: Option<String>) -> Left {
    whole_file::sync(folder);
    Left {
        path: Some(path),
        note,
    }
}

fn shown(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

/// Says why a folder refuses, in words.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::PermissionDenied => "it may not be written by your user".to_owned(),
        ErrorKind::ReadOnlyFilesystem => "the drive is read-only".to_owned(),
        ErrorKind::StorageFull => "the disk is full".to_owned(),
        ErrorKind::NotFound => "it is not there any more".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted<'file>(
        folder: &'file Path,
        stem: &'file str,
        text: &'file str,
        name_taken: NameTaken,
        ours: &'file [Sha256],
    ) -> WantedFile<'file> {
        WantedFile {
            folder,
            stem,
            ending: ".summary.md",
            text: text.as_bytes(),
            name_taken,
            ours,
            tag: "test",
        }
    }

    fn file_name(left: &Left) -> &str {
        left.path
            .as_ref()
            .and_then(|path| path.file_name()?.to_str())
            .unwrap_or_default()
    }

    #[test]
    fn a_copy_never_overwrites_an_edited_file_and_is_never_made_twice() {
        let folder = tempfile::tempdir().unwrap();
        let at = |text, name_taken, ours: &[Sha256]| {
            leave(&wanted(folder.path(), "報告 2026", text, name_taken, ours)).unwrap()
        };
        let first = at("one", NameTaken::Number, &[]);
        assert_eq!(file_name(&first), "報告 2026.summary.md");
        let path = first.path.clone().unwrap();
        std::fs::write(&path, "edited by hand").unwrap();
        let second = at("one", NameTaken::Number, &[]);
        assert_eq!(file_name(&second), "報告 2026.summary 2.md");
        let kept = at("three", NameTaken::Overwrite, &[Sha256::of(b"one")]);
        assert_eq!(file_name(&kept), "報告 2026.summary 3.md");
        assert!(
            kept.note.as_ref().unwrap().contains("was kept"),
            "a person must hear why it has a number: {kept:?}"
        );
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "edited by hand",
            "an edited file must stay as it is"
        );
        assert_eq!(
            at("one", NameTaken::Number, &[]).path,
            second.path,
            "a copy whose record was lost must be found again, not made twice"
        );
        let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
        assert_eq!(names.len(), 3, "nothing unfinished may stay: {names:?}");
    }

    #[test]
    fn a_copy_that_nobody_edited_is_replaced_where_that_is_wanted() {
        let folder = tempfile::tempdir().unwrap();
        let at = |text, name_taken, ours: &[Sha256]| {
            leave(&wanted(folder.path(), "a", text, name_taken, ours)).unwrap()
        };
        let first = at("one", NameTaken::Overwrite, &[]);
        let second = at("two", NameTaken::Overwrite, &[Sha256::of(b"one")]);
        assert_eq!(first, second);
        assert_eq!(std::fs::read_to_string(first.path.unwrap()).unwrap(), "two");
        let skipped = at("three", NameTaken::Skip, &[Sha256::of(b"two")]);
        assert_eq!(skipped.path, None);
        assert!(skipped.note.unwrap().contains("a.summary.md"));
    }

    #[test]
    fn what_a_dead_program_left_unfinished_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let stale = folder.path().join(".gistmill-test.part");
        std::fs::write(&stale, "hal").unwrap();
        let left = leave(&wanted(folder.path(), "a", "whole", NameTaken::Number, &[])).unwrap();
        assert_eq!(
            std::fs::read_to_string(left.path.unwrap()).unwrap(),
            "whole"
        );
        assert!(!stale.exists());
    }

    #[test]
    fn a_name_that_would_be_too_long_is_cut_between_characters() {
        let stem = "長".repeat(100);
        let name = numbered(&stem, ".summary.md", 1);
        assert!(
            name.len() <= LONGEST_NAME,
            "file systems refuse names of over 255 bytes"
        );
        assert!(name.starts_with("長長") && name.ends_with("長.summary.md"));
    }

    #[test]
    fn folders_are_mirrored_within_the_output_folder_only() {
        let folder = tempfile::tempdir().unwrap();
        let made = mirrored_folder(folder.path(), Path::new("reports/2026/q1.pdf")).unwrap();
        assert_eq!(made, folder.path().join("reports/2026"));
        assert!(made.is_dir());
        let gone = folder.path().join("drive");
        let error = mirrored_folder(&gone, Path::new("reports/q1.pdf")).unwrap_err();
        assert!(error.contains("not there any more"), "{error}");
        assert!(
            !gone.exists(),
            "the folder of a vanished drive must not be made on what lies below"
        );
    }

    #[test]
    fn a_vanished_folder_is_said_plainly() {
        let error = folder_of(Path::new("/nonexistent/place/a.pdf")).unwrap_err();
        assert!(
            error.contains("/nonexistent/place"),
            "the message must name the folder: {error}"
        );
    }
}
