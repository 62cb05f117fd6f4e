//! The rolling windows: what was used or promised within the last 60 s, by tenth of a second and by class of models.
//!
//! A call counts from the moment it was promised. What it used less than promised is given back to that
//! tenth; what it used more counts from the tenth in which that became known. Tenths, since whole seconds
//! would make a minute of 61 s, and leave a sixtieth of every limit unused.

use std::collections::HashMap;

use rusqlite::Connection;

use super::{Result, rows};
use crate::model::Timestamp;
use crate::profiles::limit_class;

/// Length of the windows in tenths of a second.
const WINDOW: i64 = 600;
/// Tenths after which what was used is forgotten.
const FORGET: i64 = 6_000;
/// A tenth of a second in milliseconds.
const TENTH: i64 = 100;

/// Requests and tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub(super) requests: u64,
    pub(super) input: u64,
    pub(super) output: u64,
}

impl Amount {
    pub(super) fn add(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
    }

    /// Returns input and output tokens together.
    pub(super) fn tokens(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// The most that may be used within a window; `None` for no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Limits {
    pub(super) requests: Option<u64>,
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) tokens: Option<u64>,
}

/// Which limit is in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scarce {
    Requests,
    Tokens,
}

impl Limits {
    /// Returns which of the limits `amount` is over.
    pub(super) fn exceeded_by(&self, amount: Amount) -> Option<Scarce> {
        let over = |limit: Option<u64>, used: u64| limit.is_some_and(|limit| used > limit);
        if over(self.requests, amount.requests) {
            Some(Scarce::Requests)
        } else if over(self.input, amount.input)
            || over(self.output, amount.output)
            || over(self.tokens, amount.tokens())
        {
            Some(Scarce::Tokens)
        } else {
            None
        }
    }
}

/// What each tenth of the window used.
#[derive(Clone, Debug, Default)]
pub(super) struct Windows {
    tenths: Vec<(i64, String, Amount)>,
}

/// Returns the tenth of a second that a moment lies in.
pub(super) fn tenth_of(moment: Timestamp) -> i64 {
    moment.0.div_euclid(TENTH)
}

/// Returns when a tenth leaves the window: its last moment is 60 s ago then.
fn leaves_at(tenth: i64) -> Timestamp {
    Timestamp((tenth + WINDOW + 1) * TENTH)
}

impl Windows {
    /// Reads what the 60 s before `now` used.
    pub(super) fn read(connection: &Connection, now: Timestamp) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT tenth, model, requests, input_tokens, output_tokens FROM usage_tenths
             WHERE tenth >= ?1 ORDER BY tenth",
        )?;
        let found = statement.query_map([tenth_of(now) - WINDOW], |row| {
            Ok((
                row.get(0)?,
                limit_class(&row.get::<_, String>(1)?).into_owned(),
                Amount {
                    requests: rows::unsigned(row, 2)?,
                    input: rows::unsigned(row, 3)?,
                    output: rows::unsigned(row, 4)?,
                },
            ))
        })?;
        Ok(Self {
            tenths: found.collect::<rusqlite::Result<_>>()?,
        })
    }

    /// Returns what the window used in all, or for one class of models.
    pub(super) fn used(&self, class: Option<&str>) -> Amount {
        let mut sum = Amount::default();
        for (_, of, amount) in &self.tenths {
            if class.is_none_or(|class| class == of) {
                sum.add(*amount);
            }
        }
        sum
    }

    /// Returns the class of models that used most tokens.
    pub(super) fn busiest_class(&self) -> Option<String> {
        let mut sums: HashMap<&str, u64> = HashMap::new();
        for (_, class, amount) in &self.tenths {
            *sums.entry(class).or_default() += amount.tokens();
        }
        let busiest = sums.into_iter().max_by_key(|(_, tokens)| *tokens)?;
        Some(busiest.0.to_owned())
    }

    /// Returns what each tenth used, of all models, oldest first.
    pub(super) fn by_tenth(&self) -> Vec<(i64, Amount)> {
        let mut sums: Vec<(i64, Amount)> = Vec::new();
        for (tenth, _, amount) in &self.tenths {
            match sums.last_mut() {
                Some((last, sum)) if last == tenth => sum.add(*amount),
                _ => sums.push((*tenth, *amount)),
            }
        }
        sums
    }

    /// Adds what is promised now.
    pub(super) fn promise(&mut self, now: Timestamp, model: &str, amount: Amount) {
        self.tenths
            .push((tenth_of(now), limit_class(model).into_owned(), amount));
    }

    /// Says whether nothing was used.
    pub(super) fn is_empty(&self) -> bool {
        self.tenths
            .iter()
            .all(|(_, _, amount)| *amount == Amount::default())
    }

    /// Returns whether `wanted` fits, else what is scarce and when there is room for it.
    ///
    /// `limits` are over all models, or over a class of them.
    pub(super) fn room_for(
        &self,
        wanted: Amount,
        limits: &Limits,
        class: Option<&str>,
    ) -> std::result::Result<(), (Scarce, Timestamp)> {
        let mut amount = self.used(class);
        amount.add(wanted);
        let Some(mut scarce) = limits.exceeded_by(amount) else {
            return Ok(());
        };
        // One after another, as they leave the window.
        for (tenth, of, left) in &self.tenths {
            if class.is_none_or(|class| class == of) {
                amount.requests -= left.requests.min(amount.requests);
                amount.input -= left.input.min(amount.input);
                amount.output -= left.output.min(amount.output);
                match limits.exceeded_by(amount) {
                    None => return Err((scarce, leaves_at(*tenth))),
                    Some(still) => scarce = still,
                }
            }
        }
        let last = self.tenths.last().map_or(0, |(tenth, ..)| *tenth);
        Err((scarce, leaves_at(last)))
    }

    /// Returns when nothing that was used so far counts any more.
    pub(super) fn empty_at(&self) -> Option<Timestamp> {
        self.tenths.last().map(|(tenth, ..)| leaves_at(*tenth))
    }
}

