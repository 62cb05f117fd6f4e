//! Scanning what was dropped, and what is told of it before anything is chosen.

use std::path::{Component, PathBuf};
use std::sync::PoisonError;

use tokio_util::sync::CancellationToken;

use super::Engine;
use super::endpoint::addressed;
use super::plan::{Sum, calls, parts_of, sends};
use crate::error::EngineError;
use crate::intake::{self, KeptScan};
use crate::model::{Delivery, ModelProfile, Notice, ScanReport, Settings};
use crate::parts::Question;
use crate::pricing::{Ceiling, Learned};

/// About the length of a template's body, for a forecast before one is chosen.
const TEMPLATE_BYTES: u64 = 1_000;

impl Engine {
    /// Walks and inspects what was dropped, and keeps the report for [`Engine::submit_scan`].
    ///
    /// Files are inspected while folders are still looked through; [`EngineEvent::ScanProgress`] tells how far
    /// it is. Files that need a password are tried with those of [`Engine::give_password`].
    ///
    /// [`EngineEvent::ScanProgress`]: crate::model::EngineEvent::ScanProgress
    ///
    /// # Errors
    /// [`EngineError::BadInput`] when there is nothing to scan or the scan was cancelled.
    pub async fn scan(&self, paths: Vec<PathBuf>) -> Result<ScanReport, EngineError> {
        if paths.is_empty() {
            return Err(EngineError::bad_input(
                "No files were given.",
                "Choose PDFs or folders with PDFs.",
            ));
        }
        let cancel = self.cancellable();
        let settings = self.0.store.settings().await?;
        let (paths, own) = super::blocking({
            let (data, output) = (
                self.0.config.data_directory.clone(),
                settings.output_folder.clone(),
            );
            move || {
                let output = output.and_then(|folder| std::fs::canonicalize(folder).ok());
                let own = std::iter::once(data).chain(output).collect();
                (paths.into_iter().map(from_the_root).collect(), own)
            }
        })
        .await?;
        let parts = intake::ScanParts {
            pdf: &self.0.pdf,
            passwords: &self.0.passwords,
            own,
            clock: self.0.config.clock.as_ref(),
            events: &self.0.events,
        };
        let mut scan = intake::scan(paths, parts, &cancel).await?;
        self.tell_what_it_comes_to(&mut scan).await?;
        Ok(self.0.scans.keep(scan))
    }

    /// Ends the scan that runs, if one does, and the counting of its tokens.
    pub fn cancel_scan(&self) {
        self.cancel_counting();
        self.0
            .scan_cancel
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .cancel();
    }

    /// Returns what [`Engine::cancel_scan`] ends from now on.
    pub(super) fn cancellable(&self) -> CancellationToken {
        let cancel = CancellationToken::new();
        *self
            .0
            .scan_cancel
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = cancel.clone();
        cancel
    }

    /// Counts the pages of a scan, and says what is worth knowing of its files and about what they will cost
    /// with the model of the settings.
    pub(super) async fn tell_what_it_comes_to(
        &self,
        scan: &mut KeptScan,
    ) -> Result<(), EngineError> {
        let settings = addressed(&self.0.config, self.0.store.settings().await?);
        let prices = self.0.store.prices().await?;
        let profile = self.model_profile(&settings.model);
        let question = question(&settings, &profile, self.ceiling(&profile.model));
        let estimates = self
            .0
            .store
            .estimates_of(settings.model.clone(), question.sends);
        let compared = estimates.await?;
        let minute = u64::from(settings.tokens_per_minute);
        let mut sum = Sum::nothing();
        let report = &mut scan.report;
        report.pages = 0;
        for file in &mut report.files {
            file.notices = file.document.notices();
            if file.document.finding.is_some() {
                continue;
            }
            report.pages += u64::from(file.document.pages.unwrap_or(0));
            let measures = scan.measures.get(&file.document.sha256);
            // What can't be asked with this model may be with the one of a submission, whose plan says so.
            let Ok(parts) = parts_of(file, measures, &question, minute) else {
                continue;
            };
            if !parts.is_empty() {
                file.notices.push(Notice::Long);
                file.notices.sort_unstable();
            }
            for call in calls(file, &parts, &question, &Learned::default()) {
                let compared = compared.as_ref();
                sum.add(&call, &settings.model, Delivery::Each, &prices, compared);
            }
        }
        report.expected_micros = sum.expected_micros;
        report.at_worst_micros = sum.at_worst_micros;
        Ok(())
    }
}

/// Returns what is asked before a template is chosen.
fn question<'settings>(
    settings: &'settings Settings,
    profile: &ModelProfile,
    ceiling: Ceiling,
) -> Question<'settings> {
    Question {
        model: &settings.model,
        sends: sends(settings, profile, None),
        prompt_bytes: TEMPLATE_BYTES,
        prompt_characters: TEMPLATE_BYTES,
        max_tokens: settings.max_tokens,
        ceiling,
    }
}

/// Returns a path that means the same file wherever the program that reads it is started. Blocks.
fn from_the_root(path: PathBuf) -> PathBuf {
    // Without a present folder there is nothing better than what was given.
    let path = std::path::absolute(&path).unwrap_or(path);
    if path.components().any(|part| part == Component::ParentDir) {
        // A file that is missing is said to be so by the scan.
        return path.canonicalize().unwrap_or(path);
    }
    path
}
