//! Inspecting what is found while the walk goes on.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::poll_fn;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

use super::settle::{Look, Settled, settled};
use super::walk::{self, FoundFile, MOST_FILES};
use super::{KeptScan, document, opening};
use crate::clock::Clock;
use crate::error::EngineError;
use crate::model::{
    Cause, DocumentFacts, DocumentView, Encryption, EngineEvent, ScanId, ScanReport, ScannedFile,
    Sha256, SkipReason, SkippedPath, Timestamp,
};
use crate::passwords::Passwords;
use crate::pdf::{Inspection, Measures, PdfWorker};

/// Files looked into at once. The PDF room bounds its children itself; the others wait for their turn, or for
/// a copy under way to end.
pub(crate) const AT_ONCE: usize = 8;
/// How often a file is inspected that changes while it is.
const MOST_INSPECTIONS: u32 = 3;
/// The shortest time between two events that tell how far the scan is.
const BETWEEN_EVENTS: Duration = Duration::from_millis(100);

/// What a scan works with.
#[derive(Clone)]
pub(crate) struct ScanParts<'engine> {
    pub(crate) pdf: &'engine PdfWorker,
    pub(crate) passwords: &'engine Passwords,
    /// Folders that Gistmill writes to.
    pub(crate) own: Vec<PathBuf>,
    pub(crate) clock: &'engine dyn Clock,
    pub(crate) events: &'engine broadcast::Sender<EngineEvent>,
}

/// Walks and inspects `paths`, both at the same time.
///
/// Prices and notices are left to whoever knows the model.
///
/// # Errors
/// [`EngineError::BadInput`] when cancelled; an internal error when PDFs can't be inspected at all.
pub(crate) async fn scan(
    paths: Vec<PathBuf>,
    parts: ScanParts<'_>,
    cancel: &CancellationToken,
) -> Result<KeptScan, EngineError> {
    // Ends the walk also where nobody waits for this any more.
    let walking = cancel.child_token();
    let _ends_with_this = walking.clone().drop_guard();
    let found = Arc::new(AtomicU64::new(0));
    // Room for every file of a drop: the walk runs ahead, so that it is soon known how many there are.
    let (hand_on, mut files) = mpsc::channel(MOST_FILES);
    let walk = tokio::task::spawn_blocking({
        let (own, found) = (parts.own.clone(), Arc::clone(&found));
        move || {
            let name = name(&paths);
            let skipped = walk::walk(&paths, &own, &|| !walking.is_cancelled(), &mut |file| {
                found.fetch_add(1, Ordering::Relaxed);
                // Nobody listens once the scan was given up.
                drop(hand_on.blocking_send(file));
            });
            (name, skipped)
        }
    });
    let mut inspections = std::pin::pin!(
        poll_fn(|context| files.poll_recv(context))
            .enumerate()
            .map(|(place, file)| {
                let parts = &parts;
                async move { (place, look_into(file, parts).await) }
            })
            .buffer_unordered(AT_ONCE)
    );
    let mut looked_into = Vec::new();
    let mut progress = Progress {
        inspected: 0,
        problems: 0,
        told_at: parts.clock.now(),
    };
    let cancelled = || EngineError::bad_input("The scan was cancelled.", "Nothing was added.");
    // Ends with the walk, which is bounded.
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(cancelled()),
            next = inspections.next() => match next {
                Some((place, one)) => {
                    let one = one?;
                    progress.inspected += 1;
                    progress.problems += u64::from(one.is_a_problem());
                    looked_into.push((place, one));
                }
                None => break,
            },
            () = parts.clock.sleep_until(progress.told_at.after(BETWEEN_EVENTS)) => {}
        }
        if parts.clock.now() >= progress.told_at.after(BETWEEN_EVENTS) {
            progress.tell(&parts, found.load(Ordering::Relaxed), !walk.is_finished());
        }
    }
    let (name, skipped) = walk
        .await
        .map_err(|error| EngineError::Internal(error.to_string()))?;
    progress.tell(&parts, found.load(Ordering::Relaxed), false);
    // What was quick to inspect came first.
    looked_into.sort_unstable_by_key(|(place, _)| *place);
    let looked_into = looked_into.into_iter().map(|(_, one)| one);
    Ok(gathered(name, looked_into, skipped))
}

/// How far a scan is.
struct Progress {
    inspected: u64,
    problems: u64,
    told_at: Timestamp,
}

impl Progress {
    fn tell(&mut self, parts: &ScanParts<'_>, found: u64, walking: bool) {
        self.told_at = parts.clock.now();
        // Nobody may be listening.
        drop(parts.events.send(EngineEvent::ScanProgress {
            inspected: self.inspected,
            found,
            problems: self.problems,
            walking,
        }));
    }
}

/// A file after it was looked into.
enum LookedInto {
    File(Box<ScannedFile>, Option<Measures>),
    LeftOut(SkippedPath),
}

