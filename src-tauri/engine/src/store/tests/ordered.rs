//! Rows from any place of the list: every order is one order, and none reads a long list to show a few rows.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::support::*;
use crate::model::{
    ConsumerPlace, JobFilter, JobOrder, JobRows, JobStatus, JobView, JobsShown, OrderBy, Provider,
    QueueName, Timestamp,
};
use crate::store::lists::ListContext;

const ALL: [OrderBy; 7] = [
    OrderBy::Added,
    OrderBy::Line,
    OrderBy::Status,
    OrderBy::Title,
    OrderBy::Pages,
    OrderBy::Cost,
    OrderBy::Ran,
];

/// Far more than a screen shows, and quick enough to fill in a test.
const MANY: i64 = 100_000;

/// Puts jobs of every state but `completed` there, with documents for three of four.
fn filled(connection: &Connection, jobs: i64) -> rusqlite::Result<()> {
    connection.execute_batch(&format!(
        "INSERT INTO batches (batch_id, name, user_id, created_at) VALUES ('b0', 'Even', 'local', 0),
             ('b1', 'Odd', 'local', 0);
         INSERT INTO documents (sha256, bytes, pages, encryption, first_seen_at)
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {jobs})
         SELECT printf('%064x', n * 7919), 1, n * 13 % 401, 'none', 0 FROM n;
         INSERT INTO jobs (job_id, batch_id, user_id, kind, title, status, queue, available_at, waiting_since,
             prompt, provider, model, max_tokens, created_at, completed_at, error_code, error, cost_micros, ran_ms,
             started_at, lease_id, lease_expires_at, document_sha256)
         WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {jobs}),
              s (n, status) AS (SELECT n, CASE WHEN n % 10 < 3 THEN 'failed' WHEN n % 10 < 6 THEN 'dead-lettered'
                  WHEN n % 10 < 9 THEN 'pending' WHEN n % 100 = 99 THEN 'submitted' WHEN n % 20 = 9 AND n < 200
                  THEN 'running' ELSE 'cancelled' END FROM n)
         SELECT printf('job-%06d', n), 'b' || (n % 2), 'local', 'prompt',
             iif(n % 2, 'Report ', 'report ') || (n * 7919 % 99991), status,
             iif(n % 5 = 0, 'high', 'bulk'), n, 0, 'Say something', iif(n % 4, 'claude', 'offline'),
             iif(n % 4, 'claude-sonnet-4-6', 'tiny'), 1000, n,
             iif(status IN ('pending', 'running', 'submitted'), NULL, n * 3 % 50021),
             iif(status IN ('failed', 'dead-lettered'), 'overloaded', NULL),
             iif(status IN ('failed', 'dead-lettered'), 'No.', NULL), n * 31 % 977, n * 17 % 463,
             iif(status = 'running', 1, NULL), iif(status = 'running', 'lease', NULL),
             iif(status = 'running', 9, NULL), iif(n % 4, printf('%064x', n * 7919), NULL)
         FROM s"
    ))
}

impl Shelf {
    async fn rows(&self, filter: &JobFilter, order: JobOrder, at: u64, limit: u32) -> JobRows {
        let context = ListContext {
            local: local(NOW),
            consumer: ConsumerPlace::Here,
        };
        self.store
            .job_rows(filter.clone(), order, at, limit, context)
            .await
            .unwrap()
    }

    /// Gives the jobs that wait a provider, by an expression.
    async fn provide(&self, provider: &'static str) {
        let sql = format!("UPDATE jobs SET provider = {provider} WHERE status = 'pending'");
        let write = move |connection: &Connection| Ok(connection.execute(&sql, [])?);
        self.store.write_alone(write).await.unwrap();
    }

    async fn all(&self, by: OrderBy, descending: bool) -> Vec<JobView> {
        let order = JobOrder { by, descending };
        self.rows(&JobFilter::default(), order, 0, 500).await.jobs
    }
}

