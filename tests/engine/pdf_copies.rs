//! Copies of pages: unencrypted, valid, and with nothing but what their pages need.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests may")]

use std::path::{Path, PathBuf};
use std::process::Command;

use gistmill_engine::model::{Cause, Encryption, PageRange};
use gistmill_engine::pdf::{PdfCopy, PdfError, PdfWorker, PdfWorkerConfig};
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
        Self {
            folder: TempDir::new().unwrap(),
            worker: PdfWorker::new(PdfWorkerConfig::new(PROGRAM)),
        }
    }

    fn put(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Makes an empty file that only we may read.
    fn place(&self) -> PathBuf {
        let file = tempfile::Builder::new()
            .suffix(".pdf")
            .tempfile_in(self.folder.path());
        file.unwrap().keep().unwrap().1
    }

    async fn copy(
        &self,
        path: &Path,
        password: &str,
        pages: Option<PageRange>,
    ) -> (PathBuf, PdfCopy) {
        let into = self.place();
        let password = SecretString::from(password);
        let copy = self.worker.copy(path, Some(&password), pages, &into).await;
        let copy = copy.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(copy.bytes, std::fs::metadata(&into).unwrap().len());
        (into, copy)
    }

    async fn text(&self, path: &Path) -> Vec<String> {
        self.worker
            .text(path, None, None, 100_000_000)
            .await
            .unwrap()
            .pages
    }
}

fn range(first: u32, last: u32) -> PageRange {
    PageRange { first, last }
}

/// Runs a program and returns what it prints; complaints are a failure.
fn run(program: &str, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .arg(file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{program} {file:?}: {said}{complaint}"
    );
    said
}

/// Asserts that someone else's reader finds a valid, unencrypted PDF of so many pages.
fn assert_valid(file: &Path, pages: u32) {
    let checked = run("qpdf", &["--check"], file);
    assert!(checked.contains("not encrypted"), "{checked}");
    assert!(
        checked.contains("No syntax or stream encoding errors"),
        "{checked}"
    );
    assert_eq!(
        run("qpdf", &["--show-npages"], file).trim(),
        pages.to_string()
    );
}

#[tokio::test]
async fn parts_of_a_document_are_valid_and_have_the_text_of_their_pages() {
    let desk = Desk::new();
    let path = desk.put("whole.pdf", &pdf::numbered_pdf(7));
    for (first, last) in [(1, 3), (4, 6), (7, 7), (1, 7)] {
        let (part, copy) = desk.copy(&path, "", Some(range(first, last))).await;
        assert_valid(&part, last - first + 1);
        assert_eq!(copy.pages, last - first + 1);
        assert!(!copy.without_annotations);
        let expected: Vec<String> = (first..=last)
            .map(|page| format!("This is page {page} of 7."))
            .collect();
        assert_eq!(desk.text(&part).await, expected);
    }
}

#[tokio::test]
async fn a_locked_document_is_copied_with_its_password_only() {
    let desk = Desk::new();
    let path = desk.put(
        "locked.pdf",
        &pdf::encrypted_pdf(&["A secret.", "Another."], "sesame"),
    );
    let (copy, _) = desk.copy(&path, "sesame", None).await;
    assert_valid(&copy, 2);
    assert_eq!(desk.text(&copy).await, ["A secret.", "Another."]);
    let inspection = desk.worker.inspect(&copy).await.unwrap();
    assert_eq!(inspection.encryption, Encryption::None);

    let into = desk.place();
    for password in [None, Some(SecretString::from("wrong"))] {
        let refused = desk
            .worker
            .copy(&path, password.as_ref(), None, &into)
            .await
            .unwrap_err();
        assert!(
            matches!(&refused, PdfError::Refused(finding) if finding.cause == Cause::PdfEncrypted),
            "{refused}"
        );
        assert_eq!(
            std::fs::metadata(&into).unwrap().len(),
            0,
            "nothing may be left of it"
        );
    }
}

/// Returns the width, the height and the pixels of a picture, three bytes each.
fn decode(picture: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut decoder = png::Decoder::new(std::io::Cursor::new(picture));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.bit_depth, png::BitDepth::Eight);
    let channels = info.color_type.samples();
    let pixels = pixels.chunks(channels).flat_map(|pixel| {
        [
            pixel[0],
            pixel[channels.min(2) - 1],
            pixel[channels.min(3) - 1],
        ]
    });
    (info.width, info.height, pixels.collect())
}

#[tokio::test]
async fn a_page_is_drawn_on_white_as_large_as_asked() {
    let desk = Desk::new();
    let path = desk.put(
        "pages.pdf",
        &pdf::text_pdf(&["Rain fell on the allotments.", ""]),
    );

    let picture = desk.worker.picture(&path, None, 1, 400).await.unwrap();
    let (width, height, pixels) = decode(&picture);
    assert_eq!(
        (width, height),
        (283, 400),
        "as wide as A4 is to its height"
    );
    assert_eq!(pixels[..3], [255; 3], "the ground is white");
    assert!(
        pixels.iter().any(|value| *value < 160),
        "there is ink on the page"
    );

    let (_, _, pixels) = decode(&desk.worker.picture(&path, None, 2, 400).await.unwrap());
    assert!(
        pixels.iter().all(|value| *value == 255),
        "an empty page is white"
    );

    let (width, height, _) = decode(&desk.worker.picture(&path, None, 2, 90_000).await.unwrap());
    assert_eq!(
        width.max(height),
        2000,
        "no side has more than 2,000 pixels"
    );
    assert!(matches!(
        desk.worker.picture(&path, None, 3, 400).await,
        Err(PdfError::NoSuchPages { pages: 2, .. })
    ));
}

#[tokio::test]
async fn a_locked_page_is_drawn_with_its_password_only() {
    let desk = Desk::new();
    let path = desk.put("locked.pdf", &pdf::encrypted_pdf(&["A secret."], "sesame"));
    let password = SecretString::from("sesame");
    let picture = desk
        .worker
        .picture(&path, Some(&password), 1, 200)
        .await
        .unwrap();
    assert!(decode(&picture).2.iter().any(|value| *value < 200));
    let refused = desk.worker.picture(&path, None, 1, 200).await.unwrap_err();
    assert!(
        matches!(&refused, PdfError::Refused(finding) if finding.cause == Cause::PdfEncrypted),
        "{refused}"
    );
}

#[tokio::test]
async fn pages_that_are_not_there_are_not_copied() {
    let desk = Desk::new();
    let path = desk.put("short.pdf", &pdf::numbered_pdf(3));
    let into = desk.place();
    for (first, last) in [(2, 4), (0, 1), (3, 2)] {
        let refused = desk
            .worker
            .copy(&path, None, Some(range(first, last)), &into)
            .await;
        assert!(
            matches!(refused, Err(PdfError::NoSuchPages { pages: 3, .. })),
            "{refused:?}"
        );
    }
}
