//! Settings, queues, prices and caps: what is set is shown, and what can't be set is refused and changes
//! nothing.

use serde_json::{Value, json};

use crate::support::Desk;

#[test]
fn what_is_set_of_a_queue_is_shown() {
    let desk = Desk::new();
    let lanes = desk.json(&[
        "queues",
        "set",
        "high",
        "--concurrency",
        "2",
        "--retries",
        "0",
        "--batch-size",
        "7",
        "--batch-timeout",
        "3",
        "--delay",
        "60",
    ]);
    assert_eq!(
        lanes[0]["settings"],
        json!({
            "maxBatchSize": 7, "maxBatchTimeoutMs": 3_000, "maxRetries": 0, "maxConcurrency": 2,
            "deliveryDelayMs": 60_000, "delivery": "each", "remoteRequests": 1_000, "remoteWaitMs": 60_000,
        })
    );
    assert_eq!(lanes, desk.json(&["queues"]));
    assert_eq!(
        lanes[1]["settings"]["maxConcurrency"], 3,
        "bulk stays as it was"
    );
    let lanes = desk.json(&["queues", "set", "high", "--retries", "4"]);
    assert_eq!(
        (
            &lanes[0]["settings"]["maxRetries"],
            &lanes[0]["settings"]["maxConcurrency"]
        ),
        (&json!(4), &json!(2)),
        "what is not named stays"
    );
    let paused = |lanes: &Value| [lanes[0]["paused"] == true, lanes[1]["paused"] == true];
    assert_eq!(
        paused(&desk.json(&["queues", "pause", "all"])),
        [true, true]
    );
    assert_eq!(
        paused(&desk.json(&["queues", "resume", "high"])),
        [false, true]
    );
    assert_eq!(paused(&desk.json(&["queues"])), [false, true]);
}

#[test]
fn every_setting_is_set_shown_and_taken_back() {
    let desk = Desk::new();
    let usual = desk.json(&["config"]);
    let folder = desk.path("summaries");
    let changes = [
        ("provider", "offline", "provider", json!("offline")),
        (
            "model",
            "claude-haiku-5-5",
            "model",
            json!("claude-haiku-5-5"),
        ),
        ("max-tokens", "2048", "maxTokens", json!(2048)),
        (
            "base-url",
            "http://127.0.0.1:9/",
            "baseUrl",
            json!("http://127.0.0.1:9"),
        ),
        ("copies-to", "nowhere", "copiesTo", json!("nowhere")),
        (
            "output-folder",
            folder.to_str().unwrap(),
            "outputFolder",
            json!(folder),
        ),
        ("name-taken", "overwrite", "nameTaken", json!("overwrite")),
        ("batch-csv", "off", "batchCsv", json!(false)),
        ("batch-jsonl", "on", "batchJsonl", json!(true)),
        ("batch-markdown", "off", "batchMarkdown", json!(false)),
        (
            "tokens-per-minute",
            "50000",
            "tokensPerMinute",
            json!(50_000),
        ),
        ("requests-per-minute", "50", "requestsPerMinute", json!(50)),
        (
            "input-tokens-per-minute",
            "30000",
            "inputTokensPerMinute",
            json!(30_000),
        ),
        (
            "output-tokens-per-minute",
            "8000",
            "outputTokensPerMinute",
            json!(8_000),
        ),
        ("day-cap", "5", "dayCapMicros", json!(5_000_000)),
        ("month-cap", "$100.50", "monthCapMicros", json!(100_500_000)),
        ("batch-cap", "0.000001", "batchCapMicros", json!(1)),
        ("bulk-floor", "0", "bulkFloor", json!(0)),
        (
            "quiet-hours",
            "22:00-07:00",
            "quietHours",
            json!({ "fromMinute": 1320, "toMinute": 420 }),
        ),
        ("retention-days", "90", "retentionDays", json!(90)),
        (
            "webhook-url",
            "https://example.com/hook",
            "webhookUrl",
            json!("https://example.com/hook"),
        ),
        ("webhook-batches", "on", "webhookBatches", json!(true)),
        ("notify-batches", "off", "notifyBatches", json!(false)),
        ("single-keys", "off", "singleKeys", json!(false)),
    ];
    for (name, value, key, stored) in &changes {
        let settings = desk.json(&["config", "set", name, value]);
        assert_eq!(&settings[key], stored, "{name} {value}");
    }
    let settings = desk.json(&["config"]);
    for (name, _, key, stored) in &changes {
        assert_eq!(&settings[key], stored, "{name} is still set");
    }
    let shown = desk.text(&["config"]);
    for words in [
        "day-cap                   $5.00",
        "$0.000001",
        "22:00-07:00",
    ] {
        assert!(shown.contains(words), "{words} is missing:\n{shown}");
    }
    for (name, _, key, _) in &changes {
        if usual[key].is_null() {
            let settings = desk.json(&["config", "set", name, "none"]);
            assert!(settings[key].is_null(), "{name} none");
        }
    }
}

