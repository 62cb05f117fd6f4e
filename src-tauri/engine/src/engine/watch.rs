//! What happens outside this engine: other programs on the same data directory.

use std::sync::Weak;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{Engine, Inner};
use crate::consumer;
use crate::model::{ConsumerPlace, EngineEvent};

/// How often the database is asked whether another program wrote to it.
const LOOK: Duration = Duration::from_millis(300);
/// How often the consumer's lock is looked at.
const LOOK_AT_LOCK: Duration = Duration::from_secs(2);

/// Tells the fronts and the dispatcher when another program changed the database.
///
/// `seen` is the database's version for others' changes when the engine was opened.
pub(super) async fn foreign_changes(inner: Weak<Inner>, mut seen: i64, stop: CancellationToken) {
    let mut looked_at_lock = tokio::time::Instant::now();
    let mut key_seen = match inner.upgrade().map(Engine) {
        Some(engine) => engine.0.store.key_changed_at().await.unwrap_or_default(),
        None => return,
    };
    loop {
        // Real time on purpose: what is watched is another process.
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK) => {}
        }
        let Some(engine) = inner.upgrade().map(Engine) else {
            return;
        };
        match engine.0.store.foreign_version().await {
            Ok(version) => {
                if seen != version {
                    if let Err(error) = engine.follow_others(&mut key_seen).await {
                        tracing::warn!(%error, "what another program changed could not be taken over");
                    }
                    engine.0.wake.notify_one();
                    engine.emit(EngineEvent::JobsChanged {
                        job_ids: Vec::new(),
                    });
                    engine.emit(EngineEvent::OverviewChanged);
                }
                seen = version;
            }
            Err(error) => tracing::debug!(%error, "the database could not be watched"),
        }
        if engine.place() != ConsumerPlace::Here && looked_at_lock.elapsed() >= LOOK_AT_LOCK {
            looked_at_lock = tokio::time::Instant::now();
            engine.set_place(who_consumes(&engine));
        }
    }
}

/// Says whether another program holds the consumer's lock, by trying it for a moment.
pub(super) fn who_consumes(engine: &Engine) -> ConsumerPlace {
    match consumer::take_lock(&engine.0.config.data_directory) {
        Ok(Some(_)) => ConsumerPlace::Nowhere,
        Ok(None) | Err(_) => ConsumerPlace::Elsewhere,
    }
}

/// Begins to consume as soon as the program that does so has ended.
pub(super) async fn take_over(inner: Weak<Inner>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(LOOK_AT_LOCK) => {}
        }
        let Some(engine) = inner.upgrade().map(Engine) else {
            return;
        };
        match engine.try_start().await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(%error, "the queues could not be taken over; trying again");
            }
        }
    }
}
