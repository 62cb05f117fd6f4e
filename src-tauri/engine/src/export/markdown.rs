//! All results in one document, for people.

use std::io;

use super::{Content, Item, count, words};
use crate::markdown::{as_part, escaped};
use crate::model::JobStatus;
use crate::store::ExportTitle;
use crate::templates::fields;

/// Levels that the headings of a result go deeper: its section has a heading of the second level.
const DEEPER: usize = 2;

/// A document under way.
pub(super) struct Document {
    title: String,
    day: String,
    counts: Vec<(JobStatus, u64)>,
    /// Whether the heading of the contents is written.
    has_contents: bool,
    /// Jobs without a result that failed: title and reason.
    failed: Vec<(String, String)>,
    /// Titles of jobs without a result that did not fail, with their states.
    open: Vec<(String, JobStatus)>,
}

impl Document {
    pub(super) fn new(title: String, day: String, counts: Vec<(JobStatus, u64)>) -> Self {
        Self {
            title,
            day,
            counts,
            has_contents: false,
            failed: Vec::new(),
            open: Vec::new(),
        }
    }

    pub(super) fn begin(&self, out: &mut dyn io::Write) -> io::Result<()> {
        writeln!(out, "# {}\n", escaped(&self.title))?;
        writeln!(out, "{} · {}", self.day, self.sums())
    }

    /// Returns how many jobs there are, and what became of them.
    fn sums(&self) -> String {
        let all = count(&self.counts, &JobStatus::ALL);
        let mut sums = vec![match all {
            1 => "1 job".to_owned(),
            all => format!("{all} jobs"),
        }];
        for (statuses, words) in [
            (&[JobStatus::Completed][..], "completed"),
            (&[JobStatus::NeedsReview], "to review"),
            (&[JobStatus::Failed, JobStatus::DeadLettered], "failed"),
            (&[JobStatus::Cancelled], "cancelled"),
            (
                &[JobStatus::Pending, JobStatus::Running, JobStatus::Submitted],
                "not finished",
            ),
        ] {
            let jobs = count(&self.counts, statuses);
            if jobs > 0 {
                sums.push(format!("{jobs} {words}"));
            }
        }
        sums.join(" · ")
    }

    pub(super) fn contents(
        &mut self,
        out: &mut dyn io::Write,
        titles: &[ExportTitle],
    ) -> io::Result<()> {
        for job in titles {
            if !job.has_result {
                match job.status {
                    JobStatus::Failed | JobStatus::DeadLettered => self
                        .failed
                        .push((job.title.clone(), job.error.clone().unwrap_or_default())),
                    status => self.open.push((job.title.clone(), status)),
                }
                continue;
            }
            if !self.has_contents {
                self.has_contents = true;
                writeln!(out, "\n## Contents\n")?;
            }
            writeln!(out, "- [{}](#{})", escaped(&job.title), anchor(job.seq))?;
        }
        Ok(())
    }

    pub(super) fn items(&self, out: &mut dyn io::Write, items: &[Item]) -> io::Result<()> {
        for item in items {
            if item.row.result.is_some() {
                section(out, item)?;
            }
        }
        Ok(())
    }

    pub(super) fn end(&self, out: &mut dyn io::Write) -> io::Result<()> {
        if !self.failed.is_empty() {
            writeln!(out, "\n## Failed\n")?;
            for (title, reason) in &self.failed {
                writeln!(out, "- {}", escaped(title))?;
                // On a line of its own, since the two may be written in different directions.
                writeln!(out, "  - {}", escaped(reason))?;
            }
        }
        if !self.open.is_empty() {
            writeln!(out, "\n## Without a result\n")?;
            for (title, status) in &self.open {
                writeln!(out, "- {}", escaped(title))?;
                writeln!(out, "  - {}", status.as_str())?;
            }
        }
        Ok(())
    }
}

/// Returns the name that a job's section is reached by. Headings make names, too, but each program others.
fn anchor(seq: i64) -> String {
    format!("gistmill-{seq}")
}

fn section(out: &mut dyn io::Write, item: &Item) -> io::Result<()> {
    let row = &item.row;
    writeln!(out, "\n<a id=\"{}\"></a>\n", anchor(row.seq))?;
    writeln!(out, "## {}\n", escaped(&row.title))?;
    let mut meta: Vec<String> = Vec::new();
    meta.extend(row.template.as_deref().map(escaped));
    meta.push(escaped(&row.model));
    meta.extend(row.pages.map(|pages| match pages {
        1 => "1 page".to_owned(),
        pages => format!("{pages} pages"),
    }));
    meta.push(match row.cost_micros {
        Some(micros) => format!("${}", words::dollars(micros)),
        None => "cost not known".to_owned(),
    });
    if row
        .result
        .as_ref()
        .is_some_and(|result| result.reused_from.is_some())
    {
        meta.push("an earlier result".to_owned());
    }
    writeln!(out, "{}\n", meta.join(" · "))?;
    if let Some(error) = &row.error {
        let what = match row.status {
            JobStatus::NeedsReview => "To review",
            JobStatus::Failed | JobStatus::DeadLettered => {
                "A later run failed; this is the result of an earlier one"
            }
            _ => "The last attempt",
        };
        writeln!(out, "> {what}: {}\n", escaped(error))?;
    }
    match &item.content {
        Content::None => Ok(()),
        Content::Text(text) => write!(out, "{}", as_part(text.trim(), DEEPER)),
        Content::Fields(values) => write!(out, "{}", fields::markdown_table(values)),
        Content::Unreadable(reason) => writeln!(out, "*{}*", escaped(reason)),
    }
}
