//! What the program takes of memory while it sends large files.

use std::time::Duration;

use gistmill_testkit::fake_claude::{FakeClaude, Reply, Rule};
use gistmill_testkit::pdf::images_pdf;

use crate::support::Desk;

/// Files under way at once, and the bytes of each.
const FILES: usize = 10;
const BYTES: usize = 20_000_000;
/// The most memory that the program may take in all, in kilobytes.
const MOST: u64 = 200_000;
/// Enough small files for the slow start to come to ten calls at once.
const WARMING_UP: usize = 40;
/// Longest that all of them may take to arrive, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

#[tokio::test(flavor = "multi_thread")]
#[expect(clippy::print_stdout, reason = "the figure is what is looked for")]
async fn ten_large_pdfs_are_sent_at_once_in_little_memory() {
    let claude = FakeClaude::start().await;
    // None is answered until all have arrived, so all of them are under way at once.
    claude.script(Rule::titled("large", Reply::Hang));
    claude.script(Rule::always(Reply::slow(5)));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(WARMING_UP);
    std::fs::create_dir_all(desk.path("large")).unwrap();
    for number in 0..FILES {
        let path = desk.path(&format!("large/large-{number}.pdf"));
        images_pdf(&path, 1, BYTES + number);
    }
    desk.text(&["add", "pdfs", "--queue", "high"]);
    desk.text(&["add", "large", "--queue", "high"]);
    let working = desk.start(&["run"]);
    let arrived = claude.arrived(WARMING_UP + FILES);
    let in_time = tokio::time::timeout(PATIENCE, arrived).await;
    let large: Vec<_> = claude
        .requests()
        .into_iter()
        .filter(|request| request.body_bytes > BYTES)
        .collect();
    assert!(
        in_time.is_ok(),
        "of {FILES} large files {} are under way:\n{}",
        large.len(),
        desk.text(&["status"])
    );
    assert_eq!(large.len(), FILES, "each is under way once");
    for request in &large {
        assert!(request.documents[0].bytes > BYTES, "it arrived whole");
    }
    let taken = working.most_kilobytes();
    println!("ten PDFs of 20 MB under way took {taken} kB");
    assert!(
        taken < MOST,
        "the program took {taken} kB of memory for files that it should read while it sends them"
    );
}
