//! Works the queues: claims jobs, has them answered, stores results, and decides what becomes of
//! whatever did not succeed.
//!
//! One consumer runs on a data directory; an exclusive file lock sees to that. It stops in order:
//! no new claims, running attempts get a deadline, then they are cut off and recorded as such.

mod active;
mod dispatcher;
mod document;
mod janitor;
mod parts;
mod progress;
mod publish;
mod question;
mod remote;
mod retry;
mod worker;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::tz::TimeZone;
use rand::rngs::StdRng;
use tokio::sync::{Notify, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::calendar::LocalTime;
use crate::clock::Clock;
use crate::error::EngineError;
use crate::fault::FaultHook;
use crate::model::{EngineEvent, Problem, Provider};
use crate::pace::Pace;
use crate::passwords::Passwords;
use crate::pdf::PdfWorker;
use crate::provider::Deliver;
use crate::results::Library;
use crate::store::Store;

pub(crate) use active::ActiveJobs;
pub(crate) use document::PrivateCopy;
pub(crate) use question::shape;
pub(crate) use remote::{Claude as RemoteClaude, RemoteWork};

/// Hands out the provider of an attempt, since a key or an address may change between two of them.
pub(crate) type Providers =
    Arc<dyn Fn(Provider) -> Result<Arc<dyn Deliver>, EngineError> + Send + Sync>;

/// What the consumer's parts share.
pub(crate) struct Shared {
    pub(crate) store: Store,
    pub(crate) library: Library,
    pub(crate) pdf: PdfWorker,
    pub(crate) passwords: Passwords,
    /// Where copies lie that exist only while they are sent.
    pub(crate) private_directory: PathBuf,
    pub(crate) providers: Providers,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) events: broadcast::Sender<EngineEvent>,
    /// Wakes the dispatcher: something may be ready.
    pub(crate) wake: Arc<Notify>,
    /// Wakes the deliverer of the outbox: a job ended.
    pub(crate) ended: Arc<Notify>,
    pub(crate) jitter: Mutex<StdRng>,
    pub(crate) active: ActiveJobs,
    /// Where the person lives, for days and months of spending.
    pub(crate) time_zone: TimeZone,
    /// What the database or the disk refuses at this moment, to be shown.
    pub(crate) trouble: Trouble,
    pub(crate) fault: FaultHook,
    pub(crate) pace: CurrentPace,
    pub(crate) remote: Arc<RemoteWork>,
    /// Whether Claude took no file that was to be uploaded: then large PDFs are asked part by part.
    pub(crate) files_refused: AtomicBool,
}

/// What the database or the disk refuses at this moment.
pub(crate) type Trouble = Arc<Mutex<Option<Problem>>>;

/// How many calls run at once.
#[derive(Default)]
pub(crate) struct CurrentPace(Mutex<Pace>);

impl Shared {
    /// Tells the fronts; nobody may be listening.
    fn emit(&self, event: EngineEvent) {
        drop(self.events.send(event));
    }

    /// Returns what the person's calendar shows now.
    fn local_time(&self) -> LocalTime {
        LocalTime::at(self.clock.now(), &self.time_zone)
    }

    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that the database refuses, until [`Shared::trouble_passed`].
    fn met_trouble(&self, error: &EngineError) {
        let problem = error.problem();
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        // Once: a full disk stays full for a while.
        if trouble.as_ref() != Some(&problem) {
            tracing::error!(%error, "jobs wait until the database can be used again");
            *trouble = Some(problem);
            drop(trouble);
            self.emit(EngineEvent::OverviewChanged);
        }
    }

    fn trouble_passed(&self) {
        let mut trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        if trouble.take().is_some() {
            tracing::info!("the database can be used again");
            drop(trouble);
            self.emit(EngineEvent::OverviewChanged);
        }
    }
}

/// A running consumer.
pub(crate) struct Consumer {
    shared: Arc<Shared>,
    stop: CancellationToken,
    tasks: TaskTracker,
    /// Held as long as the consumer lives.
    lock: File,
}

/// After the deadline of a shutdown, how long attempts may take to record that they were cut off.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Takes the lock of a data directory's consumer. `None` when another program holds it.
pub(crate) fn take_lock(data_directory: &Path) -> Result<Option<File>, EngineError> {
    let path = data_directory.join("consumer.lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .read(true)
        .open(&path)
        .map_err(|source| EngineError::File {
            path: path.clone(),
            action: "created",
            source,
        })?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(source)) => Err(EngineError::File {
            path,
            action: "locked",
            source,
        }),
    }
}

impl Consumer {
    /// Recovers what a dead program left, then begins to work.
    pub(crate) async fn start(shared: Shared, lock: File) -> Result<Self, EngineError> {
        let recovered = shared.store.recover_interrupted(shared.clock.now()).await?;
        if recovered > 0 {
            tracing::info!(
                recovered,
                "jobs that were running when Gistmill ended are queued again"
            );
        }
        let library = shared.library.clone();
        let private_directory = shared.private_directory.clone();
        tokio::task::spawn_blocking(move || {
            library.sweep();
            document::sweep(&private_directory);
        })
        .await
        .map_err(|error| EngineError::Internal(error.to_string()))?;
        let shared = Arc::new(shared);
        let stop = CancellationToken::new();
        let tasks = TaskTracker::new();
        tasks.spawn(dispatcher::run(
            Arc::clone(&shared),
            stop.clone(),
            tasks.clone(),
        ));
        tasks.spawn(dispatcher::keep_leases(Arc::clone(&shared), stop.clone()));
        tasks.spawn(janitor::run(Arc::clone(&shared), stop.clone()));
        tasks.spawn(remote::hand_over(Arc::clone(&shared), stop.clone()));
        tasks.spawn(remote::watch(Arc::clone(&shared), stop.clone()));
        let sweeping = Arc::clone(&shared);
        let stopped = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                () = stopped.cancelled() => {}
                () = document::give_back_files(&sweeping) => {}
            }
        });
        shared.emit(EngineEvent::JobsChanged {
            job_ids: Vec::new(),
        });
        Ok(Self {
            shared,
            stop,
            tasks,
            lock,
        })
    }

    /// Returns how many calls to Claude may run at once now.
    pub(crate) fn pace(&self) -> Pace {
        *self.shared.pace()
    }

    /// Stops claiming and returns when no attempt runs any more.
    pub(crate) async fn finish_running(&self) {
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Stops claiming, gives running attempts until `deadline`, then cuts them off.
    pub(crate) async fn stop(self, deadline: Duration) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(deadline, self.tasks.wait())
            .await
            .is_err()
        {
            self.shared.active.cut_off_all();
            self.shared.remote.cut_off();
            if tokio::time::timeout(LAST_WORDS, self.tasks.wait())
                .await
                .is_err()
            {
                tracing::warn!(
                    "attempts did not end in time; they are recovered at the next start"
                );
            }
        }
        drop(self.lock);
    }

    /// Asks running attempts of these jobs to end, where that saves anything.
    pub(crate) fn cancel(&self, job_ids: &[crate::model::JobId]) {
        for job_id in job_ids {
            self.shared.active.cancel(job_id);
        }
    }
}
