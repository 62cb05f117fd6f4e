//! Sending text in place of pages, also to an address that takes no documents.

use gistmill_testkit::fake_claude::{FakeClaude, Options};
use gistmill_testkit::pdf::{scanned_pdf, text_pdf};

use crate::support::Desk;

/// Words that a summary can only be about when they were sent.
const WORDS: &str = "The bridge of the lower harbour stays closed until the eleventh of May.";

/// A desk with two files of text, and one without.
fn desk(claude: &FakeClaude) -> Desk {
    let desk = Desk::asking(claude);
    let long = format!("{WORDS}\n{}", "The count of the winter.\n".repeat(30));
    desk.put("pdfs/bridge.pdf", &text_pdf(&[&long, "The end of it."]));
    desk.put("pdfs/again.pdf", &text_pdf(&["Again: ", &long]));
    desk.put("pdfs/scan.pdf", &scanned_pdf());
    desk
}

/// Makes sure that the scanned file failed with its reason and a way on, and the others are done.
fn two_done_and_the_scan_refused(desk: &Desk) {
    let counts = &desk.json(&["status"])["counts"];
    assert_eq!(counts["done"], 2, "{counts}");
    assert_eq!(counts["needsReview"], 0, "{counts}");
    let told = desk.text(&["dead-letters"]);
    assert!(told.contains("pdf-without-text"), "{told}");
    assert!(told.contains("scan.pdf"), "{told}");
    assert!(told.contains("may be scanned"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_drops_documents_is_sent_the_text_once_text_only_is_on() {
    let options = Options {
        drops_documents: true,
        ..Options::default()
    };
    let claude = FakeClaude::start_with(options).await.unwrap();
    let desk = desk(&claude);
    desk.text(&["add", "pdfs/bridge.pdf", "pdfs/again.pdf"]);
    desk.text(&["run"]);
    let counts = &desk.json(&["status"])["counts"];
    assert_eq!(
        counts["needsReview"], 2,
        "what nobody read is not done: {counts}"
    );
    let before = claude.requests().len();

    desk.text(&["config", "set", "text-only", "on"]);
    desk.text(&["purge", "--all", "--yes"]);
    desk.text(&["add", "pdfs"]);
    desk.text(&["run"]);
    two_done_and_the_scan_refused(&desk);
    let requests = claude.requests().split_off(before);
    assert_eq!(requests.len(), 2, "the scan is not sent");
    for request in requests {
        assert!(request.documents.is_empty(), "documents are dropped there");
        assert!(request.prompt.contains(WORDS), "{}", request.prompt);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_template_that_sends_text_sends_it_as_a_document() {
    let claude = FakeClaude::start().await;
    let desk = desk(&claude);
    desk.put("ask.txt", b"Summarize the document in one sentence.");
    desk.text(&[
        "templates",
        "create",
        "--name",
        "In words",
        "--kind",
        "prose",
        "--body",
        "ask.txt",
        "--sends",
        "text",
    ]);
    desk.text(&["add", "pdfs", "--template", "In words"]);
    desk.text(&["run"]);
    two_done_and_the_scan_refused(&desk);
    let requests = claude.requests();
    assert_eq!(requests.len(), 2, "the scan is not sent");
    for request in requests {
        let text = request.documents[0].text.as_deref().unwrap();
        assert!(text.contains(WORDS), "{text}");
        assert!(
            text.contains("[Page 2]"),
            "pages keep their numbers: {text}"
        );
    }
}
