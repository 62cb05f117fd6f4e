//! Bad input: each gets a clear state and message, nothing is lost, the others go on.

use gistmill_engine::model::{
    Cause, CopiesTo, JobStatus, Provider, QueueName, ScanId, Settings, SkipReason,
};
use gistmill_testkit::pdf;

use crate::support::{House, submission};

/// Seed defect 30: files were not looked at before they were taken.
#[tokio::test]
async fn files_that_cannot_work_become_failed_jobs_with_a_cause_and_the_others_go_on() {
    let house = House::working().await;
    house.put("empty.pdf", b"");
    house.put("page.pdf", &pdf::html_page());
    house.put("locked.pdf", &pdf::encrypted_pdf(&["Secret."], "password"));
    house.put("damaged.pdf", &pdf::damaged_pdf());
    house.put("fine.pdf", &pdf::text_pdf(&["All is well."]));
    let submitted = house.submit(vec![house.path("")], Provider::Claude).await;
    assert_eq!(submitted.job_ids.len(), 5, "nothing dropped is lost");
    let mut found = Vec::new();
    for job_id in &submitted.job_ids {
        let detail = house
            .until(job_id, "an end", |detail| detail.job.status.is_final())
            .await;
        found.push((
            detail.job.title.clone(),
            detail.job.status,
            detail.job.cause,
        ));
    }
    let failed = |title: &str, cause| (title.to_owned(), JobStatus::Failed, Some(cause));
    assert_eq!(
        found,
        [
            failed("damaged.pdf", Cause::PdfDamaged),
            failed("empty.pdf", Cause::FileEmpty),
            ("fine.pdf".to_owned(), JobStatus::Completed, None),
            failed("locked.pdf", Cause::PdfEncrypted),
            failed("page.pdf", Cause::NotAPdf),
        ]
    );
    assert_eq!(
        house.claude.requests().len(),
        1,
        "what cannot work is never sent"
    );
}

#[tokio::test]
async fn a_file_that_vanishes_or_changes_after_it_was_added_fails_alone() {
    let house = House::idle().await;
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    let paths = house.put_pdfs(&["gone.pdf", "changed.pdf", "touched.pdf"]);
    let submitted = house.submit(paths.clone(), Provider::Claude).await;
    std::fs::remove_file(&paths[0]).unwrap();
    std::fs::write(&paths[1], pdf::text_pdf(&["Something else entirely."])).unwrap();
    let same = std::fs::read(&paths[2]).unwrap();
    std::fs::remove_file(&paths[2]).unwrap();
    std::fs::write(&paths[2], same).unwrap();
    house.start().await;
    let gone = house
        .until_status(&submitted.job_ids[0], JobStatus::Failed)
        .await;
    assert_eq!(gone.job.cause, Some(Cause::FileMissing));
    let changed = house
        .until_status(&submitted.job_ids[1], JobStatus::Failed)
        .await;
    assert_eq!(changed.job.cause, Some(Cause::FileChanged));
    house
        .until_status(&submitted.job_ids[2], JobStatus::Completed)
        .await;
    // Put back, the missing one runs with its original input.
    house.put_pdfs(&["gone.pdf"]);
    house.retry(vec![submitted.job_ids[0].clone()]).await;
    house
        .until_status(&submitted.job_ids[0], JobStatus::Completed)
        .await;
}

/// Seed defect 30 and 31: the same file twice was paid twice; names and order were lost.
#[tokio::test]
async fn the_same_content_twice_in_one_drop_is_one_job() {
    let house = House::idle().await;
    let bytes = pdf::text_pdf(&["The same."]);
    let paths = vec![
        house.put("one.pdf", &bytes),
        house.put("copy/two.pdf", &bytes),
    ];
    let report = house.engine.scan(paths).await.unwrap();
    assert_eq!(report.files.len(), 1);
    assert_eq!(report.skipped[0].reason, SkipReason::Duplicate);
    assert_eq!(
        report.skipped[0].same_as.as_ref(),
        Some(&report.files[0].path),
        "it is said which file it is the same as"
    );
}

#[tokio::test]
async fn a_scan_is_submitted_once() {
    let house = House::idle().await;
    let report = house
        .engine
        .scan(house.put_pdfs(&["a.pdf", "b.pdf"]))
        .await
        .unwrap();
    assert_eq!((report.files.len(), report.pages), (2, 2));
    assert!(
        report.at_worst_micros.unwrap() > 0,
        "the worst price is known before anything is sent"
    );
    let wanted = || submission(QueueName::Bulk, Provider::Claude);
    let unknown = gistmill_engine::model::Submission {
        template: "nothing-v9".to_owned(),
        ..wanted()
    };
    assert!(
        house
            .engine
            .submit_scan(report.scan_id, unknown)
            .await
            .is_err()
    );
    house
        .engine
        .submit_scan(report.scan_id, wanted())
        .await
        .expect("a refused call keeps the scan");
    assert!(
        house
            .engine
            .submit_scan(report.scan_id, wanted())
            .await
            .is_err(),
        "a second press adds nothing"
    );
    assert!(
        house
            .engine
            .submit_scan(ScanId(99), wanted())
            .await
            .is_err()
    );
    assert_eq!(house.jobs().await.len(), 2);
}

#[tokio::test]
async fn copies_land_beside_the_pdfs_and_a_folder_that_refuses_costs_no_result() {
    let house = House::working().await;
    let settings = house.engine.settings().await.unwrap();
    house
        .engine
        .save_settings(Settings {
            copies_to: CopiesTo::BesidePdf,
            ..settings
        })
        .await
        .unwrap();
    let paths = house.put_pdfs(&["near/a.pdf", "gone/b.pdf"]);
    let submitted = house.submit(paths, Provider::Claude).await;
    let near = house
        .until(&submitted.job_ids[0], "a copy", |detail| {
            detail
                .result
                .as_ref()
                .is_some_and(|result| result.copy_path.is_some())
        })
        .await;
    let result = near.result.unwrap();
    let copy = result.copy_path.unwrap();
    assert!(copy.ends_with("near/a.summary.md"), "{copy}");
    assert_eq!(
        std::fs::read(copy).unwrap(),
        std::fs::read(result.path).unwrap()
    );
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_with_a_reason_and_nothing_changes() {
    let house = House::idle().await;
    let before = house.engine.settings().await.unwrap();
    for bad in [
        Settings {
            model: " ".to_owned(),
            ..before.clone()
        },
        Settings {
            max_tokens: 0,
            ..before.clone()
        },
        Settings {
            base_url: Some("ftp://example.org".to_owned()),
            ..before.clone()
        },
        Settings {
            base_url: Some("not an address".to_owned()),
            ..before.clone()
        },
    ] {
        assert!(house.engine.save_settings(bad).await.is_err());
    }
    assert_eq!(house.engine.settings().await.unwrap(), before);
}
