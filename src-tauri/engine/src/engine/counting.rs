//! The tokens of files as the provider counts them, before anything is paid.
//!
//! Counting is free, but each file is uploaded for it. So a few that stand for all sizes are counted first, then
//! the others from the smallest on, until so much was uploaded that the rest is better told by estimates that
//! follow these counts. What was counted is kept: no file is uploaded twice for the same question.

mod pace;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::StreamExt as _;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::Engine;
use super::keys::refused;
use super::plan::{Asked, PlannedFile, document_work};
use crate::consumer::shape;
use crate::error::EngineError;
use crate::forecast::spread;
use crate::model::{
    Cause, CauseClass, Encryption, EngineEvent, EstimateCheck, Provider, ScanId, ScannedFile,
    Sends, Submission, TokenCounting,
};
use crate::pricing::{Work, counted_document, estimate};
use crate::provider::{DocumentContent, Failure, Request, RequestDocument};
use crate::reuse;
use crate::templates::{self, Template};
pub(super) use pace::CountPace;

/// Files that stand for all sizes, counted before the others.
const SAMPLE: usize = 12;
/// The largest file that is uploaded to be counted, in bytes.
const LARGEST: u64 = 5 * 1024 * 1024;
/// Bytes of all files of a scan that are uploaded to be counted.
const MOST_BYTES: u64 = 250 * 1024 * 1024;
/// Uploads at once, and kibibytes of the files that are under way.
const AT_ONCE: usize = 4;
const KIBIBYTES_AT_ONCE: u32 = 16 * 1024;
/// The longest text that is counted, in characters: more than a file of that size is likely to hold.
const MOST_CHARACTERS: usize = 4_000_000;
/// How often a file is tried that the provider puts off.
const TRIES: u32 = 4;

/// The counting that is under way: there is one at a time, since there is one sheet.
#[derive(Default)]
pub(super) struct Counting {
    pace: CountPace,
    under_way: Mutex<Option<(ScanId, CancellationToken)>>,
}

impl Counting {
    /// Ends what is under way and notes what begins.
    fn begin(&self, scan_id: ScanId) -> CancellationToken {
        let cancel = CancellationToken::new();
        let mut under_way = self.under_way();
        if let Some((_, before)) = under_way.replace((scan_id, cancel.clone())) {
            before.cancel();
        }
        cancel
    }

    fn under_way(&self) -> std::sync::MutexGuard<'_, Option<(ScanId, CancellationToken)>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the counting of a scan, or of any.
    pub(super) fn end(&self, of: Option<ScanId>) {
        let mut under_way = self.under_way();
        if let Some((_, cancel)) =
            under_way.take_if(|(scan_id, _)| of.is_none_or(|wanted| wanted == *scan_id))
        {
            cancel.cancel();
        }
    }
}

/// A file that is to be counted.
struct ToCount {
    file: ScannedFile,
    work: Work,
}

/// What became of counting a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    /// Its count is kept.
    Known,
    /// It can't be counted, which says nothing of the others.
    Skipped,
}

