//! A temporary engine, a clock that tests turn, and a person who sees notifications.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use gistmill_engine::clock::Clock;
use gistmill_engine::model::{
    BulkAction, ConsumerPlace, CopiesTo, JobDetail, JobFilter, JobId, JobStatus, JobView, Provider,
    QueueName, RetryChanges, Selection, Settings, Submission, Submitted, Timestamp, Variables,
};
use gistmill_engine::pdf::PdfWorkerConfig;
use gistmill_engine::secrets::{MemorySecrets, SecretStore};
use gistmill_engine::{Engine, EngineConfig, EngineError, Notification, NotificationSink};
use gistmill_testkit::fake_claude::FakeClaude;
use tempfile::TempDir;
use tokio::sync::watch;

/// Longest that anything awaited in a test may take before the test says what it waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long a test that turns the clock waits for what takes real time before it turns it further.
const A_MOMENT: Duration = Duration::from_millis(20);

/// A clock that stands still until a test turns it.
pub(crate) struct ManualClock(watch::Sender<i64>);

impl ManualClock {
    /// A clock that stands at noon of 2026-11-29, UTC.
    pub(crate) fn at_noon() -> Arc<Self> {
        Arc::new(Self(watch::Sender::new(1_795_953_600_000)))
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.0
            .send_modify(|now| *now += i64::try_from(by.as_millis()).unwrap());
    }

    pub(crate) fn turn_back(&self, by: Duration) {
        self.0
            .send_modify(|now| *now -= i64::try_from(by.as_millis()).unwrap());
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp(*self.0.borrow())
    }

    async fn sleep_until(&self, moment: Timestamp) {
        let mut time = self.0.subscribe();
        // The sender lives as long as the clock.
        time.wait_for(|now| *now >= moment.0).await.ok();
    }
}

/// Sees notifications.
#[derive(Default)]
pub(crate) struct Person(pub(crate) Mutex<Vec<Notification>>);

impl NotificationSink for Person {
    fn notify(&self, notification: Notification) -> Result<(), String> {
        self.0.lock().unwrap().push(notification);
        Ok(())
    }
}

/// An engine in a folder of its own, asking a fake Claude.
pub(crate) struct House {
    pub(crate) folder: TempDir,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) claude: FakeClaude,
    pub(crate) secrets: Arc<MemorySecrets>,
    pub(crate) person: Arc<Person>,
    pub(crate) engine: Engine,
}

impl House {
    /// Opens an engine that has a key and consumes.
    pub(crate) async fn working() -> Self {
        let house = Self::idle().await;
        house
            .engine
            .save_key("sk-ant-test-0123456789".to_owned(), false)
            .await
            .unwrap();
        house.start().await;
        house
    }

    /// Opens an engine without a key that does not consume yet.
    pub(crate) async fn idle() -> Self {
        Self::asking(FakeClaude::start().await).await
    }

