//! A server that behaves as Claude's Messages API does, faults included.
//!
//! It checks what it is sent as strictly as the API's documents say, keeps a journal that proves
//! which bytes arrived, and answers with a plausible summary, or with what a script tells it to.
//! It is itself checked by the official Python SDK as its client (`tests/sdk`).

mod answer;
mod catalogue;
mod check;
mod document;
mod fault;
mod journal;
mod script;
mod server;
mod stream;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use fault::{Canned, Fault};
pub use journal::{Recorded, RecordedDocument};
pub use script::{Plan, Reply, Rule, Scenario, ScenarioError};

use journal::Journal;
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
    journal: Journal,
    drops_documents: bool,
    stopped: CancellationToken,
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
        let shared = Arc::new(Shared {
            api_key: options.api_key,
            latency: options.latency,
            script: Script::new(options.scenario),
            journal: Journal::default(),
            drops_documents: options.drops_documents,
            stopped: stopped.clone(),
        });
        let router = server::router(Arc::clone(&shared));
        let end = stopped.clone().cancelled_owned();
        tokio::spawn(async move {
            // It ends when the token fires; an error of the listener ends it sooner, and every
            // client then sees a refused connection.
            axum::serve(listener, router)
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
}
