//! `gistmill add --pilot`, and what a person decides by it; counts and forecasts before anything is added.

use gistmill_testkit::fake_claude::FakeClaude;

use crate::support::Desk;

#[tokio::test(flavor = "multi_thread")]
async fn a_pilot_is_added_looked_at_and_released() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(5);
    desk.text(&["queues", "set", "bulk", "--delay", "0"]);
    let said = desk.text(&["add", "pdfs", "--name", "Reports", "--pilot", "2"]);
    assert!(
        said.contains("2 files run first; the others wait."),
        "{said}"
    );
    assert!(said.contains("gistmill batches pilot"), "{said}");
    let waits = desk.text(&["jobs"]);
    assert!(
        waits.contains("Waits for the pilot of its batch, of which 2 jobs are left."),
        "{waits}"
    );
    let ran = desk.ends_with(3, &["run"]);
    assert!(
        ran.contains("The pilot has ended."),
        "a person is needed, and told what for: {ran}"
    );
    assert_eq!(claude.requests().len(), 2, "only the pilot was asked");
    let status = desk.text(&["status"]);
    assert!(
        status.contains("The pilot has ended.")
            && status.contains("To go on: gistmill batches pilot"),
        "{status}"
    );
    assert!(
        status.contains("Pilot of Reports: 2 of 2 jobs ended; 3 jobs wait for it."),
        "{status}"
    );
    assert!(
        desk.text(&["batches"]).contains("pilot ended"),
        "the list of batches tells it, too"
    );
    let shown = desk.text(&["batches", "pilot", "Reports"]);
    for words in [
        "2 done, 0 to review, 0 failed; cost $",
        "The other 3 jobs:",
        "as 2 answers were",
        "gistmill batches release",
    ] {
        assert!(shown.contains(words), "{words:?} is missing:\n{shown}");
    }
    let told = desk.json(&["batches", "pilot", "Reports", "--model", "claude-haiku-4-5"]);
    assert_eq!(told["batch"]["pilot"]["waiting"], 3);
    assert_eq!(told["rest"]["model"], "claude-haiku-4-5");
    let released = desk.text(&["batches", "release", "Reports", "--max-tokens", "2000"]);
    assert!(released.contains("3 jobs go on."), "{released}");
    desk.text(&["run"]);
    assert_eq!(claude.requests().len(), 5);
    assert_eq!(desk.json(&["status"])["counts"]["done"], 5);
    let none = desk.ends_with(2, &["batches", "release", "Nothing"]);
    assert!(none.contains("Nothing"), "{none}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rest_of_a_pilot_is_called_off() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(4);
    desk.text(&["add", "pdfs", "--name", "Reports", "--pilot", "1"]);
    let said = desk.text(&["batches", "cancel-rest", "Reports"]);
    assert!(said.contains("3 jobs are called off."), "{said}");
    assert_eq!(desk.json(&["status"])["counts"]["cancelled"], 3);
    let plain = desk.ends_with(2, &["add", "pdfs", "--pilot", "0"]);
    assert!(plain.contains("--pilot"), "{plain}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_are_counted_only_when_that_is_asked_for() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(3);
    let said = desk.text(&["preflight", "pdfs"]);
    assert!(
        !said.contains("usually 1 h"),
        "nobody says that this address has a batch API:\n{said}"
    );
    desk.text(&["queues", "set", "bulk", "--delivery", "batch"]);
    let said = desk.text(&["preflight", "pdfs"]);
    assert!(said.contains("(estimated)"), "{said}");
    for words in [
        "WAY",
        "high",
        "bulk",
        "batch",
        "AT WORST",
        "usually 1 h",
        "a guess",
    ] {
        assert!(said.contains(words), "{words:?} is missing:\n{said}");
    }
    assert!(
        claude.all_requests().is_empty(),
        "nothing leaves the machine unasked"
    );
    let counted = desk.text(&["preflight", "pdfs", "--count"]);
    assert!(counted.contains("(counted)"), "{counted}");
    assert_eq!((claude.counts().len(), claude.requests().len()), (3, 0));
    let told = desk.json(&["add", "pdfs", "--dry-run"]);
    assert_eq!(
        told["forecast"]["input"]["countedJobs"], 3,
        "kept for later"
    );
    assert_eq!(told["plan"]["counted"], 3);
    let ways = told["forecast"]["deliveries"].as_array().unwrap();
    let names: Vec<_> = ways.iter().map(|way| way["delivery"].clone()).collect();
    assert_eq!(names, ["high", "bulk", "batch"]);
    assert!(ways[0]["finish"]["usuallyAt"].is_number());
    assert_eq!(claude.counts().len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_be_counted_is_estimated_and_said_so() {
    let desk = Desk::asking_at("http://127.0.0.1:9".to_owned());
    desk.put_pdfs(2);
    let said = desk.text(&["preflight", "pdfs", "--count"]);
    assert!(said.contains("The tokens were not counted: "), "{said}");
    assert!(said.contains("(estimated)"), "{said}");
    let told = desk.json(&["preflight", "pdfs", "--count"]);
    assert!(told["notCounted"]["message"].is_string(), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn running_again_has_a_forecast_too() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs"]);
    desk.text(&["cancel", "--all"]);
    let said = desk.text(&["retry", "--status", "cancelled", "--dry-run"]);
    assert!(
        said.contains("2 jobs would go back in the queue."),
        "{said}"
    );
    assert!(said.contains("DONE IN"), "{said}");
    let told = desk.json(&["retry", "--status", "cancelled", "--dry-run"]);
    assert_eq!(told["wouldRun"], 2);
    assert_eq!(told["forecast"]["jobs"], 2);
}