    /// Opens an engine without a key that asks this Claude, and does not consume yet.
    pub(crate) async fn asking(claude: FakeClaude) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::at_noon();
        let secrets = Arc::new(MemorySecrets::default());
        let person = Arc::new(Person::default());
        let config = config(folder.path(), &claude, &clock, &secrets, &person);
        let engine = Engine::open(config).await.unwrap();
        // Copies are the subject of one test only; elsewhere they would be input of the next scan.
        engine
            .save_settings(Settings {
                copies_to: CopiesTo::Nowhere,
                ..Settings::default()
            })
            .await
            .unwrap();
        Self {
            folder,
            clock,
            claude,
            secrets,
            person,
            engine,
        }
    }

    /// Opens another engine on the same folder.
    pub(crate) async fn reopen(&self) -> Result<Engine, EngineError> {
        Engine::open(config(
            self.folder.path(),
            &self.claude,
            &self.clock,
            &self.secrets,
            &self.person,
        ))
        .await
    }

    pub(crate) async fn start(&self) {
        assert_eq!(
            self.engine.start_consumer(false).await.unwrap(),
            ConsumerPlace::Here
        );
    }

    /// Returns where a file of the drop folder lies.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join("drop").join(name)
    }

    /// Writes a file into the drop folder.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes PDFs that say their own names.
    pub(crate) fn put_pdfs(&self, names: &[&str]) -> Vec<PathBuf> {
        names
            .iter()
            .map(|name| {
                let text = format!("This is {name}. It says something of its own.");
                self.put(name, &gistmill_testkit::pdf::text_pdf(&[&text]))
            })
            .collect()
    }

    /// Scans and submits paths to the high queue, which has no delay.
    pub(crate) async fn submit(&self, paths: Vec<PathBuf>, provider: Provider) -> Submitted {
        let report = self.engine.scan(paths).await.unwrap();
        self.engine
            .submit_scan(report.scan_id, submission(QueueName::High, provider))
            .await
            .unwrap()
    }

    /// Writes PDFs that say their own names, and submits them to Claude on the high queue.
    pub(crate) async fn add(&self, names: &[&str]) -> Submitted {
        self.submit(self.put_pdfs(names), Provider::Claude).await
    }

    /// Writes PDFs that say their own names, and submits them as wanted.
    pub(crate) async fn add_as(&self, names: &[&str], wanted: Submission) -> Submitted {
        let report = self.engine.scan(self.put_pdfs(names)).await.unwrap();
        self.engine
            .submit_scan(report.scan_id, wanted)
            .await
            .unwrap()
    }

    /// Puts jobs back in the queue as they are. Returns how many were.
    pub(crate) async fn retry(&self, job_ids: Vec<JobId>) -> u64 {
        let affected = self
            .engine
            .retry(Selection::Jobs { job_ids }, RetryChanges::default())
            .await
            .unwrap();
        affected.jobs
    }

    /// Does an action to one job. Says whether it fitted.
    pub(crate) async fn act(&self, job_id: &JobId, action: BulkAction) -> bool {
        let selection = Selection::one(job_id.clone());
        let affected = self.engine.apply_action(selection, action).await.unwrap();
        affected.jobs == 1
    }

    /// Changes some of the settings.
    pub(crate) async fn set(&self, change: impl FnOnce(&mut Settings)) {
        let mut settings = self.engine.settings().await.unwrap();
        change(&mut settings);
        self.engine.save_settings(settings).await.unwrap();
    }

    /// Waits until the sentence on why nothing moves holds some words.
    pub(crate) async fn until_answer(&self, words: &str) -> String {
        let mut events = self.engine.subscribe();
        let waiting = async {
            loop {
                let answer = self.engine.overview().await.unwrap().answer;
                if let Some(answer) = answer.filter(|answer| answer.contains(words)) {
                    return answer;
                }
                // Falling behind means only that there is more to look at.
                drop(events.recv().await);
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(answer) => answer,
            Err(_) => panic!(
                "waited to be told {words:?}, but the answer is {:?}",
                self.engine.overview().await.unwrap().answer
            ),
        }
    }

    /// Waits until something holds that the engine tells of.
    pub(crate) async fn until_true(&self, what: &str, holds: impl Fn() -> bool) {
        let mut events = self.engine.subscribe();
        let waiting = async {
            while !holds() {
                drop(events.recv().await);
            }
        };
        let waited = tokio::time::timeout(PATIENCE, waiting).await;
        assert!(waited.is_ok(), "waited in vain: {what}");
    }

    /// Turns the clock a step at a time until something is found, looking again at every event. What takes real time
    /// has some between two steps; `None` when none of it came in a long time.
    pub(crate) async fn turning_until<T>(
        &self,
        step: Duration,
        look: impl AsyncFn() -> Option<T>,
    ) -> Option<T> {
        let mut events = self.engine.subscribe();
        let waiting = async {
            loop {
                if let Some(found) = look().await {
                    return found;
                }
                self.clock.advance(step);
                drop(tokio::time::timeout(A_MOMENT, events.recv()).await);
            }
        };
        tokio::time::timeout(3 * PATIENCE, waiting).await.ok()
    }

    /// Waits until every job of a submission is completed.
    pub(crate) async fn until_completed(&self, submitted: &Submitted) {
        for job_id in &submitted.job_ids {
            self.until_status(job_id, JobStatus::Completed).await;
        }
    }

    pub(crate) async fn job(&self, job_id: &JobId) -> JobDetail {
        self.engine.job(job_id.clone()).await.unwrap()
    }

    pub(crate) async fn jobs(&self) -> Vec<JobView> {
        self.engine
            .jobs(JobFilter::default(), None, 500)
            .await
            .unwrap()
            .jobs
    }

    /// Waits until a job fits, looking again at every event.
    pub(crate) async fn until(
        &self,
        job_id: &JobId,
        what: &str,
        fits: impl Fn(&JobDetail) -> bool,
    ) -> JobDetail {
        let mut events = self.engine.subscribe();
        let waiting = async {
            loop {
                let detail = self.job(job_id).await;
                if fits(&detail) {
                    return detail;
                }
                // Falling behind means only that there is more to look at.
                drop(events.recv().await);
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(detail) => detail,
            Err(_) => panic!(
                "waited for {what}, but the job is {:#?}\nand the lanes are {:#?}",
                self.job(job_id).await,
                self.engine.overview().await
            ),
        }
    }

    pub(crate) async fn until_status(&self, job_id: &JobId, status: JobStatus) -> JobDetail {
        self.until(job_id, status.as_str(), |detail| {
            detail.job.status == status
        })
        .await
    }

    /// Waits until a job waits for its next delivery after `attempts` failed ones.
    pub(crate) async fn until_retrying(&self, job_id: &JobId, attempts: u32) -> JobDetail {
        self.until(job_id, "a retry", |detail| {
            detail.job.status == JobStatus::Pending && detail.job.attempts == attempts
        })
        .await
    }
}

pub(crate) fn submission(queue: QueueName, provider: Provider) -> Submission {
    Submission {
        name: "Test".to_owned(),
        queue,
        delivery: None,
        template: "pdf-summarize-v1".to_owned(),
        provider,
        model: None,
        cap_micros: None,
        paused: false,
        variables: Variables::new(),
        fresh: false,
        pilot: None,
    }
}

/// Returns how an engine of these tests is opened.
pub(crate) fn config(
    folder: &Path,
    claude: &FakeClaude,
    clock: &Arc<ManualClock>,
    secrets: &Arc<MemorySecrets>,
    person: &Arc<Person>,
) -> EngineConfig {
    let worker = PdfWorkerConfig::new(env!("CARGO_BIN_EXE_gistmill-pdf-worker"));
    let mut config = EngineConfig::new(&folder.join("data"), worker);
    config.environment_base_url = Some(claude.url());
    config.secrets = Arc::clone(secrets) as Arc<dyn SecretStore>;
    config.clock = Arc::clone(clock) as Arc<dyn Clock>;
    config.notifications = Some(Arc::clone(person) as Arc<dyn NotificationSink>);
    config.jitter_seed = 1;
    config
}
