//! Values as all exports write them.

use crate::model::Timestamp;

/// Returns a moment as RFC 3339 in UTC, such as 2026-11-29T12:00:00Z.
pub(super) fn moment(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_string()
}

/// Returns micro-dollars as dollars with six places, such as 0.012345.
pub(super) fn dollars(micros: i64) -> String {
    let sign = if micros < 0 { "-" } else { "" };
    let micros = micros.unsigned_abs();
    format!("{sign}{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_and_moments_are_exact() {
        assert_eq!(dollars(12_345), "0.012345");
        assert_eq!(dollars(7_000_001), "7.000001");
        assert_eq!(moment(Timestamp(1_795_953_600_000)), "2026-11-29T12:00:00Z");
        assert_eq!(
            moment(Timestamp(1_795_953_600_120)),
            "2026-11-29T12:00:00.12Z"
        );
    }
}
