//! From the events of a stream to an [`Answer`].

use std::collections::{BTreeMap, BTreeSet};

use super::event::{Block, Citation, Delta, Event, Message, StopDetails, UsageCount};
use super::failure;
use super::pages::{Numbered, without_markers};
use crate::model::{Cause, JobPhase, Passage};
use crate::provider::{
    Answer, DocumentContent, Failure, Progress, Request, Shape, ToldLimits, Usage,
};

/// A longer answer than any model gives (128,000 tokens are about 1 MB).
const MAX_TEXT_BYTES: usize = 32 * 1024 * 1024;

/// Most bytes of cited words that are kept; those of whole books are fewer. Their pages are kept in any case.
const MAX_CITED_BYTES: usize = 4 * 1024 * 1024;

/// A page costs 1,500 to 3,000 tokens as text and image, and several hundred when it is blank.
/// Fewer than this for each page means that the pages never reached the model.
const LEAST_TOKENS_PER_PAGE: u64 = 100;

/// No text of a document has as many characters to a token; English has four or five.
const MOST_CHARACTERS_PER_TOKEN: u64 = 10;

/// Says whether more is to be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Ended,
}

/// Gathers an answer. What it holds outlives a call that breaks off.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// The provider's id of the call.
    pub(super) request_id: Option<String>,
    /// The limits in force, where the answer told them.
    pub(super) limits: Option<ToldLimits>,
    /// The most output tokens that were asked for.
    pub(super) most_tokens: u32,
    texts: BTreeMap<u64, String>,
    /// Where each text comes from.
    cited: BTreeMap<u64, BTreeSet<Citation>>,
    text_bytes: usize,
    cited_bytes: usize,
    quarter_tokens: u64,
    model: Option<String>,
    stop_reason: Option<String>,
    stop_details: Option<StopDetails>,
    usage: Option<Usage>,
    ended: bool,
}

