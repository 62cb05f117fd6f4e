//! What is known of models: told by the address that is asked, else listed here, else assumed.
//!
//! What money depends on – how tokens are counted, whether a model thinks by itself, the largest answer that is
//! paid for – comes from the list alone, so that what a cap reserves does not change between the promise and the
//! call. What an address tells only narrows it.

mod shipped;
mod told;

use std::borrow::Cow;
use std::collections::HashMap;

use jiff::civil::Date;

use crate::model::{Effort, Lifecycle, ModelNotice, ModelProfile, ProfileSource};

pub(crate) use told::{Line, told};

/// Output tokens that a model which thinks by itself may take for that, besides its answer.
///
/// Thinking counts toward `max_tokens`: with the limit of a summary alone a model might think until it is
/// reached, and write nothing.
const THINKING_ROOM: u32 = 4_096;
/// Output tokens that thinking about an ordinary summary takes at low effort.
const ORDINARY_THINKING: u64 = 400;
/// A person hears of the end of a model this many days before it.
const SOON: i32 = 90;

/// Whether a line of the list speaks of a model itself, or of one that it is a later version of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinship {
    Itself,
    Relative,
}

/// Returns the id as Anthropic writes it: without its maker's name, and with `-` where others write `.`.
pub(crate) fn plain_id(model: &str) -> Cow<'_, str> {
    let id = model.strip_prefix("anthropic/").unwrap_or(model);
    if id.starts_with("claude-") && id.contains('.') {
        Cow::Owned(id.replace('.', "-"))
    } else {
        Cow::Borrowed(id)
    }
}

/// Says whether two ids are of one model: with the day of its snapshot or without, whoever writes it.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    without_day(&plain_id(one)) == without_day(&plain_id(other))
}

/// Returns an id without the day of its snapshot (`-20251001`).
fn without_day(id: &str) -> &str {
    match id.rsplit_once('-') {
        Some((name, day)) if day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit()) => {
            name
        }
        _ => id,
    }
}

/// Returns the line of the list that speaks of a model, or of the one that it is a later version of.
fn row(model: &str) -> Option<(&'static shipped::Row, Kinship)> {
    let id = plain_id(model);
    let name = without_day(&id);
    let mut relative: Option<&'static shipped::Row> = None;
    for row in &shipped::ROWS {
        let known = without_day(row.id);
        if known == name {
            return Some((row, Kinship::Itself));
        }
        let is_later = name
            .strip_prefix(known)
            .is_some_and(|rest| rest.starts_with('-'));
        if is_later && relative.is_none_or(|best| best.id.len() < row.id.len()) {
            relative = Some(row);
        }
    }
    relative.map(|row| (row, Kinship::Relative))
}

/// Returns what the list knows of a model, or what is assumed of one that it does not have.
///
/// A later version of a listed model is taken for one like it. Anything else is taken for a small one: a
/// document in two parts that would have gone in one costs a call more, one that is refused costs the answer.
#[must_use]
pub fn shipped(model: &str) -> ModelProfile {
    match row(model) {
        Some((row, Kinship::Itself)) => row.profile(model),
        Some((row, Kinship::Relative)) => ModelProfile {
            lifecycle: Lifecycle::Active,
            retires_on: None,
            kept_until: None,
            successor: None,
            source: ProfileSource::Assumed,
            ..row.profile(model)
        },
        None => {
            let of_claude = plain_id(model).starts_with("claude-");
            ModelProfile {
                model: model.to_owned(),
                lifecycle: Lifecycle::Active,
                retires_on: None,
                kept_until: None,
                successor: None,
                context_tokens: 200_000,
                max_output_tokens: 64_000,
                pdf_pages: 100,
                newer_tokenizer: true,
                thinks: of_claude,
                efforts: Vec::new(),
                citations: of_claude,
                structured_outputs: of_claude,
                batches: of_claude,
                source: ProfileSource::Assumed,
            }
        }
    }
}

/// Says whether a model counts as Claude 4.7 and later do. What nobody knows is taken for it: it counts more.
pub(crate) fn has_newer_tokenizer(model: &str) -> bool {
    row(model).is_none_or(|(row, _)| row.newer_tokenizer)
}

/// Says whether a model thinks before it writes without being told to.
pub(crate) fn thinks(model: &str) -> bool {
    row(model).map_or_else(
        || plain_id(model).starts_with("claude-"),
        |(row, _)| row.thinks,
    )
}

/// Returns the most output tokens that a call is paid for, where its answer may take `max_tokens`.
///
/// This is what is asked for as `max_tokens`, and what a budget and a cap reserve.
#[must_use]
pub fn most_output(model: &str, max_tokens: u32) -> u32 {
    let room = if thinks(model) { THINKING_ROOM } else { 0 };
    let wanted = max_tokens.saturating_add(room);
    match row(model) {
        Some((row, _)) => wanted.min(row.max_output_tokens()),
        None => wanted,
    }
}

