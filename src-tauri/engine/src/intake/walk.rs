//! Finding the PDFs in what was dropped.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::model::{SkipReason, SkippedPath};

/// Most files of one drop.
pub(super) const MOST_FILES: usize = 10_000;
/// Deepest folder that is looked into.
const DEEPEST: usize = 64;

/// A file found, and its place within what was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Begins with the name of the dropped folder; the name alone for a file that was dropped itself.
    pub(super) relative: PathBuf,
}

/// The files found, and what was left out.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<FoundFile>,
    pub(super) skipped: Vec<SkippedPath>,
}

impl Found {
    fn skip(&mut self, path: &Path, reason: SkipReason) {
        self.skipped.push(SkippedPath {
            path: path.to_string_lossy().into_owned(),
            reason,
            same_as: None,
        });
    }

    /// Takes a file, whose place is told from `above` on.
    fn take(&mut self, path: PathBuf, above: &Path) {
        if self.files.len() < MOST_FILES {
            let relative = path.strip_prefix(above).unwrap_or(&path);
            let relative = relative
                .components()
                .filter(|part| matches!(part, Component::Normal(_)));
            self.files.push(FoundFile {
                relative: relative.collect(),
                path,
            });
        } else {
            self.skip(&path, SkipReason::TooMany);
        }
    }
}

/// Walks `paths`: a file named outright is taken whatever its name; in folders only visible `.pdf`
/// files are. What lies in one of the folders `own`, which Gistmill writes to, is never taken. Blocks.
pub(super) fn walk(paths: &[PathBuf], own: &[PathBuf]) -> Found {
    let mut found = Found::default();
    for path in paths {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                found.skip(path, SkipReason::Missing);
            }
            Err(_) => found.skip(path, SkipReason::Unreadable),
            Ok(metadata) if metadata.is_dir() => folder(path, own, &mut found),
            // Also what is no regular file: the inspection says so in its own words.
            Ok(_) => found.take(path.clone(), path.parent().unwrap_or(Path::new(""))),
        }
    }
    found
}

fn folder(path: &Path, own: &[PathBuf], found: &mut Found) {
    let above = path.parent().unwrap_or(Path::new(""));
    let mut entries = WalkDir::new(path)
        .follow_links(true)
        .max_depth(DEEPEST)
        .sort_by(|one, other| one.file_name().cmp(other.file_name()))
        .into_iter();
    while let Some(entry) = entries.next() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                // What is listed but not found is a link that leads nowhere.
                let leads_nowhere = error.loop_ancestor().is_some()
                    || error
                        .io_error()
                        .is_some_and(|io| io.kind() == std::io::ErrorKind::NotFound);
                let reason = if leads_nowhere {
                    SkipReason::LinkLoop
                } else {
                    SkipReason::Unreadable
                };
                found.skip(error.path().unwrap_or(path), reason);
                continue;
            }
        };
        if entry.depth() > 0 && is_hidden(entry.file_name()) {
            found.skip(entry.path(), SkipReason::Hidden);
            if entry.file_type().is_dir() {
                entries.skip_current_dir();
            }
        } else if entry.file_type().is_dir() {
            if is_own(&entry, own) {
                found.skip(entry.path(), SkipReason::OwnOutput);
                entries.skip_current_dir();
            }
        } else if entry
            .path()
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("pdf"))
        {
            found.take(entry.into_path(), above);
        } else {
            found.skip(entry.path(), SkipReason::OtherKind);
        }
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_own(entry: &DirEntry, own: &[PathBuf]) -> bool {
    entry
        .path()
        .canonicalize()
        .is_ok_and(|path| own.contains(&path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_give_visible_pdfs_and_say_what_they_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("drop");
        for name in [
            "b.PDF",
            "a.pdf",
            "notes.txt",
            ".hidden.pdf",
            "deep/er/c.pdf",
            ".git/d.pdf",
        ] {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let found = walk(std::slice::from_ref(&root), &[]);
        let places: Vec<_> = found
            .files
            .iter()
            .map(|file| file.relative.clone())
            .collect();
        assert_eq!(
            places,
            [
                Path::new("drop/a.pdf"),
                Path::new("drop/b.PDF"),
                Path::new("drop/deep/er/c.pdf")
            ],
            "a mirrored copy needs the file's place from the dropped folder on"
        );
        let mut reasons: Vec<_> = found.skipped.iter().map(|skipped| skipped.reason).collect();
        reasons.sort();
        assert_eq!(
            reasons,
            [
                SkipReason::Hidden,
                SkipReason::Hidden,
                SkipReason::OtherKind
            ]
        );
    }

    #[cfg(unix)]
    #[test]
    fn link_loops_end_and_links_to_nowhere_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("a.pdf"), "x").unwrap();
        std::os::unix::fs::symlink(&root, root.join("again")).unwrap();
        std::os::unix::fs::symlink(root.join("gone"), root.join("broken.pdf")).unwrap();
        let found = walk(std::slice::from_ref(&root), &[]);
        let paths: Vec<_> = found.files.iter().map(|file| file.path.clone()).collect();
        assert_eq!(
            paths,
            [root.join("a.pdf")],
            "a loop must not add the file again"
        );
        assert_eq!(
            found.skipped.len(),
            2,
            "both links must be named: {:?}",
            found.skipped
        );
    }

    #[test]
    fn what_gistmill_writes_to_is_never_taken_as_input() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let own = root.join("gistmill");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join("x.pdf"), "x").unwrap();
        let found = walk(&[root], &[own]);
        assert!(found.files.is_empty());
        assert_eq!(found.skipped[0].reason, SkipReason::OwnOutput);
    }

    #[test]
    fn a_file_named_outright_is_taken_and_a_missing_one_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("letter.docx");
        std::fs::write(&file, "x").unwrap();
        let missing = folder.path().join("gone.pdf");
        let found = walk(&[file.clone(), missing], &[]);
        assert_eq!(found.files.len(), 1);
        assert_eq!(found.files[0].path, file);
        assert_eq!(found.files[0].relative, Path::new("letter.docx"));
        assert_eq!(found.skipped[0].reason, SkipReason::Missing);
    }
}
