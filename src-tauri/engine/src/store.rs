//! Where every state lives: one SQLite database, one thread that writes, a small pool that reads.
//!
//! All SQL of the product is in this folder, as named functions. Whoever awaits a write knows it to
//! be on disk: write-ahead log, `synchronous=FULL`, one commit for all that waited (group commit).

mod actions;
mod answers;
mod batches;
#[cfg(feature = "bench")]
pub mod bench;
mod candidate;
mod circuits;
mod claim;
mod complete;
mod conditions;
mod estimates;
mod exports;
mod finish;
mod gate;
mod held;
mod learned;
mod ledger;
mod lent;
mod lists;
mod models;
mod open;
mod order;
mod ordered;
mod outbox;
mod outlook;
mod overview;
mod parts;
mod pilots;
mod policy;
mod queues;
mod readers;
mod recover;
mod redrive;
mod remote;
mod reports;
mod results;
mod retention;
mod rows;
mod search;
mod settings;
mod submit;
mod templates;
#[cfg(test)]
mod tests;
mod told;
mod turns;
mod unlock;
mod uploads;
mod windows;
mod writer;

use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;

use crate::error::EngineError;

pub(crate) use actions::Purge;
pub(crate) use answers::NewAnswer;
pub(crate) use claim::{ClaimRequest, ClaimedJob, Lease};
pub(crate) use complete::NewResult;
pub(crate) use conditions::{Conditions, LaneConditions};
pub(crate) use exports::{ExportOutline, ExportRow, ExportTitle};
pub(crate) use finish::{AfterAttempt, AttemptEnd};
pub(crate) use learned::CountedFor;
pub(crate) use ledger::Settlement;
pub(crate) use lists::ListContext;
pub(crate) use outbox::{
    BatchFile, BatchToLeave, CopyOutcome, FailedJob, FinishedBatch, OpenedCircuit, ResultToCopy,
    ToTell, WebhookMessage,
};
pub(crate) use parts::PartAnswer;
pub(crate) use pilots::{PilotCall, PilotRow};
pub(crate) use redrive::{Changes, Redrivable};
pub(crate) use remote::{
    Created, GatherRequest, Looked, NewRequest, Refused, RemoteBatch, RemoteState, Sealing, TakenIn,
};
pub(crate) use reports::StepRow;
pub(crate) use results::Reusable;
pub(crate) use submit::{NewBatch, NewInput, NewJob};
pub(crate) use templates::{NewId, Removal};
pub(crate) use uploads::{Upload, UploadContent};

/// What every function of the store returns.
pub(crate) type Result<T> = std::result::Result<T, EngineError>;

/// The database of a data directory. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Store {
    writer: writer::Writer,
    readers: Arc<readers::Readers>,
}

impl Store {
    /// Returns the version of SQLite.
    pub(crate) fn engine_version() -> &'static str {
        rusqlite::version()
    }

    /// Opens the database, making or migrating it where needed.
    ///
    /// # Errors
    /// [`EngineError::NewerDatabase`], [`EngineError::DamagedDatabase`], or that the disk refuses.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let connection = open::writer(path)?;
        Ok(Self {
            writer: writer::Writer::start(connection)?,
            readers: Arc::new(readers::Readers::open(path)?),
        })
    }

    /// Runs `work` in the writing thread, within a transaction that is committed before this returns.
    ///
    /// It may be run twice, the first time undone, where a neighbour in the same transaction failed.
    async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T> + Send + 'static,
    {
        self.writer.run(work).await
    }

    /// Runs `work` in the writing thread without a transaction around it, for what can't run in one.
    async fn write_alone<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        self.writer.run_alone(work).await
    }

    /// Runs `work` on a read-only connection, within one snapshot.
    async fn read<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let readers = Arc::clone(&self.readers);
        tokio::task::spawn_blocking(move || readers.run(work))
            .await
            .map_err(|error| EngineError::Internal(error.to_string()))?
    }

    /// Returns a number that changes whenever another program has written to the database.
    pub(crate) async fn foreign_version(&self) -> Result<i64> {
        // Asked of the writer, since `data_version` leaves out the changes of the connection itself.
        self.writer
            .run_alone(|connection| {
                Ok(connection.query_row("PRAGMA data_version", [], |row| row.get(0))?)
            })
            .await
    }

    /// Writes everything to the database file proper and ends the writing thread.
    pub(crate) async fn close(&self) {
        self.writer.close().await;
    }
}
