//! What stands in the way of spending more: the tier's cap, a contract's, a limit that the user set, credit.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Deserialize;

use super::check::invalid;
use super::fault::{Canned, Fault};

/// Amounts in millionths of a dollar. Once the bill has reached one of them, every call that costs is
/// refused. None is in force without being set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SpendSettings {
    /// The cap of the tier in a month: 429 with a code and without `retry-after`.
    pub tier_cap: Option<u64>,
    /// The cap of a contract: 429 with another code.
    pub contract_cap: Option<u64>,
    /// A limit that the user set: 400.
    pub user_limit: Option<u64>,
    /// A limit that the user set for the workspace: 400.
    pub workspace_limit: Option<u64>,
    /// What was paid in advance: 400 once it is used up.
    pub credit: Option<u64>,
}

impl SpendSettings {
    /// Refuses a call once `billed` has reached what may be spent.
    pub(super) fn check(&self, billed: u64, now: Timestamp) -> Result<(), Canned> {
        let reached = |amount: Option<u64>| amount.is_some_and(|amount| billed >= amount);
        let access = format!("You will regain access on {}.", next_month(now));
        if reached(self.credit) {
            return Err(Fault::CreditTooLow.canned());
        }
        if reached(self.user_limit) {
            return Err(invalid(format!(
                "You have reached your specified API usage limits. {access}"
            )));
        }
        if reached(self.workspace_limit) {
            return Err(invalid(format!(
                "You have reached your specified workspace API usage limits. {access}"
            )));
        }
        if reached(self.tier_cap) {
            return Err(Canned::error(
                429,
                "rate_limit_error",
                &format!(
                    "You have reached your API usage limits: your organization has crossed its monthly API usage threshold. {access}"
                ),
            )
            .with_code("enforced_spend_limit_reached"));
        }
        if reached(self.contract_cap) {
            return Err(Fault::ContractSpendLimit.canned());
        }
        Ok(())
    }
}

/// The first of the next month, as the API words it.
fn next_month(now: Timestamp) -> String {
    let today = now.to_zoned_datetime(TimeZone::UTC).date();
    // Whatever the month, the last day of this one is the day before.
    let days = i64::from(today.days_in_month() - today.day()) + 1;
    let seconds = u64::try_from(days * 24 * 3600).unwrap_or_default();
    super::clock::later(now, Duration::from_secs(seconds))
        .strftime("%Y-%m-%d at 00:00 UTC")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn access_comes_back_with_the_next_month() {
        for (now, wanted) in [
            ("2026-11-30T23:59:59Z", "2026-12-01 at 00:00 UTC"),
            ("2026-12-01T00:00:00Z", "2027-01-01 at 00:00 UTC"),
            ("2028-02-01T12:00:00Z", "2028-03-01 at 00:00 UTC"),
        ] {
            assert_eq!(next_month(now.parse().unwrap()), wanted);
        }
    }

    #[test]
    fn a_cap_refuses_once_it_is_reached() {
        let caps = SpendSettings {
            tier_cap: Some(500),
            ..SpendSettings::default()
        };
        let now = "2026-11-30T12:00:00Z".parse().unwrap();
        assert_eq!(caps.check(499, now), Ok(()));
        let refused = caps.check(500, now).unwrap_err();
        assert_eq!(refused.status, 429);
        assert!(!refused.headers.contains_key("retry-after"));
    }
}
