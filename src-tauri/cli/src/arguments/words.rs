//! Words that stand for one of a few things.

use clap::ValueEnum;
use gistmill_engine::model::{Cause, Delivery, JobsShown, Place, Provider, QueueName};

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum QueueArgument {
    High,
    Bulk,
}

impl From<QueueArgument> for QueueName {
    fn from(argument: QueueArgument) -> Self {
        match argument {
            QueueArgument::High => Self::High,
            QueueArgument::Bulk => Self::Bulk,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DeliveryArgument {
    /// A call for each job
    Each,
    /// Many jobs together by the batch API
    Batch,
}

impl From<DeliveryArgument> for Delivery {
    fn from(argument: DeliveryArgument) -> Self {
        match argument {
            DeliveryArgument::Each => Self::Each,
            DeliveryArgument::Batch => Self::Batch,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LanesArgument {
    High,
    Bulk,
    All,
}

impl LanesArgument {
    /// Returns the queues that are meant.
    pub(crate) fn queues(self) -> &'static [QueueName] {
        match self {
            Self::High => &[QueueName::High],
            Self::Bulk => &[QueueName::Bulk],
            Self::All => &QueueName::ALL,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ProviderArgument {
    /// Anthropic's Messages API
    Claude,
    /// The PDF's own key sentences, without a key or a network
    Offline,
}

impl From<ProviderArgument> for Provider {
    fn from(argument: ProviderArgument) -> Self {
        match argument {
            ProviderArgument::Claude => Self::Claude,
            ProviderArgument::Offline => Self::Offline,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum StatusArgument {
    All,
    Running,
    Waiting,
    NeedsReview,
    DeadLetters,
    Done,
    Cancelled,
}

impl From<StatusArgument> for JobsShown {
    fn from(argument: StatusArgument) -> Self {
        match argument {
            StatusArgument::All => Self::All,
            StatusArgument::Running => Self::Running,
            StatusArgument::Waiting => Self::Waiting,
            StatusArgument::NeedsReview => Self::NeedsReview,
            StatusArgument::DeadLetters => Self::DeadLetters,
            StatusArgument::Done => Self::Done,
            StatusArgument::Cancelled => Self::Cancelled,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum PlaceArgument {
    /// Before all others
    Top,
    /// One place forward
    Up,
    /// One place back
    Down,
    /// Behind all others
    Bottom,
}

impl From<PlaceArgument> for Place {
    fn from(argument: PlaceArgument) -> Self {
        match argument {
            PlaceArgument::Top => Self::Top,
            PlaceArgument::Up => Self::Up,
            PlaceArgument::Down => Self::Down,
            PlaceArgument::Bottom => Self::Bottom,
        }
    }
}

/// Reads the key of a cause.
pub(super) fn cause(text: &str) -> Result<Cause, String> {
    Cause::from_key(text).ok_or_else(|| {
        "there is no such cause; “gistmill dead-letters” shows the keys of those that jobs have"
            .to_owned()
    })
}

/// Reads what is searched for. Nothing would match every job, which nobody means who searches.
pub(super) fn searched(text: &str) -> Result<String, String> {
    if text.trim().is_empty() {
        return Err("write a word to search for; --all means every job".to_owned());
    }
    Ok(text.to_owned())
}
