//! What a process and those that it started take of memory and processor, as Linux tells it.

use std::collections::BTreeSet;
use std::fmt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Outcome;

/// Ticks in a second: what Linux shows to programs, whatever it counts itself.
const TICKS: f64 = 100.0;

/// A process and all that it started, directly or not.
pub(crate) struct Tree(u32);

/// Megabytes in use.
pub(crate) struct Memory {
    /// What is shared with other processes counts in part.
    pub(crate) proportional: f64,
    /// What is shared counts in full in each process.
    resident: f64,
    of_each: Vec<(String, f64)>,
}

impl fmt::Display for Memory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let each: Vec<String> = self
            .of_each
            .iter()
            .map(|(name, megabytes)| format!("{name} {megabytes:.0}"))
            .collect();
        write!(
            formatter,
            "{:.0} MB ({}), {:.0} MB where shared pages count in each process",
            self.proportional,
            each.join(", "),
            self.resident
        )
    }
}

impl Tree {
    pub(crate) fn of(process: u32) -> Self {
        Self(process)
    }

    fn processes(&self) -> BTreeSet<u32> {
        let mut found = BTreeSet::from([self.0]);
        // A process is listed after the one that started it, unless numbers began anew: so until nothing is added.
        loop {
            let before = found.len();
            for process in all() {
                if parent(process).is_some_and(|parent| found.contains(&parent)) {
                    found.insert(process);
                }
            }
            if found.len() == before {
                return found;
            }
        }
    }

    pub(crate) fn memory(&self) -> Outcome<Memory> {
        let mut memory = Memory {
            proportional: 0.0,
            resident: 0.0,
            of_each: Vec::new(),
        };
        for process in self.processes() {
            let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/smaps_rollup")) else {
                continue;
            };
            let megabytes = |name: &str| -> f64 {
                text.lines()
                    .find_map(|line| {
                        line.strip_prefix(name)?
                            .trim()
                            .strip_suffix("kB")?
                            .trim()
                            .parse::<f64>()
                            .ok()
                    })
                    .unwrap_or_default()
                    * 1024.0
                    / 1e6
            };
            let name = std::fs::read_to_string(format!("/proc/{process}/comm"))?;
            memory.proportional += megabytes("Pss:");
            memory.resident += megabytes("Rss:");
            memory
                .of_each
                .push((name.trim().to_owned(), megabytes("Pss:")));
        }
        Ok(memory)
    }

    /// Returns the share of one processor that they took over a time.
    pub(crate) async fn processor(&self, time: Duration) -> Outcome<f64> {
        let spent = || -> f64 {
            self.processes()
                .into_iter()
                .filter_map(processor_seconds)
                .sum()
        };
        let (before, began) = (spent(), Instant::now());
        tokio::time::sleep(time).await;
        Ok((spent() - before) / began.elapsed().as_secs_f64())
    }
}

/// Returns when a process was started, in milliseconds since 1970. To a hundredth of a second, as Linux tells it.
pub(crate) fn started_at(process: u32) -> Outcome<f64> {
    let ticks: f64 = fields(process).ok_or("the app has ended")?[19].parse()?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
    let uptime = std::fs::read_to_string("/proc/uptime")?;
    let uptime: f64 = uptime
        .split_whitespace()
        .next()
        .ok_or("no uptime")?
        .parse()?;
    Ok((now - uptime + ticks / TICKS) * 1e3)
}

/// Returns the process that another one started directly.
pub(crate) fn child_of(process: u32) -> Option<u32> {
    all().find(|&each| parent(each) == Some(process))
}

fn all() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn parent(process: u32) -> Option<u32> {
    fields(process)?.get(1)?.parse().ok()
}

fn processor_seconds(process: u32) -> Option<f64> {
    let fields = fields(process)?;
    let user: f64 = fields.get(11)?.parse().ok()?;
    let system: f64 = fields.get(12)?.parse().ok()?;
    Some((user + system) / TICKS)
}

/// The fields of `/proc/PID/stat` after the name, which may hold spaces.
fn fields(process: u32) -> Option<Vec<String>> {
    let line = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}
