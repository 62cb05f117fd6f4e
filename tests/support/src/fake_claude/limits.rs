//! The limits of a minute: buckets of requests, input and output tokens for each class of models, which refill
//! continuously; the limit on growing too fast; and the limits of calls of other kinds.

mod bucket;
mod headers;
mod ramp;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;

use super::fault::Canned;
use super::script::Call;

use bucket::Bucket;
use ramp::Ramp;

pub use ramp::RampSettings;

pub(super) use headers::add;

/// What a class of models may use in a minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinuteLimits {
    /// Requests.
    pub requests: u64,
    /// Input tokens, those read from the cache not counted.
    pub input_tokens: u64,
    /// Output tokens that are generated; what a request allows at most plays no part.
    pub output_tokens: u64,
}

impl Default for MinuteLimits {
    /// The first tier's.
    fn default() -> Self {
        Self {
            requests: 1_000,
            input_tokens: 2_000_000,
            output_tokens: 400_000,
        }
    }
}

/// The limits of an organization. Without settings none refuses anything.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// For each class of models that is not in `classes`.
    pub minute: Option<MinuteLimits>,
    /// For single classes: `sonnet-4`, `opus-4`, or the id of a newer model.
    pub classes: BTreeMap<String, MinuteLimits>,
    /// The part of a minute's limit that may be used at once, in seconds; 60 when left out.
    pub burst_seconds: Option<u64>,
    /// How fast the use may grow.
    pub ramp: Option<RampSettings>,
    /// Calls of `count_tokens` in a minute.
    pub counts_per_minute: Option<u64>,
    /// Calls about files in a minute.
    pub files_per_minute: Option<u64>,
    /// Calls about batches in a minute.
    pub batches_per_minute: Option<u64>,
}

/// How often something was refused because a limit was passed. What a script refuses is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals {
    /// Messages beyond the requests of a minute.
    pub requests: u64,
    /// Messages beyond the input tokens of a minute.
    pub input_tokens: u64,
    /// Messages beyond the output tokens of a minute.
    pub output_tokens: u64,
    /// Messages that would have made the use grow too fast.
    pub ramp: u64,
    /// Calls that are no messages.
    pub other_calls: u64,
}

impl Refusals {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.requests + self.input_tokens + self.output_tokens + self.ramp + self.other_calls
    }
}

/// The class whose limits a model shares.
fn class(model: &str) -> &str {
    for shared in ["opus-4", "sonnet-4"] {
        if model
            .strip_prefix("claude-")
            .is_some_and(|rest| rest.starts_with(shared))
        {
            return shared;
        }
    }
    model
}

#[derive(Debug)]
struct Class {
    requests: Bucket,
    input: Bucket,
    output: Bucket,
    ramp: Option<Ramp>,
}

#[derive(Debug)]
pub(super) struct Limits {
    settings: LimitSettings,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    classes: BTreeMap<String, Class>,
    others: BTreeMap<&'static str, Bucket>,
    refusals: Refusals,
}

impl Limits {
    pub(super) fn new(settings: LimitSettings) -> Self {
        Self {
            settings,
            state: Mutex::default(),
        }
    }

    pub(super) fn refusals(&self) -> Refusals {
        self.lock().refusals
    }

    /// Takes a message with its input, or refuses it.
    pub(super) fn take(&self, model: &str, input: u64, now: Timestamp) -> Result<(), Canned> {
        let mut state = self.lock();
        let State {
            classes, refusals, ..
        } = &mut *state;
        let Some(class) = self.class(classes, model, now) else {
            return Ok(());
        };
        let exceeded = |limit: u64, what: &str, wait: Duration| {
            Canned::error(
                429,
                "rate_limit_error",
                &format!(
                    "This request would exceed the rate limit for your organization of {limit} {what} per minute."
                ),
            )
            .with_header("retry-after", &whole_seconds(wait).to_string())
        };
        if let Some(wait) = class.requests.wait_for(1, now) {
            refusals.requests += 1;
            return Err(exceeded(class.requests.limit, "requests", wait));
        }
        if let Some(wait) = class.input.wait_for(input, now) {
            refusals.input_tokens += 1;
            return Err(exceeded(class.input.limit, "input tokens", wait));
        }
        // Nobody knows how much will be written: something has to be left.
        if let Some(wait) = class.output.wait_for(1, now) {
            refusals.output_tokens += 1;
            return Err(exceeded(class.output.limit, "output tokens", wait));
        }
        if let Some(ramp) = &mut class.ramp {
            ramp.take(input, now).inspect_err(|_| refusals.ramp += 1)?;
        }
        class.requests.take(1, now);
        class.input.take(input, now);
        Ok(())
    }

    /// Counts what was generated.
    pub(super) fn generated(&self, model: &str, output: u64, now: Timestamp) {
        if let Some(class) = self.class(&mut self.lock().classes, model, now) {
            class.output.take(output, now);
        }
    }

    /// Takes a call that is no message, or refuses it.
    pub(super) fn take_other(&self, call: Call, now: Timestamp) -> Result<(), Canned> {
        let (name, limit) = match call {
            Call::CountTokens => ("count_tokens", self.settings.counts_per_minute),
            Call::UploadFile | Call::GetFile | Call::ListFiles | Call::DeleteFile => {
                ("files", self.settings.files_per_minute)
            }
            Call::CreateBatch
            | Call::GetBatch
            | Call::ListBatches
            | Call::CancelBatch
            | Call::DeleteBatch
            | Call::BatchResults => ("batches", self.settings.batches_per_minute),
            _ => return Ok(()),
        };
        let Some(limit) = limit else {
            return Ok(());
        };
        let mut state = self.lock();
        let bucket = state
            .others
            .entry(name)
            .or_insert_with(|| Bucket::new(limit, 60, now));
        if let Some(wait) = bucket.wait_for(1, now) {
            state.refusals.other_calls += 1;
            return Err(Canned::error(
                429,
                "rate_limit_error",
                &format!(
                    "This request would exceed the rate limit for your organization of {limit} {name} requests per minute."
                ),
            )
            .with_header("retry-after", &whole_seconds(wait).to_string()));
        }
        bucket.take(1, now);
        Ok(())
    }

    /// The buckets of a model's class, made when they are first asked for; `None` where nothing is limited.
    fn class<'a>(
        &self,
        classes: &'a mut BTreeMap<String, Class>,
        model: &str,
        now: Timestamp,
    ) -> Option<&'a mut Class> {
        let name = class(model);
        let limits = self.settings.classes.get(name).copied();
        let limits = limits.or(self.settings.minute);
        if limits.is_none() && self.settings.ramp.is_none() {
            return None;
        }
        let limits = limits.unwrap_or_default();
        let burst = self.settings.burst_seconds.unwrap_or(60);
        let bucket = |limit| Bucket::new(limit, burst, now);
        Some(classes.entry(name.to_owned()).or_insert_with(|| Class {
            requests: bucket(limits.requests),
            input: bucket(limits.input_tokens),
            output: bucket(limits.output_tokens),
            ramp: self.settings.ramp.map(Ramp::new),
        }))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rounded up, so that whoever waits so long has waited long enough.
fn whole_seconds(wait: Duration) -> u64 {
    wait.as_secs() + u64::from(wait.subsec_nanos() > 0)
}

#[cfg(test)]
mod tests;
