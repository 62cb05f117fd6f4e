//! Makes up answers.

use serde_json::{Value, json};

use super::bill::BilledTokens;
use super::journal::{Recorded, RecordedDocument};
use super::reply::Plan;

/// What the picture of a page costs.
const PICTURE: u64 = 1_574;
/// What the text of a page costs that was not read here.
const UNREAD_PAGE: u64 = 700;

/// A finished answer, before it is streamed or sent whole.
pub(super) struct Message {
    pub(super) id: String,
    pub(super) model: String,
    pub(super) thinking: Option<String>,
    /// `None` for no text block at all.
    pub(super) text: Option<String>,
    /// Text blocks after that one, each with its citations.
    pub(super) cited: Vec<(String, Value)>,
    pub(super) stop_reason: String,
    pub(super) stop_details: Value,
    pub(super) input_tokens: u64,
    pub(super) cache: Cache,
    pub(super) thinking_tokens: u64,
    /// All of them, thinking included.
    pub(super) output_tokens: u64,
}

/// Tokens of the input that the cache had a part in.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cache {
    pub(super) write_5m: u64,
    pub(super) write_1h: u64,
    pub(super) read: u64,
}

/// Counts the input as the API would, roughly.
pub(super) fn input_tokens(request: &Recorded) -> u64 {
    let text: u64 = request.documents.iter().map(text_tokens).sum();
    let pictures: u64 = request
        .documents
        .iter()
        .map(|document| document.pages * PICTURE)
        .sum();
    let text = request.prompt.chars().count() as u64 / 4 + 10 + text;
    let percent = if request.counts_more { 130 } else { 100 };
    text * percent / 100 + pictures
}

/// Counts the text of a document: a token for three and a half characters.
fn text_tokens(document: &RecordedDocument) -> u64 {
    let tokens = |text: &String| text.trim().chars().count() as u64 * 2 / 7;
    if let Some(text) = &document.text {
        return tokens(text);
    }
    let read = document.page_texts.len() as u64;
    let text: u64 = document.page_texts.iter().map(tokens).sum();
    text + document.pages.saturating_sub(read) * UNREAD_PAGE
}

impl Message {
    pub(super) fn new(plan: &Plan, request: &Recorded, number: usize) -> Self {
        let text = plan.text.clone().unwrap_or_else(|| match &request.schema {
            Some(schema) => example(schema).to_string(),
            None => summary(request),
        });
        let cited = match request.documents.first() {
            Some(document) if request.cited && plan.text.is_none() => cited(document),
            _ => Vec::new(),
        };
        let mut thinking = plan.thinking.clone();
        if request.thinks && !plan.no_content {
            thinking = thinking.or_else(|| Some(thought(request)));
        }
        let mut thinking_tokens = thinking
            .as_ref()
            .map_or(0, |thinking| thinking.len() as u64 / 4 + 1);
        let mut text = (!plan.no_content).then_some(text);
        let mut output_tokens =
            text.as_ref().map_or(0, String::len) as u64 / 4 + 3 + thinking_tokens;
        let mut stop_reason = "end_turn";
        let most = request.max_tokens.unwrap_or(u64::MAX);
        let is_free = plan.text.is_none() && plan.stop_reason.is_none();
        if is_free && plan.output_tokens.is_none() && output_tokens > most {
            // Thinking counts, too: it may leave no room for a text.
            stop_reason = "max_tokens";
            thinking_tokens = thinking_tokens.min(most);
            output_tokens = most;
            let room = (most - thinking_tokens) as usize * 4;
            text = text
                .map(|text| text.chars().take(room).collect::<String>())
                .filter(|text| !text.is_empty());
        }
        let output_tokens = plan.output_tokens.unwrap_or(output_tokens);
        let is_whole = text.is_some() && stop_reason == "end_turn";
        Self {
            id: format!("msg_{number:024}"),
            model: request.model.clone().unwrap_or_default(),
            thinking,
            output_tokens,
            thinking_tokens: thinking_tokens.min(output_tokens),
            cache: Cache {
                write_5m: plan.cache_write_5m,
                write_1h: plan.cache_write_1h,
                read: plan.cache_read,
            },
            text,
            cited: if is_whole { cited } else { Vec::new() },
            stop_reason: plan
                .stop_reason
                .clone()
                .unwrap_or_else(|| stop_reason.to_owned()),
            stop_details: plan.stop_details.clone().unwrap_or(Value::Null),
            input_tokens: plan.input_tokens.unwrap_or_else(|| input_tokens(request)),
        }
    }

    /// The answer as one JSON object.
    pub(super) fn whole(&self) -> Value {
        let mut content = Vec::new();
        if let Some(thinking) = &self.thinking {
            content.push(json!({"type": "thinking", "thinking": thinking, "signature": "c2ln"}));
        }
        if let Some(text) = &self.text {
            content.push(json!({"type": "text", "text": text, "citations": null}));
        }
        for (text, citations) in &self.cited {
            content.push(json!({"type": "text", "text": text, "citations": citations}));
        }
        let mut message = self.start();
        message["content"] = json!(content);
        message["stop_reason"] = json!(self.stop_reason);
        message["stop_details"] = self.stop_details.clone();
        message["usage"]["output_tokens"] = json!(self.output_tokens);
        message["usage"]["output_tokens_details"] =
            json!({"thinking_tokens": self.thinking_tokens});
        message
    }

