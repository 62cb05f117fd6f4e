//! Scans that wait to be submitted.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::{ScanId, ScanReport, Sha256};
use crate::pdf::Measures;

/// Scans that are kept; an older one was given up by its window.
const MOST_SCANS: usize = 8;

/// A scan, and what a front does not see of it.
#[derive(Clone, Debug)]
pub(crate) struct KeptScan {
    /// What fronts see.
    pub(crate) report: ScanReport,
    /// What the pages hold of the documents that may be longer than one call takes.
    pub(crate) measures: HashMap<Sha256, Measures>,
}

/// Scans that wait to be submitted. Looking at one copies nothing: a drop may hold ten thousand files.
#[derive(Default)]
pub(crate) struct Scans {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    last: u32,
    scans: VecDeque<Arc<KeptScan>>,
}

impl Scans {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a scan, gives it its number and returns its report.
    pub(crate) fn keep(&self, mut scan: KeptScan) -> ScanReport {
        let mut kept = self.kept();
        kept.last += 1;
        scan.report.scan_id = ScanId(kept.last);
        if kept.scans.len() == MOST_SCANS {
            kept.scans.pop_front();
        }
        let report = scan.report.clone();
        kept.scans.push_back(Arc::new(scan));
        report
    }

    /// Returns a scan, which stays.
    pub(crate) fn look_at(&self, scan_id: ScanId) -> Option<Arc<KeptScan>> {
        self.kept()
            .scans
            .iter()
            .find(|scan| scan.report.scan_id == scan_id)
            .cloned()
    }

    /// Hands out a scan, once.
    pub(crate) fn take(&self, scan_id: ScanId) -> Option<Arc<KeptScan>> {
        let mut kept = self.kept();
        let place = kept
            .scans
            .iter()
            .position(|scan| scan.report.scan_id == scan_id)?;
        kept.scans.remove(place)
    }

    /// Puts a scan in the place of the one with its number. Says whether that one was still there.
    pub(crate) fn replace(&self, scan: KeptScan) -> bool {
        let mut kept = self.kept();
        let scan_id = scan.report.scan_id;
        let mut scans = kept.scans.iter_mut();
        let Some(place) = scans.find(|kept| kept.report.scan_id == scan_id) else {
            return false;
        };
        *place = Arc::new(scan);
        true
    }

    /// Puts back a scan whose submission failed.
    pub(crate) fn put_back(&self, scan: Arc<KeptScan>) {
        self.kept().scans.push_back(scan);
    }
}
