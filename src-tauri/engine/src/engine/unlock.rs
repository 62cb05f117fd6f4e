//! Files that need a password: opened with one that a person gives, which is kept in memory only.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use futures_util::StreamExt as _;
use secrecy::{ExposeSecret as _, SecretString};

use super::Engine;
use crate::error::EngineError;
use crate::intake::{self, AT_ONCE};
use crate::model::{Affected, RetryChanges, ScanId, ScanReport, Selection};
use crate::pdf::Inspection;

impl Engine {
    /// Keeps a password that is tried on every file that needs one, in scans and when jobs are sent.
    ///
    /// It is kept in memory until the engine closes.
    pub fn give_password(&self, password: SecretString) {
        if !password.expose_secret().is_empty() {
            self.0.passwords.give(password);
        }
    }

    /// Tries a password on the files of a scan that need one, and returns the report with those that it
    /// opens. The password is kept in memory until the engine closes.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] when it opens none of them, or none needs one; [`EngineError::NotFound`] for a
    /// scan that was submitted already.
    pub async fn unlock_scan(
        &self,
        scan_id: ScanId,
        password: SecretString,
    ) -> Result<ScanReport, EngineError> {
        let gone = || EngineError::NotFound {
            what: "scan",
            name: scan_id.0.to_string(),
        };
        let scan = self.0.scans.look_at(scan_id).ok_or_else(gone)?;
        let paths = scan
            .report
            .files
            .iter()
            .filter(|file| intake::is_locked(file.document.finding.as_ref()))
            .map(|file| file.path.clone())
            .collect();
        let mut opened = self.opened(paths, &password).await?;
        let mut scan = scan.as_ref().clone();
        for file in &mut scan.report.files {
            let Some(mut inspection) = opened.remove(&file.path) else {
                continue;
            };
            let (modified_ms, measures) = (inspection.modified_ms, inspection.measures.take());
            if let Ok(document) = intake::document(inspection) {
                if let Some(measures) = measures {
                    scan.measures.insert(document.sha256.clone(), measures);
                }
                file.document = document;
                file.modified_ms = modified_ms;
            }
        }
        self.tell_what_it_comes_to(&mut scan).await?;
        let report = scan.report.clone();
        if self.0.scans.replace(scan) {
            Ok(report)
        } else {
            Err(gone())
        }
    }

    /// Tries a password on the files of jobs that failed for want of one, and puts those that it opens back
    /// in the queue. The password is kept in memory until the engine closes.
    ///
    /// Other jobs of the selection stay as they are, also those whose file is another one by now.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] when it opens none of them, or none needs one; when the database can't be
    /// written.
    pub async fn unlock_jobs(
        &self,
        selection: Selection,
        password: SecretString,
    ) -> Result<Affected, EngineError> {
        let (selected, locked) = self.0.store.locked_jobs(selection).await?;
        let paths = locked.iter().map(|job| job.path.clone()).collect();
        let opened = self.opened(paths, &password).await?;
        let documents: HashMap<_, _> = opened
            .into_iter()
            .filter_map(|(path, mut inspection)| {
                let measures = inspection.measures.take();
                Some((path, (intake::document(inspection).ok()?, measures)))
            })
            .collect();
        let job_ids: Vec<_> = locked
            .into_iter()
            .filter(|job| {
                documents
                    .get(&job.path)
                    .is_some_and(|(document, _)| document.sha256 == job.sha256)
            })
            .map(|job| job.job_id)
            .collect();
        let documents = documents.into_values().collect();
        let now = self.0.config.clock.now();
        self.0.store.inspected_anew(documents, now).await?;
        let affected = self
            .retry(Selection::Jobs { job_ids }, RetryChanges::default())
            .await?;
        Ok(Affected {
            jobs: affected.jobs,
            unchanged: selected.saturating_sub(affected.jobs),
        })
    }

    /// Tries a password on files that need one, and returns what those are that it opens.
    async fn opened(
        &self,
        paths: Vec<String>,
        password: &SecretString,
    ) -> Result<HashMap<String, Inspection>, EngineError> {
        let paths: HashSet<String> = paths.into_iter().collect();
        if paths.is_empty() {
            return Err(EngineError::bad_input(
                "None of these files needs a password.",
                "Look at the list again.",
            ));
        }
        if password.expose_secret().is_empty() {
            return Err(EngineError::bad_input(
                "The password is empty.",
                "Type the password that opens the files.",
            ));
        }
        let files = paths.len();
        let cancel = self.cancellable();
        let mut tried = std::pin::pin!(
            futures_util::stream::iter(paths)
                .map(|path| {
                    let (pdf, passwords) = (&self.0.pdf, &self.0.passwords);
                    async move {
                        let file = PathBuf::from(&path);
                        let opened = intake::inspect_with(pdf, passwords, &file, password).await;
                        opened.map(|inspection| Some((path, inspection?)))
                    }
                })
                .buffer_unordered(AT_ONCE)
        );
        let mut opened = HashMap::new();
        // Ends with the paths.
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(EngineError::bad_input(
                    "Trying the password was cancelled.",
                    "The files are as they were.",
                )),
                next = tried.next() => match next {
                    Some(one) => opened.extend(one?),
                    None => break,
                },
            }
        }
        if opened.is_empty() {
            return Err(EngineError::bad_input(
                match files {
                    1 => "The password does not open the file.".to_owned(),
                    files => format!("The password opens none of the {files} files."),
                },
                "Type it as it was given to you: upper and lower case matter, and so do spaces.",
            ));
        }
        self.0.passwords.give(password.clone());
        Ok(opened)
    }
}
