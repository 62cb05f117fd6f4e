//! How jobs, times and money look in a terminal.

mod documents;
mod forecast;
mod money;
mod uploads;
mod waiting;

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use gistmill_engine::model::{JobStatus, JobView, Timestamp, WaitingReason};

pub(crate) use documents::{facts, meaning, part, progress, step};
pub(crate) use forecast::forecast;
pub(crate) use money::{cap, exact, left, money};
pub(crate) use uploads::{again, upload, upload_trouble, uploads, uploads_in_full, uploads_left};
pub(crate) use waiting::{SEND_TEXT, hint, remark, way_on};

/// Returns the state of a job in a word or two.
pub(crate) fn status(job: &JobView) -> &'static str {
    match (job.status, &job.waiting) {
        (JobStatus::Pending, Some(WaitingReason::Retrying { .. })) => "retrying",
        (
            JobStatus::Pending,
            Some(
                WaitingReason::QueuePaused | WaitingReason::BatchPaused | WaitingReason::JobPaused,
            ),
        ) => "paused",
        (JobStatus::Pending, _) => "waiting",
        (JobStatus::Running, _) => "running",
        (JobStatus::Submitted, _) => "submitted",
        (JobStatus::Completed, _) => "done",
        (JobStatus::NeedsReview, _) => "needs review",
        (JobStatus::Failed, _) => "failed",
        (JobStatus::DeadLettered, _) => "dead letter",
        (JobStatus::Cancelled, _) => "cancelled",
    }
}

/// Characters of an id that are shown in a table.
const SHORT_ID: usize = 8;

/// Returns the end of an id, which tells it apart; its beginning is the time.
pub(crate) fn short_id(id: &str) -> &str {
    id.get(id.len().saturating_sub(SHORT_ID)..).unwrap_or(id)
}

/// Returns a table of jobs.
pub(crate) fn table(jobs: &[JobView], now: Timestamp) -> String {
    let rows = jobs.iter().map(|job| {
        [
            status(job).to_owned(),
            job.title.clone(),
            job.pages.map(|pages| pages.to_string()).unwrap_or_default(),
            money(job.cost_micros),
            short_id(job.job_id.as_str()).to_owned(),
            [
                job.parts.map(progress).unwrap_or_default(),
                remark(job, now),
            ]
            .into_iter()
            .filter(|words| !words.is_empty())
            .collect::<Vec<_>>()
            .join(". "),
        ]
    });
    columns(
        ["STATUS", "FILE", "PAGES", "COST", "JOB", "REMARK"],
        rows,
        &[2, 3],
    )
}

/// Returns rows below their headings; the columns in `numbers` are set to the right.
pub(crate) fn columns<const COLUMNS: usize>(
    headings: [&str; COLUMNS],
    rows: impl Iterator<Item = [String; COLUMNS]>,
    numbers: &[usize],
) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(headings);
    for row in rows {
        table.add_row(row);
    }
    for column in numbers {
        if let Some(column) = table.column_mut(*column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

/// Returns a span of time as `0:42`, `31:10` or `3 h 33 min`.
pub(crate) fn duration(milliseconds: u128) -> String {
    let seconds = milliseconds.div_ceil(1000);
    if seconds < 3600 {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    } else {
        format!("{} h {} min", seconds / 3600, seconds % 3600 / 60)
    }
}

/// Returns a moment in local time.
pub(crate) fn moment(moment: Timestamp) -> String {
    jiff::Timestamp::from_millisecond(moment.0).map_or_else(
        |_| String::new(),
        |moment| {
            moment
                .to_zoned_datetime(jiff::tz::TimeZone::system())
                .strftime("%Y-%m-%d %H:%M:%S")
                .to_string()
        },
    )
}

/// Returns a number with its thousands set apart: `1,875,505`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns `1 job`, `2 jobs`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        for (number, text) in [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_875_505, "1,875,505"),
        ] {
            assert_eq!(grouped(number), text);
        }
    }

    #[test]
    fn spans_of_time_read_like_a_clock_until_an_hour() {
        assert_eq!(duration(41_001), "0:42");
        assert_eq!(duration(1_870_000), "31:10");
        assert_eq!(duration(12_780_000), "3 h 33 min");
    }
}
