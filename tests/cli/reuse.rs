//! What was paid for is not paid again, unless somebody wants it anew.

use gistmill_testkit::fake_claude::FakeClaude;
use serde_json::{Value, json};

use crate::support::Desk;

fn plan(desk: &Desk, arguments: &[&str]) -> Value {
    let mut all = vec!["add", "pdfs", "--queue", "high", "--dry-run"];
    all.extend(arguments);
    desk.json(&all)["plan"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_has_a_result_gets_it_again_for_nothing_and_a_dry_run_says_so() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    let before = plan(&desk, &[]);
    assert_eq!(
        (&before["toRun"], &before["reused"], &before["toFail"]),
        (&json!(2), &json!(0), &json!(0))
    );
    assert!(before["atWorstMicros"].as_i64() >= before["expectedMicros"].as_i64());
    assert_eq!(desk.json(&["jobs"])["total"], 0, "a dry run adds nothing");
    desk.text(&["add", "pdfs", "--queue", "high", "--name", "First"]);
    desk.text(&["run"]);
    assert_eq!(claude.requests().len(), 2);
    desk.put_pdfs(3);
    let planned = desk.text(&["add", "pdfs", "--queue", "high", "--dry-run"]);
    assert!(
        planned.contains("1 file would be asked.")
            && planned.contains("2 files have earlier results, reused for $0.00.")
            && planned.contains("as expected"),
        "{planned}"
    );
    let added = desk.text(&["add", "pdfs", "--queue", "high", "--name", "Second"]);
    assert!(
        added.contains("2 files have earlier results, reused for $0.00; --again asks anew."),
        "{added}"
    );
    desk.text(&["run"]);
    assert_eq!(
        claude.requests().len(),
        3,
        "only the new file was asked about"
    );
    let table = desk.text(&["jobs"]);
    assert_eq!(
        table.matches("An earlier result, reused").count(),
        2,
        "{table}"
    );
    let jobs = desk.json(&["jobs", "--search", "report-001"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let first = jobs["jobs"][1]["jobId"].as_str().unwrap();
    let shown = desk.text(&["show", id]);
    let from = format!(
        "Reused for $0.00: the result of job {}",
        &first[first.len() - 8..]
    );
    assert!(shown.contains(&from), "{shown}");
    let again = desk.text(&["add", "pdfs", "--queue", "high"]);
    assert!(
        again.contains("3 files have earlier results") && again.contains("Nothing is left"),
        "{again}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn asking_again_is_asked_and_paid() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    desk.text(&["run"]);
    assert_eq!(plan(&desk, &["--again"])["toRun"], 2);
    let added = desk.text(&["add", "pdfs", "--queue", "high", "--again"]);
    assert!(!added.contains("reused"), "{added}");
    desk.text(&["run"]);
    assert_eq!(claude.requests().len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_language_is_another_question() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    let template = ["--template", "meeting-minutes"];
    let japanese = ["--template", "Meeting minutes", "--language", "Japanese"];
    let add = |more: &[&str]| {
        let mut all = vec!["add", "pdfs", "--queue", "high"];
        all.extend(more);
        desk.text(&all)
    };
    add(&template);
    desk.text(&["run"]);
    assert_eq!(plan(&desk, &template)["reused"], 2);
    assert_eq!(plan(&desk, &japanese)["reused"], 0);
    add(&japanese);
    desk.text(&["run"]);
    let asked = claude.requests();
    assert_eq!(asked.len(), 4);
    assert!(
        asked[3].prompt.contains("Write in Japanese"),
        "the language is in the prompt"
    );
    let jobs = desk.json(&["jobs"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let shown = desk.text(&["show", id]);
    assert!(
        shown.contains("Template: meeting-minutes-v1") && shown.contains("language=Japanese"),
        "{shown}"
    );
}

#[test]
fn a_slip_in_a_variable_is_refused_before_anything_is_asked() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    for arguments in [
        &["add", "pdfs", "--language", "Japanese"][..],
        &[
            "add",
            "pdfs",
            "--template",
            "meeting-minutes",
            "--set",
            "tone=dry",
        ],
        &[
            "add",
            "pdfs",
            "--template",
            "meeting-minutes",
            "--set",
            "language",
        ],
        &["add", "--prompt", "x", "--language", "Japanese"],
        &["add", "--prompt", "x", "--dry-run"],
        &["add", "pdfs", "--template", "no-such-template"],
        &["add", "pdfs", "--template", "no-such-template", "--dry-run"],
        &[
            "add",
            "pdfs",
            "--provider",
            "offline",
            "--template",
            "contract-key-terms",
        ],
    ] {
        let said = desk.ends_with(2, arguments);
        assert!(!said.trim().is_empty(), "{arguments:?} must say why");
    }
    assert_eq!(desk.json(&["jobs"])["total"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn done_jobs_run_again_when_that_is_said_and_earlier_results_stay() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    desk.text(&["run"]);
    let jobs = desk.json(&["jobs"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let left = desk.ends_with(1, &["retry", id]);
    assert!(left.contains("--completed runs such jobs again"), "{left}");
    let planned = desk.json(&["retry", "--completed", "--all", "--dry-run"]);
    assert_eq!(planned["wouldRun"], 2, "{planned}");
    assert_eq!(
        desk.json(&["jobs", "--status", "done"])["total"],
        2,
        "nothing changed"
    );
    let retried = desk.text(&["retry", "--completed", id]);
    assert!(retried.contains("1 job is back in the queue."), "{retried}");
    desk.text(&["run"]);
    assert_eq!(claude.requests().len(), 3);
    let shown = desk.text(&["show", id]);
    assert!(
        shown.contains("Results of earlier runs:\n  run 1, "),
        "{shown}"
    );
    let older = desk.json(&["show", id])["result"]["older"].clone();
    assert_eq!(older.as_array().map(Vec::len), Some(1));
    let path = older[0]["path"].as_str().unwrap();
    assert!(
        std::path::Path::new(path).is_file(),
        "it is still there: {path}"
    );
}
