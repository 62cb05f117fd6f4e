//! Steering many jobs at once: what a dry run counts is what is done then, and what is set is shown.

use gistmill_testkit::fake_claude::{FakeClaude, Fault, Reply, Rule};
use serde_json::{Value, json};

use crate::support::{Desk, until};

/// Runs a call with `--dry-run` and then without, and returns what both said alike.
fn planned_and_done(desk: &Desk, arguments: &[&str]) -> Value {
    let mut dry = arguments.to_vec();
    dry.push("--dry-run");
    let planned = desk.json(&dry);
    assert_eq!(
        planned,
        desk.json(&dry),
        "{arguments:?}: a dry run changes nothing"
    );
    let done = desk.json(arguments);
    assert_eq!(
        planned, done,
        "{arguments:?}: what was counted is what is done"
    );
    done
}

/// A desk with four PDFs in bulk, held back for an hour, and two prompts in high.
fn desk_with_six() -> Desk {
    let desk = Desk::new();
    desk.text(&["queues", "set", "bulk", "--delay", "3600"]);
    desk.put_pdfs(4);
    desk.text(&["add", "pdfs"]);
    desk.text(&["add", "--prompt", "Name three rivers."]);
    desk.text(&["add", "--prompt", "Name three lakes."]);
    desk
}

fn affected(jobs: u64, unchanged: u64) -> Value {
    json!({ "jobs": jobs, "unchanged": unchanged })
}

#[test]
fn every_action_does_what_its_dry_run_counts() {
    let desk = desk_with_six();
    for (arguments, expected) in [
        (&["pause", "--queue", "bulk"][..], affected(4, 0)),
        (&["pause", "--all"], affected(2, 4)),
        (&["resume", "--search", "report-001"], affected(1, 0)),
        (&["resume", "--all"], affected(5, 1)),
        (&["run-now", "--search", "report-001"], affected(1, 0)),
        (&["run-now", "--all"], affected(3, 3)),
        (&["move-to", "high", "--search", "report"], affected(4, 0)),
        (&["move-to", "bulk", "--status", "waiting"], affected(6, 0)),
        (&["cancel", "--search", "report-002"], affected(1, 0)),
        (&["cancel", "--queue", "bulk"], affected(5, 1)),
        (
            &[
                "purge",
                "--status",
                "cancelled",
                "--search",
                "rivers",
                "--yes",
            ],
            affected(1, 0),
        ),
        (&["purge", "--all", "--yes"], affected(5, 0)),
    ] {
        assert_eq!(
            planned_and_done(&desk, arguments),
            expected,
            "{arguments:?}"
        );
    }
    assert_eq!(desk.json(&["jobs"])["total"], 0);
}

