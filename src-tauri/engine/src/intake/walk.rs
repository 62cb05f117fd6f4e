//! Finding the PDFs in what was dropped.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use super::settle::Look;
use crate::model::{SkipReason, SkippedPath};

/// Most files of one drop.
pub(super) const MOST_FILES: usize = 10_000;
/// Most paths that are said to be left out; with more of them the walk ends and says where.
const MOST_SKIPPED: usize = 50_000;
/// Deepest folder that is looked into.
const DEEPEST: usize = 64;

/// A file found, and its place within what was dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) path: PathBuf,
    /// Begins with the name of the dropped folder; the name alone for a file that was dropped itself.
    pub(super) relative: PathBuf,
    /// How it looked when it was found.
    pub(super) look: Look,
}

/// Walks `paths` and hands on each file as it is found, until `hand_on` says that nobody wants more.
/// Returns what was left out.
///
/// A file named outright is taken whatever its name; in folders only visible `.pdf` files are. What lies in
/// one of the folders `own`, which Gistmill writes to, is never taken. Blocks. `goes_on` is asked at each step.
pub(super) fn walk(
    paths: &[PathBuf],
    own: &[PathBuf],
    goes_on: &dyn Fn() -> bool,
    hand_on: &mut dyn FnMut(FoundFile),
) -> Vec<SkippedPath> {
    let mut walk = Walk {
        own,
        goes_on,
        hand_on,
        files: 0,
        places: HashMap::new(),
        skipped: Vec::new(),
    };
    for path in paths {
        if walk.one(path).is_break() {
            break;
        }
    }
    walk.skipped
}

struct Walk<'walk> {
    own: &'walk [PathBuf],
    goes_on: &'walk dyn Fn() -> bool,
    hand_on: &'walk mut dyn FnMut(FoundFile),
    files: usize,
    /// The files by where they lie once links are followed, and as what they were found first.
    places: HashMap<PathBuf, String>,
    skipped: Vec<SkippedPath>,
}

