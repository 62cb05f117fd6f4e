//! Asks children about one input, and notices what should not reach the parent.

use std::path::{Path, PathBuf};
use std::time::Duration;

use gistmill_engine::model::{Cause, Encryption, PageRange};
use gistmill_engine::pdf::{Inspection, PdfError, PdfWorker};
use secrecy::SecretString;
use tempfile::TempDir;

use crate::WALL_LIMIT;
use crate::chance::Chance;

/// How much later than at the wall limit an answer may come: children are killed, and the machine is busy.
const SLACK: Duration = Duration::from_secs(20);

/// Most characters of text that are asked for.
const MAX_CHARS: usize = 200_000;

/// Pixels of the longer side of a picture.
const LARGEST_SIDE: u32 = 200;

/// The password of the seeds that have one.
const PASSWORD: &str = "sesame";

/// What became of one input.
#[derive(Debug, Default)]
pub struct Heard {
    /// The kind of each answer; together they say whether something new was seen.
    pub kinds: Vec<String>,
    /// Whether a child had to be killed, or died.
    pub killed: bool,
    /// What reached the parent.
    pub failure: Option<String>,
}

/// What the inspection of a file says about asking on.
struct Opened {
    pages: u32,
    password: Option<SecretString>,
    readable: bool,
}

/// A place for files, and the children.
pub struct Desk {
    folder: TempDir,
    worker: PdfWorker,
}

impl Desk {
    pub fn new(worker: PdfWorker) -> std::io::Result<Self> {
        let folder = TempDir::new()?;
        std::fs::write(folder.path().join("copy.pdf"), b"")?;
        Ok(Self { folder, worker })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Asks what can be asked of a file, as chance has it.
    pub async fn ask(&self, input: &[u8], chance: &mut Chance) -> std::io::Result<Heard> {
        let path = self.put(input)?;
        if chance.once_in(50) {
            // Somebody changes their mind: the child is killed at some point of its work.
            let delay = Duration::from_micros(chance.next() % 8000);
            let _ = tokio::time::timeout(delay, self.worker.inspect(&path)).await;
        }
        let mut heard = Heard::default();
        let opened = self.inspect(&path, &mut heard).await;
        let Some(opened) = opened.filter(|opened| opened.readable) else {
            return Ok(heard);
        };
        let range = chance.once_in(3).then(|| {
            let first = 1 + u32::try_from(chance.below(opened.pages as usize + 1)).unwrap_or(0);
            PageRange { first, last: first }
        });
        let password = opened.password.as_ref();
        self.text(&path, password, range, &mut heard).await;
        if chance.once_in(4) {
            self.picture(&path, password, &mut heard).await;
        }
        self.copy(&path, password, range, &mut heard).await;
        Ok(heard)
    }

    /// Asks everything that can be asked of a file, also of one that should not be sent.
    pub async fn ask_all(&self, input: &[u8]) -> std::io::Result<Heard> {
        let path = self.put(input)?;
        let mut heard = Heard::default();
        let opened = self.inspect(&path, &mut heard).await;
        let password = opened.and_then(|opened| opened.password);
        let password = password.as_ref();
        self.text(&path, password, None, &mut heard).await;
        self.picture(&path, password, &mut heard).await;
        self.copy(&path, password, None, &mut heard).await;
        let first = PageRange { first: 1, last: 1 };
        self.copy(&path, password, Some(first), &mut heard).await;
        Ok(heard)
    }

    fn put(&self, input: &[u8]) -> std::io::Result<PathBuf> {
        let path = self.path("input.pdf");
        std::fs::write(&path, input)?;
        Ok(path)
    }

    async fn inspect(&self, path: &Path, heard: &mut Heard) -> Option<Opened> {
        let passwords = [SecretString::from("wrong"), SecretString::from(PASSWORD)];
        let inspected = timed(self.worker.inspect_trying(path, &passwords)).await;
        let (inspection, opens) = heard.take("inspect", inspected)?;
        heard.note("inspect", kind(&inspection));
        let finding = inspection.finding.as_ref();
        heard.killed |= finding.is_some_and(|finding| finding.cause == Cause::PdfHostile);
        Some(Opened {
            pages: inspection.pages.unwrap_or(1),
            password: opens.map(|index| passwords[index].clone()),
            readable: finding.is_none(),
        })
    }

    async fn text(
        &self,
        path: &Path,
        password: Option<&SecretString>,
        range: Option<PageRange>,
        heard: &mut Heard,
    ) {
        let text = timed(self.worker.text(path, password, range, MAX_CHARS)).await;
        if let Some(text) = heard.take("text", text) {
            heard.note(
                "text",
                format!("{} {}", text.pages.len().min(9), text.truncated),
            );
        }
    }

    async fn picture(&self, path: &Path, password: Option<&SecretString>, heard: &mut Heard) {
        let picture = timed(self.worker.picture(path, password, 1, LARGEST_SIDE)).await;
        if heard.take("picture", picture).is_some() {
            heard.note("picture", "drawn".to_owned());
        }
    }

    async fn copy(
        &self,
        path: &Path,
        password: Option<&SecretString>,
        range: Option<PageRange>,
        heard: &mut Heard,
    ) {
        let copy = self.path("copy.pdf");
        let copied = timed(self.worker.copy(path, password, range, &copy)).await;
        let Some(copied) = heard.take("copy", copied) else {
            return;
        };
        let again = timed(self.worker.inspect(&copy)).await;
        if let Some(copy) = heard.take("inspect of the copy", again) {
            let same = copy.pages == Some(copied.pages) && copy.encryption == Encryption::None;
            let what = if same {
                kind(&copy)
            } else {
                format!("not what was said: {}", kind(&copy))
            };
            heard.note(
                "copy",
                format!("{what} annotations lost: {}", copied.without_annotations),
            );
        }
    }
}

impl Heard {
    fn note(&mut self, question: &str, answer: String) {
        self.kinds.push(format!("{question}: {answer}"));
    }

