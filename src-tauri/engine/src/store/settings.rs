//! Settings: one row a name, each value as JSON.

use rusqlite::{Connection, OptionalExtension as _};
use serde_json::{Map, Value};

use super::{Result, Store, held};
use crate::error::EngineError;
use crate::model::{ModelPrice, Settings, Timestamp};

/// When the key in the keychain was changed; the key itself is never here.
const KEY_CHANGED_AT: &str = "keyChangedAt";

impl Store {
    /// Returns the settings; what was never set has its default.
    pub(crate) async fn settings(&self) -> Result<Settings> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT name, value FROM settings")?;
            let stored = statement
                .query_map([], |row| {
                    Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
                })?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            let stored: Vec<(String, Value)> = stored
                .into_iter()
                .filter_map(|(name, value)| Some((name, serde_json::from_str(&value).ok()?)))
                .collect();
            let defaults = as_map(&Settings::default())?;
            let mut all = defaults.clone();
            all.extend(stored.iter().cloned());
            if let Ok(settings) = serde_json::from_value(Value::Object(all)) {
                return Ok(settings);
            }
            let mut known = defaults;
            for (name, value) in stored {
                // A value that this version can't read (made by another one) leaves the default.
                let mut candidate = known.clone();
                candidate.insert(name, value);
                if serde_json::from_value::<Settings>(Value::Object(candidate.clone())).is_ok() {
                    known = candidate;
                }
            }
            serde_json::from_value(Value::Object(known))
                .map_err(|error| EngineError::Internal(error.to_string()))
        })
        .await
    }

    /// Notes that the key in the keychain was changed, so that other programs on this data read it anew.
    pub(crate) async fn note_key_change(&self, now: Timestamp) -> Result<()> {
        self.write(move |connection| {
            connection.execute(
                "INSERT INTO settings (name, value) VALUES (?1, ?2)
                 ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (KEY_CHANGED_AT, now.0.to_string()),
            )?;
            Ok(())
        })
        .await
    }

    /// Returns when the key in the keychain was changed last, by whichever program.
    pub(crate) async fn key_changed_at(&self) -> Result<Option<String>> {
        self.read(|connection| {
            Ok(connection
                .query_row(
                    "SELECT value FROM settings WHERE name = ?1",
                    [KEY_CHANGED_AT],
                    |row| row.get(0),
                )
                .optional()?)
        })
        .await
    }

    /// Stores the settings.
    pub(crate) async fn save_settings(&self, settings: Settings) -> Result<()> {
        self.write(move |connection| save_settings(connection, &settings))
            .await
    }
}

impl Store {
    /// Sets a model's price in place of the shipped one.
    pub(crate) async fn save_price(&self, price: ModelPrice) -> Result<()> {
        self.write(move |connection| save_price(connection, &price))
            .await
    }

    /// Forgets the price that a person set for a model.
    pub(crate) async fn remove_price(&self, model: String) -> Result<()> {
        self.write(move |connection| remove_price(connection, &model))
            .await
    }
}

pub(super) fn save_settings(connection: &Connection, settings: &Settings) -> Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO settings (name, value) VALUES (?1, ?2)
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    )?;
    for (name, value) in as_map(settings)? {
        statement.execute((name, value.to_string()))?;
    }
    // What was larger than a minute may not be any more.
    held::look_again(connection, held::OVERSIZED)
}

pub(super) fn save_price(connection: &Connection, price: &ModelPrice) -> Result<()> {
    let stored =
        serde_json::to_string(price).map_err(|error| EngineError::Internal(error.to_string()))?;
    connection.execute(
        "INSERT INTO prices (model, price) VALUES (?1, ?2)
         ON CONFLICT (model) DO UPDATE SET price = excluded.price",
        (&price.model, stored),
    )?;
    held::look_again(connection, held::NO_PRICE)
}

pub(super) fn remove_price(connection: &Connection, model: &str) -> Result<()> {
    connection.execute("DELETE FROM prices WHERE model = ?1", [model])?;
    held::look_again(connection, held::NO_PRICE)
}

fn as_map(settings: &Settings) -> Result<Map<String, Value>> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(map)) => Ok(map),
        other => Err(EngineError::Internal(format!(
            "settings are not an object: {other:?}"
        ))),
    }
}
