//! One file for each command.

pub(crate) mod add;
pub(crate) mod jobs;
pub(crate) mod key;
pub(crate) mod retry;
pub(crate) mod run;
pub(crate) mod show;
pub(crate) mod status;

use gistmill_engine::model::Timestamp;

/// Returns the present moment, for countdowns.
fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
