//! What a child's answer and end mean for the file.

use std::process::ExitStatus;
use std::time::Duration;

use super::PdfError;
use super::child::{End, How};
use crate::model::{Cause, Finding, PageRange};
use crate::pdf::protocol::{DocumentText, Inspection, Message, PdfCopy};

/// What was learned of a file.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// The facts and the finding.
    pub(super) inspection: Inspection,
    /// The text, when it was asked for and is there.
    pub(super) text: Option<DocumentText>,
    /// The copy, when one was asked for and is written; or why the system could not.
    pub(super) copy: Option<Result<PdfCopy, String>>,
    /// The picture, as a PNG.
    pub(super) picture: Option<Vec<u8>>,
    /// Which of the passwords opened it.
    pub(super) password: Option<usize>,
}

impl Heard {
    /// Refuses pages that the file doesn't have.
    pub(super) fn check_pages(&self, asked: Option<PageRange>) -> Result<(), PdfError> {
        match (asked, self.inspection.pages) {
            (Some(range), Some(pages))
                if range.first == 0 || range.last < range.first || range.last > pages =>
            {
                Err(PdfError::NoSuchPages { range, pages })
            }
            _ => Ok(()),
        }
    }
}

/// Judges.
pub(super) fn of(end: End, wall_limit: Duration) -> Result<Heard, PdfError> {
    let silent = end.messages.is_empty();
    let mut heard = listen(end.messages);
    if matches!(end.how, How::Finished { .. }) {
        return Ok(heard);
    }
    tracing::debug!(how = ?end.how, complaint = end.complaint, "a PDF reader did not finish");
    let seconds = wall_limit.as_secs().max(1);
    let hostile = |what: &str| Finding {
        cause: Cause::PdfHostile,
        message: format!("Reading this PDF {what}, so it was stopped. It is damaged or hostile."),
    };
    let no_answer = |how: &str| PdfError::NoAnswer {
        how: format!("{how} {}", end.complaint).trim().to_owned(),
    };
    heard.inspection.finding = Some(match end.how {
        How::Finished { .. } => return Ok(heard),
        // Nobody had looked into the file yet: the disk or the network is slow.
        How::TimedOut if silent => Finding {
            cause: Cause::FileUnreadable,
            message: format!("This file could not be read within {seconds} seconds."),
        },
        How::TimedOut => hostile(&format!("took longer than {seconds} seconds")),
        How::TooMuch | How::Nonsense if silent => {
            return Err(no_answer("what it said makes no sense"));
        }
        How::TooMuch => hostile("gave more text than it can hold"),
        How::Nonsense => hostile("brought its reader down"),
        How::Exited(status) => match signal(status) {
            Signal::Asked => return Err(PdfError::Stopped),
            Signal::OutOfTime => hostile("took too much processor time"),
            Signal::None if silent => return Err(no_answer(&status.to_string())),
            Signal::Crash | Signal::None => {
                if end.complaint.contains("memory allocation") {
                    hostile("took too much memory")
                } else {
                    hostile("brought its reader down")
                }
            }
        },
    });
    Ok(heard)
}

/// Collects what was said.
fn listen(messages: Vec<Message>) -> Heard {
    let mut heard = Heard::default();
    for message in messages {
        let inspection = &mut heard.inspection;
        match message {
            Message::File {
                bytes,
                sha256,
                modified_ms,
            } => {
                inspection.bytes = bytes;
                inspection.sha256 = sha256;
                inspection.modified_ms = modified_ms;
            }
            Message::Structure {
                pages,
                encryption,
                password,
            } => {
                inspection.pages = pages;
                inspection.encryption = encryption;
                heard.password = password;
            }
            Message::Facts(facts) => inspection.facts = facts,
            Message::Finding(finding) => inspection.finding = Some(finding),
            Message::Layer { text, language } => {
                inspection.has_text = Some(text.pages_with_text > 0);
                inspection.facts.text = Some(text);
                inspection.facts.language = language;
            }
            Message::Measures(measures) => inspection.measures = Some(measures),
            Message::Text(text) => heard.text = Some(text),
            Message::Copied(copy) => heard.copy = Some(Ok(copy)),
            Message::NotWritten(how) => heard.copy = Some(Err(how)),
            Message::Picture(png) => heard.picture = Some(png),
            Message::End { .. } => {}
        }
    }
    heard
}

/// What kind of signal ended a child.
#[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals"))]
enum Signal {
    None,
    /// Somebody asked it to end.
    Asked,
    /// The limit of processor time.
    OutOfTime,
    /// Any other.
    Crash,
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Signal {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::Signal as Unix;

    let is = |one: Unix| status.signal() == Some(one.as_raw());
    if status.signal().is_none() {
        Signal::None
    } else if is(Unix::HUP) || is(Unix::INT) || is(Unix::TERM) {
        Signal::Asked
    } else if is(Unix::XCPU) {
        Signal::OutOfTime
    } else {
        Signal::Crash
    }
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> Signal {
    Signal::None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(how: How, messages: Vec<Message>, complaint: &str) -> End {
        End {
            how,
            messages,
            complaint: complaint.to_owned(),
        }
    }

    fn file() -> Message {
        Message::File {
            bytes: 9,
            sha256: None,
            modified_ms: 1,
        }
    }

    #[test]
    fn a_slow_disk_is_not_a_hostile_file() {
        let judge = |messages: Vec<Message>| {
            let heard = of(end(How::TimedOut, messages, ""), Duration::from_secs(30)).unwrap();
            heard.inspection.finding.unwrap()
        };
        assert_eq!(judge(vec![]).cause, Cause::FileUnreadable);
        assert_eq!(judge(vec![file()]).cause, Cause::PdfHostile);
        assert_eq!(
            judge(vec![file()]).message,
            "Reading this PDF took longer than 30 seconds, so it was stopped. It is damaged or hostile."
        );
    }

    #[test]
    fn what_was_learned_before_the_end_is_kept() {
        let structure = Message::Structure {
            pages: Some(7),
            encryption: crate::model::Encryption::None,
            password: None,
        };
        let heard = of(
            end(How::TimedOut, vec![file(), structure], ""),
            Duration::from_secs(30),
        )
        .unwrap();
        assert_eq!(heard.inspection.bytes, 9);
        assert_eq!(heard.inspection.pages, Some(7));
    }

    #[cfg(unix)]
    #[test]
    fn signals_are_told_apart() {
        use std::os::unix::process::ExitStatusExt as _;

        let judge = |raw: i32, complaint: &str| {
            let how = How::Exited(ExitStatus::from_raw(raw));
            of(end(how, vec![file()], complaint), Duration::from_secs(30))
        };
        assert!(matches!(judge(15, ""), Err(PdfError::Stopped)));
        let message = |raw, complaint| judge(raw, complaint).unwrap().inspection.finding.unwrap();
        assert!(message(24, "").message.contains("processor time"));
        assert!(
            message(6, "memory allocation of 9 bytes failed")
                .message
                .contains("too much memory")
        );
        assert_eq!(message(9, "").cause, Cause::PdfHostile);
    }

    #[test]
    fn silence_is_trouble_of_our_own() {
        let how = How::Exited(ExitStatus::default());
        let result = of(end(how, vec![], "usage: cat"), Duration::from_secs(30));
        assert!(matches!(result, Err(PdfError::NoAnswer { .. })));
        let result = of(end(How::Nonsense, vec![], ""), Duration::from_secs(30));
        assert!(matches!(result, Err(PdfError::NoAnswer { .. })));
    }
}
