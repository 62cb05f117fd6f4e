//! A proxy in front of an S3 server that does what servers and networks do on bad days.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

/// What happens to a request.
#[derive(Clone, Debug)]
pub enum Fault {
    /// It is forwarded, as without a fault.
    None,
    /// It is read, not forwarded, and answered.
    Answer {
        /// The status.
        status: u16,
        /// Headers beside the content length.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// It is forwarded and worked; the connection ends before a byte of the reply.
    LoseReply,
    /// It is forwarded and worked; the connection ends in the middle of the reply.
    CutReply,
    /// The connection ends in the middle of its body; the server sees no more of it, either.
    CutBody,
    /// It is forwarded after a while.
    Delay(Duration),
}

impl Fault {
    /// An answer as R2 gives it: an XML body with the error's code.
    #[must_use]
    pub fn error(status: u16, code: &str) -> Self {
        Self::said(status, code, "The server says what it is.")
    }

    /// An answer as R2 gives it: an XML body with the error's code and a message.
    #[must_use]
    pub fn said(status: u16, code: &str, message: &str) -> Self {
        Self::Answer {
            status,
            headers: vec![("content-type".to_owned(), "application/xml".to_owned())],
            body: format!(
                "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Error><Code>{code}</Code>\
                 <Message>{message}</Message></Error>"
            ),
        }
    }
}

#[derive(Default)]
struct Script {
    /// What the next requests of a method meet.
    next: HashMap<String, VecDeque<Fault>>,
    /// What all others of a method meet.
    always: HashMap<String, Fault>,
    /// How many came, by method.
    came: HashMap<String, usize>,
}

struct Shared {
    upstream: String,
    script: Mutex<Script>,
}

impl Shared {
    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request and returns what happens to it.
    fn meets(&self, method: &str) -> Fault {
        let mut script = self.script();
        *script.came.entry(method.to_owned()).or_default() += 1;
        script
            .next
            .get_mut(method)
            .and_then(VecDeque::pop_front)
            .or_else(|| script.always.get(method).cloned())
            .unwrap_or(Fault::None)
    }
}

/// A running proxy; it ends when it is dropped.
pub struct FaultProxy {
    address: SocketAddr,
    shared: Arc<Shared>,
    listening: Option<DropGuard>,
}

impl FaultProxy {
    /// Starts a proxy in front of the server at `url` (`http://ADDRESS:PORT`).
    ///
    /// # Panics
    /// When no port of 127.0.0.1 can be bound, since no test could go on.
    #[expect(clippy::expect_used, reason = "a test without its server can't go on")]
    pub async fn before(url: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port on 127.0.0.1");
        let address = listener.local_addr().expect("a bound port has an address");
        let shared = Arc::new(Shared {
            upstream: url.trim_start_matches("http://").to_owned(),
            script: Mutex::default(),
        });
        Self {
            listening: Some(listen(listener, &shared)),
            address,
            shared,
        }
    }

    /// Returns its address, without a slash at the end.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Lets the next requests of a method (`PUT`) meet these, one each.
    pub fn next(&self, method: &str, faults: impl IntoIterator<Item = Fault>) {
        self.shared
            .script()
            .next
            .entry(method.to_owned())
            .or_default()
            .extend(faults);
    }

    /// Lets all requests of a method meet this, after those that `next` named.
    pub fn always(&self, method: &str, fault: Fault) {
        self.shared.script().always.insert(method.to_owned(), fault);
    }

    /// Ends all faults.
    pub fn clear(&self) {
        let mut script = self.shared.script();
        script.next.clear();
        script.always.clear();
    }

    /// Returns how many requests of a method came.
    #[must_use]
    pub fn came(&self, method: &str) -> usize {
        self.shared.script().came.get(method).copied().unwrap_or(0)
    }

