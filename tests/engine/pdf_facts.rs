//! What the inspection learns of a PDF, and how it tells apart what is wrong with one.

#![expect(clippy::unwrap_used, reason = "helpers of tests may fail as tests may")]

use std::path::{Path, PathBuf};
use std::process::Command;

use gistmill_engine::model::{Cause, DocumentFacts, Encryption};
use gistmill_engine::pdf::{Inspection, PdfWorker, PdfWorkerConfig};
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

    async fn inspect(&self, content: &[u8]) -> Inspection {
        let path = self.put("file.pdf", content);
        self.worker.inspect(&path).await.unwrap()
    }

    async fn facts(&self, content: &[u8]) -> DocumentFacts {
        let inspection = self.inspect(content).await;
        assert_eq!(inspection.finding, None);
        inspection.facts
    }

    /// Runs qpdf on a good file and returns where its output is.
    fn qpdf(&self, name: &str, arguments: &[&str]) -> PathBuf {
        let from = self.put("plain.pdf", &pdf::text_pdf(&[SENTENCE, "Second."]));
        let to = self.folder.path().join(name);
        let status = Command::new("qpdf")
            .args(arguments)
            .args(["--", from.to_str().unwrap(), to.to_str().unwrap()])
            .status()
            .unwrap_or_else(|error| panic!("qpdf, a prerequisite of the tests: {error}"));
        assert!(status.success(), "qpdf {arguments:?}: {status}");
        to
    }
}

const SENTENCE: &str = "The committee met in the shed to count what was left of the beans.";

/// A PDF of these objects, numbered from 1, of which the first is the catalog.
fn file(objects: &[&str], info: &str) -> Vec<u8> {
    let mut bytes = b"%PDF-1.7\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for (index, object) in objects.iter().enumerate() {
        table.push_str(&format!("{:010} 00000 n \n", bytes.len()));
        bytes.extend_from_slice(format!("{} 0 obj\n{object}\nendobj\n", index + 1).as_bytes());
    }
    let start = bytes.len();
    let size = objects.len() + 1;
    bytes.extend_from_slice(
        format!("{table}trailer\n<</Size {size}/Root 1 0 R{info}>>\nstartxref\n{start}\n%%EOF\n")
            .as_bytes(),
    );
    bytes
}

const PAGES: &str = "<</Type/Pages/Count 1/Kids[3 0 R]>>";
const PAGE: &str = "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>";

#[tokio::test]
async fn a_plain_file_has_plain_facts() {
    let desk = Desk::new();
    let facts = desk.facts(&pdf::text_pdf(&[SENTENCE, "9"])).await;
    let text = facts.text.unwrap();
    assert_eq!((text.pages_read, text.pages_with_text), (2, 2));
    assert_eq!(text.letters, SENTENCE.len() as u64 + 1);
    assert_eq!((text.ideographs, text.unknown_percent), (0, 0));
    assert_eq!(
        facts,
        DocumentFacts {
            language: Some("en".to_owned()),
            text: Some(text),
            ..DocumentFacts::default()
        }
    );
}

#[tokio::test]
async fn ideographs_are_counted_apart_and_give_the_language() {
    let desk = Desk::new();
    let line = "町内会の防災訓練は、九月の第一日曜日に行います。";
    let facts = desk.facts(&pdf::japanese_pdf(&[line])).await;
    let text = facts.text.unwrap();
    assert_eq!(facts.language.as_deref(), Some("ja"));
    assert_eq!(text.ideographs, line.chars().count() as u64);
    assert_eq!(text.letters, 0);
}