impl Engine {
    /// Has the provider count the input tokens of a scan's files as a submission would send them, and returns
    /// when all are counted that are worth the upload, or when the counting was ended. Costs nothing.
    ///
    /// [`EngineEvent::CountProgress`] tells how far it is; plans and forecasts use what is counted. Another call
    /// ends this one, and so do submitting the scan and [`Engine::cancel_scan`]. What was counted is kept.
    ///
    /// # Errors
    /// Where nothing is counted: as [`Engine::plan_submission`]; [`EngineError::BadInput`] for the offline summary
    /// and for an address that counts no tokens; [`EngineError::KeyMissing`]; or what the provider answered
    /// instead of the first count.
    pub async fn count_tokens(
        &self,
        scan_id: ScanId,
        submission: Submission,
    ) -> Result<TokenCounting, EngineError> {
        let (template, asked) = self.countable(&submission).await?;
        let scan = self.scan_to_count(scan_id)?;
        let cancel = self.0.counting.begin(scan_id);
        let (_, planned) = self.plan(&asked, &submission, &scan).await?;
        let wanted = |planned: &PlannedFile| matches!(planned, PlannedFile::Ask(_));
        let files = planned.iter().filter(|planned| wanted(planned)).count();
        let known = self.known(&asked, &scan.report.files).await?;
        let all = scan.report.files.iter().zip(&planned);
        let countable = all
            .filter(|(_, planned)| wanted(planned))
            .map(|(file, _)| ToCount::new(file, &asked, &template));
        let (counted, missing): (Vec<_>, Vec<_>) = countable
            .filter(|one| is_countable(one, &asked))
            .partition(|one| known.of(&one.file).counted.is_some());
        let mut counting = TokenCounting {
            counted: counted.len() as u64,
            countable: (counted.len() + missing.len()) as u64,
            files: files as u64,
        };
        let missing = worth_it(missing);
        let failure = self
            .count(missing, AT_ONCE, &asked, &template, &cancel, |counted| {
                counting.counted += u64::from(counted == Counted::Known);
                self.emit(EngineEvent::CountProgress { scan_id, counting });
            })
            .await?;
        self.emit(EngineEvent::CountProgress { scan_id, counting });
        match failure {
            Some(failure) if counting.counted == 0 && !cancel.is_cancelled() => {
                Err(refused(failure))
            }
            _ => Ok(counting),
        }
    }

    /// Ends the counting that is under way, if one is. What was counted is kept.
    pub fn cancel_counting(&self) {
        self.0.counting.end(None);
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

    async fn countable(&self, submission: &Submission) -> Result<(Template, Asked), EngineError> {
        let template = self.template(&submission.template).await?;
        let asked = self.asked(submission, Some(template.clone())).await?;
        if asked.provider == Provider::Offline {
            return Err(EngineError::bad_input(
                "The offline summary counts no tokens.",
                "It costs nothing, so there is nothing to estimate.",
            ));
        }
        if !self.present_claude().counts_tokens() {
            return Err(EngineError::bad_input(
                "Nobody counts tokens at the address that is asked.",
                "Go by the estimate: it gets better with every document that is summarized there.",
            ));
        }
        Ok((template, asked))
    }

    fn scan_to_count(&self, scan_id: ScanId) -> Result<Arc<crate::intake::KeptScan>, EngineError> {
        self.0
            .scans
            .look_at(scan_id)
            .ok_or_else(|| EngineError::NotFound {
                what: "scan",
                name: scan_id.0.to_string(),
            })
    }

    /// Counts files in their order, `at_once` side by side, until `cancel` fires. Returns what kept the rest from being
    /// counted, if anything did.
    async fn count(
        &self,
        files: Vec<ToCount>,
        at_once: usize,
        asked: &Asked,
        template: &Template,
        cancel: &CancellationToken,
        mut told: impl FnMut(Counted),
    ) -> Result<Option<Failure>, EngineError> {
        let under_way = Semaphore::new(KIBIBYTES_AT_ONCE as usize);
        let counting = files
            .into_iter()
            .map(|one| self.count_one(one, asked, template, &under_way, cancel));
        let mut counting = futures_util::stream::iter(counting).buffer_unordered(at_once);
        let mut failure = None;
        while let Some(counted) = counting.next().await {
            match counted? {
                Ok(counted) => told(counted),
                Err(refusal) => {
                    // What is under way ends, too: it would meet the same.
                    if !cancel.is_cancelled() {
                        failure = Some(refusal);
                    }
                    break;
                }
            }
            if cancel.is_cancelled() {
                break;
            }
        }
        Ok(failure)
    }

    /// Counts a file and keeps the count; waits for its turn, and as long as the provider says.
    async fn count_one(
        &self,
        one: ToCount,
        asked: &Asked,
        template: &Template,
        under_way: &Semaphore,
        cancel: &CancellationToken,
    ) -> Result<Result<Counted, Failure>, EngineError> {
        let kibibytes = u32::try_from(one.file.document.bytes / 1024 + 1).unwrap_or(u32::MAX);
        let Ok(_room) = under_way
            .acquire_many(kibibytes.min(KIBIBYTES_AT_ONCE))
            .await
        else {
            return Ok(Ok(Counted::Skipped));
        };
        let Some(document) = self.document(&one.file, asked).await else {
            return Ok(Ok(Counted::Skipped));
        };
        let values = reuse::values(&asked.variables, &one.file.name, one.file.document.pages);
        let request = Request {
            document: Some(document),
            prompt: templates::render(&template.body, &values),
            model: asked.model.clone(),
            max_tokens: asked.max_tokens,
            shape: shape(template),
        };
        for attempt in 1..=TRIES {
            let a_minute = self.0.store.settings().await?.counts_per_minute;
            let clock = self.0.config.clock.as_ref();
            let turn = self.0.counting.pace.turn(clock, a_minute);
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(Err(ended())),
                () = turn => {}
            }
            let failure = match self.claude()?.count_tokens_told(&request, cancel).await {
                Ok(counted) => {
                    self.0.counting.pace.told(counted.limits);
                    return Ok(Ok(self
                        .keep_count(&one, asked, template, counted.input_tokens)
                        .await?));
                }
                Err(failure) => failure,
            };
            self.0
                .counting
                .pace
                .told(failure.limits.as_deref().copied());
            match failure.cause.class() {
                CauseClass::Item => return Ok(Ok(Counted::Skipped)),
                CauseClass::Retry if attempt < TRIES && is_put_off(failure.cause) => {
                    self.0
                        .counting
                        .pace
                        .hold(self.0.config.clock.now(), failure.retry_after);
                }
                _ => return Ok(Err(failure)),
            }
        }
        Ok(Ok(Counted::Skipped))
    }

