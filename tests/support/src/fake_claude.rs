//! A server that behaves as Claude's Messages API does, faults included.
//!
//! It checks what it is sent as strictly as the API's documents say, keeps a journal that proves
//! which bytes arrived, and answers with a plausible summary, or with what a script tells it to.
//! It is itself checked by the official Python SDK as its client (`tests/sdk`).

mod answer;
mod ask;
mod batches;
mod bill;
mod check;
mod clock;
mod connection;
mod control;
mod document;
mod fault;
mod files;
mod journal;
mod limits;
mod messages;
mod meter;
mod models;
mod page;
mod reply;
mod request;
mod script;
mod server;
mod spend;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use ask::{Ask, AskContent, AskDocument, AskKind, AskRequest};
pub use batches::{BatchSettings, RecordedBatch, RecordedBatchRequest};
pub use bill::{BilledCall, BilledTokens};
pub use clock::ClockSettings;
pub use fault::{Canned, Fault};
pub use files::{FileSettings, RecordedFile};
pub use journal::{Recorded, RecordedDocument};
pub use limits::{LimitSettings, MinuteLimits, RampSettings, Refusals};
pub use reply::{Plan, Reply};
pub use script::{Call, Rule, Scenario, ScenarioError};
pub use spend::SpendSettings;

use batches::Batches;
use bill::Bill;
use clock::Clock;
use connection::{Cut, Listening};
use files::Files;
use journal::Journal;
use limits::Limits;
use script::Script;

/// How a [`FakeClaude`] is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The port on 127.0.0.1; 0 for a free one.
    pub port: u16,
    /// The only key accepted; with `None` every key but an empty one is.
    pub api_key: Option<String>,
    /// How long every answer waits before it begins.
    pub latency: Duration,
    /// What it is told to do.
    pub scenario: Scenario,
    /// Whether it answers without a look at documents and counts no tokens, as Ollama does. The journal
    /// tells what arrived all the same.
    pub drops_documents: bool,
}

/// A running server. It ends, with all its connections, when this is dropped.
#[derive(Debug)]
pub struct FakeClaude {
    address: SocketAddr,
    shared: Arc<Shared>,
    _stop: DropGuard,
}

#[derive(Debug)]
struct Shared {
    api_key: Option<String>,
    latency: Duration,
    script: Script,
    /// The scenario without its rules.
    settings: Scenario,
    clock: Clock,
    batches: Batches,
    files: Files,
    limits: Limits,
    bill: Bill,
    journal: Journal,
    connections: Arc<AtomicUsize>,
    drops_documents: bool,
    stopped: CancellationToken,
}

impl Shared {
    fn billed(&self) -> Vec<BilledCall> {
        let mut calls = self.bill.calls();
        calls.extend(self.batches.billed(self.clock.now()));
        calls
    }

    fn billed_in_all(&self) -> u64 {
        self.bill.total() + self.batches.billed_in_all(self.clock.now())
    }

    /// Refuses a call that would cost while nothing more may be spent.
    fn check_spend(&self) -> Result<(), Canned> {
        let spend = &self.settings.spend;
        // Summing takes time that most tests can do without.
        if *spend == SpendSettings::default() {
            return Ok(());
        }
        spend.check(self.billed_in_all(), self.clock.now())
    }
}

impl FakeClaude {
    /// Starts a server on a free port that accepts every key.
    ///
    /// # Panics
    /// When no port of 127.0.0.1 can be bound, since no test could go on.
    #[expect(clippy::expect_used, reason = "a test without its server can't go on")]
    pub async fn start() -> Self {
        Self::start_with(Options::default())
            .await
            .expect("a free port on 127.0.0.1")
    }

    /// Starts a server as told.
    ///
    /// # Errors
    /// When the port can't be bound.
    pub async fn start_with(options: Options) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, options.port)).await?;
        let address = listener.local_addr()?;
        let stopped = CancellationToken::new();
        let mut settings = options.scenario;
        let connections = Arc::new(AtomicUsize::new(0));
        let listening = Listening::new(listener, Arc::clone(&connections));
        let shared = Arc::new(Shared {
            api_key: options.api_key.or_else(|| settings.api_key.take()),
            latency: options.latency,
            script: Script::new(std::mem::take(&mut settings.rules)),
            clock: Clock::new(&settings.clock),
            limits: Limits::new(std::mem::take(&mut settings.limits)),
            bill: Bill::default(),
            settings,
            batches: Batches::default(),
            files: Files::default(),
            journal: Journal::default(),
            connections,
            drops_documents: options.drops_documents,
            stopped: stopped.clone(),
        });
        let router =
            server::router(Arc::clone(&shared)).into_make_service_with_connect_info::<Cut>();
        let end = stopped.clone().cancelled_owned();
        tokio::spawn(async move {
            // It ends when the token fires; an error of the listener ends it sooner, and every
            // client then sees a refused connection.
            axum::serve(listening, router)
                .with_graceful_shutdown(end)
                .await
        });
        Ok(Self {
            address,
            shared,
            _stop: stopped.drop_guard(),
        })
    }

    /// Returns the base URL, without `/v1`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a rule; earlier rules are asked first.
    pub fn script(&self, rule: Rule) {
        self.shared.script.add(rule);
    }

    /// Returns every request to `POST /v1/messages` so far, in the order of arrival.
    #[must_use]
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.journal.messages()
    }

    /// Returns every request to `POST /v1/messages/count_tokens` so far, in the order of arrival.
    #[must_use]
    pub fn counts(&self) -> Vec<Recorded> {
        self.shared.journal.counts()
    }

    /// Returns every request of any kind so far.
    #[must_use]
    pub fn all_requests(&self) -> Vec<Recorded> {
        self.shared.journal.all()
    }

    /// Waits until `count` requests to `POST /v1/messages` have arrived whole.
    pub async fn arrived(&self, count: usize) {
        self.shared.journal.arrived(count).await;
    }

    /// Turns the double's clock forward: batches end, files expire.
    pub fn advance(&self, by: Duration) {
        self.shared.clock.advance(by);
    }

    /// Returns what the double's clock shows.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.clock.now()
    }

    /// Returns every batch ever created, deleted ones too, in the order of creation.
    #[must_use]
    pub fn batches(&self) -> Vec<RecordedBatch> {
        self.shared.batches.record(self.now())
    }

    /// Returns every file ever uploaded, deleted ones too, in the order of arrival.
    #[must_use]
    pub fn files(&self) -> Vec<RecordedFile> {
        self.shared.files.record()
    }

    /// Returns what is billed so far, messages before requests of batches, each in the order of arrival.
    #[must_use]
    pub fn bill(&self) -> Vec<BilledCall> {
        self.shared.billed()
    }

    /// Returns what is billed so far in all, in millionths of a dollar.
    #[must_use]
    pub fn billed(&self) -> u64 {
        self.shared.billed_in_all()
    }

    /// Returns how often a limit was passed and the call refused.
    #[must_use]
    pub fn refusals(&self) -> Refusals {
        self.shared.limits.refusals()
    }

    /// Returns how many connections were taken so far.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests;