#[test]
fn a_folder_for_copies_means_the_same_from_everywhere() {
    let desk = Desk::new();
    let here = desk.path("").canonicalize().unwrap();
    for (named, meant) in [("out", "out"), ("pdfs/../more/out", "more/out")] {
        desk.put("pdfs/x.txt", b"x");
        let settings = desk.json(&["config", "set", "output-folder", named]);
        let stored = std::path::PathBuf::from(settings["outputFolder"].as_str().unwrap());
        assert!(stored.is_absolute(), "{stored:?}");
        assert_eq!(stored, here.join(meant));
    }
    let settings = desk.json(&["config", "set", "output-folder", "none"]);
    assert_eq!(settings["outputFolder"], Value::Null);
}

#[test]
fn a_price_is_set_marked_as_free_and_reset() {
    let desk = Desk::new();
    let line = |table: &Value, model: &str| {
        let prices = table["prices"].as_array().unwrap();
        prices
            .iter()
            .find(|line| line["price"]["model"] == model)
            .cloned()
    };
    let shipped = desk.json(&["prices"]);
    assert!(line(&shipped, "claude-sonnet-4-6").is_some());
    let table = desk.json(&[
        "prices",
        "set",
        "mine",
        "--input",
        "3",
        "--output",
        "15.25",
        "--cache-read",
        "0",
    ]);
    assert_eq!(
        line(&table, "mine").unwrap(),
        json!({
            "price": {
                "model": "mine", "input": 3_000_000, "output": 15_250_000, "cacheWrite": 3_750_000,
                "cacheRead": 0, "batchPercent": 50, "longPrompt": null,
            },
            "own": true,
        })
    );
    let dearer = desk.json(&[
        "prices",
        "set",
        "claude-haiku-5-5",
        "--input",
        "1",
        "--output",
        "5",
    ]);
    let dearer = line(&dearer, "claude-haiku-5-5").unwrap();
    assert_eq!(
        (
            &dearer["price"]["longPrompt"]["input"],
            &dearer["price"]["longPrompt"]["output"]
        ),
        (&json!(1_000_000), &json!(5_000_000)),
        "long prompts are never cheaper than short ones: {dearer}"
    );
    let table = desk.json(&["prices", "free", "mine"]);
    assert_eq!(line(&table, "mine").unwrap()["price"]["output"], 0);
    let shown = desk.text(&["prices"]);
    assert!(shown.contains("yours: free"), "{shown}");
    desk.text(&["prices", "reset", "claude-haiku-5-5"]);
    assert_eq!(
        desk.json(&["prices", "reset", "mine"]),
        shipped,
        "all is as shipped"
    );
    desk.ends_with(2, &["prices", "reset", "mine"]);
}

