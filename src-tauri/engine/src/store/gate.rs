//! Whether a job may start: room in the windows of the last 60 s, and its worst case under every cap.
//!
//! The claim asks it, and so does whoever wants to know why nothing moves: one mechanism, one answer.

use std::collections::HashMap;

use rusqlite::Connection;

use super::candidate::Candidate;
use super::policy::Policy;
use super::told::{self, Told, UnderWay};
use super::windows::{Amount, Limits, Scarce, Windows};
use super::{Result, held};
use crate::calendar::LocalTime;
use crate::model::{CapScope, Money, Provider, Timestamp, WaitingReason};
use crate::pricing::Estimate;
use crate::profiles::limit_class;

/// What a call is promised before it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Promise {
    pub(super) amount: Amount,
    pub(super) micros: i64,
}

/// Whether a job may start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It may; what it may cost is promised. `None` for what costs nothing.
    Admit(Option<Promise>),
    /// It is passed over until something changes, and what of the kind `held` says why.
    PassOver { bit: i64, reason: WaitingReason },
    /// It has to wait, and all behind it in its lane that cost anything.
    Wait {
        reason: WaitingReason,
        /// When it may go on; `None` while only a person can change that.
        until: Option<Timestamp>,
        /// Whether for tokens or requests that all models share.
        shared: bool,
    },
}

/// Limits, caps and what is used of them at one moment.
#[derive(Clone, Debug)]
pub(super) struct Gate {
    pub(super) policy: Policy,
    pub(super) local: LocalTime,
    pub(super) windows: Windows,
    told: HashMap<String, Told>,
    under_way: UnderWay,
    pub(super) day: Money,
    pub(super) month: Money,
}

impl Gate {
    /// Reads what holds at a moment.
    pub(super) fn read(connection: &Connection, local: &LocalTime) -> Result<Self> {
        let policy = Policy::read(connection)?;
        Ok(Self {
            windows: Windows::read(connection, local.now)?,
            told: told::read(connection, local.now)?,
            under_way: UnderWay::read(connection, local.now)?,
            day: Money {
                cap_micros: policy.day_cap,
                ..day_money(connection, &local.day)?
            },
            month: Money {
                cap_micros: policy.month_cap,
                ..month_money(connection, local.month())?
            },
            policy,
            local: local.clone(),
        })
    }

