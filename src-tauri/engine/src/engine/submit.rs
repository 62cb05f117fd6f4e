//! Submitting: from a scan or a prompt to jobs.

use std::path::Path;

use super::Engine;
use super::pilot::{checked_pilot, chosen, size_of};
use super::plan::{Asked, PlannedFile, calls, question};
use crate::error::EngineError;
use crate::intake::{KeptScan, LONGEST_PROMPT};
use crate::model::{
    BatchId, EngineEvent, JobId, ScanId, ScannedFile, Submission, SubmissionPlan, Submitted,
};
use crate::reuse;
use crate::store::{NewBatch, NewInput, NewJob};
use crate::templates::Template;

/// Jobs of this program belong to its one person; the HTTP API names others.
const USER: &str = "local";
/// Longest name of a batch and of a prompt's title, in characters.
const LONGEST_TITLE: usize = 120;

impl Engine {
    /// Stores a scan's files as jobs; they are on disk when this returns.
    ///
    /// Files that can't be summarized as they are become failed jobs, so that nothing dropped is lost.
    ///
    /// # Errors
    /// [`EngineError::NotFound`] for a scan that was submitted already, [`EngineError::BadInput`] for an
    /// unknown template or a scan without files.
    pub async fn submit_scan(
        &self,
        scan_id: ScanId,
        submission: Submission,
    ) -> Result<Submitted, EngineError> {
        let template = self.template(&submission.template).await?;
        let scan = self
            .0
            .scans
            .take(scan_id)
            .ok_or_else(|| EngineError::NotFound {
                what: "scan",
                name: scan_id.0.to_string(),
            })?;
        self.0.counting.end(Some(scan_id));
        if scan.report.files.is_empty() {
            return Err(EngineError::bad_input(
                "There is no PDF among these files.",
                "Choose PDFs or folders with PDFs.",
            ));
        }
        match self.submit_files(&submission, template, &scan).await {
            Ok(submitted) => Ok(submitted),
            Err(error) => {
                self.0.scans.put_back(scan);
                Err(error)
            }
        }
    }

    async fn submit_files(
        &self,
        submission: &Submission,
        template: Template,
        scan: &KeptScan,
    ) -> Result<Submitted, EngineError> {
        let report = &scan.report;
        let asked = self.asked(submission, Some(template)).await?;
        let (plan, planned) = self.plan(&asked, submission, scan).await?;
        let wanted = planned
            .iter()
            .filter_map(|file| match file {
                PlannedFile::Reuse(key, _) => Some(key.clone()),
                PlannedFile::Ask(_) | PlannedFile::Refuse(_) => None,
            })
            .collect();
        let question = question(&asked);
        let known = self.known(&asked, &report.files).await?;
        let wanted_pilot = checked_pilot(submission.pilot)?;
        let mut sizes = Vec::new();
        let mut answers = reuse::answers(&self.0.store, &self.0.library, wanted).await?;
        let jobs = report
            .files
            .iter()
            .zip(planned)
            .map(|(file, planned)| {
                let mut job = new_job(file, scan);
                if let PlannedFile::Ask(parts) = &planned {
                    let calls = calls(file, parts, &question, &known.of(file));
                    sizes.push((job.job_id.clone(), size_of(&calls)));
                }
                match planned {
                    PlannedFile::Refuse(finding) => {
                        job.finding = Some((finding.cause, finding.message));
                    }
                    PlannedFile::Reuse(key, parts) => match answers.remove(&key) {
                        Some(answer) => job.reused = Some(answer),
                        None => job.parts = parts,
                    },
                    PlannedFile::Ask(parts) => job.parts = parts,
                }
                job
            })
            .collect();
        let folder = common_folder(&report.files);
        let pilot = wanted_pilot.map_or_else(Vec::new, |wanted| chosen(sizes, wanted));
        self.submit(submission, asked, &plan, folder, jobs, pilot)
            .await
    }

