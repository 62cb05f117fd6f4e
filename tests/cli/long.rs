//! A document longer than one call takes, from what is told before to what is there after.

use gistmill_testkit::fake_claude::{FakeClaude, Reply, Rule};
use gistmill_testkit::pdf::{numbered_pdf, text_pdf};

use crate::support::{Desk, until};

const PAGES: usize = 700;
/// A model whose calls take 600 pages.
const MODEL: &str = "claude-sonnet-4-6";

#[tokio::test(flavor = "multi_thread")]
async fn seven_hundred_pages_are_foretold_asked_part_by_part_and_shown() {
    let claude = FakeClaude::start().await;
    let desk = Desk::asking(&claude);
    desk.put("pdfs/long.pdf", &numbered_pdf(PAGES));
    desk.put("pdfs/short.pdf", &text_pdf(&["Of the harbour."]));
    desk.text(&["config", "set", "tokens-per-minute", "100000000"]);
    desk.text(&["config", "set", "day-cap", "none"]);
    desk.text(&["config", "set", "batch-cap", "none"]);

    let told = desk.json(&["preflight", "pdfs", "--model", MODEL]);
    let plan = &told["plan"];
    assert_eq!(plan["toRun"], 2, "{plan}");
    assert_eq!(plan["inParts"], 1, "{plan}");
    let calls = plan["calls"].as_u64().unwrap();
    let parts = calls - 2;
    assert!(parts >= 2, "700 pages are no single call: {plan}");
    let tokens = plan["inputTokens"].as_u64().unwrap();
    assert!(
        tokens > 700 * 1_500,
        "each page is at least its picture: {plan}"
    );
    let [expected, at_worst] =
        ["expectedMicros", "atWorstMicros"].map(|price| plan[price].as_i64().unwrap());
    assert!(0 < expected && expected <= at_worst, "{plan}");
    assert_eq!(told["notices"][0]["notice"], "long", "{told}");
    let said = desk.text(&["preflight", "pdfs", "--model", MODEL]);
    let words = format!("2 files would be asked in {calls} calls, 1 of them part by part.");
    assert!(said.contains(&words), "{said}");
    assert!(said.contains("long.pdf"), "{said}");

    desk.text(&["add", "pdfs", "--model", MODEL]);
    // The second part stands, so that there is time to look.
    claude.script(Rule {
        times: Some(1),
        ..Rule::nth(2, Reply::Hang)
    });
    desk.text(&["queues", "set", "bulk", "--concurrency", "1"]);
    let mut run = desk.start(&["run"]);
    let arrived = || claude.requests().len();
    until(
        || (arrived() == 2).then_some(()),
        || format!("waited for two calls, not {}", arrived()),
    );
    let under_way = format!("part 2 of {parts}");
    until(
        || {
            let rows = desk.text(&["jobs"]);
            rows.contains(&under_way).then_some(())
        },
        || format!("waited for “{under_way}”:\n{}", desk.text(&["jobs"])),
    );
    let shown = desk.text(&["show", &job(&desk, "long.pdf")]);
    assert!(shown.contains("answered"), "{shown}");
    assert!(shown.contains("running"), "{shown}");
    assert!(run.runs(), "it waits for the second part");
    drop(run);

    desk.text(&["run"]);
    let ranges: Vec<(String, String)> = claude
        .requests()
        .iter()
        .filter_map(|request| request.documents.first())
        .filter_map(|document| {
            let texts = &document.page_texts;
            let first = texts.first()?.trim().to_owned();
            first
                .starts_with("This is page")
                .then(|| (first, texts[texts.len() - 1].trim().to_owned()))
        })
        .collect();
    // The part that stood when the program was killed is asked twice.
    assert_eq!(ranges.len() as u64, parts + 1, "{ranges:?}");
    assert_eq!(ranges[0].0, "This is page 1 of 700.");
    assert_eq!(ranges[ranges.len() - 1].1, "This is page 700 of 700.");
    let shown = desk.text(&["show", &job(&desk, "long.pdf")]);
    assert!(
        shown.contains(&format!("all {parts} parts answered")),
        "{shown}"
    );
    let answered = shown
        .lines()
        .filter(|line| line.starts_with("  pages ") && line.contains("answered"))
        .count();
    assert_eq!(answered as u64, parts, "{shown}");
    assert!(shown.contains("combining the parts"), "{shown}");
    assert!(shown.contains("Result: "), "{shown}");
    let checked = desk.json(&["preflight", "pdfs", "--model", MODEL, "--again"]);
    assert!(
        checked["plan"]["estimates"]["calls"].as_u64().unwrap() >= parts,
        "what was counted is compared with what was estimated: {}",
        checked["plan"]
    );
}

fn job(desk: &Desk, title: &str) -> String {
    let jobs = desk.json(&["jobs"]);
    let all = jobs["jobs"].as_array().unwrap();
    let found = all.iter().find(|job| job["title"] == title).unwrap();
    found["jobId"].as_str().unwrap().to_owned()
}
