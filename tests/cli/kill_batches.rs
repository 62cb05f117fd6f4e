//! Killed between any two durable steps of what goes by the batch API, nothing is sent twice, no result is lost,
//! and the ledger is the bill.

use std::os::unix::process::ExitStatusExt as _;

use gistmill_testkit::fake_claude::{
    BatchSettings, Call, FakeClaude, Options, Reply, Rule, Scenario,
};

use crate::support::{Desk, until};

/// Signal 9, which no program can catch.
const KILL: i32 = 9;
/// Jobs of each test.
const JOBS: usize = 4;
/// How often the batch API is asked, and how long its list may trail behind, in milliseconds.
const PACE: &str = "100:1500";

async fn claude() -> FakeClaude {
    FakeClaude::start_with(Options {
        scenario: Scenario {
            batches: BatchSettings {
                // They end at once.
                seconds: 0,
                ..BatchSettings::default()
            },
            ..Scenario::default()
        },
        ..Options::default()
    })
    .await
    .unwrap()
}

/// Returns a desk with some PDFs that are to go by the batch API together.
fn desk(claude: &FakeClaude) -> Desk {
    let desk = Desk::asking(claude).with("GISTMILL_BATCH_PACE", PACE);
    desk.put_pdfs(JOBS);
    for (option, value) in [
        ("--delivery", "batch"),
        ("--batch-wait", "0"),
        ("--delay", "0"),
    ] {
        desk.text(&["queues", "set", "bulk", option, value]);
    }
    desk.text(&["add", "pdfs", "--queue", "bulk"]);
    desk
}

/// Ends the program at a moment, which it must come to.
fn kill(desk: &Desk, moment: &str) {
    let killed = desk
        .gistmill(&["run"])
        .env("GISTMILL_KILL_AT", moment)
        .output()
        .unwrap();
    assert_eq!(
        killed.status.signal(),
        Some(KILL),
        "{moment} must end the program: {killed:?}"
    );
}

/// Checks that every job is done by one batch, once, and that the ledger is the bill.
fn check(desk: &Desk, claude: &FakeClaude, moment: &str) {
    let status = desk.json(&["status"]);
    assert_eq!(status["counts"]["done"], JOBS, "{moment}: {status}");
    let batches = claude.batches();
    assert_eq!(batches.len(), 1, "{moment}: nothing is sent twice");
    assert_eq!(batches[0].requests.len(), JOBS, "{moment}");
    let month = &status["budget"]["month"];
    assert_eq!(
        (
            month["settledMicros"].as_u64(),
            month["reservedMicros"].as_u64(),
            month["unknownMicros"].as_u64()
        ),
        (Some(claude.billed()), Some(0), Some(0)),
        "{moment}: the ledger is the bill"
    );
    for job in desk.json(&["jobs"])["jobs"].as_array().unwrap() {
        let result = desk.text(&["show", job["jobId"].as_str().unwrap(), "--result"]);
        assert!(!result.trim().is_empty(), "{moment}: {job} has its summary");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_any_step_of_a_batch_nothing_is_sent_twice_and_nothing_is_lost() {
    for moment in [
        // Gathered, and nothing of it written down.
        "reserved:1",
        // Written down what is sent, and not sent.
        "batch-sealed:1",
        // Taken by the provider, and its id not written down.
        "batch-created:1",
        // Some results are dealt with, one is read.
        "batch-read:1",
        "batch-read:3",
        "answered:2",
        "kept:1",
        "kept:3",
        "stored:2",
        "completed:1",
        "completed:3",
    ] {
        let claude = claude().await;
        let desk = desk(&claude);
        kill(&desk, moment);
        desk.text(&["run"]);
        check(&desk, &claude, moment);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_at_each_step_one_after_the_other_it_comes_to_the_same() {
    let claude = claude().await;
    let desk = desk(&claude);
    for moment in [
        "reserved:1",
        "batch-created:1",
        "batch-read:2",
        "kept:1",
        "stored:1",
        "completed:1",
    ] {
        kill(&desk, moment);
    }
    desk.text(&["run"]);
    check(&desk, &claude, "after all of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_the_batch_is_sent_it_is_sent_again_only_when_it_did_not_arrive() {
    let claude = claude().await;
    let desk = desk(&claude);
    // It stands before it says anything, with all of the body taken.
    claude.script(Rule::on(Call::CreateBatch, Reply::Hang).times(1));
    let mut run = desk.start(&["run"]);
    let asked = || {
        claude
            .all_requests()
            .iter()
            .filter(|request| request.method == "POST")
            .count()
    };
    until(
        || (asked() == 1).then_some(()),
        || "waited for the batch to be sent".to_owned(),
    );
    assert!(run.runs(), "it waits for the answer");
    // Kills it.
    drop(run);
    let status = desk.json(&["status"]);
    assert_eq!(status["counts"]["running"], JOBS, "{status}");
    desk.text(&["run"]);
    check(&desk, &claude, "while it was sent");
}
