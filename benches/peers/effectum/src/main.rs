//! Measures effectum, made durable by `make-durable`.
//!
//! It hands jobs to workers by itself: no program can see a single claim. What can be seen is the time from
//! one job's start to the next one's on the same worker, which is a completion and a claim together.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bench_harness::{
    Arguments, Command, Latencies, PAYLOAD, PRODUCERS, Throughput, WORKERS, print_durability,
    print_throughput, run_for,
};
use effectum::{Job, JobRunner, Queue, RunningJob, Worker};
use rusqlite::Connection;

const JOB_TYPE: &str = "bench";
/// How long the queue may take to stop.
const STOPPING: Duration = Duration::from_secs(10);

/// What a worker's jobs share.
#[derive(Clone, Debug)]
struct Context {
    last_start: Arc<Mutex<Option<Instant>>>,
    cycles: Latencies,
}

#[tokio::main]
async fn main() {
    let arguments = Arguments::read();
    match arguments.command {
        Command::Fill => {
            // Makes the schema.
            let queue = open(&arguments.database).await;
            queue.close(STOPPING).await.expect("the queue must stop");
            add_in_bulk(&arguments.database, "succeeded", arguments.finished);
        }
        Command::Enqueue => enqueue(&arguments).await,
        // Eight workers of one job each.
        Command::Claim => work(&arguments, WORKERS, 1).await,
        // One worker of eight jobs, which takes more when half of them are done.
        Command::Own => work(&arguments, 1, 8).await,
    }
}

async fn open(path: &Path) -> Queue {
    Queue::new(path).await.expect("the queue must open")
}

async fn open_durably(path: &Path) -> Queue {
    let queue = open(path).await;
    let (synchronous, journal_mode) = effectum::DURABILITY
        .get()
        .expect("the queue has opened its connection");
    print_durability(*synchronous, journal_mode, rusqlite::version());
    queue
}

/// Sees by bulk SQL to it that so many jobs of a status are there.
fn add_in_bulk(path: &Path, status: &str, jobs: u64) {
    let connection = Connection::open(path).expect("the database must open");
    connection
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA cache_size = -400000;")
        .expect("pragmas must be accepted");
    let there: u64 = connection
        .query_row(
            "SELECT count(*) FROM jobs WHERE status = ?1",
            [status],
            |row| row.get(0),
        )
        .expect("jobs can be counted");
    if let Some(missing @ 1..) = jobs.checked_sub(there) {
        connection
            .execute(
                "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
                 INSERT INTO jobs (external_id, job_type, status, priority, weight, orig_run_at,
                     payload, max_retries, backoff_multiplier, backoff_randomization,
                     backoff_initial_interval, added_at, default_timeout, heartbeat_increment,
                     started_at, finished_at, run_info)
                 SELECT randomblob(16), ?2, ?3, 0, 1, unixepoch() - 86400, ?4, 3, 2.0, 0.2, 20,
                     unixepoch() - 86400, 300, 120, CASE WHEN ?3 = 'succeeded' THEN unixepoch() END,
                     CASE WHEN ?3 = 'succeeded' THEN unixepoch() END, '[]' FROM n",
                (missing, JOB_TYPE, status, PAYLOAD.as_bytes()),
            )
            .expect("rows can be added");
        connection
            .execute(
                "INSERT INTO active_jobs (job_id, priority, run_at)
                 SELECT job_id, priority, orig_run_at FROM jobs
                 WHERE status = 'pending' AND job_id NOT IN (SELECT job_id FROM active_jobs)",
                [],
            )
            .expect("rows can be added");
    }
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("the log can be merged");
}

async fn enqueue(arguments: &Arguments) {
    let queue = Arc::new(open_durably(&arguments.database).await);
    let shared = Arc::clone(&queue);
    let throughput = run_for(PRODUCERS, arguments.time, move |_| {
        let queue = Arc::clone(&shared);
        async move {
            Job::builder(JOB_TYPE)
                .payload(PAYLOAD.as_bytes().to_vec())
                .add_to(&queue)
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
    queue.close(STOPPING).await.expect("the queue must stop");
}

async fn nothing(_: RunningJob, context: Context) -> Result<bool, String> {
    let now = Instant::now();
    let last = context
        .last_start
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .replace(now);
    if let Some(last) = last {
        context.cycles.add(now - last);
    }
    Ok(true)
}

async fn work(arguments: &Arguments, workers: usize, at_once: u16) {
    add_in_bulk(&arguments.database, "pending", arguments.pending);
    let queue = open_durably(&arguments.database).await;
    let cycles = Latencies::default();
    let began = Instant::now();
    let mut running = Vec::new();
    for _ in 0..workers {
        let context = Context {
            last_start: Arc::default(),
            cycles: cycles.clone(),
        };
        let worker = Worker::builder(&queue, context)
            .jobs(vec![JobRunner::builder(JOB_TYPE, nothing).build()])
            .max_concurrency(at_once)
            .min_concurrency(at_once.div_ceil(2))
            .build()
            .await
            .expect("a worker must start");
        running.push(worker);
    }
    let finished = || {
        let counts = running.iter().map(|worker| worker.counts().finished);
        counts.sum::<u64>()
    };
    while began.elapsed() < arguments.time && finished() < arguments.pending {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let throughput = Throughput {
        jobs: finished(),
        elapsed: began.elapsed(),
    };
    // With several jobs at once a worker's starts say nothing about a single cycle.
    let seen = if at_once == 1 {
        cycles
    } else {
        Latencies::default()
    };
    print_throughput(arguments.command, throughput, &Latencies::default(), &seen);
    drop(running);
    queue.close(STOPPING).await.expect("the queue must stop");
}
