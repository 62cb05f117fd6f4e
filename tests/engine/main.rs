//! Engine tests: behaviour a person cares about, on temporary data and a clock that tests turn.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests stop the test when they can't go on"
)]

mod about;
mod aimock;
mod bad_day;
mod batch_lane;
mod batch_lane_trouble;
mod bucket;
mod claude;
mod claude_asked;
mod claude_errors;
mod claude_faults;
mod claude_key;
mod claude_stream;
mod claude_tls;
mod claude_transport;
mod copies;
mod delivery;
mod endpoints;
mod estimates;
mod exports;
mod files;
mod forecast;
mod intake;
mod lifecycle;
mod limits;
mod money;
mod offline;
mod outbox;
mod pace;
mod parts;
mod parts_divided;
mod pdf;
mod pdf_children;
mod pdf_copies;
mod pdf_facts;
mod pictures;
mod pilot;
mod private;
mod queue;
mod reading;
mod reports;
mod reuse;
mod scans;
mod scenarios;
mod seed;
mod shapes;
mod support;
mod templates;
mod text_mode;
mod unlock;
mod uploads;

#[test]
fn every_file_of_this_folder_is_listed_above() {
    let unlisted =
        gistmill_testkit::unlisted(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/engine"));
    assert!(unlisted.is_empty(), "these tests never run: {unlisted:?}");
}