/// Returns the output tokens that a model takes for thinking about an ordinary summary.
pub(crate) fn ordinary_thinking(model: &str) -> u64 {
    if thinks(model) { ORDINARY_THINKING } else { 0 }
}

/// Returns the name under which a model shares its limits of a minute with others of its class.
///
/// Anthropic: the models of Opus 4 share one limit, those of Sonnet 4 another; every other model has its own.
pub(crate) fn limit_class(model: &str) -> Cow<'_, str> {
    let id = plain_id(model);
    for class in ["claude-opus-4", "claude-sonnet-4"] {
        if without_day(&id)
            .strip_prefix(class)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        {
            return Cow::Borrowed(class);
        }
    }
    match id {
        Cow::Borrowed(id) => Cow::Borrowed(without_day(id)),
        Cow::Owned(id) => Cow::Owned(without_day(&id).to_owned()),
    }
}

/// What is known of models at one address.
#[derive(Clone, Debug, Default)]
pub struct Profiles {
    told: HashMap<String, ModelProfile>,
}

impl Profiles {
    /// Returns what is known where the address told `told`.
    #[must_use]
    pub fn new(told: impl IntoIterator<Item = ModelProfile>) -> Self {
        Self {
            told: told
                .into_iter()
                .map(|profile| (profile.model.clone(), profile))
                .collect(),
        }
    }

    /// Returns what is known of a model.
    #[must_use]
    pub fn of(&self, model: &str) -> ModelProfile {
        if let Some(told) = self.told.get(model) {
            return told.clone();
        }
        // Where several snapshots fit a name without a day, the latest is meant.
        self.told
            .values()
            .filter(|told| is_same(&told.model, model))
            .max_by(|one, other| one.model.cmp(&other.model))
            .map_or_else(
                || shipped(model),
                |told| ModelProfile {
                    model: model.to_owned(),
                    ..told.clone()
                },
            )
    }

    /// Returns every model that the address told of, in the order of their names.
    #[must_use]
    pub fn told(&self) -> Vec<ModelProfile> {
        let mut told: Vec<ModelProfile> = self.told.values().cloned().collect();
        told.sort_by(|one, other| one.model.cmp(&other.model));
        told
    }
}

/// Returns the effort that a summary is asked with: low for models that think by themselves, since they would
/// think about a summary for longer than they write it; none for others, which do what they always did.
pub(crate) fn effort(profile: &ModelProfile) -> Option<Effort> {
    (profile.thinks && profile.efforts.contains(&Effort::Low)).then_some(Effort::Low)
}

/// Says whether a model has ended, on a day such as `2026-11-30`.
#[must_use]
pub fn has_ended(profile: &ModelProfile, today: &str) -> bool {
    profile.lifecycle == Lifecycle::Retired
        || profile
            .retires_on
            .as_deref()
            .is_some_and(|day| day <= today)
}

/// Returns what a person should know of the end of a model, on a day such as `2026-11-30`; `None` where none is
/// near.
#[must_use]
pub fn notice(profile: &ModelProfile, today: &str) -> Option<ModelNotice> {
    let day = |text: &str| text.parse::<Date>().ok();
    let days_left = profile.retires_on.as_deref().and_then(|end| {
        let between = day(today)?.until(day(end)?).ok()?;
        Some(between.get_days())
    });
    let ended = has_ended(profile, today);
    let near = days_left.is_some_and(|days| days <= SOON);
    if !ended && !near && profile.lifecycle != Lifecycle::Deprecated {
        return None;
    }
    let model = &profile.model;
    let what = match (&profile.retires_on, days_left) {
        (Some(end), Some(days)) if days < 0 => {
            format!("{model} was retired on {end} and answers no more.")
        }
        (Some(end), Some(0)) => format!("{model} is retired today, on {end}."),
        (Some(end), Some(1)) => format!("{model} is retired tomorrow, on {end}."),
        (Some(end), Some(days)) => {
            format!("{model} is deprecated: it is retired on {end}, in {days} days.")
        }
        _ if ended => format!("{model} is retired and answers no more."),
        _ => format!("{model} is deprecated: it is going to be retired."),
    };
    let instead = profile
        .successor
        .as_ref()
        .map_or_else(String::new, |successor| {
            format!(" Use {successor} instead.")
        });
    Some(ModelNotice {
        model: model.clone(),
        lifecycle: if ended {
            Lifecycle::Retired
        } else {
            Lifecycle::Deprecated
        },
        retires_on: profile.retires_on.clone(),
        days_left: days_left.map(|days| u32::try_from(days).unwrap_or(0)),
        successor: profile.successor.clone(),
        message: format!("{what}{instead}"),
    })
}

#[cfg(test)]
mod tests;
