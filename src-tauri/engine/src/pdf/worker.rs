//! The child's side: reads one file under limits, says what it learned, ends.

mod copy;
mod kind;
mod limits;
mod source;
mod structure;

use std::io::{BufRead as _, Read as _, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use super::protocol::{Message, Operation, Request};
use super::text;
use crate::model::{Cause, Finding};

/// The stack of the thread that reads: the same on every system, large enough for deeply nested objects.
const STACK_BYTES: usize = 16 << 20;

/// Longest request, in bytes: a path and a password.
const MAX_REQUEST_BYTES: u64 = 1 << 20;

/// Answers one request from standard input on standard output and returns the exit code.
///
/// Call it first thing in a process that does nothing else. It limits the process, silences panics and
/// ends the process when standard input closes, so that no child outlives its parent.
#[must_use]
pub fn worker_main() -> ExitCode {
    limits::set();
    // A panic is the file's doing and becomes a finding; a trace of it helps nobody.
    std::panic::set_hook(Box::new(|_| {}));

    let mut line = String::new();
    let read = std::io::stdin()
        .lock()
        .take(MAX_REQUEST_BYTES)
        .read_line(&mut line);
    let Some(request) = read
        .ok()
        .and_then(|_| serde_json::from_str::<Request>(&line).ok())
    else {
        return ExitCode::from(2);
    };

    let spawned = std::thread::Builder::new().spawn(end_with_parent);
    let reader = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || answer(&request));
    let (Ok(_), Ok(reader)) = (spawned, reader) else {
        return ExitCode::from(3);
    };
    if reader.join().is_err() {
        say(&Message::Finding(finding(
            Cause::PdfDamaged,
            "This PDF is damaged: its structure can't be read.",
        )));
    }
    say(&Message::End);
    ExitCode::SUCCESS
}

/// Ends the process when the parent closes its end of the pipe or dies.
///
/// A death signal would do the same on Linux only, and there it follows the parent's *thread*, of which
/// an async runtime may end any at any time.
fn end_with_parent() {
    let mut rest = [0; 64];
    while !matches!(std::io::stdin().read(&mut rest), Ok(0) | Err(_)) {}
    std::process::exit(4);
}

/// Writes one line. A parent that no longer listens needs no answer.
fn say(message: &Message) {
    let Ok(mut line) = serde_json::to_vec(message) else {
        return;
    };
    line.push(b'\n');
    let mut output = std::io::stdout().lock();
    if output
        .write_all(&line)
        .and_then(|()| output.flush())
        .is_err()
    {
        std::process::exit(4);
    }
}

fn finding(cause: Cause, message: impl Into<String>) -> Finding {
    Finding {
        cause,
        message: message.into(),
    }
}

fn answer(request: &Request) {
    let source = match source::read(Path::new(&request.path)) {
        Ok(source) => source,
        Err(finding) => return say(&Message::Finding(finding)),
    };
    say(&Message::File {
        bytes: source.bytes,
        sha256: source.sha256,
        modified_ms: source.modified_ms,
    });
    let content = match source.content {
        Ok(content) => Arc::new(content),
        Err(finding) => return say(&Message::Finding(finding)),
    };
    if let Some(finding) = kind::objection(&content) {
        return say(&Message::Finding(finding));
    }

    let structure = structure::read(&content, request.password.as_deref());
    say(&Message::Structure {
        pages: structure.pages,
        encryption: structure.encryption,
    });
    if let Some(finding) = structure.finding {
        return say(&Message::Finding(finding));
    }
    match (&request.operation, structure.pdf) {
        (Operation::Inspect { read_text: false }, _) | (Operation::Inspect { .. }, None) => {}
        (Operation::Inspect { read_text: true }, Some(pdf)) => {
            say(&Message::HasText(text::has_text(&pdf)));
        }
        (Operation::Text { max_chars }, Some(pdf)) => {
            say(&Message::Text(text::document_text(&pdf, *max_chars)));
        }
        (Operation::Text { .. }, None) => say(&Message::Finding(finding(
            Cause::PdfDamaged,
            "This PDF is damaged: its pages can be counted, but its text can't be read.",
        ))),
        (Operation::Copy { pages, into }, pdf) => {
            let opened = copy::Opened {
                content: &content,
                password: request.password.as_deref(),
                pages: structure.pages.unwrap_or(0),
                pdf,
            };
            let (source, into) = (Path::new(&request.path), Path::new(into));
            say(&match copy::copy(&opened, source, *pages, into) {
                Ok(copied) => Message::Copied(copied),
                Err(copy::NoCopy::Refused(finding)) => Message::Finding(finding),
                Err(copy::NoCopy::NotWritten(how)) => Message::NotWritten(how),
            });
        }
    }
}
