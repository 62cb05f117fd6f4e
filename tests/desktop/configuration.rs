//! What `tauri.conf.json` promises.

use serde_json::Value;

fn configuration() -> Value {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tauri.conf.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn the_page_may_load_nothing_from_outside() {
    let policy = configuration()["app"]["security"]["csp"]
        .as_str()
        .unwrap()
        .to_owned();
    for directive in policy.split(';').map(str::trim) {
        let mut words = directive.split_whitespace();
        let name = words.next().unwrap();
        for source in words {
            assert!(
                ["'self'", "data:", "ipc:", "http://ipc.localhost"].contains(&source)
                    || (name, source) == ("style-src", "'unsafe-inline'"),
                "{name} must not allow {source}"
            );
        }
    }
    assert!(
        policy.starts_with("default-src 'self'"),
        "what is not named falls back to this"
    );
}

#[test]
fn the_page_may_ask_for_events_only() {
    let configuration = configuration();
    let capabilities = configuration["app"]["security"]["capabilities"]
        .as_array()
        .unwrap();
    assert_eq!(capabilities.len(), 1);
    assert_eq!(
        capabilities[0]["permissions"],
        serde_json::json!(["core:event:default"])
    );
}

#[test]
fn no_development_server_is_configured() {
    assert_eq!(
        configuration()["build"],
        serde_json::json!({ "frontendDist": "ui/dist" }),
        "with a devUrl a plain `cargo build` shows a blank window"
    );
}
