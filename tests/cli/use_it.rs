//! What a person does on the command line, and what it answers.

use gistmill_testkit::fake_claude::{FakeClaude, Fault, Reply, Rule};
use gistmill_testkit::pdf::{encrypted_pdf, html_page};

use crate::support::{Desk, complaint};

#[test]
fn without_a_key_pdfs_are_added_worked_and_read_offline() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    let added = desk.text(&["add", "pdfs", "--provider", "offline", "--queue", "high"]);
    assert!(added.contains("Added 2 PDFs, 2 pages."), "{added}");
    let ran = desk.text(&["run"]);
    assert!(ran.contains("2 done, 0 to review, 0 failed"), "{ran}");
    let jobs = desk.json(&["jobs"]);
    assert_eq!(jobs["total"], 2);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    // The table shows the end of an id, which is enough to name the job.
    let short = &id[id.len() - 8..];
    assert!(ran.contains(short), "{ran}");
    let summary = desk.text(&["show", short, "--result"]);
    assert!(
        summary.contains("The level rose by 2 centimetres"),
        "{summary}"
    );
    assert!(
        summary.to_lowercase().contains("offline"),
        "an extract must be labelled as one: {summary}"
    );
    assert!(
        desk.path("pdfs/report-002.summary.md").exists(),
        "a copy lands beside the PDF"
    );
    let again = desk.text(&["run"]);
    assert!(again.contains("The queue is empty"), "{again}");
}

#[tokio::test(flavor = "multi_thread")]
async fn claude_answers_and_a_failure_sets_the_exit_code() {
    let claude = FakeClaude::start().await;
    claude.script(Rule::titled("report-002", Reply::fault(Fault::PdfNotValid)));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(3);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    let ran = desk.run(&["run", "--json"]);
    assert_eq!(
        ran.status.code(),
        Some(1),
        "some failed: {}",
        complaint(&ran)
    );
    let report: serde_json::Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(
        (report["done"].as_u64(), report["failed"].as_u64()),
        (Some(2), Some(1))
    );
    let dead = desk.json(&["jobs", "--status", "dead-letters"]);
    assert_eq!(dead["total"], 1);
    assert_eq!(dead["jobs"][0]["title"], "report-002.pdf");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_key_ends_the_run_with_the_reason_and_keeps_the_jobs() {
    let claude = FakeClaude::start().await;
    claude.script(Rule::always(Reply::fault(Fault::Authentication)));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    let ran = desk.run(&["run"]);
    assert_eq!(ran.status.code(), Some(3), "a person is needed");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        said.contains("2 jobs are still waiting.") && said.contains("key"),
        "{said}"
    );
    let status = desk.text(&["status"]);
    assert!(
        status.contains("0 running, 2 waiting, 0 done, 0 to review, 0 failed"),
        "{status}"
    );
}

#[test]
fn bad_files_are_named_with_their_reasons() {
    let desk = Desk::new();
    desk.put_pdfs(1);
    desk.put("pdfs/saved-page.pdf", &html_page());
    desk.put("pdfs/locked.pdf", &encrypted_pdf(&["Secret."], "password"));
    desk.put("pdfs/notes.txt", b"not a pdf");
    let added = desk.text(&["add", "pdfs", "--provider", "offline", "--queue", "high"]);
    assert!(
        added.contains("2 files can't be summarized as they are"),
        "{added}"
    );
    assert!(
        added.contains("locked.pdf: ") && added.contains("saved-page.pdf: "),
        "{added}"
    );
    assert!(added.contains("Left out: 1 of another kind."), "{added}");
    let ran = desk.text(&["run"]);
    assert!(
        ran.contains("1 done, 0 to review, 0 failed"),
        "the good file goes on: {ran}"
    );
}

#[test]
fn a_call_that_cannot_work_says_why_and_stores_nothing() {
    let desk = Desk::new();
    for arguments in [
        &["add", "nowhere.pdf"][..],
        &["add", "--prompt", "   "],
        &["show", "0197"],
        &["retry", "0197"],
        &["add", "--prompt", "x", "--queue", "middle"],
        &["add"],
    ] {
        let output = desk.run(arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            complaint(&output)
        );
        assert!(!complaint(&output).is_empty(), "{arguments:?} must say why");
        assert!(
            !complaint(&output).contains("panicked"),
            "{}",
            complaint(&output)
        );
    }
    assert_eq!(desk.json(&["jobs"])["total"], 0);
}

