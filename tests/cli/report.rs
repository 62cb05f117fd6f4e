//! What became of a batch, and batches by their names.

use gistmill_testkit::fake_claude::{FakeClaude, Fault, Reply, Rule};
use serde_json::json;

use crate::support::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn a_report_says_how_jobs_ended_and_its_commands_run_them_again() {
    let claude = FakeClaude::start().await;
    claude.script(Rule::titled("report-002", Reply::fault(Fault::ContentFiltered)).times(1));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(3);
    desk.text(&["add", "pdfs", "--queue", "high", "--name", "Rivers"]);
    desk.ends_with(1, &["run"]);
    let report = desk.text(&["batches", "report", "Rivers"]);
    for words in [
        "3 jobs, 3 pages, pdf-summarize-v1, claude-sonnet-4-6",
        "What to do next",
        "1 job failed (content-filtered): ",
        "Spent: $0.",
        "Forecast: $",
        "A typical job waited ",
        "SLOWEST",
        "DEAREST",
    ] {
        assert!(report.contains(words), "“{words}” is missing:\n{report}");
    }
    let told = desk.json(&["batches", "report", "Rivers"]);
    assert_eq!(
        (
            &told["batch"]["counts"]["done"],
            &told["batch"]["counts"]["deadLetters"]
        ),
        (&json!(2), &json!(1))
    );
    let command = report
        .lines()
        .find_map(|line| line.trim().strip_prefix("gistmill "))
        .unwrap();
    let command = command.replace("MODEL", "claude-sonnet-4-6");
    let retried = desk.text(&command.split(' ').collect::<Vec<_>>());
    assert!(retried.contains("1 job is back in the queue."), "{retried}");
    desk.text(&["run"]);
    let report = desk.text(&["batches", "report", "Rivers"]);
    assert!(!report.contains("What to do next"), "{report}");
}

#[test]
fn a_finished_batch_names_the_files_that_it_left() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    desk.text(&["config", "set", "output-folder", "out"]);
    desk.text(&["config", "set", "copies-to", "folder"]);
    desk.text(&[
        "add",
        "pdfs",
        "--provider",
        "offline",
        "--queue",
        "high",
        "--name",
        "Rivers",
    ]);
    desk.text(&["run"]);
    let files = desk.json(&["batches", "report", "Rivers"])["files"].clone();
    let files = files.as_array().unwrap();
    assert_eq!(files.len(), 2, "a table and a document: {files:?}");
    let report = desk.text(&["batches", "report", "Rivers"]);
    for path in files {
        let path = path.as_str().unwrap();
        assert!(std::path::Path::new(path).is_file(), "{path}");
        assert!(report.contains(path), "{report}");
    }
}

#[test]
fn a_batch_is_named_wherever_its_id_is() {
    let desk = Desk::new();
    desk.text(&["queues", "pause", "all"]);
    desk.text(&["add", "--prompt", "Name three lakes.", "--name", "Lakes"]);
    desk.text(&["add", "--prompt", "Name three rivers.", "--name", "Rivers"]);
    assert_eq!(desk.json(&["jobs", "--batch", "Lakes"])["total"], 1);
    assert_eq!(
        desk.json(&["pause", "--batch", "Lakes"]),
        json!({ "jobs": 1, "unchanged": 0 })
    );
    desk.text(&["batches", "pause", "Rivers"]);
    desk.text(&["batches", "cap", "Rivers", "2"]);
    let rivers = &desk.json(&["batches"])[0];
    assert_eq!(
        (&rivers["paused"], &rivers["money"]["capMicros"]),
        (&json!(true), &json!(2_000_000))
    );
    let report = desk.text(&["batches", "report", "Rivers"]);
    assert!(
        report.contains("1 job has not ended yet") && report.contains("It is paused"),
        "{report}"
    );
    // Of two with the same name nobody knows which is meant.
    desk.text(&["add", "--prompt", "Name three more.", "--name", "Lakes"]);
    let refused = desk.ends_with(2, &["batches", "pause", "Lakes"]);
    assert!(refused.contains("Lakes"), "{refused}");
    desk.ends_with(2, &["batches", "report", "no-such-batch"]);
}

#[test]
fn every_batch_is_listed_when_all_are_asked_for() {
    let desk = Desk::new();
    for number in 1..=12 {
        let name = format!("Number {number}");
        desk.text(&["add", "--prompt", "Name a lake.", "--name", &name]);
    }
    assert_eq!(desk.json(&["batches"]).as_array().map(Vec::len), Some(10));
    assert!(desk.text(&["batches"]).contains("--all lists every batch"));
    let all = desk.json(&["batches", "--all"]);
    let names: Vec<_> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|batch| batch["name"].as_str().unwrap())
        .collect();
    let expected: Vec<_> = (1..=12)
        .rev()
        .map(|number| format!("Number {number}"))
        .collect();
    assert_eq!(names, expected, "newest first, each once");
    // Older ones are found by their names, too.
    assert_eq!(desk.json(&["jobs", "--batch", "Number 1"])["total"], 1);
}
