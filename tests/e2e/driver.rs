//! Starts the app under WebKitWebDriver and looks at its window.
//!
//! Each [`App`] has a driver, a port and a process group of its own; dropping it ends them all, as
//! does a test that panics.

use std::ffi::{OsStr, OsString};
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};

/// How long anything may take to appear. Generous, because machines that test are slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// The folders of one person's machine: what they hold outlives a restart of the app.
pub(crate) struct Machine {
    folder: tempfile::TempDir,
    environment: Vec<(OsString, OsString)>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
        .with("LANG", "en_US.UTF-8")
    }

    /// Sets a variable for the app, in place of the one before it.
    pub(crate) fn with(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment
            .push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Where the app keeps its database and its results.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("gistmill")
    }

    /// A folder of the person's own.
    pub(crate) fn documents(&self) -> PathBuf {
        let folder = self.folder.path().join("documents");
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Starts the app and waits for its window.
    pub(crate) async fn start(&self) -> App {
        self.start_with(&[]).await
    }

    /// Starts the app as the system does when files are dropped on its icon.
    pub(crate) async fn start_with(&self, files: &[&Path]) -> App {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let mut command = Command::new("WebKitWebDriver");
        command
            .arg(format!("--port={port}"))
            .arg("--host=127.0.0.1")
            .env_remove("LC_ALL")
            .env_remove("LC_CTYPE")
            .env_remove("ANTHROPIC_API_KEY")
            .env_remove("ANTHROPIC_BASE_URL")
            .env_remove("ANTHROPIC_AUTH_TOKEN")
            .env_remove("ANTHROPIC_CUSTOM_HEADERS")
            // Without it a request for a session is never answered.
            .env("TAURI_WEBVIEW_AUTOMATION", "true")
            // Without it pictures show an old frame.
            .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
            .env("GISTMILL_DATA_DIR", self.data());
        for name in ["DATA", "CONFIG", "CACHE", "STATE"] {
            command.env(
                format!("XDG_{name}_HOME"),
                self.folder.path().join(name.to_lowercase()),
            );
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        let driver = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()
            .expect("WebKitWebDriver starts (Debian package webkit2gtk-driver)");
        // Owned from here on, so that it is ended whatever fails below.
        let mut app = App {
            driver,
            client: None,
        };
        app.wait_until("the driver listens", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        })
        .await;

        // Never with a `browserName`, which the driver refuses.
        let capabilities = json!({ "webkitgtk:browserOptions": {
            "binary": env!("CARGO_BIN_EXE_gistmill-desktop"), "args": files,
        }});
        let Value::Object(capabilities) = capabilities else {
            unreachable!("built as an object")
        };
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let connecting = builder.capabilities(capabilities);
        let client = tokio::time::timeout(
            PATIENCE,
            connecting.connect(&format!("http://127.0.0.1:{port}")),
        )
        .await
        .expect("the app answers the driver in time")
        .expect("the app starts under the driver");
        app.client = Some(client);
        app
    }
}

/// A running app.
pub(crate) struct App {
    driver: Child,
    client: Option<Client>,
}

impl App {
    pub(crate) fn client(&self) -> &Client {
        self.client.as_ref().expect("the session is open")
    }

    /// Waits for what the interface marks with a `data-testid`.
    pub(crate) async fn find(&self, testid: &str) -> Element {
        self.css(&format!("[data-testid='{testid}']")).await
    }

    /// Waits for what a CSS selector chooses.
    pub(crate) async fn css(&self, selector: &str) -> Element {
        match self
            .client()
            .wait()
            .at_most(PATIENCE)
            .for_element(Locator::Css(selector))
            .await
        {
            Ok(element) => element,
            Err(error) => self.fail(&format!("{selector} did not appear: {error}")),
        }
    }

    /// Waits for an element and clicks it.
    pub(crate) async fn click(&self, testid: &str) {
        let element = self.find(testid).await;
        if let Err(error) = element.click().await {
            self.fail(&format!("{testid} could not be clicked: {error}"));
        }
    }