#[tokio::test]
async fn titles_come_from_the_properties_or_from_their_xml() {
    let desk = Desk::new();
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        PAGES,
        PAGE,
        "<</Title(  Beans\\r\\nand (other) stories)>>",
    ];
    let facts = desk.facts(&file(&objects, "/Info 4 0 R")).await;
    assert_eq!(facts.title.as_deref(), Some("Beans and (other) stories"));

    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        PAGES,
        PAGE,
        "<</Title<FEFF8C4630003042>>>",
    ];
    let facts = desk.facts(&file(&objects, "/Info 4 0 R")).await;
    assert_eq!(
        facts.title.as_deref(),
        Some("豆\u{3000}あ".replace('\u{3000}', " ").as_str())
    );

    let xml = "<rdf:RDF><dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">Beans &amp; peas</rdf:li>\
               </rdf:Alt></dc:title></rdf:RDF>";
    let stream = format!(
        "<</Type/Metadata/Length {}>>\nstream\n{xml}\nendstream",
        xml.len()
    );
    let objects = [
        "<</Type/Catalog/Pages 2 0 R/Metadata 4 0 R>>",
        PAGES,
        PAGE,
        &stream,
    ];
    let facts = desk.facts(&file(&objects, "")).await;
    assert_eq!(facts.title.as_deref(), Some("Beans & peas"));
}

#[tokio::test]
async fn attachments_are_counted_in_the_tree_and_on_pages() {
    let desk = Desk::new();
    let objects = [
        "<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Kids[4 0 R 4 0 R]>>>>>>",
        PAGES,
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Annots[<</Subtype/FileAttachment>> <</Subtype/Link>>]>>",
        "<</Names[(a.txt) <</Type/Filespec>> (b.txt) <</Type/Filespec>>]>>",
    ];
    assert_eq!(desk.facts(&file(&objects, "")).await.attachments, 5);
    // A tree that goes in circles comes to an end.
    let objects = [
        "<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles 4 0 R>>>>",
        PAGES,
        PAGE,
        "<</Kids[4 0 R 4 0 R]>>",
    ];
    assert_eq!(desk.facts(&file(&objects, "")).await.attachments, 0);
}

#[tokio::test]
async fn filled_fields_without_an_appearance_are_counted() {
    let desk = Desk::new();
    let form = |catalog: &str| {
        let catalog = format!(
            "<</Type/Catalog/Pages 2 0 R/AcroForm<<{catalog}/Fields[4 0 R 5 0 R 6 0 R 7 0 R]>>>>"
        );
        file(
            &[
                &catalog,
                PAGES,
                PAGE,
                // Filled, with nothing to be seen of it.
                "<</FT/Tx/T(a)/V(yes)>>",
                // Filled and shown.
                "<</FT/Tx/T(b)/V(yes)/AP<</N 8 0 R>>>>",
                // Empty.
                "<</FT/Tx/T(c)/V()>>",
                // Its two places inherit the value, and one of them shows it.
                "<</FT/Ch/T(d)/V(one)/Kids[<</Subtype/Widget>> <</Subtype/Widget/AP<</N 8 0 R>>>>]>>",
                "<</Type/XObject/Subtype/Form/BBox[0 0 9 9]/Length 0>>\nstream\n\nendstream",
            ],
            "",
        )
    };
    assert_eq!(desk.facts(&form("")).await.fields_unseen, 2);
    assert_eq!(
        desk.facts(&form("/NeedAppearances true"))
            .await
            .fields_unseen,
        4
    );
}

#[tokio::test]
async fn what_stands_before_the_header_is_measured_and_read_over() {
    let desk = Desk::new();
    let mut content = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
    content.extend(pdf::numbered_pdf(3));
    let inspection = desk.inspect(&content).await;
    assert_eq!((inspection.pages, inspection.finding), (Some(3), None));
    assert_eq!(inspection.facts.bytes_before, 19);
}

#[tokio::test]
async fn a_broken_table_of_objects_is_noticed() {
    let desk = Desk::new();
    let good = pdf::numbered_pdf(3);
    let text = String::from_utf8_lossy(&good).into_owned();
    let start = text.rfind("startxref").unwrap();
    // The file is Latin-1 at its beginning, so that positions are found in its end only.
    let offset = good.len() - (text.len() - start);
    let mut broken = good[..offset].to_vec();
    broken.extend_from_slice(b"startxref\n7\n%%EOF\n");
    let inspection = desk.inspect(&broken).await;
    assert_eq!((inspection.pages, inspection.finding), (Some(3), None));
    assert!(inspection.facts.repaired);
    assert!(!desk.facts(&good).await.repaired);
}

