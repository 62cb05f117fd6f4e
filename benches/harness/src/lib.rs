//! What the Rust programs of the queue bench have in common: arguments, loops against the clock, output.
//!
//! Each program of `benches/` understands the same four commands (see `benches/run`):
//!
//! - `fill --database FILE --finished N`: a new database with N finished jobs, by bulk SQL;
//! - `enqueue --database FILE --seconds S`: 16 producers, each waits until its job is on disk;
//! - `claim --database FILE --pending W --seconds S`: 8 workers, each claims and completes one at a time;
//! - `own --database FILE --pending W --seconds S`: the same work in the queue's own recommended way.
//!
//! and prints JSON lines, one for each thing that it found out.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Producers that wait for the disk at once.
pub const PRODUCERS: usize = 16;
/// Workers that claim and complete at once.
pub const WORKERS: usize = 8;
/// What every job carries.
pub const PAYLOAD: &str = "Summarize the quarterly figures in five sentences.";

/// What is to be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Make the database.
    Fill,
    /// Measure accepting jobs.
    Enqueue,
    /// Measure claiming and completing, one by one.
    Claim,
    /// Measure claiming and completing as the queue's documentation recommends it.
    Own,
}

/// The arguments of a program.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// What to do.
    pub command: Command,
    /// The database.
    pub database: PathBuf,
    /// Finished jobs to fill in.
    pub finished: u64,
    /// Jobs that wait when claiming begins.
    pub pending: u64,
    /// How long to measure.
    pub time: Duration,
}

impl Arguments {
    /// Reads the program's arguments.
    ///
    /// # Panics
    /// When they are not as `benches/run` gives them.
    #[must_use]
    pub fn read() -> Self {
        let mut words = std::env::args().skip(1);
        let command = match words.next().as_deref() {
            Some("fill") => Command::Fill,
            Some("enqueue") => Command::Enqueue,
            Some("claim") => Command::Claim,
            Some("own") => Command::Own,
            other => panic!("no such command: {other:?}"),
        };
        let mut arguments = Self {
            command,
            database: PathBuf::new(),
            finished: 0,
            pending: 0,
            time: Duration::from_secs(1),
        };
        while let Some(name) = words.next() {
            let value = words.next().expect("every option has a value");
            match name.as_str() {
                "--database" => arguments.database = PathBuf::from(value),
                "--finished" => arguments.finished = value.parse().expect("a number of jobs"),
                "--pending" => arguments.pending = value.parse().expect("a number of jobs"),
                "--seconds" => {
                    arguments.time = Duration::from_secs_f64(value.parse().expect("seconds"));
                }
                other => panic!("no such option: {other}"),
            }
        }
        arguments
    }
}

/// How long single operations took. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Latencies(Arc<Mutex<Vec<Duration>>>);

impl Latencies {
    /// Adds one.
    pub fn add(&self, took: Duration) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(took);
    }

    /// Returns microseconds below which `share` of them lie.
    #[must_use]
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let mut all = self
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        all.sort_unstable();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a position in a list that fits in memory"
        )]
        let position = (all.len().checked_sub(1)? as f64 * share).round() as usize;
        all.get(position).map(|took| took.as_secs_f64() * 1e6)
    }
}

/// Jobs done in a time.
#[derive(Clone, Copy, Debug)]
pub struct Throughput {
    /// How many.
    pub jobs: u64,
    /// In which time.
    pub elapsed: Duration,
}

/// Runs `tasks` loops of `step` at once until `time` is over or a step finds nothing more to do.
///
/// A step returns how many jobs it has done.
pub async fn run_for<Step, Running>(tasks: usize, time: Duration, step: Step) -> Throughput
where
    Step: Fn(usize) -> Running + Clone + Send + 'static,
    Running: Future<Output = u64> + Send,
{
    let began = Instant::now();
    let deadline = began + time;
    let running: Vec<_> = (0..tasks)
        .map(|number| {
            let step = step.clone();
            tokio::spawn(async move {
                let mut jobs = 0;
                while Instant::now() < deadline {
                    match step(number).await {
                        0 => break,
                        done => jobs += done,
                    }
                }
                jobs
            })
        })
        .collect();
    let mut jobs = 0;
    for task in running {
        jobs += task.await.expect("a step must not fail");
    }
    Throughput {
        jobs,
        elapsed: began.elapsed(),
    }
}

/// Prints what SQLite answered on the connection that writes.
pub fn print_durability(synchronous: i64, journal_mode: &str, sqlite: &str) {
    print_line(json!({
        "measure": "durability",
        "synchronous": synchronous,
        "journal_mode": journal_mode,
        "sqlite": sqlite,
    }));
}

/// Prints a throughput with the latencies that were seen, if any.
pub fn print_throughput(
    command: Command,
    throughput: Throughput,
    claims: &Latencies,
    cycles: &Latencies,
) {
    #[expect(clippy::cast_precision_loss, reason = "far fewer jobs than 2^52")]
    let per_second = throughput.jobs as f64 / throughput.elapsed.as_secs_f64();
    print_line(json!({
        "measure": format!("{command:?}").to_lowercase(),
        "jobs": throughput.jobs,
        "seconds": throughput.elapsed.as_secs_f64(),
        "jobs_per_second": per_second,
        "claim_p50_us": claims.percentile(0.5),
        "claim_p99_us": claims.percentile(0.99),
        "cycle_p50_us": cycles.percentile(0.5),
        "cycle_p99_us": cycles.percentile(0.99),
    }));
}

fn print_line(value: Value) {
    println!("{value}");
}
