//! `gistmill preflight`: what would happen, said before anything does.

use gistmill_testkit::fake_claude::FakeClaude;
use gistmill_testkit::pdf;

use crate::support::Desk;

/// A folder of what people really drop: two good files, and one of each kind of trouble.
fn mixed(desk: &Desk) {
    desk.put_pdfs(2);
    desk.put("pdfs/error.pdf", &pdf::html_page());
    desk.put("pdfs/picture.pdf", b"\x89PNG\r\n\x1a\n and then some");
    desk.put("pdfs/empty.pdf", b"");
    desk.put("pdfs/damaged.pdf", &pdf::damaged_pdf());
    desk.put(
        "pdfs/locked.pdf",
        &pdf::encrypted_pdf(&["A secret letter."], "sesame"),
    );
    desk.put("pdfs/notes.txt", b"not a PDF");
    desk.put("pdfs/.hidden.pdf", b"hidden");
    let copy = std::fs::read(desk.path("pdfs/report-001.pdf")).unwrap();
    desk.put("pdfs/z-copy.pdf", &copy);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_group_of_trouble_is_named_with_its_files_and_what_to_do() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    mixed(&desk);
    let said = desk.ends_with(1, &["preflight", "pdfs"]);
    assert!(said.contains("2 PDFs, 2 pages, can be sent."), "{said}");
    assert!(
        said.contains("5 files can’t be sent as they are:"),
        "{said}"
    );
    for (group, files, way_on) in [
        (
            "not-a-pdf (2)",
            ["error.pdf: ", "picture.pdf: "],
            "Save or export the document as a PDF",
        ),
        ("file-empty (1)", ["empty.pdf: "; 2], "Get the file again"),
        (
            "pdf-damaged (1)",
            ["damaged.pdf: "; 2],
            "print it to a new PDF",
        ),
        (
            "pdf-encrypted (1)",
            ["locked.pdf: "; 2],
            "--password-file FILE",
        ),
    ] {
        assert!(said.contains(group), "{group} is missing:\n{said}");
        for file in files {
            assert!(said.contains(file), "{file} is missing:\n{said}");
        }
        assert!(said.contains(way_on), "what to do is missing:\n{said}");
    }
    assert!(said.contains("1 of another kind"), "{said}");
    assert!(said.contains("1 hidden"), "{said}");
    assert!(
        said.contains("z-copy.pdf (the same as "),
        "which file it is the same as:\n{said}"
    );
    assert!(said.contains("(estimated)"), "{said}");
    assert!(said.contains("as expected"), "{said}");
    assert!(
        claude.requests().is_empty(),
        "a preflight must not cost anything"
    );
    assert_eq!(desk.json(&["jobs"])["total"], 0, "and adds nothing");
}

