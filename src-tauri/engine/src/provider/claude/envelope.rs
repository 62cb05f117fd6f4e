//! The JSON of a request, but for the bytes of a PDF.

use std::borrow::Cow;

use serde::Serialize;

use super::TextAs;
use super::pages::{Framed, Numbered};
use crate::model::{Cause, Effort};
use crate::provider::{DocumentContent, Failure, Request, RequestDocument, Shape};

/// Longest title sent, in characters. The API limits titles without saying at what length.
const MAX_TITLE_CHARS: usize = 200;

/// The place in the JSON where the document goes. A quote inside a JSON string is always escaped,
/// so no name, model or prompt can contain this: it is the field itself and nothing else.
pub(super) const DATA_GAP: &str = "\"data\":\"\"";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
    messages: [Message<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    output_config: Option<OutputConfig<'a>>,
}

#[derive(Serialize)]
struct OutputConfig<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<Format<'a>>,
}

#[derive(Serialize)]
struct Format<'a> {
    r#type: &'static str,
    schema: &'a serde_json::Value,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Document {
        source: Source<'a>,
        #[serde(skip_serializing_if = "String::is_empty")]
        title: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        citations: Option<Citations>,
    },
    Text {
        text: Cow<'a, str>,
    },
    #[serde(rename = "text")]
    Framed {
        text: Framed<'a>,
    },
}

#[derive(Serialize)]
struct Citations {
    enabled: bool,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Source<'a> {
    Base64 {
        media_type: &'static str,
        data: &'static str,
    },
    Text {
        media_type: &'static str,
        data: Numbered<'a>,
    },
    File {
        file_id: &'a str,
    },
}

/// What a request is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be answered.
    Answer,
    /// To be answered as a request of a batch, where nothing is streamed.
    Batch,
    /// To have its tokens counted.
    Count,
}

/// How it is asked: what the address and the model take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) text_as: TextAs,
    /// Most output tokens, thinking included.
    pub(super) max_tokens: u32,
    /// How much the model is to think, where it is told.
    pub(super) effort: Option<Effort>,
    /// Whether a schema can be given by itself; else the prompt tells of it.
    pub(super) takes_schemas: bool,
}

/// What is written.
#[derive(Clone, Copy)]
pub(super) struct Envelope<'a> {
    pub(super) request: &'a Request,
    pub(super) purpose: Purpose,
    pub(super) manner: Manner,
}

/// Writes a request; a PDF is left out, to be put in at [`DATA_GAP`].
pub(super) fn write(asked: Envelope<'_>) -> Result<String, Failure> {
    let Envelope {
        request, manner, ..
    } = asked;
    let mut content = Vec::with_capacity(2);
    let as_prompt = matches!(
        &request.document,
        Some(RequestDocument { content: DocumentContent::Text(_), .. }) if manner.text_as == TextAs::Prompt
    );
    let is_file = matches!(
        &request.document,
        Some(RequestDocument {
            content: DocumentContent::File { .. },
            ..
        })
    );
    if is_file && manner.text_as == TextAs::Prompt {
        return Err(Failure::unsent(
            Cause::PdfNotTaken,
            "This address takes no PDFs, so nothing was sent.",
        ));
    }
    if as_prompt && request.shape == Shape::CitedText {
        return Err(Failure::unsent(
            Cause::InvalidRequest,
            "This address is sent text as a part of the prompt, in which no pages can be cited.",
        ));
    }
    // The document stands before the question about it, which the API's guide asks for.
    if let Some(document) = &request.document {
        content.push(block(document, asked));
    }
    let schema = match &request.shape {
        Shape::Json(schema) => Some(schema),
        Shape::Text | Shape::CitedText => None,
    };
    content.push(Block::Text {
        text: match schema.filter(|_| !manner.takes_schemas) {
            Some(schema) => Cow::Owned(told_of_schema(&request.prompt, schema)),
            None => Cow::Borrowed(&request.prompt),
        },
    });
    let answered = asked.purpose != Purpose::Count;
    let output_config = OutputConfig {
        effort: manner.effort.map(Effort::as_str),
        format: schema
            .filter(|_| manner.takes_schemas)
            .map(|schema| Format {
                r#type: "json_schema",
                schema,
            }),
    };
    let body = Body {
        model: &request.model,
        max_tokens: answered.then_some(manner.max_tokens),
        stream: (asked.purpose == Purpose::Answer).then_some(true),
        messages: [Message {
            role: "user",
            content,
        }],
        output_config: (output_config.effort.is_some() || output_config.format.is_some())
            .then_some(output_config),
    };
    serde_json::to_string(&body).map_err(|error| {
        Failure::unsent(
            Cause::InvalidRequest,
            format!("The request could not be written as JSON: {error}."),
        )
    })
}

/// Returns a prompt that tells of the schema which an answer has to fit.
fn told_of_schema(prompt: &str, schema: &serde_json::Value) -> String {
    format!(
        "{prompt}\n\nAnswer with one JSON object and nothing else. It has to fit this JSON Schema:\n{schema}"
    )
}

fn block<'a>(document: &'a RequestDocument, asked: Envelope<'_>) -> Block<'a> {
    let source = match &document.content {
        DocumentContent::File { .. } => Source::Base64 {
            media_type: "application/pdf",
            data: "",
        },
        DocumentContent::Uploaded { file_id } => Source::File { file_id },
        DocumentContent::Text(pages) => {
            let text = Numbered::new(pages, document.first_page);
            if asked.manner.text_as == TextAs::Prompt {
                return Block::Framed {
                    text: Framed::new(title(&document.name), text),
                };
            }
            Source::Text {
                media_type: "text/plain",
                data: text,
            }
        }
    };
    let cited = asked.request.shape == Shape::CitedText;
    Block::Document {
        source,
        title: title(&document.name),
        citations: cited.then_some(Citations { enabled: true }),
    }
}

fn title(name: &str) -> String {
    let clean: String = name
        .chars()
        .filter(|character| !character.is_control())
        .take(MAX_TITLE_CHARS)
        .collect();
    clean.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_field_itself_is_taken_for_the_gap() {
        let request = Request {
            document: Some(RequestDocument {
                content: DocumentContent::File {
                    path: "paper.pdf".into(),
                    bytes: 1,
                },
                pages: None,
                first_page: 1,
                name: DATA_GAP.to_owned(),
            }),
            prompt: DATA_GAP.to_owned(),
            model: DATA_GAP.to_owned(),
            max_tokens: 1,
            shape: Shape::Json(serde_json::json!({ "description": DATA_GAP })),
        };
        let json = write(Envelope {
            request: &request,
            purpose: Purpose::Answer,
            manner: Manner {
                text_as: TextAs::Document,
                max_tokens: 1,
                effort: Some(Effort::Low),
                takes_schemas: true,
            },
        })
        .unwrap();
        assert_eq!(json.matches(DATA_GAP).count(), 1);
        let before = &json[..json.find(DATA_GAP).unwrap()];
        assert!(before.ends_with("\"media_type\":\"application/pdf\","));
    }

    #[test]
    fn titles_are_trimmed_and_hold_no_control_characters() {
        assert_eq!(title(" a\nb.pdf "), "ab.pdf");
        assert_eq!(title(&"界".repeat(300)).chars().count(), MAX_TITLE_CHARS);
    }
}
