//! How jobs, times and money look in a terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use gistmill_engine::model::{JobStatus, JobView, Timestamp, WaitingReason};

/// Returns the state of a job in a word or two.
pub(crate) fn status(job: &JobView) -> &'static str {
    match (job.status, &job.waiting) {
        (JobStatus::Pending, Some(WaitingReason::Retrying { .. })) => "retrying",
        (JobStatus::Pending, Some(WaitingReason::QueuePaused)) => "paused",
        (JobStatus::Pending, _) => "waiting",
        (JobStatus::Running, _) => "running",
        (JobStatus::Submitted, _) => "at provider",
        (JobStatus::Completed, _) => "done",
        (JobStatus::NeedsReview, _) => "needs review",
        (JobStatus::Failed, _) => "failed",
        (JobStatus::DeadLettered, _) => "dead letter",
        (JobStatus::Cancelled, _) => "cancelled",
    }
}

/// Returns what is worth saying of a job besides its state.
pub(crate) fn remark(job: &JobView, now: Timestamp) -> String {
    match &job.waiting {
        Some(WaitingReason::Retrying { at, .. }) => format!(
            "{} Again in {}.",
            job.error.as_deref().unwrap_or_default(),
            duration(at.since(now).as_millis())
        ),
        Some(WaitingReason::Delayed { until }) => {
            format!("Starts in {}.", duration(until.since(now).as_millis()))
        }
        Some(WaitingReason::QueuePaused) => "Its lane is paused.".to_owned(),
        Some(WaitingReason::CircuitOpen { cause }) => cause.hint().to_owned(),
        Some(WaitingReason::NoConsumer) => "Nothing works the queue.".to_owned(),
        Some(WaitingReason::Ready) => String::new(),
        None => job.error.clone().unwrap_or_default(),
    }
}

/// Characters of an id that are shown in a table.
const SHORT_ID: usize = 8;

/// Returns the end of a job's id, which tells it apart; its beginning is the time.
pub(crate) fn short_id(job: &JobView) -> &str {
    let id = job.job_id.as_str();
    id.get(id.len().saturating_sub(SHORT_ID)..).unwrap_or(id)
}

/// Returns a table of jobs.
pub(crate) fn table(jobs: &[JobView], now: Timestamp) -> String {
    let mut table = Table::new();
    table
        .load_preset(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(["STATUS", "FILE", "PAGES", "COST", "JOB", "REMARK"]);
    for job in jobs {
        table.add_row([
            status(job).to_owned(),
            job.title.clone(),
            job.pages.map(|pages| pages.to_string()).unwrap_or_default(),
            money(job.cost_micros),
            short_id(job).to_owned(),
            remark(job, now),
        ]);
    }
    for column in [2, 3] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

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

/// Returns `1 job`, `2 jobs`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
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
    fn spans_of_time_read_like_a_clock_until_an_hour() {
        assert_eq!(duration(41_001), "0:42");
        assert_eq!(duration(1_870_000), "31:10");
        assert_eq!(duration(12_780_000), "3 h 33 min");
    }
}
