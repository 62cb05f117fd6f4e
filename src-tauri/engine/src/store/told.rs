//! What the provider told of a class of models: the limits of a minute, what was left of them, and until when it
//! wants no more.
//!
//! All of it tightens what the person set, and none of it loosens that. What was left shows what others of the same
//! organization use: a bucket that is emptier than our own calls made it is waited for until it has filled up.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _, Row, named_params};

use super::windows::{Amount, Limits, Scarce, tenth_of};
use super::{Result, Store, held, rows};
use crate::model::{Left, Timestamp, ToldLeft, ToldLimits};
use crate::profiles::limit_class;

/// A minute in milliseconds, in which a bucket fills up.
const MINUTE: u64 = 60_000;
/// Tenths of a second for which what was left may be of interest.
const RECENT: i64 = 1_800;
/// What is left of tokens is told to the nearest thousand.
const ROUNDED_BY: u64 = 500;

/// What was told of a class of models.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    pub(super) limits: Limits,
    pub(super) wait_until: Option<Timestamp>,
    left: ToldLeft,
}

/// One limit, seen at one moment.
struct Bucket {
    limit: Option<u64>,
    left: Option<Left>,
    wanted: u64,
    /// What was promised since the bucket was looked at.
    promised: u64,
    rounded_by: u64,
    scarce: Scarce,
}

impl Bucket {
    /// Returns when there is room for what is wanted; `None` where there is now, or nobody knows better.
    fn room_at(&self, looked_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
        let (limit, left) = (self.limit?, self.left?);
        if now >= left.full_at {
            return None;
        }
        let needed = self.wanted.saturating_add(self.promised);
        let missing = needed.saturating_sub(left.amount.saturating_add(self.rounded_by));
        let filling = missing.saturating_mul(MINUTE).div_ceil(limit.max(1));
        let free_at = looked_at.0.saturating_add_unsigned(filling);
        let free_at = Timestamp(free_at.min(left.full_at.0));
        (free_at > now).then_some(free_at)
    }
}

impl Told {
    /// Returns whether what was left has room for a call to a class of models, else what is scarce and until when.
    pub(super) fn room_left(
        &self,
        wanted: Amount,
        under_way: &UnderWay,
        class: &str,
        now: Timestamp,
    ) -> std::result::Result<(), (Scarce, Timestamp)> {
        // Where the clock went back behind the telling, nobody knows how much has filled up since.
        let Some(looked_at) = self.left.at.filter(|at| *at <= now) else {
            return Ok(());
        };
        let promised = under_way.since(looked_at, class);
        let tokens = |limit, left, wanted, promised| Bucket {
            limit,
            left,
            wanted,
            promised,
            rounded_by: ROUNDED_BY,
            scarce: Scarce::Tokens,
        };
        let (limits, left) = (self.limits, self.left);
        let buckets = [
            Bucket {
                limit: limits.requests,
                left: left.requests,
                wanted: wanted.requests,
                promised: promised.requests,
                rounded_by: 0,
                scarce: Scarce::Requests,
            },
            tokens(
                limits.input,
                left.input_tokens,
                wanted.input,
                promised.input,
            ),
            tokens(
                limits.output,
                left.output_tokens,
                wanted.output,
                promised.output,
            ),
            tokens(
                limits.tokens,
                left.tokens,
                wanted.tokens(),
                promised.tokens(),
            ),
        ];
        let latest = buckets
            .iter()
            .filter_map(|bucket| Some((bucket.scarce, bucket.room_at(looked_at, now)?)))
            .max_by_key(|(_, until)| *until);
        match latest {
            None => Ok(()),
            Some((scarce, until)) => Err((scarce, until)),
        }
    }
}

/// Calls that are under way, with the moments at which they were promised what they may take.
///
/// Those that ended have told what was left since.
#[derive(Clone, Debug, Default)]
pub(super) struct UnderWay(Vec<(Timestamp, String, Amount)>);

impl UnderWay {
    /// Reads the calls of the last minutes.
    pub(super) fn read(connection: &Connection, now: Timestamp) -> Result<Self> {
        let mut statement = connection.prepare_cached(
            "SELECT reserved_at, model, requests, input_tokens, output_tokens FROM ledger
             WHERE state = 'reserved' AND tenth >= ?1",
        )?;
        let found = statement.query_map([tenth_of(now) - RECENT], |row| {
            Ok((
                Timestamp(row.get(0)?),
                limit_class(&row.get::<_, String>(1)?).into_owned(),
                Amount {
                    requests: rows::unsigned(row, 2)?,
                    input: rows::unsigned(row, 3)?,
                    output: rows::unsigned(row, 4)?,
                },
            ))
        })?;
        Ok(Self(found.collect::<rusqlite::Result<_>>()?))
    }

    /// Adds a call that is promised now.
    pub(super) fn add(&mut self, now: Timestamp, model: &str, amount: Amount) {
        self.0.push((now, limit_class(model).into_owned(), amount));
    }

    /// Returns what a class of models was promised since a moment.
    fn since(&self, moment: Timestamp, class: &str) -> Amount {
        let mut sum = Amount::default();
        for (at, of, amount) in &self.0 {
            if *at >= moment && of == class {
                sum.add(*amount);
            }
        }
        sum
    }
}

