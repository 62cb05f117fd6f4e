//! What addresses told of their models.

use rusqlite::{Connection, OptionalExtension as _};

use super::{Result, Store};
use crate::error::EngineError;
use crate::model::{ModelProfile, Timestamp};
use crate::pricing::Ceiling;
use crate::profiles::{self, Profiles};

/// The address that whoever works the queue asks at, as the setting that nobody sets. Parts that are planned
/// within a transaction depend on it.
const ASKED_AT: &str = "askedAt";

impl Store {
    /// Replaces what is known of the models at an address.
    pub(crate) async fn tell_models(
        &self,
        address: String,
        models: Vec<ModelProfile>,
        now: Timestamp,
    ) -> Result<()> {
        self.write(move |connection| {
            connection
                .prepare_cached("DELETE FROM told_models WHERE address = ?1")?
                .execute([&address])?;
            let mut insert = connection.prepare_cached(
                "INSERT OR REPLACE INTO told_models (address, model, profile, told_at)
                 VALUES (?1, ?2, ?3, ?4)",
            )?;
            for profile in &models {
                let stored = serde_json::to_string(profile)
                    .map_err(|error| EngineError::Internal(error.to_string()))?;
                insert.execute((&address, &profile.model, stored, now.0))?;
            }
            Ok(())
        })
        .await
    }

    /// Returns what is known of models at an address.
    pub(crate) async fn profiles(&self, address: String) -> Result<Profiles> {
        self.read(move |connection| {
            let mut statement =
                connection.prepare_cached("SELECT profile FROM told_models WHERE address = ?1")?;
            let stored = statement
                .query_map([address], |row| row.get::<_, String>(0))?
                .collect::<rusqlite::Result<Vec<_>>>()?;
            Ok(Profiles::new(stored.iter().filter_map(|text| read(text))))
        })
        .await
    }

    /// Returns when an address told of its models last; `None` when it never did.
    pub(crate) async fn models_told_at(&self, address: String) -> Result<Option<Timestamp>> {
        self.read(move |connection| {
            let told: Option<i64> = connection
                .prepare_cached("SELECT max(told_at) FROM told_models WHERE address = ?1")?
                .query_row([address], |row| row.get(0))?;
            Ok(told.map(Timestamp))
        })
        .await
    }

    /// Notes the address that Claude is asked at from now on, and whether it takes files.
    pub(crate) async fn note_address(&self, address: String, files: bool) -> Result<()> {
        self.write(move |connection| {
            let stored = serde_json::json!({"address": address, "files": files}).to_string();
            connection
                .prepare_cached(
                    "INSERT INTO settings (name, value) VALUES (?1, ?2)
                     ON CONFLICT (name) DO UPDATE SET value = excluded.value
                     WHERE value <> excluded.value",
                )?
                .execute((ASKED_AT, stored))?;
            Ok(())
        })
        .await
    }

    /// Notes that the address in force takes no files after all.
    pub(crate) async fn note_files_refused(&self) -> Result<()> {
        self.write(|connection| {
            connection
                .prepare_cached(
                    "UPDATE settings SET value = json_set(value, '$.files', json('false'))
                     WHERE name = ?1",
                )?
                .execute([ASKED_AT])?;
            Ok(())
        })
        .await
    }
}

/// Reads a stored profile; one of another version is as good as none.
fn read(text: &str) -> Option<ModelProfile> {
    serde_json::from_str(text).ok()
}

/// Returns the most that a call to a model takes at the address in force.
pub(super) fn ceiling(connection: &Connection, model: &str) -> Result<Ceiling> {
    let asked_at = connection
        .prepare_cached(
            "SELECT json_extract(value, '$.address'), json_extract(value, '$.files') FROM settings
             WHERE name = ?1",
        )?
        .query_row([ASKED_AT], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, bool>(1)?))
        })
        .optional()?;
    let Some((address, files)) = asked_at else {
        return Ok(Ceiling::of(&profiles::shipped(model)));
    };
    let told: Option<String> = connection
        .prepare_cached("SELECT profile FROM told_models WHERE address = ?1 AND model = ?2")?
        .query_row((address, model), |row| row.get(0))
        .optional()?;
    let profile = told
        .and_then(|text| read(&text))
        .unwrap_or_else(|| profiles::shipped(model));
    let ceiling = Ceiling::of(&profile);
    Ok(if files { ceiling.with_files() } else { ceiling })
}
