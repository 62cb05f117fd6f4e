//! The door of the house: one plain function for each thing that a person can do.

mod about;
mod actions;
mod answer;
mod bucket;
mod checks;
mod counting;
mod delivery;
mod documents;
mod endpoint;
mod export;
mod forecast;
mod jobs;
mod kept;
mod keys;
mod limits;
mod missing;
mod pictures;
mod pilot;
mod plan;
mod reading;
mod reports;
mod scan;
mod submit;
mod templates;
mod unlock;
mod watch;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use rand::SeedableRng as _;
use rand::rngs::StdRng;
use secrecy::SecretString;
use tokio::sync::{Notify, Semaphore, broadcast};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::config::EngineConfig;
use crate::consumer::{
    self, ActiveJobs, Consumer, CurrentPace, Providers, RemoteClaude, RemoteWork, Shared, Trouble,
};
use crate::error::EngineError;
use crate::intake::Scans;
use crate::model::{ConsumerPlace, EngineEvent, Provider, Settings, UploadCause, UploadTrouble};
use crate::outbox::{Deliverer, Uploader};
use crate::passwords::Passwords;
use crate::pdf::PdfWorker;
use crate::profiles::Profiles;
use crate::provider::Deliver;
use crate::provider::offline::OfflineProvider;
use crate::results::Library;
use crate::secrets::KeptSecret;
use crate::store::Store;
use checks::checked;
use documents::OpenDocuments;
use endpoint::AtAddress;
use pictures::Pictures;
use reading::Texts;

/// Events that a slow front may be behind before it is told to look at everything again.
const EVENTS: usize = 4096;
/// How often taking the consumer's lock is tried: another program may be asking who holds it.
const LOCK_TRIES: u32 = 5;
/// Wait between those tries.
const LOCK_DELAY: std::time::Duration = std::time::Duration::from_millis(60);

/// Gistmill without a face. Cheap to clone; all clones are one engine.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

pub(crate) struct Inner {
    config: EngineConfig,
    store: Store,
    library: Library,
    pdf: PdfWorker,
    key: KeptSecret,
    /// Headers that a gateway wants besides the key.
    headers: KeptSecret,
    claude: Mutex<AtAddress>,
    /// What is known of the models at the address in force.
    profiles: Mutex<Arc<Profiles>>,
    scans: Scans,
    /// The counting of tokens that is under way, and how many calls it makes.
    counting: counting::Counting,
    passwords: Passwords,
    pictures: Pictures,
    /// Texts of documents whose quotes were checked.
    texts: Texts,
    documents: OpenDocuments,
    scan_cancel: Mutex<CancellationToken>,
    /// Files that were written where a person wanted them, newest last.
    exported: Mutex<VecDeque<PathBuf>>,
    events: broadcast::Sender<EngineEvent>,
    wake: Arc<Notify>,
    ended: Arc<Notify>,
    uploads: Arc<Notify>,
    /// The secret of the bucket's key, where it is kept for this session only.
    bucket_secret: Mutex<Option<SecretString>>,
    consumer: tokio::sync::Mutex<Option<Consumer>>,
    place: Mutex<ConsumerPlace>,
    trouble: Trouble,
    stop: CancellationToken,
    tasks: TaskTracker,
}

impl Engine {
    /// Opens a data directory, making it when missing. Nothing is consumed until
    /// [`Engine::start_consumer`].
    ///
    /// # Errors
    /// [`EngineError::NewerDatabase`], [`EngineError::DamagedDatabase`], or that the folder can't be used.
    pub async fn open(config: EngineConfig) -> Result<Self, EngineError> {
        let mut config = config;
        let directory = config.data_directory.clone();
        let prepared = tokio::task::spawn_blocking(move || prepare(&directory));
        config.data_directory = prepared
            .await
            .map_err(|error| EngineError::Internal(error.to_string()))??;
        let database = config.database();
        let store = blocking(move || Store::open(&database)).await??;
        let library = Library::open(&config.data_directory)?;
        let (key, headers) = keys::kept(&config);
        let reading = keys::read_keychain(&key, &headers, config.keychain_patience).await;
        let (events, _) = broadcast::channel(EVENTS);
        let settings = store.settings().await?;
        let asked = endpoint::at_start(&config, &settings)?;
        let profiles = store.profiles(asked.claude.address()).await?;
        let engine = Self(Arc::new(Inner {
            pdf: PdfWorker::new(config.pdf_worker.clone()),
            library,
            key,
            headers,
            claude: Mutex::new(asked),
            profiles: Mutex::new(Arc::new(profiles)),
            scans: Scans::default(),
            counting: counting::Counting::default(),
            passwords: Passwords::default(),
            pictures: pictures::none(),
            texts: reading::no_texts(),
            documents: OpenDocuments::default(),
            scan_cancel: Mutex::default(),
            exported: Mutex::default(),
            events,
            wake: Arc::default(),
            ended: Arc::default(),
            uploads: Arc::default(),
            bucket_secret: Mutex::default(),
            consumer: tokio::sync::Mutex::new(None),
            place: Mutex::new(ConsumerPlace::Nowhere),
            trouble: Trouble::default(),
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            store,
            config,
        }));
        if let Some(password) = engine.0.config.environment_pdf_password.clone() {
            engine.give_password(password);
        }
        if let Some(reading) = reading {
            let (inner, stop) = (Arc::downgrade(&engine.0), engine.0.stop.clone());
            engine
                .0
                .tasks
                .spawn(keys::await_keychain(inner, reading, stop));
        }
        // Read before anybody can look: what another program does from now on is a change.
        let seen = engine.0.store.foreign_version().await?;
        let (inner, stop) = (Arc::downgrade(&engine.0), engine.0.stop.clone());
        engine
            .0
            .tasks
            .spawn(watch::foreign_changes(inner, seen, stop));
        Ok(engine)
    }