/// Reads what was told, by class.
pub(super) fn read(connection: &Connection, now: Timestamp) -> Result<HashMap<String, Told>> {
    // Where the clock went back behind the telling, nobody knows how much of the wait is left.
    let mut statement = connection.prepare_cached(
        "SELECT class, requests, input_tokens, output_tokens, tokens,
                CASE WHEN told_at <= ?1 THEN wait_until END,
                left_at, requests_left, requests_full, input_left, input_full, output_left, output_full,
                tokens_left, tokens_full
         FROM told_limits",
    )?;
    let found = statement.query_map([now.0], |row| {
        let told = Told {
            limits: Limits {
                requests: rows::optional_unsigned(row, 1)?,
                input: rows::optional_unsigned(row, 2)?,
                output: rows::optional_unsigned(row, 3)?,
                tokens: rows::optional_unsigned(row, 4)?,
            },
            wait_until: rows::optional_timestamp(row, 5)?,
            left: ToldLeft {
                at: rows::optional_timestamp(row, 6)?,
                requests: left(row, 7)?,
                input_tokens: left(row, 9)?,
                output_tokens: left(row, 11)?,
                tokens: left(row, 13)?,
            },
        };
        Ok((row.get(0)?, told))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

fn left(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Left>> {
    let amount = rows::optional_unsigned(row, at)?;
    let full_at = rows::optional_timestamp(row, at + 1)?;
    Ok(amount
        .zip(full_at)
        .map(|(amount, full_at)| Left { amount, full_at }))
}

impl Store {
    /// Remembers limits that were told for a model, and until when it wants no more of it.
    pub(crate) async fn note_limits(
        &self,
        model: String,
        limits: Option<ToldLimits>,
        wait_until: Option<Timestamp>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| note_limits(connection, &model, limits, wait_until, now))
            .await
    }

    /// Returns the limits that were told last for a model.
    pub(crate) async fn told_limits(&self, model: String, now: Timestamp) -> Result<ToldLimits> {
        self.read(move |connection| {
            let told = read(connection, now)?
                .remove(limit_class(&model).as_ref())
                .unwrap_or_default();
            Ok(ToldLimits {
                requests: told.limits.requests,
                input_tokens: told.limits.input,
                output_tokens: told.limits.output,
                tokens: told.limits.tokens,
                left: told.left,
            })
        })
        .await
    }

    /// Forgets all limits that were told: another address has others.
    pub(crate) async fn forget_limits(&self) -> Result<()> {
        self.write(|connection| {
            connection.execute("DELETE FROM told_limits", [])?;
            held::look_again(connection, held::OVERSIZED)
        })
        .await
    }
}

pub(super) fn note_limits(
    connection: &Connection,
    model: &str,
    limits: Option<ToldLimits>,
    wait_until: Option<Timestamp>,
    now: Timestamp,
) -> Result<()> {
    let limits = limits.unwrap_or_default();
    let class = limit_class(model);
    let before = limits_of(connection, &class)?;
    let part = |limit: Option<u64>| limit.filter(|limit| *limit > 0).map(u64::cast_signed);
    connection
        .prepare_cached(
            "INSERT INTO told_limits (class, requests, input_tokens, output_tokens, tokens, wait_until,
                                      told_at)
             VALUES (:class, :requests, :input, :output, :tokens, :wait_until, :now)
             ON CONFLICT DO UPDATE SET
                 requests = coalesce(excluded.requests, requests),
                 input_tokens = coalesce(excluded.input_tokens, input_tokens),
                 output_tokens = coalesce(excluded.output_tokens, output_tokens),
                 tokens = coalesce(excluded.tokens, tokens),
                 wait_until = coalesce(excluded.wait_until, wait_until),
                 told_at = excluded.told_at",
        )?
        .execute(named_params! {
            ":class": class,
            ":requests": part(limits.requests),
            ":input": part(limits.input_tokens),
            ":output": part(limits.output_tokens),
            ":tokens": part(limits.tokens),
            ":wait_until": wait_until.map(|moment| moment.0),
            ":now": now.0,
        })?;
    note_left(connection, &class, limits.left, now)?;
    if before.is_some_and(|before| Some(before) == limits_of(connection, &class).ok().flatten()) {
        return Ok(());
    }
    // What was larger than a minute may not be any more.
    held::look_again(connection, held::OVERSIZED)
}

/// Notes what was left, unless a later look at the same buckets is known already: answers end in another order
/// than they began.
fn note_left(connection: &Connection, class: &str, left: ToldLeft, now: Timestamp) -> Result<()> {
    let Some(at) = left.at else {
        return Ok(());
    };
    let amount = |left: Option<Left>| left.map(|left| left.amount.cast_signed());
    let full = |left: Option<Left>| left.map(|left| left.full_at.0);
    connection
        .prepare_cached(
            "UPDATE told_limits SET requests_left = :requests_left, requests_full = :requests_full,
                 input_left = :input_left, input_full = :input_full, output_left = :output_left,
                 output_full = :output_full, tokens_left = :tokens_left, tokens_full = :tokens_full,
                 left_at = :at
             WHERE class = :class AND (left_at IS NULL OR left_at <= :at OR left_at > :now)",
        )?
        .execute(named_params! {
            ":class": class,
            ":requests_left": amount(left.requests),
            ":requests_full": full(left.requests),
            ":input_left": amount(left.input_tokens),
            ":input_full": full(left.input_tokens),
            ":output_left": amount(left.output_tokens),
            ":output_full": full(left.output_tokens),
            ":tokens_left": amount(left.tokens),
            ":tokens_full": full(left.tokens),
            ":at": at.0,
            ":now": now.0,
        })?;
    Ok(())
}

/// Returns the limits that are known of a class; `None` where nothing was told of it.
fn limits_of(connection: &Connection, class: &str) -> Result<Option<[Option<i64>; 4]>> {
    Ok(connection
        .prepare_cached(
            "SELECT requests, input_tokens, output_tokens, tokens FROM told_limits WHERE class = ?1",
        )?
        .query_row([class], |row| {
            Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?])
        })
        .optional()?)
}
