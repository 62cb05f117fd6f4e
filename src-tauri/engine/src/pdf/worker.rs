//! The child's side: reads one file after another under limits and says what it learned of each.

mod answer;
mod cipher;
mod copy;
mod facts;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod kind;
mod limits;
mod passwords;
mod picture;
mod source;
mod structure;
mod tail;
mod weigh;

use std::process::ExitCode;
use std::sync::mpsc::{Receiver, Sender, channel};

use super::frame;
use super::protocol::{Message, Request};
use crate::model::{Cause, Finding};

/// The stack of the thread that reads: the same on every system, large enough for deeply nested objects.
const STACK_BYTES: usize = 16 << 20;

/// Longest request, in bytes: a path and some passwords.
const MAX_REQUEST_BYTES: usize = 1 << 20;

/// After so many files a child is replaced, so that whatever adds up does so within bounds.
const MAX_FILES: u32 = 500;

/// After a file larger than this a child is replaced, so that its memory goes back to the system.
const LARGE_FILE_BYTES: u64 = 64 << 20;

/// Answers requests from standard input on standard output, and returns the exit code.
///
/// Call it first thing in a process that does nothing else. It limits the process, silences panics and
/// ends the process when standard input closes, so that no child outlives its parent.
#[must_use]
pub fn worker_main() -> ExitCode {
    limits::set();
    // A panic is the file's doing and becomes a finding; a trace of it helps nobody.
    std::panic::set_hook(Box::new(|_| {}));

    let (sender, requests) = channel();
    let listener = std::thread::Builder::new().spawn(move || listen(&sender));
    let reader = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || serve(&requests));
    let (Ok(_), Ok(reader)) = (listener, reader) else {
        return ExitCode::from(3);
    };
    if reader.join().is_err() {
        // Nothing is known of the memory that a panic leaves: this child reads no other file.
        say(&Message::Finding(damaged()));
        say(&Message::End { more: false });
    }
    ExitCode::SUCCESS
}

/// Hands requests on until the parent closes its end of the pipe or dies; then ends the process, whatever
/// it is doing.
///
/// A death signal would do the same on Linux only, and there it follows the parent's *thread*, of which
/// an async runtime may end any at any time.
fn listen(requests: &Sender<Request>) {
    let mut input = std::io::stdin().lock();
    while let Ok(Some(body)) = frame::read(&mut input, MAX_REQUEST_BYTES) {
        let Ok(request) = serde_json::from_slice(&body) else {
            break;
        };
        if requests.send(request).is_err() {
            // The thread that reads is done; so is the process, in a moment.
            return;
        }
    }
    std::process::exit(4);
}

/// Answers one request after the other.
fn serve(requests: &Receiver<Request>) {
    for (request, count) in requests.iter().zip(1..=MAX_FILES) {
        limits::begin_file();
        let mut bytes = 0;
        answer::answer(&request, &mut |message| {
            if let Message::File { bytes: found, .. } = message {
                bytes = *found;
            }
            say(message);
        });
        let more = count < MAX_FILES && bytes <= LARGE_FILE_BYTES;
        say(&Message::End { more });
        if !more {
            return;
        }
    }
}

/// Says something to the parent. One that no longer listens needs no answer.
fn say(message: &Message) {
    if frame::write(&mut std::io::stdout().lock(), message).is_err() {
        std::process::exit(4);
    }
}

fn finding(cause: Cause, message: impl Into<String>) -> Finding {
    Finding {
        cause,
        message: message.into(),
    }
}

fn damaged() -> Finding {
    finding(
        Cause::PdfDamaged,
        "This PDF is damaged: its structure can't be read.",
    )
}
