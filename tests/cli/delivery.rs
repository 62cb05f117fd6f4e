//! Half price for what has time: chosen where jobs are added, and changed where they run again.

use gistmill_testkit::fake_claude::FakeClaude;
use serde_json::Value;

use crate::support::Desk;

fn deliveries(desk: &Desk) -> Vec<String> {
    let jobs = desk.json(&["jobs"]);
    let jobs = jobs["jobs"].as_array().unwrap();
    let word = |job: &Value| job["delivery"].as_str().unwrap().to_owned();
    jobs.iter().map(word).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn some_files_go_at_half_price_and_others_of_the_same_queue_do_not() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    let whole = desk.json(&["add", "pdfs", "--dry-run"]);
    let half = desk.json(&["add", "pdfs", "--dry-run", "--delivery", "batch"]);
    let expected = |told: &Value| told["plan"]["expectedMicros"].as_i64().unwrap();
    let saved = expected(&whole) - expected(&half) * 2;
    assert!(
        (-2..=2).contains(&saved),
        "half of {} is not {}",
        expected(&whole),
        expected(&half)
    );
    let said = desk.text(&["add", "pdfs", "--dry-run", "--delivery", "batch"]);
    assert!(said.contains("usually 1 h"), "{said}");
    desk.text(&["add", "pdfs", "--delivery", "batch"]);
    desk.text(&["add", "pdfs", "--again"]);
    // Newest first.
    assert_eq!(deliveries(&desk), ["each", "each", "batch", "batch"]);
    let jobs = desk.json(&["jobs"]);
    let newest = |at: usize| jobs["jobs"][at]["jobId"].as_str().unwrap().to_owned();
    assert!(desk.text(&["show", &newest(3)]).contains("half price"));
    assert!(!desk.text(&["show", &newest(0)]).contains("half price"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prompt_at_half_price_goes_to_bulk_and_high_is_refused() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.text(&["add", "--prompt", "Name two lakes.", "--delivery", "batch"]);
    desk.text(&["add", "--prompt", "Name two rivers."]);
    let jobs = desk.json(&["jobs"]);
    assert_eq!(jobs["jobs"][1]["queue"], "bulk");
    assert_eq!(jobs["jobs"][0]["queue"], "high");
    let said = desk.ends_with(
        2,
        &[
            "add",
            "--prompt",
            "Name two seas.",
            "--queue",
            "high",
            "--delivery",
            "batch",
        ],
    );
    assert!(
        said.contains("a day") && said.contains("Bulk"),
        "it must say why, and what to do: {said}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn where_nobody_has_a_batch_api_half_price_is_refused_before_anything_is_added() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["endpoint", "use", "openrouter"]);
    let said = desk.ends_with(2, &["add", "pdfs", "--delivery", "batch"]);
    assert!(said.contains("OpenRouter has no batch API"), "{said}");
    assert_eq!(desk.json(&["jobs"])["total"], 0, "nothing was added");
}

/// It is what is advised where an address turns out to have no batch API.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_of_the_queue_holds_for_jobs_that_were_to_go_another_way() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--delivery", "batch"]);
    desk.text(&["queues", "set", "bulk", "--concurrency", "2"]);
    assert_eq!(
        deliveries(&desk),
        ["batch", "batch"],
        "another setting says nothing of it"
    );
    desk.text(&["queues", "set", "bulk", "--delivery", "each"]);
    assert_eq!(deliveries(&desk), ["each", "each"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_run_again_at_half_price_and_back() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    desk.text(&["add", "pdfs", "--paused"]);
    for (delivery, expected) in [("batch", "batch"), ("each", "each")] {
        desk.text(&["cancel", "--all"]);
        let again = desk.text(&["retry", "--status", "cancelled", "--delivery", delivery]);
        assert_eq!(deliveries(&desk), [expected, expected], "{again}");
    }
}
