//! What was seen so far.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use crate::ask::Heard;

/// Most inputs that are saved because they killed a child.
const MAX_SAVED: usize = 100;

/// Counts.
pub struct Tally {
    began: Instant,
    inputs: u64,
    killed: u64,
    saved: usize,
    kinds: BTreeMap<String, u64>,
    failures: Vec<String>,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            inputs: 0,
            killed: 0,
            saved: 0,
            kinds: BTreeMap::new(),
            failures: Vec::new(),
        }
    }
}

impl Tally {
    /// Counts the answers about one input; says whether one was of a new kind.
    pub fn add(&mut self, heard: &Heard) -> bool {
        self.inputs += 1;
        self.killed += u64::from(heard.killed);
        let mut new = false;
        for kind in &heard.kinds {
            let count = self.kinds.entry(kind.clone()).or_default();
            new |= *count == 0;
            *count += 1;
        }
        new
    }

    /// Notes something that reached the parent.
    pub fn fail(&mut self, what: String) {
        println!("FAILURE: {what}");
        self.failures.push(what);
    }

    pub fn failures(&self) -> usize {
        self.failures.len()
    }

    /// Whether one more input may be saved; counts it.
    pub fn may_save(&mut self) -> bool {
        self.saved += usize::from(self.saved < MAX_SAVED);
        self.saved < MAX_SAVED
    }

    pub fn saved(&self) -> usize {
        self.saved
    }

    pub fn is_clean(&self) -> bool {
        self.failures.is_empty() && self.inputs > 0
    }

    /// The whole in a line.
    pub fn line(&self) -> String {
        let seconds = self.began.elapsed().as_secs().max(1);
        format!(
            "{seconds} s: {} inputs ({} a second), {} killed a child, {} kinds of answers, {} failures",
            self.inputs,
            self.inputs / seconds,
            self.killed,
            self.kinds.len(),
            self.failures.len()
        )
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "\n{}", self.line())?;
        for (kind, count) in &self.kinds {
            writeln!(formatter, "{count:>9}  {kind}")?;
        }
        for failure in &self.failures {
            writeln!(formatter, "FAILURE: {failure}")?;
        }
        Ok(())
    }
}
