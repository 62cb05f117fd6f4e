//! The models that the server knows.

use serde_json::{Value, json};

struct Model {
    id: &'static str,
    name: &'static str,
    lifecycle: &'static str,
    window: u64,
    output: u64,
}

const MODELS: [Model; 9] = [
    // Newer than any price table.
    model("claude-preview-6", "Claude Preview 6", "active", 1_000_000),
    model("claude-fable-5-2", "Claude Fable 5.2", "active", 1_000_000),
    model("claude-haiku-5-5", "Claude Haiku 5.5", "active", 1_000_000),
    model(
        "claude-sonnet-5-5",
        "Claude Sonnet 5.5",
        "active",
        1_000_000,
    ),
    model("claude-opus-5-5", "Claude Opus 5.5", "active", 1_000_000),
    model("claude-sonnet-5", "Claude Sonnet 5", "active", 1_000_000),
    model(
        "claude-sonnet-4-6",
        "Claude Sonnet 4.6",
        "active",
        1_000_000,
    ),
    model(
        "claude-opus-4-5-20251101",
        "Claude Opus 4.5",
        "deprecated",
        200_000,
    ),
    model(
        "claude-haiku-4-5-20251001",
        "Claude Haiku 4.5",
        "active",
        200_000,
    ),
];

const fn model(
    id: &'static str,
    name: &'static str,
    lifecycle: &'static str,
    window: u64,
) -> Model {
    Model {
        id,
        name,
        lifecycle,
        window,
        output: if window < 1_000_000 { 64_000 } else { 128_000 },
    }
}

/// Says how large the context window of a model is; `None` when there is no such model.
pub(super) fn window(id: &str) -> Option<u64> {
    find(id).map(|model| model.window)
}

/// The answer to `GET /v1/models`.
pub(super) fn list() -> Value {
    let data: Vec<Value> = MODELS.iter().map(describe).collect();
    json!({
        "data": data,
        "has_more": false,
        "first_id": MODELS[0].id,
        "last_id": MODELS[MODELS.len() - 1].id,
    })
}

/// The answer to `GET /v1/models/{id}`.
pub(super) fn one(id: &str) -> Option<Value> {
    find(id).map(describe)
}

fn find(id: &str) -> Option<&'static Model> {
    // Ids with a date may be asked for without it.
    MODELS.iter().find(|model| {
        model.id == id
            || model
                .id
                .strip_prefix(id)
                .is_some_and(|rest| rest.starts_with("-202"))
    })
}

fn describe(model: &Model) -> Value {
    json!({
        "type": "model",
        "id": model.id,
        "display_name": model.name,
        "created_at": "2026-02-17T00:00:00Z",
        "lifecycle": model.lifecycle,
        "deprecated_at": null,
        "retires_at": null,
        "line": null,
        "max_input_tokens": model.window,
        "max_tokens": model.output,
        "capabilities": {
            "batch": {"supported": true},
            "citations": {"supported": true},
            "image_input": {"supported": true},
            "pdf_input": {"supported": true},
        },
    })
}
