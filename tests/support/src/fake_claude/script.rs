//! What the server is told to do, by a test or by a scenario file.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;

use super::fault::{Canned, Fault};
use super::journal::Recorded;

/// Rules read from a JSON file:
/// `{"rules": [{"request": 2, "reply": {"kind": "fault", "fault": "overloaded"}}]}`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The rules; the first that fits is followed.
    pub rules: Vec<Rule>,
}

/// Why a scenario file can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// It can't be read.
    #[error("{0}: {1}")]
    Read(PathBuf, std::io::Error),
    /// It is not a scenario.
    #[error("{0}: {1}")]
    Parse(PathBuf, serde_json::Error),
}

impl Scenario {
    /// Reads a scenario file.
    ///
    /// # Errors
    /// When it can't be read or is not a scenario.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let text =
            std::fs::read(path).map_err(|error| ScenarioError::Read(path.to_owned(), error))?;
        serde_json::from_slice(&text).map_err(|error| ScenarioError::Parse(path.to_owned(), error))
    }
}

/// Which requests get which reply. A condition left out always holds.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Only the request with this number; the first to `POST /v1/messages` is 1.
    #[serde(default)]
    pub request: Option<usize>,
    /// Only requests with a document whose title contains this.
    #[serde(default)]
    pub title: Option<String>,
    /// Only requests for a model whose id contains this.
    #[serde(default)]
    pub model: Option<String>,
    /// How many times the rule is followed; without it, always.
    #[serde(default)]
    pub times: Option<usize>,
    /// What is done.
    pub reply: Reply,
}

impl Rule {
    /// A rule for every request.
    #[must_use]
    pub fn always(reply: Reply) -> Self {
        Self {
            request: None,
            title: None,
            model: None,
            times: None,
            reply,
        }
    }

    /// A rule for the request with this number, counted from 1.
    #[must_use]
    pub fn nth(request: usize, reply: Reply) -> Self {
        Self {
            request: Some(request),
            ..Self::always(reply)
        }
    }

    /// A rule for documents whose title contains `title`.
    #[must_use]
    pub fn titled(title: impl Into<String>, reply: Reply) -> Self {
        Self {
            title: Some(title.into()),
            ..Self::always(reply)
        }
    }

    /// A rule for models whose id contains `model`.
    #[must_use]
    pub fn for_model(model: impl Into<String>, reply: Reply) -> Self {
        Self {
            model: Some(model.into()),
            ..Self::always(reply)
        }
    }

    /// The same rule, followed at most this many times.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = Some(times);
        self
    }

    fn fits(&self, number: usize, request: &Recorded) -> bool {
        let title_fits = |wanted: &String| {
            request
                .documents
                .iter()
                .filter_map(|document| document.title.as_ref())
                .any(|title| title.contains(wanted))
        };
        let model_fits = |wanted: &String| {
            request
                .model
                .as_ref()
                .is_some_and(|model| model.contains(wanted))
        };
        self.times != Some(0)
            && self.request.is_none_or(|wanted| wanted == number)
            && self.title.as_ref().is_none_or(title_fits)
            && self.model.as_ref().is_none_or(model_fits)
    }
}

/// What is done with a request.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Reply {
    /// An answer.
    Answer(Plan),
    /// An error with the status and body that the API gives for it.
    Fault {
        /// Which.
        fault: Fault,
    },
    /// Any status, headers and body.
    Status(Canned),
    /// A stream that ends with an `error` event after so many deltas.
    ErrorEvent {
        /// Text deltas before it.
        #[serde(default)]
        after_deltas: usize,
        /// The error: `{"type": …, "message": …}`.
        error: Value,
    },
    /// A stream whose connection is dropped after so many deltas.
    Cut {
        /// Text deltas before it.
        #[serde(default)]
        after_deltas: usize,
    },
    /// A stream that ends properly, but without `message_stop`.
    Unfinished,
    /// A stream that stands still, with its connection open, after so many deltas.
    Stall {
        /// Text deltas before it.
        #[serde(default)]
        after_deltas: usize,
    },
    /// No answer at all, with the connection open.
    Hang,
    /// The body is never read, so that the client can't finish sending. Matches by number only.
    NeverRead,
    /// A 200 with exactly these pieces, each sent by itself.
    Raw {
        /// The pieces.
        chunks: Vec<String>,
        /// Its content type; `text/event-stream` when left out.
        #[serde(default)]
        content_type: Option<String>,
    },
}