#[test]
fn jobs_are_paused_by_id_and_by_batch_and_shown_as_paused() {
    let desk = desk_with_six();
    let jobs = desk.json(&["jobs", "--search", "report"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let batch = jobs["jobs"][0]["batchId"].as_str().unwrap();
    assert_eq!(desk.json(&["pause", id]), affected(1, 0));
    let shown = desk.json(&["show", id]);
    assert_eq!(
        (&shown["job"]["paused"], &shown["job"]["waiting"]["reason"]),
        (&json!(true), &json!("job-paused"))
    );
    desk.ends_with(1, &["pause", id]);
    // The end of a batch's id, as the table of batches shows it.
    let short = &batch[batch.len() - 8..];
    assert_eq!(desk.json(&["pause", "--batch", short]), affected(3, 1));
    let table = desk.text(&["jobs", "--batch", batch]);
    assert_eq!(
        table.matches("paused").count(),
        8,
        "state and remark of four: {table}"
    );
    assert_eq!(desk.json(&["resume", "--batch", batch]), affected(4, 0));
}

#[test]
fn removing_is_agreed_to_first() {
    let desk = desk_with_six();
    let refused = desk.ends_with(2, &["purge", "--all"]);
    assert!(
        refused.contains("This removes 6 jobs for good") && refused.contains("--yes"),
        "{refused}"
    );
    assert_eq!(desk.json(&["jobs"])["total"], 6, "nothing was removed");
    let counted = desk.text(&["purge", "--search", "report", "--dry-run"]);
    assert_eq!(counted.trim(), "4 jobs would be removed.");
}

#[tokio::test(flavor = "multi_thread")]
async fn dead_letters_are_run_again_by_cause_and_what_cannot_run_is_named() {
    let claude = FakeClaude::start().await;
    for title in ["report-001", "report-002", "report-003"] {
        claude.script(Rule::titled(title, Reply::fault(Fault::ContentFiltered)).times(1));
    }
    claude.script(Rule::titled("report-004", Reply::fault(Fault::PromptTooLong)).times(1));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(5);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    desk.ends_with(1, &["run"]);
    let groups = desk.json(&["dead-letters"]);
    let counted: Vec<_> = groups
        .as_array()
        .unwrap()
        .iter()
        .map(|group| {
            (
                group["cause"].as_str().unwrap(),
                group["jobs"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        counted,
        [("content-filtered", 3), ("prompt-too-long", 1)],
        "{groups}"
    );
    let shown = desk.text(&["dead-letters"]);
    assert!(
        shown.contains("content-filtered  3 jobs") && shown.contains("report-004.pdf"),
        "{shown}"
    );

    std::fs::remove_file(desk.path("pdfs/report-002.pdf")).unwrap();
    let by_cause = ["retry", "--cause", "content-filtered", "--json"];
    let plan: Value =
        serde_json::from_str(&desk.ends_with(1, &[&by_cause[..], &["--dry-run"]].concat()))
            .unwrap();
    assert_eq!(plan["wouldRun"], 2, "{plan}");
    assert_eq!(
        plan["wouldNot"],
        json!([{ "reason": { "why": "file-missing" }, "jobs": 1 }])
    );
    let expected = plan["expectedMicros"].as_i64().unwrap();
    let at_worst = plan["atWorstMicros"].as_i64().unwrap();
    assert!(0 < expected && expected < at_worst, "{plan}");
    let free = desk.run(&[
        "retry",
        "--all",
        "--provider",
        "offline",
        "--dry-run",
        "--json",
    ]);
    let free: Value = serde_json::from_slice(&free.stdout).unwrap();
    assert_eq!(
        (&free["wouldRun"], &free["atWorstMicros"]),
        (&json!(3), &json!(0)),
        "{free}"
    );

    let done: Value = serde_json::from_str(&desk.ends_with(1, &by_cause)).unwrap();
    assert_eq!(done, affected(2, 1), "as planned");
    assert_eq!(
        desk.json(&[
            "redrive",
            "--cause",
            "prompt-too-long",
            "--max-tokens",
            "500"
        ]),
        affected(1, 0),
        "redrive is another word for retry"
    );
    desk.text(&["run"]);
    let counts = &desk.json(&["status"])["counts"];
    assert_eq!(
        (&counts["done"], &counts["deadLetters"]),
        (&json!(4), &json!(1)),
        "{counts}"
    );
    let shortened = claude.requests().into_iter().filter(|request| {
        request.max_tokens == Some(500)
            && request.documents[0].title.as_deref() == Some("report-004.pdf")
    });
    assert_eq!(shortened.count(), 1, "the change was asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_moved_to_the_top_goes_first() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(3);
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
    let id = |title: &str| {
        let found = desk.json(&["jobs", "--search", title]);
        found["jobs"][0]["jobId"].as_str().unwrap().to_owned()
    };
    let [first, last] = [id("report-001"), id("report-003")];
    assert_eq!(desk.json(&["move", &last, "top"])["moved"], true);
    assert_eq!(
        desk.json(&["move", &last, "up"])["moved"],
        false,
        "there is nothing before it"
    );
    assert_eq!(desk.json(&["move", &first, "bottom"])["moved"], true);
    assert_eq!(desk.json(&["move", &first, "up"])["moved"], true);
    assert_eq!(desk.json(&["move", &first, "down"])["moved"], true);
    desk.text(&["run"]);
    let sent: Vec<_> = claude
        .requests()
        .into_iter()
        .filter_map(|request| request.documents.first()?.title.clone())
        .collect();
    assert_eq!(sent, ["report-003.pdf", "report-002.pdf", "report-001.pdf"]);
    let refused = desk.ends_with(2, &["move", &first, "top"]);
    assert!(refused.contains("does not wait"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_added_beside_a_working_program_are_picked_up_at_once() {
    let claude = FakeClaude::start().await;
    // Keeps the program at work while others are added.
    claude.script(Rule::titled("report-001", Reply::Hang));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(1);
    desk.text(&["add", "pdfs", "--queue", "high"]);
    let _run = desk.start(&["run"]);
    claude.arrived(1).await;
    let mut waits = Vec::new();
    for number in 0..5 {
        let prompt = format!("Name {number} rivers.");
        let added = desk.json(&["add", "--prompt", &prompt]);
        let id = added["jobIds"][0].as_str().unwrap();
        let waited = until(
            || desk.json(&["show", id])["attempts"][0]["waitedMs"].as_u64(),
            || format!("the job is not picked up:\n{}", desk.text(&["status"])),
        );
        waits.push(waited);
    }
    // The other program looks every 300 ms; a busy machine may add to it now and then.
    let soonest = waits.iter().min().unwrap();
    assert!(*soonest <= 500, "waited {waits:?} ms");
    assert!(
        waits.iter().all(|waited| *waited < 10_000),
        "waited {waits:?} ms"
    );
}
