//! Days, months and hours as the person's clock on the wall shows them.
//!
//! Midnight and the first of the month are local; a day may have 23 or 25 hours.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, ZonedDateTime};

use crate::model::{QuietHours, Timestamp};

/// A moment on the person's calendar.
#[derive(Clone, Debug)]
pub(crate) struct LocalTime {
    /// The moment.
    pub(crate) now: Timestamp,
    /// The day, such as `2026-11-29`.
    pub(crate) day: String,
    /// When the next day begins.
    pub(crate) day_ends_at: Timestamp,
    /// When the next month begins.
    pub(crate) month_ends_at: Timestamp,
    zoned: ZonedDateTime,
}

impl LocalTime {
    /// Returns what the calendar in `zone` shows at a moment.
    pub(crate) fn at(now: Timestamp, zone: &TimeZone) -> Self {
        let zoned = jiff::Timestamp::from_millisecond(now.0)
            .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            .to_zoned_datetime(zone.clone());
        let date = zoned.date();
        let begin = |date: Date| begin_of(date, zone).unwrap_or(now);
        Self {
            now,
            day: date.to_string(),
            day_ends_at: begin(date.saturating_add(1.day())),
            month_ends_at: begin(date.first_of_month().saturating_add(1.month())),
            zoned,
        }
    }

    /// Returns the month, such as `2026-11`.
    pub(crate) fn month(&self) -> &str {
        self.day.get(..7).unwrap_or(&self.day)
    }

    /// Returns when quiet hours begin the next time; `None` when it is quiet now.
    pub(crate) fn until_quiet(&self, hours: QuietHours) -> Option<Timestamp> {
        let time = self.zoned.time();
        let minute =
            u16::from(time.hour().unsigned_abs()) * 60 + u16::from(time.minute().unsigned_abs());
        if hours.contains(minute) {
            return None;
        }
        let today = self.zoned.date();
        let day = if hours.from_minute > minute {
            today
        } else {
            today.saturating_add(1.day())
        };
        // A minute that the clock skips in spring begins when the skipping ends.
        let begin = DateTime::from_parts(day, time_of(hours.from_minute));
        Some(
            begin
                .to_zoned_datetime(self.zoned.time_zone().clone())
                .map_or(self.day_ends_at, |begin| millisecond(&begin)),
        )
    }
}

fn time_of(minute: u16) -> Time {
    let part = |number: u16| i8::try_from(number).unwrap_or(0);
    Time::new(part(minute / 60), part(minute % 60), 0, 0).unwrap_or(Time::midnight())
}

/// Returns the first moment of a day: midnight, or what comes where the clock skips it.
fn begin_of(date: Date, zone: &TimeZone) -> Option<Timestamp> {
    let midnight = date.to_zoned_datetime(zone.clone()).ok()?;
    Some(millisecond(&midnight.start_of_day().ok()?))
}

fn millisecond(zoned: &ZonedDateTime) -> Timestamp {
    Timestamp(zoned.timestamp().as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(zone: &str, text: &str) -> LocalTime {
        let zone = TimeZone::get(zone).unwrap();
        let moment: jiff::Timestamp = text.parse().unwrap();
        LocalTime::at(Timestamp(moment.as_millisecond()), &zone)
    }

    /// Returns how many hours the day has.
    fn hours(local: &LocalTime) -> i64 {
        let zone = local.zoned.time_zone();
        let began = begin_of(local.zoned.date(), zone).unwrap();
        (local.day_ends_at.0 - began.0) / 3_600_000
    }

    #[test]
    fn a_day_is_the_persons_day() {
        let tokyo = at("Asia/Tokyo", "2026-11-29T16:00:00Z");
        assert_eq!(tokyo.day, "2026-11-30");
        let honolulu = at("Pacific/Honolulu", "2026-11-29T09:59:00Z");
        assert_eq!(honolulu.day, "2026-11-28");
        assert_eq!(honolulu.day_ends_at.0 - honolulu.now.0, 60_000);
    }

    #[test]
    fn days_of_23_and_25_hours_end_at_midnight() {
        assert_eq!(hours(&at("Europe/Berlin", "2026-03-29T12:00:00Z")), 23);
        assert_eq!(hours(&at("Europe/Berlin", "2026-10-25T12:00:00Z")), 25);
        // In Cairo the clock goes from midnight to one: the day begins at one.
        let cairo = at("Africa/Cairo", "2026-04-24T12:00:00Z");
        assert_eq!(hours(&cairo), 23);
    }

    #[test]
    fn a_month_ends_with_its_last_day() {
        let december = at("Asia/Tokyo", "2026-12-31T14:59:59Z");
        assert_eq!(december.month(), "2026-12");
        assert_eq!(december.month_ends_at, december.day_ends_at);
        assert_eq!(december.month_ends_at.0 - december.now.0, 1_000);
    }

    #[test]
    fn quiet_hours_may_run_over_midnight_and_over_a_change_of_the_clock() {
        let night = QuietHours {
            from_minute: 22 * 60,
            to_minute: 7 * 60,
        };
        let evening = at("Europe/Berlin", "2026-11-29T20:30:00Z");
        let until = evening.until_quiet(night).unwrap();
        assert_eq!(until.0 - evening.now.0, 30 * 60_000);
        assert!(
            at("Europe/Berlin", "2026-11-29T02:00:00Z")
                .until_quiet(night)
                .is_none()
        );
        // Two to three does not exist on this day: what was to begin at half past two begins at three.
        let skipped = QuietHours {
            from_minute: 2 * 60 + 30,
            to_minute: 5 * 60,
        };
        let before = at("Europe/Berlin", "2026-03-29T00:30:00Z");
        let until = before.until_quiet(skipped).unwrap();
        assert!(until > before.now && until.0 - before.now.0 <= 3_600_000);
        let always = QuietHours {
            from_minute: 0,
            to_minute: 0,
        };
        assert!(evening.until_quiet(always).is_none());
    }
}