    /// Runs JavaScript in the page and returns what it returns.
    pub(crate) async fn run(&self, script: &str, arguments: Vec<Value>) -> Value {
        match tokio::time::timeout(PATIENCE, self.client().execute(script, arguments)).await {
            Ok(Ok(value)) => value,
            Ok(Err(error)) => self.fail(&format!("{script}: {error}")),
            Err(_elapsed) => self.fail(&format!("the page does not answer: {script}")),
        }
    }

    /// Drops files on the window. The system's drag can't be played here; this is the event that
    /// Tauri makes of it.
    pub(crate) async fn drop_paths(&self, paths: &[&Path]) {
        self.run(
            "const [paths] = arguments;
             const position = { x: 400, y: 300 };
             const send = (event) => window.__TAURI_INTERNALS__.invoke('plugin:event|emit', event);
             send({ event: 'tauri://drag-enter', payload: { paths, position } });
             send({ event: 'tauri://drag-drop', payload: { paths, position } });",
            vec![json!(paths)],
        )
        .await;
    }

    /// Waits until a script returns true.
    pub(crate) async fn until(&self, what: &str, script: &str) {
        let end = Instant::now() + PATIENCE;
        while self.run(script, vec![]).await != json!(true) {
            if Instant::now() > end {
                let text = self.run("return document.body.innerText", vec![]).await;
                self.fail(&format!(
                    "waited for nothing: {what}. The window shows:\n{text}"
                ));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// Says whether the interface shows nothing with this `data-testid` now.
    pub(crate) async fn absent(&self, testid: &str) -> bool {
        let script = "return document.querySelector(`[data-testid='${arguments[0]}']`) === null";
        self.run(script, vec![json!(testid)]).await == json!(true)
    }

    async fn wait_until(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let end = Instant::now() + PATIENCE;
        while !condition() {
            assert!(Instant::now() < end, "waited for nothing: {what}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Keeps a picture of the screen, then panics.
    pub(crate) fn fail(&self, reason: &str) -> ! {
        let picture =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}.png", std::process::id()));
        // Not through the driver: a page that hangs would not answer it.
        let taken = Command::new("import")
            .args(["-window", "root"])
            .arg(&picture)
            .status();
        let taken = taken.is_ok_and(|status| status.success());
        let picture = if taken {
            picture.display().to_string()
        } else {
            "none".to_owned()
        };
        panic!("{reason}\n(a picture of the screen: {picture})");
    }

    /// Asks the app to end, as the end of a session does, and waits until it has.
    pub(crate) async fn quit(mut self) {
        let pid = self.pid().expect("the app runs");
        signal("TERM", &pid.to_string());
        let started = Instant::now();
        self.wait_until("the app ends when asked to", || !is_alive(pid))
            .await;
        assert!(
            started.elapsed() < Duration::from_secs(15),
            "the shutdown has a deadline"
        );
        self.client = None;
    }

    /// Ends the app as a power cut does.
    pub(crate) fn kill(self) {
        drop(self);
    }

    /// The app's process: the driver's child.
    fn pid(&self) -> Option<u32> {
        processes().find(|&pid| parent(pid) == Some(self.driver.id()))
    }
}

impl Drop for App {
    fn drop(&mut self) {
        // The group holds the app and the webview's processes too.
        signal("KILL", &format!("-{}", self.driver.id()));
        // It was killed: its exit status says nothing.
        let _ = self.driver.wait();
    }
}

fn signal(name: &str, target: &str) {
    Command::new("kill")
        .args(["-s", name, "--", target])
        .stderr(Stdio::null())
        .status()
        .unwrap();
}

fn processes() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// The fields of `/proc/PID/stat` after the name, which may hold spaces.
fn status(pid: u32) -> Option<Vec<String>> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = line.rsplit_once(')')?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

fn parent(pid: u32) -> Option<u32> {
    status(pid)?.get(1)?.parse().ok()
}

fn is_alive(pid: u32) -> bool {
    status(pid).is_some_and(|fields| fields[0] != "Z")
}
