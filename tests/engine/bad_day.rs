//! A bad day: a double that does what it likes, and a program that is started and killed while it works.
//!
//! Killed means that its runtime is dropped with all that runs in it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use gistmill_engine::Engine;
use gistmill_engine::model::{
    CapScope, ConsumerPlace, CopiesTo, Provider, QueueName, Settings, Submission, WaitingReason,
};
use gistmill_engine::provider::claude::Timeouts;
use gistmill_engine::secrets::MemorySecrets;
use gistmill_testkit::fake_claude::{FakeClaude, Fault, Options, Plan, Reply, Rule, Scenario};
use gistmill_testkit::pdf::text_pdf;
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::support::{ManualClock, Person, config, submission};

/// Two models; the second costs five times as much for a prompt of more than 100,000 tokens.
const MODELS: [&str; 2] = ["claude-sonnet-4-6", "claude-haiku-5-5"];
/// Nothing happens for so long: then the clock is turned, or all is done.
const QUIET: Duration = Duration::from_millis(30);
/// By how much the clock is turned.
const STEP: Duration = Duration::from_secs(20);
/// How long a dead program may take to be gone.
const GONE: Duration = Duration::from_secs(30);
/// Calls that a day can come to.
const MOST_CALLS: usize = 9_000;

/// A small generator, so that a day is the same each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    /// What a call meets on a bad day.
    fn reply(&mut self) -> Reply {
        let after_deltas = usize::try_from(self.below(4)).unwrap();
        let fault = match self.below(1_000) {
            0..60 => Fault::RateLimited,
            60..75 => Fault::RampLimited,
            75..110 => Fault::Overloaded,
            110..140 => Fault::Internal,
            140..150 => Fault::BadGateway,
            150..160 => Fault::Unavailable,
            160..170 => Fault::GatewayTimeout,
            170..180 => Fault::RequestTimeout,
            180..185 => Fault::Conflict,
            185..190 => Fault::PdfNotProcessed,
            190..195 => Fault::ContentFiltered,
            195..235 => return Reply::Cut { after_deltas },
            235..255 => return Reply::Unfinished,
            255..285 => {
                let error =
                    serde_json::json!({"type": "overloaded_error", "message": "Overloaded"});
                return Reply::ErrorEvent {
                    after_deltas,
                    error,
                };
            }
            285..290 => return Reply::Stall { after_deltas },
            290..293 => return Reply::Hang,
            293..303 => return Reply::Lost,
            303..323 => return Reply::refusal(),
            323..338 => return Reply::stopped("refusal"),
            338..358 => return Reply::stopped("max_tokens"),
            _ => {
                return Reply::Answer(Plan {
                    output_tokens: Some(50 + self.below(900)),
                    ..Plan::default()
                });
            }
        };
        Reply::fault(fault)
    }
}

/// How a life of the program ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// In the middle of its work.
    Killed,
    /// Nothing is left to do.
    Drained,
    /// A cap stops what is left.
    Capped,
}

/// A double on a bad day, and the data of a program that is started and killed.
pub(crate) struct Day {
    folder: TempDir,
    clock: Arc<ManualClock>,
    pub(crate) claude: FakeClaude,
    secrets: Arc<MemorySecrets>,
    person: Arc<Person>,
    /// Lives as long as the double, longer than any program.
    _outside: Runtime,
}

