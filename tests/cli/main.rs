//! The command line as its users call it: the real binary, on temporary data.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod bucket;
mod copies;
mod crash;
mod delivery;
mod export;
mod locked;
mod long;
// Only a build that can end itself on purpose can be tested so: `--features gistmill/fault-points`.
#[cfg(all(unix, feature = "fault-points"))]
mod kill_batches;
#[cfg(all(unix, feature = "fault-points"))]
mod kill_files;
#[cfg(all(unix, feature = "fault-points"))]
mod kill_parts;
mod kill_points;
#[cfg(all(unix, feature = "fault-points"))]
mod kill_uploads;
mod killed_often;
#[cfg(target_os = "linux")]
mod memory;
mod passwords;
mod pilot;
mod preflight;
mod report;
mod reuse;
#[cfg(all(target_os = "linux", feature = "fault-points"))]
mod secrets;
mod settings;
mod steer;
#[cfg(target_os = "linux")]
mod storage;
mod support;
mod templates;
mod text_mode;
mod use_it;
mod why;

#[test]
fn every_file_of_this_folder_is_listed_above() {
    let unlisted =
        gistmill_testkit::unlisted(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/cli"));
    assert!(unlisted.is_empty(), "these tests never run: {unlisted:?}");
}
