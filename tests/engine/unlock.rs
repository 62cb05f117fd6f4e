//! Files that need a password: unlocked in a scan, or after they failed; the password stays in memory.

use std::path::Path;

use gistmill_engine::model::{
    Cause, JobStatus, Notice, PageRange, Provider, QueueName, RetryChanges, Selection, Submission,
};
use gistmill_testkit::pdf;
use secrecy::SecretString;

use crate::support::{House, submission};

const PASSWORD: &str = "correct horse battery";
const OTHER: &str = "another password entirely";

fn secret(password: &str) -> SecretString {
    SecretString::from(password)
}

/// A house with two files that one password opens, one that needs another, and one that needs none.
async fn with_locked_files() -> House {
    let house = House::idle().await;
    house.put(
        "a.pdf",
        &pdf::encrypted_pdf(&["The first of the locked letters."], PASSWORD),
    );
    house.put(
        "b.pdf",
        &pdf::encrypted_pdf(
            &[
                "The first page says something.",
                "The second page says more.",
            ],
            PASSWORD,
        ),
    );
    house.put("c.pdf", &pdf::encrypted_pdf(&["Third."], OTHER));
    house.put("d.pdf", &pdf::text_pdf(&["Open to everybody."]));
    house
}

#[tokio::test]
async fn a_password_unlocks_the_files_of_a_scan_that_it_opens() {
    let house = with_locked_files().await;
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    assert_eq!(report.pages, 1, "locked files have no pages that count");
    let wrong = house
        .engine
        .unlock_scan(report.scan_id, secret("wrong"))
        .await
        .unwrap_err();
    assert_eq!(wrong.to_string(), "The password opens none of the 3 files.");
    let unlocked = house
        .engine
        .unlock_scan(report.scan_id, secret(PASSWORD))
        .await
        .unwrap();
    let causes: Vec<_> = unlocked
        .files
        .iter()
        .map(|file| file.document.finding.as_ref().map(|finding| finding.cause))
        .collect();
    assert_eq!(causes, [None, None, Some(Cause::PdfEncrypted), None]);
    assert_eq!(unlocked.files[1].notices, [Notice::Unlocked]);
    assert_eq!(unlocked.pages, 4);
    assert!(
        unlocked.expected_micros > report.expected_micros,
        "the price must follow what can be sent"
    );
    let wrong = house
        .engine
        .unlock_scan(report.scan_id, secret(PASSWORD))
        .await
        .unwrap_err();
    assert_eq!(wrong.to_string(), "The password does not open the file.");
    house
        .engine
        .unlock_scan(report.scan_id, secret(OTHER))
        .await
        .unwrap();
    let submitted = house
        .engine
        .submit_scan(
            report.scan_id,
            submission(QueueName::High, Provider::Claude),
        )
        .await
        .unwrap();
    for job_id in &submitted.job_ids {
        assert_eq!(house.job(job_id).await.job.status, JobStatus::Pending);
    }
    assert!(
        house
            .engine
            .unlock_scan(report.scan_id, secret(PASSWORD))
            .await
            .is_err(),
        "a scan that was submitted is gone"
    );
}

#[tokio::test]
async fn passwords_that_were_given_are_tried_by_later_scans() {
    let house = with_locked_files().await;
    house.engine.give_password(secret("wrong"));
    house.engine.give_password(secret(PASSWORD));
    house.engine.give_password(secret(OTHER));
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    for file in &report.files {
        assert_eq!(file.document.finding, None, "{}", file.name);
    }
    assert_eq!(report.pages, 5);
    let none = house
        .engine
        .unlock_scan(report.scan_id, secret(PASSWORD))
        .await
        .unwrap_err();
    assert_eq!(none.to_string(), "None of these files needs a password.");
}

