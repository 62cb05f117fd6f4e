//! Estimates of input tokens beside what the provider counts of the same requests, before anything is paid.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::Engine;
use super::keys::refused;
use super::plan::{Asked, document_work};
use crate::consumer::shape;
use crate::error::EngineError;
use crate::model::{
    Cause, Encryption, EstimateCheck, Provider, ScanId, ScannedFile, Sends, Sha256, Submission,
};
use crate::pricing::{Work, estimate};
use crate::provider::{DocumentContent, Failure, Request, RequestDocument};
use crate::reuse;
use crate::templates::{self, Template};

/// Files that are counted for one submission: enough for a first idea, and soon done.
const MOST_FILES: usize = 3;
/// The largest file that is uploaded to be counted, in bytes.
const MOST_BYTES: u64 = 5 * 1024 * 1024;
/// The longest text that is counted, in characters: more than a file of that size is likely to hold.
const MOST_CHARACTERS: usize = 4_000_000;
/// How long a person waits for the counts, who sees the estimates meanwhile.
const PATIENCE: Duration = Duration::from_secs(60);
/// Files that are remembered as counted; beyond it all are forgotten, which costs a few uploads.
const REMEMBERED: usize = 10_000;

/// Files whose tokens were counted, so that nobody uploads them for it again.
#[derive(Default)]
pub(super) struct Counted(Mutex<HashSet<(Sha256, String, Sends)>>);

impl Counted {
    /// Notes a file. Says whether it is new.
    fn add(&self, file: &ScannedFile, asked: &Asked) -> bool {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= REMEMBERED {
            kept.clear();
        }
        kept.insert(of(file, asked))
    }

    fn forget(&self, file: &ScannedFile, asked: &Asked) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.remove(&of(file, asked));
    }
}

fn of(file: &ScannedFile, asked: &Asked) -> (Sha256, String, Sends) {
    (
        file.document.sha256.clone(),
        asked.model.clone(),
        asked.sends,
    )
}

impl Engine {
    /// Has the provider count the input tokens of a few small files of a scan, as a submission would send
    /// them, and says how far off estimates for its model are. Costs nothing; a file is counted once.
    ///
    /// No calls are compared where nothing of the scan could be counted and nothing was before.
    ///
    /// # Errors
    /// As [`Engine::plan_submission`]; [`EngineError::BadInput`] for the offline summary, which counts no
    /// tokens; [`EngineError::KeyMissing`]; or what the provider answered instead of the first count.
    pub async fn check_estimates(
        &self,
        scan_id: ScanId,
        submission: Submission,
    ) -> Result<EstimateCheck, EngineError> {
        let template = self.template(&submission.template).await?;
        let scan = self
            .0
            .scans
            .look_at(scan_id)
            .ok_or_else(|| EngineError::NotFound {
                what: "scan",
                name: scan_id.0.to_string(),
            })?;
        let asked = self.asked(&submission, Some(template.clone())).await?;
        if asked.provider == Provider::Offline {
            return Err(EngineError::bad_input(
                "The offline summary counts no tokens.",
                "It costs nothing, so there is nothing to estimate.",
            ));
        }
        let (pairs, failure) = self.count(&scan.report.files, &asked, &template).await?;
        if pairs.is_empty()
            && let Some(failure) = failure
        {
            return Err(refused(failure));
        }
        if !pairs.is_empty() {
            let now = self.0.config.clock.now();
            self.0
                .store
                .record_estimates(asked.model.clone(), asked.sends, pairs, now)
                .await?;
        }
        Ok(self.estimates_for(&asked).await?.unwrap_or_default())
    }

    /// Says how estimates for what is asked compared with what was counted; `None` until anything was.
    pub(super) async fn estimates_for(
        &self,
        asked: &Asked,
    ) -> Result<Option<EstimateCheck>, EngineError> {
        if asked.provider == Provider::Offline {
            return Ok(None);
        }
        self.0
            .store
            .estimates_of(asked.model.clone(), asked.sends)
            .await
    }

    /// Returns what was estimated and counted of a few files, and what kept the rest from being counted.
    async fn count(
        &self,
        files: &[ScannedFile],
        asked: &Asked,
        template: &Template,
    ) -> Result<(Vec<(u64, u64)>, Option<Failure>), EngineError> {
        let claude = self.claude()?;
        let mut small: Vec<(&ScannedFile, Work)> = files
            .iter()
            .map(|file| (file, work(file, asked, template)))
            .filter(|(file, work)| is_countable(file, asked, work))
            .collect();
        small.sort_by_key(|(file, _)| file.document.bytes);
        let cancel = CancellationToken::new();
        let _cancelled_when_given_up = cancel.clone().drop_guard();
        let deadline = tokio::time::Instant::now() + PATIENCE;
        let mut pairs = Vec::new();
        for (file, work) in small {
            if pairs.len() >= MOST_FILES {
                break;
            }
            if !self.0.counted.add(file, asked) {
                continue;
            }
            let Some(document) = self.document(file, asked).await else {
                continue;
            };
            let values = reuse::values(&asked.variables, &file.name, file.document.pages);
            let request = Request {
                document: Some(document),
                prompt: templates::render(&template.body, &values),
                model: asked.model.clone(),
                max_tokens: asked.max_tokens,
                shape: shape(template),
            };
            let counting = claude.count_tokens(&request, &cancel);
            let counted = match tokio::time::timeout_at(deadline, counting).await {
                Ok(counted) => counted,
                Err(_) => Err(Failure::unsent(
                    Cause::TimedOut,
                    format!(
                        "The tokens were not counted within {} s.",
                        PATIENCE.as_secs()
                    ),
                )),
            };
            match counted {
                Ok(counted) => {
                    pairs.push((estimate(&asked.model, &work).expected_input, counted));
                }
                Err(failure) => {
                    self.0.counted.forget(file, asked);
                    return Ok((pairs, Some(failure)));
                }
            }
        }
        Ok((pairs, None))
    }

    /// Returns what is sent of a file; `None` where it has no text to send.
    async fn document(&self, file: &ScannedFile, asked: &Asked) -> Option<RequestDocument> {
        let path = PathBuf::from(&file.path);
        let content = match asked.sends {
            Sends::Pdf => DocumentContent::File {
                path,
                bytes: file.document.bytes,
            },
            Sends::Text => match self.0.pdf.text(&path, None, None, MOST_CHARACTERS).await {
                Ok(text) if !text.truncated && text.pages.iter().any(|page| !page.is_empty()) => {
                    DocumentContent::Text(text.pages)
                }
                // A file that gives no text says so when it is worked on; here it is only no example.
                Ok(_) | Err(_) => return None,
            },
        };
        Some(RequestDocument {
            content,
            pages: file.document.pages,
            first_page: 1,
            name: file.name.clone(),
        })
    }
}

fn work(file: &ScannedFile, asked: &Asked, template: &Template) -> Work {
    Work {
        document: Some(document_work(file, asked.sends)),
        prompt_bytes: template.body.len() as u64,
        prompt_characters: template.body.chars().count() as u64,
        max_tokens: asked.max_tokens,
    }
}

/// Says whether a file is sent as it lies there, in one call, and is small.
fn is_countable(file: &ScannedFile, asked: &Asked, work: &Work) -> bool {
    let (document, most) = (&file.document, asked.ceiling);
    document.finding.is_none()
        && document.encryption == Encryption::None
        && !document.facts.repaired
        && document.bytes <= MOST_BYTES
        && document.pages.is_some_and(|pages| pages <= most.pages)
        && estimate(&asked.model, work).dense_input < most.input_tokens
}
