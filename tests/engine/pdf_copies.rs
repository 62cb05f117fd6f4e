//! Copies of pages: unencrypted, valid, and with nothing but what their pages need.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests may")]

use std::path::{Path, PathBuf};
use std::process::Command;

use gistmill_engine::model::{Cause, Encryption, PageRange};
use gistmill_engine::pdf::{PdfCopy, PdfError, PdfWorker, PdfWorkerConfig};
use gistmill_testkit::pdf::{self, Cipher};
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

impl Desk {
    /// Copies these pages and asserts that the copy is valid, that only we may read it, and that its text is
    /// that of the same pages of the original, by our reader and by another one.
    async fn assert_same(&self, path: &Path, password: &str, pages: PageRange) -> PathBuf {
        let (part, copy) = self.copy(path, password, Some(pages)).await;
        let what = format!("{} {pages:?}", path.display());
        assert_eq!(copy.pages, pages.pages(), "{what}");
        assert!(!copy.without_annotations, "{what}");
        assert_valid(&part, pages.pages());
        assert_private(&part);

        let secret = SecretString::from(password);
        let most = 100_000_000;
        let expected = self
            .worker
            .text(path, Some(&secret), Some(pages), most)
            .await
            .unwrap();
        assert_eq!(self.text(&part).await, expected.pages, "{what}");
        let (first, last) = (pages.first.to_string(), pages.last.to_string());
        let range = ["-upw", password, "-enc", "UTF-8", "-f", &first, "-l", &last];
        assert_eq!(
            pdftotext(&part, &["-enc", "UTF-8"]),
            pdftotext(path, &range),
            "{what}"
        );
        part
    }
}

