//! Nothing is paid twice: results that serve again, and those that a person wants anew.

use gistmill_engine::model::{
    JobStatus, Provider, QueueName, RetryChanges, Selection, Submission, SubmissionPlan,
};

use crate::support::{House, submission};

/// Adds the files of the drop folder again, as another batch.
async fn add_again(
    house: &House,
    change: impl FnOnce(&mut Submission),
) -> (SubmissionPlan, Vec<gistmill_engine::model::JobId>) {
    let report = house
        .engine
        .scan(vec![house.folder.path().join("drop")])
        .await
        .unwrap();
    let mut wanted = submission(QueueName::High, Provider::Claude);
    change(&mut wanted);
    let plan = house
        .engine
        .plan_submission(report.scan_id, wanted.clone())
        .await
        .unwrap();
    let submitted = house
        .engine
        .submit_scan(report.scan_id, wanted)
        .await
        .unwrap();
    house.until_completed(&submitted).await;
    (plan, submitted.job_ids)
}

#[tokio::test]
async fn the_same_files_cost_nothing_again_and_say_where_their_results_come_from() {
    let house = House::working().await;
    let first = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&first).await;
    assert_eq!(house.claude.requests().len(), 2);
    // One of them under another name: the content counts.
    std::fs::rename(house.path("a.pdf"), house.path("renamed.pdf")).unwrap();
    house.put_pdfs(&["new.pdf"]);
    let (plan, again) = add_again(&house, |_| {}).await;
    assert_eq!((plan.reused, plan.to_run, plan.to_fail), (2, 1, 0));
    assert_eq!(
        house.claude.requests().len(),
        3,
        "only the new one is asked"
    );
    let mut reused = 0;
    for job_id in &again {
        let detail = house.job(job_id).await;
        let result = detail.result.unwrap();
        if detail.job.reused {
            reused += 1;
            let from = result.reused_from.unwrap();
            assert!(first.job_ids.contains(&from.job_id));
            assert_eq!(detail.job.cost_micros, Some(0));
            let original = house.job(&from.job_id).await.result.unwrap();
            assert_eq!(result.markdown, original.markdown);
            assert_ne!(result.path, original.path, "each job has its own file");
        }
    }
    assert_eq!(reused, 2);
}

#[tokio::test]
async fn another_template_model_or_wish_is_another_question() {
    let house = House::working().await;
    let first = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&first).await;
    let (plan, _) = add_again(&house, |wanted| {
        wanted.template = "meeting-minutes-v1".to_owned();
    })
    .await;
    assert_eq!((plan.reused, plan.to_run), (0, 2));
    let (plan, _) = add_again(&house, |wanted| {
        wanted.template = "meeting-minutes-v1".to_owned();
        wanted
            .variables
            .insert("language".to_owned(), "Japanese".to_owned());
    })
    .await;
    assert_eq!((plan.reused, plan.to_run), (0, 2), "in another language");
    let (plan, _) = add_again(&house, |wanted| {
        wanted.model = Some("claude-haiku-4-5".to_owned());
    })
    .await;
    assert_eq!((plan.reused, plan.to_run), (0, 2), "of another model");
    let calls = house.claude.requests().len();
    let (plan, again) = add_again(&house, |wanted| wanted.fresh = true).await;
    assert_eq!((plan.reused, plan.to_run), (0, 2), "wanted anew");
    assert!(plan.expected_micros.unwrap() > 0);
    assert_eq!(house.claude.requests().len(), calls + 2);
    assert!(!house.job(&again[0]).await.job.reused);
}

#[tokio::test]
async fn a_done_job_that_runs_again_gets_a_new_result_and_keeps_the_old() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let job_id = &submitted.job_ids[0];
    let before = house.job(job_id).await.result.unwrap();
    let selection = Selection::one(job_id.clone());
    let as_before = house
        .engine
        .plan_retry(selection.clone(), RetryChanges::default())
        .await
        .unwrap();
    assert_eq!(
        as_before.would_run, 0,
        "a done job runs again only where that is asked for"
    );
    let wanted = RetryChanges {
        completed: true,
        ..RetryChanges::default()
    };
    let plan = house
        .engine
        .plan_retry(selection.clone(), wanted.clone())
        .await
        .unwrap();
    assert_eq!(plan.would_run, 1);
    assert!(plan.at_worst_micros.unwrap() > 0, "it is paid again");
    house.engine.retry(selection, wanted).await.unwrap();
    let after = house
        .until(job_id, "a second result", |detail| {
            detail.job.status == JobStatus::Completed
                && detail
                    .result
                    .as_ref()
                    .is_some_and(|result| result.generation == 2)
        })
        .await;
    assert_eq!(house.claude.requests().len(), 3);
    let result = after.result.unwrap();
    assert_eq!(result.reused_from, None, "run again means asked again");
    assert_eq!(result.older.len(), 1);
    assert_eq!(result.older[0].path, before.path);
    assert!(
        std::fs::exists(&before.path).unwrap(),
        "the result of the first run stays"
    );
}

#[tokio::test]
async fn a_result_that_was_changed_in_the_library_does_not_serve_again() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let path = house.job(&submitted.job_ids[0]).await.result.unwrap().path;
    std::fs::write(path, "tampered with").unwrap();
    let (_, again) = add_again(&house, |_| {}).await;
    assert_eq!(house.claude.requests().len(), 3, "one is asked anew");
    for job_id in again {
        let result = house.job(&job_id).await.result.unwrap();
        assert!(!result.markdown.contains("tampered"), "{job_id}");
    }
}

#[tokio::test]
async fn what_costs_nothing_fits_under_any_cap() {
    let house = House::working().await;
    let first = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&first).await;
    let (_, again) = add_again(&house, |wanted| wanted.cap_micros = Some(0)).await;
    assert_eq!(again.len(), 2, "what costs nothing fits under any cap");
    assert_eq!(house.claude.requests().len(), 2);
}

#[tokio::test]
async fn what_is_answered_already_does_not_wait_for_a_key_and_shows_nothing_of_it() {
    let house = House::working().await;
    let first = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&first).await;
    house.engine.remove_key().await.unwrap();
    let other = house.folder.path().join("new.pdf");
    std::fs::write(&other, gistmill_testkit::pdf::text_pdf(&["Other."])).unwrap();
    let waits = house.submit(vec![other], Provider::Claude).await;
    house.until_answer("key").await;
    let (plan, _) = add_again(&house, |_| {}).await;
    assert_eq!(plan.reused, 2);
    let overview = house.engine.overview().await.unwrap();
    assert_eq!(overview.circuits.len(), 1, "a key is missing as before");
    let detail = house.job(&waits.job_ids[0]).await;
    assert_eq!(detail.job.status, JobStatus::Pending);
}
