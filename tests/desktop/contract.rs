//! The interface's calls in `ui/src/backend/tauri.ts` against the commands that are registered.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::shell::Shell;

/// Commands that open a dialog or a program of the system, so that a test can't call them.
const OPENS_SOMETHING: [&str; 6] = [
    "choose_certificates",
    "choose_files",
    "choose_folder",
    "export_jobs",
    "export_template",
    "import_template",
];

/// Arguments that may be nothing.
const MAY_BE_LEFT_OUT: [&str; 5] = ["address", "after", "capMicros", "model", "secret"];

fn source(path: &str) -> String {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The names of the commands that the interface calls, each with the names of its arguments.
fn called() -> BTreeMap<String, Vec<String>> {
    let text = source("ui/src/backend/tauri.ts");
    let calls = text.split("invoke").skip(1).filter_map(|call| {
        // Some say what comes back: `invoke<string[]>('name')`.
        let (kind, call) = call.split_once("('")?;
        let is_call = kind.is_empty() || (kind.starts_with('<') && kind.ends_with('>'));
        let (name, rest) = call.split_once('\'').filter(|_| is_call)?;
        let arguments = rest
            .strip_prefix(", {")
            .and_then(|rest| rest.split_once('}'))
            .map(|(arguments, _)| {
                arguments
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .collect()
            })
            .unwrap_or_default();
        Some((name.to_owned(), arguments))
    });
    calls.collect()
}

/// The names of the commands that the shell registers.
fn registered() -> BTreeSet<String> {
    let text = source("src-tauri/src/commands.rs");
    let (_, list) = text.split_once("generate_handler![").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split(',')
        .filter_map(|path| path.trim().rsplit_once("::"))
        .map(|(_, name)| name.to_owned())
        .collect()
}

/// A value for each argument that a command has, of the right shape but naming nothing.
fn value(argument: &str) -> Value {
    match argument {
        "filter" => json!({ "shown": "all", "queue": null, "batchId": null, "text": null }),
        "after" => Value::Null,
        "order" => json!({ "by": "pages", "descending": true }),
        "offset" => json!(0),
        "limit" => json!(10),
        "jobId" => json!("no-such-job"),
        "jobIds" => json!(["no-such-job", "nor-this-one"]),
        "batchId" => json!("no-such-batch"),
        "selection" => json!({ "select": "jobs", "jobIds": ["no-such-job", "nor-this-one"] }),
        "changes" => json!({ "model": null, "queue": "bulk" }),
        "action" => json!({ "action": "move-to", "queue": "bulk" }),
        "place" => json!({ "place": "before", "jobId": "nor-this-one" }),
        "capMicros" => Value::Null,
        "queue" => json!("bulk"),
        "paused" | "sessionOnly" => json!(true),
        "provider" => json!("offline"),
        // Of the program and of a lane: each takes what it knows.
        "settings" => json!({
            "provider": "offline", "maxTokens": 2048, "maxBatchSize": 5, "maxBatchTimeoutMs": 0,
            "maxRetries": 5, "maxConcurrency": 10, "deliveryDelayMs": 0,
            "delivery": "each", "remoteRequests": 1000, "remoteWaitMs": 60000,
        }),
        "paths" => json!(["/no/such/file.pdf"]),
        "scanId" => json!(4_000_000),
        "submission" => json!({
            "name": "Leases", "queue": "high", "template": "pdf-summarize-v1",
            "provider": "offline", "model": null, "capMicros": null, "paused": false,
        }),
        "price" => json!({
            "model": "llama", "input": 0, "output": 0, "cacheWrite": 0, "cacheRead": 0,
            "batchPercent": 100, "longPrompt": null,
        }),
        "model" => json!("llama"),
        "models" => json!(["llama", "claude-haiku-4-5"]),
        "kind" => json!("ollama"),
        "address" => json!("http://127.0.0.1:9"),
        "secret" => Value::Null,
        "prompt" => json!(""),
        "password" => json!("open sesame"),
        "page" => json!(1),
        "length" => json!(1024),
        "key" => json!("sk-ant-test-0123456789"),
        "path" => json!("/no/such/file.pdf"),
        "url" => json!("http://example.com"),
        "draft" => json!({ "name": "", "kind": "prose", "body": "", "fields": [] }),
        "templateId" => json!("no-such-template"),
        "template" => json!("no-such-template-v1"),
        "variables" => json!({ "tone": "dry" }),
        "request" => json!({
            "selection": { "select": "jobs", "jobIds": [] }, "format": "csv", "byteOrderMark": true,
        }),
        "name" => json!("Results"),
        "bucket" => json!({ "bucket": "Not A Bucket" }),
        "text" => json!("hello there"),
        other => panic!("add a value for the argument {other}"),
    }
}

#[test]
fn names_are_those_that_the_interface_calls() {
    assert_eq!(called().into_keys().collect::<BTreeSet<_>>(), registered());
}

#[test]
fn arguments_are_those_that_the_interface_gives() {
    let shell = Shell::start();
    for (command, arguments) in called() {
        let given: Map<_, _> = arguments
            .iter()
            .map(|name| (name.clone(), value(name)))
            .collect();
        if !OPENS_SOMETHING.contains(&command.as_str())
            && let Err(error) = shell.call(&command, given.clone().into())
        {
            assert!(
                error["code"].is_string()
                    && error["message"].is_string()
                    && error["hint"].is_string(),
                "{command} must fail with a problem, not with {error}"
            );
        }
        // The other way round: each argument is really taken, under this very name.
        for missing in &arguments {
            let mut rest = given.clone();
            rest.remove(missing);
            if let Err(error) = shell.call(&command, rest.into())
                && let Some(message) = error.as_str()
            {
                assert!(
                    message.contains(&format!("`{missing}`")),
                    "{command}: {message}"
                );
            } else {
                assert!(
                    MAY_BE_LEFT_OUT.contains(&missing.as_str()),
                    "{missing} of {command} may not be left out"
                );
            }
        }
    }
}