    /// Stores a prompt as a job.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] for a prompt that is empty or too long.
    pub async fn submit_prompt(
        &self,
        prompt: String,
        submission: Submission,
    ) -> Result<Submitted, EngineError> {
        if prompt.trim().is_empty() {
            return Err(EngineError::bad_input(
                "The prompt is empty.",
                "Write what Claude should do.",
            ));
        }
        let characters = prompt.chars().count();
        if characters > LONGEST_PROMPT {
            return Err(EngineError::bad_input(
                format!(
                    "The prompt has {characters} characters; at most {LONGEST_PROMPT} are possible."
                ),
                "Shorten it, or put the text in a PDF.",
            ));
        }
        let first_line = prompt.trim().lines().next().unwrap_or_default();
        let job = NewJob {
            job_id: JobId::generate(),
            title: first_line.chars().take(LONGEST_TITLE).collect(),
            input: NewInput::Prompt(prompt),
            finding: None,
            reused: None,
            parts: Vec::new(),
        };
        let asked = self.asked(&submission, None).await?;
        let plan = self.plan_of_prompt(&asked, &job).await?;
        self.submit(&submission, asked, &plan, None, vec![job], Vec::new())
            .await
    }

    async fn submit(
        &self,
        submission: &Submission,
        asked: Asked,
        plan: &SubmissionPlan,
        folder: Option<String>,
        jobs: Vec<NewJob>,
        pilot: Vec<JobId>,
    ) -> Result<Submitted, EngineError> {
        let batch_id = BatchId::generate();
        let job_ids: Vec<JobId> = jobs.iter().map(|job| job.job_id.clone()).collect();
        let name: String = submission.name.trim().chars().take(LONGEST_TITLE).collect();
        let batch = NewBatch {
            batch_id: batch_id.clone(),
            name: if name.is_empty() {
                "PDFs".to_owned()
            } else {
                name
            },
            user_id: USER.to_owned(),
            queue: submission.queue,
            delivery: submission.delivery,
            template: asked
                .template
                .map(|template| (template.template_id, template.version)),
            provider: submission.provider,
            model: asked.model,
            max_tokens: asked.max_tokens,
            cap_micros: submission.cap_micros,
            paused: submission.paused,
            variables: asked.variables,
            sends: asked.sends,
            fresh: submission.fresh,
            expected_micros: plan.expected_micros,
            at_worst_micros: plan.at_worst_micros,
            folder,
            jobs,
            pilot,
        };
        self.0
            .store
            .submit(batch, self.0.config.clock.now())
            .await?;
        self.0.wake.notify_one();
        self.emit(EngineEvent::JobsChanged {
            job_ids: Vec::new(),
        });
        Ok(Submitted { batch_id, job_ids })
    }

    /// Splits `ID-vN` and makes sure that it exists.
    pub(super) async fn template(&self, template: &str) -> Result<Template, EngineError> {
        let unknown = || EngineError::NotFound {
            what: "template",
            name: template.to_owned(),
        };
        let (template_id, version) = template.rsplit_once("-v").ok_or_else(unknown)?;
        let version: u32 = version.parse().map_err(|_| unknown())?;
        self.0
            .store
            .template(template_id.to_owned(), version)
            .await?
            .ok_or_else(unknown)
    }
}

/// Returns the deepest folder that holds all files.
fn common_folder(files: &[ScannedFile]) -> Option<String> {
    let mut folders = files
        .iter()
        .filter_map(|file| Path::new(&file.path).parent());
    let mut common = folders.next()?;
    for folder in folders {
        // Ends at the root, which holds everything.
        while !folder.starts_with(common) {
            common = common.parent()?;
        }
    }
    Some(common.to_string_lossy().into_owned())
}

fn new_job(file: &ScannedFile, scan: &KeptScan) -> NewJob {
    NewJob {
        job_id: JobId::generate(),
        title: file.name.clone(),
        input: NewInput::Pdf {
            path: file.path.clone(),
            relative_path: file.relative_path.clone(),
            modified_ms: file.modified_ms,
            document: Some(file.document.clone())
                .filter(|document| !document.sha256.as_str().is_empty()),
            measures: scan.measures.get(&file.document.sha256).cloned(),
        },
        finding: None,
        reused: None,
        parts: Vec::new(),
    }
}