/// Returns the text that someone else's reader finds.
fn pdftotext(file: &Path, arguments: &[&str]) -> String {
    let output = Command::new("pdftotext")
        .args(arguments)
        .arg(file)
        .arg("-")
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{file:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[cfg(unix)]
fn assert_private(file: &Path) {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = std::fs::metadata(file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "{file:?} is for its owner only");
}

#[cfg(not(unix))]
fn assert_private(_file: &Path) {}

/// Says whether a file holds these bytes as they are.
fn contains(file: &Path, bytes: &[u8]) -> bool {
    let content = std::fs::read(file).unwrap();
    content.windows(bytes.len()).any(|window| window == bytes)
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

#[tokio::test]
async fn every_kind_of_pdf_is_copied_as_it_was() {
    let desk = Desk::new();
    let pages = [
        "Rain fell on the allotments.",
        "Nobody spoke first.",
        "The beans were counted.",
    ];
    let text = pdf::text_pdf(&pages);
    let kinds = [
        ("text", text.clone(), 3),
        ("linearized", pdf::linearized(&text), 3),
        (
            "with object streams",
            pdf::qpdf(&text, &["--object-streams=generate", "--deterministic-id"]),
            3,
        ),
        ("after junk", pdf::junk_before(&text, 700), 3),
        ("inherited", pdf::inherited_pdf(), 4),
        ("shared", pdf::shared_pdf(3, 2000, 3000), 3),
        ("linked", pdf::linked_pdf(5), 5),
        ("form", pdf::form_pdf(), 3),
        (
            "attachment",
            pdf::attachment_pdf(b"Nobody is sent this."),
            1,
        ),
        (
            "japanese",
            pdf::japanese_pdf(&["町内会の防災訓練は、九月です。", "集合は午前九時です。"]),
            2,
        ),
        (
            "vertical",
            pdf::vertical_pdf(&["わたくしといふ現象は", "風景やみんなといっしょに"]),
            1,
        ),
        (
            "ligatures",
            pdf::ligature_pdf("The office found five flat files"),
            1,
        ),
        ("blank", pdf::blank_pdf(2), 2),
        ("scan", pdf::scanned_pdf(), 1),
    ];
    for (kind, content, count) in kinds {
        let path = desk.put(&format!("{kind}.pdf"), &content);
        desk.assert_same(&path, "", range(1, count)).await;
        for page in 1..=count {
            desk.assert_same(&path, "", range(page, page)).await;
        }
    }
}

#[tokio::test]
async fn what_is_broken_is_repaired_by_being_copied() {
    let desk = Desk::new();
    let pages = ["Rain fell on the allotments.", "Nobody spoke first."];
    for (kind, content) in [
        ("truncated", pdf::truncated_pdf(&pages)),
        ("table", pdf::broken_table_pdf(&pages)),
    ] {
        let path = desk.put(&format!("{kind}.pdf"), &content);
        let (copy, _) = desk.copy(&path, "", None).await;
        assert_valid(&copy, 2);
        assert_eq!(desk.text(&copy).await, pages, "{kind}");
    }
}

#[tokio::test]
async fn pages_that_only_the_second_reader_finds_are_written_anew() {
    let desk = Desk::new();
    let path = desk.put("kids.pdf", &pdf::unlisted_kids_pdf());
    let (copy, told) = desk.copy(&path, "", None).await;
    assert!(told.without_annotations, "what was lost is told");
    assert_valid(&copy, 2);
    assert_eq!(
        desk.text(&copy).await,
        [
            "The first page is written into the tree.",
            "The second is not."
        ]
    );
}

#[tokio::test]
async fn every_encryption_is_opened_and_nothing_of_it_remains() {
    let desk = Desk::new();
    let pages = ["A secret of the allotments.", "Another of the shed."];
    for cipher in Cipher::ALL {
        for password in ["", "sesame"] {
            let name = format!("{cipher:?}-{password}.pdf");
            let path = desk.put(
                &name,
                &pdf::locked(&pdf::text_pdf(&pages), cipher, password),
            );
            let part = desk.assert_same(&path, password, range(2, 2)).await;
            assert!(!contains(&part, b"/Encrypt"), "{name}");
            let (whole, _) = desk.copy(&path, password, None).await;
            assert_valid(&whole, 2);
            // A password that isn't needed does no harm.
            if password.is_empty() {
                desk.copy(&path, "another", None).await;
            }
        }
        let path = desk.put(
            "wrong.pdf",
            &pdf::locked(&pdf::text_pdf(&pages), cipher, "sesame"),
        );
        let wrong = SecretString::from("sesam");
        let refused = desk
            .worker
            .copy(&path, Some(&wrong), None, &desk.place())
            .await;
        assert!(
            matches!(&refused, Err(PdfError::Refused(finding)) if finding.cause == Cause::PdfEncrypted),
            "{cipher:?}: {refused:?}"
        );
    }
}

#[tokio::test]
async fn passwords_may_have_any_letters() {
    let desk = Desk::new();
    for (cipher, password) in [
        (Cipher::Aes256, "пароль"),
        (Cipher::Aes256, "合言葉は豆"),
        (Cipher::Aes256, "Zoë’s naïve café"),
        (Cipher::Aes256Early, "合言葉は豆"),
        // Older encryptions know the letters of Western Europe only.
        (Cipher::Aes128, "Zoë naïve"),
        (Cipher::Rc4, "Zoë naïve"),
        (Cipher::Rc4Short, "Zoë"),
    ] {
        let content = pdf::locked(&pdf::text_pdf(&["A secret."]), cipher, password);
        let path = desk.put("locked.pdf", &content);
        let (copy, _) = desk.copy(&path, password, None).await;
        assert_valid(&copy, 1);
        assert_eq!(
            desk.text(&copy).await,
            ["A secret."],
            "{cipher:?} {password}"
        );
    }
}

#[tokio::test]
async fn fields_keep_their_values_on_their_own_pages() {
    let desk = Desk::new();
    let path = desk.put("form.pdf", &pdf::form_pdf());
    let fields = |file: &Path| run("qpdf", &["--json", "--json-key=acroform"], file);

    let first = desk.assert_same(&path, "", range(1, 1)).await;
    let found = fields(&first);
    assert!(
        found.contains("Mio Tanaka") && found.contains("/Yes"),
        "{found}"
    );
    assert!(
        !found.contains("Nobody asked"),
        "the third page's field stays behind: {found}"
    );
    let third = desk.assert_same(&path, "", range(3, 3)).await;
    let found = fields(&third);
    assert!(
        found.contains("Mio Tanaka") && found.contains("Nobody asked"),
        "{found}"
    );
    assert!(!found.contains("agreed"), "{found}");
    let second = desk.assert_same(&path, "", range(2, 2)).await;
    assert!(
        fields(&second).contains("\"hasacroform\": false"),
        "{}",
        fields(&second)
    );

    let path = desk.put("unseen.pdf", &pdf::unseen_field_pdf("Mio Tanaka"));
    let (copy, _) = desk.copy(&path, "", None).await;
    assert!(
        fields(&copy).contains("Mio Tanaka"),
        "a value that isn't shown is kept too"
    );
}

#[tokio::test]
async fn a_part_holds_what_its_pages_need_and_nothing_else() {
    let desk = Desk::new();
    // Links, bookmarks and structure lead from each page to all others.
    let path = desk.put("linked.pdf", &pdf::linked_pdf(200));
    let (part, _) = desk.copy(&path, "", Some(range(77, 77))).await;
    let objects = run("qpdf", &["--json", "--json-key=qpdf"], &part);
    assert!(objects.matches("\"/Page\"").count() <= 1, "{objects}");
    assert!(std::fs::metadata(&part).unwrap().len() < 3000);
    assert_eq!(
        objects.matches("\"/Link\"").count(),
        3,
        "links stay, with nowhere to go"
    );

    // All pages list all images and draw two of them.
    let path = desk.put("shared.pdf", &pdf::shared_pdf(8, 20_000, 50_000));
    let (part, copy) = desk.copy(&path, "", Some(range(3, 4))).await;
    assert_valid(&part, 2);
    assert!((120_000..123_000).contains(&copy.bytes), "{}", copy.bytes);

    let content = b"Nobody is sent what is attached. ".repeat(400);
    let path = desk.put("attached.pdf", &pdf::attachment_pdf(&content));
    let (part, copy) = desk.copy(&path, "", None).await;
    assert!(copy.bytes < 2000, "{}", copy.bytes);
    assert!(!run("qpdf", &["--list-attachments"], &part).contains("notes.txt"));
}

#[tokio::test]
async fn what_a_page_inherits_is_its_own_in_the_copy() {
    let desk = Desk::new();
    let path = desk.put("inherited.pdf", &pdf::inherited_pdf());
    let (part, _) = desk.copy(&path, "", Some(range(2, 3))).await;
    let pages = run("pdfinfo", &["-f", "1", "-l", "2", "-box"], &part);
    let lines: Vec<String> = pages
        .lines()
        .filter(|line| {
            line.starts_with("Page") && (line.contains("rot:") || line.contains("CropBox:"))
        })
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        lines,
        [
            "Page 1 rot: 0",
            "Page 2 rot: 90",
            "Page 1 CropBox: 0.00 0.00 595.00 842.00",
            "Page 2 CropBox: 0.00 0.00 595.00 800.00"
        ]
    );
}

#[tokio::test]
async fn the_same_pages_give_the_same_bytes() {
    let desk = Desk::new();
    let path = desk.put("form.pdf", &pdf::form_pdf());
    let (one, _) = desk.copy(&path, "", Some(range(1, 2))).await;
    let (other, _) = desk.copy(&path, "", Some(range(1, 2))).await;
    assert!(std::fs::read(one).unwrap() == std::fs::read(other).unwrap());
}

#[tokio::test]
async fn a_copy_never_lands_on_another_file() {
    let desk = Desk::new();
    let content = pdf::numbered_pdf(2);
    let path = desk.put("file.pdf", &content);
    let not_written =
        |result: Result<PdfCopy, PdfError>| matches!(result, Err(PdfError::NotWritten { .. }));
    assert!(
        not_written(desk.worker.copy(&path, None, None, &path).await),
        "over itself"
    );
    assert_eq!(std::fs::read(&path).unwrap(), content);

    let missing = desk.folder.path().join("missing.pdf");
    assert!(not_written(
        desk.worker.copy(&path, None, None, &missing).await
    ));
    assert!(
        !missing.exists(),
        "the place must be there, with the permissions that it has"
    );

    #[cfg(unix)]
    {
        let (link, other) = (
            desk.folder.path().join("link.pdf"),
            desk.put("other.pdf", b"mine"),
        );
        std::os::unix::fs::symlink(&other, &link).unwrap();
        assert!(
            not_written(desk.worker.copy(&path, None, None, &link).await),
            "along a link"
        );
        assert_eq!(std::fs::read(&other).unwrap(), b"mine");
    }
}

#[tokio::test]
async fn six_hundred_pages_are_split() {
    let desk = Desk::new();
    let content = pdf::long_pdf(600);
    let path = desk.put("long.pdf", &content);
    for (first, last) in [(1, 100), (301, 400), (501, 600)] {
        let (part, copy) = desk.copy(&path, "", Some(range(first, last))).await;
        assert_valid(&part, 100);
        assert!(copy.bytes < content.len() as u64 / 6, "{}", copy.bytes);
        for (page, original) in [(1, first), (100, last)] {
            let pages = Some(range(page, page));
            let text = desk.worker.text(&part, None, pages, 10_000).await.unwrap();
            let begin = format!("This is page {original} of 600.");
            assert!(text.pages[0].starts_with(&begin), "{}", text.pages[0]);
        }
    }
}

#[tokio::test]
async fn hostile_pages_are_copied_without_being_run() {
    let desk = Desk::new();
    for content in [
        pdf::endless_pdf(40),
        pdf::exploding_pdf(),
        pdf::huge_image_pdf(),
    ] {
        let path = desk.put("hostile.pdf", &content);
        let (_, copy) = desk.copy(&path, "", None).await;
        assert!(copy.bytes < content.len() as u64 + 2000, "{}", copy.bytes);
    }
}

#[tokio::test]
async fn pages_that_would_take_all_time_or_memory_are_not_drawn() {
    let mut config = PdfWorkerConfig::new(PROGRAM);
    config.wall_limit = std::time::Duration::from_secs(3);
    let desk = Desk {
        worker: PdfWorker::new(config),
        ..Desk::new()
    };
    let huge = desk.put("huge.pdf", &pdf::huge_image_pdf());
    let refused = desk.worker.picture(&huge, None, 1, 300).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "This page can't be shown: an image in it has 3600 megapixels."
    );
    let endless = desk.put("endless.pdf", &pdf::endless_pdf(40));
    let refused = desk
        .worker
        .picture(&endless, None, 1, 300)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, PdfError::Refused(finding) if finding.cause == Cause::PdfHostile),
        "{refused}"
    );
    let good = desk.put("good.pdf", &pdf::numbered_pdf(1));
    assert!(
        desk.worker.picture(&good, None, 1, 300).await.is_ok(),
        "the next file is drawn"
    );
}

/// Splits a scanned PDF of so many pages of a megabyte.
async fn split_scan(megabytes: u32) {
    let desk = Desk::new();
    let path = desk.folder.path().join("scan.pdf");
    pdf::images_pdf(&path, megabytes as usize, 1_000_000);
    assert!(std::fs::metadata(&path).unwrap().len() > u64::from(megabytes) * 1_000_000);
    let last = range(megabytes - 9, megabytes);
    let (part, copy) = desk.copy(&path, "", Some(last)).await;
    assert!(
        (10_000_000..10_100_000).contains(&copy.bytes),
        "{}",
        copy.bytes
    );
    assert_valid(&part, 10);
    assert_eq!(
        desk.text(&part).await[9],
        format!("This is page {megabytes} of {megabytes}.")
    );
    std::fs::remove_file(&part).unwrap();
    let (_, copy) = desk.copy(&path, "", None).await;
    assert_eq!(copy.pages, megabytes);
}

#[tokio::test]
async fn twenty_four_megabytes_are_split() {
    split_scan(24).await;
}

#[tokio::test]
async fn two_hundred_and_fifty_megabytes_are_split() {
    split_scan(250).await;
}
