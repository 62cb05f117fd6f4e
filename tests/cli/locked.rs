//! PDFs behind passwords, from being added to being answered: what arrives is open, and neither their passwords
//! nor their words are left behind.

use std::path::Path;
use std::process::Output;

use gistmill_testkit::fake_claude::FakeClaude;
use gistmill_testkit::pdf::{Cipher, locked, text_pdf};

use crate::support::{Desk, complaint};

/// For the ciphers that take any character, and for those that take the letters of western Europe.
const ANY_LETTERS: &str = "Straße – 合言葉";
const WESTERN_LETTERS: &str = "Größenwahn";
/// Words of the documents that nothing else holds.
const SECRET: &str = "quartz zebra";

fn password(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Aes256 | Cipher::Aes256Early => ANY_LETTERS,
        Cipher::Aes128 | Cipher::Rc4 | Cipher::Rc4Short => WESTERN_LETTERS,
    }
}

/// What the pages of the document say that is encrypted so.
fn pages(cipher: Cipher) -> [String; 2] {
    [1, 2].map(|page| format!("The {SECRET} of {cipher:?}, page {page} of 2."))
}

fn put(desk: &Desk, cipher: Cipher) {
    let [first, second] = pages(cipher);
    let content = locked(&text_pdf(&[&first, &second]), cipher, password(cipher));
    desk.put(&format!("pdfs/{cipher:?}.pdf"), &content);
}

/// Makes sure that exactly these documents arrived, open and whole.
fn all_arrived_open(claude: &FakeClaude, ciphers: &[Cipher]) {
    let requests = claude.requests();
    assert_eq!(requests.len(), ciphers.len());
    for cipher in ciphers {
        let title = format!("{cipher:?}.pdf");
        let arrived = requests
            .iter()
            .flat_map(|request| &request.documents)
            .find(|document| document.title.as_deref() == Some(&title))
            .unwrap_or_else(|| panic!("{title} did not arrive"));
        // The server refuses what is encrypted.
        let read: Vec<&str> = arrived.page_texts.iter().map(|text| text.trim()).collect();
        assert_eq!(read, pages(*cipher), "{title}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_the_cipher_the_document_arrives_open_and_leaves_nothing_behind() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude).with("GISTMILL_LOG", "trace");
    for cipher in Cipher::ALL {
        put(&desk, cipher);
    }
    let passwords = format!("wrong\n{ANY_LETTERS}\n{WESTERN_LETTERS}\n");
    let added = desk.told(&["add", "pdfs", "--password-file", "-"], &passwords);
    let said = String::from_utf8_lossy(&added.stdout);
    assert!(said.contains("Added 5 PDFs, 10 pages."), "{said}");
    let worked = desk.told(&["run", "--password-file", "-"], &passwords);
    assert_eq!(worked.status.code(), Some(0), "{worked:?}");
    all_arrived_open(&claude, &Cipher::ALL);
    for output in [&added, &worked] {
        leaves_nothing(&desk, output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_may_hold_the_password() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude)
        .with("GISTMILL_LOG", "trace")
        .with("GISTMILL_PDF_PASSWORD", ANY_LETTERS);
    let ciphers = [Cipher::Aes256, Cipher::Aes256Early];
    for cipher in ciphers {
        put(&desk, cipher);
    }
    let added = desk.run(&["add", "pdfs"]);
    let worked = desk.run(&["run"]);
    assert_eq!(worked.status.code(), Some(0), "{worked:?}");
    all_arrived_open(&claude, &ciphers);
    for output in [&added, &worked] {
        leaves_nothing(&desk, output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_its_password_a_job_fails_unsent_says_so_and_is_done_once_it_is_given() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    let ciphers = [Cipher::Aes256, Cipher::Aes256Early];
    for cipher in ciphers {
        put(&desk, cipher);
    }
    let password = format!("{ANY_LETTERS}\n");
    desk.put("password.txt", password.as_bytes());
    desk.put("wrong.txt", b"sesame\n");
    desk.text(&["add", "pdfs", "--password-file", "password.txt"]);
    for arguments in [&["run"][..], &["run", "--password-file", "wrong.txt"]] {
        let said = desk.ends_with(1, arguments);
        assert!(said.contains("0 done, 0 to review, 2 failed"), "{said}");
        assert!(said.contains("needs a password"), "{said}");
        assert!(
            said.contains("--password-file"),
            "what to do here is said: {said}"
        );
        assert!(claude.requests().is_empty(), "nothing was sent");
        let told = desk.text(&["dead-letters"]);
        assert!(told.contains("--password-file"), "{told}");
        let retry = ["retry", "--cause", "pdf-encrypted"];
        desk.text(&[&retry[..], &["--password-file", "wrong.txt"]].concat());
    }
    desk.text(&["run", "--password-file", "password.txt"]);
    all_arrived_open(&claude, &ciphers);
}

/// Makes sure that neither a password nor what is behind it is in the log or on disk.
fn leaves_nothing(desk: &Desk, output: &Output) {
    let log = complaint(output);
    assert!(!log.is_empty(), "the log must be there to be searched");
    // The last is how a PDF begins when it is sent.
    let secrets = [ANY_LETTERS, WESTERN_LETTERS, SECRET, "JVBERi0"];
    for secret in secrets {
        assert!(!log.contains(secret), "the log holds {secret}");
    }
    holds_none(&desk.path("data"), &secrets);
}

/// Makes sure that no file below a folder holds any of these words.
fn holds_none(folder: &Path, secrets: &[&str]) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holds_none(&path, secrets);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        for secret in secrets {
            assert!(
                memchr::memmem::find(&bytes, secret.as_bytes()).is_none(),
                "{} holds {secret}",
                path.display()
            );
        }
    }
}
