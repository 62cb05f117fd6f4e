//! The results of a batch: one JSON object a line, in any order.

use std::time::Duration;

use reqwest::Response;
use serde::Deserialize;
use serde_json::Value;

use super::super::answer::Gathered;
use super::super::call::next_chunk;
use super::super::event::{ErrorBody, Message};
use super::super::failure;
use crate::model::JobPhase;
use crate::provider::{Answer, Billed, Failure, Progress, Request, Usage};

/// No line of a real result is longer.
const LONGEST_LINE: usize = 64 * 1024 * 1024;

/// The outcome of one request.
#[derive(Debug)]
pub(crate) struct RemoteResult {
    pub(crate) custom_id: String,
    pub(crate) outcome: Outcome,
}

/// How a request ended.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// It was answered, and is billed; [`read_answer`] reads it.
    Succeeded(Value),
    /// It was not answered, and is not billed.
    Errored(Failure),
    /// It was called off before it was begun.
    Canceled,
    /// The batch ended before it was begun.
    Expired,
    /// It has an outcome that this version does not know.
    Unknown,
}

#[derive(Deserialize)]
struct Line {
    custom_id: String,
    result: Told,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Told {
    Succeeded {
        message: Value,
    },
    /// The error is that of an answer, which has one within.
    Errored {
        error: ErrorBody,
    },
    Canceled,
    Expired,
    #[serde(other)]
    Unknown,
}

/// The results of a batch, while they are read.
pub(crate) struct Results {
    response: Response,
    lines: Lines,
    ended: bool,
    idle: Duration,
}

impl Results {
    pub(super) fn new(response: Response, idle: Duration) -> Self {
        Self {
            response,
            lines: Lines::default(),
            ended: false,
            idle,
        }
    }

    /// Returns the next result; `None` at the end.
    ///
    /// # Errors
    /// When they break off: they can be read again from the beginning. Never billed.
    pub(crate) async fn next(&mut self) -> Result<Option<RemoteResult>, Failure> {
        // Ends with the results: each round reads more of them, or is the last.
        loop {
            while let Some(line) = self.lines.next() {
                match serde_json::from_slice::<Line>(&line) {
                    Ok(line) => return Ok(Some(line.into())),
                    // It is missed when all others were dealt with.
                    Err(error) => tracing::warn!(%error, "a line of results can't be read"),
                }
            }
            if self.ended {
                return match self.lines.rest() {
                    None => Ok(None),
                    Some(rest) => serde_json::from_slice::<Line>(&rest)
                        .map(|line| Some(line.into()))
                        .map_err(|_| cut("the last line is not whole")),
                };
            }
            let chunk = next_chunk(&mut self.response, self.idle)
                .await
                .map_err(|failure| failure.billed(Billed::No))?;
            match chunk {
                Some(chunk) => self.lines.feed(&chunk)?,
                None => self.ended = true,
            }
        }
    }
}

/// Cuts bytes into lines, wherever they come in pieces.
#[derive(Default)]
struct Lines {
    buffer: Vec<u8>,
    /// Bytes of the buffer that were given out.
    read: usize,
    /// Bytes of the buffer that hold no end of a line.
    searched: usize,
}

impl Lines {
    fn feed(&mut self, chunk: &[u8]) -> Result<(), Failure> {
        self.buffer.drain(..self.read);
        self.searched -= self.read;
        self.read = 0;
        self.buffer.extend_from_slice(chunk);
        if self.buffer.len() > LONGEST_LINE {
            return Err(cut("a line is longer than any real one"));
        }
        Ok(())
    }

    /// Returns the next whole line that is not empty.
    fn next(&mut self) -> Option<Vec<u8>> {
        // Ends with the buffer: each round goes a line further.
        loop {
            let found = self.buffer[self.searched..]
                .iter()
                .position(|byte| *byte == b'\n');
            let Some(found) = found else {
                self.searched = self.buffer.len();
                return None;
            };
            let end = self.searched + found;
            let line = self.buffer[self.read..end].to_vec();
            self.read = end + 1;
            self.searched = self.read;
            if !line.iter().all(u8::is_ascii_whitespace) {
                return Some(line);
            }
        }
    }

