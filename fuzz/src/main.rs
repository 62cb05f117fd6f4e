//! Throws broken PDFs at the children that read them.
//!
//! A child may die of a file: that is what it is there for. So nothing that happens in a child is a failure
//! here, and everything that reaches the parent is one: a panic, an error that is not about the file, an
//! answer that does not come within the limit, a child that is left behind.
//!
//! Inputs are made from good and odd files by chance. One that gets an answer of a kind not seen before is
//! kept and changed further, so that the search goes to where answers differ. Inputs that were found in another
//! way can be replayed: then children are asked everything about each.

mod ask;
mod chance;
mod mutate;
mod replay;
mod seeds;
mod tally;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use gistmill_engine::pdf::{PdfWorker, PdfWorkerConfig, worker_main};

use crate::ask::Desk;
use crate::chance::Chance;
use crate::tally::Tally;

const USAGE: &str = "usage: gistmill-fuzz search MINUTES SEED FOLDER-FOR-WHAT-KILLS-CHILDREN
       gistmill-fuzz replay FOLDER…
       gistmill-fuzz seeds FOLDER WORD-LIST";

/// The argument that makes this program the child.
const PDF_WORKER: &str = "--pdf-worker";

/// How long one question about a file may take here: short, since most endless files never end.
const WALL_LIMIT: Duration = Duration::from_secs(3);

/// Questions under way at a time; as many as there are children.
const LANES: usize = 2;

/// Most children at a time: one that is being killed may still be seen beside the one that took its place.
const MAX_SEEN: usize = 2 * LANES;

/// One in so many inputs is made from a file that kills children, so that they are replaced now and then.
const DEADLY_ONCE_IN: usize = 1000;

/// Most inputs that are kept for being changed further.
const MAX_KEPT: usize = 2000;

/// Largest input, in bytes.
const MAX_BYTES: usize = 512 << 10;

/// What all lanes share.
struct Search {
    kept: Mutex<Vec<Vec<u8>>>,
    deadly: Vec<Vec<u8>>,
    tally: Mutex<Tally>,
    ends: Instant,
    save: PathBuf,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().map(String::as_str) == Some(PDF_WORKER) {
        return worker_main();
    }
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["search", minutes, seed, save] => match (minutes.parse(), seed.parse()) {
            (Ok(minutes), Ok(seed)) => run(minutes, seed, PathBuf::from(save)),
            _ => return wrong_use(),
        },
        ["replay", folders @ ..] if !folders.is_empty() => replay::run(folders),
        ["seeds", folder, words] => seeds::write(Path::new(folder), Path::new(words)),
        _ => return wrong_use(),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("This could not be done: {error}.");
            ExitCode::from(2)
        }
    }
}

fn wrong_use() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

/// What asks real children.
fn worker() -> std::io::Result<PdfWorker> {
    let mut config = PdfWorkerConfig::new(std::env::current_exe()?);
    config.args = vec![PDF_WORKER.into()];
    config.wall_limit = WALL_LIMIT;
    config.max_children = LANES;
    Ok(PdfWorker::new(config))
}

#[tokio::main]
async fn run(minutes: f64, seed: u64, save: PathBuf) -> std::io::Result<bool> {
    std::fs::create_dir_all(&save)?;
    let worker = worker()?;
    let search = Arc::new(Search {
        kept: Mutex::new(seeds::all()),
        deadly: seeds::deadly(),
        tally: Mutex::default(),
        ends: Instant::now() + Duration::from_secs_f64(minutes * 60.0),
        save,
    });
    println!("Searching for {minutes} minutes from seed {seed}.");

    let lanes: Vec<_> = (0..LANES as u64)
        .map(|lane| {
            let (search, worker) = (Arc::clone(&search), worker.clone());
            tokio::spawn(
                async move { search_on(&search, worker, Chance::new(seed ^ lane << 32)).await },
            )
        })
        .collect();
    let reporter = tokio::spawn(report(Arc::clone(&search)));
    for lane in lanes {
        match lane.await {
            Ok(done) => done?,
            Err(panic) => lock(&search.tally).fail(format!("the parent panicked: {panic}")),
        }
    }
    reporter.abort();
    Ok(conclude(worker, &search.tally).await)
}

/// Lets go of the children, looks for any that stay, prints all that was seen and says whether it is well.
async fn conclude(worker: PdfWorker, tally: &Mutex<Tally>) -> bool {
    drop(worker);
    // The children are killed at once, and gone a moment later.
    tokio::time::sleep(Duration::from_secs(2)).await;
    let mut tally = lock(tally);
    look_for_children(&mut tally, 0);
    print!("{tally}");
    tally.is_clean()
}

/// Notes it as a failure when there are more children than this.
fn look_for_children(tally: &mut Tally, limit: usize) {
    if let Some(many) = ask::children().filter(|many| *many > limit) {
        tally.fail(format!(
            "{many} children are there, and should be {limit} at most"
        ));
    }
}

/// Makes inputs and asks about each until the time is over.
async fn search_on(search: &Search, worker: PdfWorker, mut chance: Chance) -> std::io::Result<()> {
    let desk = Desk::new(worker)?;
    while Instant::now() < search.ends {
        let input = {
            let kept = lock(&search.kept);
            let base = if chance.once_in(DEADLY_ONCE_IN) {
                chance.pick(&search.deadly)
            } else {
                chance.pick(&kept)
            };
            let other = chance.pick(&kept);
            let mut input = mutate::mutate(base, other, &mut chance);
            input.truncate(MAX_BYTES);
            input
        };
        let heard = desk.ask(&input, &mut chance).await?;
        let mut tally = lock(&search.tally);
        let new = tally.add(&heard);
        if let Some(failure) = heard.failure {
            let name = format!("failure-{}.pdf", tally.failures());
            std::fs::write(search.save.join(&name), &input)?;
            tally.fail(format!("{failure} ({name})"));
        }
        if heard.killed && tally.may_save() {
            std::fs::write(
                search.save.join(format!("killed-{}.pdf", tally.saved())),
                &input,
            )?;
        }
        drop(tally);
        // What kills children does so again: it costs seconds each time and leads nowhere.
        if new && !heard.killed {
            let mut kept = lock(&search.kept);
            if kept.len() < MAX_KEPT {
                kept.push(input);
            }
        }
    }
    Ok(())
}

async fn report(search: Arc<Search>) {
    loop {
        tokio::time::sleep(Duration::from_secs(60)).await;
        let kept = lock(&search.kept).len();
        let mut tally = lock(&search.tally);
        look_for_children(&mut tally, MAX_SEEN);
        println!("{} ({kept} inputs are kept)", tally.line());
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
