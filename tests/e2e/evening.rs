//! One evening with thirty files: all of the window in the order in which a person meets it.

use std::path::Path;

use fantoccini::Locator;
use fantoccini::key::Key;
use gistmill_testkit::fake_claude::{FakeClaude, Fault, Plan, Reply, Rule};
use gistmill_testkit::pdf;

use crate::driver::{App, Machine};
use crate::flow::first_start;

/// What the lease says on its second page, and its summary quotes.
const QUOTE: &str = "The rent of the mill is forty-two tonnes of grain a year.";
const PASSWORD: &str = "grindstone";
/// Files that are PDFs and can be read, the locked one once it is opened, and the scan.
const JOBS: u64 = 24;
/// Damaged, no PDF, and empty: they become jobs that failed, so that nobody has to look for them.
const HOPELESS: u64 = 3;

/// Thirty files as they lie in a person's folder.
fn mixed_files(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).unwrap();
    let pages = [
        "The lease of the mill at the weir.",
        QUOTE,
        "Signed by both.",
    ];
    write("lease.pdf", &pdf::text_pdf(&pages));
    for number in 1..=19 {
        let text = format!("Survey {number} counts {number} mills along the river.");
        write(
            &format!("survey-{number:02}.pdf"),
            &pdf::text_pdf(&[text.as_str()]),
        );
    }
    write(
        "水車の調査.pdf",
        &pdf::japanese_pdf(&["水車は川沿いに十二基ある。"]),
    );
    write(
        "refused.pdf",
        &pdf::text_pdf(&["The report that is refused once."]),
    );
    write("scan.pdf", &pdf::scanned_pdf());
    write(
        "locked.pdf",
        &pdf::encrypted_pdf(&["The locked report of the mill."], PASSWORD),
    );
    // What can't be read, what is there already, and what is no PDF by its name.
    write("damaged.pdf", &pdf::damaged_pdf());
    write("page.pdf", &pdf::html_page());
    write("empty.pdf", b"");
    write("lease (copy).pdf", &pdf::text_pdf(&pages));
    write("notes.txt", b"Ask for the survey of 1907.");
    write("map.png", b"\x89PNG\r\n\x1a\n");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 30);
}

/// Waits until a view of the sidebar counts so many jobs.
async fn counts(app: &App, view: &str, count: u64) {
    app.until(
        &format!("the view {view} counts {count}"),
        &format!(
            "const digits = document.querySelector(\"[data-testid='view-{view}']\")?.innerText.match(/\\d+/);
             return Number(digits ? digits[0] : 0) === {count}"
        ),
    )
    .await;
}

async fn text_of(app: &App, selector: &str) -> String {
    app.css(selector).await.text().await.unwrap()
}

/// The person looks at the summary of the lease and presses its citation.
async fn read_the_citation(app: &App) {
    app.click("view-done").await;
    app.css("[data-search]")
        .await
        .send_keys("lease")
        .await
        .unwrap();
    app.until(
        "the search finds the lease alone",
        "const rows = [...document.querySelectorAll(\"[data-testid='job-row']\")];
         return rows.length === 1 && rows[0].innerText.includes('lease')",
    )
    .await;
    app.find("job-row").await.click().await.unwrap();
    app.find("job-row")
        .await
        .send_keys(&Key::Enter.to_string())
        .await
        .unwrap();
    app.find("reader").await;
    let chip = app
        .client()
        .wait()
        .for_element(Locator::XPath(
            "//*[@data-testid='reader']//button[contains(., 'p. 2')]",
        ))
        .await;
    let Ok(chip) = chip else {
        app.fail("the summary's (p. 2) is no citation that can be pressed");
    };
    chip.click().await.unwrap();
    app.find("passage").await;
    assert!(text_of(app, ".pdfbar").await.contains("Page 2 of 3"));
    assert!(
        text_of(app, "[data-testid='reader']")
            .await
            .contains("Found word for word")
    );
}

#[tokio::test]
#[ignore = "needs a desktop session: scripts/test e2e"]
async fn thirty_files_from_the_first_start_to_the_morning() {
    let claude = FakeClaude::start().await;
    claude.script(
        Rule::titled(
            "refused",
            Reply::Fault {
                fault: Fault::InvalidRequest,
            },
        )
        .times(1),
    );
    let summary =
        format!("# Lease of the mill\n\nThe rent is paid in grain (p. 2).\n\n> “{QUOTE}” (p. 2)\n");
    // Slow enough to be watched.
    let slowly = Plan {
        event_delay_ms: 60,
        ..Plan::default()
    };
    claude.script(Rule::titled("survey", Reply::Answer(slowly)));
    claude.script(Rule::titled("lease", Reply::text(summary)));
    let machine = Machine::new().with("ANTHROPIC_BASE_URL", claude.url());
    let documents = machine.documents();
    mixed_files(&documents);

    let app = first_start(&machine).await;
    app.drop_paths(&[&documents]).await;
    app.find("sheet-start").await;
    for group in ["pdf-encrypted", "duplicate"] {
        app.css(&format!(
            "[data-testid='found-group'][data-group='{group}']"
        ))
        .await;
    }
    app.css("[data-testid='unlock'] input")
        .await
        .send_keys(PASSWORD)
        .await
        .unwrap();
    app.css("[data-testid='unlock'] button[type='submit']")
        .await
        .click()
        .await
        .unwrap();
    app.until(
        "all that can be a job is to be started",
        &format!("return document.querySelector(\"[data-testid='sheet-start']\").innerText.includes('{JOBS}')"),
    )
    .await;
    app.click("sheet-start").await;

    // Watched: it begins, and the one that is refused ends among the dead letters.
    app.css("[data-testid='job-row'][data-status='running']")
        .await;
    counts(&app, "done", JOBS - 1).await;
    counts(&app, "dead-letters", HOPELESS + 1).await;
    app.click("view-dead-letters").await;
    app.css("[data-cause='invalid-request'] .fix .btn:not(.btn-link)")
        .await
        .click()
        .await
        .unwrap();
    app.click("retry-start").await;
    counts(&app, "done", JOBS).await;
    counts(&app, "dead-letters", HOPELESS).await;
    assert_eq!(
        claude.requests().len() as u64,
        JOBS + 1,
        "each is asked once, the refused one twice"
    );

    read_the_citation(&app).await;
    app.css("[data-testid='reader'] .tool .ib")
        .await
        .click()
        .await
        .unwrap();

    app.css(".bt-report").await.click().await.unwrap();
    let report = text_of(&app, "[data-testid='report']").await;
    assert!(
        report.contains(&JOBS.to_string()),
        "the report counts all jobs: {report}"
    );

    app.quit().await;
    let app = machine.start().await;
    counts(&app, "done", JOBS).await;
    counts(&app, "dead-letters", HOPELESS).await;
    read_the_citation(&app).await;
    assert_eq!(
        claude.requests().len() as u64,
        JOBS + 1,
        "a restart asks nothing again"
    );
    app.quit().await;
}
