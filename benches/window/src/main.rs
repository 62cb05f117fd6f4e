//! Measures the real window: the release build under Xvfb, steered by WebKitWebDriver, over a database of many jobs.
//!
//! What is measured and why is said where each figure is printed. Nothing is timed from outside that can be timed within
//! the page: the driver's own time would be counted too.

mod bundle;
mod fill;
mod page;
mod processes;
mod window;

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use processes::Tree;
use window::Window;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// From the start of the process to the first rows on the screen.
const FIRST_ROWS: f64 = 1_000.0;
/// Longest time that a key or a click may have to wait.
const BLOCKED: f64 = 100.0;
/// From the press on a view to its rows on the screen.
const FILTER: f64 = 150.0;
/// The app and the processes of its web view.
const MEMORY: f64 = 350.0;
/// Share of one processor when nothing happens.
const IDLE: f64 = 1.0;
/// The interface, compressed, without what shows PDFs.
const BUNDLE: f64 = 400.0;
/// Starts of which the middle one counts: the first one after a build reads the program from disk.
const STARTS: usize = 5;
/// How long the idle window is watched.
const IDLE_TIME: Duration = Duration::from_secs(20);
/// What is left to do after a start: reading what is due, compiling scripts.
const SETTLE: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("gistmill-bench-window: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, program, dist, jobs] = arguments.as_slice() else {
        return Err("usage: gistmill-bench-window FOLDER PROGRAM DIST JOBS".into());
    };
    let jobs: u64 = jobs.parse()?;
    let home = tempfile::tempdir_in(folder)?;
    let filled = fill::fill(&home.path().join("gistmill"), jobs).await?;
    println!("{jobs} jobs of {} in the database: {filled}", fill::BATCHES);

    let mut starts = Vec::new();
    for _ in 1..STARTS {
        let window = Window::start(Path::new(program), home.path()).await?;
        starts.push(window.first_rows().await?);
        window.end().await?;
    }
    let window = Window::start(Path::new(program), home.path()).await?;
    starts.push(window.first_rows().await?);
    println!("from the start of the process to the first rows: {starts:.0?} ms");
    starts.sort_by(f64::total_cmp);
    figure("first_rows", starts[starts.len() / 2], "ms", FIRST_ROWS);

    tokio::time::sleep(SETTLE).await;
    let tree = Tree::of(window.process()?);
    println!("memory after the start: {}", tree.memory()?);
    let idle = tree.processor(IDLE_TIME).await?;
    figure("idle_processor", idle * 100.0, "%", IDLE);

    let scrolled = page::scroll(&window).await?;
    println!(
        "scrolling: {} frames, the slowest after {:.0} ms; {} rows in the page at most",
        scrolled.frames, scrolled.slowest_frame, scrolled.most_rows
    );
    figure("scroll_blocked", scrolled.blocked, "ms", BLOCKED);

    let typed = page::search(&window).await?;
    println!(
        "typing: what is found stands there {:.0} ms after the last key",
        typed.shown
    );
    figure("search_blocked", typed.blocked, "ms", BLOCKED);

    let filters = page::filters(&window).await?;
    for (view, took) in &filters {
        println!("the view {view}: {took:.0} ms");
    }
    let slowest = filters.iter().map(|(_, took)| *took).fold(0.0, f64::max);
    figure("filter_change", slowest, "ms", FILTER);

    // After all of it: what a long evening leaves.
    let memory = tree.memory()?;
    println!("memory after all of it: {memory}");
    figure("memory", memory.proportional, "MB", MEMORY);
    window.end().await?;

    for part in bundle::parts(Path::new(dist))? {
        println!(
            "{:>7.1} KB compressed: {}{}",
            part.kilobytes,
            part.name,
            if part.counts { "" } else { " (shows PDFs)" }
        );
    }
    figure("bundle", bundle::size(Path::new(dist))?, "KB", BUNDLE);
    Ok(())
}

/// Prints a figure with its goal, of which it must not be more.
fn figure(name: &str, value: f64, unit: &str, goal: f64) {
    let verdict = if value <= goal { "met" } else { "missed" };
    println!("figure window_{name} {value:.2} {unit} goal {goal} {verdict}");
}
