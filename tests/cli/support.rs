//! Runs the real binary in a folder of its own.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use gistmill_testkit::fake_claude::FakeClaude;
use gistmill_testkit::pdf::text_pdf;
use serde_json::Value;
use tempfile::TempDir;

/// Longest that anything awaited may take before the test says what it waited for.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often what is awaited is looked at.
const LOOK: Duration = Duration::from_millis(25);

/// A folder with data and PDFs, and the binary that works on it.
pub(crate) struct Desk {
    folder: TempDir,
    environment: Vec<(String, String)>,
}

impl Desk {
    /// A desk without a key.
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            environment: Vec::new(),
        }
    }

    /// A desk with a key, whose Claude is the fake one.
    pub(crate) fn asking(claude: &FakeClaude) -> Self {
        Self::asking_at(claude.url())
    }

    /// A desk with a key, whose Claude is at this address.
    pub(crate) fn asking_at(url: String) -> Self {
        let mut desk = Self::new();
        desk.environment = vec![
            ("ANTHROPIC_BASE_URL".to_owned(), url),
            (
                "ANTHROPIC_API_KEY".to_owned(),
                "sk-ant-test-0123456789".to_owned(),
            ),
        ];
        desk
    }

    /// Gives the binary a variable of its environment.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file below the folder.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes so many different PDFs into `pdfs/`.
    pub(crate) fn put_pdfs(&self, count: usize) {
        for number in 1..=count {
            let text = format!(
                "Report {number} on the river. The level rose by {number} centimetres in spring. \
                 The bridge stayed open. Nobody was hurt."
            );
            self.put(&format!("pdfs/report-{number:03}.pdf"), &text_pdf(&[&text]));
        }
    }

    /// Returns a call of the binary.
    pub(crate) fn gistmill(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gistmill"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("GISTMILL_DATA_DIR", self.path("data"))
            // No keychain: what a machine without a desktop is like.
            .env_remove("DBUS_SESSION_BUS_ADDRESS")
            .env("XDG_RUNTIME_DIR", self.folder.path())
            .env_remove("ANTHROPIC_API_KEY")
            .env_remove("ANTHROPIC_BASE_URL")
            .env_remove("ANTHROPIC_AUTH_TOKEN")
            .env_remove("ANTHROPIC_CUSTOM_HEADERS")
            .env_remove("GISTMILL_R2_SECRET")
            .env("TZ", "UTC")
            .envs(self.environment.clone())
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.gistmill(arguments).output().unwrap()
    }

    /// Runs the binary with this on its standard input.
    pub(crate) fn told(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self
            .gistmill(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // One that needs no more may have ended.
        child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
        child.wait_with_output().unwrap()
    }

    /// Runs the binary, which must succeed, and returns what it printed.
    pub(crate) fn text(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let printed = String::from_utf8(output.stdout).unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{arguments:?} failed:\n{printed}{complaint}"
        );
        printed
    }

    /// Runs the binary, which must end with this code, and returns what it printed and complained of.
    pub(crate) fn ends_with(&self, code: i32, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &complaint(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        said
    }

    /// Starts the binary beside the test; it is killed when the test ends first.
    pub(crate) fn start(&self, arguments: &[&str]) -> Working {
        Working::of(self.gistmill(arguments))
    }

    /// Returns why nothing moves, as `gistmill status` says it.
    pub(crate) fn answer(&self) -> Option<String> {
        self.text(&["status"])
            .lines()
            .find_map(|line| line.strip_prefix("Why is nothing moving? "))
            .map(str::to_owned)
    }

    /// Waits until the reason that nothing moves begins with these words.
    pub(crate) fn until_answer(&self, beginning: &str) -> String {
        let mut last = None;
        until(
            || {
                last = self.answer();
                last.clone().filter(|answer| answer.starts_with(beginning))
            },
            || format!("waited for “{beginning}…”:\n{}", self.text(&["status"])),
        )
    }

    /// Runs the binary with `--json`, which must succeed, and returns what it printed.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        serde_json::from_str(&self.text(&all)).unwrap()
    }
}

/// A binary that runs beside the test.
pub(crate) struct Working(Child);

impl Working {
    /// Starts a call beside the test.
    pub(crate) fn of(mut call: Command) -> Self {
        call.stdout(Stdio::null()).stderr(Stdio::null());
        Self(call.spawn().unwrap())
    }

    /// Says whether it still runs.
    pub(crate) fn runs(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }

    /// Returns the most memory that it has taken at once so far, in kilobytes.
    #[cfg(target_os = "linux")]
    pub(crate) fn most_kilobytes(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmHWM"));
        let kilobytes = line.unwrap().split_whitespace().nth(1);
        kilobytes.unwrap().parse().unwrap()
    }

    /// Waits until it has ended by itself.
    pub(crate) fn ended(mut self) -> ExitStatus {
        until(
            || self.0.try_wait().unwrap(),
            || "the program does not end".to_owned(),
        )
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        // It may have ended already.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// Looks again and again until there is something, and returns it.
pub(crate) fn until<T>(mut look: impl FnMut() -> Option<T>, what: impl Fn() -> String) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(began.elapsed() < PATIENCE, "{}", what());
        std::thread::sleep(LOOK);
    }
}

/// Returns what a call complained of.
pub(crate) fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
