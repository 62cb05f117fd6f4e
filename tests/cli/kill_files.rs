//! Killed while a large PDF lies at the provider, the next start removes it there and asks anew.

use std::os::unix::process::ExitStatusExt as _;

use gistmill_testkit::fake_claude::FakeClaude;
use gistmill_testkit::pdf::images_pdf;

use crate::support::{Desk, until};

/// Signal 9, which no program can catch.
const KILL: i32 = 9;

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_a_file_is_lent_it_is_removed_at_the_next_start() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    // A gateway that passes everything on to Anthropic.
    desk.text(&["config", "set", "endpoint", "anthropic"]);
    desk.put_pdfs(1);
    let large = desk.put("pdfs/large.pdf", b"");
    images_pdf(&large, 6, 4_200_000);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    let killed = desk
        .gistmill(&["run"])
        .env("GISTMILL_KILL_AT", "lent:1")
        .output()
        .unwrap();
    assert_eq!(killed.status.signal(), Some(KILL), "{killed:?}");
    let left: Vec<_> = claude.files();
    assert_eq!(left.len(), 1);
    assert!(!left[0].deleted && left[0].reads == 0);

    let mut working = desk.start(&["run"]);
    until(
        || {
            let files = claude.files();
            (files.len() == 2 && files.iter().all(|file| file.deleted)).then_some(())
        },
        || format!("files are left: {:?}", claude.files()),
    );
    until(
        || (!working.runs()).then_some(()),
        || "the queue is not worked to its end".to_owned(),
    );
    assert_eq!(desk.json(&["status"])["counts"]["done"], 2);
    assert_eq!(claude.files()[1].reads, 1);
}