/// How an answer looks. What is left out is made up plausibly.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Plan {
    /// The text; `Some("")` for an answer with an empty text block.
    pub text: Option<String>,
    /// No block at all, as in a refusal before any output.
    pub no_content: bool,
    /// A thinking block before the text.
    pub thinking: Option<String>,
    /// Why it stops; `end_turn` when left out.
    pub stop_reason: Option<String>,
    /// The details of a refusal.
    pub stop_details: Option<Value>,
    /// Counted input tokens.
    pub input_tokens: Option<u64>,
    /// Counted output tokens.
    pub output_tokens: Option<u64>,
    /// Milliseconds before each event.
    pub event_delay_ms: u64,
}

impl Reply {
    /// A plain answer with this text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::Answer(Plan {
            text: Some(text.into()),
            ..Plan::default()
        })
    }

    /// An answer that stops for this reason.
    #[must_use]
    pub fn stopped(reason: impl Into<String>) -> Self {
        Self::Answer(Plan {
            stop_reason: Some(reason.into()),
            ..Plan::default()
        })
    }

    /// A refusal before any output.
    #[must_use]
    pub fn refusal() -> Self {
        Self::Answer(Plan {
            no_content: true,
            stop_reason: Some("refusal".to_owned()),
            stop_details: Some(serde_json::json!({
                "type": "refusal",
                "category": "bio",
                "explanation": "This request touches on a restricted subject."
            })),
            output_tokens: Some(0),
            ..Plan::default()
        })
    }

    /// An answer of an endpoint that drops document blocks silently.
    #[must_use]
    pub fn document_dropped() -> Self {
        Self::Answer(Plan {
            input_tokens: Some(23),
            ..Plan::default()
        })
    }

    /// An answer that stands this long before each of its events.
    #[must_use]
    pub fn slow(event_delay_ms: u64) -> Self {
        Self::Answer(Plan {
            event_delay_ms,
            ..Plan::default()
        })
    }

    /// An error of the API.
    #[must_use]
    pub fn fault(fault: Fault) -> Self {
        Self::Fault { fault }
    }
}

#[derive(Debug, Default)]
pub(super) struct Script(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    requests: usize,
}

impl Script {
    pub(super) fn new(scenario: Scenario) -> Self {
        Self(Mutex::new(State {
            rules: scenario.rules,
            requests: 0,
        }))
    }

    pub(super) fn add(&self, rule: Rule) {
        self.with(|state| state.rules.push(rule));
    }

    /// Gives the next request its number, and says whether its body is to be left unread.
    pub(super) fn number(&self) -> (usize, bool) {
        self.with(|state| {
            state.requests += 1;
            let number = state.requests;
            let reply = state.follow(number, &Recorded::default(), |reply| {
                matches!(reply, Reply::NeverRead)
            });
            (number, reply.is_some())
        })
    }

    /// Returns what is done with a request.
    pub(super) fn reply(&self, number: usize, request: &Recorded) -> Reply {
        self.with(|state| {
            state
                .follow(number, request, |reply| !matches!(reply, Reply::NeverRead))
                .unwrap_or_else(|| Reply::Answer(Plan::default()))
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn follow(
        &mut self,
        number: usize,
        request: &Recorded,
        wanted: impl Fn(&Reply) -> bool,
    ) -> Option<Reply> {
        let rule = self
            .rules
            .iter_mut()
            .find(|rule| wanted(&rule.reply) && rule.fits(number, request))?;
        rule.times = rule.times.map(|times| times - 1);
        Some(rule.reply.clone())
    }
}
