//! PDFs that are too large for the body of a message: uploaded, named, removed; else divided.

use std::time::Duration;

use gistmill_engine::model::{EndpointKind, JobStatus, Provider};
use gistmill_testkit::fake_claude::{Call, Canned, FakeClaude, Fault, Reply, Rule};
use gistmill_testkit::pdf;
use sha2::{Digest as _, Sha256};

use crate::support::House;

/// Pages of about 4 MB each, together more than one body takes.
const PAGES: usize = 6;
const PAGE_BYTES: usize = 4_200_000;

/// A house whose address passes everything on to Anthropic, and two files that are too large for a body.
async fn house() -> House {
    let house = House::working().await;
    house
        .set(|settings| {
            settings.endpoint = Some(EndpointKind::Anthropic);
            settings.tokens_per_minute = 4_000_000;
        })
        .await;
    // Two files of the same content would be one job.
    for (name, pages) in [("a.pdf", PAGES), ("b.pdf", PAGES + 1)] {
        let path = house.put(name, b"");
        pdf::images_pdf(&path, pages, PAGE_BYTES);
    }
    house
}

async fn gone(claude: &FakeClaude) {
    // Removing is nobody's wait but a test's; it takes one call.
    for _ in 0..500 {
        if claude.files().iter().all(|file| file.deleted) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("files are left: {:?}", claude.files());
}

#[tokio::test]
async fn a_pdf_too_large_for_a_body_is_uploaded_named_and_removed() {
    let house = house().await;
    let paths = vec![house.path("a.pdf"), house.path("b.pdf")];
    let submitted = house.submit(paths.clone(), Provider::Claude).await;
    assert_eq!(submitted.job_ids.len(), 2);
    for job_id in &submitted.job_ids {
        let detail = house.until_status(job_id, JobStatus::Completed).await;
        assert!(detail.parts.is_empty(), "it is asked as a whole");
        assert_eq!(detail.attempts.len(), 1);
    }
    let files = house.claude.files();
    assert_eq!(files.len(), 2);
    for path in &paths {
        let digest = hex_of(&std::fs::read(path).unwrap());
        let file = files.iter().find(|file| file.sha256 == digest).unwrap();
        let lives = file.expires_at.unwrap().duration_since(file.created_at);
        assert_eq!(
            lives.as_secs(),
            3_600,
            "it ends by itself, whatever happens"
        );
        assert_eq!(file.reads, 1);
        assert_eq!(file.filename, "document.pdf", "its name stays here");
    }
    for request in house.claude.requests() {
        assert!(request.body_bytes < 10_000, "the body names the file");
        assert!(request.documents[0].file_id.is_some());
        assert!(request.documents[0].pages >= PAGES as u64);
    }
    gone(&house.claude).await;
}

fn hex_of(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[tokio::test]
async fn where_files_are_not_taken_large_pdfs_are_divided_and_nobody_uploads_again() {
    for refusal in [
        Canned::error(404, "not_found_error", "Not found"),
        Canned::error(
            400,
            "invalid_request_error",
            "File storage quota exceeded. Delete files to free up space.",
        )
        .with_code("storage_quota_exceeded"),
        Canned::error(
            413,
            "request_too_large",
            "File exceeds the maximum allowed size",
        ),
    ] {
        let house = house().await;
        house
            .claude
            .script(Rule::on(Call::UploadFile, Reply::Status(refusal.clone())));
        let submitted = house
            .submit(
                vec![house.path("a.pdf"), house.path("b.pdf")],
                Provider::Claude,
            )
            .await;
        for job_id in &submitted.job_ids {
            let detail = house.until_status(job_id, JobStatus::Completed).await;
            assert!(detail.parts.len() > 1, "{refusal:?}: it is divided");
        }
        let uploads = house.claude.all_requests();
        let uploads = uploads.iter().filter(|one| one.path == "/v1/files").count();
        assert!(
            (1..=2).contains(&uploads),
            "{refusal:?}: both may try at once, none tries twice: {uploads}"
        );
        assert!(house.claude.files().is_empty());
    }
}

#[tokio::test]
async fn an_upload_that_fails_in_passing_is_tried_again_and_costs_nothing() {
    let house = house().await;
    house
        .claude
        .script(Rule::on(Call::UploadFile, Reply::fault(Fault::Overloaded)).times(1));
    let submitted = house
        .submit(vec![house.path("a.pdf")], Provider::Claude)
        .await;
    let job = house.until_retrying(&submitted.job_ids[0], 1).await;
    assert_eq!(job.job.cost_micros, Some(0), "known to be nothing");
    house.clock.advance(Duration::from_secs(120));
    house.until_completed(&submitted).await;
    gone(&house.claude).await;
}

#[tokio::test]
async fn a_file_that_is_gone_when_it_is_asked_about_is_uploaded_anew() {
    let house = house().await;
    let expired = Canned::error(
        404,
        "not_found_error",
        "File file_1 has expired and its content is no longer available.",
    )
    .with_code("file_expired");
    let missing = Canned::error(404, "not_found_error", "File not found: file_2");
    house.claude.script(Rule::nth(1, Reply::Status(expired)));
    house.claude.script(Rule::nth(2, Reply::Status(missing)));
    let submitted = house
        .submit(vec![house.path("a.pdf")], Provider::Claude)
        .await;
    for attempts in [1, 2] {
        house.until_retrying(&submitted.job_ids[0], attempts).await;
        house.clock.advance(Duration::from_secs(300));
    }
    house.until_completed(&submitted).await;
    assert_eq!(house.claude.files().len(), 3, "once for each attempt");
    gone(&house.claude).await;
}

#[tokio::test]
async fn other_endpoints_get_parts_as_ever() {
    let house = house().await;
    house
        .set(|settings| settings.endpoint = Some(EndpointKind::Litellm))
        .await;
    let submitted = house
        .submit(
            vec![house.path("a.pdf"), house.path("b.pdf")],
            Provider::Claude,
        )
        .await;
    for job_id in &submitted.job_ids {
        let detail = house.until_status(job_id, JobStatus::Completed).await;
        assert_eq!(detail.parts.len(), 2);
    }
    let all = house.claude.all_requests();
    assert!(all.iter().all(|request| request.path != "/v1/files"));
}