impl Walk<'_> {
    fn one(&mut self, path: &Path) -> ControlFlow<()> {
        match std::fs::metadata(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                self.skip(path, SkipReason::Unreadable)
            }
            // Itself it is there, then: a link that leads nowhere.
            Err(_) if path.is_symlink() => self.skip(path, SkipReason::LinkLoop),
            Err(_) => self.skip(path, SkipReason::Missing),
            Ok(metadata) if metadata.is_dir() => self.folder(path),
            Ok(metadata) if metadata.is_file() => {
                let above = path.parent().unwrap_or(Path::new(""));
                self.take(path, above, &metadata)
            }
            Ok(_) => self.skip(path, SkipReason::NotAFile),
        }
    }

    fn folder(&mut self, path: &Path) -> ControlFlow<()> {
        let above = path.parent().unwrap_or(Path::new(""));
        let mut entries = WalkDir::new(path)
            .follow_links(true)
            .max_depth(DEEPEST)
            .sort_by(|one, other| one.file_name().cmp(other.file_name()))
            .into_iter();
        while let Some(entry) = entries.next() {
            if !(self.goes_on)() {
                return ControlFlow::Break(());
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.skip(error.path().unwrap_or(path), reason(&error))?;
                    continue;
                }
            };
            if entry.depth() > 0 && is_hidden(entry.file_name()) {
                if entry.file_type().is_dir() {
                    entries.skip_current_dir();
                }
                self.skip(entry.path(), SkipReason::Hidden)?;
            } else if entry.file_type().is_dir() {
                if self.is_own(&entry) {
                    entries.skip_current_dir();
                    self.skip(entry.path(), SkipReason::OwnOutput)?;
                }
            } else if !entry.file_type().is_file() {
                self.skip(entry.path(), SkipReason::NotAFile)?;
            } else if !is_pdf(entry.path()) {
                self.skip(entry.path(), SkipReason::OtherKind)?;
            } else {
                match entry.metadata() {
                    Ok(metadata) => self.take(entry.path(), above, &metadata)?,
                    Err(error) => self.skip(entry.path(), reason(&error))?,
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Takes a file, whose place is told from `above` on.
    fn take(&mut self, path: &Path, above: &Path, metadata: &Metadata) -> ControlFlow<()> {
        let Some(shown) = path.to_str() else {
            return self.skip(path, SkipReason::NameNotText);
        };
        if self.files == MOST_FILES {
            return self.skip(path, SkipReason::TooMany);
        }
        // What can't be followed is at least itself.
        let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if let Some(first) = self.places.get(&place) {
            let same_as = Some(first.clone());
            return self.skip_as(path, SkipReason::Duplicate, same_as);
        }
        self.places.insert(place, shown.to_owned());
        self.files += 1;
        let relative = path.strip_prefix(above).unwrap_or(path);
        let relative = relative
            .components()
            .filter(|part| matches!(part, Component::Normal(_)));
        (self.hand_on)(FoundFile {
            path: path.to_owned(),
            relative: relative.collect(),
            look: Look::of(metadata),
        });
        ControlFlow::Continue(())
    }

    fn skip(&mut self, path: &Path, reason: SkipReason) -> ControlFlow<()> {
        self.skip_as(path, reason, None)
    }

    fn skip_as(
        &mut self,
        path: &Path,
        reason: SkipReason,
        same_as: Option<String>,
    ) -> ControlFlow<()> {
        let ends = self.skipped.len() == MOST_SKIPPED;
        self.skipped.push(SkippedPath {
            path: path.to_string_lossy().into_owned(),
            reason: if ends { SkipReason::TooMany } else { reason },
            same_as: same_as.filter(|_| !ends),
        });
        if ends {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn is_own(&self, entry: &DirEntry) -> bool {
        entry
            .path()
            .canonicalize()
            .is_ok_and(|path| self.own.contains(&path))
    }
}

/// Says why something could not be looked at.
fn reason(error: &walkdir::Error) -> SkipReason {
    // What is listed but not found is a link that leads nowhere.
    let leads_nowhere = error.loop_ancestor().is_some()
        || error
            .io_error()
            .is_some_and(|io| io.kind() == ErrorKind::NotFound);
    if leads_nowhere {
        SkipReason::LinkLoop
    } else {
        SkipReason::Unreadable
    }
}

fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

fn is_pdf(path: &Path) -> bool {
    path.extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("pdf"))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Found {
        files: Vec<FoundFile>,
        skipped: Vec<SkippedPath>,
    }

    fn walk(paths: &[PathBuf], own: &[PathBuf]) -> Found {
        let mut files = Vec::new();
        let skipped = super::walk(paths, own, &|| true, &mut |file| files.push(file));
        Found { files, skipped }
    }

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

    #[cfg(unix)]
    #[test]
    fn a_file_reached_in_two_ways_is_taken_once_and_the_other_way_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let file = root.join("a.pdf");
        std::fs::write(&file, "x").unwrap();
        std::os::unix::fs::symlink(&file, root.join("b.pdf")).unwrap();
        let found = walk(&[file.clone(), root.clone(), file.clone()], &[]);
        assert_eq!(found.files.len(), 1, "one file is one job");
        assert_eq!(found.skipped.len(), 3, "{:?}", found.skipped);
        for skipped in &found.skipped {
            assert_eq!(skipped.reason, SkipReason::Duplicate, "{skipped:?}");
            assert_eq!(skipped.same_as.as_deref(), file.to_str(), "{skipped:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_sockets_are_no_files_even_when_named_outright() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("drop");
        std::fs::create_dir(&root).unwrap();
        let (pipe, socket) = (root.join("pipe.pdf"), root.join("socket.pdf"));
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for paths in [vec![root], vec![pipe, socket]] {
            let found = walk(&paths, &[]);
            assert!(found.files.is_empty(), "reading a pipe would never end");
            let reasons: Vec<_> = found.skipped.iter().map(|skipped| skipped.reason).collect();
            assert_eq!(reasons, [SkipReason::NotAFile, SkipReason::NotAFile]);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_that_is_no_text_is_said_and_never_taken_for_another() {
        use std::os::unix::ffi::OsStrExt as _;

        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(OsStr::from_bytes(b"caf\xe9.pdf")), "x").unwrap();
        std::fs::write(folder.path().join("fine.pdf"), "x").unwrap();
        let found = walk(&[folder.path().to_owned()], &[]);
        assert_eq!(found.files.len(), 1);
        assert_eq!(found.skipped[0].reason, SkipReason::NameNotText);
    }

    #[test]
    fn a_walk_that_nobody_wants_any_more_ends() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..10 {
            std::fs::write(folder.path().join(format!("{number}.pdf")), "x").unwrap();
        }
        let taken = std::cell::Cell::new(0);
        let goes_on = || taken.get() < 2;
        let mut hand_on = |_| taken.set(taken.get() + 1);
        super::walk(&[folder.path().to_owned()], &[], &goes_on, &mut hand_on);
        assert_eq!(taken.get(), 2, "a cancelled scan must not walk on");
    }

    #[test]
    fn equal_names_in_different_folders_are_different_files() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["2025", "2026"] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::write(folder.path().join(name).join("report.pdf"), "x").unwrap();
        }
        assert_eq!(walk(&[folder.path().to_owned()], &[]).files.len(), 2);
    }
}
