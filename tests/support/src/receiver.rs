//! A receiver of webhooks: keeps what it hears and answers as it is told.

use std::collections::VecDeque;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

/// One message that came.
#[derive(Clone, Debug)]
pub struct Heard {
    /// Its headers, by lower-case name.
    pub headers: Vec<(String, String)>,
    /// Its body, as it came.
    pub body: String,
}

impl Heard {
    /// Returns a header's value, or nothing.
    #[must_use]
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .iter()
            .find(|(of, _)| of == name)
            .map_or("", |(_, value)| value)
    }
}

#[derive(Default)]
struct Shared {
    heard: Mutex<Vec<Heard>>,
    answers: Mutex<VecDeque<u16>>,
    came: Notify,
}

/// A running receiver; it ends when it is dropped.
pub struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    _stop: DropGuard,
}

impl Receiver {
    /// Starts a receiver that answers with these statuses in turn, and with 204 after them.
    ///
    /// # Panics
    /// When no port of 127.0.0.1 can be bound, since no test could go on.
    #[expect(clippy::expect_used, reason = "a test without its server can't go on")]
    pub async fn answering(statuses: &[u16]) -> Self {
        let shared = Arc::new(Shared {
            answers: Mutex::new(statuses.iter().copied().collect()),
            ..Shared::default()
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound port has an address");
        let router = Router::new()
            .route("/hook", post(hear))
            .with_state(Arc::clone(&shared));
        let stopped = CancellationToken::new();
        let end = stopped.clone().cancelled_owned();
        tokio::spawn(async move {
            // An error of the listener ends it; the sender then sees a refused connection.
            axum::serve(listener, router)
                .with_graceful_shutdown(end)
                .await
        });
        Self {
            address,
            shared,
            _stop: stopped.drop_guard(),
        }
    }

    /// Returns where to send to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Returns what was heard so far.
    #[must_use]
    pub fn heard(&self) -> Vec<Heard> {
        locked(&self.shared.heard).clone()
    }

    /// Waits until so many messages have come, and returns them.
    pub async fn until(&self, count: usize) -> Vec<Heard> {
        loop {
            let came = self.shared.came.notified();
            let heard = self.heard();
            if heard.len() >= count {
                return heard;
            }
            came.await;
        }
    }
}

async fn hear(State(shared): State<Arc<Shared>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let headers = headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.as_str().to_owned(), value)
        })
        .collect();
    let body = String::from_utf8_lossy(&body).into_owned();
    locked(&shared.heard).push(Heard { headers, body });
    shared.came.notify_waiters();
    let status = locked(&shared.answers).pop_front().unwrap_or(204);
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
