//! Inputs that were found by other means, through real children.

use std::collections::BTreeSet;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use gistmill_engine::pdf::PdfWorker;

use crate::ask::Desk;
use crate::tally::Tally;
use crate::{LANES, MAX_SEEN, conclude, lock, look_for_children, worker};

/// So often it is said how far it is, in files.
const SAID_EVERY: usize = 500;

/// How deep folders are looked into.
const MAX_DEPTH: usize = 4;

/// What all lanes share.
struct Replay {
    waiting: Mutex<Vec<PathBuf>>,
    tally: Mutex<Tally>,
}

/// Asks everything about each file in these folders; says whether nothing reached the parent.
#[tokio::main]
pub async fn run(folders: &[&str]) -> std::io::Result<bool> {
    let mut files = BTreeSet::new();
    for folder in folders {
        collect(Path::new(folder), MAX_DEPTH, &mut files)?;
    }
    if files.is_empty() {
        return Err(Error::new(
            ErrorKind::NotFound,
            "there are no files to replay",
        ));
    }
    println!("Replaying {} files.", files.len());
    let replay = Arc::new(Replay {
        waiting: Mutex::new(files.into_iter().rev().collect()),
        tally: Mutex::default(),
    });
    let worker = worker()?;
    let lanes: Vec<_> = (0..LANES)
        .map(|_| tokio::spawn(replay_on(Arc::clone(&replay), worker.clone())))
        .collect();
    for lane in lanes {
        match lane.await {
            Ok(done) => done?,
            Err(panic) => lock(&replay.tally).fail(format!("the parent panicked: {panic}")),
        }
    }
    Ok(conclude(worker, &replay.tally).await)
}

fn collect(folder: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_file() {
            files.insert(entry.path());
        } else if kind.is_dir() && depth > 0 {
            collect(&entry.path(), depth - 1, files)?;
        }
    }
    Ok(())
}

async fn replay_on(replay: Arc<Replay>, worker: PdfWorker) -> std::io::Result<()> {
    let desk = Desk::new(worker)?;
    loop {
        let (path, left) = {
            let mut waiting = lock(&replay.waiting);
            let Some(path) = waiting.pop() else {
                return Ok(());
            };
            (path, waiting.len())
        };
        let heard = desk.ask_all(&std::fs::read(&path)?).await?;
        let mut tally = lock(&replay.tally);
        tally.add(&heard);
        look_for_children(&mut tally, MAX_SEEN);
        if let Some(failure) = heard.failure {
            tally.fail(format!("{failure} ({})", path.display()));
        }
        if left % SAID_EVERY == 0 {
            println!("{} ({left} files are left)", tally.line());
        }
    }
}