#[test]
fn a_batch_is_capped_and_paused() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    desk.text(&["config", "set", "batch-cap", "2"]);
    desk.text(&["add", "pdfs", "--name", "Rivers"]);
    let added = desk.json(&[
        "add",
        "--prompt",
        "Name three lakes.",
        "--cap",
        "0.5",
        "--paused",
    ]);
    let lakes = added["batchId"].as_str().unwrap();
    let cap = |batches: &Value, place: usize| batches[place]["money"]["capMicros"].clone();
    let batches = desk.json(&["batches"]);
    assert_eq!(
        (cap(&batches, 0), cap(&batches, 1)),
        (json!(500_000), json!(2_000_000)),
        "its own cap, and that of the settings"
    );
    assert_eq!(
        (&batches[0]["paused"], &batches[1]["paused"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        cap(&desk.json(&["batches", "cap", lakes, "1.25"]), 0),
        json!(1_250_000)
    );
    assert_eq!(
        cap(&desk.json(&["batches", "cap", lakes, "none"]), 0),
        Value::Null
    );
    assert_eq!(desk.json(&["batches", "resume", lakes])[0]["paused"], false);
    assert_eq!(desk.json(&["batches", "pause", lakes])[0]["paused"], true);
    let shown = desk.text(&["batches"]);
    assert!(
        shown.contains("Rivers")
            && shown.contains("0 of 2 jobs done, 2 waiting")
            && shown.contains("paused"),
        "{shown}"
    );
}

#[test]
fn a_webhook_without_a_keychain_says_what_to_do() {
    let desk = Desk::new();
    desk.text(&["config", "set", "webhook-url", "https://example.com/hook"]);
    let webhook = desk.json(&["webhook"]);
    assert_eq!(
        webhook,
        json!({
            "url": "https://example.com/hook", "secretSet": false, "waiting": 0, "lastAt": null,
            "lastError": null,
        })
    );
    // Standard input is empty.
    let refused = desk.ends_with(2, &["webhook", "secret"]);
    assert!(
        refused.contains("This is no secret of a webhook."),
        "{refused}"
    );
}

#[test]
fn what_cannot_be_set_is_refused_with_a_reason_and_changes_nothing() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    let added = desk.json(&["add", "pdfs"]);
    let batch = added["batchId"].as_str().unwrap();
    // A countdown would change by itself.
    desk.text(&["queues", "pause", "bulk"]);
    let shown = ["config", "queues", "prices", "batches", "jobs"];
    let before = shown.map(|show| desk.json(&[show]));
    for arguments in [
        &["config", "set", "day-cap", "-1"][..],
        &["config", "set", "day-cap", "1,50"],
        &["config", "set", "month-cap", "0.0000001"],
        &["config", "set", "batch-cap", "free"],
        &["config", "set", "tokens-per-minute", "0"],
        &["config", "set", "tokens-per-minute", "none"],
        &["config", "set", "requests-per-minute", "5.5"],
        &["config", "set", "quiet-hours", "22-7"],
        &["config", "set", "quiet-hours", "24:00-07:00"],
        &["config", "set", "retention-days", "0"],
        &["config", "set", "webhook-url", "ftp://example.com"],
        &["config", "set", "webhook-batches", "maybe"],
        &["config", "set", "base-url", "nonsense"],
        &["config", "set", "max-tokens", "1"],
        &["config", "set", "model", " "],
        &["config", "set", "provider", "gpt"],
        &["config", "set", "name-taken", "ask"],
        &["config", "set", "batch-csv", "sometimes"],
        &["config", "set", "copies-to", "folder"],
        &["config", "set", "colour", "red"],
        &["queues", "set", "high"],
        &["queues", "set", "high", "--concurrency", "0"],
        &["queues", "set", "high", "--concurrency", "251"],
        &["queues", "set", "high", "--retries", "101"],
        &["queues", "set", "high", "--delay", "-1"],
        &["queues", "set", "middle", "--delay", "1"],
        &["queues", "pause", "middle"],
        &["prices", "set", "mine", "--input", "3"],
        &["prices", "set", "mine", "--input", "3", "--output", "-15"],
        &["prices", "set", "mine", "--input", "3", "--output", "10001"],
        &[
            "prices",
            "set",
            "mine",
            "--input",
            "3",
            "--output",
            "15",
            "--batch-percent",
            "101",
        ],
        &["prices", "free", " "],
        &["batches", "cap", batch, "-1"],
        &["batches", "cap", batch, "much"],
        &["batches", "cap", "no-such-batch", "1"],
        &["batches", "pause", "no-such-batch"],
        &["add", "pdfs", "--cap", "1.2.3"],
        &["cancel"],
        &["cancel", "no-such-job"],
        &["cancel", "--all", "no-such-job"],
        &["cancel", "--cause", "bad-luck"],
        &["cancel", "--batch", "no-such-batch"],
        // An empty search would mean every job.
        &["cancel", "--search", " "],
        &["purge", "--yes", "--search", ""],
        &["purge", "--yes", "--batch", ""],
        &["retry", "--dry-run"],
        &["retry", "--all", "--max-tokens", "1"],
        &["retry", "--all", "--template", "no-such-template-v1"],
        &["move-to", "--all"],
        &["move", "no-such-job", "top"],
        &["purge", "--all"],
    ] {
        let said = desk.ends_with(2, arguments);
        assert!(!said.trim().is_empty(), "{arguments:?} must say why");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    }
    for (show, before) in shown.iter().zip(before) {
        assert_eq!(desk.json(&[show]), before, "{show} must be as before");
    }
}
