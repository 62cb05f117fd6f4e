//! The models that the server knows, and the calls about them.

mod table;

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::Shared;
use super::check::invalid;
use super::fault::Canned;
use super::page;
use super::script::Call;
use super::server::{Answered, Done, Head, other};

pub(super) use table::{Model, Thinking};

use table::MODELS;

const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lifecycle {
    Active,
    Deprecated,
    Retired,
}

impl Lifecycle {
    fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
            Self::Retired => "retired",
        }
    }
}

impl Model {
    fn lifecycle(&self, now: Timestamp) -> Lifecycle {
        let gone_by = |date: Option<&str>| date.and_then(midnight).is_some_and(|date| now >= date);
        if gone_by(self.retires) {
            Lifecycle::Retired
        } else if gone_by(self.deprecated) {
            Lifecycle::Deprecated
        } else {
            Lifecycle::Active
        }
    }

    /// The most pages of PDFs in one request.
    pub(super) fn most_pages(&self) -> u64 {
        if self.window < 1_000_000 { 100 } else { 600 }
    }

    /// Whether it thinks without being asked to.
    pub(super) fn thinks(&self) -> bool {
        matches!(
            self.thinking,
            Thinking::Usual | Thinking::Firm | Thinking::Always
        )
    }

    pub(super) fn takes_effort(&self) -> bool {
        self.thinking != Thinking::Budgeted
    }
}

/// The model that an id names and that answers at this moment; ids with a date may be given without it.
pub(super) fn find(id: &str, now: Timestamp) -> Result<&'static Model, Canned> {
    known(id)
        .filter(|model| !model.restricted && model.lifecycle(now) != Lifecycle::Retired)
        .ok_or_else(|| not_found(id))
}

fn known(id: &str) -> Option<&'static Model> {
    MODELS.iter().find(|model| {
        model.id == id
            || model
                .id
                .strip_prefix(id)
                .is_some_and(|rest| rest.starts_with("-202"))
    })
}

fn not_found(id: &str) -> Canned {
    Canned::error(404, "not_found_error", &format!("model: {id}"))
}

/// `GET /v1/models`.
pub(super) async fn list(State(shared): State<Arc<Shared>>, request: Request) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::ListModels, &head, || {
        let now = shared.clock.now();
        let mut wanted = page::values(&head.query, "lifecycle");
        if let Some(strange) = wanted
            .iter()
            .find(|word| !["active", "deprecated", "retired"].contains(word))
        {
            return Err(invalid(format!(
                "lifecycle: Input should be 'active', 'deprecated' or 'retired', not '{strange}'"
            )));
        }
        if wanted.is_empty() {
            wanted = vec!["active", "deprecated"];
        }
        let listed: Vec<_> = MODELS
            .iter()
            .filter(|model| !model.restricted && wanted.contains(&model.lifecycle(now).word()))
            .map(|model| (model.id, describe(model, now)))
            .collect();
        page::by_id(&listed, &head.query).map(Done::Json)
    })
    .await
}

/// `GET /v1/models/{id}`.
pub(super) async fn retrieve(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    request: Request,
) -> Answered {
    let head = Head::of(&shared, &request);
    other(&shared, Call::GetModel, &head, || {
        // Retired ones stay as a record.
        known(&id)
            .filter(|model| !model.restricted)
            .map(|model| Done::Json(describe(model, shared.clock.now())))
            .ok_or_else(|| not_found(&id))
    })
    .await
}

fn midnight(date: &str) -> Option<Timestamp> {
    format!("{date}T00:00:00Z").parse().ok()
}

fn describe(model: &Model, now: Timestamp) -> Value {
    let lifecycle = model.lifecycle(now);
    let moment = |date: Option<&str>| {
        date.filter(|_| lifecycle != Lifecycle::Active)
            .map(|date| format!("{date}T00:00:00Z"))
    };
    let supported = |supported: bool| json!({"supported": supported});
    let mut effort = supported(model.takes_effort());
    for level in EFFORTS {
        effort[level] = supported(model.takes_effort());
    }
    json!({
        "type": "model",
        "id": model.id,
        "display_name": model.name,
        "created_at": format!("{}T00:00:00Z", model.created),
        "lifecycle": lifecycle.word(),
        "deprecated_at": moment(model.deprecated),
        "retires_at": moment(model.retires),
        "line": model.line,
        "max_input_tokens": model.window,
        "max_tokens": model.output,
        "capabilities": {
            "batch": supported(true),
            "citations": supported(true),
            "code_execution": supported(true),
            "context_management": supported(true),
            "effort": effort,
            "image_input": supported(true),
            "pdf_input": supported(true),
            "server_tools": {
                "code_execution": supported(true),
                "supported": true,
                "web_search": supported(true),
            },
            "structured_outputs": supported(true),
            "thinking": {
                "supported": true,
                "types": {
                    "adaptive": supported(model.thinking != Thinking::Budgeted),
                    "between_tools": supported(model.thinking == Thinking::Firm),
                    "disabled": supported(!matches!(
                        model.thinking,
                        Thinking::Firm | Thinking::Always
                    )),
                    "enabled": supported(model.takes_sampling),
                },
            },
        },
    })
}
