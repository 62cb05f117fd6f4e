//! What a model takes of a request's fields, besides its messages.

use serde_json::Value;

use super::check::invalid;
use super::fault::Canned;
use super::models::{Model, Thinking};

const SAMPLING: [&str; 3] = ["temperature", "top_p", "top_k"];
const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];

/// Checks the fields against the model and the version of the API.
pub(super) fn check(model: &Model, is_newest: bool, value: &Value) -> Result<(), Canned> {
    check_sampling(model, is_newest, value)?;
    check_thinking(model, &value["thinking"]["type"])?;
    check_effort(model, &value["output_config"]["effort"])?;
    let messages = value["messages"].as_array();
    let last = messages.and_then(|messages| messages.last());
    if !model.takes_prefill && last.is_some_and(|last| last["role"] == "assistant") {
        return Err(invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message.",
        ));
    }
    if let Some(most) = value["max_tokens"].as_u64()
        && most > model.output
    {
        return Err(invalid(format!(
            "max_tokens: {most} > {}, which is the maximum allowed number of output tokens for {}",
            model.output, model.id
        )));
    }
    Ok(())
}

fn check_sampling(model: &Model, is_newest: bool, value: &Value) -> Result<(), Canned> {
    for field in SAMPLING {
        let Some(given) = value.get(field) else {
            continue;
        };
        if is_newest {
            return Err(invalid(format!("{field}: Extra inputs are not permitted")));
        }
        let is_usual = field != "top_k" && given.as_f64().is_some_and(|given| given == 1.0);
        if !model.takes_sampling && !is_usual {
            return Err(invalid(format!("{field}: not supported for this model")));
        }
    }
    Ok(())
}

fn check_thinking(model: &Model, kind: &Value) -> Result<(), Canned> {
    let refused = match (kind.as_str(), model.thinking) {
        (None, _) if kind.is_null() => return Ok(()),
        (Some("enabled"), _) if !model.takes_sampling => {
            "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior."
        }
        (Some("adaptive"), Thinking::Budgeted) => {
            "adaptive thinking is not supported on this model"
        }
        (Some("disabled"), Thinking::Firm) => {
            "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.between_tools\"."
        }
        (Some("disabled"), Thinking::Always) => {
            "\"thinking.type.disabled\" is not supported for this model."
        }
        (Some("between_tools"), Thinking::Firm)
        | (Some("enabled" | "adaptive" | "disabled"), _) => return Ok(()),
        (Some("between_tools"), _) => {
            "\"thinking.type.between_tools\" is not supported for this model."
        }
        _ => "thinking.type: Input should be 'adaptive', 'between_tools', 'disabled' or 'enabled'",
    };
    Err(invalid(refused))
}

fn check_effort(model: &Model, effort: &Value) -> Result<(), Canned> {
    if effort.is_null() {
        return Ok(());
    }
    if !effort.as_str().is_some_and(|word| EFFORTS.contains(&word)) {
        return Err(invalid(
            "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
        ));
    }
    if !model.takes_effort() {
        return Err(invalid("This model does not support the effort parameter."));
    }
    Ok(())
}
