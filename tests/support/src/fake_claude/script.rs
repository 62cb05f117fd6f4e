//! What the server is told to do, by a test or by a scenario file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use super::ask::Ask;
use super::batches::BatchSettings;
use super::clock::ClockSettings;
use super::files::FileSettings;
use super::journal::Recorded;
use super::limits::LimitSettings;
use super::reply::{Plan, Reply};
use super::spend::SpendSettings;

/// What a scenario file says. All of it may be left out:
///
/// ```json
/// {
///   "about": "The second message meets an overload.",
///   "rules": [{"request": 2, "reply": {"kind": "fault", "fault": "overloaded"}}],
///   "clock": {"start": "2026-12-01T00:00:00Z", "stands_still": true},
///   "limits": {"minute": {"requests": 50, "input_tokens": 30000, "output_tokens": 8000}},
///   "spend": {"tier_cap": 500000000},
///   "batches": {"seconds": 3600, "listed_after_seconds": 60},
///   "files": {"quota_bytes": 1000000}
/// }
/// ```
///
/// `tests/support/scenarios` holds those that the official SDK and Gistmill are both put through.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Scenario {
    /// What it is about.
    pub about: String,
    /// Why Gistmill is meant to make something else of it than the official SDK, if it is.
    pub differs: Option<String>,
    /// What the tests ask.
    pub ask: Ask,
    /// The rules; the first that fits is followed.
    pub rules: Vec<Rule>,
    /// The only key accepted; every key is when left out.
    pub api_key: Option<String>,
    /// How the double's clock begins.
    pub clock: ClockSettings,
    /// How batches behave.
    pub batches: BatchSettings,
    /// What may be uploaded.
    pub files: FileSettings,
    /// The limits of a minute.
    pub limits: LimitSettings,
    /// The limits of what may be spent.
    pub spend: SpendSettings,
    /// Whether each key is a workspace of its own, which sees no batches and files of the others.
    pub key_is_workspace: bool,
}

/// What is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Call {
    /// `POST /v1/messages`.
    Message,
    /// One request of a batch.
    BatchRequest,
    /// `POST /v1/messages/count_tokens`.
    CountTokens,
    /// `POST /v1/messages/batches`.
    CreateBatch,
    /// `GET /v1/messages/batches/{id}`.
    GetBatch,
    /// `GET /v1/messages/batches`.
    ListBatches,
    /// `POST /v1/messages/batches/{id}/cancel`.
    CancelBatch,
    /// `DELETE /v1/messages/batches/{id}`.
    DeleteBatch,
    /// `GET /v1/messages/batches/{id}/results`.
    BatchResults,
    /// `POST /v1/files`.
    UploadFile,
    /// `GET /v1/files/{id}`.
    GetFile,
    /// `GET /v1/files`.
    ListFiles,
    /// `DELETE /v1/files/{id}`.
    DeleteFile,
    /// `GET /v1/models`.
    ListModels,
    /// `GET /v1/models/{id}`.
    GetModel,
    /// Anything else.
    Unknown,
}

impl Call {
    /// Whether rules that name no call are meant for it.
    fn asks(self) -> bool {
        matches!(self, Self::Message | Self::BatchRequest)
    }
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
    /// Only this call; messages and requests of batches when left out.
    #[serde(default)]
    pub call: Option<Call>,
    /// Only the request with this number; the first of a call is 1.
    #[serde(default)]
    pub request: Option<usize>,
    /// Only requests of batches whose `custom_id` contains this.
    #[serde(default)]
    pub custom_id: Option<String>,
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
            call: None,
            request: None,
            custom_id: None,
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

    /// A rule for a call.
    #[must_use]
    pub fn on(call: Call, reply: Reply) -> Self {
        Self {
            call: Some(call),
            ..Self::always(reply)
        }
    }

    /// A rule for requests of batches whose `custom_id` contains `custom_id`.
    #[must_use]
    pub fn identified(custom_id: impl Into<String>, reply: Reply) -> Self {
        Self {
            custom_id: Some(custom_id.into()),
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

    fn fits(&self, call: Call, number: usize, request: &Recorded) -> bool {
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
        let id_fits = |wanted: &String| {
            request
                .custom_id
                .as_ref()
                .is_some_and(|id| id.contains(wanted))
        };
        self.times != Some(0)
            && self.call.map_or(call.asks(), |wanted| wanted == call)
            && self.custom_id.as_ref().is_none_or(id_fits)
            && self.request.is_none_or(|wanted| wanted == number)
            && self.title.as_ref().is_none_or(title_fits)
            && self.model.as_ref().is_none_or(model_fits)
    }
}

#[derive(Debug, Default)]
pub(super) struct Script(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    rules: Vec<Rule>,
    requests: HashMap<Call, usize>,
}

impl Script {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self(Mutex::new(State {
            rules,
            requests: HashMap::new(),
        }))
    }

    pub(super) fn add(&self, rule: Rule) {
        self.with(|state| state.rules.push(rule));
    }

    /// Gives the next message its number, and says whether its body is to be left unread.
    pub(super) fn number(&self) -> (usize, bool) {
        self.with(|state| {
            let number = state.next(Call::Message);
            let unread = |reply: &Reply| matches!(reply, Reply::NeverRead);
            let reply = state.follow(Call::Message, number, &Recorded::default(), unread);
            (number, reply.is_some())
        })
    }

    /// Returns what is done with a message.
    pub(super) fn reply(&self, number: usize, request: &Recorded) -> Reply {
        self.with(|state| state.follow(Call::Message, number, request, is_read))
            .unwrap_or_else(|| Reply::Answer(Plan::default()))
    }

    /// Gives a call of another kind its number, and returns what is scripted for it.
    pub(super) fn other(&self, call: Call, request: &Recorded) -> (usize, Option<Reply>) {
        self.with(|state| {
            let number = state.next(call);
            (number, state.follow(call, number, request, is_read))
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut State) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn is_read(reply: &Reply) -> bool {
    !matches!(reply, Reply::NeverRead)
}

impl State {
    fn next(&mut self, call: Call) -> usize {
        let number = self.requests.entry(call).or_default();
        *number += 1;
        *number
    }

    fn follow(
        &mut self,
        call: Call,
        number: usize,
        request: &Recorded,
        wanted: impl Fn(&Reply) -> bool,
    ) -> Option<Reply> {
        let rule = self
            .rules
            .iter_mut()
            .find(|rule| wanted(&rule.reply) && rule.fits(call, number, request))?;
        rule.times = rule.times.map(|times| times - 1);
        Some(rule.reply.clone())
    }
}
