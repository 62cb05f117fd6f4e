//! What has to be in order on Linux before GTK starts.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

/// Set in the environment of the program that was started anew, so that it happens only once.
const GUARDED: &str = "GISTMILL_LOCALE_GUARDED";

/// The locale that takes the place of one without a language.
const LOCALE: &str = "en_US.UTF-8";

/// Checks for a display and replaces a locale that would leave the window blank.
///
/// Must be called before any thread starts: it may replace this program by itself.
pub(crate) fn prepare() -> Result<(), ExitCode> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if ["WAYLAND_DISPLAY", "DISPLAY", "GDK_BACKEND"]
        .iter()
        .all(|name| variable(name).is_none())
    {
        complain(
            "Gistmill has no display to open its window on (neither WAYLAND_DISPLAY nor DISPLAY is set).\n\
             Start it from a desktop session, or use the command line: gistmill --help",
        );
        return Err(ExitCode::FAILURE);
    }
    if variable(GUARDED).is_none()
        && let Some(deciding) = locale_without_language(variable)
    {
        let Ok(program) = std::env::current_exe() else {
            return Ok(());
        };
        // Returns only when it failed; the window then shows what it can.
        let error = Command::new(program)
            .args(std::env::args_os().skip(1))
            .env(deciding, LOCALE)
            .env(GUARDED, "1")
            .exec();
        complain(&format!("The locale could not be replaced: {error}"));
    }
    Ok(())
}

/// Returns the variable that decides the character set, if its value names no language.
///
/// The webview derives the page's language from it: `C.UTF-8` becomes the language "C", on which
/// every `Intl` constructor throws, and the window stays blank.
fn locale_without_language(variable: impl Fn(&str) -> Option<OsString>) -> Option<&'static str> {
    let deciding = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .find_map(|name| variable(name).map(|value| (name, value)));
    match deciding {
        Some((name, value)) => names_no_language(&value).then_some(name),
        None => Some("LANG"),
    }
}

fn names_no_language(locale: &OsStr) -> bool {
    let Some(locale) = locale.to_str() else {
        return true;
    };
    locale == "C" || locale == "POSIX" || locale.starts_with("C.") || locale.starts_with("POSIX.")
}

#[expect(
    clippy::print_stderr,
    reason = "there is no window yet, and logging starts later"
)]
fn complain(sentence: &str) {
    eprintln!("{sentence}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deciding(environment: &[(&str, &str)]) -> Option<&'static str> {
        locale_without_language(|name| {
            environment
                .iter()
                .find(|(key, value)| *key == name && !value.is_empty())
                .map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn a_locale_without_a_language_is_replaced_where_it_is_set() {
        for locale in ["C", "C.UTF-8", "C.utf8", "POSIX"] {
            assert_eq!(deciding(&[("LANG", locale)]), Some("LANG"), "{locale}");
        }
        assert_eq!(
            deciding(&[("LANG", "ja_JP.UTF-8"), ("LC_ALL", "C.UTF-8")]),
            Some("LC_ALL")
        );
        assert_eq!(
            deciding(&[("LANG", "ja_JP.UTF-8"), ("LC_CTYPE", "C")]),
            Some("LC_CTYPE")
        );
        assert_eq!(deciding(&[]), Some("LANG"));
        assert_eq!(deciding(&[("LC_ALL", "")]), Some("LANG"));
    }

    #[test]
    fn a_locale_with_a_language_stays() {
        assert_eq!(deciding(&[("LANG", "ja_JP.UTF-8")]), None);
        assert_eq!(
            deciding(&[("LANG", "C.UTF-8"), ("LC_ALL", "de_DE.UTF-8")]),
            None
        );
        assert_eq!(
            deciding(&[("LANG", "C.UTF-8"), ("LC_CTYPE", "en_GB.UTF-8")]),
            None
        );
        assert_eq!(
            deciding(&[("LANG", "ca_ES.UTF-8")]),
            None,
            "Catalan begins with a c too"
        );
    }
}
