//! Reads a folder of PDFs as Gistmill does, and says where other readers see something else.
//!
//! The count of pages that two other readers agree on (or the right answer, where one is given) is compared
//! with ours; with `--deep` pages are copied too, and the copies are checked. What differs must be explained in
//! `explained.txt`, by hand; anything else makes the run fail.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program whose result is what it prints"
)]

mod answers;
mod others;
mod report;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use gistmill_engine::model::{Cause, Encryption, PageRange};
use gistmill_engine::pdf::{PdfError, PdfWorker, PdfWorkerConfig, worker_main};
use secrecy::SecretString;

use self::answers::Answers;
use self::report::{Difference, Report, Row};

/// What a child of this program is started with.
const WORKER: &str = "--pdf-worker";

/// Pages of the part that is tried.
const PART: u32 = 3;

/// Characters of a text that are compared: of the first words that are known of a file.
const WORDS: usize = 20;

#[derive(Parser)]
struct Arguments {
    /// The folder.
    folder: PathBuf,
    /// Copies pages too, and checks the copies with qpdf.
    #[arg(long)]
    deep: bool,
    /// Right answers: a JSON array of objects with `file` and `pages`.
    #[arg(long)]
    answers: Option<PathBuf>,
    /// Passwords: a JSON object of arrays by the name of the file, the password first.
    #[arg(long)]
    passwords: Option<PathBuf>,
    /// What is known to differ, and why.
    #[arg(long)]
    explained: PathBuf,
    /// Prints only files that differ.
    #[arg(long)]
    quiet: bool,
}

fn main() -> ExitCode {
    if std::env::args()
        .nth(1)
        .is_some_and(|argument| argument == WORKER)
    {
        return worker_main();
    }
    let arguments = Arguments::parse();
    let runtime = tokio::runtime::Runtime::new();
    match runtime
        .map_err(|error| error.to_string())
        .and_then(|runtime| runtime.block_on(run(&arguments)))
    {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            eprintln!("{trouble}");
            ExitCode::from(2)
        }
    }
}

/// Reads all files; says whether nothing differs without an explanation.
async fn run(arguments: &Arguments) -> Result<bool, String> {
    let answers = Answers::read(arguments.answers.as_deref(), arguments.passwords.as_deref())?;
    let mut report = Report::new(&arguments.explained, arguments.quiet)?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut config = PdfWorkerConfig::new(program);
    config.args = vec![WORKER.into()];
    let reader = Reader {
        worker: PdfWorker::new(config),
        answers,
        deep: arguments.deep,
        folder: tempfile::tempdir().map_err(|error| error.to_string())?,
    };
    let mut files: Vec<PathBuf> = walkdir::WalkDir::new(&arguments.folder)
        .into_iter()
        .filter_map(Result::ok)
        .filter(|entry| entry.file_type().is_file())
        .map(walkdir::DirEntry::into_path)
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("pdf"))
        })
        .collect();
    files.sort();
    if files.is_empty() {
        return Err(format!(
            "There is no PDF in {}.",
            arguments.folder.display()
        ));
    }
    for file in files {
        report.add(reader.read(&file).await);
    }
    Ok(report.finish())
}

struct Reader {
    worker: PdfWorker,
    answers: Answers,
    deep: bool,
    folder: tempfile::TempDir,
}

impl Reader {
    async fn read(&self, file: &Path) -> Row {
        let name = file
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let password = self.answers.password(&name).map(str::to_owned);
        let given: Vec<SecretString> = password.iter().map(|one| one.as_str().into()).collect();
        let began = Instant::now();
        let inspected = self.worker.inspect_trying(file, &given).await;
        let mut row = Row::new(name, began.elapsed());
        let inspection = match inspected {
            Ok((inspection, _)) => inspection,
            Err(error) => {
                row.crashed = true;
                row.reason = error.to_string();
                return row;
            }
        };
        row.pages = inspection.pages;
        row.encryption = match inspection.encryption {
            Encryption::None => "-",
            Encryption::EmptyPassword => "open",
            Encryption::NeedsPassword => "locked",
            Encryption::Unsupported => "unknown",
        };
        if let Some(finding) = &inspection.finding {
            row.crashed = finding.cause == Cause::PdfHostile;
            row.over_limit = row.crashed && finding.message.contains("longer than");
            row.reason.clone_from(&finding.message);
        }
        row.opened = inspection.finding.is_none();

        let secret = password.as_deref().unwrap_or_default();
        row.qpdf = others::qpdf_pages(file, secret).await;
        row.poppler = others::poppler_pages(file, secret).await;
        row.compare(self.answers.pages(&row.name));
        if self.deep && row.opened {
            self.copy(file, given.first(), &mut row).await;
            self.words(file, given.first(), &mut row).await;
        }
        row
    }

    /// Copies the first pages, and all, and has both checked.
    async fn copy(&self, file: &Path, password: Option<&SecretString>, row: &mut Row) {
        let pages = row.pages.unwrap_or(0);
        let into = self.folder.path().join("copy.pdf");
        for last in [pages.min(PART), pages] {
            if std::fs::write(&into, []).is_err() {
                return row.differ(
                    Difference::Copy,
                    "the copy has no place to be written to".to_owned(),
                );
            }
            let range = PageRange { first: 1, last };
            let began = Instant::now();
            let copied = self.worker.copy(file, password, Some(range), &into).await;
            row.copy_time += began.elapsed();
            match copied {
                Ok(copy) => {
                    row.rewritten |= copy.without_annotations;
                    if let Some(complaint) = others::complaint(&into, copy.pages).await {
                        row.differ(Difference::Copy, format!("pages 1 to {last}: {complaint}"));
                    }
                }
                Err(PdfError::Refused(finding)) => {
                    row.differ(
                        Difference::Copy,
                        format!("pages 1 to {last}: {}", finding.message),
                    );
                }
                Err(error) => row.differ(Difference::Copy, error.to_string()),
            }
            self.compare_text(file, password, range, &into, row).await;
            if pages <= PART {
                return;
            }
        }
    }

    /// Compares the text of a copy with that of the same pages of the original.
    async fn compare_text(
        &self,
        file: &Path,
        password: Option<&SecretString>,
        pages: PageRange,
        copy: &Path,
        row: &mut Row,
    ) {
        let most = 10_000_000;
        let original = self.worker.text(file, password, Some(pages), most).await;
        let copied = self.worker.text(copy, None, None, most).await;
        if let (Ok(original), Ok(copied)) = (original, copied)
            && original.pages != copied.pages
            && !original.truncated
        {
            let differing = original
                .pages
                .iter()
                .zip(&copied.pages)
                .position(|(one, other)| one != other);
            row.differ(
                Difference::Text,
                format!(
                    "the text of page {} is another one in the copy",
                    differing.map_or(0, |at| at + 1)
                ),
            );
        }
    }

    /// Looks for the first words that are known of a file.
    async fn words(&self, file: &Path, password: Option<&SecretString>, row: &mut Row) {
        let Some(words) = self.answers.words(&row.name) else {
            return;
        };
        let dense = |text: &str| {
            text.chars()
                .filter(|one| !one.is_whitespace())
                .collect::<String>()
        };
        let words: String = dense(words).chars().take(WORDS).collect();
        let text = self.worker.text(file, password, None, 1_000_000).await;
        let text = text
            .map(|text| dense(&text.pages.concat()))
            .unwrap_or_default();
        if !text.contains(&words) {
            row.differ(
                Difference::Words,
                format!("its text does not hold “{words}”"),
            );
        }
    }
}

/// Milliseconds, for the table.
fn milliseconds(time: Duration) -> u128 {
    time.as_millis()
}