impl Gathered {
    /// Takes one event.
    pub(super) fn take(&mut self, event: Event, progress: &dyn Progress) -> Result<Flow, Failure> {
        match event {
            Event::MessageStart { message } => self.begin(message, progress)?,
            Event::ContentBlockStart {
                index,
                content_block: Block::Text { text, citations },
            } => self.begin_text(index, text.as_deref(), citations.as_deref(), progress)?,
            Event::ContentBlockDelta {
                index,
                delta: Delta::Citation { citation },
            } => self.cite(index, citation),
            Event::ContentBlockDelta {
                index,
                delta: Delta::Text { text },
            } => self.append(index, &text, progress)?,
            Event::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.stop_details = delta.stop_details.or(self.stop_details.take());
                if let Some(usage) = usage {
                    self.count(&usage);
                    if let Some(output_tokens) = usage.output_tokens() {
                        progress.advanced(JobPhase::Writing, output_tokens);
                    }
                }
            }
            Event::MessageStop => {
                self.ended = true;
                return Ok(Flow::Ended);
            }
            Event::Error { error } => return Err(failure::from_event(&error)),
            Event::ContentBlockStart { .. } | Event::ContentBlockDelta { .. } | Event::Other => {}
        }
        Ok(Flow::More)
    }

    /// Takes an answer that came whole, from an endpoint that does not stream.
    pub(super) fn take_whole(
        &mut self,
        message: Message,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        self.begin(message, progress)?;
        self.ended = true;
        Ok(())
    }

    /// Adds what is known so far to a failure.
    pub(super) fn explain(&self, mut failure: Failure) -> Failure {
        failure.request_id = failure.request_id.or_else(|| self.request_id.clone());
        failure.usage = failure.usage.or(self.usage);
        failure.limits = failure.limits.or(self.limits.map(Box::new));
        failure
    }

    /// Ends the gathering.
    ///
    /// # Errors
    /// [`Cause::StreamCut`] when the end never came.
    pub(super) fn finish(mut self, request: &Request) -> Result<Answer, Failure> {
        if !self.ended {
            return Err(self.explain(failure::stream_cut("it has no end")));
        }
        let text = self.text(request);
        let passages = self.passages(request);
        let usage = self.usage.unwrap_or_default();
        let review = self.review(request, &text, usage);
        Ok(Answer {
            text,
            passages,
            model: self.model.take().unwrap_or_else(|| request.model.clone()),
            stop_reason: self.stop_reason,
            usage,
            request_id: self.request_id,
            review,
            limits: self.limits,
        })
    }

    fn begin(&mut self, message: Message, progress: &dyn Progress) -> Result<(), Failure> {
        self.model = message.model;
        self.stop_reason = message.stop_reason;
        self.stop_details = message.stop_details;
        if let Some(usage) = &message.usage {
            self.count(usage);
        }
        for (index, block) in (0..).zip(message.content.unwrap_or_default()) {
            if let Block::Text { text, citations } = block {
                self.begin_text(index, text.as_deref(), citations.as_deref(), progress)?;
            }
        }
        Ok(())
    }

    fn begin_text(
        &mut self,
        index: u64,
        text: Option<&str>,
        citations: Option<&[Citation]>,
        progress: &dyn Progress,
    ) -> Result<(), Failure> {
        for citation in citations.unwrap_or_default() {
            self.cite(index, citation.clone());
        }
        self.append(index, text.unwrap_or_default(), progress)
    }

    fn cite(&mut self, index: u64, mut citation: Citation) {
        self.cited_bytes += citation.cited_text.as_ref().map_or(0, String::len);
        if self.cited_bytes > MAX_CITED_BYTES {
            citation.cited_text = None;
        }
        self.cited.entry(index).or_default().insert(citation);
    }

    /// Returns the text blocks as one text, each followed by the pages that it comes from.
    fn text(&self, request: &Request) -> String {
        let pages_of = |index: &u64| -> BTreeSet<(u64, u64)> {
            let document = request.document.as_ref();
            let citations = self.cited.get(index).into_iter().flatten();
            citations
                .filter_map(|citation| citation.pages(document?))
                .collect()
        };
        let texts: Vec<String> = self
            .texts
            .iter()
            .filter(|(_, text)| !text.is_empty())
            .map(|(index, text)| with_pages(text, &pages_of(index)))
            .collect();
        // Cited text comes in pieces of one flow, other blocks are paragraphs of their own.
        texts.join(if request.shape == Shape::CitedText {
            ""
        } else {
            "\n"
        })
    }

    /// Returns what was cited, in the order of the text, each passage once.
    fn passages(&self, request: &Request) -> Vec<Passage> {
        let Some(document) = &request.document else {
            return Vec::new();
        };
        let mut told = BTreeSet::new();
        let passages = self.cited.values().flatten().filter_map(|citation| {
            let (first, last) = citation.pages(document)?;
            let words = citation.cited_text.as_deref()?;
            let words = match &document.content {
                DocumentContent::Text(_) => without_markers(words),
                DocumentContent::File { .. } | DocumentContent::Uploaded { .. } => words.to_owned(),
            };
            let text = words.trim().to_owned();
            let passage = Passage {
                first_page: u32::try_from(first).ok()?,
                last_page: u32::try_from(last).ok()?,
                text,
            };
            (!passage.text.is_empty() && told.insert((first, last, passage.text.clone())))
                .then_some(passage)
        });
        passages.collect()
    }

    fn append(&mut self, index: u64, text: &str, progress: &dyn Progress) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.text_bytes += text.len();
        if self.text_bytes > MAX_TEXT_BYTES {
            return Err(failure::stream_cut("it is longer than any model answers"));
        }
        self.texts.entry(index).or_default().push_str(text);
        self.quarter_tokens += quarter_tokens(text);
        progress.advanced(JobPhase::Writing, self.quarter_tokens.div_ceil(4));
        Ok(())
    }

    fn count(&mut self, count: &UsageCount) {
        count.merge_into(self.usage.get_or_insert_default());
    }

    /// Returns why a person has to look at the answer, the gravest reason first.
    fn review(&self, request: &Request, text: &str, usage: Usage) -> Option<(Cause, String)> {
        let reason = self.stop_reason.as_deref().unwrap_or_default();
        if reason == "refusal" {
            return Some((Cause::Declined, self.refusal()));
        }
        if let Some(sentence) = not_read(request, usage) {
            return Some((Cause::DocumentNotRead, sentence));
        }
        match reason {
            "end_turn" | "stop_sequence" if text.trim().is_empty() => Some((
                Cause::EmptyAnswer,
                "The model ended its answer without writing anything.".to_owned(),
            )),
            "end_turn" | "stop_sequence" => None,
            "max_tokens" => Some((Cause::CutOff, self.cut_off(request, text))),
            "model_context_window_exceeded" => Some((
                Cause::ContextFilled,
                "The answer filled the model's context window.".to_owned(),
            )),
            "" => Some((
                Cause::UnknownStopReason,
                "The answer does not say why it ended.".to_owned(),
            )),
            other => Some((
                Cause::UnknownStopReason,
                format!("The model stopped for the reason `{other}`, which is not expected here."),
            )),
        }
    }

    fn cut_off(&self, request: &Request, text: &str) -> String {
        let most = self.most_tokens;
        if most == request.max_tokens {
            return format!("The answer stopped at the limit of {most} output tokens.");
        }
        let when = if text.trim().is_empty() {
            "The model was still thinking at"
        } else {
            "The answer stopped at"
        };
        format!("{when} the limit of {most} output tokens, thinking included.")
    }

    fn refusal(&self) -> String {
        let details = self.stop_details.as_ref();
        let explanation = details
            .and_then(|details| details.explanation.as_deref())
            .filter(|explanation| !explanation.trim().is_empty());
        let category = details.and_then(|details| details.category.as_deref());
        match (explanation, category) {
            (Some(explanation), _) => format!("The model declined to answer: {explanation}"),
            (None, Some(category)) => {
                format!("The model declined to answer (category `{category}`).")
            }
            (None, None) => "The model declined to answer.".to_owned(),
        }
    }
}

