//! Passwords of PDFs: from a file or standard input, never from an argument, which other users of the
//! machine see.

use gistmill_engine::Engine;

use super::input;
use crate::arguments::PasswordArguments;
use crate::output::Failed;

/// Most passwords of a file: each is tried on every PDF that needs one.
const MOST: usize = 20;

/// Gives the engine the passwords of the file, if one was named.
pub(crate) fn give(engine: &Engine, arguments: &PasswordArguments) -> Result<(), Failed> {
    let Some(path) = &arguments.password_file else {
        return Ok(());
    };
    let text = input::read(path, "passwords, one a line")?;
    // Blanks may be part of a password; an empty line is none.
    let passwords: Vec<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    if passwords.is_empty() {
        return Err(Failed::usage(
            "There is no password in what was given.",
            "Write one password a line.",
        ));
    }
    if passwords.len() > MOST {
        return Err(Failed::usage(
            &format!(
                "There are {} passwords; at most {MOST} are tried.",
                passwords.len()
            ),
            "Each is tried on every PDF that needs one. Name fewer, and the files in several calls.",
        ));
    }
    // What was given last is tried first.
    for password in passwords.into_iter().rev() {
        engine.give_password(password.into());
    }
    Ok(())
}
