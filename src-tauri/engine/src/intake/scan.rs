//! Inspecting what was found, and keeping the report until it is submitted.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use futures_util::StreamExt as _;
use tokio::sync::broadcast;
use tokio_util::sync::CancellationToken;

use super::{KeptScan, document, walk};
use crate::error::EngineError;
use crate::model::{
    DocumentView, Encryption, EngineEvent, ScanId, ScanReport, ScannedFile, Sha256, SkipReason,
    SkippedPath,
};
use crate::pdf::PdfWorker;

/// Files inspected at once; the PDF room bounds its children itself.
const AT_ONCE: usize = 4;

/// What a scan works with.
#[derive(Clone)]
pub(crate) struct ScanParts<'engine> {
    pub(crate) pdf: &'engine PdfWorker,
    /// Folders that Gistmill writes to.
    pub(crate) own: Vec<PathBuf>,
    pub(crate) events: &'engine broadcast::Sender<EngineEvent>,
}

/// Walks and inspects `paths`.
///
/// # Errors
/// [`EngineError::BadInput`] when cancelled; an internal error when PDFs can't be inspected at all.
pub(crate) async fn scan(
    paths: Vec<PathBuf>,
    parts: ScanParts<'_>,
    cancel: &CancellationToken,
) -> Result<KeptScan, EngineError> {
    let name = name(&paths);
    let own = parts.own.clone();
    let found = tokio::task::spawn_blocking(move || walk::walk(&paths, &own))
        .await
        .map_err(|error| EngineError::Internal(error.to_string()))?;
    let total = found.files.len() as u64;
    let mut report = ScanReport {
        scan_id: ScanId(0),
        name,
        files: Vec::with_capacity(found.files.len()),
        skipped: found.skipped,
        pages: 0,
        expected_micros: None,
        at_worst_micros: None,
    };
    let mut seen = HashSet::new();
    let mut measures = HashMap::new();
    let mut inspections = futures_util::stream::iter(found.files)
        .map(|file| async {
            let inspection = parts.pdf.inspect(&file.path).await;
            (file, inspection)
        })
        .buffered(AT_ONCE);
    let (mut inspected, mut problems) = (0_u64, 0_u64);
    while let Some((file, inspection)) = inspections.next().await {
        let path = file.path;
        if cancel.is_cancelled() {
            return Err(EngineError::bad_input(
                "The scan was cancelled.",
                "Nothing was added.",
            ));
        }
        let mut inspection =
            inspection.map_err(|error| EngineError::Internal(error.to_string()))?;
        inspected += 1;
        problems += u64::from(inspection.finding.is_some());
        if inspected.is_multiple_of(8) || inspected == total {
            // Nobody may be listening.
            drop(parts.events.send(EngineEvent::ScanProgress {
                inspected,
                found: total,
                problems,
                walking: false,
            }));
        }
        let modified_ms = inspection.modified_ms;
        if let (Some(sha256), Some(measured)) = (&inspection.sha256, inspection.measures.take()) {
            measures.insert(sha256.clone(), measured);
        }
        let document = document(inspection).unwrap_or_else(|finding| DocumentView {
            sha256: Sha256(String::new()),
            bytes: 0,
            pages: None,
            encryption: Encryption::None,
            has_text: None,
            facts: crate::model::DocumentFacts::default(),
            finding: Some(finding),
        });
        if !document.sha256.as_str().is_empty() && !seen.insert(document.sha256.clone()) {
            report.skipped.push(SkippedPath {
                path: shown(&path),
                reason: SkipReason::Duplicate,
                same_as: None,
            });
            continue;
        }
        if document.finding.is_none() {
            report.pages += u64::from(document.pages.unwrap_or(0));
        }
        report.files.push(ScannedFile {
            name: path
                .file_name()
                .map_or_else(|| shown(&path), |name| name.to_string_lossy().into_owned()),
            path: shown(&path),
            relative_path: shown(&file.relative),
            modified_ms,
            document,
            notices: Vec::new(),
        });
    }
    Ok(KeptScan { report, measures })
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
