//! What other tests rely on and the official SDK can't see: the bill, the limits in the headers, the clock.

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};

use super::*;

const SONNET: &str = "claude-sonnet-4-6";

/// A server whose clock stands still, and a client of it.
struct Table {
    server: FakeClaude,
    client: Client,
}

impl Table {
    async fn set(settings: Value) -> Self {
        let mut scenario: Scenario = serde_json::from_value(settings).unwrap();
        scenario.clock = ClockSettings {
            start: Some("2026-12-01T12:00:00Z".parse().unwrap()),
            stands_still: true,
        };
        let options = Options {
            scenario,
            ..Options::default()
        };
        Self {
            server: FakeClaude::start_with(options).await.unwrap(),
            client: Client::builder().no_proxy().build().unwrap(),
        }
    }

    async fn post(&self, path: &str, body: &Value) -> reqwest::Result<Response> {
        self.client
            .post(format!("{}{path}", self.server.url()))
            .header("x-api-key", "sk-ant-test")
            .header("anthropic-version", "2023-06-01")
            .json(body)
            .send()
            .await
    }

    async fn get(&self, path: &str) -> Response {
        self.client
            .get(format!("{}{path}", self.server.url()))
            .header("x-api-key", "sk-ant-test")
            .header("anthropic-version", "2023-06-01")
            .send()
            .await
            .unwrap()
    }

    /// Sends a message and reads its answer to the end, or to where it breaks off.
    async fn ask(&self, title: &str) -> Option<StatusCode> {
        let mut body = message();
        body["stream"] = json!(true);
        body["messages"][0]["content"] = json!([
            {
                "type": "document",
                "title": title,
                "source": {"type": "text", "media_type": "text/plain", "data": "Some words. ".repeat(300)},
            },
            {"type": "text", "text": "Summarize."},
        ]);
        let mut response = self.post("/v1/messages", &body).await.ok()?;
        while let Ok(Some(_)) = response.chunk().await {}
        Some(response.status())
    }

    async fn create_batch(&self, ids: &[&str]) -> reqwest::Result<Value> {
        let requests: Vec<Value> = ids
            .iter()
            .map(|id| json!({"custom_id": id, "params": message()}))
            .collect();
        let body = json!({"requests": requests});
        self.post("/v1/messages/batches", &body).await?.json().await
    }
}

fn message() -> Value {
    json!({
        "model": SONNET,
        "max_tokens": 512,
        "messages": [{"role": "user", "content": "Hello"}],
    })
}

fn titled(title: &str, reply: Value) -> Value {
    json!({"title": title, "reply": reply})
}

/// Waits for what is counted while it is written, which may be a moment after its client is gone.
async fn settled(server: &FakeClaude) -> Vec<BilledCall> {
    let mut bill = server.bill();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(10)).await;
        let now = server.bill();
        if now == bill {
            break;
        }
        bill = now;
    }
    bill
}

