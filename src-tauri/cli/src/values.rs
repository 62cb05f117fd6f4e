//! Reads amounts, hours and switches as people write them.

use std::path::{Component, Path, PathBuf};

use gistmill_engine::model::{FieldKind, QuietHours, TemplateField};

/// Micro-dollars of a dollar.
const DOLLAR: i64 = 1_000_000;
/// Decimals of a dollar that a micro-dollar needs.
const DECIMALS: usize = 6;
/// Largest amount: a slip of the decimal point.
const LARGEST_DOLLARS: i64 = 1_000_000_000;
/// The word for nothing.
pub(crate) const NONE: &str = "none";

/// Micro-dollars, or nothing. A type of its own, since an `Option` means an argument left out to clap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OptionalAmount(pub(crate) Option<i64>);

/// Reads dollars with at most six decimals as micro-dollars. No float comes near it.
pub(crate) fn amount(text: &str) -> Result<i64, String> {
    let number = text.strip_prefix('$').unwrap_or(text);
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    if (whole.is_empty() && part.is_empty())
        || number.ends_with('.')
        || !is_number(whole)
        || !is_number(part)
    {
        return Err("write dollars such as 5 or 2.50, with a point and without commas".to_owned());
    }
    if part.len() > DECIMALS {
        return Err(
            "write at most six decimals: a millionth of a dollar is the smallest part".to_owned(),
        );
    }
    let too_large = || format!("write at most {LARGEST_DOLLARS} dollars");
    let dollars: i64 = if whole.is_empty() {
        0
    } else {
        whole.parse().map_err(|_| too_large())?
    };
    let micros: i64 = format!("{part:0<DECIMALS$}")
        .parse()
        .map_err(|_| too_large())?;
    if dollars > LARGEST_DOLLARS {
        return Err(too_large());
    }
    Ok(dollars * DOLLAR + micros)
}

/// Reads an amount, or `none`.
pub(crate) fn optional_amount(text: &str) -> Result<OptionalAmount, String> {
    if text == NONE {
        return Ok(OptionalAmount(None));
    }
    amount(text)
        .map(|micros| OptionalAmount(Some(micros)))
        .map_err(|hint| format!("{hint}, or none for no cap"))
}

/// Reads whole seconds as milliseconds.
pub(crate) fn seconds(text: &str) -> Result<u32, String> {
    text.parse::<u32>()
        .ok()
        .and_then(|seconds| seconds.checked_mul(1000))
        .ok_or_else(|| "write whole seconds, such as 5".to_owned())
}

/// Reads a whole number.
pub(crate) fn number(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| "write a whole number without signs and commas".to_owned())
}

/// Reads what may be `none`.
pub(crate) fn optional<T>(
    text: &str,
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<Option<T>, String> {
    if text == NONE {
        return Ok(None);
    }
    read(text)
        .map(Some)
        .map_err(|hint| format!("{hint}, or none"))
}

/// Reads `on` or `off`.
pub(crate) fn switch(text: &str) -> Result<bool, String> {
    match text {
        "on" | "yes" | "true" => Ok(true),
        "off" | "no" | "false" => Ok(false),
        _ => Err("write on or off".to_owned()),
    }
}

/// Reads a word that the engine knows, such as `beside-pdf`.
pub(crate) fn word<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, String> {
    let word = serde_json::Value::String(text.to_owned());
    // The engine's own message lists the words that it knows.
    serde_json::from_value(word).map_err(|error| error.to_string())
}

/// Writes a word as it is read.
pub(crate) fn written<T: serde::Serialize>(word: &T) -> String {
    match serde_json::to_value(word) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Returns a path that means the same file wherever the program that reads it is started.
pub(crate) fn absolute(path: &Path) -> PathBuf {
    // Without a present folder there is nothing better than what was given.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if !path.components().any(|part| part == Component::ParentDir) {
        return path;
    }
    // What is missing may be made later; it lies in what is there.
    let found = path.ancestors().find_map(|there| {
        let missing = path.strip_prefix(there).ok()?;
        Some(there.canonicalize().ok()?.join(missing))
    });
    // Joining nothing would end it with a slash.
    found.map_or(path, |found| found.components().collect())
}

/// Reads a variable with its value, such as `tone=dry`.
pub(crate) fn variable(text: &str) -> Result<(String, String), String> {
    text.split_once('=')
        .map(|(name, value)| (name.trim().to_owned(), value.to_owned()))
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| "write NAME=VALUE, such as tone=dry".to_owned())
}