async fn shelf_of(jobs: i64) -> Shelf {
    let shelf = shelf();
    shelf.hurry().await;
    shelf
        .store
        .write_alone(move |connection| Ok(filled(connection, jobs)?))
        .await
        .unwrap();
    shelf
}

fn orders() -> impl Iterator<Item = JobOrder> {
    ALL.into_iter()
        .flat_map(|by| [false, true].map(|descending| JobOrder { by, descending }))
}

fn narrowed() -> [(&'static str, JobFilter, u64); 9] {
    let all = JobFilter::default;
    [
        ("everything", all(), 240),
        (
            "a state and a lane",
            JobFilter {
                shown: JobsShown::DeadLetters,
                queue: Some(QueueName::Bulk),
                ..all()
            },
            96,
        ),
        (
            "what ended one way",
            JobFilter {
                shown: JobsShown::Cancelled,
                ..all()
            },
            12,
        ),
        (
            "a provider",
            JobFilter {
                provider: Some(Provider::Offline),
                ..all()
            },
            60,
        ),
        (
            "a provider in a batch",
            JobFilter {
                provider: Some(Provider::Offline),
                batch_id: Some(crate::model::BatchId("b0".to_owned())),
                ..all()
            },
            60,
        ),
        (
            "a model",
            JobFilter {
                model: Some("tiny".to_owned()),
                ..all()
            },
            60,
        ),
        (
            "an age",
            JobFilter {
                added_since: Some(Timestamp(200)),
                ..all()
            },
            41,
        ),
        (
            "a template that nobody uses",
            JobFilter {
                template: Some("pdf-summarize".to_owned()),
                ..all()
            },
            0,
        ),
        (
            "words",
            JobFilter {
                text: Some("report".to_owned()),
                shown: JobsShown::Waiting,
                ..all()
            },
            72,
        ),
    ]
}

#[tokio::test]
async fn windows_of_any_order_and_filter_join_without_a_gap_or_a_job_twice() {
    let shelf = shelf_of(240).await;
    for (name, filter, expected) in narrowed() {
        for order in orders() {
            let whole = shelf.rows(&filter, order, 0, 500).await;
            assert_eq!(whole.total, expected, "jobs that match {name}");
            assert_eq!(
                whole.jobs.len() as u64,
                expected,
                "rows of {name} in {order:?}"
            );
            let mut joined = Vec::new();
            while (joined.len() as u64) < expected {
                let at = joined.len() as u64;
                let window = shelf.rows(&filter, order, at, 37).await;
                assert!(
                    !window.jobs.is_empty(),
                    "no rows at {at} of {name} in {order:?}"
                );
                joined.extend(window.jobs);
            }
            assert!(
                joined == whole.jobs,
                "windows of {name} in {order:?} differ from the whole"
            );
            let ids = shelf
                .store
                .job_ids(filter.clone(), order, 5, 100_000)
                .await
                .unwrap();
            let expected: Vec<_> = whole
                .jobs
                .into_iter()
                .skip(5)
                .map(|job| job.job_id)
                .collect();
            assert_eq!(ids, expected, "ids of {name} in {order:?}");
            let beyond = shelf.rows(&filter, order, 1_000, 10).await.jobs;
            assert!(beyond.is_empty(), "behind the end there is nothing");
        }
    }
}

#[tokio::test]
async fn in_the_order_of_the_line_what_waits_stands_as_its_turn_comes_and_ends_follow_newest_first()
{
    let shelf = shelf_of(240).await;
    let jobs = shelf.all(OrderBy::Line, false).await;
    let kind = |job: &JobView| match job.status {
        JobStatus::Running => 0,
        JobStatus::Submitted => 1,
        JobStatus::Pending => 2,
        _ => 3,
    };
    assert!(
        jobs.is_sorted_by_key(kind),
        "what runs, what was handed over, what waits, what ended"
    );
    let waiting: Vec<_> = jobs.iter().filter(|job| kind(job) == 2).collect();
    assert!(
        waiting.is_sorted_by_key(|job| (job.queue == QueueName::Bulk, job.created_at)),
        "the high lane first, each in the order of its line"
    );
    let ended: Vec<_> = jobs.iter().filter(|job| kind(job) == 3).collect();
    assert!(
        ended.is_sorted_by_key(|job| Reverse(job.completed_at)),
        "what ended last comes first"
    );
    assert!(
        jobs == shelf.all(OrderBy::Line, true).await,
        "the line has one direction"
    );
}

/// A lane whose jobs have one provider is read by an index, one of several is sorted.
#[tokio::test]
async fn the_line_is_the_same_whichever_way_it_is_read() {
    let shelf = shelf_of(240).await;
    let order = JobOrder::default();
    for filter in [
        JobFilter::default(),
        JobFilter {
            queue: Some(QueueName::Bulk),
            added_since: Some(Timestamp(50)),
            ..JobFilter::default()
        },
    ] {
        shelf.provide("iif(seq % 4, 'claude', 'offline')").await;
        let sorted = shelf.store.job_ids(filter.clone(), order, 0, 500).await;
        shelf.provide("'claude'").await;
        let walked = shelf.store.job_ids(filter.clone(), order, 0, 500).await;
        let sorted = sorted.unwrap();
        assert_eq!(walked.unwrap(), sorted, "one line and several: {filter:?}");
        let mut joined = Vec::new();
        while joined.len() < sorted.len() {
            let at = joined.len() as u64;
            let window = shelf.store.job_ids(filter.clone(), order, at, 11).await;
            joined.extend(window.unwrap());
        }
        assert_eq!(joined, sorted, "windows of one line: {filter:?}");
    }
}

#[tokio::test]
async fn orders_of_the_header_are_what_they_say() {
    let shelf = shelf_of(240).await;
    let newest = shelf.all(OrderBy::Added, true).await;
    let running = newest
        .iter()
        .take_while(|job| job.status == JobStatus::Running);
    assert_eq!(running.count(), 10, "what runs stands before the newest");
    assert!(
        newest[10..].is_sorted_by_key(|job| Reverse(job.created_at)),
        "newest first"
    );
    let oldest = shelf.all(OrderBy::Added, false).await;
    assert!(
        oldest.is_sorted_by_key(|job| job.created_at),
        "oldest first"
    );
    let titles = shelf.all(OrderBy::Title, false).await;
    assert!(
        titles.is_sorted_by_key(|job| job.title.to_lowercase()),
        "by name, whatever the case"
    );
    let costs = shelf.all(OrderBy::Cost, true).await;
    assert!(
        costs.is_sorted_by_key(|job| Reverse(job.cost_micros)),
        "the dearest first"
    );
    let longest = shelf.all(OrderBy::Ran, true).await;
    assert!(
        longest.is_sorted_by_key(|job| Reverse(job.ran_ms)),
        "the longest first"
    );
    for descending in [false, true] {
        let jobs = shelf.all(OrderBy::Pages, descending).await;
        assert!(
            jobs.is_sorted_by_key(|job| {
                let pages = i64::from(job.pages.unwrap_or(0));
                (job.pages.is_none(), if descending { -pages } else { pages })
            }),
            "by pages, those without last; descending: {descending}"
        );
    }
    let up = shelf.all(OrderBy::Status, false).await;
    assert_eq!(up[0].status, JobStatus::Running, "what moves comes first");
    assert_eq!(up[239].status, JobStatus::Cancelled, "what is over last");
    let down = shelf.all(OrderBy::Status, true).await;
    assert_eq!(down[0].status, JobStatus::Cancelled, "and the other way");
}

#[tokio::test]
#[expect(
    clippy::print_stdout,
    reason = "with --nocapture it says how long each took"
)]
async fn any_place_of_a_hundred_thousand_jobs_is_read_quickly_in_every_order() {
    let shelf = shelf_of(MANY).await;
    for order in orders() {
        let mut took = [Duration::ZERO; 4];
        for (place, at) in [0, 0, 50_000, 99_900].into_iter().enumerate() {
            let began = Instant::now();
            let rows = shelf.rows(&JobFilter::default(), order, at, 100).await;
            took[place] = began.elapsed();
            assert_eq!(rows.jobs.len(), 100, "rows of {order:?} at {at}");
        }
        println!("{order:?}: top, middle, end {:?}", &took[1..]);
        // A generous bound, so that a busy machine is no reason to fail; reading every row by itself takes longer.
        assert!(
            took.iter().all(|took| *took < Duration::from_secs(4)),
            "{order:?} took {took:?}"
        );
    }
    for at in [990, 10_000, 20_000, 31_000] {
        let began = Instant::now();
        let rows = shelf
            .rows(&JobFilter::default(), JobOrder::default(), at, 100)
            .await;
        let status = rows.jobs[50].status;
        println!("line at {at} ({status:?}): {:?}", began.elapsed());
    }
    shelf.provide("'claude'").await;
    for at in [990, 10_000, 20_000, 30_900] {
        let began = Instant::now();
        let order = JobOrder::default();
        let rows = shelf.rows(&JobFilter::default(), order, at, 100).await;
        let status = rows.jobs[50].status;
        println!("one line at {at} ({status:?}): {:?}", began.elapsed());
    }
    shelf.provide("iif(seq % 4, 'claude', 'offline')").await;
    for (name, filter, _) in narrowed() {
        let began = Instant::now();
        let total = shelf.rows(&filter, JobOrder::default(), 0, 100).await.total;
        println!("{name}: {total} in {:?}", began.elapsed());
    }
    let began = Instant::now();
    let ids = shelf
        .store
        .job_ids(JobFilter::default(), JobOrder::default(), 0, 100_000)
        .await
        .unwrap();
    println!("{} ids in {:?}", ids.len(), began.elapsed());
    let waiting = JobFilter {
        shown: JobsShown::Waiting,
        queue: Some(QueueName::Bulk),
        ..JobFilter::default()
    };
    let line = shelf
        .store
        .job_ids(waiting, JobOrder::default(), 0, 100_000)
        .await
        .unwrap();
    let place = crate::model::Place::Before {
        job_id: line[line.len() / 2].clone(),
    };
    let last = line[line.len() - 100..].to_vec();
    let began = Instant::now();
    let moved = shelf.store.move_jobs(last, place).await.unwrap();
    println!(
        "{moved} of {} to the middle in {:?}",
        line.len(),
        began.elapsed()
    );
    assert_eq!(moved, 100, "jobs that moved to the middle of a long line");
}

#[tokio::test]
async fn the_orders_that_a_list_begins_with_are_read_from_an_index() {
    let shelf = shelf();
    let plans = |connection: &Connection| {
        let mut plans = Vec::new();
        for (condition, order) in [
            ("TRUE", "seq DESC"),
            ("completed_at IS NOT NULL", "completed_at DESC, seq DESC"),
            ("status = 'failed' AND status <> 'completed'", "seq DESC"),
        ] {
            let plan: String = connection.query_row(
                &format!(
                    "EXPLAIN QUERY PLAN SELECT seq FROM jobs WHERE {condition} ORDER BY {order} LIMIT 9 OFFSET 9"
                ),
                [],
                |row| row.get(3),
            )?;
            plans.push(plan);
        }
        Ok(plans)
    };
    for plan in shelf.store.read(plans).await.unwrap() {
        assert!(!plan.contains("TEMP B-TREE"), "nothing is sorted: {plan}");
        assert!(
            plan == "SCAN jobs" || plan.contains("COVERING INDEX"),
            "no row is read to find its place: {plan}"
        );
    }
}
