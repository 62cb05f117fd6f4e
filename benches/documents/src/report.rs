//! The table, and what it comes to.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use super::milliseconds;

/// How many of the slowest files are named.
const SLOWEST: usize = 5;

/// In what a file differs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Difference {
    /// The number of its pages.
    Pages,
    /// A copy of pages is refused or not valid.
    Copy,
    /// A copy has another text.
    Text,
    /// The words that it should have.
    Words,
}

impl Difference {
    fn word(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Copy => "copy",
            Self::Text => "text",
            Self::Words => "words",
        }
    }
}

/// What was found out about a file.
pub(crate) struct Row {
    pub(crate) name: String,
    pub(crate) opened: bool,
    pub(crate) pages: Option<u32>,
    pub(crate) qpdf: Option<u32>,
    pub(crate) poppler: Option<u32>,
    pub(crate) encryption: &'static str,
    pub(crate) reason: String,
    pub(crate) crashed: bool,
    pub(crate) over_limit: bool,
    /// Whether a copy lost its annotations.
    pub(crate) rewritten: bool,
    pub(crate) copy_time: Duration,
    time: Duration,
    /// Whether it is known how many pages it has.
    known: bool,
    differences: Vec<(Difference, String)>,
}

impl Row {
    pub(crate) fn new(name: String, time: Duration) -> Self {
        Self {
            name,
            opened: false,
            pages: None,
            qpdf: None,
            poppler: None,
            encryption: "-",
            reason: String::new(),
            crashed: false,
            over_limit: false,
            rewritten: false,
            copy_time: Duration::ZERO,
            time,
            known: false,
            differences: Vec::new(),
        }
    }

    /// Compares the pages with the right number, or with the one that both others agree on.
    pub(crate) fn compare(&mut self, answer: Option<u32>) {
        let agreed = self.qpdf.filter(|_| self.qpdf == self.poppler);
        let Some(right) = answer.filter(|pages| *pages > 0).or(agreed) else {
            return;
        };
        self.known = true;
        if self.pages != Some(right) || !self.opened {
            let ours = self
                .pages
                .map_or("none".to_owned(), |pages| pages.to_string());
            let refused = if self.opened { "" } else { ", refused" };
            self.differ(
                Difference::Pages,
                format!("{right} pages; ours: {ours}{refused}"),
            );
        }
    }

    pub(crate) fn differ(&mut self, difference: Difference, how: String) {
        self.differences.push((difference, how));
    }
}

/// Collects rows.
pub(crate) struct Report {
    explained: HashMap<(String, String), String>,
    quiet: bool,
    rows: Vec<Row>,
}

impl Report {
    /// Reads what is explained: lines of a difference, the name of a file and why, separated by blanks.
    pub(crate) fn new(explained: &Path, quiet: bool) -> Result<Self, String> {
        let text = std::fs::read_to_string(explained)
            .map_err(|error| format!("{}: {error}", explained.display()))?;
        let lines = text
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let explained = lines
            .map(|line| {
                let mut words = line.splitn(3, ' ');
                match (words.next(), words.next(), words.next()) {
                    (Some(what), Some(name), Some(why)) => {
                        Ok(((what.to_owned(), name.to_owned()), why.trim().to_owned()))
                    }
                    _ => Err(format!("This line explains nothing: {line}")),
                }
            })
            .collect::<Result<_, _>>()?;
        println!(
            "{:44} {:6} {:>6} {:>6} {:>7} {:8} {:>7}  reason",
            "file", "opened", "pages", "qpdf", "poppler", "locked", "ms"
        );
        Ok(Self {
            explained,
            quiet,
            rows: Vec::new(),
        })
    }

    pub(crate) fn add(&mut self, row: Row) {
        if !self.quiet || !row.differences.is_empty() || row.crashed {
            let count =
                |pages: Option<u32>| pages.map_or("-".to_owned(), |pages| pages.to_string());
            println!(
                "{:44} {:6} {:>6} {:>6} {:>7} {:8} {:>7}  {}",
                row.name,
                if row.opened { "yes" } else { "no" },
                count(row.pages),
                count(row.qpdf),
                count(row.poppler),
                row.encryption,
                milliseconds(row.time),
                row.reason
            );
            for (difference, how) in &row.differences {
                let why = self.why(&row, *difference).unwrap_or("NOT EXPLAINED");
                println!("    {}: {how} ({why})", difference.word());
            }
        }
        self.rows.push(row);
    }

    fn why(&self, row: &Row, difference: Difference) -> Option<&str> {
        let key = (difference.word().to_owned(), row.name.clone());
        self.explained.get(&key).map(String::as_str)
    }

    /// Prints the totals; says whether nothing differs without an explanation and nothing crashed.
    pub(crate) fn finish(mut self) -> bool {
        let count = |of: &dyn Fn(&Row) -> bool| self.rows.iter().filter(|row| of(row)).count();
        println!();
        println!("files:                 {}", self.rows.len());
        println!("opened:                {}", count(&|row| row.opened));
        println!("with a known count:    {}", count(&|row| row.known));
        println!(
            "opened by us only:     {}",
            count(&|row| row.opened && row.qpdf.is_none() && row.poppler.is_none())
        );
        println!(
            "copied anew, without annotations: {}",
            count(&|row| row.rewritten)
        );
        let crashes = count(&|row| row.crashed);
        println!("readers brought down:  {crashes}");
        println!("over the time limit:   {}", count(&|row| row.over_limit));
        let mut unexplained = 0;
        for kind in [
            Difference::Pages,
            Difference::Copy,
            Difference::Text,
            Difference::Words,
        ] {
            let differing: Vec<&Row> = self
                .rows
                .iter()
                .filter(|row| {
                    row.differences
                        .iter()
                        .any(|(difference, _)| *difference == kind)
                })
                .collect();
            let open = differing
                .iter()
                .filter(|row| self.why(row, kind).is_none())
                .count();
            println!(
                "differing in {:10} {}, not explained: {open}",
                format!("{}:", kind.word()),
                differing.len()
            );
            unexplained += open;
        }
        self.rows.sort_by_key(|row| std::cmp::Reverse(row.time));
        let total: Duration = self.rows.iter().map(|row| row.time).sum();
        println!(
            "inspections took       {} ms in all; the slowest:",
            milliseconds(total)
        );
        for row in self.rows.iter().take(SLOWEST) {
            println!("    {:44} {} ms", row.name, milliseconds(row.time));
        }
        self.rows
            .sort_by_key(|row| std::cmp::Reverse(row.copy_time));
        if self
            .rows
            .first()
            .is_some_and(|row| !row.copy_time.is_zero())
        {
            println!("copies took longest of:");
            for row in self.rows.iter().take(SLOWEST) {
                println!("    {:44} {} ms", row.name, milliseconds(row.copy_time));
            }
        }
        unexplained == 0 && crashes == 0
    }
}
