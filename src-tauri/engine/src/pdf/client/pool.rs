//! The children: at most so many, each asked about one file after another.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::child::{Child, End, How};
use super::{PdfError, PdfWorkerConfig};
use crate::pdf::frame;
use crate::pdf::protocol::Request;

/// A child that nobody has asked for so long is let go, so that its memory is free for others.
const IDLE_LIMIT: Duration = Duration::from_secs(30);

/// All children of a worker.
#[derive(Debug)]
pub(super) struct Pool {
    config: PdfWorkerConfig,
    permits: Semaphore,
    idle: Mutex<Idle>,
}

/// The children that are waiting for a file.
#[derive(Debug, Default)]
struct Idle {
    /// The one that was asked last comes last.
    children: Vec<(Child, Instant)>,
    /// Whether a task looks after those that wait too long.
    watched: bool,
}

impl Pool {
    /// Makes a pool; nothing is started yet.
    pub(super) fn new(config: PdfWorkerConfig) -> Self {
        Self {
            permits: Semaphore::new(config.max_children.max(1)),
            config,
            idle: Mutex::default(),
        }
    }

    /// How long one file may take.
    pub(super) fn wall_limit(&self) -> Duration {
        self.config.wall_limit
    }

    /// Asks a child, when one is free. Dropping the future kills the child that is being asked.
    pub(super) async fn ask(
        self: &Arc<Self>,
        request: &Request,
        max_answer_bytes: usize,
    ) -> Result<End, PdfError> {
        let frame = frame::encode(request).map_err(|source| PdfError::Start {
            program: self.config.program.clone(),
            source,
        })?;
        // The semaphore is never closed, so there is always a permit to wait for.
        let _permit = self.permits.acquire().await.ok();
        let waiting = self.lock().children.pop();
        if let Some((child, _)) = waiting {
            let end = self.talk(child, &frame, max_answer_bytes).await;
            // It may have died while it was waiting, which says nothing about the file.
            if !end.messages.is_empty() || !matches!(end.how, How::Exited(_) | How::Nonsense) {
                return Ok(end);
            }
        }
        let child = Child::start(&self.config)?;
        Ok(self.talk(child, &frame, max_answer_bytes).await)
    }

    async fn talk(self: &Arc<Self>, mut child: Child, frame: &[u8], limit: usize) -> End {
        let end = child.ask(frame, self.config.wall_limit, limit).await;
        if end.how == (How::Finished { more: true }) {
            self.keep(child);
        } else {
            child.kill().await;
        }
        end
    }

    fn keep(self: &Arc<Self>, child: Child) {
        let mut idle = self.lock();
        idle.children.push((child, Instant::now()));
        if !std::mem::replace(&mut idle.watched, true) {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
    }

    /// Lets go of the children that have waited too long, and says when to look again.
    fn dismiss(&self) -> Option<Instant> {
        let mut idle = self.lock();
        // Dropped, they are killed.
        idle.children
            .retain(|(_, since)| since.elapsed() < IDLE_LIMIT);
        let next = idle.children.iter().map(|(_, since)| *since).min();
        idle.watched = next.is_some();
        next.map(|since| since + IDLE_LIMIT)
    }

    fn lock(&self) -> MutexGuard<'_, Idle> {
        // Nothing that can panic is done with it.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after waiting children until there is none.
async fn watch(pool: std::sync::Weak<Pool>) {
    let mut next = Instant::now() + IDLE_LIMIT;
    loop {
        tokio::time::sleep_until(next).await;
        match pool.upgrade().and_then(|pool| pool.dismiss()) {
            Some(later) => next = later,
            None => return,
        }
    }
}