/// Reads a field such as `due:date:When it has to be paid`. Colons may follow in the description.
pub(crate) fn field(text: &str) -> Result<TemplateField, String> {
    let mut parts = text.splitn(3, ':').map(str::trim);
    let (Some(name), Some(kind)) = (parts.next().filter(|name| !name.is_empty()), parts.next())
    else {
        return Err("write NAME:KIND:DESCRIPTION, such as due:date:When it is due".to_owned());
    };
    let kind: FieldKind = word(kind).map_err(|_| {
        format!(
            "“{kind}” is no kind of field: text, number, whole-number, yes-no, date and list are"
        )
    })?;
    Ok(TemplateField {
        name: name.to_owned(),
        kind,
        description: parts.next().unwrap_or_default().to_owned(),
    })
}

/// Reads hours such as `22:00-07:00`.
pub(crate) fn hours(text: &str) -> Result<QuietHours, String> {
    text.split_once('-')
        .and_then(|(from, to)| {
            Some(QuietHours {
                from_minute: minute_of_day(from)?,
                to_minute: minute_of_day(to)?,
            })
        })
        .ok_or_else(|| "write hours such as 22:00-07:00".to_owned())
}

fn minute_of_day(text: &str) -> Option<u16> {
    let (hour, minute) = text.trim().split_once(':')?;
    let number = |digits: &str, below: u16| {
        let fits =
            (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits
            .parse::<u16>()
            .ok()
            .filter(|number| fits && *number < below)
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

/// Returns hours as they are written.
pub(crate) fn written_hours(hours: QuietHours) -> String {
    let time = |minute: u16| format!("{:02}:{:02}", minute / 60, minute % 60);
    format!("{}-{}", time(hours.from_minute), time(hours.to_minute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_exact_to_the_micro_dollar() {
        for (text, micros) in [
            ("5", 5_000_000),
            ("$5", 5_000_000),
            ("2.50", 2_500_000),
            (".5", 500_000),
            ("0.000001", 1),
            ("0.1", 100_000),
            ("0", 0),
            ("0.29", 290_000),
            ("1000000000", 1_000_000_000_000_000),
        ] {
            assert_eq!(amount(text), Ok(micros), "{text}");
        }
    }

    #[test]
    fn what_is_no_amount_is_refused_with_a_way_to_write_it() {
        for text in [
            "",
            "$",
            ".",
            "5.",
            "-1",
            "+1",
            "1,50",
            "1_000",
            "1e3",
            "0x1",
            "five",
            "NaN",
            "5 ",
            "1.2.3",
            "0.0000001",
            "1000000001",
            "99999999999999999999",
            "none",
            "٣",
        ] {
            let hint = amount(text).unwrap_err();
            assert!(hint.starts_with("write "), "{text}: {hint}");
        }
    }

    #[test]
    fn a_cap_may_be_none_and_nothing_else() {
        assert_eq!(optional_amount("none"), Ok(OptionalAmount(None)));
        assert_eq!(optional_amount("3"), Ok(OptionalAmount(Some(3_000_000))));
        assert!(optional_amount("never").unwrap_err().contains("or none"));
    }

    #[test]
    fn a_path_means_the_same_from_everywhere_also_one_that_is_missing() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        assert_eq!(
            absolute(Path::new("src/../missing.csv")),
            here.join("missing.csv")
        );
        assert_eq!(absolute(Path::new("src/..")), here);
        assert_eq!(absolute(Path::new("missing")), here.join("missing"));
    }

    #[test]
    fn a_variable_has_a_name_and_any_value() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        assert_eq!(variable("tone=dry"), pair("tone", "dry"));
        assert_eq!(variable("sum=a=b"), pair("sum", "a=b"));
        assert_eq!(variable("tone="), pair("tone", ""));
        for text in ["tone", "=dry", " =dry", ""] {
            assert!(variable(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_field_has_a_name_a_kind_and_a_description() {
        let read = field("due : date: When: as a day").unwrap();
        assert_eq!(
            (read.name.as_str(), read.kind, read.description.as_str()),
            ("due", FieldKind::Date, "When: as a day")
        );
        assert_eq!(field("due:whole-number").unwrap().description, "");
        assert!(field("due:day:x").unwrap_err().contains("yes-no"));
        for text in ["", "due", ":date:x"] {
            assert!(field(text).unwrap_err().starts_with("write "), "{text}");
        }
    }

    #[test]
    fn hours_are_read_and_written_the_same() {
        for text in ["22:00-07:00", "00:00-23:59", "09:30-09:30"] {
            assert_eq!(written_hours(hours(text).unwrap()), text);
        }
        for text in [
            "",
            "22-7",
            "22:00",
            "24:00-07:00",
            "22:60-07:00",
            "-1:00-07:00",
            "22:00-07:00-09:00",
            "+2:00-3:00",
        ] {
            assert!(hours(text).is_err(), "{text}");
        }
    }

    #[test]
    fn seconds_become_milliseconds_or_are_refused() {
        assert_eq!(seconds("5"), Ok(5_000));
        assert!(
            seconds("4294968").is_err(),
            "more than fit must not wrap around"
        );
        assert!(seconds("1.5").is_err());
    }
}