#[tokio::test]
async fn a_count_that_lies_is_noticed() {
    let desk = Desk::new();
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 900/Kids[3 0 R]>>",
        PAGE,
    ];
    let inspection = desk.inspect(&file(&objects, "")).await;
    assert_eq!((inspection.pages, inspection.finding), (Some(1), None));
    assert!(inspection.facts.pages_uncertain);
}

#[tokio::test]
async fn files_that_break_off_are_told_from_broken_ones() {
    let desk = Desk::new();
    // The tree of pages comes first, as many programs write it.
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>",
        PAGE,
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Rotate 0>>",
    ];
    let whole = file(&objects, "");
    let text = String::from_utf8(whole.clone()).unwrap();
    let cut = text.find("4 0 obj").unwrap();
    let inspection = desk.inspect(&whole[..cut]).await;
    let finding = inspection.finding.unwrap();
    assert_eq!(finding.cause, Cause::PdfTruncated, "{}", finding.message);

    // Nothing of the pages is left.
    let early = text.find("2 0 obj").unwrap();
    let finding = desk.inspect(&whole[..early]).await.finding.unwrap();
    assert_eq!(
        (finding.cause, finding.message.as_str()),
        (
            Cause::PdfTruncated,
            "This PDF breaks off before its end, as after a download that was not finished: nothing of it \
             can be read."
        )
    );

    // The space for the rest was set aside, but never filled.
    let mut zeros = whole[..early].to_vec();
    zeros.resize(whole.len() + 9000, 0);
    let finding = desk.inspect(&zeros).await.finding.unwrap();
    assert_eq!(finding.cause, Cause::PdfTruncated);

    // It has its end, and no sense.
    let nonsense = b"%PDF-1.7\n1 0 obj\n<<<<\nendobj\nstartxref\n0\n%%EOF\n";
    let finding = desk.inspect(nonsense).await.finding.unwrap();
    assert_eq!(finding.cause, Cause::PdfDamaged, "{}", finding.message);
}

#[tokio::test]
async fn linearized_files_are_known() {
    let desk = Desk::new();
    let path = desk.qpdf("linear.pdf", &["--linearize"]);
    let content = std::fs::read(&path).unwrap();
    assert!(desk.facts(&content).await.linearized);
    let finding = desk
        .inspect(&content[..content.len() / 2])
        .await
        .finding
        .unwrap();
    assert_eq!(finding.cause, Cause::PdfTruncated, "{}", finding.message);
}

/// What qpdf is told for each kind of encryption, and what it is called.
const CIPHERS: &[(&[&str], &str)] = &[
    (&["40"], "RC4 40-bit"),
    (&["128", "--use-aes=n"], "RC4 128-bit"),
    (&["128", "--use-aes=y"], "AES-128"),
    (&["256", "--force-R5"], "AES-256"),
    (&["256"], "AES-256"),
];

fn encrypt<'a>(user: &'a str, owner: &'a str, kind: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["--allow-weak-crypto", "--encrypt", user, owner];
    arguments.extend(kind);
    arguments
}

async fn check_password(
    desk: &Desk,
    path: &Path,
    cipher: &str,
    passwords: &[&str],
    opens: Option<usize>,
) {
    let passwords: Vec<SecretString> = passwords
        .iter()
        .map(|word| SecretString::from(*word))
        .collect();
    let (inspection, opened) = desk.worker.inspect_trying(path, &passwords).await.unwrap();
    assert_eq!(opened, opens, "{cipher}");
    assert_eq!(inspection.encryption, Encryption::NeedsPassword, "{cipher}");
    assert_eq!(inspection.facts.cipher.as_deref(), Some(cipher));
    if let Some(index) = opens {
        assert_eq!(
            (inspection.pages, inspection.finding),
            (Some(2), None),
            "{cipher}"
        );
        let text = desk
            .worker
            .text(path, Some(&passwords[index]), None, 1000)
            .await
            .unwrap();
        assert_eq!(text.pages, [SENTENCE, "Second."], "{cipher}");
    } else {
        assert_eq!(
            inspection.finding.unwrap().cause,
            Cause::PdfEncrypted,
            "{cipher}"
        );
    }
}

