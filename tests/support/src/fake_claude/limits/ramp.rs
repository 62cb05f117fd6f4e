//! The limit on growing too fast: the input of a minute may be so much more than that of the minute before.

use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;

use super::super::fault::Canned;

const MINUTE: i64 = 60;

/// How fast the input may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RampSettings {
    /// Input tokens that are always allowed in a minute.
    pub input_tokens: u64,
    /// How many more than in the minute before are allowed.
    pub step: u64,
}

#[derive(Debug)]
pub(super) struct Ramp {
    settings: RampSettings,
    /// Minutes since 1970.
    minute: i64,
    allowed: u64,
    used: u64,
}

impl Ramp {
    pub(super) fn new(settings: RampSettings) -> Self {
        Self {
            settings,
            minute: 0,
            allowed: settings.input_tokens,
            used: 0,
        }
    }

    fn turn(&mut self, now: Timestamp) {
        let minute = now.as_second().div_euclid(MINUTE);
        if minute == self.minute {
            return;
        }
        // A minute in which nothing was asked begins anew.
        let before = if minute == self.minute + 1 {
            self.used
        } else {
            0
        };
        self.allowed = self.settings.input_tokens.max(before + self.settings.step);
        self.minute = minute;
        self.used = 0;
    }

    pub(super) fn take(&mut self, input: u64, now: Timestamp) -> Result<(), Canned> {
        self.turn(now);
        if self.used + input <= self.allowed {
            self.used += input;
            return Ok(());
        }
        let next = self
            .settings
            .input_tokens
            .max(self.used + self.settings.step);
        let wait = MINUTE - now.as_second().rem_euclid(MINUTE);
        let wait = Duration::from_secs(wait.unsigned_abs());
        Err(Canned::error(
            429,
            "rate_limit_error",
            &format!(
                "This request would exceed your organization's maximum usage increase rate for input tokens per minute. Your current limit is {} input tokens per minute, and will increase to {next} at the next minute boundary. Please scale up your input tokens usage more gradually.",
                self.allowed
            ),
        )
        .with_code("ramp_limit_exceeded")
        .with_header("retry-after", &wait.as_secs().to_string()))
    }
}
