//! No secret is where somebody could find it: jobs are worked with faults, a crash and much logging, and then
//! everything that was written, printed or shown of the processes is searched for marked secrets.

use std::collections::BTreeSet;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gistmill_testkit::fake_claude::{Canned, FakeClaude, Fault, Reply, Rule};
use gistmill_testkit::pdf::encrypted_pdf;

use crate::support::Desk;

const KEY: &str = "sk-ant-marked-key-7f3a9c51e2";
const TOKEN: &str = "marked-token-5b8d20c4a6f1";
const GATE: &str = "marked-gate-e91c7b35d0a8";
const PASSWORD: &str = "marked-password-0d4e6a82c7";
const R2: &str = "marked-r2-secret-b2f81d93e5";
const SECRETS: [&str; 5] = [KEY, TOKEN, GATE, PASSWORD, R2];

/// Says which secrets are in some bytes: as they are, as base64, and as hexadecimal.
fn found_in(bytes: &[u8]) -> Vec<String> {
    use base64::Engine as _;
    let engine = base64::engine::general_purpose::STANDARD_NO_PAD;
    SECRETS
        .iter()
        .flat_map(|secret| {
            // At the beginning of a text, base64 of a secret is the beginning of the text's base64.
            let encoded = engine.encode(secret);
            let stable = encoded[..encoded.len() - 2].to_owned();
            [(*secret).to_owned(), stable, hex::encode(secret)]
        })
        .filter(|needle| {
            bytes
                .windows(needle.len())
                .any(|window| window == needle.as_bytes())
        })
        .collect()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .flat_map(|entry| {
            let path = entry.path();
            if path.is_dir() {
                files(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

/// Everything that others on the machine see of a process and of its children.
fn seen_of(pid: u32, seen: &mut BTreeSet<Vec<u8>>, environments: &mut BTreeSet<Vec<u8>>) {
    let folder = PathBuf::from(format!("/proc/{pid}"));
    if let Ok(arguments) = std::fs::read(folder.join("cmdline")) {
        seen.insert(arguments);
    }
    let tasks = std::fs::read_dir(folder.join("task"));
    for task in tasks.into_iter().flatten().filter_map(Result::ok) {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for child in children.split_whitespace() {
            let Ok(child) = child.parse() else { continue };
            // The person's own program has its environment; a child that reads PDFs of strangers must not. For a
            // moment before it begins it is a copy of our program.
            let arguments = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            let reads_pdfs = String::from_utf8_lossy(&arguments).contains("--pdf-worker");
            if reads_pdfs && let Ok(environment) = std::fs::read(format!("/proc/{child}/environ")) {
                environments.insert(environment);
            }
            seen_of(child, seen, environments);
        }
    }
}

/// Looks at a process again and again until it ends.
struct Watch {
    stop: Arc<AtomicBool>,
    looking: Option<std::thread::JoinHandle<()>>,
    seen: Seen,
}

/// Command lines of a process and of its children, and the environments of the children.
type Seen = Arc<Mutex<(BTreeSet<Vec<u8>>, BTreeSet<Vec<u8>>)>>;

impl Watch {
    fn on(pid: u32) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Seen::default();
        let looking = {
            let (stop, seen) = (Arc::clone(&stop), Arc::clone(&seen));
            std::thread::spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let mut seen = seen.lock().unwrap();
                    let (lines, environments) = &mut *seen;
                    seen_of(pid, lines, environments);
                    drop(seen);
                    std::thread::sleep(Duration::from_millis(5));
                }
            })
        };
        Self {
            stop,
            looking: Some(looking),
            seen,
        }
    }

    /// Makes sure that nothing that was seen holds a secret. Says whether children were seen.
    fn end(mut self, what: &str) -> bool {
        self.stop.store(true, Ordering::Relaxed);
        self.looking.take().unwrap().join().unwrap();
        let seen = self.seen.lock().unwrap();
        let (lines, environments) = &*seen;
        assert!(!lines.is_empty(), "{what}: the process was seen");
        for line in lines {
            let shown = String::from_utf8_lossy(line);
            assert_eq!(found_in(line), Vec::<String>::new(), "{what}: {shown}");
        }
        for environment in environments {
            assert_eq!(
                found_in(environment),
                Vec::<String>::new(),
                "{what}: a child that reads PDFs knows a secret"
            );
        }
        !environments.is_empty()
    }
}

struct Case {
    desk: Desk,
    printed: Vec<u8>,
    children_seen: bool,
}

impl Case {
    /// Runs the program to its end, or to its death, and keeps all that it printed.
    fn run(&mut self, arguments: &[&str], kill_at: Option<&str>) {
        let mut command = self.desk.gistmill(arguments);
        command
            .env("GISTMILL_LOG", "trace")
            .env("RUST_BACKTRACE", "full")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(moment) = kill_at {
            command.env("GISTMILL_KILL_AT", moment);
        }
        let mut child = command.spawn().unwrap();
        let watch = Watch::on(child.id());
        let printed = all_of(&mut child);
        child.wait().unwrap();
        self.children_seen |= watch.end(&arguments.join(" "));
        assert!(!printed.is_empty(), "{arguments:?} must print something");
        self.printed.extend(printed);
    }
}

fn all_of(child: &mut Child) -> Vec<u8> {
    let mut errors = child.stderr.take().unwrap();
    let reading = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        errors.read_to_end(&mut bytes).unwrap();
        bytes
    });
    let mut bytes = Vec::new();
    child
        .stdout
        .take()
        .unwrap()
        .read_to_end(&mut bytes)
        .unwrap();
    bytes.extend(reading.join().unwrap());
    bytes
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_left_anywhere() {
    // Once with a key, once with a token: both at once are never sent.
    for with_key in [true, false] {
        let claude = FakeClaude::start().await;
        let shown = if with_key {
            KEY.to_owned()
        } else {
            format!("Bearer {TOKEN}")
        };
        let echo = format!("bad {shown}, gate {GATE}");
        for (at, reply) in [
            (1, Reply::fault(Fault::Overloaded)),
            (2, Reply::Cut { after_deltas: 1 }),
            (
                3,
                Reply::Status(Canned::error(400, "invalid_request_error", &echo)),
            ),
            (
                6,
                Reply::Status(
                    Canned::error(401, "authentication_error", &echo)
                        .with_header("request-id", GATE),
                ),
            ),
        ] {
            claude.script(Rule::nth(at, reply));
        }
        let desk = Desk::new()
            .with("ANTHROPIC_BASE_URL", &claude.url())
            .with(
                "ANTHROPIC_CUSTOM_HEADERS",
                &format!("X-Gate: {GATE}\nX-Team: red"),
            )
            .with("GISTMILL_PDF_PASSWORD", PASSWORD)
            .with("GISTMILL_R2_SECRET", R2)
            .with(
                if with_key {
                    "ANTHROPIC_API_KEY"
                } else {
                    "ANTHROPIC_AUTH_TOKEN"
                },
                if with_key { KEY } else { TOKEN },
            );
        desk.put_pdfs(6);
        desk.put(
            "pdfs/locked.pdf",
            &encrypted_pdf(&["A letter behind a password."], PASSWORD),
        );
        let mut case = Case {
            desk,
            printed: Vec::new(),
            children_seen: false,
        };
        // The bucket is an address where nobody answers: every upload fails, with the secret at hand.
        case.run(
            &[
                "bucket",
                "set",
                "--account-id",
                "0123456789abcdef0123456789abcdef",
                "--bucket",
                "results",
                "--key-id",
                "0123456789abcdef0123456789abcdef",
                "--endpoint",
                "http://127.0.0.1:9",
                "--enable",
            ],
            None,
        );
        case.run(&["add", "pdfs", "--queue", "high"], None);
        case.run(&["run"], Some("answered:1"));
        case.run(&["key", "test"], None);
        case.run(&["endpoint"], None);
        case.run(&["run"], Some("stored:2"));
        case.run(&["retry", "--all"], None);
        case.run(&["run"], Some("completed:2"));
        for command in ["status", "jobs", "dead-letters", "config", "bucket"] {
            case.run(&[command], None);
        }
        // Nobody answers at all.
        let nowhere = case.desk.with("ANTHROPIC_BASE_URL", "http://127.0.0.1:9");
        case.desk = nowhere;
        case.run(&["key", "test"], None);

        assert!(case.children_seen, "children that read PDFs were looked at");
        let text = String::from_utf8_lossy(&case.printed);
        for line in text.lines() {
            assert_eq!(
                found_in(line.as_bytes()),
                Vec::<String>::new(),
                "in “{line}”"
            );
        }
        assert!(
            text.contains("TRACE"),
            "the log is as talkative as it can be"
        );
        assert!(
            text.contains("[header]") || text.contains("[key]"),
            "the echo was met"
        );
        let written = files(&case.desk.path("data"));
        assert!(written.iter().any(|path| path.ends_with("gistmill.db")));
        for path in written {
            let bytes = std::fs::read(&path).unwrap_or_default();
            assert_eq!(found_in(&bytes), Vec::<String>::new(), "{}", path.display());
        }
        let asked = claude.requests();
        let header = if with_key {
            "x-api-key"
        } else {
            "authorization"
        };
        assert!(
            asked
                .iter()
                .all(|one| one.headers.contains_key(header) && one.headers["x-gate"] == GATE),
            "the secrets were in use"
        );
    }
}