    /// Refuses connections, and ends those that there are.
    pub async fn hang_up(&mut self) {
        self.listening = None;
        // The port is closed a moment after the task that listens was told.
        while TcpStream::connect(self.address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Accepts connections again, at the same address.
    ///
    /// # Panics
    /// When another program has taken the port.
    #[expect(clippy::expect_used, reason = "a test without its server can't go on")]
    pub async fn pick_up(&mut self) {
        let listener = TcpListener::bind(self.address)
            .await
            .expect("the port of before");
        self.listening = Some(listen(listener, &self.shared));
    }
}

fn listen(listener: TcpListener, shared: &Arc<Shared>) -> DropGuard {
    let stopped = CancellationToken::new();
    let (end, shared) = (stopped.clone(), Arc::clone(shared));
    tokio::spawn(async move {
        loop {
            let accepted = tokio::select! {
                () = end.cancelled() => return,
                accepted = listener.accept() => accepted,
            };
            let Ok((client, _)) = accepted else { return };
            let (end, shared) = (end.clone(), Arc::clone(&shared));
            tokio::spawn(async move {
                tokio::select! {
                    () = end.cancelled() => {}
                    // A connection that breaks is what this is for.
                    _ = serve(client, &shared) => {}
                }
            });
        }
    });
    stopped.drop_guard()
}

/// Serves the one request of a connection.
async fn serve(mut client: TcpStream, shared: &Shared) -> io::Result<()> {
    let Some(head) = Head::read(&mut client).await? else {
        return Ok(());
    };
    let fault = shared.meets(&head.method);
    if matches!(fault, Fault::CutBody) {
        let mut half = vec![0; head.missing() / 2];
        client.read_exact(&mut half).await?;
        let mut server = TcpStream::connect(&shared.upstream).await?;
        server.write_all(&head.forwarded).await?;
        server.write_all(&head.began).await?;
        server.write_all(&half).await?;
        return Ok(());
    }
    let mut body = head.began.clone();
    let began = body.len();
    body.resize(began + head.missing(), 0);
    client.read_exact(&mut body[began..]).await?;
    match fault {
        Fault::Answer {
            status,
            headers,
            body,
        } => {
            let headers: String = headers
                .iter()
                .map(|(name, value)| format!("{name}: {value}\r\n"))
                .collect();
            // An answer to HEAD has no body.
            let shown = if head.method == "HEAD" { "" } else { &body };
            let answer = format!(
                "HTTP/1.1 {status} Scripted\r\n{headers}content-length: {}\r\n\
                 connection: close\r\n\r\n{shown}",
                body.len()
            );
            client.write_all(answer.as_bytes()).await?;
            return client.shutdown().await;
        }
        Fault::Delay(time) => tokio::time::sleep(time).await,
        Fault::None | Fault::LoseReply | Fault::CutReply | Fault::CutBody => {}
    }
    let mut server = TcpStream::connect(&shared.upstream).await?;
    server.write_all(&head.forwarded).await?;
    server.write_all(&body).await?;
    let mut reply = Vec::new();
    server.read_to_end(&mut reply).await?;
    match fault {
        Fault::LoseReply => Ok(()),
        Fault::CutReply => client.write_all(&reply[..reply.len() / 2]).await,
        _ => {
            client.write_all(&reply).await?;
            client.shutdown().await
        }
    }
}

/// The head of a request, and what of its body came with it.
struct Head {
    method: String,
    content_length: usize,
    /// As it came, but for `connection: close`: the signature covers the host and must go on to fit.
    forwarded: Vec<u8>,
    began: Vec<u8>,
}

impl Head {
    /// Reads a head; `None` when the client closed the connection without a request.
    async fn read(client: &mut TcpStream) -> io::Result<Option<Self>> {
        const END: &[u8] = b"\r\n\r\n";
        let mut bytes = Vec::new();
        let end = loop {
            if let Some(at) = bytes.windows(END.len()).position(|four| four == END) {
                break at;
            }
            if client.read_buf(&mut bytes).await? == 0 {
                return Ok(None);
            }
        };
        let began = bytes.split_off(end + END.len());
        bytes.truncate(end);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let method = text.split(' ').next().unwrap_or_default().to_owned();
        let content_length = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
            .and_then(|(_, value)| value.trim().parse().ok())
            .unwrap_or(0);
        bytes.extend_from_slice(b"\r\nconnection: close\r\n\r\n");
        Ok(Some(Self {
            method,
            content_length,
            forwarded: bytes,
            began,
        }))
    }

    /// How many bytes of the body have not come yet.
    fn missing(&self) -> usize {
        self.content_length.saturating_sub(self.began.len())
    }
}
