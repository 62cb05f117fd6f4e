//! Copies that are sent in the place of files: nobody else can read them, they are gone afterwards, and what they
//! lack is told.

use gistmill_engine::model::{Cause, JobStatus, Provider, QueueName, Selection};
use gistmill_testkit::fake_claude::{Canned, Reply, Rule};
use gistmill_testkit::pdf::{encrypted_pdf, numbered_pdf, unlisted_kids_pdf};

use crate::support::{House, submission};

#[tokio::test]
async fn a_locked_file_is_sent_decrypted_and_its_copy_is_gone_afterwards() {
    let house = House::working().await;
    let open = house.put("open.pdf", &encrypted_pdf(&["Opens by itself."], ""));
    let closed = house.put("closed.pdf", &encrypted_pdf(&["A secret."], "s3same-öffne"));
    let report = house.engine.scan(vec![open, closed]).await.unwrap();
    house
        .engine
        .unlock_scan(report.scan_id, "s3same-öffne".into())
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
    house.until_completed(&submitted).await;
    // The fake refuses what is encrypted, as Claude does.
    let texts: Vec<String> = house
        .claude
        .requests()
        .iter()
        .flat_map(|request| request.documents[0].page_texts.clone())
        .collect();
    assert!(
        texts.iter().any(|text| text.contains("A secret.")),
        "{texts:?}"
    );
    let left: Vec<_> = std::fs::read_dir(house.folder.path().join("data/private"))
        .unwrap()
        .collect();
    assert!(left.is_empty(), "{left:?}");
    house.engine.shutdown().await;
    let written = bytes_below(&house.folder.path().join("data"));
    for secret in ["s3same-öffne", "A secret."] {
        assert!(
            !written
                .windows(secret.len())
                .any(|window| window == secret.as_bytes()),
            "{secret} is on the disk"
        );
    }
}

#[tokio::test]
async fn without_its_password_a_job_fails_and_says_that_it_is_to_be_given_again() {
    let house = House::idle().await;
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    let closed = house.put("closed.pdf", &encrypted_pdf(&["A secret."], "sesame"));
    let other = house.put_pdfs(&["other.pdf"]).remove(0);
    let report = house.engine.scan(vec![closed, other]).await.unwrap();
    house
        .engine
        .unlock_scan(report.scan_id, "sesame".into())
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
    // Closed and opened again, it has forgotten the password.
    house.engine.shutdown().await;
    let engine = house.reopen().await.unwrap();
    let house = House { engine, ..house };
    house.start().await;
    let job_id = &submitted.job_ids[0];
    let failed = house.until_status(job_id, JobStatus::Failed).await;
    assert_eq!(failed.job.cause, Some(Cause::PdfEncrypted));
    let error = failed.job.error.unwrap();
    assert!(error.contains("give it again"), "{error}");
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
    let unlocked = house
        .engine
        .unlock_jobs(Selection::one(job_id.clone()), "sesame".into())
        .await
        .unwrap();
    assert_eq!(unlocked.jobs, 1);
    house.until_status(job_id, JobStatus::Completed).await;
}

#[tokio::test]
async fn what_a_copy_lacks_is_told_of_its_document_for_good() {
    let house = House::working().await;
    // Each is too large as a whole, so that copies of its pages are sent.
    for name in ["broken.pdf", "sound.pdf"] {
        let refusal = Canned::error(413, "request_too_large", "Request exceeds the maximum size");
        let rule = Rule::titled(name, Reply::Status(refusal));
        house.claude.script(rule.times(1));
    }
    let paths = vec![
        house.put("broken.pdf", &unlisted_kids_pdf()),
        house.put("sound.pdf", &numbered_pdf(2)),
    ];
    let lost = async |job_id| {
        let document = house.job(job_id).await.document.unwrap();
        document.facts.annotations_lost
    };
    let submitted = house.submit(paths.clone(), Provider::Claude).await;
    house.until_completed(&submitted).await;
    let [broken, sound] = &submitted.job_ids[..] else {
        panic!("two jobs were added")
    };
    assert_eq!(house.job(broken).await.parts.len(), 2, "pages were copied");
    assert_eq!(
        (lost(broken).await, lost(sound).await),
        (true, false),
        "only the pages that were written anew lost something"
    );
    let again = house.submit(paths, Provider::Offline).await;
    assert!(
        lost(&again.job_ids[0]).await,
        "what was sent stays known when the file is inspected once more"
    );
}

fn bytes_below(folder: &std::path::Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            bytes.extend(bytes_below(&path));
        } else {
            bytes.extend(std::fs::read(&path).unwrap());
        }
    }
    bytes
}