#[tokio::test]
async fn jobs_that_failed_for_want_of_a_password_are_put_back_by_it() {
    let house = with_locked_files().await;
    let submitted = house.submit(vec![house.path("")], Provider::Claude).await;
    let all = || Selection::Jobs {
        job_ids: submitted.job_ids.clone(),
    };
    let wrong = house
        .engine
        .unlock_jobs(all(), secret("wrong"))
        .await
        .unwrap_err();
    assert_eq!(wrong.to_string(), "The password opens none of the 3 files.");
    // Another file by now: what was asked for is not there to be unlocked.
    house.put("b.pdf", &pdf::encrypted_pdf(&["Changed."], PASSWORD));
    let affected = house
        .engine
        .unlock_jobs(all(), secret(PASSWORD))
        .await
        .unwrap();
    assert_eq!((affected.jobs, affected.unchanged), (1, 3));
    let mut statuses = Vec::new();
    for job_id in &submitted.job_ids {
        statuses.push(house.job(job_id).await.job.status);
    }
    use JobStatus::{Failed, Pending};
    assert_eq!(statuses, [Pending, Failed, Failed, Pending]);
    let document = house.job(&submitted.job_ids[0]).await.document.unwrap();
    assert_eq!(document.finding, None, "what it needed is there");
    assert_eq!(document.notices(), [Notice::Unlocked]);
}

#[tokio::test]
async fn a_retry_without_the_password_leaves_locked_files_out() {
    let house = with_locked_files().await;
    let submitted = house.submit(vec![house.path("")], Provider::Claude).await;
    let selection = Selection::Jobs {
        job_ids: submitted.job_ids,
    };
    let plan = house
        .engine
        .plan_retry(selection, RetryChanges::default())
        .await
        .unwrap();
    assert_eq!(plan.would_run, 0, "they would fail once more");
}

#[tokio::test]
async fn no_password_is_ever_on_the_disk() {
    let house = with_locked_files().await;
    house.engine.give_password(secret(OTHER));
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    let unlocked = house
        .engine
        .unlock_scan(report.scan_id, secret(PASSWORD))
        .await
        .unwrap();
    assert!(
        !format!("{unlocked:?}").contains(PASSWORD),
        "a report is shown and logged"
    );
    house
        .engine
        .submit_scan(
            report.scan_id,
            submission(QueueName::High, Provider::Claude),
        )
        .await
        .unwrap();
    house.engine.shutdown().await;
    for password in [PASSWORD, OTHER] {
        holds_nowhere(&house.folder.path().join("data"), password);
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

#[tokio::test]
async fn a_long_file_is_divided_the_same_whether_it_was_unlocked_before_or_after_it_was_added() {
    let house = House::working().await;
    house
        .set(|settings| settings.tokens_per_minute = 4_000_000)
        .await;
    // The second half has far more text, which only what each page holds can tell.
    let dense = "All the words that a page of a book has. ".repeat(30);
    let pages: Vec<&str> = (0..150)
        .map(|page| {
            if page < 75 {
                "A title."
            } else {
                dense.as_str()
            }
        })
        .collect();
    house.put("a.pdf", &pdf::encrypted_pdf(&pages, PASSWORD));
    house.put(
        "b.pdf",
        &pdf::encrypted_pdf(&["A locked letter."], PASSWORD),
    );
    let asked = Submission {
        model: Some("claude-haiku-4-5".to_owned()),
        fresh: true,
        ..submission(QueueName::High, Provider::Claude)
    };
    let add = async || {
        let report = house.engine.scan(vec![house.path("")]).await.unwrap();
        let scan = report.scan_id;
        house.engine.submit_scan(scan, asked.clone()).await.unwrap()
    };
    let parts = async |job_id| -> Vec<PageRange> {
        let detail = house.job(job_id).await;
        detail.parts.iter().map(|part| part.pages).collect()
    };
    let locked = add().await;
    for job_id in &locked.job_ids {
        house.until_status(job_id, JobStatus::Failed).await;
    }
    let selection = Selection::Jobs {
        job_ids: locked.job_ids.clone(),
    };
    house
        .engine
        .unlock_jobs(selection, secret(PASSWORD))
        .await
        .unwrap();
    house.until_completed(&locked).await;
    // The password is known by now.
    let open = add().await;
    house.until_completed(&open).await;
    let divided = parts(&locked.job_ids[0]).await;
    assert_eq!(divided, parts(&open.job_ids[0]).await);
    assert_eq!(divided.len(), 2, "{divided:?}");
    assert!(
        divided[0].pages() > 75,
        "the half with more text has fewer pages a part: {divided:?}"
    );
}