    /// Takes what stands behind the last end of a line, if there is anything.
    fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = self.buffer.split_off(self.read);
        *self = Self::default();
        (!rest.iter().all(u8::is_ascii_whitespace)).then_some(rest)
    }
}

fn cut(detail: &str) -> Failure {
    failure::stream_cut(detail).billed(Billed::No)
}

impl From<Line> for RemoteResult {
    fn from(line: Line) -> Self {
        Self {
            custom_id: line.custom_id,
            outcome: match line.result {
                Told::Succeeded { message } => Outcome::Succeeded(message),
                Told::Errored { error } => {
                    Outcome::Errored(failure::from_batch(&error.error, error.request_id))
                }
                Told::Canceled => Outcome::Canceled,
                Told::Expired => Outcome::Expired,
                Told::Unknown => Outcome::Unknown,
            },
        }
    }
}

/// Reads the answer of a request that succeeded.
///
/// # Errors
/// When it can't be read; it is billed all the same.
pub(crate) fn read_answer(message: Value, request: &Request) -> Result<Answer, Failure> {
    let mut gathered = Gathered::default();
    let message: Message = serde_json::from_value(message)
        .map_err(|error| failure::stream_cut(format!("the message can't be read ({error})")))?;
    gathered.take_whole(message, &Nobody)?;
    gathered.finish(request)
}

/// Returns what an answer used, and the model that it names; `None` where it does not say.
pub(crate) fn usage_of(message: Value) -> Option<(Usage, Option<String>)> {
    let message: Message = serde_json::from_value(message).ok()?;
    let mut usage = Usage::default();
    message.usage?.merge_into(&mut usage);
    Some((usage, message.model))
}

/// Nobody waits for how an answer comes on that is there already.
struct Nobody;

impl Progress for Nobody {
    fn advanced(&self, _: JobPhase, _: u64) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_into(text: &str, size: usize) -> (Vec<String>, Option<String>) {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in text.as_bytes().chunks(size) {
            lines.feed(piece).unwrap();
            while let Some(line) = lines.next() {
                found.push(String::from_utf8(line).unwrap());
            }
        }
        let rest = lines.rest();
        (found, rest.map(|rest| String::from_utf8(rest).unwrap()))
    }

    #[test]
    fn lines_are_whole_wherever_they_are_cut() {
        for size in 1..20 {
            let (lines, rest) = cut_into("{\"a\":1}\r\n\n{\"b\":2}\n{\"c\":", size);
            assert_eq!(
                lines,
                ["{\"a\":1}\r", "{\"b\":2}"],
                "pieces of {size} bytes"
            );
            assert_eq!(rest.as_deref(), Some("{\"c\":"), "what broke off is told");
        }
        assert_eq!(cut_into("{}\n \n", 4), (vec!["{}".to_owned()], None));
    }

    #[test]
    fn the_error_of_a_result_lies_within_an_error_and_is_not_billed() {
        let line = r#"{"custom_id":"x-1","result":{"type":"errored","error":{"type":"error","error":
            {"type":"invalid_request_error","message":"messages.0.content.0.pdf.source.base64.data: The PDF specified was not valid."},
            "request_id":"req_1"}}}"#;
        let result = RemoteResult::from(serde_json::from_str::<Line>(line).unwrap());
        let Outcome::Errored(failure) = result.outcome else {
            panic!("{:?}", result.outcome);
        };
        assert_eq!(failure.cause, crate::model::Cause::PdfDamaged);
        assert_eq!(failure.billed, Billed::No);
        assert_eq!(failure.request_id.as_deref(), Some("req_1"));
    }

    #[test]
    fn an_outcome_of_a_later_version_is_an_unknown_one() {
        let line = r#"{"custom_id":"x-1","result":{"type":"postponed","until":"2027"}}"#;
        let result = RemoteResult::from(serde_json::from_str::<Line>(line).unwrap());
        assert!(matches!(result.outcome, Outcome::Unknown));
    }
}
