//! The pool of read-only connections.

use std::path::Path;
use std::sync::{Condvar, Mutex, PoisonError};

use rusqlite::Connection;

use super::{Result, open};

/// Enough for a window, a list that is being exported, and the consumer.
const READERS: usize = 4;

/// Read-only connections, handed out one at a time. Blocks; called from blocking threads only.
pub(super) struct Readers {
    idle: Mutex<Vec<Connection>>,
    returned: Condvar,
}

impl Readers {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let idle = (0..READERS)
            .map(|_| open::reader(path))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            idle: Mutex::new(idle),
            returned: Condvar::new(),
        })
    }

    /// Runs `work` within one snapshot.
    pub(super) fn run<T>(&self, work: impl FnOnce(&Connection) -> Result<T>) -> Result<T> {
        let mut lent = Lent {
            readers: self,
            connection: Some(self.take()),
        };
        let Some(connection) = lent.connection.as_mut() else {
            unreachable!("a lent connection is there until it is given back")
        };
        let snapshot = connection.transaction()?;
        work(&snapshot)
    }

    fn take(&self) -> Connection {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(connection) = idle.pop() {
                return connection;
            }
            idle = self
                .returned
                .wait(idle)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Gives the connection back even when the work panics.
struct Lent<'readers> {
    readers: &'readers Readers,
    connection: Option<Connection>,
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.readers
                .idle
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(connection);
            self.readers.returned.notify_one();
        }
    }
}
