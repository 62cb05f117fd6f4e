//! Passwords of PDFs on the command line: from a file, standard input or the environment, and nowhere kept.

use std::path::Path;

use gistmill_testkit::pdf::{encrypted_pdf, text_pdf};

use crate::support::{Desk, complaint};

const FIRST: &str = "first sesame";
const SECOND: &str = " second with blanks ";

/// A desk with two locked files of different passwords, and an open one.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.put("pdfs/a.pdf", &encrypted_pdf(&["The first letter."], FIRST));
    desk.put(
        "pdfs/b.pdf",
        &encrypted_pdf(&["The second letter."], SECOND),
    );
    desk.put("pdfs/c.pdf", &text_pdf(&["A letter that is open."]));
    desk
}

const PREFLIGHT: [&str; 4] = ["preflight", "pdfs", "--provider", "offline"];

#[test]
fn a_file_of_passwords_opens_what_needs_them() {
    let desk = desk();
    desk.put("some.txt", format!("wrong\n\n{FIRST}\r\n").as_bytes());
    desk.put("all.txt", format!("{SECOND}\n{FIRST}\n").as_bytes());
    let none = desk.ends_with(1, &PREFLIGHT);
    assert!(none.contains("1 PDF, 1 page, can be sent."), "{none}");
    let with = |file| [&PREFLIGHT[..], &["--password-file", file]].concat();
    let some = desk.ends_with(1, &with("some.txt"));
    assert!(some.contains("2 PDFs, 2 pages, can be sent."), "{some}");
    let all = desk.text(&with("all.txt"));
    assert!(all.contains("3 PDFs, 3 pages, can be sent."), "{all}");
    assert!(all.contains("opened with the password"), "{all}");
    let missing = desk.ends_with(2, &with("no-such-file.txt"));
    assert!(missing.contains("can’t be read"), "{missing}");
}

#[test]
fn passwords_come_from_standard_input_or_the_environment_too() {
    let desk = desk();
    let from_input = desk.told(
        &[&PREFLIGHT[..], &["--password-file", "-"]].concat(),
        &format!("{FIRST}\n{SECOND}\n"),
    );
    assert!(from_input.status.success(), "{}", complaint(&from_input));
    let desk = desk.with("GISTMILL_PDF_PASSWORD", FIRST);
    let said = desk.ends_with(1, &PREFLIGHT);
    assert!(said.contains("2 PDFs, 2 pages, can be sent."), "{said}");
}

#[test]
fn a_password_file_without_a_password_or_with_too_many_is_refused() {
    let desk = desk();
    desk.put("empty.txt", b"\n\n");
    desk.put("many.txt", "x\n".repeat(21).as_bytes());
    for (file, words) in [("empty.txt", "no password"), ("many.txt", "21 passwords")] {
        let said = desk.ends_with(2, &["add", "pdfs", "--password-file", file]);
        assert!(said.contains(words), "{said}");
    }
    assert_eq!(desk.json(&["jobs"])["total"], 0, "nothing was added");
}

#[test]
fn what_is_locked_is_added_as_failed_with_the_way_on_and_opened_with_its_password() {
    let desk = desk();
    desk.put("all.txt", format!("{FIRST}\n{SECOND}\n").as_bytes());
    let added = desk.text(&["add", "pdfs", "--provider", "offline"]);
    assert!(added.contains("Added 1 PDF, 1 page."), "{added}");
    assert!(added.contains("--password-file"), "{added}");
    let added = desk.text(&[
        "add",
        "pdfs",
        "--provider",
        "offline",
        "--password-file",
        "all.txt",
    ]);
    assert!(added.contains("Added 3 PDFs, 3 pages."), "{added}");
    let jobs = desk.json(&["jobs", "--status", "waiting"]);
    let job = jobs["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .find(|job| job["title"] == "a.pdf")
        .unwrap();
    let shown = desk.text(&["show", job["jobId"].as_str().unwrap()]);
    assert!(shown.contains("Encryption: "), "{shown}");
    assert!(shown.contains("opened with the password"), "{shown}");
}

#[test]
fn no_password_is_kept_or_logged() {
    let desk = desk().with("GISTMILL_LOG", "trace");
    desk.put("all.txt", format!("{FIRST}\n{SECOND}\n").as_bytes());
    let output = desk.run(&[
        "add",
        "pdfs",
        "--provider",
        "offline",
        "--password-file",
        "all.txt",
    ]);
    assert!(output.status.success());
    let log = complaint(&output);
    assert!(!log.is_empty(), "the log must be there to be searched");
    for password in [FIRST, SECOND] {
        assert!(!log.contains(password), "the log holds a password");
        holds_nowhere(&desk.path("data"), password);
    }
}

/// Makes sure that no file below a folder holds some words.
fn holds_nowhere(folder: &Path, words: &str) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holds_nowhere(&path, words);
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let found = bytes
            .windows(words.len())
            .any(|window| window == words.as_bytes());
        assert!(!found, "{} holds a password", path.display());
    }
}
