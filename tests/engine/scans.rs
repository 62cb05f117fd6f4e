//! Scans of what was dropped: in order, told while they go on, ended at once, patient with copies under way.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

use gistmill_engine::EngineError;
use gistmill_engine::clock::Clock as _;
use gistmill_engine::model::{
    Cause, EngineEvent, Notice, Provider, QueueName, ScanReport, SkipReason, Submission,
};
use gistmill_testkit::pdf;

use crate::support::{House, submission};

/// Longest that a scan of a few files may take before the test says so.
const PATIENCE: Duration = Duration::from_secs(60);
/// How often a test does something while a scan goes on.
const STEP: Duration = Duration::from_millis(5);

/// Scans the drop folder, doing something again and again meanwhile.
async fn scan_while(house: &House, mut step: impl FnMut()) -> Result<ScanReport, EngineError> {
    let mut scan = std::pin::pin!(house.engine.scan(vec![house.path("")]));
    let mut steps = tokio::time::interval(STEP);
    let scanning = async {
        loop {
            tokio::select! {
                ended = &mut scan => return ended,
                _ = steps.tick() => step(),
            }
        }
    };
    match tokio::time::timeout(PATIENCE, scanning).await {
        Ok(ended) => ended,
        Err(_) => panic!("the scan does not end"),
    }
}

fn names(report: &ScanReport) -> Vec<&str> {
    report.files.iter().map(|file| file.name.as_str()).collect()
}

#[tokio::test]
async fn files_are_reported_in_the_order_in_which_folders_show_them() {
    let house = House::idle().await;
    let mut expected = Vec::new();
    for number in 0..24 {
        let name = format!("{number:02}.pdf");
        // What is slow to inspect must not change places with what is quick.
        let pages = vec!["A page."; if number % 5 == 0 { 60 } else { 1 }];
        let bytes = pdf::text_pdf(&pages);
        house.put(&name, &[bytes, format!("% {number}").into_bytes()].concat());
        expected.push(name);
    }
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    assert_eq!(names(&report), expected);
    assert_eq!(report.pages, 5 * 60 + 19);
}

#[tokio::test]
async fn the_first_of_the_same_files_is_kept_and_the_others_name_it() {
    let house = House::idle().await;
    let long = pdf::text_pdf(&["The same."; 80]);
    for name in ["a/same.pdf", "b/same.pdf", "c.pdf"] {
        house.put(name, &long);
    }
    house.put_pdfs(&["b/other.pdf"]);
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    assert_eq!(names(&report), ["same.pdf", "other.pdf"]);
    let first = &report.files[0].path;
    assert!(first.ends_with("a/same.pdf"), "{first}");
    assert_eq!(report.skipped.len(), 2, "{:?}", report.skipped);
    for skipped in &report.skipped {
        assert_eq!(skipped.reason, SkipReason::Duplicate);
        assert_eq!(skipped.same_as.as_ref(), Some(first));
    }
}

#[tokio::test]
async fn how_far_a_scan_is_is_told_in_the_end_and_while_it_goes_on() {
    let house = House::idle().await;
    for number in 0..20 {
        house.put_pdfs(&[&format!("{number}.pdf")]);
    }
    house.put("broken.pdf", &pdf::damaged_pdf());
    let mut events = house.engine.subscribe();
    let clock = std::sync::Arc::clone(&house.clock);
    scan_while(&house, || clock.advance(Duration::from_millis(100)))
        .await
        .unwrap();
    let mut told = Vec::new();
    while let Ok(event) = events.try_recv() {
        if let EngineEvent::ScanProgress {
            inspected,
            found,
            problems,
            walking,
        } = event
        {
            told.push((inspected, found, problems, walking));
        }
    }
    assert_eq!(told.last(), Some(&(21, 21, 1, false)));
    assert!(
        told.iter().any(|(inspected, ..)| *inspected < 21),
        "a person waits and hears nothing: {told:?}"
    );
    assert!(told.is_sorted_by_key(|(inspected, ..)| *inspected));
}

#[tokio::test]
async fn a_clock_that_stands_still_hears_of_a_scan_once() {
    let house = House::idle().await;
    for number in 0..20 {
        house.put_pdfs(&[&format!("{number}.pdf")]);
    }
    let mut events = house.engine.subscribe();
    house.engine.scan(vec![house.path("")]).await.unwrap();
    let mut told = 0;
    while let Ok(event) = events.try_recv() {
        told += u32::from(matches!(event, EngineEvent::ScanProgress { .. }));
    }
    assert_eq!(
        told, 1,
        "ten thousand files must not be ten thousand events"
    );
}

#[tokio::test]
async fn a_scan_ends_at_once_when_it_is_cancelled_whatever_it_waits_for() {
    let house = House::idle().await;
    // Each takes its reader seconds, if it is let.
    for number in 0..6 {
        let bytes = pdf::endless_pdf(40 + number);
        house.put(&format!("{number}.pdf"), &bytes);
    }
    let began = std::time::Instant::now();
    let engine = house.engine.clone();
    let error = scan_while(&house, || engine.cancel_scan())
        .await
        .expect_err("it was cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "a person who presses Cancel waited {:?}",
        began.elapsed()
    );
    assert!(house.jobs().await.is_empty());
}

/// Two looks at a file are a second apart: with half of it for each write, there is one between any two looks.
const HALF_A_LOOK: Duration = Duration::from_millis(500);

