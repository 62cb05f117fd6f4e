//! Reading what nobody else may see.

use std::io::{IsTerminal as _, Read as _};

use crate::arguments::SecretArguments;
use crate::output::Failed;

/// Longest secret that is read.
const LONGEST: u64 = 4096;

/// Asks for a secret, or reads it from standard input. Never from an argument: other users of the machine
/// see those.
pub(crate) fn read(what: &str, arguments: &SecretArguments) -> Result<String, Failed> {
    let unread = |error: std::io::Error| Failed::system("It could not be read", &error);
    if arguments.stdin || !std::io::stdin().is_terminal() {
        let mut secret = String::new();
        std::io::stdin()
            .take(LONGEST)
            .read_to_string(&mut secret)
            .map_err(unread)?;
        return Ok(secret);
    }
    rpassword::prompt_password(format!("{what} (not shown): ")).map_err(unread)
}
