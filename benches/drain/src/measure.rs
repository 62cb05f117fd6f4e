//! Starts the other processes of a setting, and prints its figures.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::claude::Met;
use crate::setting::{Planned, Setting};
use crate::work::Worked;
use crate::{Outcome, bound, files};

/// Most times that the least possible time may be taken.
const RATIO: f64 = 1.05;
/// Most megabytes that the program may take.
const MEMORY: f64 = 150.0;
/// Most milliseconds of processor time for a job.
const PROCESSOR: f64 = 25.0;

/// Measures settings one after another.
pub(crate) fn measure(folder: &Path, count: usize, settings: &[Setting]) -> Outcome<()> {
    for setting in settings {
        let folder = tempfile::tempdir_in(folder)?;
        measure_one(folder.path(), count, *setting)?;
    }
    Ok(())
}

fn measure_one(folder: &Path, count: usize, setting: Setting) -> Outcome<()> {
    let pdfs = folder.join("pdfs");
    std::fs::create_dir(&pdfs)?;
    let planned = setting.files(count);
    for file in &planned {
        let path = pdfs.join(file.file_name());
        files::write(&path, file.number as u64, file.pages, file.bytes)?;
    }
    let program = std::env::current_exe()?;
    let mut claude = Command::new(&program)
        .args(["claude", setting.name, &count.to_string()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let worked = worked(&program, &mut claude, folder, setting);
    // It ends with its standard input.
    drop(claude.stdin.take());
    let mut told = String::new();
    if let Some(output) = &mut claude.stdout {
        output.read_to_string(&mut told)?;
    }
    claude.wait()?;
    let worked = worked?;
    let met: Met = serde_json::from_str(told.trim())?;
    print(setting, &planned, &worked, &met);
    Ok(())
}

/// Has another process work the queue, and returns what it told.
fn worked(program: &Path, claude: &mut Child, folder: &Path, setting: Setting) -> Outcome<Worked> {
    let mut url = String::new();
    if let Some(output) = &mut claude.stdout {
        // A byte at a time, since what follows is read by somebody else.
        BufReader::with_capacity(1, output).read_line(&mut url)?;
    }
    let output = Command::new(program)
        .args(["work", setting.name])
        .arg(folder)
        .arg(url.trim())
        .stderr(Stdio::inherit())
        .output()?;
    if !output.status.success() {
        return Err(format!("working the queue: {}", output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn print(setting: Setting, planned: &[Planned], worked: &Worked, met: &Met) {
    let jobs = &worked.jobs;
    let name = setting.name;
    let took = jobs.iter().map(|job| job.ended).max().unwrap_or(0) as f64 / 1e3;
    let bound = bound::bound(setting, planned, jobs);
    println!(
        "{name}: {} PDFs, {} tokens, {} at once, {}; took {took:.1} s, in line at least {:.1} s, in any order {:.1} s",
        jobs.len(),
        bound::tokens(jobs),
        setting.at_once,
        setting
            .tokens_per_minute
            .map_or("any tokens a minute".to_owned(), |limit| format!(
                "{limit} tokens a minute"
            )),
        bound.in_line,
        bound.in_any_order(),
    );
    let again = jobs.iter().filter(|job| job.attempts != 1).count();
    println!(
        "{name}: {} calls over {} connections, {again} jobs asked more than once; {:.3} times the least time in any order",
        met.calls,
        met.connections,
        took / bound.in_any_order()
    );
    figure(name, "ratio", took / bound.in_line, "x", RATIO);
    figure(name, "429s", met.refused as f64, "calls", 0.0);
    figure(
        name,
        "connections",
        met.connections as f64,
        "connections",
        f64::from(setting.at_once),
    );
    if let Some(limit) = setting.tokens_per_minute {
        let fullest = bound::fullest_minute(jobs) as f64;
        figure(name, "fullest_minute", fullest, "tokens", f64::from(limit));
    }
    figure(name, "peak_memory", worked.peak as f64 / 1e3, "MB", MEMORY);
    let each = worked.processor * 1e3 / jobs.len().max(1) as f64;
    figure(name, "processor_per_job", each, "ms", PROCESSOR);
}

/// Prints a figure with its goal, of which it must not be more.
fn figure(setting: &str, name: &str, value: f64, unit: &str, goal: f64) {
    let verdict = if value <= goal { "met" } else { "missed" };
    println!("figure drain_{setting}_{name} {value:.3} {unit} goal {goal} {verdict}");
}
