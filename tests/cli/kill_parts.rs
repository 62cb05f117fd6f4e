//! Killed between any two durable steps of a long document, no part that is kept is asked again, and what was
//! sent as a private copy is gone.

use std::os::unix::process::ExitStatusExt as _;

use gistmill_testkit::fake_claude::{FakeClaude, Reply, Rule};
use gistmill_testkit::pdf::numbered_pdf;

use crate::support::{Desk, until};

/// Signal 9, which no program can catch.
const KILL: i32 = 9;
/// Two parts and the call that puts them together, of each of two documents.
const CALLS: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_the_parts_no_part_that_is_kept_is_bought_again() {
    for (point, times, kept) in [
        ("reserved", [1, 2], false),
        ("answered", [1, 2], false),
        ("part-kept", [1, 2], true),
        // What is kept is published by the second run, which keeps only the answer of the other document.
        ("kept", [1, 1], true),
        ("stored", [1, 2], true),
    ] {
        let claude = FakeClaude::start().await;
        let desk = Desk::asking(&claude);
        desk.put("pdfs/a.pdf", &numbered_pdf(150));
        desk.put("pdfs/b.pdf", &numbered_pdf(120));
        for (option, value) in [("--concurrency", "1"), ("--batch-size", "1")] {
            desk.text(&["queues", "set", "high", option, value]);
        }
        desk.text(&["config", "set", "tokens-per-minute", "10000000"]);
        desk.text(&[
            "add",
            "pdfs",
            "--queue",
            "high",
            "--model",
            "claude-haiku-4-5",
        ]);
        for time in times {
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
        assert_eq!(counts["done"], 2, "{point}: {counts}");
        let sent = claude.requests().len();
        if kept {
            assert_eq!(sent, CALLS, "{point}: what is kept is not bought again");
        } else {
            assert!(
                (CALLS..=CALLS + 2).contains(&sent),
                "{point}: {sent} requests, though only two were cut off"
            );
        }
        let private = desk.path("data/private");
        let left: Vec<_> = std::fs::read_dir(&private).unwrap().collect();
        assert!(left.is_empty(), "{point}: copies are left: {left:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_was_being_sent_when_the_program_was_killed_is_removed_at_the_next_start() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put("pdfs/a.pdf", &numbered_pdf(150));
    desk.put("pdfs/b.pdf", &numbered_pdf(120));
    desk.text(&[
        "add",
        "pdfs",
        "--queue",
        "high",
        "--model",
        "claude-haiku-4-5",
    ]);
    desk.text(&["config", "set", "tokens-per-minute", "10000000"]);
    // Both stand while their copies are there.
    claude.script(Rule::always(Reply::Hang).times(2));
    let mut run = desk.start(&["run"]);
    let arrived = || claude.requests().len();
    until(
        || (arrived() == 2).then_some(()),
        || format!("waited for two calls, not {}", arrived()),
    );
    assert!(run.runs(), "it waits for its answers");
    // Kills it.
    drop(run);
    let private = desk.path("data/private");
    let names = || -> Vec<_> {
        std::fs::read_dir(&private)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    };
    let left = names();
    assert_eq!(left.len(), 2, "the copies were there when they were sent");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode =
            |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&private), 0o700, "nobody else enters");
        for path in &left {
            assert_eq!(mode(path), 0o600, "{} is its owner's", path.display());
        }
    }
    desk.text(&["run"]);
    assert!(names().is_empty(), "{:?}", names());
}
