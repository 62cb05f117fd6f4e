//! The built-in summarizer: picks a document's most telling sentences, with no key and no network.
//!
//! It is *extractive*: every sentence stands word for word in the document, so nothing can be made
//! up, and nothing can be said better than its authors did. The method is LexRank (Erkan and Radev
//! 2004), weighed by place and wording (Edmundson 1969), with maximal marginal relevance against
//! repetition (Carbonell and Goldstein 1998). The same document always gives the same extract.

mod cue;
mod extract;
mod language;
mod layout;
mod markdown;
mod rank;
mod sentence;
mod terms;
mod title;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{Answer, Deliver, DocumentContent, Failure, Progress, Request, Usage};
use crate::model::{Cause, JobPhase};

/// The name of the method, which stands where Claude's jobs have their model.
pub const METHOD: &str = "lexrank-v1";

/// Shortest prompt, in characters, that is taken for a text to pick sentences from.
const LEAST_PROMPT_CHARS: usize = 600;

/// Answers requests by an extract of the document itself, of which it takes the text.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineProvider;

#[async_trait]
impl Deliver for OfflineProvider {
    async fn deliver(
        &self,
        request: &Request,
        progress: &dyn Progress,
        cancel: &CancellationToken,
    ) -> Result<Answer, Failure> {
        progress.advanced(JobPhase::Reading, 0);
        let work = async {
            let job = read(request)?;
            progress.advanced(JobPhase::Writing, 0);
            let stop = cancel.clone();
            tokio::task::spawn_blocking(move || job.run(&stop))
                .await
                .unwrap_or_else(|_| {
                    Err(Failure::unsent(
                        Cause::ServerError,
                        "The offline summarizer stopped unexpectedly.",
                    ))
                })
        };
        let text = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(interrupted()),
            text = work => text?,
        };
        Ok(Answer {
            text,
            passages: Vec::new(),
            model: METHOD.to_owned(),
            stop_reason: None,
            usage: Usage::default(),
            request_id: None,
            review: None,
            limits: None,
        })
    }
}

/// Returns what sentences are picked from.
fn read(request: &Request) -> Result<Job, Failure> {
    let most_chars = usize::try_from(request.max_tokens)
        .unwrap_or(usize::MAX)
        .saturating_mul(4);
    let Some(document) = &request.document else {
        if request.prompt.chars().count() < LEAST_PROMPT_CHARS {
            return Err(needs_a_text());
        }
        return Ok(Job {
            pages: vec![request.prompt.clone()],
            name: None,
            most_chars,
        });
    };
    let DocumentContent::Text(pages) = &document.content else {
        return Err(Failure::unsent(
            Cause::InvalidRequest,
            "The offline summarizer takes the text of a PDF, not the PDF.",
        ));
    };
    Ok(Job {
        pages: pages.clone(),
        name: Some(document.name.clone()),
        most_chars,
    })
}

/// The part of the work that keeps a processor busy.
struct Job {
    pages: Vec<String>,
    /// The file's name; `None` for a prompt.
    name: Option<String>,
    most_chars: usize,
}

impl Job {
    fn run(self, cancel: &CancellationToken) -> Result<String, Failure> {
        let stopped = || cancel.is_cancelled();
        let extract = extract::extract(&self.pages, self.most_chars, &stopped);
        if stopped() {
            return Err(interrupted());
        }
        match (extract, self.name) {
            (Some(extract), name) => Ok(markdown::render(&extract, name.as_deref())),
            (None, Some(name)) => Err(Failure::unsent(
                Cause::PdfWithoutText,
                format!("{name} has no text to pick sentences from; it may be scanned."),
            )),
            (None, None) => Err(needs_a_text()),
        }
    }
}

fn interrupted() -> Failure {
    Failure::unsent(Cause::Interrupted, "The work was stopped from here.")
}

fn needs_a_text() -> Failure {
    Failure::unsent(
        Cause::InvalidRequest,
        "The offline summarizer picks sentences out of a longer text; it can't answer a prompt. Use Claude for this.",
    )
}