impl Day {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let rules = (1..=MOST_CALLS)
            .map(|call| Rule::nth(call, dice.reply()))
            .collect();
        let options = Options {
            scenario: Scenario {
                rules,
                ..Scenario::default()
            },
            ..Options::default()
        };
        let outside = runtime();
        let claude = outside.block_on(FakeClaude::start_with(options)).unwrap();
        Self {
            folder: tempfile::tempdir().unwrap(),
            clock: ManualClock::at_noon(),
            claude,
            secrets: Arc::default(),
            person: Arc::default(),
            _outside: outside,
        }
    }

    /// Lets a program do something, and ends it as it ought to be ended.
    pub(crate) fn visit<T>(&self, work: impl AsyncFnOnce(&Engine) -> T) -> T {
        let runtime = runtime();
        runtime.block_on(async {
            let engine = self.open().await;
            let done = work(&engine).await;
            engine.shutdown().await;
            done
        })
    }

    async fn open(&self) -> Engine {
        let mut config = config(
            self.folder.path(),
            &self.claude,
            &self.clock,
            &self.secrets,
            &self.person,
        );
        config.timeouts = Timeouts {
            first_byte: Duration::from_millis(400),
            idle: Duration::from_millis(400),
            ..Timeouts::default()
        };
        config.environment_key = Some("sk-ant-test-0123456789".into());
        Engine::open(config).await.unwrap()
    }

    /// Adds prompts, short documents and a few of more than 100,000 tokens.
    pub(crate) fn add(&self, prompts: usize, documents: usize, long: usize) {
        let drop = self.folder.path().join("drop");
        put_pdfs(&drop, documents, long);
        self.visit(async |engine| {
            let settings = Settings {
                copies_to: CopiesTo::Nowhere,
                tokens_per_minute: 4_000_000_000,
                ..engine.settings().await.unwrap()
            };
            engine.save_settings(settings).await.unwrap();
            for number in 0..prompts {
                let prompt = format!("What is {number} more than {}?", number * 7);
                let lane = QueueName::ALL[usize::from(number % 5 == 0)];
                let wanted = asking(MODELS[number % 2], lane);
                engine.submit_prompt(prompt, wanted).await.unwrap();
            }
            for (folder, model) in [("short", MODELS[0]), ("long", MODELS[1])] {
                let report = engine.scan(vec![drop.join(folder)]).await.unwrap();
                let wanted = asking(model, QueueName::High);
                engine.submit_scan(report.scan_id, wanted).await.unwrap();
            }
        });
    }

    /// Runs the program until it is killed at a call, or has nothing left that it may do.
    pub(crate) fn live(&self, killed_at: Option<usize>) -> End {
        let runtime = runtime();
        let end = runtime.block_on(async {
            let engine = self.open().await;
            let place = engine.start_consumer(false).await.unwrap();
            assert_eq!(place, ConsumerPlace::Here, "the dead one must be gone");
            let end = tokio::select! {
                end = work(&engine, &self.clock) => end,
                () = self.claude.arrived(killed_at.unwrap_or(usize::MAX)) => End::Killed,
            };
            if end != End::Killed {
                engine.shutdown().await;
            }
            end
        });
        runtime.shutdown_timeout(GONE);
        end
    }

    pub(crate) fn database(&self) -> Connection {
        Connection::open(self.folder.path().join("data/gistmill.db")).unwrap()
    }
}

/// Turns the clock whenever nothing else goes on, until nothing is left that may run.
async fn work(engine: &Engine, clock: &ManualClock) -> End {
    let mut events = engine.subscribe();
    loop {
        // Falling behind is a sign of life, too.
        while tokio::time::timeout(QUIET, events.recv()).await.is_ok() {}
        let overview = engine.overview().await.unwrap();
        let capped = overview.lanes.iter().any(|lane| {
            let scope = CapScope::Day;
            matches!(&lane.obstacle, Some(WaitingReason::SpendCap { scope: found, .. }) if *found == scope)
        });
        match (overview.counts.running, overview.counts.waiting) {
            (0, 0) => return End::Drained,
            (0, _) if capped => return End::Capped,
            (0, _) => clock.advance(STEP),
            _ => {}
        }
    }
}

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn asking(model: &str, queue: QueueName) -> Submission {
    Submission {
        model: Some(model.to_owned()),
        ..submission(queue, Provider::Claude)
    }
}

fn put_pdfs(drop: &Path, short: usize, long: usize) {
    for (folder, count, pages) in [("short", short, 2), ("long", long, 66)] {
        let folder = drop.join(folder);
        std::fs::create_dir_all(&folder).unwrap();
        for number in 0..count {
            let texts: Vec<String> = (1..=pages)
                .map(|page| format!("Page {page} of {number}. It says what it says."))
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            std::fs::write(folder.join(format!("{number:03}.pdf")), text_pdf(&texts)).unwrap();
        }
    }
}
