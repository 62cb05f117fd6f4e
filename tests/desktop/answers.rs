//! What commands answer, in the shape that the interface reads.

use serde_json::json;

use crate::shell::Shell;

#[test]
fn settings_are_stored_and_answered_in_camel_case() {
    let shell = Shell::start();
    let mut settings = shell.call("settings", json!({})).unwrap();
    assert_eq!(settings["welcomed"], false);
    settings["welcomed"] = json!(true);
    settings["maxTokens"] = json!(1234);
    let stored = shell
        .call("save_settings", json!({ "settings": settings }))
        .unwrap();
    assert_eq!(stored, settings);
    assert_eq!(shell.call("settings", json!({})).unwrap(), settings);
}

#[test]
fn an_unknown_job_is_a_problem_with_code_message_and_hint() {
    let shell = Shell::start();
    let problem = shell
        .call("job", json!({ "jobId": "no-such-job" }))
        .unwrap_err();
    assert_eq!(problem["code"], "not-found");
    assert!(
        problem["message"].as_str().unwrap().contains("no-such-job"),
        "{problem}"
    );
    assert_ne!(problem["hint"], "");
}

#[test]
fn an_empty_prompt_is_refused_and_leaves_no_job() {
    let shell = Shell::start();
    let submission = json!({
        "name": "Prompt", "queue": "high", "template": "pdf-summarize-v1",
        "provider": "offline", "model": null, "capMicros": null, "paused": false,
    });
    let problem = shell
        .call(
            "submit_prompt",
            json!({ "prompt": "  ", "submission": submission }),
        )
        .unwrap_err();
    assert_eq!(problem["code"], "bad-input");
    let page = shell
        .call(
            "jobs",
            json!({ "filter": { "shown": "all" }, "after": null, "limit": 10 }),
        )
        .unwrap();
    assert_eq!(page["total"], 0);
}

#[test]
fn a_key_goes_in_and_never_comes_out() {
    const KEY: &str = "sk-ant-secret-0123456789-tail";
    let shell = Shell::start();
    let status = shell
        .call("save_key", json!({ "key": KEY, "sessionOnly": true }))
        .unwrap();
    assert_eq!(status["source"], "session");
    assert_eq!(status["ending"], "tail");
    for command in ["overview", "settings", "templates"] {
        let answer = shell.call(command, json!({})).unwrap().to_string();
        assert!(
            !answer.contains("secret"),
            "{command} shows the key: {answer}"
        );
    }
    let problem = shell.call("test_key", json!({})).unwrap_err();
    assert!(!problem.to_string().contains("secret"), "{problem}");
    assert_eq!(
        shell.call("remove_key", json!({})).unwrap()["source"],
        "none"
    );
}

#[test]
fn only_files_of_jobs_are_opened() {
    let shell = Shell::start();
    let stranger = shell.folder.path().join("stranger.pdf");
    std::fs::write(&stranger, "%PDF-1.4").unwrap();
    for command in ["open_path", "reveal_path"] {
        for path in [
            stranger.to_str().unwrap(),
            "/etc/passwd",
            "",
            "relative.pdf",
        ] {
            let problem = shell.call(command, json!({ "path": path })).unwrap_err();
            assert_eq!(problem["code"], "not-found", "{command} {path}");
        }
    }
}

#[test]
fn only_https_addresses_are_opened() {
    let shell = Shell::start();
    for url in [
        "http://example.com",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "nonsense",
    ] {
        let problem = shell.call("open_url", json!({ "url": url })).unwrap_err();
        assert_eq!(problem["code"], "bad-input", "{url}");
    }
}