    /// Returns the folder that everything lies in.
    #[must_use]
    pub fn data_directory(&self) -> PathBuf {
        self.0.config.data_directory.clone()
    }

    /// Hears what changes from now on. One that falls behind gets an error and should look again.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<EngineEvent> {
        self.0.events.subscribe()
    }

    /// Begins to work the queues, unless another program does.
    ///
    /// With `keep_trying` it begins as soon as the other program has ended.
    ///
    /// # Errors
    /// When the lock file or the database can't be used.
    pub async fn start_consumer(&self, keep_trying: bool) -> Result<ConsumerPlace, EngineError> {
        for _ in 1..LOCK_TRIES {
            if self.try_start().await? {
                return Ok(ConsumerPlace::Here);
            }
            tokio::time::sleep(LOCK_DELAY).await;
        }
        if self.try_start().await? {
            return Ok(ConsumerPlace::Here);
        }
        self.set_place(ConsumerPlace::Elsewhere);
        if keep_trying {
            let (inner, stop) = (Arc::downgrade(&self.0), self.0.stop.clone());
            self.0.tasks.spawn(watch::take_over(inner, stop));
        }
        Ok(ConsumerPlace::Elsewhere)
    }

    /// Begins to work the queues if the lock is free. Says whether this engine consumes now.
    pub(crate) async fn try_start(&self) -> Result<bool, EngineError> {
        let mut consumer = self.0.consumer.lock().await;
        if consumer.is_some() {
            return Ok(true);
        }
        let Some(lock) = consumer::take_lock(&self.0.config.data_directory)? else {
            return Ok(false);
        };
        self.note_address().await?;
        let started = Consumer::start(
            Shared {
                store: self.0.store.clone(),
                library: self.0.library.clone(),
                pdf: self.0.pdf.clone(),
                passwords: self.0.passwords.clone(),
                private_directory: self.0.config.private_directory(),
                providers: self.providers(),
                clock: Arc::clone(&self.0.config.clock),
                events: self.0.events.clone(),
                wake: Arc::clone(&self.0.wake),
                ended: Arc::clone(&self.0.ended),
                jitter: Mutex::new(StdRng::seed_from_u64(self.0.config.jitter_seed)),
                active: ActiveJobs::default(),
                time_zone: self.0.config.time_zone.clone(),
                trouble: Arc::clone(&self.0.trouble),
                fault: Arc::clone(&self.0.config.fault),
                pace: CurrentPace::default(),
                remote: Arc::new(RemoteWork::new(
                    self.claude_of_the_moment(),
                    self.0.config.batch_first_look,
                    self.0.config.batch_settle_time,
                )),
                files_refused: AtomicBool::default(),
            },
            lock,
        )
        .await?;
        let deliverer = Deliverer {
            store: self.0.store.clone(),
            library: self.0.library.clone(),
            clock: Arc::clone(&self.0.config.clock),
            time_zone: self.0.config.time_zone.clone(),
            sink: self.0.config.notifications.clone(),
            webhook_secret: {
                let inner = Arc::downgrade(&self.0);
                Arc::new(move || Engine(inner.upgrade()?).webhook_secret())
            },
            events: self.0.events.clone(),
            wake: Arc::clone(&self.0.ended),
            uploads: Arc::clone(&self.0.uploads),
        };
        self.0.tasks.spawn(deliverer.run(self.0.stop.clone()));
        self.0.tasks.spawn(self.uploader().run(self.0.stop.clone()));
        *consumer = Some(started);
        drop(consumer);
        self.set_place(ConsumerPlace::Here);
        self.key_changed().await?;
        Ok(true)
    }

    /// Claims no more jobs, and returns when those that run have ended. A person may stop waiting.
    pub async fn finish_running(&self) {
        if let Some(consumer) = self.0.consumer.lock().await.as_ref() {
            consumer.finish_running().await;
        }
    }

    /// Finds out whether another program works the queues, for a front that asks once and ends.
    pub fn look_for_consumer(&self) {
        if self.place() != ConsumerPlace::Here {
            self.set_place(watch::who_consumes(self));
        }
    }

    /// Ends in order: no new claims, running attempts get the deadline, everything is on disk.
    pub async fn shutdown(&self) {
        if let Some(consumer) = self.0.consumer.lock().await.take() {
            consumer.stop(self.0.config.shutdown_deadline).await;
        }
        self.0.documents.close_all();
        self.0.stop.cancel();
        self.0.tasks.close();
        if tokio::time::timeout(self.0.config.shutdown_deadline, self.0.tasks.wait())
            .await
            .is_err()
        {
            tracing::warn!("the outbox was still busy; it goes on at the next start");
        }
        self.0.store.close().await;
    }

    /// Says whether a job runs or a result is uploaded, or will be without a person's doing.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn has_live_jobs(&self) -> Result<bool, EngineError> {
        let outlook = self.0.store.outlook(self.local_time()).await?;
        if outlook.live {
            // A full disk passes when somebody makes room; until then nothing is lost by waiting.
            return Ok(true);
        }
        let uploads = self.0.store.uploads_view().await?;
        Ok(uploads.enabled && uploads.waiting > 0 && uploads.trouble.is_none())
    }

    /// Returns the settings.
    ///
    /// # Errors
    /// When the database can't be read.
    pub async fn settings(&self) -> Result<Settings, EngineError> {
        self.0.store.settings().await
    }

    /// Checks and stores the settings, and returns them as stored.
    ///
    /// # Errors
    /// [`EngineError::BadInput`] with the setting that can't be used.
    pub async fn save_settings(&self, settings: Settings) -> Result<Settings, EngineError> {
        let settings = checked(settings)?;
        let asked = endpoint::claude_at(&self.0.config, &settings, Some(&self.present_claude()))?;
        let before = self.0.store.settings().await?;
        self.0.store.save_settings(settings.clone()).await?;
        self.give_model_to_those_without(&settings.model).await?;
        if before.base_url != settings.base_url {
            self.0.store.forget_limits().await?;
            self.0.store.forget_counts().await?;
        }
        if before.base_url != settings.base_url
            || before.text_only != settings.text_only
            || before.model != settings.model
        {
            self.0
                .store
                .look_at_remotes(self.0.config.clock.now())
                .await?;
        }
        self.move_to(asked).await?;
        self.note_address().await?;
        self.look_again(&before, &settings).await?;
        self.bucket_changed(&before, &settings).await?;
        // Limits, caps and hours may have changed.
        self.everything_changed();
        Ok(settings)
    }

    fn uploader(&self) -> Uploader {
        let inner = Arc::downgrade(&self.0);
        Uploader {
            store: self.0.store.clone(),
            library: self.0.library.clone(),
            clock: Arc::clone(&self.0.config.clock),
            secret: Arc::new(move || match inner.upgrade() {
                Some(inner) => Engine(inner).bucket_secret(),
                None => Err(UploadTrouble::new(
                    UploadCause::Interrupted,
                    EngineError::Closed.to_string(),
                )),
            }),
            events: self.0.events.clone(),
            fault: Arc::clone(&self.0.config.fault),
            wake: Arc::clone(&self.0.uploads),
            ended: Arc::clone(&self.0.ended),
            documents: Semaphore::new(1),
        }
    }

    /// Hands out providers with the key and the address of the moment.
    fn providers(&self) -> Providers {
        let offline: Arc<dyn Deliver> = Arc::new(OfflineProvider);
        let inner = Arc::downgrade(&self.0);
        Arc::new(move |wanted| match wanted {
            Provider::Offline => Ok(Arc::clone(&offline)),
            Provider::Claude => {
                let engine = inner.upgrade().map(Engine).ok_or(EngineError::Closed)?;
                Ok(Arc::new(engine.claude()?))
            }
        })
    }

    /// Hands out Claude with the key and the address of the moment, for what goes by its batch API.
    fn claude_of_the_moment(&self) -> RemoteClaude {
        let inner = Arc::downgrade(&self.0);
        Arc::new(move || {
            let engine = inner.upgrade().map(Engine).ok_or(EngineError::Closed)?;
            engine.claude()
        })
    }

    fn emit(&self, event: EngineEvent) {
        // Nobody may be listening.
        drop(self.0.events.send(event));
    }

    fn set_place(&self, place: ConsumerPlace) {
        let mut stored = self.0.place.lock().unwrap_or_else(PoisonError::into_inner);
        if *stored != place {
            *stored = place;
            drop(stored);
            self.emit(EngineEvent::OverviewChanged);
        }
    }

    fn place(&self) -> ConsumerPlace {
        *self.0.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs what blocks on a thread of its own.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, EngineError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| EngineError::Internal(error.to_string()))
}

/// Makes the data directory and returns its full path.
fn prepare(directory: &std::path::Path) -> Result<PathBuf, EngineError> {
    std::fs::create_dir_all(directory).map_err(|source| EngineError::File {
        path: directory.to_owned(),
        action: "created",
        source,
    })?;
    directory
        .canonicalize()
        .map_err(|source| EngineError::File {
            path: directory.to_owned(),
            action: "read",
            source,
        })
}
