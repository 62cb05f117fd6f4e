//! Measures Gistmill's own store. A plain program, since a figure here is a rate under concurrency over
//! seconds and on a disk, for which the sampling of a micro-benchmark library has no place.

mod fill;

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use bench_harness::{
    Arguments, Command, Latencies, PAYLOAD, PRODUCERS, WORKERS, print_durability, print_throughput,
    run_for,
};
use gistmill_engine::bench::{BenchQueue, Claimed};
use tokio::sync::{Mutex, mpsc};

/// As many as the product's dispatcher takes in one claim.
const DISPATCHED: u32 = 10;

#[tokio::main]
async fn main() {
    let arguments = Arguments::read();
    match arguments.command {
        Command::Fill => fill::finished(&arguments.database, arguments.finished).await,
        Command::Enqueue => enqueue(&arguments).await,
        Command::Claim => claim(&arguments).await,
        Command::Own => dispatch(&arguments).await,
    }
}

async fn open(path: &Path) -> BenchQueue {
    let queue = BenchQueue::open(path).expect("the store must open");
    let (synchronous, journal_mode) = queue.durability().await.expect("pragmas can be read");
    print_durability(synchronous, &journal_mode, rusqlite::version());
    queue
}

async fn enqueue(arguments: &Arguments) {
    let queue = open(&arguments.database).await;
    let shared = queue.clone();
    let throughput = run_for(PRODUCERS, arguments.time, move |_| {
        let queue = shared.clone();
        async move {
            queue
                .enqueue(PAYLOAD.to_owned())
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
    queue.close().await;
}

/// Each worker claims one job and completes it, as a program with single workers would.
async fn claim(arguments: &Arguments) {
    fill::pending(&arguments.database, arguments.pending).await;
    let queue = open(&arguments.database).await;
    let (claims, cycles) = (Latencies::default(), Latencies::default());
    let (shared, seen, rounds) = (queue.clone(), claims.clone(), cycles.clone());
    let throughput = run_for(WORKERS, arguments.time, move |_| {
        let (queue, claims, cycles) = (shared.clone(), seen.clone(), rounds.clone());
        async move {
            let began = Instant::now();
            let claimed = queue.claim(1).await.expect("a claim must succeed");
            claims.add(began.elapsed());
            let mut done = 0;
            for job in claimed {
                complete(&queue, job).await;
                done += 1;
            }
            cycles.add(began.elapsed());
            done
        }
    })
    .await;
    print_throughput(Command::Claim, throughput, &claims, &cycles);
    queue.close().await;
}

/// One dispatcher claims up to ten, eight workers complete: the product's way.
async fn dispatch(arguments: &Arguments) {
    fill::pending(&arguments.database, arguments.pending).await;
    let queue = open(&arguments.database).await;
    let claims = Latencies::default();
    // The next ten are claimed while the workers still complete these.
    let (sender, receiver) = mpsc::channel::<Claimed>(DISPATCHED as usize);
    let receiver = Arc::new(Mutex::new(receiver));
    let dispatcher = tokio::spawn({
        let (queue, claims) = (queue.clone(), claims.clone());
        async move {
            loop {
                let began = Instant::now();
                let claimed = queue.claim(DISPATCHED).await.expect("a claim must succeed");
                claims.add(began.elapsed());
                if claimed.is_empty() {
                    return;
                }
                for job in claimed {
                    if sender.send(job).await.is_err() {
                        return;
                    }
                }
            }
        }
    });
    let shared = queue.clone();
    let throughput = run_for(WORKERS, arguments.time, move |_| {
        let (queue, receiver) = (shared.clone(), Arc::clone(&receiver));
        async move {
            let next = receiver.lock().await.recv().await;
            match next {
                Some(job) => {
                    complete(&queue, job).await;
                    1
                }
                None => 0,
            }
        }
    })
    .await;
    dispatcher.await.expect("the dispatcher must not fail");
    print_throughput(Command::Own, throughput, &claims, &Latencies::default());
    queue.close().await;
}

async fn complete(queue: &BenchQueue, job: Claimed) {
    let held = queue
        .complete(job)
        .await
        .expect("a completion must succeed");
    assert!(held, "a lease of a minute must hold for a moment");
}
