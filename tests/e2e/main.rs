//! The whole app: the real binary with its window, driven as a person drives it, against the fake
//! Claude server, in folders that are thrown away.
//!
//! All tests are marked `ignored`, since they need a display, a message bus and a keychain:
//! `scripts/test e2e` runs them in a session of their own.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod driver;
mod flow;
mod notifications;
mod start;

/// A module that is not listed above would never run.
#[test]
fn every_file_of_this_folder_is_a_module() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e");
    let listed = std::fs::read_to_string(format!("{folder}/main.rs")).unwrap();
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || listed.contains(&format!("mod {module};")),
            "{name} is no module of main.rs"
        );
    }
}
