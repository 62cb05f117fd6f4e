//! PDFs are read in child processes, whatever they are.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests may")]

use std::path::{Path, PathBuf};
use std::time::Duration;

use gistmill_engine::model::{Cause, DocumentFacts, Encryption, PageRange, Sha256};
use gistmill_engine::pdf::{Inspection, PdfError, PdfWorker, PdfWorkerConfig};
use gistmill_testkit::pdf;
use secrecy::SecretString;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_gistmill-pdf-worker");

/// A folder with files, and a worker.
struct Desk {
    folder: TempDir,
    worker: PdfWorker,
}

impl Desk {
    fn new() -> Self {
        Self::with_limit(Duration::from_secs(60))
    }

    fn with_limit(wall_limit: Duration) -> Self {
        let mut config = PdfWorkerConfig::new(PROGRAM);
        config.wall_limit = wall_limit;
        Self {
            folder: TempDir::new().unwrap(),
            worker: PdfWorker::new(config),
        }
    }

    fn put(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    async fn inspect(&self, path: &Path) -> Inspection {
        self.worker.inspect(path).await.unwrap()
    }

    /// Inspects a file of this content, of which something is expected to be wrong.
    async fn fault(&self, content: &[u8]) -> (Cause, String) {
        let inspection = self.inspect(&self.put("file.pdf", content)).await;
        assert_eq!(inspection.sha256, Some(Sha256::of(content)));
        assert_eq!(inspection.bytes, content.len() as u64);
        let finding = inspection.finding.unwrap();
        (finding.cause, finding.message)
    }
}

#[tokio::test]
async fn a_good_file_is_described() {
    let desk = Desk::new();
    let content = pdf::text_pdf(&["The first page has a sentence on it.", "And the second."]);
    let path = desk.put("good.pdf", &content);
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    let modified_ms = modified
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap()
        .as_millis();

    let inspection = desk.inspect(&path).await;

    assert_eq!(
        Inspection {
            facts: DocumentFacts::default(),
            ..inspection
        },
        Inspection {
            bytes: content.len() as u64,
            sha256: Some(Sha256::of(&content)),
            modified_ms: i64::try_from(modified_ms).unwrap(),
            pages: Some(2),
            encryption: Encryption::None,
            has_text: Some(true),
            ..Inspection::default()
        }
    );
}

#[tokio::test]
async fn pages_without_text_are_noticed() {
    let desk = Desk::new();
    for (content, pages) in [
        (pdf::blank_pdf(3), 3),
        (pdf::scanned_pdf(), 1),
        (pdf::numbered_scan_pdf(), 1),
    ] {
        let inspection = desk.inspect(&desk.put("blank.pdf", &content)).await;
        assert_eq!(inspection.pages, Some(pages));
        assert_eq!(inspection.has_text, Some(false));
        assert_eq!(inspection.finding, None);
    }
}

#[tokio::test]
async fn a_few_words_on_a_page_without_pictures_are_text() {
    let desk = Desk::new();
    let inspection = desk
        .inspect(&desk.put("short.pdf", &pdf::text_pdf(&["Page 1", "Page 2"])))
        .await;
    assert_eq!(
        inspection.has_text,
        Some(true),
        "a page that says little is no scan"
    );
}

#[tokio::test]
async fn encrypted_files_say_whether_they_open() {
    let desk = Desk::new();
    let texts = ["A secret that is long enough to be text."];

    let open = desk.put("open.pdf", &pdf::encrypted_pdf(&texts, ""));
    let inspection = desk.inspect(&open).await;
    assert_eq!(inspection.encryption, Encryption::EmptyPassword);
    assert_eq!((inspection.pages, inspection.finding), (Some(1), None));
    assert_eq!(inspection.has_text, Some(true));

    let closed = desk.put("closed.pdf", &pdf::encrypted_pdf(&texts, "sesame"));
    let inspection = desk.inspect(&closed).await;
    assert_eq!(inspection.encryption, Encryption::NeedsPassword);
    assert_eq!(inspection.pages, None);
    let finding = inspection.finding.unwrap();
    assert_eq!(finding.cause, Cause::PdfEncrypted);
    assert_eq!(finding.message, "This PDF needs a password to be opened.");

    let password = SecretString::from("sesame");
    let inspection = desk
        .worker
        .inspect_with_password(&closed, &password)
        .await
        .unwrap();
    assert_eq!(inspection.encryption, Encryption::NeedsPassword);
    assert_eq!((inspection.pages, inspection.finding), (Some(1), None));
    let text = desk
        .worker
        .text(&closed, Some(&password), None, 1000)
        .await
        .unwrap();
    assert_eq!(text.pages, texts);

    let wrong = SecretString::from("open");
    let inspection = desk
        .worker
        .inspect_with_password(&closed, &wrong)
        .await
        .unwrap();
    assert_eq!(inspection.finding.unwrap().cause, Cause::PdfEncrypted);
}

#[tokio::test]
async fn files_that_are_no_pdf_are_named_and_still_have_a_digest() {
    let desk = Desk::new();
    let fault = desk.fault(b"").await;
    assert_eq!(fault, (Cause::FileEmpty, "This file is empty.".to_owned()));
    let fault = desk.fault(&pdf::html_page()).await;
    let message = "This is a web page (HTML), not a PDF.".to_owned();
    assert_eq!(fault, (Cause::NotAPdf, message));
    let fault = desk.fault(b"PK\x03\x04 and so on").await;
    let message = "This is a ZIP archive, not a PDF.".to_owned();
    assert_eq!(fault, (Cause::NotAPdf, message));
    let (cause, _) = desk.fault(&pdf::damaged_pdf()).await;
    assert_eq!(cause, Cause::PdfDamaged);
    let (cause, message) = desk.fault(&pdf::blank_pdf(0)).await;
    assert_eq!(cause, Cause::PdfDamaged);
    assert_eq!(message, "This PDF has no pages.");
}

#[tokio::test]
async fn a_file_cut_short_is_repaired_where_possible() {
    let desk = Desk::new();
    let path = desk.put("cut.pdf", &pdf::truncated_pdf(&["One page.", "Another."]));
    let inspection = desk.inspect(&path).await;
    assert_eq!((inspection.pages, inspection.finding), (Some(2), None));
    let text = desk.worker.text(&path, None, None, 1000).await.unwrap();
    assert_eq!(text.pages, ["One page.", "Another."]);
}

#[tokio::test]
async fn places_without_a_file_give_findings() {
    let desk = Desk::new();
    let missing = desk.inspect(&desk.folder.path().join("none.pdf")).await;
    assert_eq!(missing.finding.unwrap().cause, Cause::FileMissing);
    assert_eq!(missing.sha256, None);
    let folder = desk.inspect(desk.folder.path()).await.finding.unwrap();
    assert_eq!(folder.cause, Cause::FileUnreadable);
    assert_eq!(folder.message, "This is a folder, not a file.");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn pipes_and_devices_are_not_waited_for() {
    let desk = Desk::new();
    let pipe = desk.folder.path().join("pipe.pdf");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    for path in [pipe.as_path(), Path::new("/dev/zero")] {
        let finding = desk.inspect(path).await.finding.unwrap();
        assert_eq!(finding.cause, Cause::FileUnreadable);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_path_need_not_be_unicode() {
    use std::os::unix::ffi::OsStrExt as _;

    let desk = Desk::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.pdf");
    let path = desk.folder.path().join(name);
    std::fs::write(&path, pdf::numbered_pdf(3)).unwrap();
    assert_eq!(desk.inspect(&path).await.pages, Some(3));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_too_large_is_not_read() {
    let desk = Desk::new();
    let path = desk.put("large.pdf", b"%PDF-1.7");
    let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.set_len(3 << 30).unwrap();
    let inspection = desk.inspect(&path).await;
    assert_eq!((inspection.bytes, inspection.sha256), (3 << 30, None));
    let finding = inspection.finding.unwrap();
    assert_eq!(finding.cause, Cause::TooLarge);
    assert_eq!(
        finding.message,
        "This file has 3.2 GB; files of up to 2 GB can be read."
    );
}

#[tokio::test]
async fn an_endless_file_is_stopped_while_others_go_on() {
    let desk = Desk::with_limit(Duration::from_secs(4));
    let endless = desk.put("endless.pdf", &pdf::endless_pdf(40));
    let good = desk.put("good.pdf", &pdf::numbered_pdf(20));

    let (endless, good) = tokio::join!(desk.inspect(&endless), desk.inspect(&good));

    assert_eq!((good.pages, good.finding), (Some(20), None));
    // What was learned before is kept.
    assert!(endless.sha256.is_some());
    assert_eq!(endless.pages, Some(1));
    let finding = endless.finding.unwrap();
    assert_eq!(finding.cause, Cause::PdfHostile);
    assert_eq!(
        finding.message,
        "Reading this PDF took longer than 4 seconds, so it was stopped. It is damaged or hostile."
    );
}

// Only Linux limits the memory of a process.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_that_explodes_kills_only_its_reader() {
    let desk = Desk::new();
    let content = pdf::exploding_pdf();
    assert!(content.len() < 64 << 10);
    let path = desk.put("bomb.pdf", &content);

    let finding = desk.inspect(&path).await.finding.unwrap();
    assert_eq!(finding.cause, Cause::PdfHostile);
    assert_eq!(
        finding.message,
        "Reading this PDF took too much memory, so it was stopped. It is damaged or hostile."
    );
    let good = desk.put("good.pdf", &pdf::numbered_pdf(2));
    assert_eq!(desk.inspect(&good).await.pages, Some(2));
}

#[tokio::test]
async fn text_comes_in_pages_and_paragraphs() {
    let desk = Desk::new();
    let path = desk.put(
        "text.pdf",
        &pdf::text_pdf(&[
            "Rain fell on the allotments for nine days, and on the tenth the committee met in the \
             shed to count what was left of the beans.\n\nNobody spoke first. (The minutes say \
             otherwise.)",
            "Second page.",
        ]),
    );
    let text = desk.worker.text(&path, None, None, 10_000).await.unwrap();
    assert_eq!(
        text.pages,
        [
            "Rain fell on the allotments for nine days, and on the tenth the committee met in the \
             shed to count what was left of the beans.\n\nNobody spoke first. (The minutes say \
             otherwise.)",
            "Second page."
        ]
    );
    assert!(!text.truncated);
    assert!(text.untrusted_glyph_share < f32::EPSILON);
}

#[tokio::test]
async fn text_of_some_pages_is_what_was_asked_for() {
    let desk = Desk::new();
    let path = desk.put("nine.pdf", &pdf::numbered_pdf(9));
    let of = |first, last| {
        let (worker, path) = (desk.worker.clone(), path.clone());
        async move {
            let range = PageRange { first, last };
            worker.text(&path, None, Some(range), 1000).await
        }
    };
    let text = of(4, 5).await.unwrap();
    assert_eq!(text.pages, ["This is page 4 of 9.", "This is page 5 of 9."]);
    assert!(!text.truncated);
    for (first, last) in [(8, 10), (0, 2), (5, 4), (10, u32::MAX)] {
        let refused = of(first, last).await.unwrap_err();
        assert!(
            matches!(refused, PdfError::NoSuchPages { pages: 9, .. }),
            "{first} to {last}: {refused}"
        );
    }
}

#[tokio::test]
async fn text_stops_at_the_limit() {
    let desk = Desk::new();
    let path = desk.put("long.pdf", &pdf::numbered_pdf(9));
    let text = desk.worker.text(&path, None, None, 30).await.unwrap();
    assert_eq!(text.pages, ["This is page 1 of 9.", "This is pa"]);
    assert!(text.truncated);
}

#[tokio::test]
async fn japanese_without_a_table_of_characters_is_read() {
    let desk = Desk::new();
    let path = desk.put(
        "japanese.pdf",
        &pdf::japanese_pdf(&[
            "町内会の防災訓練は、九月の第一日曜日に行います。\n集合は午前九時、場所は中央公園です。",
        ]),
    );
    let inspection = desk.inspect(&path).await;
    assert_eq!(inspection.has_text, Some(true));
    let text = desk.worker.text(&path, None, None, 1000).await.unwrap();
    assert!(text.pages[0].contains("町内会の防災訓練は、九月の第一日曜日に行います。"));
    assert!(text.pages[0].contains("場所は中央公園です。"));
    assert!(text.untrusted_glyph_share < f32::EPSILON);
}

#[tokio::test]
async fn text_of_a_bad_file_is_refused_with_the_finding() {
    let desk = Desk::new();
    let path = desk.put("page.pdf", &pdf::html_page());
    let refused = desk.worker.text(&path, None, None, 1000).await.unwrap_err();
    assert_eq!(refused.to_string(), "This is a web page (HTML), not a PDF.");
    assert!(matches!(refused, PdfError::Refused(finding) if finding.cause == Cause::NotAPdf));
}

#[tokio::test]
async fn a_wrong_program_is_trouble_of_our_own() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("file.pdf");
    std::fs::write(&path, pdf::blank_pdf(1)).unwrap();

    let worker = PdfWorker::new(PdfWorkerConfig::new(folder.path().join("no-such-program")));
    let error = worker.inspect(&path).await.unwrap_err();
    assert!(matches!(error, PdfError::Start { .. }), "{error}");

    let mut config = PdfWorkerConfig::new(PROGRAM);
    config.program = std::env::current_exe().unwrap();
    config.args = vec!["--list".into()];
    let error = PdfWorker::new(config).inspect(&path).await.unwrap_err();
    assert!(matches!(error, PdfError::NoAnswer { .. }), "{error}");
}

#[tokio::test]
async fn many_files_are_read_at_once() {
    let desk = Desk::new();
    let paths: Vec<PathBuf> = (1..=24)
        .map(|pages| desk.put(&format!("{pages}.pdf"), &pdf::numbered_pdf(pages)))
        .collect();
    let tasks: Vec<_> = paths
        .into_iter()
        .map(|path| {
            let worker = desk.worker.clone();
            tokio::spawn(async move { worker.inspect(&path).await.unwrap().pages })
        })
        .collect();
    for (index, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap(), u32::try_from(index + 1).ok());
    }
}

#[tokio::test]
async fn the_samples_are_read_without_a_flaw() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../samples");
    let desk = Desk::new();
    let sentences = [
        (
            "compost-trials.pdf",
            4,
            // Over a hyphenated line end.
            "Leaving out a heap because its result is inconvenient is the most common way in which \
             honest people fool themselves.",
        ),
        (
            "cooperative-minutes.pdf",
            3,
            "Decision 4.2. The charges rise on 1 October 2026, not before the work on building C is \
             finished. In favour 50.\n\n5. House rules\n\n",
        ),
        (
            "lease-guide.pdf",
            4,
            "1. Before signing: read everything, ask the questions in the boxes, get all promises in \
             writing.\n2. On the first day: photographs",
        ),
        (
            "disaster-plan-ja.pdf",
            3,
            "地震のあと自宅に危険がなければ、避難所へ行かずに自宅で過ごすことを基本とする。避難所の\
             体育館に入れるのは百八十人ほどで、町内の人口の二割に満たないからである。",
        ),
        (
            "research-notes-ja.pdf",
            3,
            "容量を超えた分はあふれたものとし、ゼロを下回る分は水道水で補ったものとした。",
        ),
    ];
    for (name, pages, sentence) in sentences {
        let path = samples.join(name);
        let inspection = desk.inspect(&path).await;
        assert_eq!(inspection.finding, None, "{name}");
        assert_eq!(inspection.pages, Some(pages), "{name}");
        assert_eq!(inspection.has_text, Some(true), "{name}");
        let text = desk.worker.text(&path, None, None, 100_000).await.unwrap();
        assert!(text.untrusted_glyph_share < f32::EPSILON, "{name}");
        let whole = text.pages.join("\n\n");
        assert!(whole.contains(sentence), "{name}: {whole}");
    }
}