    async fn keep_count(
        &self,
        one: &ToCount,
        asked: &Asked,
        template: &Template,
        counted: u64,
    ) -> Result<Counted, EngineError> {
        let now = self.0.config.clock.now();
        let estimated = estimate(&asked.model, &one.work).expected_input;
        self.0
            .store
            .record_count(
                asked.counted_for(template),
                one.file.document.sha256.clone(),
                counted_document(&asked.model, &one.work, counted),
                now,
            )
            .await?;
        self.0
            .store
            .record_estimates(
                asked.model.clone(),
                asked.sends,
                vec![(estimated, counted)],
                now,
            )
            .await?;
        Ok(Counted::Known)
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

/// Returns the files in the order in which they are counted: a few that stand for all sizes, then from the
/// smallest on, as long as not too much is uploaded.
fn worth_it(mut files: Vec<ToCount>) -> Vec<ToCount> {
    files.sort_by_key(|one| one.file.document.bytes);
    let first = spread(files.len(), SAMPLE);
    let mut order = Vec::with_capacity(files.len());
    let mut rest = Vec::with_capacity(files.len());
    for (index, file) in files.into_iter().enumerate() {
        if first.contains(&index) {
            order.push(file);
        } else {
            rest.push(file);
        }
    }
    order.append(&mut rest);
    let mut left = MOST_BYTES;
    order
        .into_iter()
        .take_while(|one| match left.checked_sub(one.file.document.bytes) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .collect()
}

fn is_put_off(cause: Cause) -> bool {
    matches!(
        cause,
        Cause::RateLimited | Cause::RampLimited | Cause::Overloaded | Cause::ServerError
    )
}

fn ended() -> Failure {
    Failure::unsent(Cause::Interrupted, "The counting was ended from here.")
}

impl ToCount {
    fn new(file: &ScannedFile, asked: &Asked, template: &Template) -> Self {
        Self {
            file: file.clone(),
            work: Work {
                document: Some(document_work(file, asked.sends)),
                prompt_bytes: template.body.len() as u64,
                prompt_characters: template.body.chars().count() as u64,
                max_tokens: asked.max_tokens,
            },
        }
    }
}

/// Says whether a file is sent as it lies there, in one call, and is small.
fn is_countable(one: &ToCount, asked: &Asked) -> bool {
    let (document, most) = (&one.file.document, asked.ceiling);
    document.finding.is_none()
        && document.encryption == Encryption::None
        && !document.facts.repaired
        && document.bytes <= LARGEST
        && document.pages.is_some_and(|pages| pages <= most.pages)
        && estimate(&asked.model, &one.work).dense_input < most.input_tokens
}
