//! Gistmill's own client goes through the scenarios of `tests/support/scenarios`, and is compared with the official SDK.
//!
//! What became of the SDK is in `outcomes/sdk.json`, which tests/sdk keeps true; what became of Gistmill is in
//! `outcomes/gistmill.json`, which this test keeps true. `outcomes/TABLE.md` shows the two side by side. Where they
//! don't agree the scenario says why, in `differs`. After a change that is meant, `UPDATE_OUTCOMES=1` writes
//! both files anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use gistmill_engine::model::{Cause, CauseClass};
use gistmill_engine::provider::claude::ClaudeProvider;
use gistmill_engine::provider::{
    Answer, DocumentContent, Failure, Request, RequestDocument, Shape,
};
use gistmill_testkit::fake_claude::{Ask, AskKind, FakeClaude, Options, Scenario};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::claude::{MODEL, deliver, patient, provider_at};

/// What became of one call.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Outcome {
    class: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_write: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_read: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    models: Option<usize>,
    /// What the SDK tells besides, which nothing of Gistmill is compared with.
    #[serde(skip_serializing)]
    code: Option<String>,
    #[serde(skip_serializing)]
    batch: Option<String>,
    #[serde(skip_serializing)]
    custom_id: Option<String>,
    #[serde(skip_serializing)]
    file: Option<String>,
    #[serde(skip_serializing)]
    deleted: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

type Outcomes = BTreeMap<String, Vec<Outcome>>;

fn folder() -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/support/scenarios"
    ))
}

fn scenarios() -> BTreeMap<String, PathBuf> {
    fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .map(|path| {
            (
                path.file_stem().unwrap().to_string_lossy().into_owned(),
                path,
            )
        })
        .collect()
}

fn digest(text: &str) -> String {
    hex::encode(Sha256::digest(text))[..12].to_owned()
}

fn word(class: CauseClass) -> String {
    match class {
        CauseClass::Review => "review",
        CauseClass::Retry => "retry",
        CauseClass::Item => "item",
        CauseClass::Queue => "queue",
    }
    .to_owned()
}

fn answered(answer: &Answer) -> Outcome {
    let usage = answer.usage;
    let some = |tokens: u64| (tokens > 0).then_some(tokens);
    Outcome {
        class: match &answer.review {
            Some((cause, _)) => word(cause.class()),
            None => "success".to_owned(),
        },
        cause: answer.review.as_ref().map(|(cause, _)| cause.key()),
        stop_reason: answer.stop_reason.clone(),
        input_tokens: Some(usage.input_tokens),
        cache_write: some(usage.cache_creation_input_tokens),
        cache_read: some(usage.cache_read_input_tokens),
        output_tokens: Some(usage.output_tokens),
        text: Some(digest(&answer.text)),
        ..Outcome::default()
    }
}

/// The failure of delivery `number`, as the queue takes it: the server's own word on retrying wins, but for what
/// would meet every job.
fn failed(failure: &Failure, number: usize) -> Outcome {
    let class = match (failure.cause.class(), failure.should_retry) {
        (CauseClass::Queue, _) => CauseClass::Queue,
        (_, Some(true)) => CauseClass::Retry,
        (_, Some(false)) => CauseClass::Item,
        _ if failure.cause == Cause::PdfNotProcessed && number > 2 => CauseClass::Item,
        (class, None) => class,
    };
    let wait = failure.retry_after.map(|wait| wait.as_secs_f64());
    Outcome {
        class: word(class),
        cause: Some(failure.cause.key()),
        status: failure.http_status,
        retry_after: wait.filter(|_| class == CauseClass::Retry),
        ..Outcome::default()
    }
}

/// Plays a scenario; `None` where it asks what Gistmill's client doesn't.
async fn play(scenario: Scenario) -> Option<Vec<Outcome>> {
    let ask = scenario.ask.clone();
    let server = FakeClaude::start_with(Options {
        scenario,
        ..Options::default()
    })
    .await
    .unwrap();
    let provider = provider_at(&server.url(), patient());
    let directory = TempDir::new().unwrap();
    let request = request(&ask, &directory);
    let mut outcomes = Vec::new();
    for number in 1..=ask.calls {
        let outcome = match ask.kind {
            AskKind::Message => message(&provider, &request, number).await,
            AskKind::Count => count(&provider, &request, number).await,
            AskKind::Models => models(&provider).await,
            AskKind::Batch | AskKind::File => return None,
        };
        let passes = outcome.class == "retry" && number < ask.calls;
        if !ask.retried || !passes {
            outcomes.push(outcome);
        }
        if ask.retried && !passes {
            break;
        }
        server.advance(Duration::from_secs(ask.advance_seconds));
    }
    Some(outcomes)
}

fn request(ask: &Ask, directory: &TempDir) -> Request {
    let document = ask.document.map(|document| {
        let bytes = document.bytes();
        let path = directory.path().join("paper.pdf");
        fs::write(&path, &bytes).unwrap();
        RequestDocument {
            content: DocumentContent::File {
                path,
                bytes: bytes.len() as u64,
            },
            pages: Some(document.pages),
            first_page: 1,
            name: "paper.pdf".to_owned(),
        }
    });
    Request {
        document,
        prompt: ask.prompt.repeat(ask.repeated),
        model: ask.model.clone(),
        max_tokens: ask.max_tokens,
        shape: if ask.cited {
            Shape::CitedText
        } else {
            Shape::Text
        },
    }
}

async fn message(provider: &ClaudeProvider, request: &Request, number: usize) -> Outcome {
    match deliver(provider, request).await {
        Ok(answer) => answered(&answer),
        Err(failure) => failed(&failure, number),
    }
}

