//! Many jobs at once, by bulk SQL.
//!
//! One job goes through the store itself; its rows are then copied with other keys. Whatever columns the
//! schema has, the copies are what the store writes.

use std::path::Path;

use bench_harness::PAYLOAD;
use gistmill_engine::bench::BenchQueue;
use rusqlite::Connection;

/// Jobs that share a batch.
const JOBS_IN_A_BATCH: i64 = 100;

/// Makes a new database with so many finished jobs, each with its batch, attempt and result.
pub async fn finished(path: &Path, jobs: u64) {
    let jobs = i64::try_from(jobs).expect("a number of jobs");
    let queue = BenchQueue::open(path).expect("the store must open");
    submit(&queue).await;
    let claimed = queue.claim(1).await.expect("a claim must succeed");
    for job in claimed {
        queue
            .complete(job)
            .await
            .expect("a completion must succeed");
    }
    queue.close().await;
    drop(queue);
    let connection = careless(path);
    let batch = format!("'batch-' || (n.i / {JOBS_IN_A_BATCH})");
    // Sorts before every real identifier, as older jobs do.
    let job = "printf('00000000-0000-7000-8000-%012x', n.i)";
    copy(
        &connection,
        "batches",
        (jobs + JOBS_IN_A_BATCH - 1) / JOBS_IN_A_BATCH,
        &[("batch_id", "'batch-' || (n.i - 1)")],
    );
    copy(
        &connection,
        "jobs",
        jobs - 1,
        &[
            ("seq", "n.i + 1"),
            ("job_id", job),
            ("batch_id", &batch),
            ("result_id", "n.i + 1"),
        ],
    );
    copy(
        &connection,
        "attempts",
        jobs - 1,
        &[("attempt_id", "n.i + 1"), ("job_id", job)],
    );
    copy(
        &connection,
        "results",
        jobs - 1,
        &[
            ("result_id", "n.i + 1"),
            ("job_id", job),
            ("key", &format!("'results/' || {job} || '.md'")),
        ],
    );
    let broken: i64 = connection
        .query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| {
            row.get(0)
        })
        .expect("keys can be checked");
    assert_eq!(broken, 0, "every copy must refer to what is there");
    settle(&connection);
}

/// Sees to it that so many jobs wait.
pub async fn pending(path: &Path, jobs: u64) {
    let queue = BenchQueue::open(path).expect("the store must open");
    submit(&queue).await;
    queue.close().await;
    drop(queue);
    let connection = careless(path);
    let waiting: i64 = connection
        .query_row(
            "SELECT count(*) FROM jobs WHERE status = 'pending'",
            [],
            |row| row.get(0),
        )
        .expect("jobs can be counted");
    let jobs = i64::try_from(jobs).expect("a number of jobs");
    copy(
        &connection,
        "jobs",
        jobs - waiting,
        &[
            ("seq", "NULL"),
            // Begins with the moment of its making, as every real one does.
            (
                "job_id",
                "substr(model.job_id, 1, 13) || printf('-7000-8000-%012x', n.i)",
            ),
        ],
    );
    settle(&connection);
}

async fn submit(queue: &BenchQueue) {
    queue
        .enqueue(PAYLOAD.to_owned())
        .await
        .expect("a job must be accepted");
}

/// Opens the database without care for what a crash would do.
fn careless(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("the database must open");
    connection
        .execute_batch(
            "PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF; PRAGMA cache_size = -400000;",
        )
        .expect("pragmas must be accepted");
    connection
}

/// Copies the newest row of `table` so many times, with other values in the columns of `changes`.
fn copy(connection: &Connection, table: &str, times: i64, changes: &[(&str, &str)]) {
    let columns: Vec<String> = connection
        .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
        .and_then(|mut statement| statement.query_map([], |row| row.get(0))?.collect())
        .expect("columns can be listed");
    let values: Vec<String> = columns
        .iter()
        .map(|column| {
            let change = changes.iter().find(|(changed, _)| changed == column);
            change.map_or(format!("model.{column}"), |(_, value)| (*value).to_owned())
        })
        .collect();
    connection
        .execute(
            &format!(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                 INSERT INTO {table} ({}) SELECT {} FROM n,
                     (SELECT * FROM {table} ORDER BY rowid DESC LIMIT 1) AS model
                 WHERE ?1 > 0",
                columns.join(", "),
                values.join(", "),
            ),
            [times],
        )
        .expect("rows can be copied");
}

/// Leaves no log behind, so that whoever measures next begins without one.
fn settle(connection: &Connection) {
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("the log can be merged");
}
