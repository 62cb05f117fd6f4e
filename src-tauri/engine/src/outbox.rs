//! What leaves the program: notifications, webhooks, copies of results, uploads.
//!
//! Entries are written in the transaction of the change they tell of; here they are delivered, at
//! least once, with bounded tries. Whatever happens to a delivery, the job stays as it is.

mod batches;
mod copies;
mod uploads;
mod webhook;
mod words;

use std::sync::Arc;
use std::time::Duration;

use secrecy::SecretString;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::error::EngineError;
use crate::model::{EngineEvent, Timestamp};
use crate::results::Library;
use crate::store::Store;
use webhook::Undelivered;

pub(crate) use uploads::Uploader;
pub(crate) use webhook::key as webhook_key;

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

/// What happened is told together: at most one round of notifications in this time.
const BETWEEN_NOTIFICATIONS: Duration = Duration::from_secs(60);
/// How often the outbox is looked at without being woken.
const LOOK_AGAIN: Duration = Duration::from_secs(5);
/// How often a webhook is tried in all.
const WEBHOOK_TRIES: u32 = 3;
/// Wait before the second try; doubled for each further one.
const WEBHOOK_DELAY: Duration = Duration::from_secs(10);

/// Hands out the secret that webhooks are signed with.
pub(crate) type WebhookSecret = Arc<dyn Fn() -> Option<SecretString> + Send + Sync>;

/// Delivers what is due. One of these runs beside the consumer.
pub(crate) struct Deliverer {
    pub(crate) store: Store,
    pub(crate) library: Library,
    pub(crate) clock: Arc<dyn Clock>,
    /// Where the person lives, for the day of a document.
    pub(crate) time_zone: jiff::tz::TimeZone,
    pub(crate) sink: Option<Arc<dyn NotificationSink>>,
    pub(crate) webhook_secret: WebhookSecret,
    pub(crate) events: tokio::sync::broadcast::Sender<EngineEvent>,
    /// Wakes the deliverer after a job ended.
    pub(crate) wake: Arc<tokio::sync::Notify>,
    /// Wakes the uploader, which runs beside it: an upload may take a minute.
    pub(crate) uploads: Arc<tokio::sync::Notify>,
}

impl Deliverer {
    /// Delivers until cancelled.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut last_told: Option<Timestamp> = None;
        loop {
            // Of the moment at which it began to look: what became due since then is looked at in time.
            let look_again = self.clock.now().after(LOOK_AGAIN);
            self.uploads.notify_one();
            self.copy_results().await;
            self.leave_batch_files().await;
            self.tell_webhook(&stop).await;
            let told_until = last_told.map(|moment| moment.after(BETWEEN_NOTIFICATIONS));
            let now = self.clock.now();
            let mut wait_until = look_again;
            match told_until {
                Some(moment) if moment > now => wait_until = wait_until.min(moment),
                _ => {
                    if self.tell_person().await {
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
        self.leave_batch_files().await;
    }

    /// Tells the person at the machine what they were not told of yet. Says whether there was anything.
    async fn tell_person(&self) -> bool {
        let now = self.clock.now();
        let to_tell = match self.store.to_tell(now).await {
            Ok(to_tell) => to_tell,
            Err(error) => {
                tracing::warn!(%error, "the outbox could not be read");
                return false;
            }
        };
        let messages = words::messages(&to_tell);
        let any = !messages.is_empty();
        for message in messages {
            let outcome = match self.sink.clone() {
                // Nobody to show it to: the lists tell it.
                None => Ok(()),
                Some(sink) => {
                    tokio::task::spawn_blocking(move || sink.notify(message.notification))
                        .await
                        .unwrap_or_else(|error| Err(error.to_string()))
                }
            };
            let ids = message.outbox_ids;
            let recorded = match outcome {
                Ok(()) => self.store.delivered(ids, now).await,
                // A notification that comes much later helps nobody: one try, and the reason is kept.
                Err(reason) => self.store.gave_up(ids, reason, now).await,
            };
            if let Err(error) = recorded {
                tracing::warn!(%error, "the outbox could not be written");
            }
        }
        any
    }

    /// Delivers the messages for the webhook that are due, each once.
    async fn tell_webhook(&self, stop: &CancellationToken) {
        let now = self.clock.now();
        let due = async {
            let messages = self.store.webhook_messages(now).await?;
            Ok::<_, EngineError>((messages, self.store.settings().await?.webhook_url))
        };
        let (messages, url) = match due.await {
            Ok(due) => due,
            Err(error) => {
                tracing::warn!(%error, "the outbox could not be read");
                return;
            }
        };
        if messages.is_empty() {
            return;
        }
        let secret = (self.webhook_secret)();
        let client = webhook::client();
        for message in messages {
            if stop.is_cancelled() {
                return;
            }
            let id = vec![message.outbox_id];
            let outcome = match (&url, &client) {
                (Some(url), Ok(client)) => {
                    webhook::deliver(client, url, secret.as_ref(), &message, now).await
                }
                (None, _) => Err(Undelivered {
                    reason: "The address was removed from the settings.".to_owned(),
                    for_good: true,
                }),
                (_, Err(error)) => Err(Undelivered {
                    reason: error.to_string(),
                    for_good: false,
                }),
            };
            let ended = self.clock.now();
            let recorded = match outcome {
                Ok(()) => self.store.delivered(id, ended).await,
                Err(failed) if failed.for_good || message.tries + 1 >= WEBHOOK_TRIES => {
                    self.store.gave_up(id, failed.reason, ended).await
                }
                Err(failed) => {
                    let wait = WEBHOOK_DELAY * 2_u32.pow(message.tries);
                    self.store
                        .deliver_later(id, failed.reason, ended.after(wait))
                        .await
                }
            };
            if let Err(error) = recorded {
                tracing::warn!(%error, "the outbox could not be written");
                return;
            }
            // Nobody may be listening.
            drop(self.events.send(EngineEvent::OverviewChanged));
        }
    }
}
