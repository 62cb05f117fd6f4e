//! Opening and migrating the database.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rusqlite_migration::{M, Migrations};

use super::Result;
use crate::error::EngineError;

/// Every migration, in order. A released one is never edited.
pub(super) const MIGRATIONS: &[M<'static>] = &[
    M::up(include_str!("../../../../migrations/0001_foundation.sql")),
    M::up(include_str!("../../../../migrations/0002_budget.sql")),
    // Makes the table of jobs anew.
    M::up(include_str!("../../../../migrations/0003_results.sql")).foreign_key_check(),
    M::up(include_str!("../../../../migrations/0004_documents.sql")),
    M::up(include_str!("../../../../migrations/0005_endpoints.sql")),
    M::up(include_str!("../../../../migrations/0006_batch_lane.sql")),
    M::up(include_str!("../../../../migrations/0007_forecast.sql")),
    M::up(include_str!("../../../../migrations/0008_drain.sql")),
    M::up(include_str!("../../../../migrations/0009_reader.sql")),
];

/// How long a statement waits for another program that writes.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Statements kept prepared: a claim alone has about forty.
const STATEMENTS: usize = 200;

/// Opens the one writing connection, after bringing the schema up to date.
pub(super) fn writer(path: &Path) -> Result<Connection> {
    // Two programs that start at once must not migrate at once.
    let lock_path = path.with_extension("migrating");
    let lock = File::create(&lock_path).map_err(|source| EngineError::File {
        path: lock_path.clone(),
        action: "created",
        source,
    })?;
    lock.lock().map_err(|source| EngineError::File {
        path: lock_path,
        action: "locked",
        source,
    })?;
    let connection = prepare(path);
    drop(lock);
    connection
}

fn prepare(path: &Path) -> Result<Connection> {
    let mut connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let migrations = Migrations::from_slice(MIGRATIONS);
    let version: i64 = connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(|error| damaged_or(error, path))?;
    if usize::try_from(version).unwrap_or(usize::MAX) > MIGRATIONS.len() {
        return Err(EngineError::NewerDatabase {
            path: path.to_owned(),
        });
    }
    if version > 0 && usize::try_from(version).unwrap_or(0) < MIGRATIONS.len() {
        check(&connection, path)?;
        back_up(&connection, path, version)?;
    }
    if version == 0 {
        // Takes effect only while the database is empty; later it would only wait for the lock.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(|error| damaged_or(error, path))?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    // A table that others refer to can be made anew only without: what refers to it would go with the old one.
    connection.pragma_update(None, "foreign_keys", false)?;
    // In kibibytes: the indexes of a million jobs.
    connection.pragma_update(None, "cache_size", -32_768)?;
    // Merging the log less often than every 4 MB makes long runs faster; 16 MB are read in no time.
    connection.pragma_update(None, "wal_autocheckpoint", 4_096)?;
    // Statements are prepared once: without this, SQLite plans anew whenever a bound number changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.set_prepared_statement_cache_capacity(256);
    migrations
        .to_latest(&mut connection)
        .map_err(|error| match error {
            rusqlite_migration::Error::RusqliteError { err, .. } => damaged_or(err, path),
            other => EngineError::Internal(other.to_string()),
        })?;
    connection.pragma_update(None, "foreign_keys", true)?;
    Ok(connection)
}

/// Makes sure that a database is whole before it is changed for good.
fn check(connection: &Connection, path: &Path) -> Result<()> {
    let complaints = connection
        .prepare("PRAGMA integrity_check(3)")
        .and_then(|mut statement| {
            statement
                .query_map([], |row| row.get::<_, String>(0))?
                .collect::<rusqlite::Result<Vec<_>>>()
        })
        .map_err(|error| damaged_or(error, path))?;
    if complaints == ["ok"] {
        return Ok(());
    }
    Err(EngineError::DamagedDatabase {
        path: path.to_owned(),
        detail: complaints.join("; "),
    })
}

/// Keeps a copy of the database as it was before a migration (`gistmill-before-2.db`).
///
/// One that is there already is of an update that did not come to its end: the first copy counts.
fn back_up(connection: &Connection, path: &Path, version: i64) -> Result<()> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let backup = path.with_file_name(format!("{stem}-before-{}.db", version + 1));
    if backup.exists() {
        return Ok(());
    }
    // Under another name until it is whole.
    let unfinished = backup.with_extension("unfinished");
    if let Err(source) = std::fs::remove_file(&unfinished)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        return Err(EngineError::File {
            path: unfinished,
            action: "removed",
            source,
        });
    }
    connection.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])?;
    std::fs::rename(&unfinished, &backup).map_err(|source| EngineError::File {
        path: backup.clone(),
        action: "written",
        source,
    })?;
    tracing::info!(backup = %backup.display(), "the jobs were backed up before an update of the database");
    Ok(())
}

/// Opens a connection that can't write.
pub(super) fn reader(path: &Path) -> Result<Connection> {
    let connection = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    Ok(connection)
}

fn damaged_or(error: rusqlite::Error, path: &Path) -> EngineError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            EngineError::DamagedDatabase {
                path: path.to_owned(),
                detail: error.to_string(),
            }
        }
        _ => EngineError::Database(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn migrations_are_valid() {
        Migrations::from_slice(MIGRATIONS)
            .validate()
            .expect("every migration must run");
    }
}
