//! Why nothing moves: `gistmill status` says it in one line, whatever the reason is, and `gistmill run`
//! waits for what passes by itself and ends where a person is needed.

use std::net::TcpListener;
use std::time::{SystemTime, UNIX_EPOCH};

use gistmill_testkit::fake_claude::{FakeClaude, Fault, Options, Plan, Reply, Rule};

use crate::support::Desk;

/// An answer that takes 2,400 tokens and costs $0.012.
fn known_answer() -> Reply {
    Reply::Answer(Plan {
        input_tokens: Some(2_000),
        output_tokens: Some(400),
        ..Plan::default()
    })
}

/// A desk with so many PDFs in the high queue, whose Claude gives known answers.
async fn desk_with(jobs: usize) -> (FakeClaude, Desk) {
    let claude = FakeClaude::start().await;
    claude.script(Rule::always(known_answer()));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(jobs);
    (claude, desk)
}

fn add(desk: &Desk) {
    desk.text(&["add", "pdfs", "--queue", "high"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tokens_of_the_minute_are_used_up() {
    let (claude, desk) = desk_with(2).await;
    desk.text(&["config", "set", "max-tokens", "1000"]);
    desk.text(&["config", "set", "tokens-per-minute", "5000"]);
    add(&desk);
    let mut run = desk.start(&["run"]);
    let said = desk.until_answer("The tokens for this minute are used up. The next job starts in ");
    assert!(said.ends_with(" s."), "how long is missing: {said}");
    let budget = &desk.json(&["status"])["budget"];
    assert_eq!(
        (&budget["tokens"]["used"], &budget["tokens"]["limit"]),
        (&2_400.into(), &5_000.into()),
        "one answer was settled: {budget}"
    );
    assert_eq!(claude.requests().len(), 1, "the second waits");
    assert!(
        run.runs(),
        "the minute passes by itself, so it is waited for"
    );
    let jobs = desk.text(&["jobs", "--status", "waiting"]);
    assert!(jobs.contains("for tokens of the minute."), "{jobs}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_requests_of_the_minute_are_used_up() {
    let (claude, desk) = desk_with(2).await;
    desk.text(&["config", "set", "requests-per-minute", "1"]);
    add(&desk);
    let mut run = desk.start(&["run"]);
    desk.until_answer("The requests for this minute are used up. The next job starts in ");
    assert_eq!(claude.requests().len(), 1, "the second waits");
    assert!(
        run.runs(),
        "the minute passes by itself, so it is waited for"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_larger_than_the_tokens_of_a_minute() {
    let (claude, desk) = desk_with(2).await;
    desk.text(&["config", "set", "tokens-per-minute", "1000"]);
    add(&desk);
    let mut run = desk.start(&["run"]);
    desk.until_answer("The next job is larger than the tokens of a whole minute");
    assert_eq!(
        claude.requests().len(),
        1,
        "one ran alone, the other waits for the minute to pass"
    );
    assert!(
        run.runs(),
        "the minute passes by itself, so it is waited for"
    );
    desk.text(&["config", "set", "tokens-per-minute", "400000"]);
    assert!(run.ended().success(), "with more tokens it goes on at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cap_of_a_day_or_a_month_is_reached() {
    for (setting, money, words) in [
        ("day-cap", "day", "Today’s cap of $0.08 is reached."),
        (
            "month-cap",
            "month",
            "This month’s cap of $0.08 is reached.",
        ),
    ] {
        let (claude, desk) = desk_with(3).await;
        desk.text(&["config", "set", setting, "0.08"]);
        add(&desk);
        let said = desk.ends_with(3, &["run"]);
        let way_on = format!("To go on: gistmill config set {setting} AMOUNT");
        assert!(
            said.contains("2 jobs are still waiting.") && said.contains(&way_on),
            "{said}"
        );
        let answer = desk.answer().unwrap_or_default();
        assert!(
            answer.starts_with(words) && answer.contains("raise the cap to start it"),
            "{answer}"
        );
        let spent = &desk.json(&["status"])["budget"][money];
        assert_eq!(
            (
                &spent["settledMicros"],
                &spent["reservedMicros"],
                &spent["capMicros"]
            ),
            (&12_000.into(), &0.into(), &80_000.into()),
            "{spent}"
        );
        let shown = desk.text(&["status"]);
        assert!(
            shown.contains(
                "$0.0120 spent, $0.00 reserved, $0.00 unknown; $0.0680 left of the cap of $0.08"
            ),
            "{shown}"
        );
        assert_eq!(
            claude.requests().len(),
            1,
            "the worst case of the next did not fit"
        );
        desk.text(&["config", "set", setting, "none"]);
        desk.text(&["run"]);
        assert_eq!(desk.json(&["status"])["counts"]["done"], 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cap_of_a_batch_is_reached_and_holds_no_other_batch() {
    let (claude, desk) = desk_with(2).await;
    let added = desk.json(&["add", "pdfs", "--queue", "high", "--cap", "0.01"]);
    let batch = added["batchId"].as_str().unwrap();
    desk.ends_with(3, &["run"]);
    let answer = desk.answer().unwrap_or_default();
    assert!(
        answer.starts_with("The batch’s cap of $0.01 is reached."),
        "{answer}"
    );
    desk.text(&["add", "--prompt", "Name three rivers."]);
    desk.ends_with(3, &["run"]);
    assert_eq!(claude.requests().len(), 1, "the other batch went on");
    desk.text(&["batches", "cap", batch, "1.00"]);
    desk.text(&["run"]);
    assert_eq!(desk.json(&["status"])["counts"]["done"], 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lane_or_a_batch_is_paused() {
    let (claude, desk) = desk_with(2).await;
    let added = desk.json(&["add", "pdfs", "--queue", "high", "--paused"]);
    let batch = added["batchId"].as_str().unwrap();
    desk.ends_with(3, &["run"]);
    assert_eq!(
        desk.answer().as_deref(),
        Some("The batch of the next job is paused. Resume it to go on.")
    );
    desk.text(&["batches", "resume", batch]);
    desk.text(&["queues", "pause", "high"]);
    desk.ends_with(3, &["run"]);
    assert_eq!(
        desk.answer().as_deref(),
        Some("The lane High is paused. Resume it to go on.")
    );
    let jobs = desk.text(&["jobs"]);
    assert!(jobs.contains("gistmill queues resume high"), "{jobs}");
    assert!(
        claude.requests().is_empty(),
        "nothing that is paused is sent"
    );
    desk.text(&["queues", "resume", "all"]);
    desk.text(&["run"]);
    assert_eq!(desk.json(&["status"])["counts"]["done"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_key_is_refused() {
    let claude = FakeClaude::start_with(Options {
        api_key: Some("sk-ant-another-key".to_owned()),
        ..Options::default()
    })
    .await
    .unwrap();
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    add(&desk);
    desk.ends_with(3, &["run"]);
    let answer = desk.answer().unwrap_or_default();
    assert!(
        answer.contains("invalid x-api-key") && answer.contains("paste a new one"),
        "what was said and what to do: {answer}"
    );
    let status = desk.text(&["status"]);
    assert!(
        status.contains("Claude is not asked, 2 jobs are held: "),
        "{status}"
    );
    let jobs = desk.json(&["jobs"]);
    assert_eq!(
        jobs["jobs"][0]["attempts"], 0,
        "a bad key uses up no attempt: {jobs}"
    );
}

#[test]
fn nothing_answers_at_the_address() {
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let desk = Desk::asking_at(format!("http://{address}"));
    desk.put_pdfs(2);
    add(&desk);
    let mut run = desk.start(&["run"]);
    let answer = until_offline(&desk);
    assert!(
        answer.contains("Check the network") && answer.ends_with(" s."),
        "what to do and when it is tried again: {answer}"
    );
    let jobs = desk.json(&["jobs"]);
    for job in jobs["jobs"].as_array().unwrap() {
        assert_eq!(job["waiting"]["reason"], "offline", "{job}");
        assert_eq!(job["attempts"], 0, "no attempt is used up: {job}");
    }
    assert!(
        run.runs(),
        "a network comes back by itself, so it is waited for"
    );
}

fn until_offline(desk: &Desk) -> String {
    crate::support::until(
        || {
            desk.answer()
                .filter(|answer| answer.contains("That is tried again in "))
        },
        || format!("waited for offline:\n{}", desk.text(&["status"])),
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn bulk_runs_at_other_hours() {
    let (claude, desk) = desk_with(2).await;
    let minute = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
        / 60;
    let time = |minute: u64| format!("{:02}:{:02}", minute / 60 % 24, minute % 60);
    // The clock of these programs is UTC's.
    let hours = format!("{}-{}", time(minute + 120), time(minute + 180));
    desk.text(&["config", "set", "quiet-hours", &hours]);
    desk.text(&["add", "pdfs", "--queue", "bulk"]);
    let mut run = desk.start(&["run"]);
    desk.until_answer("Bulk runs at its own hours only. They begin in 1 h 5");
    assert!(claude.requests().is_empty(), "nothing is sent before");
    assert!(
        run.runs(),
        "the hours come by themselves, so they are waited for"
    );
    desk.text(&["config", "set", "quiet-hours", "none"]);
    assert!(run.ended().success(), "without hours it goes on");
}

#[tokio::test(flavor = "multi_thread")]
async fn failed_calls_are_tried_again_later() {
    let claude = FakeClaude::start().await;
    claude.script(Rule::always(Reply::fault(Fault::Overloaded)).times(2));
    let desk = Desk::asking(&claude);
    desk.put_pdfs(2);
    add(&desk);
    let run = desk.start(&["run"]);
    claude.arrived(2).await;
    let said = desk.until_answer("The next job is tried again in ");
    assert!(said.ends_with(" s.") || said.ends_with(" min."), "{said}");
    let jobs = desk.text(&["jobs"]);
    assert!(
        jobs.contains("retrying") && jobs.contains(" Again in "),
        "{jobs}"
    );
    assert_eq!(desk.json(&["run-now", "--all"])["jobs"], 2);
    assert!(run.ended().success(), "hurried, they are done");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_works_the_queue_or_knows_the_price_or_the_model() {
    let (claude, desk) = desk_with(2).await;
    let refused = desk.ends_with(2, &["add", "pdfs", "--model", "llama-of-mine"]);
    assert!(
        refused.contains("Nobody knows what llama-of-mine costs"),
        "{refused}"
    );
    assert_eq!(desk.json(&["jobs"])["total"], 0, "nothing was stored");
    desk.text(&["prices", "free", "llama-of-mine"]);
    desk.text(&["add", "pdfs", "--model", "llama-of-mine", "--queue", "high"]);
    let answer = desk.answer().unwrap_or_default();
    assert!(
        answer.starts_with("No program is working the queue."),
        "{answer}"
    );
    desk.text(&["prices", "reset", "llama-of-mine"]);
    desk.ends_with(3, &["run"]);
    let answer = desk.answer().unwrap_or_default();
    assert!(
        answer.starts_with("Nobody knows what llama-of-mine costs."),
        "{answer}"
    );
    assert!(
        claude.requests().is_empty(),
        "nothing without a price is sent"
    );
    // With a price it is asked for, and turns out not to exist; another one takes its place.
    desk.text(&["prices", "free", "llama-of-mine"]);
    let said = desk.ends_with(3, &["run"]);
    assert!(
        said.contains("model: llama-of-mine") && said.contains("gistmill config set model"),
        "{said}"
    );
    desk.text(&["config", "set", "model", "claude-haiku-5-5"]);
    desk.text(&["run"]);
    assert_eq!(desk.json(&["status"])["counts"]["done"], 2);
}
