//! Money as people read it. Spent is rounded up, left is rounded down: neither looks better than it is.

/// Returns micro-dollars as dollars: exact to the cent, or to a hundredth of it below a dollar.
pub(crate) fn money(micros: Option<i64>) -> String {
    match micros {
        None => "unknown".to_owned(),
        Some(0) => "$0.00".to_owned(),
        Some(micros) if micros < 1_000_000 => {
            let hundredths = (micros + 99) / 100;
            format!("${}.{:04}", hundredths / 10_000, hundredths % 10_000)
        }
        Some(micros) => {
            let cents = (micros + 9_999) / 10_000;
            format!("${}.{:02}", cents / 100, cents % 100)
        }
    }
}

/// Returns what is left under a cap; nothing when it is used up, never less.
pub(crate) fn left(cap_micros: i64, committed_micros: i64) -> String {
    let left = cap_micros.saturating_sub(committed_micros).max(0);
    let unit = if left < 1_000_000 { 100 } else { 10_000 };
    money(Some(left - left % unit))
}

/// Returns micro-dollars as dollars with all decimals that they have, and cents at least: what a person set
/// is shown as it was set.
pub(crate) fn exact(micros: i64) -> String {
    let text = format!("{:06}", micros % 1_000_000);
    let decimals = text.trim_end_matches('0');
    format!("${}.{decimals:0<2}", micros / 1_000_000)
}

/// Returns a cap as it was set.
pub(crate) fn cap(micros: Option<i64>) -> String {
    micros.map_or_else(|| "none".to_owned(), exact)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_rounded_up_and_never_shown_as_nothing() {
        assert_eq!(money(Some(0)), "$0.00");
        assert_eq!(money(Some(1)), "$0.0001");
        assert_eq!(money(Some(78_400)), "$0.0784");
        assert_eq!(money(Some(999_950)), "$1.0000");
        assert_eq!(money(Some(13_800_001)), "$13.81");
        assert_eq!(money(None), "unknown");
    }

    #[test]
    fn what_is_left_is_rounded_down() {
        assert_eq!(left(5_000_000, 0), "$5.00");
        assert_eq!(left(5_000_000, 1), "$4.99");
        assert_eq!(left(100_000, 1), "$0.0999");
        assert_eq!(left(100_000, 200_000), "$0.00");
    }

    #[test]
    fn what_a_person_set_is_shown_exactly() {
        assert_eq!(exact(5_000_000), "$5.00");
        assert_eq!(exact(1), "$0.000001");
        assert_eq!(exact(125_000), "$0.125");
        assert_eq!(cap(None), "none");
    }
}
