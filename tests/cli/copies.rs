//! Copies that could not be made: why, and how they are made after all.

use serde_json::json;

use crate::support::Desk;

/// A desk whose output folder has become a file, so that no copy can be made there.
fn desk_without_room() -> Desk {
    let desk = Desk::new();
    desk.text(&["config", "set", "output-folder", "out"]);
    desk.text(&["config", "set", "copies-to", "folder"]);
    std::fs::remove_dir(desk.path("out")).unwrap();
    desk.put("out", b"in the way");
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--provider", "offline", "--queue", "high"]);
    desk.text(&["run"]);
    desk
}

#[test]
fn a_copy_that_could_not_be_made_says_why_and_is_made_when_it_can_be() {
    let desk = desk_without_room();
    let jobs = desk.json(&["jobs"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let shown = desk.text(&["show", id]);
    assert!(shown.contains("No copy: "), "{shown}");
    std::fs::remove_file(desk.path("out")).unwrap();
    std::fs::create_dir(desk.path("out")).unwrap();
    let retried = desk.text(&["copies", "retry", id]);
    assert!(
        retried.starts_with("1 copy is made as soon as"),
        "{retried}"
    );
    assert_eq!(desk.json(&["copies", "retry"]), json!({ "copies": 2 }));
    desk.text(&["run"]);
    let shown = desk.text(&["show", id]);
    assert!(
        shown.contains("Copy: ") && !shown.contains("No copy"),
        "{shown}"
    );
}

#[test]
fn where_no_copy_is_missing_there_is_nothing_to_do() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--provider", "offline", "--queue", "high"]);
    desk.text(&["run"]);
    let said = desk.text(&["copies", "retry", "--status", "done"]);
    assert!(said.starts_with("No copy is missing"), "{said}");
    desk.ends_with(2, &["copies", "retry", "no-such-job"]);
    desk.ends_with(2, &["copies"]);
}
