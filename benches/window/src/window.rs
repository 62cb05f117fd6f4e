//! The app under WebKitWebDriver.

use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

use crate::{Outcome, processes};

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Window {
    driver: Child,
    client: Client,
}

/// Ends a driver and all that it started.
struct Ending<'a>(&'a mut Child);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let group = format!("-{}", self.0.id());
        // They are thrown away: how they ended says nothing.
        let _ = Command::new("kill")
            .args(["-s", "KILL", "--", &group])
            .stderr(Stdio::null())
            .status();
        let _ = self.0.wait();
    }
}

impl Window {
    /// Starts the program over the data in `home`.
    pub(crate) async fn start(program: &Path, home: &Path) -> Outcome<Self> {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let mut command = Command::new("WebKitWebDriver");
        command
            .arg(format!("--port={port}"))
            .arg("--host=127.0.0.1")
            .env("LANG", "en_US.UTF-8")
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            .env("GISTMILL_DATA_DIR", home.join("gistmill"))
            // Nothing is to be sent, whatever keys the machine has.
            .env("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
            .env_remove("ANTHROPIC_API_KEY")
            .env_remove("ANTHROPIC_AUTH_TOKEN");
        for name in ["DATA", "CONFIG", "CACHE", "STATE"] {
            command.env(format!("XDG_{name}_HOME"), home.join(name.to_lowercase()));
        }
        let mut driver = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        match connect(program, port).await {
            Ok(client) => Ok(Self { driver, client }),
            Err(error) => {
                drop(Ending(&mut driver));
                Err(error)
            }
        }
    }

    /// The app's process.
    pub(crate) fn process(&self) -> Outcome<u32> {
        Ok(processes::child_of(self.driver.id()).ok_or("the app has ended")?)
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// Runs a script in the page and returns what it returns.
    pub(crate) async fn run(&self, script: &str, arguments: Vec<Value>) -> Outcome<Value> {
        Ok(tokio::time::timeout(PATIENCE, self.client.execute(script, arguments)).await??)
    }

    /// Runs a script that hands its outcome to its last argument.
    pub(crate) async fn run_long(&self, script: &str, arguments: Vec<Value>) -> Outcome<Value> {
        Ok(tokio::time::timeout(PATIENCE, self.client.execute_async(script, arguments)).await??)
    }

    /// Returns the milliseconds from the start of the process to the first rows on the screen.
    pub(crate) async fn first_rows(&self) -> Outcome<f64> {
        let script = "const [mark] = performance.getEntriesByName('first-rows');
                      return mark ? performance.timeOrigin + mark.startTime : null;";
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(at) = self.run(script, vec![]).await?.as_f64() {
                return Ok(at - processes::started_at(self.process()?)?);
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Err("no rows appeared".into())
    }

    /// Asks the app to end, and waits until it has.
    pub(crate) async fn end(mut self) -> Outcome<()> {
        let process = self.process()?;
        Command::new("kill")
            .args(["-s", "TERM", &process.to_string()])
            .status()?;
        let end = Instant::now() + PATIENCE;
        while processes::child_of(self.driver.id()).is_some() && Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(Ending(&mut self.driver));
        Ok(())
    }
}

async fn connect(program: &Path, port: u16) -> Outcome<Client> {
    let end = Instant::now() + PATIENCE;
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() {
        if Instant::now() > end {
            return Err("the driver does not listen".into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // Never with a `browserName`, which the driver refuses.
    let capabilities = json!({ "webkitgtk:browserOptions": { "binary": program, "args": [] } });
    let Value::Object(capabilities) = capabilities else {
        unreachable!("built as an object")
    };
    let mut builder = ClientBuilder::new(HttpConnector::new());
    let connecting = builder.capabilities(capabilities);
    let address = format!("http://127.0.0.1:{port}");
    Ok(tokio::time::timeout(PATIENCE, connecting.connect(&address)).await??)
}