#[tokio::test]
async fn what_is_billed_follows_what_was_written() {
    let table = Table::set(json!({"rules": [
        titled("whole", json!({"kind": "answer", "output_tokens": 200})),
        titled("refused", json!({"kind": "fault", "fault": "overloaded"})),
        titled("declined", json!({"kind": "answer", "no_content": true, "stop_reason": "refusal"})),
        titled("half", json!({"kind": "answer", "text": "The", "stop_reason": "refusal", "output_tokens": 2})),
        titled("cached", json!({"kind": "answer", "cache_read": 10_000, "cache_write_1h": 100, "output_tokens": 10})),
        titled("lost", json!({"kind": "lost"})),
        titled("raw", json!({"kind": "raw", "chunks": ["event: ping\n\n"]})),
    ]}))
    .await;
    for (title, arrives) in [
        ("whole", true),
        ("refused", true),
        ("declined", true),
        ("half", true),
        ("cached", true),
        ("lost", false),
        ("raw", true),
    ] {
        assert_eq!(table.ask(title).await.is_some(), arrives, "{title}");
    }
    let bill = settled(&table.server).await;
    let input = bill[0].tokens.input;
    assert!(input > 1_000, "a document of 3,600 letters was counted");
    let output = bill[3].tokens.output;
    let billed: Vec<_> = bill
        .iter()
        .map(|call| {
            (
                call.title.as_deref().unwrap_or_default(),
                call.micro_dollars,
            )
        })
        .collect();
    assert_eq!(
        billed,
        [
            ("whole", input * 3 + 200 * 15),
            ("half", input * 3 + 2 * 15),
            ("cached", input * 3 + 10_000 * 3 / 10 + 100 * 6 + 10 * 15),
            ("lost", input * 3 + output * 15),
        ]
    );
    let told: Value = table.get("/__fake/bill").await.json().await.unwrap();
    assert_eq!(told["micro_dollars"], table.server.billed());
    assert_eq!(told["calls"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_billed_up_to_there() {
    let table = Table::set(json!({"rules": [
        titled("cut", json!({"kind": "cut", "after_deltas": 3})),
        titled("event", json!({"kind": "error-event", "after_deltas": 3, "error": {"type": "api_error", "message": ""}})),
        titled("none", json!({"kind": "cut"})),
    ]}))
    .await;
    for title in ["whole", "cut", "event", "none"] {
        table.ask(title).await;
    }
    let bill = settled(&table.server).await;
    let written: Vec<u64> = bill.iter().map(|call| call.tokens.output).collect();
    assert!(0 < written[1] && written[1] < written[0], "{written:?}");
    assert_eq!((written[2], written[3]), (written[1], 0));
    for call in &bill {
        let tokens = call.tokens;
        assert_eq!(call.micro_dollars, tokens.input * 3 + tokens.output * 15);
    }
}

#[tokio::test]
async fn a_client_that_leaves_pays_for_what_was_written_so_far() {
    let table = Table::set(json!({"rules": [
        {"request": 1, "reply": {"kind": "answer", "event_delay_ms": 20, "output_tokens": 1000}},
    ]}))
    .await;
    let mut body = message();
    body["stream"] = json!(true);
    let mut response = table.post("/v1/messages", &body).await.unwrap();
    let mut seen = String::new();
    while !seen.contains("text_delta") {
        let chunk = response.chunk().await.unwrap().unwrap();
        seen.push_str(&String::from_utf8_lossy(&chunk));
    }
    drop(response);
    let written = settled(&table.server).await[0].tokens.output;
    assert!(0 < written && written < 1_000, "{written}");
}

#[tokio::test]
async fn batches_cost_half_and_only_for_what_succeeded() {
    let table = Table::set(json!({
        "batches": {"seconds": 60},
        "rules": [{"custom_id": "bad", "reply": {"kind": "fault", "fault": "internal"}}],
    }))
    .await;
    let batch = table
        .create_batch(&["good-1", "good-2", "bad-1"])
        .await
        .unwrap();
    assert_eq!(batch["request_counts"]["processing"], 3);
    assert_eq!(table.server.billed(), 0, "nothing was worked yet");
    let advanced = table
        .post("/__fake/advance", &json!({"seconds": 60}))
        .await
        .unwrap();
    assert_eq!(advanced.status(), StatusCode::OK);
    let bill = table.server.bill();
    assert_eq!(bill.len(), 2);
    for call in &bill {
        let tokens = call.tokens;
        let whole = tokens.input * 3 + tokens.output * 15;
        assert_eq!(call.micro_dollars, whole.div_ceil(2));
        assert_eq!(call.batch.as_deref(), batch["id"].as_str());
    }
    let batches = table.server.batches();
    let statuses: Vec<_> = batches[0]
        .requests
        .iter()
        .map(|request| request.status)
        .collect();
    assert_eq!(statuses, ["succeeded", "succeeded", "errored"]);
}

#[tokio::test]
async fn a_batch_may_be_there_although_its_sender_never_heard_of_it() {
    let table = Table::set(json!({
        "batches": {"listed_after_seconds": 120},
        "rules": [
            {"call": "create-batch", "request": 1, "reply": {"kind": "lost"}},
            {"call": "create-batch", "request": 2, "reply": {"kind": "fault", "fault": "overloaded"}},
        ],
    }))
    .await;
    assert!(
        table.create_batch(&["job-1"]).await.is_err(),
        "the answer is lost"
    );
    let refused = table.create_batch(&["job-2"]).await.unwrap();
    assert_eq!(refused["error"]["type"], "overloaded_error");
    let listed = || async {
        table
            .get("/v1/messages/batches")
            .await
            .json::<Value>()
            .await
    };
    assert_eq!(
        listed().await.unwrap()["data"],
        json!([]),
        "it is listed late"
    );
    table.server.advance(Duration::from_secs(120));
    let data = listed().await.unwrap()["data"].clone();
    assert_eq!(data.as_array().unwrap().len(), 1);
    let batches = table.server.batches();
    assert_eq!(batches.len(), 1, "one was created");
    assert_eq!(batches[0].requests[0].custom_id, "job-1");
}

#[tokio::test]
async fn the_headers_tell_what_is_left_and_never_swap_input_and_output() {
    let table = Table::set(json!({
        "limits": {"minute": {"requests": 10, "input_tokens": 30_000, "output_tokens": 6_000}},
        "rules": [{"request": 1, "reply": {"kind": "answer", "input_tokens": 4000, "output_tokens": 3000}}],
    }))
    .await;
    table.post("/v1/messages", &message()).await.unwrap();
    let second = table.post("/v1/messages", &message()).await.unwrap();
    let headers = second.headers();
    let told = |what: &str| {
        ["limit", "remaining", "reset"].map(|part| {
            headers[format!("anthropic-ratelimit-{what}-{part}")]
                .to_str()
                .unwrap()
        })
    };
    assert_eq!(told("requests")[..2], ["10", "8"]);
    assert_eq!(
        told("input-tokens")[..2],
        ["30000", "30000"],
        "to the nearest thousand"
    );
    assert_eq!(told("output-tokens")[..2], ["6000", "3000"]);
    assert_eq!(told("tokens")[..2], ["6000", "3000"], "the scarcest");
    let reset: Timestamp = told("output-tokens")[2].parse().unwrap();
    let wait = clock::since(reset, table.server.now()).as_secs();
    assert!(
        (30..=32).contains(&wait),
        "half of it is back after half a minute, not {wait} s"
    );
    for _ in 0..8 {
        table.post("/v1/messages", &message()).await.unwrap();
    }
    let refused = table.post("/v1/messages", &message()).await.unwrap();
    assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers()["retry-after"], "6");
    assert_eq!(table.server.refusals().requests, 1);
    table.server.advance(Duration::from_secs(6));
    let passed = table.post("/v1/messages", &message()).await.unwrap();
    assert_eq!(passed.status(), StatusCode::OK);
    assert_eq!(table.server.connections(), 1, "one connection for all");
}

#[tokio::test]
async fn a_cap_is_reached_by_what_is_billed() {
    let table = Table::set(json!({
        "spend": {"tier_cap": 5_000},
        "rules": [{"request": 1, "reply": {"kind": "answer", "output_tokens": 400}}],
    }))
    .await;
    let first = table.post("/v1/messages", &message()).await.unwrap();
    assert_eq!(first.status(), StatusCode::OK);
    for (path, body) in [
        ("/v1/messages", message()),
        (
            "/v1/messages/batches",
            json!({"requests": [{"custom_id": "job-1", "params": message()}]}),
        ),
    ] {
        let refused = table.post(path, &body).await.unwrap();
        assert_eq!(refused.status(), StatusCode::TOO_MANY_REQUESTS);
        let told: Value = refused.json().await.unwrap();
        assert_eq!(
            told["error"]["details"]["error_code"],
            "enforced_spend_limit_reached"
        );
    }
    assert!(table.server.billed() >= 5_000);
}