async fn count(provider: &ClaudeProvider, request: &Request, number: usize) -> Outcome {
    let cancel = CancellationToken::new();
    match provider.count_tokens(request, &cancel).await {
        Ok(tokens) => Outcome {
            class: "success".to_owned(),
            input_tokens: Some(tokens),
            ..Outcome::default()
        },
        Err(failure) => failed(&failure, number),
    }
}

async fn models(provider: &ClaudeProvider) -> Outcome {
    match provider.test_key(MODEL).await {
        Ok(test) => {
            let mut ids = test.models;
            ids.sort();
            Outcome {
                class: "success".to_owned(),
                models: Some(ids.len()),
                text: Some(digest(&ids.join("\n"))),
                ..Outcome::default()
            }
        }
        Err(failure) => failed(&failure, 1),
    }
}

/// Says what the two don't agree on, call by call.
fn disagreements(sdk: &[Outcome], ours: &[Outcome]) -> Vec<String> {
    let mut found = Vec::new();
    if sdk.len() != ours.len() {
        found.push(format!("{} calls against {}", sdk.len(), ours.len()));
    }
    for (sdk, ours) in sdk.iter().zip(ours) {
        if sdk.class != ours.class {
            found.push(format!("{} against {}", sdk.class, ours.class));
        }
        if let (Some(sdk), Some(ours)) = (sdk.status, ours.status)
            && sdk != ours
        {
            found.push(format!("status {sdk} against {ours}"));
        }
        let retried = sdk.class == "retry" && ours.class == "retry";
        if retried && sdk.retry_after != ours.retry_after {
            found.push(format!(
                "a wait of {:?} against {:?}",
                sdk.retry_after, ours.retry_after
            ));
        }
        let told = |outcome: &Outcome| Outcome {
            class: String::new(),
            cause: None,
            status: None,
            retry_after: None,
            code: None,
            ..outcome.clone()
        };
        if told(sdk) != told(ours) {
            found.push("another answer".to_owned());
        }
    }
    found
}

fn in_short(outcomes: &[Outcome]) -> String {
    let words = |outcome: &Outcome| {
        let mut words = Vec::new();
        words.extend(outcome.custom_id.as_ref().map(|id| format!("{id}:")));
        words.push(outcome.class.clone());
        words.extend(outcome.cause.clone());
        words.extend(outcome.batch.clone());
        words.extend(outcome.file.clone());
        words.extend(outcome.deleted.map(|_| "deleted".to_owned()));
        words.extend(outcome.code.clone());
        words.extend(outcome.status.map(|status| status.to_string()));
        words.extend(outcome.stop_reason.clone());
        words.extend(outcome.retry_after.map(|wait| format!("after {wait} s")));
        words.join(" ").trim().to_owned()
    };
    outcomes.iter().map(words).collect::<Vec<_>>().join("; ")
}

/// What the SDK tells of batches and files has other fields, which are for its own test.
fn sdk() -> Outcomes {
    let text = fs::read(folder().join("outcomes/sdk.json")).unwrap();
    let every: BTreeMap<String, Vec<Value>> = serde_json::from_slice(&text).unwrap();
    every
        .into_iter()
        .map(|(name, calls)| {
            let calls = calls
                .into_iter()
                .map(|call| serde_json::from_value(call).unwrap())
                .collect();
            (name, calls)
        })
        .collect()
}

fn kept<T: AsRef<[u8]>>(name: &str, now: T) -> bool {
    let path = folder().join("outcomes").join(name);
    if std::env::var("UPDATE_OUTCOMES").is_ok_and(|value| value == "1") {
        fs::write(&path, &now).unwrap();
    }
    fs::read(path).is_ok_and(|known| known == now.as_ref())
}

#[tokio::test]
#[expect(clippy::print_stdout, reason = "the table is what this test is for")]
async fn the_official_sdk_and_gistmill_agree_or_it_is_said_why_not() {
    let sdk = sdk();
    let mut ours = Outcomes::new();
    let mut wrong = Vec::new();
    let mut table = "| scenario | SDK | Gistmill | agree |\n|---|---|---|---|\n".to_owned();
    for (name, path) in scenarios() {
        let scenario = Scenario::read(&path).unwrap();
        let differs = scenario.differs.clone();
        let Some(theirs) = sdk.get(&name) else {
            wrong.push(format!("{name}: the SDK was not asked"));
            continue;
        };
        let Some(outcomes) = play(scenario).await else {
            writeln!(table, "| {name} | {} | | not asked |", in_short(theirs)).unwrap();
            continue;
        };
        let found = disagreements(theirs, &outcomes);
        let agree = match (&differs, found.is_empty()) {
            (None, true) => "yes".to_owned(),
            (Some(reason), false) => format!("no: {reason}"),
            (None, false) => {
                wrong.push(format!("{name}: {}", found.join(", ")));
                "NO".to_owned()
            }
            (Some(_), true) => {
                wrong.push(format!(
                    "{name}: they agree, so there is nothing to explain"
                ));
                "yes".to_owned()
            }
        };
        writeln!(
            table,
            "| {name} | {} | {} | {agree} |",
            in_short(theirs),
            in_short(&outcomes)
        )
        .unwrap();
        ours.insert(name, outcomes);
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let written = serde_json::to_string_pretty(&ours).unwrap() + "\n";
    assert!(
        kept("gistmill.json", written),
        "not what is written in outcomes/gistmill.json"
    );
    assert!(
        kept("TABLE.md", table),
        "not what is written in outcomes/TABLE.md"
    );
}