/// Makes the windows fit for use at `now`.
///
/// Where the clock went back, what was used "in the future" counts as used now: it leaves the window
/// after 60 s, as it would have, instead of holding everything until the clock has caught up.
pub(super) fn tidy(connection: &Connection, now: Timestamp) -> Result<()> {
    let present = tenth_of(now);
    connection
        .prepare_cached("DELETE FROM usage_tenths WHERE tenth < ?1")?
        .execute([present - FORGET])?;
    let ahead: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM usage_tenths WHERE tenth > ?1)")?
        .query_row([present], |row| row.get(0))?;
    if ahead {
        let mut sums: HashMap<String, Amount> = HashMap::new();
        let mut statement = connection.prepare_cached(
            "DELETE FROM usage_tenths WHERE tenth > ?1
             RETURNING model, requests, input_tokens, output_tokens",
        )?;
        let mut found = statement.query([present])?;
        while let Some(row) = found.next()? {
            sums.entry(row.get(0)?).or_default().add(Amount {
                requests: rows::unsigned(row, 1)?,
                input: rows::unsigned(row, 2)?,
                output: rows::unsigned(row, 3)?,
            });
        }
        for (model, amount) in &sums {
            record(connection, present, model, *amount)?;
        }
        connection
            .prepare_cached(
                "UPDATE ledger SET tenth = ?1
                 WHERE state IN ('reserved', 'unknown') AND tenth > ?1",
            )?
            .execute([present])?;
    }
    Ok(())
}

/// Adds to what a tenth of a second used.
pub(super) fn record(
    connection: &Connection,
    tenth: i64,
    model: &str,
    amount: Amount,
) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO usage_tenths (tenth, model, requests, input_tokens, output_tokens)
             VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO UPDATE SET requests = requests + excluded.requests,
                 input_tokens = input_tokens + excluded.input_tokens,
                 output_tokens = output_tokens + excluded.output_tokens",
        )?
        .execute((
            tenth,
            model,
            amount.requests.cast_signed(),
            amount.input.cast_signed(),
            amount.output.cast_signed(),
        ))?;
    Ok(())
}

/// Takes back what a tenth of a second was promised and did not use.
pub(super) fn give_back(
    connection: &Connection,
    tenth: i64,
    model: &str,
    amount: Amount,
) -> Result<()> {
    connection
        .prepare_cached(
            "UPDATE usage_tenths SET requests = max(0, requests - ?3),
                 input_tokens = max(0, input_tokens - ?4),
                 output_tokens = max(0, output_tokens - ?5)
             WHERE tenth = ?1 AND model = ?2",
        )?
        .execute((
            tenth,
            model,
            amount.requests.cast_signed(),
            amount.input.cast_signed(),
            amount.output.cast_signed(),
        ))?;
    Ok(())
}
