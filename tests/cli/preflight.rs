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
