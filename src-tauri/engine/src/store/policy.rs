//! What the claim has to know of settings and prices, read within its own transaction: a cap that was
//! lowered a moment ago holds for the next call.

use rusqlite::{Connection, OptionalExtension as _};
use serde::de::DeserializeOwned;

use super::Result;
use crate::model::{BucketSettings, CopiesTo, ExportFormat, ModelPrice, QuietHours};
use crate::pricing::Prices;

/// Limits, caps and hours that a person set, and prices.
#[derive(Clone, Debug)]
pub(super) struct Policy {
    pub(super) requests: Option<u64>,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) tokens: u64,
    pub(super) day_cap: Option<i64>,
    pub(super) month_cap: Option<i64>,
    /// One claim in so many is bulk's while high waits for budget; 0 for none.
    pub(super) bulk_floor: u32,
    pub(super) quiet_hours: Option<QuietHours>,
    pub(super) prices: Prices,
}

impl Policy {
    /// Reads the policy in force.
    pub(super) fn read(connection: &Connection) -> Result<Self> {
        let defaults = crate::model::Settings::default();
        let limit = |name| -> Result<Option<u64>> {
            Ok(setting::<Option<u64>>(connection, name)?.flatten())
        };
        let cap = |name| -> Result<Option<i64>> {
            Ok(setting::<Option<i64>>(connection, name)?.flatten())
        };
        Ok(Self {
            requests: limit("requestsPerMinute")?,
            input_tokens: limit("inputTokensPerMinute")?,
            output_tokens: limit("outputTokensPerMinute")?,
            tokens: minute(connection)?,
            day_cap: cap("dayCapMicros")?,
            month_cap: cap("monthCapMicros")?,
            bulk_floor: setting(connection, "bulkFloor")?.unwrap_or(defaults.bulk_floor),
            quiet_hours: setting::<Option<QuietHours>>(connection, "quietHours")?.flatten(),
            prices: prices(connection)?,
        })
    }
}

/// Returns the tokens that a minute has room for.
pub(super) fn minute(connection: &Connection) -> Result<u64> {
    Ok(setting(connection, "tokensPerMinute")?
        .unwrap_or_else(|| u64::from(crate::model::Settings::default().tokens_per_minute)))
}

/// Returns a stored setting; `None` where it was never set, or not by a version that we understand.
fn setting<T: DeserializeOwned>(connection: &Connection, name: &str) -> Result<Option<T>> {
    let stored: Option<String> = connection
        .prepare_cached("SELECT value FROM settings WHERE name = ?1")?
        .query_row([name], |row| row.get(0))
        .optional()?;
    Ok(stored.and_then(|value| serde_json::from_str(&value).ok()))
}

/// Returns the bucket that results are uploaded to, if they are.
pub(super) fn bucket(connection: &Connection) -> Result<Option<BucketSettings>> {
    Ok(setting::<Option<BucketSettings>>(connection, "bucket")?
        .flatten()
        .filter(|bucket| bucket.enabled))
}

/// Returns the files that a finished batch leaves beside the copies of its results.
pub(super) fn batch_files(connection: &Connection) -> Result<Vec<ExportFormat>> {
    let defaults = crate::model::Settings::default();
    let copies: CopiesTo = setting(connection, "copiesTo")?.unwrap_or(defaults.copies_to);
    if copies == CopiesTo::Nowhere {
        return Ok(Vec::new());
    }
    let mut wanted = Vec::new();
    for (name, default, format) in [
        ("batchCsv", defaults.batch_csv, ExportFormat::Csv),
        ("batchJsonl", defaults.batch_jsonl, ExportFormat::Jsonl),
        (
            "batchMarkdown",
            defaults.batch_markdown,
            ExportFormat::Markdown,
        ),
    ] {
        if setting(connection, name)?.unwrap_or(default) {
            wanted.push(format);
        }
    }
    Ok(wanted)
}

/// Returns the prices in force.
pub(super) fn prices(connection: &Connection) -> Result<Prices> {
    let mut statement = connection.prepare_cached("SELECT price FROM prices")?;
    let stored = statement
        .query_map([], |row| row.get::<_, String>(0))?
        .collect::<rusqlite::Result<Vec<_>>>()?;
    // A price that this version can't read leaves the model without one of the person's.
    Ok(Prices::new(stored.iter().filter_map(|price| {
        serde_json::from_str::<ModelPrice>(price).ok()
    })))
}

/// Returns the hours at which bulk runs; `None` for all day.
pub(super) fn quiet_hours(connection: &Connection) -> Result<Option<QuietHours>> {
    Ok(setting::<Option<QuietHours>>(connection, "quietHours")?.flatten())
}

/// Says whether failures are told by HTTP.
pub(super) fn webhook_wanted(connection: &Connection) -> Result<bool> {
    Ok(setting::<Option<String>>(connection, "webhookUrl")?
        .flatten()
        .is_some())
}

/// Says whether finished batches are told by HTTP, too.
pub(super) fn webhook_hears_batches(connection: &Connection) -> Result<bool> {
    Ok(setting(connection, "webhookBatches")?.unwrap_or(false))
}

/// Says whether the desktop tells of finished batches.
pub(super) fn batches_are_notified(connection: &Connection) -> Result<bool> {
    Ok(setting(connection, "notifyBatches")?.unwrap_or(true))
}

/// Returns the cap of new batches, in micro-dollars.
pub(super) fn batch_cap(connection: &Connection) -> Result<Option<i64>> {
    Ok(setting::<Option<i64>>(connection, "batchCapMicros")?.flatten())
}