/// Puts pages behind a text, if there are any: `(p. 3)`, `(p. 3–5, 9)`.
fn with_pages(text: &str, pages: &BTreeSet<(u64, u64)>) -> String {
    if pages.is_empty() {
        return text.to_owned();
    }
    let told: Vec<String> = pages
        .iter()
        .map(|(first, last)| match first == last {
            true => first.to_string(),
            false => format!("{first}–{last}"),
        })
        .collect();
    let body = text.trim_end();
    format!("{body} (p. {}){}", told.join(", "), &text[body.len()..])
}

/// Says whether the document can't have been read: some endpoints drop document blocks silently and
/// answer from the prompt alone, so that the summary is made up; some cut long prompts off.
fn not_read(request: &Request, usage: Usage) -> Option<String> {
    let document = request.document.as_ref()?;
    let counted = usage.total_input();
    let prompt = quarter_tokens(&request.prompt) / 4;
    if let DocumentContent::Text(pages) = &document.content {
        let characters = Numbered::new(pages, document.first_page).characters();
        // The prompt is short English, which may take a few tokens fewer than estimated.
        if counted >= prompt * 3 / 4 + characters / MOST_CHARACTERS_PER_TOKEN {
            return None;
        }
        return Some(format!(
            "Only {counted} input tokens were counted for a text of {characters} characters and the prompt, so the text was not read, or not all of it."
        ));
    }
    let pages = u64::from(document.pages.unwrap_or(1).max(1));
    if counted >= prompt + pages * LEAST_TOKENS_PER_PAGE {
        return None;
    }
    Some(format!(
        "Only {counted} input tokens were counted for {pages} page(s) and the prompt, so the document was not read."
    ))
}

/// Estimates tokens in quarters: four letters of an alphabet are about one token, and so is one
/// character of Chinese, Japanese or Korean.
fn quarter_tokens(text: &str) -> u64 {
    text.chars()
        .map(|character| if character.len_utf8() >= 3 { 4 } else { 1 })
        .sum()
}
