//! Reading what is too long for an argument.

use std::fs::File;
use std::io::{IsTerminal as _, Read, Write as _};
use std::path::Path;

use crate::output::Failed;

/// Most bytes that are read; longer texts are refused by the engine with its own words.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Reads a file, or standard input for `-`; `what` says what it holds.
pub(crate) fn read(path: &Path, what: &str) -> Result<String, Failed> {
    if path.as_os_str() == "-" {
        return from_standard_input(what);
    }
    let unread = |error: std::io::Error| {
        Failed::usage(
            &format!("{} can’t be read: {error}.", path.display()),
            &format!("Name a file with the {what}, or - for standard input."),
        )
    };
    text(File::open(path).map_err(unread)?).map_err(unread)
}

/// Reads standard input to its end; `what` says what is expected there.
pub(crate) fn from_standard_input(what: &str) -> Result<String, Failed> {
    let input = std::io::stdin();
    if input.is_terminal() {
        // Otherwise the program seems to hang. With standard error gone there is nobody left to tell.
        writeln!(
            std::io::stderr().lock(),
            "Type the {what}, then end it with Ctrl D on a line of its own."
        )
        .ok();
    }
    text(input.lock())
        .map_err(|error| Failed::system(&format!("The {what} could not be read"), &error))
}

fn text(from: impl Read) -> std::io::Result<String> {
    let mut text = String::new();
    from.take(LONGEST).read_to_string(&mut text)?;
    Ok(text)
}
