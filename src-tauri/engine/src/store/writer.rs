//! The one thread that writes.
//!
//! Requests come by a channel, each with a place for its answer. All that wait are run in one
//! transaction, each in a savepoint of its own, and are answered after the commit.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::Result;
use crate::error::EngineError;

/// Most requests that share a commit, so that the first of them does not wait for ever.
const LARGEST_GROUP: usize = 256;

/// Run with the connection, or with the reason why there is no transaction.
type Work = Box<dyn FnOnce(Result<&Connection>) -> Ran + Send>;

/// What became of a request before the commit.
struct Ran {
    succeeded: bool,
    /// Answers whoever asked; `Some` with the error that undid the whole transaction.
    answer: Box<dyn FnOnce(Option<EngineError>) + Send>,
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
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let boxed: Work = Box::new(move |connection| {
            let outcome = connection.and_then(work);
            Ran {
                succeeded: outcome.is_ok(),
                answer: Box::new(move |undone| {
                    let answer = match undone {
                        Some(error) => Err(error),
                        None => outcome,
                    };
                    // Whoever asked may have gone; the work is done all the same.
                    drop(sender.send(answer));
                }),
            }
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

fn run_group(connection: &Connection, group: Vec<Work>) {
    if group.is_empty() {
        return;
    }
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE") {
        tracing::error!(%error, "no transaction could begin");
        for work in group {
            (work(Err(refusal(&error))).answer)(None);
        }
        return;
    }
    let mut ran = Vec::with_capacity(group.len());
    for work in group {
        ran.push(run_in_savepoint(connection, work));
    }
    let committed = if connection.is_autocommit() {
        // A full disk or an I/O error makes SQLite undo the transaction by itself.
        Err(undone_by_sqlite())
    } else {
        connection.execute_batch("COMMIT")
    };
    if committed.is_err()
        && !connection.is_autocommit()
        && let Err(error) = connection.execute_batch("ROLLBACK")
    {
        tracing::error!(%error, "a failed transaction could not be undone");
    }
    for one in ran {
        let undone = committed.as_ref().err().filter(|_| one.succeeded);
        (one.answer)(undone.map(refusal));
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

fn run_in_savepoint(connection: &Connection, work: Work) -> Ran {
    let opened = connection.execute_batch("SAVEPOINT request");
    let ran = work(Ok(connection));
    if opened.is_ok() && !connection.is_autocommit() {
        let close = if ran.succeeded {
            "RELEASE request"
        } else {
            "ROLLBACK TO request; RELEASE request"
        };
        if let Err(error) = connection.execute_batch(close) {
            tracing::error!(%error, "a savepoint could not be closed");
        }
    }
    ran
}