#[test]
fn programs_read_every_file_of_every_group() {
    let desk = Desk::new();
    mixed(&desk);
    for number in 0..8 {
        let page = format!("<!DOCTYPE html><html>Error {number}</html>");
        desk.put(&format!("pdfs/bad-{number}.pdf"), page.as_bytes());
    }
    let output = desk.run(&["preflight", "pdfs", "--provider", "offline", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let pages = &told["problems"][0];
    assert_eq!(pages["cause"], "not-a-pdf", "the largest group goes first");
    assert_eq!(pages["files"].as_array().unwrap().len(), 10);
    assert_eq!(told["plan"]["toRun"], 2);
    assert_eq!(told["plan"]["toFail"], 13);
    let text = desk.ends_with(1, &["preflight", "pdfs", "--provider", "offline"]);
    assert!(text.contains("and 5 more"), "people read the first: {text}");
}

/// One of each kind that is known, in one folder: what can be sent, what can't, and what is the same twice.
fn everything(desk: &Desk) {
    mixed(desk);
    desk.put("pdfs/empty-too.pdf", b"");
    desk.put("pdfs/endless.pdf", &pdf::endless_pdf(40));
    desk.put("pdfs/exploding.pdf", &pdf::exploding_pdf());
    desk.put(
        "pdfs/cut-off.pdf",
        &pdf::truncated_pdf(&["The end is missing."]),
    );
    desk.put("pdfs/scan.pdf", &pdf::scanned_pdf());
    desk.put("pdfs/open.pdf", &pdf::encrypted_pdf(&["Open to all."], ""));
    desk.put("pdfs/files.pdf", &pdf::attachment_pdf(b"a table"));
    desk.put("pdfs/form.pdf", &pdf::unseen_field_pdf("42"));
    desk.put("pdfs/long.pdf", &pdf::numbered_pdf(700));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_everything_at_once_each_file_is_counted_once_and_in_its_place() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    everything(&desk);
    let output = desk.run(&["preflight", "pdfs", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let named = |groups: &str, key: &str, of: &dyn Fn(&serde_json::Value) -> String| {
        let mut found: Vec<(String, Vec<String>)> = told[groups]
            .as_array()
            .unwrap()
            .iter()
            .map(|group| {
                let list = if groups == "skipped" {
                    "paths"
                } else {
                    "files"
                };
                let files = group[list].as_array().unwrap().iter().map(of).collect();
                (group[key].as_str().unwrap().to_owned(), files)
            })
            .collect();
        found.sort();
        found
    };
    let name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    let group = |key: &str, files: &[&str]| {
        let files: Vec<String> = files.iter().map(|file| (*file).to_owned()).collect();
        (key.to_owned(), files)
    };
    let problems = named("problems", "cause", &|file| {
        assert!(!file["message"].as_str().unwrap().is_empty(), "{file}");
        name(file["path"].as_str().unwrap())
    });
    assert_eq!(
        problems,
        [
            group("file-empty", &["empty-too.pdf", "empty.pdf"]),
            group("not-a-pdf", &["error.pdf", "picture.pdf"]),
            group("pdf-damaged", &["damaged.pdf"]),
            group("pdf-encrypted", &["locked.pdf"]),
            group("pdf-hostile", &["endless.pdf", "exploding.pdf"]),
        ]
    );
    for problem in told["problems"].as_array().unwrap() {
        let hint = problem["hint"].as_str().unwrap();
        assert!(!hint.is_empty(), "{problem}");
        if problem["cause"] == "pdf-hostile" {
            assert!(hint.contains("Don't trust this file."), "{hint}");
        }
        assert!(!problem["fix"].as_str().unwrap().is_empty(), "{problem}");
    }
    let notices = named("notices", "notice", &|file| name(file.as_str().unwrap()));
    for expected in [
        group("attachments", &["files.pdf"]),
        group("decrypted", &["open.pdf"]),
        group("fields-unseen", &["form.pdf"]),
        group("long", &["long.pdf"]),
        group("repaired", &["cut-off.pdf"]),
    ] {
        assert!(notices.contains(&expected), "{expected:?} in {notices:?}");
    }
    let scanned = notices.iter().find(|(notice, _)| notice == "scanned");
    let scanned = &scanned.unwrap().1;
    assert!(scanned.contains(&"scan.pdf".to_owned()), "{scanned:?}");
    let plan = &told["plan"];
    assert_eq!(plan["toRun"], 8, "{plan}");
    assert_eq!(plan["toFail"], 8, "{plan}");
    assert_eq!(plan["inParts"], 1, "{plan}");
    assert!(plan["calls"].as_u64().unwrap() >= 10, "{plan}");
    assert_eq!(told["scan"]["files"].as_array().unwrap().len(), 16);
}

#[test]
fn the_exit_code_says_whether_all_some_or_none_can_be_sent() {
    let desk = Desk::new();
    desk.put_pdfs(2);
    let all = desk.text(&["preflight", "pdfs", "--provider", "offline"]);
    assert!(all.contains("2 files would be summarized offline"), "{all}");
    desk.put("bad/empty.pdf", b"");
    desk.put("bad/page.pdf", &pdf::html_page());
    desk.ends_with(1, &["preflight", "pdfs", "bad", "--provider", "offline"]);
    let none = desk.ends_with(2, &["preflight", "bad", "--provider", "offline"]);
    assert!(none.contains("Nothing here can be sent."), "{none}");
    let nothing = desk.ends_with(2, &["preflight", "gone.pdf", "--provider", "offline"]);
    assert!(nothing.contains("1 that don't exist"), "{nothing}");
}
