//! Rows of the list from any place of it, in any order.
//!
//! An order is a row of segments. How many jobs each of them has is known from counters, or from one count by state,
//! so that only the segments which the rows lie in are walked, each by its index and from its nearer end.
//! What belongs to a row is read for the rows that are asked for and for no others.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};

use super::lists::{ListContext, condition, counters_of, views};
use super::{Result, Store, rows};
use crate::model::{JobFilter, JobId, JobOrder, JobRows, JobStatus, JobsShown, OrderBy, QueueName};

/// An expression that is sorted by, and whether its largest value comes first.
type Key = (&'static str, bool);

/// Jobs that stand together, in an order of their own.
struct Segment {
    /// The states that it has jobs of.
    statuses: Vec<JobStatus>,
    /// What tells its jobs from those of the others, in words that an index knows.
    condition: &'static str,
    keys: Vec<Key>,
}

/// The states as the sidebar has them: what moves, what waits, what wants a person, what is over.
const BY_STATUS: [(JobStatus, &str); 8] = [
    (
        JobStatus::Running,
        "j.status = 'running' AND j.status <> 'completed'",
    ),
    (
        JobStatus::Submitted,
        "j.status = 'submitted' AND j.status <> 'completed'",
    ),
    (
        JobStatus::Pending,
        "j.status = 'pending' AND j.status <> 'completed'",
    ),
    (
        JobStatus::NeedsReview,
        "j.status = 'needs-review' AND j.status <> 'completed'",
    ),
    (
        JobStatus::Failed,
        "j.status = 'failed' AND j.status <> 'completed'",
    ),
    (
        JobStatus::DeadLettered,
        "j.status = 'dead-lettered' AND j.status <> 'completed'",
    ),
    (JobStatus::Completed, "j.status = 'completed'"),
    (
        JobStatus::Cancelled,
        "j.status = 'cancelled' AND j.status <> 'completed'",
    ),
];

/// Conditions that hold for jobs of several states.
const EVERY_JOB: &str = "TRUE";
const EVERY_END: &str = "j.completed_at IS NOT NULL";

const WAITING: &str = "j.status = 'pending'";

const NEWEST_FIRST: Key = ("j.seq", true);

/// The lines that jobs of a lane may wait in: one for each provider and way to be delivered.
const LINES: [&str; 4] = [
    "j.status = 'pending' AND j.held = 0 AND j.provider = 'claude' AND j.delivery = 'each'",
    "j.status = 'pending' AND j.held = 0 AND j.provider = 'claude' AND j.delivery = 'batch'",
    "j.status = 'pending' AND j.held = 0 AND j.provider = 'offline' AND j.delivery = 'each'",
    "j.status = 'pending' AND j.held = 0 AND j.provider = 'offline' AND j.delivery = 'batch'",
];

impl Store {
    /// Returns at most `limit` of the jobs that match, from `offset` on in an order.
    pub(crate) async fn job_rows(
        &self,
        filter: JobFilter,
        order: JobOrder,
        offset: u64,
        limit: u32,
        context: ListContext,
    ) -> Result<JobRows> {
        self.read(move |connection| {
            let (seqs, total) = window(connection, &filter, order, offset, limit)?;
            Ok(JobRows {
                jobs: views(connection, &seqs, &context)?,
                total,
            })
        })
        .await
    }

    /// Returns the ids of at most `limit` of the jobs that match, from `offset` on in an order.
    pub(crate) async fn job_ids(
        &self,
        filter: JobFilter,
        order: JobOrder,
        offset: u64,
        limit: u32,
    ) -> Result<Vec<JobId>> {
        self.read(move |connection| {
            let (seqs, _) = window(connection, &filter, order, offset, limit)?;
            let mut statement =
                connection.prepare_cached("SELECT job_id FROM jobs WHERE seq = ?1")?;
            seqs.iter()
                .map(|seq| Ok(statement.query_row([seq], |row| row.get(0).map(JobId))?))
                .collect()
        })
        .await
    }
}

/// Returns the numbers of the rows that are asked for, in their order, and how many jobs match in all.
pub(super) fn window(
    connection: &Connection,
    filter: &JobFilter,
    order: JobOrder,
    offset: u64,
    limit: u32,
) -> Result<(Vec<i64>, u64)> {
    let counts = counts(connection, filter)?;
    let mut found = Vec::new();
    let mut before = 0;
    for segment in segments(filter.shown, order) {
        let jobs: u64 = segment
            .statuses
            .iter()
            .filter_map(|status| counts.get(status))
            .sum();
        let missing = u64::from(limit).saturating_sub(found.len() as u64);
        let skipped = offset.saturating_sub(before).min(jobs);
        let taken = missing.min(jobs - skipped);
        if taken > 0 && offset < before + jobs {
            found.extend(if segment.condition == WAITING {
                wait(connection, filter, &segment, jobs, skipped, taken)?
            } else {
                walk(connection, filter, &segment, jobs, skipped, taken)?
            });
        }
        before += jobs;
    }
    Ok((found, counts.values().sum()))
}

/// Divides what is shown into segments that stand one behind the other.
fn segments(shown: JobsShown, order: JobOrder) -> Vec<Segment> {
    let statuses = shown.statuses();
    let of = |all: &[JobStatus]| -> Vec<JobStatus> {
        let both = all.iter().filter(|status| statuses.contains(status));
        both.copied().collect()
    };
    let whole = |keys: &[Key]| {
        vec![Segment {
            statuses: statuses.to_vec(),
            condition: EVERY_JOB,
            keys: keys.to_vec(),
        }]
    };
    let way = order.descending;
    match order.by {
        OrderBy::Line => vec![
            Segment {
                statuses: of(&[JobStatus::Running, JobStatus::Submitted]),
                condition: "j.status IN ('running', 'submitted') AND j.status <> 'completed'",
                keys: vec![("j.status", false), NEWEST_FIRST],
            },
            Segment {
                statuses: of(&[JobStatus::Pending]),
                condition: WAITING,
                keys: vec![
                    ("j.queue", true),
                    ("j.position", false),
                    ("j.available_at", false),
                    ("j.seq", false),
                ],
            },
            Segment {
                statuses: of(&[
                    JobStatus::Completed,
                    JobStatus::NeedsReview,
                    JobStatus::Failed,
                    JobStatus::DeadLettered,
                    JobStatus::Cancelled,
                ]),
                condition: EVERY_END,
                keys: vec![("j.completed_at", true), NEWEST_FIRST],
            },
        ],
        OrderBy::Status => {
            let mut all: Vec<_> = BY_STATUS
                .into_iter()
                .filter(|(status, _)| statuses.contains(status))
                .map(|(status, condition)| Segment {
                    statuses: vec![status],
                    condition,
                    keys: vec![NEWEST_FIRST],
                })
                .collect();
            if way {
                all.reverse();
            }
            all
        }
        OrderBy::Added if way && shown == JobsShown::All => vec![
            Segment {
                statuses: vec![JobStatus::Running],
                condition: "j.status = 'running' AND j.status <> 'completed'",
                keys: vec![NEWEST_FIRST],
            },
            Segment {
                statuses: JobStatus::ALL
                    .into_iter()
                    .filter(|status| *status != JobStatus::Running)
                    .collect(),
                // The few that run are left out by their numbers, so that no row has to be read for its state.
                condition: "j.seq NOT IN (SELECT seq FROM jobs WHERE status = 'running' AND status <> 'completed')",
                keys: vec![NEWEST_FIRST],
            },
        ],
        OrderBy::Added => whole(&[("j.seq", way)]),
        OrderBy::Title => whole(&[("j.title COLLATE NOCASE", way), ("j.seq", way)]),
        OrderBy::Cost => whole(&[("j.cost_micros", way), ("j.seq", way)]),
        OrderBy::Ran => whole(&[("j.ran_ms", way), ("j.seq", way)]),
        // What has no pages comes last, whichever way.
        OrderBy::Pages => whole(&[("d.pages IS NULL", false), ("d.pages", way), ("j.seq", way)]),
    }
}

/// Counts the jobs that match by state: from the kept counters where they can tell, else one by one.
fn counts(connection: &Connection, filter: &JobFilter) -> Result<HashMap<JobStatus, u64>> {
    let (condition, values) = condition(filter);
    let sql = match counters_of(filter) {
        Some(table) => format!(
            "SELECT j.status, sum(j.jobs) FROM {table} AS j WHERE {condition} GROUP BY j.status"
        ),
        None => {
            format!("SELECT j.status, count(*) FROM jobs AS j WHERE {condition} GROUP BY j.status")
        }
    };
    let mut statement = connection.prepare_cached(&sql)?;
    let counted = statement.query_map(params_from_iter(values), |row| {
        Ok((rows::status(row, 0)?, rows::unsigned(row, 1)?))
    })?;
    Ok(counted.collect::<rusqlite::Result<_>>()?)
}

/// Walks a segment of so many jobs from its nearer end, and returns the numbers of its rows.
fn walk(
    connection: &Connection,
    filter: &JobFilter,
    segment: &Segment,
    jobs: u64,
    skipped: u64,
    taken: u64,
) -> Result<Vec<i64>> {
    let (mut condition, mut values) = if segment_says_all(filter.shown, segment) {
        condition(&JobFilter {
            shown: JobsShown::All,
            ..filter.clone()
        })
    } else {
        condition(filter)
    };
    condition.push_str(" AND ");
    condition.push_str(segment.condition);
    let backwards = skipped > jobs / 2;
    let offset = if backwards {
        jobs - skipped - taken
    } else {
        skipped
    };
    values.push(Value::from(i64::try_from(taken).unwrap_or(i64::MAX)));
    values.push(Value::from(i64::try_from(offset).unwrap_or(i64::MAX)));
    let mut statement = connection.prepare_cached(&sql(&condition, &segment.keys, backwards))?;
    let found = statement.query_map(params_from_iter(values), |row| row.get(0))?;
    let mut seqs: Vec<i64> = found.collect::<rusqlite::Result<_>>()?;
    if backwards {
        seqs.reverse();
    }
    Ok(seqs)
}

/// Walks what waits lane by lane. Where nothing is held and the jobs of a lane have one provider and one way to be
/// delivered, as is usual, the line that claims read is theirs, and nothing is sorted.
fn wait(
    connection: &Connection,
    filter: &JobFilter,
    segment: &Segment,
    jobs: u64,
    skipped: u64,
    taken: u64,
) -> Result<Vec<i64>> {
    let high = match filter.queue {
        Some(QueueName::High) => jobs,
        Some(QueueName::Bulk) => 0,
        None => high_waiting(connection, filter)?.min(jobs),
    };
    let mut found = Vec::new();
    for (queue, jobs, before) in [
        (QueueName::High, high, 0),
        (QueueName::Bulk, jobs - high, high),
    ] {
        let missing = taken - found.len() as u64;
        let skipped = skipped.saturating_sub(before).min(jobs);
        let here = missing.min(jobs - skipped);
        if here == 0 {
            continue;
        }
        let lane = JobFilter {
            queue: Some(queue),
            ..filter.clone()
        };
        let line = Segment {
            statuses: segment.statuses.clone(),
            condition: one_line(connection, queue)?.unwrap_or(WAITING),
            keys: segment
                .keys
                .iter()
                .copied()
                .filter(|(key, _)| *key != "j.queue")
                .collect(),
        };
        found.extend(walk(connection, &lane, &line, jobs, skipped, here)?);
    }
    Ok(found)
}

fn high_waiting(connection: &Connection, filter: &JobFilter) -> Result<u64> {
    let high = JobFilter {
        shown: JobsShown::Waiting,
        queue: Some(QueueName::High),
        ..filter.clone()
    };
    let counted = counts(connection, &high)?;
    Ok(counted.get(&JobStatus::Pending).copied().unwrap_or(0))
}

/// Returns the condition of the one line that the waiting jobs of a lane stand in, if they do.
fn one_line(connection: &Connection, queue: QueueName) -> Result<Option<&'static str>> {
    let is_held: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM jobs WHERE status = 'pending' AND held <> 0)",
        )?
        .query_row([], |row| row.get(0))?;
    if is_held {
        return Ok(None);
    }
    let mut only = None;
    for line in LINES {
        let is_there: bool = connection
            .prepare_cached(&format!(
                "SELECT EXISTS (SELECT 1 FROM jobs AS j WHERE {line} AND j.queue = ?1)"
            ))?
            .query_row([queue.as_str()], |row| row.get(0))?;
        if is_there && only.replace(line).is_some() {
            return Ok(None);
        }
    }
    Ok(only)
}

/// Says whether a segment's condition tells as much of the states as the filter does, so that no row has to be read
/// for its state.
fn segment_says_all(shown: JobsShown, segment: &Segment) -> bool {
    shown == JobsShown::All || !matches!(segment.condition, EVERY_JOB | EVERY_END)
}

fn sql(condition: &str, keys: &[Key], backwards: bool) -> String {
    let tables = if keys.iter().any(|(key, _)| key.starts_with("d.")) {
        "jobs AS j LEFT JOIN documents AS d ON d.sha256 = j.document_sha256"
    } else {
        "jobs AS j"
    };
    let order: Vec<_> = keys
        .iter()
        .map(|(key, descending)| {
            let way = if *descending == backwards {
                "ASC"
            } else {
                "DESC"
            };
            format!("{key} {way}")
        })
        .collect();
    format!(
        "SELECT j.seq FROM {tables} WHERE {condition} ORDER BY {} LIMIT ? OFFSET ?",
        order.join(", ")
    )
}
