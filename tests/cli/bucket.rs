//! The bucket: what is set is shown, what is stored goes there, and what stands in the way is said.

use gistmill_testkit::seaweed::Seaweed;
use serde_json::{Value, json};

use crate::support::{Desk, complaint};

const ACCOUNT: &str = "0123456789abcdef0123456789abcdef";

/// A desk whose results go to a bucket of a real server.
async fn desk_with_bucket(server: &Seaweed, bucket: &str, secret: &str) -> Desk {
    let desk = Desk::new().with("GISTMILL_R2_SECRET", secret);
    desk.text(&[
        "bucket",
        "set",
        "--endpoint",
        &server.url,
        "--bucket",
        bucket,
        "--key-id",
        server.access_key_id,
        "--enable",
    ]);
    desk
}

/// Adds PDFs that need no key, and no delay.
fn add_pdfs(desk: &Desk, count: usize) {
    desk.put_pdfs(count);
    desk.text(&["add", "pdfs", "--provider", "offline", "--queue", "high"]);
}

#[test]
fn what_is_set_of_a_bucket_is_shown_and_the_rest_stays() {
    let desk = Desk::new();
    assert_eq!(desk.json(&["bucket"])["settings"], Value::Null);
    assert!(desk.text(&["bucket"]).starts_with("No bucket"));
    let url = format!("https://{ACCOUNT}.eu.r2.cloudflarestorage.com/results");
    let bucket = desk.json(&["bucket", "set", &url, "--key-id", "key-of-mine"]);
    assert_eq!(
        bucket["settings"],
        json!({
            "enabled": false, "accountId": ACCOUNT, "jurisdiction": "eu", "endpoint": null,
            "bucket": "results", "folder": "", "accessKeyId": "key-of-mine",
            "uploadDocuments": false, "waitForUpload": false,
        })
    );
    let bucket = desk.json(&[
        "bucket",
        "set",
        "--folder",
        "a/b",
        "--upload-pdfs",
        "on",
        "--wait",
        "on",
        "--enable",
    ]);
    assert_eq!(
        bucket["settings"],
        json!({
            "enabled": true, "accountId": ACCOUNT, "jurisdiction": "eu", "endpoint": null,
            "bucket": "results", "folder": "a/b", "accessKeyId": "key-of-mine",
            "uploadDocuments": true, "waitForUpload": true,
        }),
        "what is not named stays"
    );
    assert_eq!(
        (&bucket["address"], &bucket["secretSet"]),
        (&json!(format!("{url}/a/b")), &json!(false))
    );
    let shown = desk.text(&["bucket"]);
    for words in [
        "Results and their PDFs are uploaded.",
        "A job is done when its result is in the bucket.",
        "gistmill bucket secret set",
    ] {
        assert!(shown.contains(words), "{words} is missing:\n{shown}");
    }
    let off = desk.json(&["bucket", "set", "--disable", "--folder", "none"]);
    assert_eq!(
        (&off["settings"]["enabled"], &off["settings"]["folder"]),
        (&json!(false), &json!(""))
    );
}

#[test]
fn what_can_be_no_bucket_is_refused_with_a_reason() {
    let desk = Desk::new();
    for arguments in [
        &["bucket", "set"][..],
        &["bucket", "set", "not an address"],
        &["bucket", "set", "--enable"],
        &["bucket", "set", "--enable", "--disable"],
        &["bucket", "set", "--jurisdiction", "mars"],
        &["bucket", "set", "--wait", "perhaps"],
        &["bucket", "test"],
        &["bucket", "upload"],
        &["bucket", "retry"],
        // The secret is no argument.
        &["bucket", "secret", "set", "hush"],
        &["bucket", "set", "--secret", "hush"],
    ] {
        let said = desk.ends_with(2, arguments);
        assert!(!said.trim().is_empty(), "{arguments:?} must say why");
        assert!(!said.contains("panicked"), "{arguments:?}: {said}");
    }
    assert_eq!(desk.json(&["config"])["bucket"], Value::Null);
}