impl LookedInto {
    fn is_a_problem(&self) -> bool {
        match self {
            Self::File(file, _) => file.document.finding.is_some(),
            Self::LeftOut(_) => false,
        }
    }
}

async fn look_into(file: FoundFile, parts: &ScanParts<'_>) -> Result<LookedInto, EngineError> {
    Ok(match whole(&file, parts).await? {
        Some(mut inspection) => {
            let measures = inspection.measures.take();
            LookedInto::File(Box::new(scanned(&file, inspection)), measures)
        }
        None => LookedInto::LeftOut(SkippedPath {
            path: shown(&file.path),
            reason: SkipReason::StillWritten,
            same_as: None,
        }),
    })
}

/// Inspects a file that nobody writes to meanwhile; `None` when somebody never stops.
async fn whole(file: &FoundFile, parts: &ScanParts<'_>) -> Result<Option<Inspection>, EngineError> {
    let mut before = file.look;
    for _ in 0..MOST_INSPECTIONS {
        let inspection = opening::inspect(parts.pdf, parts.passwords, &file.path).await?;
        let Some(after) = Look::at(file.path.clone()).await else {
            return Ok(Some(inspection));
        };
        let changed = after != before;
        // What is whole to its end is not being copied, however new it is.
        let doubtful = after.is_recent(parts.clock.now()) && seems_unfinished(&inspection);
        if !changed && !doubtful {
            return Ok(Some(inspection));
        }
        let look = || Look::at(file.path.clone());
        match settled(look, after, parts.clock).await {
            Settled::Unchanged if !changed => return Ok(Some(inspection)),
            Settled::Unchanged => before = after,
            Settled::Changed(Some(settled)) => before = settled,
            // It is gone; the inspection says so.
            Settled::Changed(None) => {}
            Settled::Not => return Ok(None),
        }
    }
    Ok(None)
}

/// Says whether a copy under way would look like this.
fn seems_unfinished(inspection: &Inspection) -> bool {
    inspection.finding.as_ref().is_some_and(|finding| {
        matches!(
            finding.cause,
            Cause::FileEmpty | Cause::NotAPdf | Cause::PdfDamaged | Cause::PdfTruncated
        )
    })
}

fn scanned(file: &FoundFile, inspection: Inspection) -> ScannedFile {
    let modified_ms = inspection.modified_ms;
    let document = document(inspection).unwrap_or_else(|finding| DocumentView {
        sha256: Sha256(String::new()),
        bytes: 0,
        pages: None,
        encryption: Encryption::None,
        has_text: None,
        facts: DocumentFacts::default(),
        finding: Some(finding),
    });
    ScannedFile {
        name: file.path.file_name().map_or_else(
            || shown(&file.path),
            |name| name.to_string_lossy().into_owned(),
        ),
        path: shown(&file.path),
        relative_path: shown(&file.relative),
        modified_ms,
        document,
        notices: Vec::new(),
    }
}

/// Makes the report, where each content is one file: the first that was found.
fn gathered(
    name: String,
    looked_into: impl Iterator<Item = LookedInto>,
    skipped: Vec<SkippedPath>,
) -> KeptScan {
    let mut report = ScanReport {
        scan_id: ScanId(0),
        name,
        files: Vec::new(),
        skipped,
        pages: 0,
        expected_micros: None,
        at_worst_micros: None,
    };
    let mut measures = HashMap::new();
    let mut first_of: HashMap<Sha256, usize> = HashMap::new();
    for one in looked_into {
        let (file, measured) = match one {
            LookedInto::File(file, measured) => (*file, measured),
            LookedInto::LeftOut(skipped) => {
                report.skipped.push(skipped);
                continue;
            }
        };
        let sha256 = &file.document.sha256;
        // Empty files have the same content, but each is a file that somebody misses.
        let is_empty = (file.document.finding.as_ref())
            .is_some_and(|finding| finding.cause == Cause::FileEmpty);
        if let Some(first) = first_of.get(sha256).filter(|_| !is_empty) {
            report.skipped.push(SkippedPath {
                same_as: Some(report.files[*first].path.clone()),
                path: file.path,
                reason: SkipReason::Duplicate,
            });
            continue;
        }
        // A file that could not be read is known by nothing.
        if !sha256.as_str().is_empty() {
            first_of.insert(sha256.clone(), report.files.len());
            if let Some(measured) = measured {
                measures.insert(sha256.clone(), measured);
            }
        }
        report.files.push(file);
    }
    KeptScan { report, measures }
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

/// Names a batch after the one folder or file that was dropped, or the folder that holds them.
fn name(paths: &[PathBuf]) -> String {
    let named = match paths {
        [only] if only.is_dir() => only.file_name(),
        [only] => only.file_stem(),
        [first, ..] => first.parent().and_then(Path::file_name),
        [] => None,
    };
    named.map_or_else(
        || "PDFs".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}
