//! Files that the system hands over: dropped on the program's icon, or opened with it.
//!
//! Linux and Windows name them when they start the program; macOS tells a running program. They wait here until the window
//! asks for them, since it may not have been loaded yet.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Files that the window has not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Handed(Mutex<Vec<PathBuf>>);

impl Handed {
    /// The files that the program was started with.
    pub(crate) fn at_start() -> Self {
        Self(Mutex::new(paths(
            std::env::args_os().skip(1).map(PathBuf::from),
        )))
    }

    /// Hands the files out, once.
    pub(crate) fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    #[cfg(any(test, target_os = "macos"))]
    fn add(&self, files: impl IntoIterator<Item = PathBuf>) {
        let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.extend(files);
    }
}

/// Takes in files that a running program is told of.
#[cfg(target_os = "macos")]
pub(crate) fn hand_over<R: tauri::Runtime>(
    app: &tauri::AppHandle<R>,
    files: impl IntoIterator<Item = PathBuf>,
) {
    use tauri::{Emitter as _, Manager as _};

    app.state::<Handed>().add(files);
    if let Err(error) = app.emit("files-handed", ()) {
        tracing::warn!(%error, "the window could not be told of files");
    }
}

/// Returns those of the arguments that are paths, as they are seen from everywhere.
fn paths(arguments: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    arguments
        .filter(|argument| {
            !argument.as_os_str().is_empty()
                && !argument.as_os_str().as_encoded_bytes().starts_with(b"-")
        })
        .filter_map(|argument| std::path::absolute(argument).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_no_files_and_paths_hold_from_anywhere() {
        let given = ["--flag", "", "/papers/a.pdf", "b.pdf"].map(PathBuf::from);
        let here = std::env::current_dir().unwrap();
        assert_eq!(
            paths(given.into_iter()),
            [PathBuf::from("/papers/a.pdf"), here.join("b.pdf")]
        );
    }

    #[test]
    fn files_are_handed_out_once() {
        let handed = Handed::default();
        handed.add(["/a.pdf", "/b.pdf"].map(PathBuf::from));
        assert_eq!(handed.take().len(), 2);
        assert!(
            handed.take().is_empty(),
            "or a reload of the window would add them again"
        );
    }
}