#[test]
fn without_a_keychain_the_secret_is_not_kept_and_the_environment_serves() {
    let desk = Desk::new();
    desk.text(&[
        "bucket",
        "set",
        "--account-id",
        ACCOUNT,
        "--key-id",
        "key",
        "--bucket",
        "mine",
    ]);
    let refused = desk.told(&["bucket", "secret", "set"], "hush-hush-hush\n");
    assert_eq!(refused.status.code(), Some(3), "{}", complaint(&refused));
    assert!(
        complaint(&refused).contains("GISTMILL_R2_SECRET"),
        "{}",
        complaint(&refused)
    );
    assert!(
        !complaint(&refused).contains("hush"),
        "a secret is never printed"
    );
    let empty = desk.told(&["bucket", "secret", "set"], " \n");
    assert_eq!(empty.status.code(), Some(2));
    let tested = desk.ends_with(1, &["bucket", "test"]);
    assert!(tested.contains("gistmill bucket secret set"), "{tested}");
    let desk = desk.with("GISTMILL_R2_SECRET", "hush-hush-hush");
    let shown = desk.text(&["bucket"]);
    assert!(
        shown.contains("Secret: from GISTMILL_R2_SECRET") && !shown.contains("hush"),
        "{shown}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_is_tested_and_results_go_there_before_the_run_ends() {
    let server = Seaweed::start().await;
    let bucket = server.bucket().await;
    let desk = desk_with_bucket(&server, &bucket.name, server.secret).await;
    let tested = desk.text(&["bucket", "test"]);
    assert!(tested.starts_with("The bucket works. Took "), "{tested}");
    add_pdfs(&desk, 2);
    let ran = desk.text(&["run"]);
    assert!(ran.contains("2 done, 0 to review, 0 failed"), "{ran}");
    assert!(!ran.contains("upload"), "nothing is left: {ran}");
    assert_eq!(bucket.list("").await.len(), 2);
    let shown = desk.text(&["bucket"]);
    assert!(
        shown.contains("2 stored results are in the bucket."),
        "{shown}"
    );
    assert!(desk.text(&["status"]).contains("Uploads: none waits"));
    let jobs = desk.json(&["jobs"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let job = desk.text(&["show", id]);
    let address = format!("Upload: {}/{}/", server.url, bucket.name);
    assert!(job.contains(&address) && job.contains(", since "), "{job}");
    assert_eq!(
        desk.json(&["show", id])["result"]["upload"]["state"],
        "uploaded"
    );
    assert_eq!(desk.json(&["bucket", "upload"]), json!({ "queued": 0 }));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_stored_before_is_queued_and_uploaded_by_the_next_run() {
    let server = Seaweed::start().await;
    let bucket = server.bucket().await;
    let desk = desk_with_bucket(&server, &bucket.name, server.secret).await;
    desk.text(&["bucket", "set", "--disable"]);
    add_pdfs(&desk, 3);
    desk.text(&["run"]);
    assert!(bucket.list("").await.is_empty(), "uploads are off");
    let refused = desk.ends_with(2, &["bucket", "upload"]);
    assert!(
        refused.contains("gistmill bucket set --enable"),
        "{refused}"
    );
    let shown = desk.text(&["bucket", "set", "--enable"]);
    assert!(
        shown.contains("3 are not and not on the way") && shown.contains("gistmill bucket upload"),
        "{shown}"
    );
    assert_eq!(desk.json(&["bucket", "upload"]), json!({ "queued": 3 }));
    let status = desk.text(&["status"]);
    assert!(
        status.contains("Uploads: 3 wait, the oldest since "),
        "{status}"
    );
    desk.text(&["run"]);
    assert_eq!(bucket.list("").await.len(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_may_only_read_is_told_and_the_run_says_what_is_left() {
    let server = Seaweed::start().await;
    let bucket = server.bucket().await;
    let desk = desk_with_bucket(&server, &bucket.name, server.reader_secret).await;
    desk.text(&["bucket", "set", "--key-id", server.reader_key_id]);
    let tested = desk.ends_with(1, &["bucket", "test"]);
    assert!(tested.contains("Object Read & Write"), "{tested}");
    let tested = desk.run(&["bucket", "test", "--json"]);
    let tested: Value = serde_json::from_slice(&tested.stdout).unwrap();
    assert_eq!(tested["trouble"]["cause"], "not-allowed");
    add_pdfs(&desk, 2);
    let ran = desk.text(&["run"]);
    assert!(ran.contains("2 done, 0 to review, 0 failed"), "{ran}");
    assert!(
        ran.contains("2 uploads still wait. ") && ran.contains("Object Read & Write"),
        "{ran}"
    );
    let status = desk.text(&["status"]);
    assert!(
        status.contains("Uploads: 2 wait") && status.contains("Object Read & Write"),
        "{status}"
    );
    let jobs = desk.json(&["jobs"]);
    let id = jobs["jobs"][0]["jobId"].as_str().unwrap();
    let job = desk.text(&["show", id]);
    assert!(job.contains("Upload: "), "{job}");
    // Another Gistmill may need a moment to see a key that works.
    desk.text(&["bucket", "set", "--key-id", server.access_key_id]);
    let desk = desk.with("GISTMILL_R2_SECRET", server.secret);
    desk.json(&["bucket", "retry"]);
    let ran = desk.text(&["run"]);
    assert!(!ran.contains("still wait"), "{ran}");
    assert_eq!(bucket.list("").await.len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_that_wait_for_their_upload_are_not_done_without_it() {
    let server = Seaweed::start().await;
    let bucket = server.bucket().await;
    let desk = desk_with_bucket(&server, &bucket.name, server.reader_secret).await;
    desk.text(&[
        "bucket",
        "set",
        "--key-id",
        server.reader_key_id,
        "--wait",
        "on",
    ]);
    add_pdfs(&desk, 2);
    let ran = desk.ends_with(3, &["run"]);
    assert!(ran.contains("2 jobs are still waiting."), "{ran}");
    let jobs = desk.text(&["jobs"]);
    assert!(jobs.contains("Answered and stored"), "{jobs}");
    desk.text(&["bucket", "set", "--wait", "off"]);
    let counts = desk.json(&["status"])["counts"].clone();
    assert_eq!(
        counts["done"], 2,
        "nobody waits for the bucket now: {counts}"
    );
}