#[tokio::test]
async fn every_cipher_is_named_and_opened_by_the_password_among_several() {
    let desk = Desk::new();
    for (kind, cipher) in CIPHERS {
        let locked = desk.qpdf("locked.pdf", &encrypt("sesame", "owner", kind));
        check_password(&desk, &locked, cipher, &[], None).await;
        check_password(&desk, &locked, cipher, &["wrong", "also wrong"], None).await;
        check_password(
            &desk,
            &locked,
            cipher,
            &["wrong", "sesame", "other"],
            Some(1),
        )
        .await;

        let open = desk.qpdf("open.pdf", &encrypt("", "owner", kind));
        let inspection = desk.worker.inspect(&open).await.unwrap();
        assert_eq!(inspection.encryption, Encryption::EmptyPassword, "{cipher}");
        assert_eq!(
            (inspection.pages, inspection.finding),
            (Some(2), None),
            "{cipher}"
        );
        assert_eq!(inspection.facts.cipher.as_deref(), Some(*cipher));
        assert_eq!(inspection.facts.language.as_deref(), Some("en"), "{cipher}");
    }
}

#[tokio::test]
async fn the_owners_password_opens_too() {
    let desk = Desk::new();
    for (kind, cipher) in CIPHERS {
        let locked = desk.qpdf("locked.pdf", &encrypt("sesame", "boss", kind));
        check_password(&desk, &locked, cipher, &["boss"], Some(0)).await;
    }
}

#[tokio::test]
async fn passwords_need_not_be_ascii() {
    let desk = Desk::new();
    for (kind, cipher) in CIPHERS {
        let locked = desk.qpdf("locked.pdf", &encrypt("caf\u{e9}", "owner", kind));
        // As some keyboards write it: the accent apart from its letter.
        for typed in ["caf\u{e9}", "cafe\u{301}"] {
            check_password(&desk, &locked, cipher, &[typed], Some(0)).await;
        }
    }
    for (kind, cipher) in &CIPHERS[3..] {
        let locked = desk.qpdf("locked.pdf", &encrypt("ひらけごま", "owner", kind));
        check_password(&desk, &locked, cipher, &["ひらけごま"], Some(0)).await;
    }
}

#[tokio::test]
async fn a_cipher_that_nobody_here_knows_is_named() {
    let desk = Desk::new();
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        PAGES,
        PAGE,
        "<</Filter/Adobe.PubSec/SubFilter/adbe.pkcs7.s4/V 2/Length 128/Recipients[<00>]>>",
    ];
    let inspection = desk
        .inspect(&file(&objects, "/Encrypt 4 0 R/ID[<00><00>]"))
        .await;
    assert_eq!(inspection.encryption, Encryption::Unsupported);
    assert_eq!(inspection.facts.cipher.as_deref(), Some("certificates"));
    let finding = inspection.finding.unwrap();
    assert_eq!(
        (finding.cause, finding.message.as_str()),
        (
            Cause::PdfCipherUnknown,
            "This PDF is encrypted in a way that can't be opened here (certificates)."
        )
    );
}

#[tokio::test]
async fn long_documents_are_measured_page_by_page() {
    let desk = Desk::new();
    assert_eq!(desk.inspect(&pdf::numbered_pdf(40)).await.measures, None);
    let mut texts: Vec<String> = (1..=60)
        .map(|page| format!("This is page {page} of 60."))
        .collect();
    texts[30] = format!("{SENTENCE}\n").repeat(40);
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let measures = desk.inspect(&pdf::text_pdf(&texts)).await.measures.unwrap();
    assert_eq!(measures.pages.len(), 60);
    assert!(
        measures.shared_bytes > 40,
        "the font: {}",
        measures.shared_bytes
    );
    let (long, short) = (measures.pages[30], measures.pages[7]);
    assert!(
        long.letters > 2000 && (10..40).contains(&short.letters),
        "{long:?} {short:?}"
    );
    assert!(
        long.bytes > 2000 && (100..400).contains(&short.bytes),
        "{long:?} {short:?}"
    );
    assert_eq!(long.ideographs, 0);
}