/// Writes the beginning of a file as a copy under way does, changed just now by the house's clock.
fn begin_copy(house: &House, name: &str, whole: &[u8]) -> File {
    let path = house.put(name, &whole[..40]);
    let file = OpenOptions::new().append(true).open(path).unwrap();
    let now = u64::try_from(house.clock.now().0).unwrap();
    file.set_modified(UNIX_EPOCH + Duration::from_millis(now))
        .unwrap();
    file
}

#[tokio::test]
async fn a_copy_under_way_is_waited_for() {
    let house = House::idle().await;
    house.put_pdfs(&["whole.pdf"]);
    let whole = pdf::text_pdf(&["It took a while to be copied."]);
    let mut copy = begin_copy(&house, "copied.pdf", &whole);
    let mut rest = whole[40..].chunks(whole.len() / 4);
    let clock = std::sync::Arc::clone(&house.clock);
    let report = scan_while(&house, || {
        if let Some(part) = rest.next() {
            copy.write_all(part).unwrap();
        }
        clock.advance(HALF_A_LOOK);
    })
    .await
    .unwrap();
    assert_eq!(names(&report), ["copied.pdf", "whole.pdf"]);
    assert!(report.skipped.is_empty(), "{:?}", report.skipped);
    for file in &report.files {
        assert_eq!(file.document.finding, None, "{}", file.name);
        let on_disk = std::fs::metadata(Path::new(&file.path)).unwrap().len();
        assert_eq!(file.document.bytes, on_disk, "{}", file.name);
    }
}

#[tokio::test]
async fn a_file_that_never_stops_growing_is_left_out_and_the_others_go_on() {
    let house = House::idle().await;
    house.put_pdfs(&["whole.pdf"]);
    let mut copy = begin_copy(&house, "endless.pdf", &pdf::text_pdf(&["Endless."]));
    let clock = std::sync::Arc::clone(&house.clock);
    let report = scan_while(&house, || {
        copy.write_all(b"% more\n").unwrap();
        clock.advance(HALF_A_LOOK);
    })
    .await
    .unwrap();
    assert_eq!(names(&report), ["whole.pdf"]);
    assert_eq!(report.skipped.len(), 1);
    assert_eq!(report.skipped[0].reason, SkipReason::StillWritten);
}

#[tokio::test]
async fn a_file_that_is_whole_is_not_waited_for_however_new_it_is() {
    let house = House::idle().await;
    for name in ["new.pdf", "newer.pdf"] {
        let path = house.put_pdfs(&[name]).remove(0);
        let file = OpenOptions::new().append(true).open(path).unwrap();
        let now = u64::try_from(house.clock.now().0).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_millis(now))
            .unwrap();
    }
    // The clock stands still: a wait would never end.
    let report = scan_while(&house, || {}).await.unwrap();
    assert_eq!(report.files.len(), 2);
}

#[tokio::test]
async fn what_is_worth_knowing_of_files_is_said() {
    let house = House::idle().await;
    house.put(
        "a.pdf",
        &pdf::encrypted_pdf(&["It opens without a password."], ""),
    );
    house.put("b.pdf", &pdf::scanned_pdf());
    house.put(
        "c.pdf",
        &pdf::text_pdf(&["A page of a long report, of which there are more."; 601]),
    );
    house.put("d.pdf", &pdf::text_pdf(&["An ordinary page of a letter."]));
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    let notices: Vec<_> = report.files.iter().map(|file| &file.notices[..]).collect();
    assert_eq!(
        notices,
        [
            &[Notice::Decrypted][..],
            &[Notice::Scanned],
            &[Notice::Long],
            &[]
        ]
    );
}

#[tokio::test]
async fn what_a_scan_says_of_long_files_is_what_a_submission_does() {
    let house = House::idle().await;
    // So many tokens of output that four answers can't be put together any more.
    house
        .set(|settings| {
            settings.model = "claude-haiku-4-5".to_owned();
            settings.max_tokens = 60_000;
            settings.tokens_per_minute = 4_000_000;
        })
        .await;
    house.put("a.pdf", &pdf::numbered_pdf(150));
    house.put("b.pdf", &pdf::numbered_pdf(3));
    let too_long = house.put("c.pdf", &pdf::numbered_pdf(300));
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    let long: Vec<_> = report
        .files
        .iter()
        .map(|file| file.notices.contains(&Notice::Long))
        .collect();
    assert_eq!(
        long,
        [true, false, false],
        "what is asked in parts is said to be"
    );
    let asked = submission(QueueName::High, Provider::Claude);
    let plan = |submission| house.engine.plan_submission(report.scan_id, submission);
    let same = plan(asked.clone()).await.unwrap();
    assert_eq!(
        (same.in_parts, same.calls),
        (1, 4),
        "two parts, the whole, and the short one"
    );
    let (scan, submission) = (
        report.at_worst_micros.unwrap(),
        same.at_worst_micros.unwrap(),
    );
    assert!(
        (scan - submission).abs() * 100 < submission,
        "the scan counts the same calls, but for the length of the template: {scan}, {submission}"
    );
    assert_eq!((same.to_fail, same.refused.len()), (1, 1));
    assert_eq!(same.refused[0].path, too_long.to_string_lossy());
    assert_eq!(same.refused[0].finding.cause, Cause::PromptTooLong);
    let larger = plan(Submission {
        model: Some("claude-sonnet-4-6".to_owned()),
        ..asked.clone()
    });
    let larger = larger.await.unwrap();
    assert_eq!(
        (larger.to_fail, larger.refused, larger.to_run),
        (0, Vec::new(), 3),
        "another model takes it"
    );
    let offline = plan(Submission {
        provider: Provider::Offline,
        ..asked
    });
    assert_eq!(
        offline.await.unwrap().to_run,
        3,
        "and so does the offline summary"
    );
}
