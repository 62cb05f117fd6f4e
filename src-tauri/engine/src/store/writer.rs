//! The one thread that writes.
//!
//! Requests come by a channel, each with a place for its answer. All that wait are run in one
//! transaction and are answered after the commit. Where one of them fails, all are undone and run
//! again, each in a savepoint of its own, so that it undoes nobody else.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::Result;
use crate::error::EngineError;

/// Most requests that share a commit, so that the first of them does not wait for ever.
const LARGEST_GROUP: usize = 256;

/// A change that somebody waits for.
trait Change: Send {
    /// Makes the change, or makes it anew after it was undone. Says whether it succeeded.
    fn make(&mut self, connection: &Connection) -> bool;
    /// Answers whoever asked; with the error that undid the change, if one did.
    fn answer(self: Box<Self>, undone: Option<EngineError>);
}

type Work = Box<dyn Change>;

struct Asked<T, F> {
    work: F,
    outcome: Option<Result<T>>,
    sender: oneshot::Sender<Result<T>>,
}

impl<T, F> Change for Asked<T, F>
where
    T: Send,
    F: FnMut(&Connection) -> Result<T> + Send,
{
    fn make(&mut self, connection: &Connection) -> bool {
        let outcome = (self.work)(connection);
        let succeeded = outcome.is_ok();
        self.outcome = Some(outcome);
        succeeded
    }

    fn answer(self: Box<Self>, undone: Option<EngineError>) {
        let answer = match undone {
            Some(error) => Err(error),
            None => self.outcome.unwrap_or(Err(EngineError::Closed)),
        };
        // Whoever asked may have gone; the work is done all the same.
        drop(self.sender.send(answer));
    }
}

enum Request {
    /// Shares a transaction with those beside it.
    Work(Work),
    /// Runs between two transactions.
    Alone(Box<dyn FnOnce(&Connection) + Send>),
    Close(oneshot::Sender<()>),
}

/// The way to the writing thread. Cheap to clone.
#[derive(Clone)]
pub(super) struct Writer {
    requests: mpsc::Sender<Request>,
}

impl Writer {
    /// Starts the thread; it owns `connection` and ends at [`Writer::close`] or with the last clone.
    pub(super) fn start(connection: Connection) -> Result<Self> {
        let (requests, queue) = mpsc::channel();
        thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || serve(&connection, &queue))
            .map_err(|error| EngineError::Internal(error.to_string()))?;
        Ok(Self { requests })
    }

    /// Runs `work` and returns its answer once it is committed. An error of `work` undoes only itself.
    ///
    /// It may be run twice, the first time undone: it must depend on nothing but the database.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&Connection) -> Result<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let boxed: Work = Box::new(Asked {
            work,
            outcome: None,
            sender,
        });
        self.requests
            .send(Request::Work(boxed))
            .map_err(|_| EngineError::Closed)?;
        receiver.await.map_err(|_| EngineError::Closed)?
    }

    /// Runs `work` between two transactions, and returns its answer.
    pub(super) async fn run_alone<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let boxed = Box::new(move |connection: &Connection| {
            // Whoever asked may have gone.
            drop(sender.send(work(connection)));
        });
        self.requests
            .send(Request::Alone(boxed))
            .map_err(|_| EngineError::Closed)?;
        receiver.await.map_err(|_| EngineError::Closed)?
    }

    /// Ends the thread after all that was asked before.
    pub(super) async fn close(&self) {
        let (sender, receiver) = oneshot::channel();
        if self.requests.send(Request::Close(sender)).is_ok() {
            // An error means that it has ended already.
            drop(receiver.await);
        }
    }
}

fn serve(connection: &Connection, queue: &mpsc::Receiver<Request>) {
    while let Ok(first) = queue.recv() {
        let mut group = Vec::new();
        let mut alone = None;
        let mut closing = None;
        for request in std::iter::once(first).chain(queue.try_iter().take(LARGEST_GROUP - 1)) {
            match request {
                Request::Work(work) => group.push(work),
                Request::Alone(work) => {
                    alone = Some(work);
                    break;
                }
                Request::Close(sender) => {
                    closing = Some(sender);
                    break;
                }
            }
        }
        run_group(connection, group);
        if let Some(work) = alone {
            work(connection);
        }
        if let Some(sender) = closing {
            // Failing means that another program still reads or writes: it checkpoints later, and ending
            // must not wait for it.
            let merged = connection.busy_timeout(Duration::ZERO).and_then(|()| {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
            });
            if let Err(error) = merged {
                tracing::debug!(%error, "the log was not merged at closing");
            }
            // Whoever asked may have gone.
            sender.send(()).ok();
            return;
        }
    }
}

fn run_group(connection: &Connection, mut group: Vec<Work>) {
    if group.is_empty() {
        return;
    }
    // Without savepoints, which cost as much as the work: hardly any request fails.
    match together(connection, &mut group) {
        Ok(true) => answer_all(group, None),
        Err(error) => answer_all(group, Some(&error)),
        // One failed, and what it had changed is undone with all the others: each by itself now.
        Ok(false) => match apart(connection, &mut group) {
            Ok(()) => {
                // One that failed has the reason itself.
                answer_all(group, None);
            }
            Err(error) => answer_all(group, Some(&error)),
        },
    }
}

fn answer_all(group: Vec<Work>, undone: Option<&rusqlite::Error>) {
    if let Some(error) = undone {
        tracing::error!(%error, requests = group.len(), "changes could not be stored");
    }
    for work in group {
        work.answer(undone.map(refusal));
    }
}

/// Makes all changes in one transaction. `false` when one of them failed: then none is made.
fn together(connection: &Connection, group: &mut [Work]) -> rusqlite::Result<bool> {
    begin(connection)?;
    let succeeded = group.iter_mut().all(|work| work.make(connection));
    if !succeeded {
        undo(connection);
        return Ok(false);
    }
    commit(connection)?;
    Ok(true)
}

/// Makes each change in a savepoint of its own: those that fail undo only themselves.
fn apart(connection: &Connection, group: &mut [Work]) -> rusqlite::Result<()> {
    begin(connection)?;
    for work in group {
        connection.execute_batch("SAVEPOINT request")?;
        let succeeded = work.make(connection);
        if connection.is_autocommit() {
            // A full disk or an I/O error makes SQLite undo the transaction by itself.
            return Err(undone_by_sqlite());
        }
        let close = if succeeded {
            "RELEASE request"
        } else {
            "ROLLBACK TO request; RELEASE request"
        };
        connection.execute_batch(close)?;
    }
    commit(connection)
}

fn begin(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .prepare_cached("BEGIN IMMEDIATE")?
        .execute([])
        .map(|_| ())
}

fn commit(connection: &Connection) -> rusqlite::Result<()> {
    if connection.is_autocommit() {
        return Err(undone_by_sqlite());
    }
    let committed = connection
        .prepare_cached("COMMIT")
        .and_then(|mut statement| statement.execute([]));
    if committed.is_err() {
        undo(connection);
    }
    committed.map(|_| ())
}

fn undo(connection: &Connection) {
    if !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a failed transaction could not be undone");
    }
}

/// Returns the error of a transaction that could not begin or be committed, for one of its requests.
fn refusal(error: &rusqlite::Error) -> EngineError {
    let code = error
        .sqlite_error()
        .map_or(rusqlite::ffi::SQLITE_IOERR, |error| error.extended_code);
    EngineError::Database(rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(code),
        Some(error.to_string()),
    ))
}

/// What is known of a transaction that is gone before its commit.
fn undone_by_sqlite() -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL),
        Some("the disk refused the change".to_owned()),
    )
}