#[test]
fn without_a_keychain_the_key_commands_say_what_to_do() {
    let desk = Desk::new();
    let tested = desk.run(&["key", "test"]);
    assert_eq!(tested.status.code(), Some(3));
    assert!(
        complaint(&tested).contains("offline"),
        "{}",
        complaint(&tested)
    );
    let status = desk.text(&["status"]);
    assert!(status.contains("API key: none"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_run_beside_the_first_ends_with_its_own_code() {
    let claude = FakeClaude::start().await;
    claude.script(Rule::always(Reply::slow(300)));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    let first = desk.start(&["run"]);
    claude.arrived(1).await;
    let second = desk.run(&["run"]);
    assert_eq!(second.status.code(), Some(4), "{}", complaint(&second));
    let status = desk.text(&["status"]);
    assert!(
        status.contains("A Gistmill is working the queue."),
        "{status}"
    );
    assert!(first.ended().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_tested_by_a_free_call() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    let said = desk.text(&["key", "test"]);
    assert!(
        said.contains("The key works.") && said.contains("claude-sonnet-4-6"),
        "{said}"
    );
    assert!(
        said.contains("The price of claude-sonnet-4-6 is known.")
            && said.contains("1,000 requests"),
        "{said}"
    );
    assert!(!said.contains("sk-ant-test"), "a key is never printed");
    desk.text(&["config", "set", "model", "claude-opus-4-5"]);
    let said = desk.text(&["key", "test"]);
    assert!(said.contains("Use claude-opus-5-5 instead."), "{said}");
    assert!(
        desk.text(&["status"]).contains("2027-01-22"),
        "the end is told there, too"
    );
    desk.text(&["config", "set", "model", "no-such-model"]);
    let said = desk.ends_with(1, &["key", "test"]);
    assert!(
        said.contains("It may not use no-such-model")
            && said.contains("gistmill prices free no-such-model"),
        "{said}"
    );
    assert!(
        claude.requests().is_empty(),
        "testing a key must cost nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn another_endpoint_is_a_command_away() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    let url = claude.url();
    let said = desk.text(&[
        "endpoint",
        "use",
        "ollama",
        "--address",
        &url,
        "--model",
        "llama3.3",
    ]);
    assert!(
        said.contains("(Ollama)") && said.contains("The text of PDFs is sent"),
        "{said}"
    );
    assert!(said.contains("Authorization: Bearer"), "{said}");
    assert!(
        desk.text(&["prices"]).contains("llama3.3"),
        "it is marked as free"
    );
    assert_eq!(desk.json(&["endpoint"])["textOnly"], true);
    let kept = desk.told(
        &["endpoint", "headers", "--stdin"],
        "X-Gate: open\nnonsense\n",
    );
    assert_eq!(
        kept.status.code(),
        Some(2),
        "what is no header is refused by its line"
    );
    let said = desk.text(&["endpoint", "use", "litellm", "--address", &url]);
    assert!(said.contains("Expected there: PDFs"), "{said}");
    let said = desk.ends_with(2, &["endpoint", "use", "other"]);
    assert!(said.contains("Give its address"), "{said}");
}

#[test]
fn files_that_were_named_from_one_folder_are_found_from_another() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    let folder = desk.path("");
    let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let roundabout = format!("../{name}/pdfs/report-002.pdf");
    for path in ["pdfs/report-001.pdf", &roundabout] {
        desk.text(&["add", path, "--provider", "offline", "--queue", "high"]);
    }
    let run = desk.gistmill(&["run"]).current_dir("/").output().unwrap();
    assert!(run.status.success(), "{run:?}");
    for job in desk.json(&["jobs"])["jobs"].as_array().unwrap() {
        let path = job["sourcePath"].as_str().unwrap();
        assert!(
            path.starts_with('/') && !path.contains(".."),
            "a path must mean the same file from everywhere: {path}"
        );
    }
}
