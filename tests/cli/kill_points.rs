//! Killed between any two durable steps of an attempt, every job ends with one result, and no answer that
//! was kept is bought again.

use std::os::unix::process::ExitStatusExt as _;

use gistmill_testkit::fake_claude::FakeClaude;

use crate::support::Desk;

const JOBS: usize = 6;

/// Signal 9, which no program can catch.
const KILL: i32 = 9;

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_point_nothing_is_lost_and_nothing_kept_is_bought_twice() {
    for (point, kept) in [
        ("reserved", false),
        ("answered", false),
        ("kept", true),
        ("stored", true),
        ("completed", true),
    ] {
        let claude = FakeClaude::start().await;
        let desk = Desk::asking(&claude);
        desk.put_pdfs(JOBS);
        desk.text(&[
            "queues",
            "set",
            "high",
            "--concurrency",
            "1",
            "--batch-size",
            "1",
        ]);
        desk.text(&["add", "pdfs", "--queue", "high"]);
        for time in [1, 2] {
            let killed = desk
                .gistmill(&["run"])
                .env("GISTMILL_KILL_AT", format!("{point}:{time}"))
                .output()
                .unwrap();
            assert_eq!(
                killed.status.signal(),
                Some(KILL),
                "{point}:{time} must end the program: {killed:?}"
            );
        }
        desk.text(&["run"]);
        let counts = &desk.json(&["status"])["counts"];
        assert_eq!(counts["done"], JOBS, "{point}: {counts}");
        let results = std::fs::read_dir(desk.path("data/results"))
            .unwrap()
            .count();
        assert_eq!(results, JOBS, "{point}: each result is stored once");
        let jobs = desk.json(&["jobs"]);
        let attempts: u64 = jobs["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|job| job["attempts"].as_u64())
            .sum();
        let sent = claude.requests().len();
        if kept {
            assert_eq!(sent, JOBS, "{point}: what was kept is not bought again");
        } else {
            assert!(
                JOBS <= sent && sent as u64 <= attempts,
                "{point}: {sent} requests, but {attempts} attempts tell of them"
            );
        }
        let unknown = &desk.json(&["status"])["budget"]["day"]["unknownMicros"];
        assert_eq!(
            unknown.as_i64().unwrap() > 0,
            !kept,
            "{point}: a call whose end nobody knows counts at its worst: {unknown}"
        );
    }
}

#[test]
fn a_moment_that_does_not_exist_is_refused() {
    let desk = Desk::new();
    for wish in ["later:1", "kept", "kept:0"] {
        let refused = desk
            .gistmill(&["status"])
            .env("GISTMILL_KILL_AT", wish)
            .output()
            .unwrap();
        assert_eq!(refused.status.code(), Some(2), "{wish}: {refused:?}");
    }
}
