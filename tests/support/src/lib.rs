//! What the tests stand on: a fake Claude server and a second one, an S3 server with faults, generated PDFs, and a
//! look at the test folders.

pub mod aimock;
pub mod fake_claude;
pub mod fault_proxy;
pub mod pdf;
pub mod receiver;
pub mod seaweed;
pub mod tls;

use std::path::Path;

/// Returns the files of a test folder that its `main.rs` does not list, whose tests never run.
///
/// # Panics
/// When the folder can't be read.
#[must_use]
#[expect(
    clippy::expect_used,
    reason = "a test that can't see its folder has failed"
)]
pub fn unlisted(folder: impl AsRef<Path>) -> Vec<String> {
    let folder = folder.as_ref();
    let main =
        std::fs::read_to_string(folder.join("main.rs")).expect("a test folder has a main.rs");
    let is_listed = |module: &str| {
        main.lines()
            .any(|line| line.trim() == format!("mod {module};"))
    };
    std::fs::read_dir(folder)
        .expect("a test folder can be read")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| {
            name.strip_suffix(".rs")
                .is_some_and(|module| module != "main" && !is_listed(module))
        })
        .collect()
}
