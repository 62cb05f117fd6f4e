//! Measures apalis-sqlite.
//!
//! Its `setup` sets `synchronous` to OFF on one connection of the pool. Here the migrations are run
//! without it, and every connection is opened with FULL by the pool's options.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use apalis::prelude::*;
use apalis_core::backend::TaskResult;
use apalis_sqlite::{
    Config, SqliteConnectOptions, SqlitePool, SqlitePoolOptions, SqliteStorage, queries,
};
use bench_harness::{
    Arguments, Command, Latencies, PAYLOAD, PRODUCERS, Throughput, WORKERS, print_durability,
    print_throughput, run_for,
};
use sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};

const QUEUE: &str = "bench";
/// SQLite has one writer: with one connection, tasks wait in the pool instead of polling a lock. More
/// connections were tried and are slower.
const CONNECTIONS: u32 = 1;

#[tokio::main]
async fn main() {
    let arguments = Arguments::read();
    match arguments.command {
        Command::Fill => fill(&arguments.database, arguments.finished).await,
        Command::Enqueue => enqueue(&arguments).await,
        Command::Claim => claim(&arguments).await,
        Command::Own => own(&arguments).await,
    }
}

async fn open(path: &Path, synchronous: SqliteSynchronous) -> SqlitePool {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(synchronous);
    SqlitePoolOptions::new()
        .max_connections(CONNECTIONS)
        .connect_with(options)
        .await
        .expect("the database must open")
}

async fn open_durably(path: &Path) -> SqlitePool {
    let pool = open(path, SqliteSynchronous::Full).await;
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous")
        .fetch_one(&pool)
        .await
        .expect("a pragma can be read");
    let journal_mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(&pool)
        .await
        .expect("a pragma can be read");
    let sqlite: String = sqlx::query_scalar("SELECT sqlite_version()")
        .fetch_one(&pool)
        .await
        .expect("the version can be read");
    print_durability(synchronous, &journal_mode, &sqlite);
    pool
}

fn storage(pool: &SqlitePool, batch_size: usize) -> SqliteStorage<String> {
    SqliteStorage::new(pool).with_config(Config::default().queue(QUEUE).batch_size(batch_size))
}

async fn fill(path: &Path, finished: u64) {
    let pool = open(path, SqliteSynchronous::Off).await;
    SqliteStorage::migrations()
        .run(&pool)
        .await
        .expect("migrations must run");
    add_in_bulk(&pool, "Done", finished).await;
    pool.close().await;
}

/// Sees by bulk SQL to it that so many jobs of a status are there.
async fn add_in_bulk(pool: &SqlitePool, status: &str, jobs: u64) {
    let there: i64 = sqlx::query_scalar("SELECT count(*) FROM Jobs WHERE status = ?1")
        .bind(status)
        .fetch_one(pool)
        .await
        .expect("jobs can be counted");
    let missing = i64::try_from(jobs).expect("a number of jobs") - there;
    if missing > 0 {
        sqlx::query("PRAGMA cache_size = -400000")
            .execute(pool)
            .await
            .expect("the pragma must be accepted");
        // Identifiers are ULIDs, later ones after earlier ones.
        sqlx::query(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
             INSERT INTO Jobs (job, id, job_type, status, attempts, max_attempts, run_at, done_at,
                 priority, metadata)
             SELECT ?2, printf('01%013d%011d', unixepoch('subsec') * 1000, i), ?3, ?4,
                 ?4 = 'Done', 25, unixepoch() - 86400, CASE WHEN ?4 = 'Done' THEN unixepoch() END,
                 0, '{}' FROM n",
        )
        .bind(missing)
        .bind(serde_json::to_vec(PAYLOAD).expect("text is JSON"))
        .bind(QUEUE)
        .bind(status)
        .execute(pool)
        .await
        .expect("rows can be added");
    }
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(pool)
        .await
        .expect("the log can be merged");
}

async fn make_pending(arguments: &Arguments) {
    let pool = open(&arguments.database, SqliteSynchronous::Off).await;
    add_in_bulk(&pool, "Pending", arguments.pending).await;
    pool.close().await;
}

async fn enqueue(arguments: &Arguments) {
    let pool = open_durably(&arguments.database).await;
    let shared = storage(&pool, 1);
    let throughput = run_for(PRODUCERS, arguments.time, move |_| {
        let mut storage = shared.clone();
        async move {
            storage
                .push(PAYLOAD.to_owned())
                .await
                .expect("a job must be accepted");
            1
        }
    })
    .await;
    print_throughput(
        Command::Enqueue,
        throughput,
        &Latencies::default(),
        &Latencies::default(),
    );
    pool.close().await;
}

/// Eight loops over the queries that its worker makes, without the one that only marks a task as begun.
async fn claim(arguments: &Arguments) {
    make_pending(arguments).await;
    let pool = open_durably(&arguments.database).await;
    let config = Config::default().queue(QUEUE).batch_size(1);
    let worker = WorkerContext::new(&format!("loop-{}", std::process::id()));
    queries::register_worker(&pool, &config, &worker, "SqliteStorage")
        .await
        .expect("a worker must be registered");
    let (claims, cycles) = (Latencies::default(), Latencies::default());
    let (shared, seen, rounds) = (pool.clone(), claims.clone(), cycles.clone());
    let throughput = run_for(WORKERS, arguments.time, move |_| {
        let (pool, config, worker) = (shared.clone(), config.clone(), worker.clone());
        let (claims, cycles) = (seen.clone(), rounds.clone());
        async move {
            let began = Instant::now();
            let tasks = queries::fetch_next(&pool, &config, &worker)
                .await
                .expect("a claim must succeed");
            claims.add(began.elapsed());
            let mut done = 0;
            for task in tasks {
                let result = TaskResult {
                    task_id: task.task_id().expect("a stored task has an id").clone(),
                    attempt: 1,
                    status: apalis_core::task::status::Status::Done,
                    result: Ok(serde_json::Value::Null),
                };
                done += queries::ack_tasks(&pool, &[&result], worker.name())
                    .await
                    .expect("a completion must succeed");
            }
            cycles.add(began.elapsed());
            done
        }
    })
    .await;
    print_throughput(Command::Claim, throughput, &claims, &cycles);
    pool.close().await;
}

/// Its own worker with its default batches of ten, eight tasks at once.
async fn own(arguments: &Arguments) {
    make_pending(arguments).await;
    let pool = open_durably(&arguments.database).await;
    let done = Arc::new(AtomicU64::new(0));
    let (began, time, pending) = (Instant::now(), arguments.time, arguments.pending);
    let counted = Arc::clone(&done);
    let worker = WorkerBuilder::new(format!("worker-{}", std::process::id()))
        .backend(storage(&pool, Config::default().batch_size))
        .concurrency(WORKERS)
        .build(move |_payload: String, context: WorkerContext| {
            let done = Arc::clone(&counted);
            async move {
                let so_far = done.fetch_add(1, Ordering::Relaxed) + 1;
                if began.elapsed() >= time || so_far >= pending {
                    // The second and later calls find it stopped already.
                    context.stop().ok();
                }
                Ok::<(), BoxDynError>(())
            }
        });
    worker.run().await.expect("the worker must run");
    let throughput = Throughput {
        jobs: done.load(Ordering::Relaxed),
        elapsed: began.elapsed(),
    };
    print_throughput(
        Command::Own,
        throughput,
        &Latencies::default(),
        &Latencies::default(),
    );
    pool.close().await;
}
