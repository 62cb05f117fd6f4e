//! The engine's events on their way to the window: merged, and at most ten times a second.
//!
//! A burst of ten thousand changes costs the window one message: it asks again for what it shows
//! anyway. Nothing is left out in the sense that matters: after the last change the window hears.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use gistmill_engine::model::{EngineEvent, JobId};
use tauri::{AppHandle, Emitter as _, Runtime};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

/// The name of the event as the window hears it.
const EVENT: &str = "engine";
/// The shortest time between two deliveries.
const INTERVAL: Duration = Duration::from_millis(100);
/// With more changed jobs than this the window is told "many".
const MOST_IDS: usize = 200;

/// Hands events to the window until the engine closes.
pub(crate) async fn forward<R: Runtime>(app: AppHandle<R>, mut events: Receiver<EngineEvent>) {
    let mut pending = Pending::default();
    let mut last_delivery = Instant::now() - INTERVAL;
    loop {
        let open = pending.hear(events.recv().await);
        // What comes before the next delivery is due joins it.
        let due = last_delivery + INTERVAL;
        while open && Instant::now() < due {
            match tokio::time::timeout_at(due, events.recv()).await {
                Ok(received) => {
                    if !pending.hear(received) {
                        break;
                    }
                }
                Err(_elapsed) => break,
            }
        }
        for event in pending.take() {
            if let Err(error) = app.emit(EVENT, &event) {
                tracing::warn!(%error, "the window could not be told of a change");
            }
        }
        if !open {
            return;
        }
        last_delivery = Instant::now();
    }
}

/// Events that wait for the next delivery, merged.
#[derive(Default)]
struct Pending {
    changed: BTreeSet<JobId>,
    many_changed: bool,
    overview_changed: bool,
    progress: BTreeMap<JobId, EngineEvent>,
    scan: Option<EngineEvent>,
    counting: Option<EngineEvent>,
}

impl Pending {
    /// Takes in what was received; says whether more can come.
    fn hear(&mut self, received: Result<EngineEvent, RecvError>) -> bool {
        match received {
            Ok(event) => self.add(event),
            // Too slow to hear them all: anything may have changed.
            Err(RecvError::Lagged(_)) => {
                self.many_changed = true;
                self.overview_changed = true;
            }
            Err(RecvError::Closed) => return false,
        }
        true
    }

    fn add(&mut self, event: EngineEvent) {
        match event {
            EngineEvent::JobsChanged { job_ids } => {
                self.many_changed |= job_ids.is_empty();
                self.changed.extend(job_ids);
                self.many_changed |= self.changed.len() > MOST_IDS;
                if self.many_changed {
                    self.changed.clear();
                }
            }
            EngineEvent::OverviewChanged => self.overview_changed = true,
            EngineEvent::JobProgress { ref job_id, .. } => {
                self.progress.insert(job_id.clone(), event);
            }
            EngineEvent::ScanProgress { .. } => self.scan = Some(event),
            EngineEvent::CountProgress { .. } => self.counting = Some(event),
        }
    }

    /// Empties it. Progress goes first, so that a job's end is the last that is heard of it.
    fn take(&mut self) -> Vec<EngineEvent> {
        let pending = std::mem::take(self);
        let mut events: Vec<_> = pending.progress.into_values().collect();
        if pending.many_changed || !pending.changed.is_empty() {
            events.push(EngineEvent::JobsChanged {
                job_ids: pending.changed.into_iter().collect(),
            });
        }
        if pending.overview_changed {
            events.push(EngineEvent::OverviewChanged);
        }
        events.extend(pending.scan);
        events.extend(pending.counting);
        events
    }
}

#[cfg(test)]
mod tests {
    use gistmill_engine::model::JobPhase;

    use super::*;

    fn changed(ids: impl IntoIterator<Item = usize>) -> EngineEvent {
        let job_ids = ids
            .into_iter()
            .map(|id| JobId(format!("{id:04}")))
            .collect();
        EngineEvent::JobsChanged { job_ids }
    }

    fn progress(id: &str, output_tokens: u64) -> EngineEvent {
        EngineEvent::JobProgress {
            job_id: JobId(id.to_owned()),
            phase: JobPhase::Writing,
            output_tokens,
            max_tokens: 4096,
        }
    }

    fn merged(events: impl IntoIterator<Item = EngineEvent>) -> Vec<EngineEvent> {
        let mut pending = Pending::default();
        for event in events {
            assert!(pending.hear(Ok(event)));
        }
        let merged = pending.take();
        assert_eq!(
            pending.take(),
            [],
            "what was delivered is not delivered again"
        );
        merged
    }

    #[test]
    fn changed_jobs_are_named_once() {
        assert_eq!(
            merged([changed([2, 1]), changed([2, 3])]),
            [changed([1, 2, 3])]
        );
    }

    #[test]
    fn more_jobs_than_worth_naming_become_many() {
        assert_eq!(merged([changed(0..200)]), [changed(0..200)]);
        assert_eq!(merged((0..201).map(|id| changed([id]))), [changed([])]);
    }

    #[test]
    fn many_stays_many_whatever_follows() {
        assert_eq!(merged([changed([]), changed([7])]), [changed([])]);
    }

    #[test]
    fn only_the_latest_progress_of_each_job_is_told_and_before_its_end() {
        assert_eq!(
            merged([
                progress("a", 1),
                changed([1]),
                progress("b", 5),
                progress("a", 9),
                EngineEvent::OverviewChanged,
                EngineEvent::OverviewChanged,
            ]),
            [
                progress("a", 9),
                progress("b", 5),
                changed([1]),
                EngineEvent::OverviewChanged
            ],
        );
    }

    #[test]
    fn events_that_were_missed_may_have_been_any() {
        let mut pending = Pending::default();
        assert!(pending.hear(Err(RecvError::Lagged(3))));
        assert_eq!(pending.take(), [changed([]), EngineEvent::OverviewChanged]);
        assert!(!pending.hear(Err(RecvError::Closed)));
    }
}
