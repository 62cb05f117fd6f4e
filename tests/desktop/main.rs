//! The shell on Tauri's mock runtime: that each command exists under the name and with the
//! arguments that the interface uses, and that what goes wrong reaches it as a `Problem`.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod answers;
mod configuration;
mod contract;
mod shell;

#[test]
fn every_file_of_this_folder_is_listed_above() {
    let unlisted =
        gistmill_testkit::unlisted(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/desktop"));
    assert!(unlisted.is_empty(), "these tests never run: {unlisted:?}");
}