    /// Returns the limits that the person set.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            requests: self.policy.requests,
            input: self.policy.input_tokens,
            output: self.policy.output_tokens,
            tokens: Some(self.policy.tokens),
        }
    }

    /// Returns the limits in force for a model: those told tighten the person's, never loosen them.
    pub(super) fn limits_of(&self, model: &str) -> Limits {
        let own = self.limits();
        let told = self.told_of(&limit_class(model)).limits;
        let tighter = |one: Option<u64>, other: Option<u64>| match (one, other) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        Limits {
            requests: tighter(own.requests, told.requests),
            input: tighter(own.input, told.input),
            output: tighter(own.output, told.output),
            tokens: tighter(own.tokens, told.tokens),
        }
    }

    fn told_of(&self, class: &str) -> Told {
        self.told.get(class).copied().unwrap_or_default()
    }

    /// Returns the limits as they are shown: the person's, tightened for the class of models that is used most.
    pub(super) fn tightest_limits(&self) -> Limits {
        match self.windows.busiest_class().or_else(|| self.newest_told()) {
            Some(class) => self.limits_of(&class),
            None => self.limits(),
        }
    }

    /// Returns the one class of models that limits were told of, where there is only one.
    fn newest_told(&self) -> Option<String> {
        let mut classes = self.told.keys();
        classes.next().filter(|_| classes.next().is_none()).cloned()
    }

    /// Says whether a call is larger than the budget of a whole minute.
    pub(super) fn is_oversized(&self, model: &str, estimate: &Estimate) -> bool {
        let amount = amount_of(estimate);
        self.limits_of(model).exceeded_by(amount).is_some()
    }

    /// Says whether a job may start now.
    pub(super) fn judge(&self, job: &Candidate) -> Verdict {
        if job.provider == Provider::Offline || job.has_answer {
            return Verdict::Admit(None);
        }
        let estimate = job.estimate();
        let Some(micros) = self.policy.prices.at_worst_micros(&job.model, &estimate) else {
            return Verdict::PassOver {
                bit: held::NO_PRICE,
                reason: WaitingReason::PriceUnknown {
                    model: job.model.clone(),
                },
            };
        };
        let amount = amount_of(&estimate);
        if let Err(verdict) = self.room_in_minute(job, amount) {
            return verdict;
        }
        if let Err(verdict) = self.room_under_caps(job, micros) {
            return verdict;
        }
        Verdict::Admit(Some(Promise { amount, micros }))
    }

    /// Says whether a job may be handed to the batch API now: that has limits of its own and takes nothing
    /// of the minute, but the caps hold.
    pub(super) fn judge_for_batch(&self, job: &Candidate) -> Verdict {
        if job.provider == Provider::Offline || job.has_answer {
            return Verdict::Admit(None);
        }
        let prices = &self.policy.prices;
        let Some(micros) = prices.batch_at_worst_micros(&job.model, &job.estimate()) else {
            return Verdict::PassOver {
                bit: held::NO_PRICE,
                reason: WaitingReason::PriceUnknown {
                    model: job.model.clone(),
                },
            };
        };
        match self.room_under_caps(job, micros) {
            Err(verdict) => verdict,
            Ok(()) => Verdict::Admit(Some(Promise {
                amount: Amount::default(),
                micros,
            })),
        }
    }

    fn room_in_minute(&self, job: &Candidate, amount: Amount) -> std::result::Result<(), Verdict> {
        let class = limit_class(&job.model);
        let told = self.told_of(&class);
        if let Some(until) = told.wait_until.filter(|until| *until > self.local.now) {
            return Err(Verdict::Wait {
                reason: WaitingReason::TokenBudget { until },
                until: Some(until),
                shared: false,
            });
        }
        if self.limits_of(&job.model).exceeded_by(amount).is_some() {
            // Larger than a whole minute: it runs alone, and holds up nobody.
            return if self.windows.is_empty() {
                Ok(())
            } else {
                Err(Verdict::PassOver {
                    bit: held::OVERSIZED,
                    reason: WaitingReason::LargerThanBudget,
                })
            };
        }
        let wait = |(scarce, free_at), shared| {
            // Said in whole seconds.
            let until = next_second(free_at);
            Verdict::Wait {
                reason: match scarce {
                    Scarce::Requests => WaitingReason::RequestsBudget { until },
                    Scarce::Tokens => WaitingReason::TokenBudget { until },
                },
                until: Some(free_at),
                shared,
            }
        };
        self.windows
            .room_for(amount, &self.limits(), None)
            .map_err(|short| wait(short, true))?;
        self.windows
            .room_for(amount, &told.limits, Some(&class))
            .map_err(|short| wait(short, false))?;
        told.room_left(amount, &self.under_way, &class, self.local.now)
            .map_err(|short| wait(short, false))
    }

    fn room_under_caps(&self, job: &Candidate, micros: i64) -> std::result::Result<(), Verdict> {
        if micros == 0 {
            return Ok(());
        }
        let over = |money: &Money, scope, until| {
            let needed_micros = money.committed_micros().saturating_add(micros);
            money
                .cap_micros
                .filter(|cap| needed_micros > *cap)
                .map(|cap_micros| WaitingReason::SpendCap {
                    scope,
                    cap_micros,
                    needed_micros,
                    until,
                })
        };
        if let Some(reason) = over(&self.month, CapScope::Month, Some(self.local.month_ends_at))
            .or_else(|| over(&self.day, CapScope::Day, Some(self.local.day_ends_at)))
        {
            let until = match reason {
                WaitingReason::SpendCap { until, .. } => until,
                _ => None,
            };
            return Err(Verdict::Wait {
                reason,
                until,
                shared: false,
            });
        }
        match over(&job.batch_money, CapScope::Batch, None) {
            Some(reason) => Err(Verdict::PassOver {
                bit: held::BATCH_CAPPED,
                reason,
            }),
            None => Ok(()),
        }
    }

    /// Counts what was promised.
    pub(super) fn promise(&mut self, model: &str, promise: Promise) {
        if promise.amount != Amount::default() {
            self.windows.promise(self.local.now, model, promise.amount);
            self.under_way.add(self.local.now, model, promise.amount);
        }
        self.day.reserved_micros += promise.micros;
        self.month.reserved_micros += promise.micros;
    }
}

/// Returns what a call is promised of the minute: what is usual, where that is known.
fn amount_of(estimate: &Estimate) -> Amount {
    Amount {
        requests: 1,
        input: estimate.likely_input,
        output: estimate.likely_output,
    }
}

/// Returns the whole second that a moment is or comes before.
fn next_second(moment: Timestamp) -> Timestamp {
    Timestamp(moment.0.saturating_add(999).div_euclid(1_000) * 1_000)
}

/// Returns what a local day (`2026-11-29`) has cost, without its cap.
fn day_money(connection: &Connection, day: &str) -> Result<Money> {
    money(
        connection,
        "SELECT coalesce(sum(settled), 0), coalesce(sum(unknown), 0), coalesce(sum(reserved), 0)
         FROM day_money WHERE day = ?1",
        day,
    )
}

/// Returns what a local month (`2026-11`) has cost, without its cap.
fn month_money(connection: &Connection, month: &str) -> Result<Money> {
    money(
        connection,
        "SELECT coalesce(sum(settled), 0), coalesce(sum(unknown), 0), coalesce(sum(reserved), 0)
         FROM day_money WHERE day >= ?1 || '-01' AND day <= ?1 || '-31'",
        month,
    )
}

fn money(connection: &Connection, sql: &str, key: &str) -> Result<Money> {
    Ok(connection.prepare_cached(sql)?.query_row([key], |row| {
        Ok(Money {
            settled_micros: row.get(0)?,
            unknown_micros: row.get(1)?,
            reserved_micros: row.get(2)?,
            cap_micros: None,
        })
    })?)
}
