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
    buffer: Vec<u8>,
    /// Bytes of the buffer that are read.
    read: usize,
    ended: bool,
    idle: Duration,
}

impl Results {
    pub(super) fn new(response: Response, idle: Duration) -> Self {
        Self {
            response,
            buffer: Vec::new(),
            read: 0,
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
            if let Some(line) = self.line() {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                match serde_json::from_slice::<Line>(&line) {
                    Ok(line) => return Ok(Some(line.into())),
                    // It is missed when all others were dealt with.
                    Err(error) => tracing::warn!(%error, "a line of results can't be read"),
                }
                continue;
            }
            if self.ended {
                return self.last();
            }
            match next_chunk(&mut self.response, self.idle)
                .await
                .map_err(|failure| failure.billed(Billed::No))?
            {
                Some(chunk) => {
                    self.buffer.drain(..self.read);
                    self.read = 0;
                    self.buffer.extend_from_slice(&chunk);
                    if self.buffer.len() > LONGEST_LINE {
                        return Err(cut("a line is longer than any real one"));
                    }
                }
                None => self.ended = true,
            }
        }
    }

    /// Returns the next whole line.
    fn line(&mut self) -> Option<Vec<u8>> {
        let rest = &self.buffer[self.read..];
        let end = rest.iter().position(|byte| *byte == b'\n')?;
        let line = rest[..end].to_vec();
        self.read += end + 1;
        Some(line)
    }

    /// Returns what stands behind the last end of a line: a whole line, or one that broke off.
    fn last(&mut self) -> Result<Option<RemoteResult>, Failure> {
        let rest = self.buffer.split_off(self.read);
        self.buffer.clear();
        self.read = 0;
        if rest.iter().all(u8::is_ascii_whitespace) {
            return Ok(None);
        }
        serde_json::from_slice::<Line>(&rest)
            .map(|line| Some(line.into()))
            .map_err(|_| cut("the last line is not whole"))
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
    let message: Message = serde_json::from_value(message).map_err(|error| {
        failure::stream_cut(format!("the message can't be read ({error})"))
    })?;
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
