//! From dropped paths to stored jobs: walk, inspect, submit. Every front comes this way.

mod kept;
mod notices;
mod opening;
mod scan;
mod settle;
mod walk;

use crate::model::{DocumentView, Finding};
use crate::pdf::Inspection;

pub(crate) use kept::{KeptScan, Scans};
pub(crate) use opening::{inspect_with, is_locked};
pub(crate) use scan::{AT_ONCE, ScanParts, scan};

/// Longest prompt, in characters.
pub(crate) const LONGEST_PROMPT: usize = 200_000;

/// Returns the document of an inspection, or why the file could not even be read.
pub(crate) fn document(inspection: Inspection) -> Result<DocumentView, Finding> {
    match inspection.sha256 {
        Some(sha256) => Ok(DocumentView {
            sha256,
            bytes: inspection.bytes,
            pages: inspection.pages,
            encryption: inspection.encryption,
            has_text: inspection.has_text,
            facts: inspection.facts,
            finding: inspection.finding,
        }),
        None => Err(inspection.finding.unwrap_or(Finding {
            cause: crate::model::Cause::FileUnreadable,
            message: "The file can't be read.".to_owned(),
        })),
    }
}
