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
mod evening;
mod flow;
mod notifications;
mod start;

#[test]
fn every_file_of_this_folder_is_listed_above() {
    let unlisted = gistmill_testkit::unlisted(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/e2e"));
    assert!(unlisted.is_empty(), "these tests never run: {unlisted:?}");
}
