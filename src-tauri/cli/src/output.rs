//! What the program prints, and how it ends.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use gistmill_engine::EngineError;
use gistmill_engine::model::{Problem, ProblemCode};
use serde::Serialize;

/// Some jobs failed.
pub(crate) const SOME_FAILED: u8 = 1;
/// The call was wrong, or something of ours failed.
pub(crate) const ERROR: u8 = 2;
/// Jobs wait for something that only a person can do.
pub(crate) const PERSON_NEEDED: u8 = 3;
/// Another Gistmill works the queue.
pub(crate) const ELSEWHERE: u8 = 4;

/// Prints for people, or JSON for programs.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    json: bool,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json }
    }

    /// Says whether programs read what is printed.
    pub(crate) fn is_json(self) -> bool {
        self.json
    }

    /// Prints text and a line break. A reader that has gone (`| head`) is no error.
    pub(crate) fn text(self, text: &str) -> Result<(), Failed> {
        match writeln!(std::io::stdout().lock(), "{}", text.trim_end()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                Err(Failed::system("The output could not be written", &error))
            }
            _ => Ok(()),
        }
    }

    /// Prints a value as JSON.
    pub(crate) fn json(self, value: &impl Serialize) -> Result<(), Failed> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Failed::system("The output could not be written", &error))?;
        self.text(&text)
    }

    /// Prints `value` as JSON when that was asked for, else the text.
    pub(crate) fn either(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failed> {
        if self.json {
            self.json(value)
        } else {
            self.text(&text())
        }
    }

    /// Tells of an error on standard error, and returns the exit code that says so.
    pub(crate) fn fail(self, failed: Failed) -> ExitCode {
        let Failed(problem) = failed;
        let text = if self.json {
            serde_json::to_string_pretty(&problem).unwrap_or_else(|_| problem.message.clone())
        } else {
            format!("gistmill: {}\n{}", problem.message, problem.hint)
        };
        // With standard error gone there is nobody left to tell.
        writeln!(std::io::stderr().lock(), "{}", text.trim_end()).ok();
        ExitCode::from(match problem.code {
            ProblemCode::ConsumerElsewhere => ELSEWHERE,
            ProblemCode::KeyMissing
            | ProblemCode::KeyRefused
            | ProblemCode::KeychainUnavailable => PERSON_NEEDED,
            _ => ERROR,
        })
    }
}

/// Why a command could not do what was asked.
pub(crate) struct Failed(Problem);

impl Failed {
    /// Returns the failure of something that the system refused.
    pub(crate) fn system(what: &str, error: &dyn std::fmt::Display) -> Self {
        Self(Problem {
            code: ProblemCode::Internal,
            message: format!("{what}: {error}."),
            hint: "Your jobs are stored. Try it again.".to_owned(),
        })
    }

    /// Returns the failure of a call that can't be understood.
    pub(crate) fn usage(message: &str, hint: &str) -> Self {
        Self(Problem {
            code: ProblemCode::BadInput,
            message: message.to_owned(),
            hint: hint.to_owned(),
        })
    }
}

impl From<EngineError> for Failed {
    fn from(error: EngineError) -> Self {
        Self(error.problem())
    }
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}