    /// What is billed once it is written: nothing for what was declined before any output.
    pub(super) fn billed(&self) -> BilledTokens {
        if self.is_declined_at_once() {
            return BilledTokens::default();
        }
        BilledTokens {
            output: self.output_tokens,
            ..self.billed_input()
        }
    }

    pub(super) fn is_declined_at_once(&self) -> bool {
        self.stop_reason == "refusal" && self.text.is_none() && self.thinking.is_none()
    }

    pub(super) fn billed_input(&self) -> BilledTokens {
        BilledTokens {
            input: self.input_tokens,
            cache_write_5m: self.cache.write_5m,
            cache_write_1h: self.cache.write_1h,
            cache_read: self.cache.read,
            output: 0,
        }
    }

    /// The answer as `message_start` shows it: empty, with the input counted.
    pub(super) fn start(&self) -> Value {
        json!({
            "id": self.id,
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": [],
            "stop_reason": null,
            "stop_sequence": null,
            "stop_details": null,
            "usage": {
                "input_tokens": self.input_tokens,
                "cache_creation_input_tokens": self.cache.write_5m + self.cache.write_1h,
                "cache_read_input_tokens": self.cache.read,
                "cache_creation": {
                    "ephemeral_5m_input_tokens": self.cache.write_5m,
                    "ephemeral_1h_input_tokens": self.cache.write_1h
                },
                "output_tokens": 1,
                "service_tier": "standard",
            },
        })
    }
}

/// What is thought before an answer, the longer the more effort is asked for.
fn thought(request: &Recorded) -> String {
    let times = match request.effort.as_deref() {
        Some("low") => 1,
        Some("medium") => 4,
        None | Some("high") => 8,
        Some(_) => 16,
    };
    let step = "First what is asked, then what the document says of it, page by page. ";
    step.repeat(times).trim_end().to_owned()
}

/// Statements with the places that they come from: of a PDF the first page, and the first two where there
/// are two; of a text its beginning, and its end.
fn cited(document: &RecordedDocument) -> Vec<(String, Value)> {
    let place = |kind: &str, names: [&str; 2], [start, after]: [u64; 2]| {
        let mut place = json!({
            "type": kind,
            "cited_text": "What the document says.",
            "document_index": 0,
            "document_title": document.title,
            "file_id": null,
        });
        place[names[0]] = json!(start);
        // What follows the last one.
        place[names[1]] = json!(after);
        place
    };
    let (first, second) = if let Some(text) = &document.text {
        let all = text.chars().count() as u64;
        let names = ["start_char_index", "end_char_index"];
        (
            place("char_location", names, [0, all.min(20)]),
            place("char_location", names, [all.saturating_sub(5), all]),
        )
    } else {
        let names = ["start_page_number", "end_page_number"];
        (
            place("page_location", names, [1, 2]),
            place("page_location", names, [1, document.pages.min(2) + 1]),
        )
    };
    vec![
        ("\n## Findings\n\n- ".to_owned(), json!([])),
        (
            "The first page says what it is about.".to_owned(),
            json!([first]),
        ),
        ("\n- ".to_owned(), json!([])),
        (
            "The beginning goes on as it began.".to_owned(),
            json!([second]),
        ),
    ]
}

/// Makes up a value that follows a JSON Schema.
fn example(schema: &Value) -> Value {
    if let Some(first) = schema["anyOf"].get(0) {
        return example(first);
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    match (schema["type"].as_str(), schema["format"].as_str()) {
        (Some("object"), _) => schema["properties"]
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, property)| (name.clone(), example(property)))
            .collect::<serde_json::Map<_, _>>()
            .into(),
        (Some("array"), _) => json!([example(&schema["items"]), "another, with a comma"]),
        (Some("number"), _) => json!(-12.5),
        (Some("integer"), _) => json!(30),
        (Some("boolean"), _) => json!(true),
        (_, Some("date")) => json!("2026-01-31"),
        _ => json!("=Made up, \"quoted\" by a test server"),
    }
}

fn summary(request: &Recorded) -> String {
    let Some(document) = request.documents.first() else {
        let beginning: String = request.prompt.chars().take(60).collect();
        return format!(
            "**Answer.** You asked: “{}”. This is a made-up answer of a test server; it says nothing about the world.",
            beginning.trim()
        );
    };
    let title = document.title.as_deref().unwrap_or("Untitled document");
    format!(
        "# {title}\n\n\
         **In one sentence:** {title} sets out a question, the way it was studied, and what was found.\n\n\
         ## Key points\n\n\
         - The document has {pages} page(s) and {bytes} bytes; all of them were received.\n\
         - Its argument goes from the background, over the method, to the findings.\n\
         - The findings are limited by the data at hand, which the authors say themselves.\n\n\
         ## What to do next\n\n\
         Read the section on the method before relying on the numbers.\n\n\
         *Made up by a test server. SHA-256 of what it received: `{sha256}`.*\n",
        pages = document.pages,
        bytes = document.bytes,
        sha256 = document.sha256,
    )
}