    /// The first that reached the parent is told; the others follow from it, or come when it is mended.
    fn fail(&mut self, what: String) {
        self.failure.get_or_insert(what);
    }

    /// Takes an answer; notes what is the file's fault, and keeps what is ours.
    fn take<T>(&mut self, question: &str, answer: Option<Result<T, PdfError>>) -> Option<T> {
        match answer {
            Some(Ok(answer)) => Some(answer),
            Some(Err(PdfError::Refused(finding))) => {
                self.killed |= finding.cause == Cause::PdfHostile;
                self.note(
                    question,
                    format!("{:?} {}", finding.cause, plain(&finding.message)),
                );
                None
            }
            Some(Err(PdfError::NoSuchPages { .. })) => {
                self.note(question, "no such pages".to_owned());
                None
            }
            Some(Err(error)) => {
                self.fail(format!("{question}: {error}"));
                None
            }
            None => {
                self.fail(format!("{question}: no answer within the limit"));
                None
            }
        }
    }
}

async fn timed<T>(answer: impl Future<Output = T>) -> Option<T> {
    tokio::time::timeout(WALL_LIMIT + SLACK, answer).await.ok()
}

fn kind(inspection: &Inspection) -> String {
    let finding = inspection.finding.as_ref().map_or_else(
        || "opened".to_owned(),
        |finding| format!("{:?} {}", finding.cause, plain(&finding.message)),
    );
    let facts = &inspection.facts;
    format!(
        "{finding} {:?}{}{}{}",
        inspection.encryption,
        if facts.repaired { " repaired" } else { "" },
        if facts.pages_uncertain {
            " uncertain"
        } else {
            ""
        },
        if inspection.has_text == Some(true) {
            " text"
        } else {
            ""
        },
    )
}

/// Takes the numbers out of a message, and what a name in the file may add to it.
fn plain(message: &str) -> String {
    let end = message.find('(').unwrap_or(message.len());
    message[..end]
        .chars()
        .filter(|character| !character.is_ascii_digit())
        .collect()
}

/// How many children this process has; `None` where that can't be seen.
pub fn children() -> Option<usize> {
    let mut count = 0;
    for thread in std::fs::read_dir("/proc/self/task").ok()? {
        let list = std::fs::read_to_string(thread.ok()?.path().join("children")).ok()?;
        count += list.split_whitespace().count();
    }
    Some(count)
}
