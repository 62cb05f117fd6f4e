//! One request on bytes in memory, as a child answers it, for `fuzz/`.

use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Once};

use super::{STACK_BYTES, answer, limits};
use crate::pdf::frame;
use crate::pdf::protocol::{Message, Operation, Request};

/// What is asked of a file.
#[derive(Clone, Copy, Debug)]
pub enum Question<'a> {
    /// What it is.
    Inspect,
    /// The text of all pages, up to so many characters.
    Text(usize),
    /// A copy of all pages, over this file.
    Copy(&'a Path),
    /// A picture of the first page, whose longer side has so many pixels.
    Picture(u32),
}

/// Answers a question about a file with these bytes: within a child's limits, on a stack as large as a child's,
/// and with panics caught as a child catches them. What else ends a child ends this process.
///
/// # Errors
///
/// A panic is none. It is an error when no thread can be started, and when the parent could not read what a
/// child would say: then it would take the child for a broken program, whatever the file is.
pub fn answer(
    content: &[u8],
    passwords: &[&str],
    question: Question<'_>,
) -> Result<(), std::io::Error> {
    static AS_A_CHILD: Once = Once::new();
    AS_A_CHILD.call_once(|| {
        limits::set();
        std::panic::set_hook(Box::new(|_| {}));
    });
    limits::begin_file();
    let request = Request {
        path: OsString::new(),
        passwords: passwords.iter().map(|&each| each.to_owned()).collect(),
        operation: match question {
            Question::Inspect => Operation::Inspect,
            Question::Text(max_chars) => Operation::Text {
                pages: None,
                max_chars,
            },
            Question::Copy(into) => Operation::Copy {
                pages: None,
                into: into.as_os_str().to_owned(),
            },
            Question::Picture(largest_side) => Operation::Picture {
                page: 1,
                largest_side,
            },
        },
    };
    let content = Arc::new(content.to_vec());
    let reader = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || {
            let mut said = Ok(());
            answer::examine(&content, &request, &mut |message| {
                if said.is_ok() {
                    said = carry(message);
                }
            });
            said
        })?;
    // A panic becomes a finding.
    reader.join().unwrap_or(Ok(()))
}

/// Carries a message as far as the parent, who must be able to read it.
fn carry(message: &Message) -> Result<(), std::io::Error> {
    let frame = frame::encode(message)?;
    serde_json::from_slice::<Message>(&frame[frame::HEAD_BYTES..])?;
    Ok(())
}
