//! Telling the world outside: notifications and copies beside the PDFs.
//!
//! Entries are written in the transaction of the change they tell of; here they are delivered, at
//! least once, with bounded tries. Whatever happens to a delivery, the job stays as it is.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::model::{EngineEvent, Timestamp};
use crate::results::{Library, copy_beside};
use crate::store::{FailedJob, ResultToCopy, Store};

/// A message to the person at the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notification {
    /// One line.
    pub title: String,
    /// What happened and what to do.
    pub body: String,
}

/// Shows notifications; given by the shell.
pub trait NotificationSink: Send + Sync {
    /// Shows one. May block for as long as the desktop takes to answer.
    ///
    /// # Errors
    /// In a sentence, when there is nobody to show it to.
    fn notify(&self, notification: Notification) -> Result<(), String>;
}

/// Failures are told together: at most one notification in this time.
const BETWEEN_NOTIFICATIONS: Duration = Duration::from_secs(60);
/// How often the outbox is looked at without being woken.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Delivers what is due. One of these runs beside the consumer.
pub(crate) struct Deliverer {
    pub(crate) store: Store,
    pub(crate) library: Library,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) sink: Option<Arc<dyn NotificationSink>>,
    pub(crate) events: tokio::sync::broadcast::Sender<EngineEvent>,
    /// Wakes the deliverer after a job ended.
    pub(crate) wake: Arc<tokio::sync::Notify>,
}

impl Deliverer {
    /// Delivers until cancelled.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut last_told: Option<Timestamp> = None;
        loop {
            self.copy_results().await;
            let told_until = last_told.map(|moment| moment.after(BETWEEN_NOTIFICATIONS));
            let now = self.clock.now();
            let mut wait_until = now.after(LOOK_AGAIN);
            match told_until {
                Some(moment) if moment > now => wait_until = wait_until.min(moment),
                _ => {
                    if self.tell_failures().await {
                        last_told = Some(now);
                    }
                }
            }
            tokio::select! {
                () = stop.cancelled() => break,
                () = self.wake.notified() => {}
                () = self.clock.sleep_until(wait_until) => {}
            }
        }
        // What ended last is not left for the next start.
        self.copy_results().await;
    }

    /// Tells of all failures that nobody was told of yet, in one notification. Says whether it did.
    async fn tell_failures(&self) -> bool {
        let now = self.clock.now();
        let failures = match self.store.failures_to_tell(now).await {
            Ok(failures) if !failures.is_empty() => failures,
            Ok(_) => return false,
            Err(error) => {
                tracing::warn!(%error, "the outbox could not be read");
                return false;
            }
        };
        let ids: Vec<i64> = failures.iter().map(|failure| failure.outbox_id).collect();
        let outcome = match self.sink.clone() {
            // Nobody to show it to: the list of dead letters tells it.
            None => Ok(()),
            Some(sink) => {
                let notification = failure_notification(&failures);
                tokio::task::spawn_blocking(move || sink.notify(notification))
                    .await
                    .unwrap_or_else(|error| Err(error.to_string()))
            }
        };
        let recorded = match outcome {
            Ok(()) => self.store.delivered(ids, now).await,
            // A notification that comes much later helps nobody: one try, and the reason is kept.
            Err(reason) => self.store.gave_up(ids, reason, now).await,
        };
        if let Err(error) = recorded {
            tracing::warn!(%error, "the outbox could not be written");
        }
        true
    }

    async fn copy_results(&self) {
        // Bounded by the number of stored results: each is delivered or put off.
        loop {
            let due = match self.store.results_to_copy(self.clock.now()).await {
                Ok(due) if !due.is_empty() => due,
                Ok(_) => return,
                Err(error) => {
                    tracing::warn!(%error, "the outbox could not be read");
                    return;
                }
            };
            for entry in due {
                if let Err(error) = self.copy_result(entry).await {
                    tracing::warn!(%error, "the outbox could not be written");
                    return;
                }
            }
        }
    }

    async fn copy_result(&self, entry: ResultToCopy) -> crate::store::Result<()> {
        let outcome = match self.library.read(&entry.key).await {
            Ok(text) => {
                let source = entry.source_path.clone();
                tokio::task::spawn_blocking(move || copy_beside(Path::new(&source), &text))
                    .await
                    .unwrap_or_else(|error| Err(error.to_string()))
            }
            Err(reason) => Err(reason),
        };
        let now = self.clock.now();
        self.store
            .copied(
                entry.result_id,
                outcome.map(|path| path.to_string_lossy().into_owned()),
            )
            .await?;
        // A folder that can't be written stays so for a while: the reason is shown with the result.
        self.store.delivered(vec![entry.outbox_id], now).await?;
        // Nobody may be listening.
        drop(self.events.send(EngineEvent::JobsChanged {
            job_ids: vec![entry.job_id],
        }));
        Ok(())
    }
}

/// Returns one notification for all failures.
fn failure_notification(failures: &[FailedJob]) -> Notification {
    if let [failure] = failures {
        let reason = failure
            .error
            .clone()
            .unwrap_or_else(|| "It failed.".to_owned());
        let hint = failure.cause.map_or("", |cause| cause.hint());
        return Notification {
            title: format!("{} failed", failure.title),
            body: format!("{reason} {hint}").trim_end().to_owned(),
        };
    }
    let titles: Vec<&str> = failures
        .iter()
        .take(3)
        .map(|failure| failure.title.as_str())
        .collect();
    let more = failures.len().saturating_sub(titles.len());
    let others = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    Notification {
        title: format!("{} jobs failed", failures.len()),
        body: format!(
            "{}{others}. Dead letters show why, and what to do.",
            titles.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Cause;

    fn failure(title: &str) -> FailedJob {
        FailedJob {
            outbox_id: 1,
            title: title.to_owned(),
            cause: Some(Cause::PdfEncrypted),
            error: Some("It needs a password.".to_owned()),
        }
    }

    #[test]
    fn one_failure_says_why_and_what_to_do() {
        let told = failure_notification(&[failure("lease.pdf")]);
        assert_eq!(told.title, "lease.pdf failed");
        assert_eq!(
            told.body,
            "It needs a password. Remove the password in a PDF reader and add the unlocked file."
        );
    }

    #[test]
    fn many_failures_are_one_notification() {
        let failures: Vec<_> = (1..=5).map(|n| failure(&format!("{n}.pdf"))).collect();
        let told = failure_notification(&failures);
        assert_eq!(told.title, "5 jobs failed");
        assert_eq!(
            told.body,
            "1.pdf, 2.pdf, 3.pdf and 2 more. Dead letters show why, and what to do."
        );
    }
}
