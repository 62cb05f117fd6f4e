//! A pilot of a few files: they run, the others wait, and a person decides by what they came to.

use gistmill_engine::EngineError;
use gistmill_engine::model::{
    BatchId, DeliveryWay, JobStatus, PilotReport, Provider, QueueName, RetryChanges, Submission,
    Submitted, WaitingReason,
};
use gistmill_testkit::pdf;

use crate::support::{House, submission};

fn piloted(pilot: u32) -> Submission {
    Submission {
        pilot: Some(pilot),
        ..submission(QueueName::High, Provider::Claude)
    }
}

/// Adds files of one to `count` pages with a pilot.
async fn add(house: &House, count: usize, wanted: Submission) -> Submitted {
    let paths = (1..=count)
        .map(|pages| house.put(&format!("{pages}.pdf"), &pdf::numbered_pdf(pages)))
        .collect();
    let report = house.engine.scan(paths).await.unwrap();
    let submitted = house.engine.submit_scan(report.scan_id, wanted).await;
    submitted.unwrap()
}

async fn report(house: &House, batch_id: &BatchId) -> PilotReport {
    let report = house
        .engine
        .pilot(batch_id.clone(), RetryChanges::default())
        .await;
    report.unwrap()
}

/// Waits until the pilot has ended, and returns its files' pages.
async fn until_ended(house: &House, submitted: &Submitted) -> Vec<u32> {
    let mut pages = Vec::new();
    for job_id in &submitted.job_ids {
        let detail = house
            .until(job_id, "the end of the pilot", |detail| {
                detail.job.status == JobStatus::Completed
                    || detail.job.waiting == Some(WaitingReason::Pilot { left: 0 })
            })
            .await;
        if detail.job.status == JobStatus::Completed {
            pages.push(detail.job.pages.unwrap());
        }
    }
    pages
}

#[tokio::test]
async fn a_pilot_runs_first_and_tells_what_the_others_will_come_to() {
    let house = House::working().await;
    let submitted = add(&house, 9, piloted(3)).await;
    let pages = until_ended(&house, &submitted).await;
    assert_eq!(pages, [2, 5, 8], "a small, a middle and a large one");
    let answer = house.until_answer("pilot has ended").await;
    assert!(answer.contains("release"), "{answer}");
    let told = report(&house, &submitted.batch_id).await;
    let pilot = told.batch.pilot.unwrap();
    assert_eq!(
        (pilot.jobs, pilot.left, pilot.waiting, pilot.released),
        (3, 0, 6, false)
    );
    assert_eq!((told.done, told.needs_review, told.failed), (3, 0, 0));
    assert_eq!(
        told.cost_micros,
        Some(told.batch.money.settled_micros),
        "nothing else of the batch has cost anything"
    );
    let rest = &told.rest;
    assert_eq!((rest.jobs, rest.output.answers), (6, 3));
    let before = rest.input.tokens;
    let price = rest
        .deliveries
        .iter()
        .find(|way| way.delivery == DeliveryWay::High);
    let price = price.unwrap().price.unwrap();

    let released = house
        .engine
        .release_pilot(submitted.batch_id.clone(), RetryChanges::default())
        .await
        .unwrap();
    assert_eq!(released.jobs, 6);
    house.until_completed(&submitted).await;
    let (mut input, mut cost) = (0, 0);
    for job_id in &submitted.job_ids {
        let job = house.job(job_id).await.job;
        input += job.input_tokens;
        cost += job.cost_micros.unwrap();
    }
    let (input, cost) = (input - told.input_tokens, cost - told.cost_micros.unwrap());
    assert!(
        before.abs_diff(input) * 100 <= input * 5,
        "measured by the pilot, the others are told within 5 %: {before} of {input}"
    );
    assert!(
        price.expected_micros.abs_diff(cost) * 100 <= cost.unsigned_abs() * 5,
        "and so is their price: {} of {cost}",
        price.expected_micros
    );
    assert_eq!(house.claude.requests().len(), 9, "each was asked once");
}

#[tokio::test]
async fn the_others_may_be_asked_otherwise() {
    let house = House::working().await;
    let submitted = add(&house, 5, piloted(2)).await;
    until_ended(&house, &submitted).await;
    let changes = RetryChanges {
        model: Some("claude-haiku-4-5".to_owned()),
        template: Some("meeting-minutes-v1".to_owned()),
        ..RetryChanges::default()
    };
    let told = house
        .engine
        .pilot(submitted.batch_id.clone(), changes.clone())
        .await
        .unwrap();
    assert_eq!(told.rest.model, "claude-haiku-4-5");
    assert_eq!(
        told.rest.output.answers, 0,
        "a pilot by another model and template measures nothing of them"
    );
    house
        .engine
        .release_pilot(submitted.batch_id.clone(), changes)
        .await
        .unwrap();
    house.until_completed(&submitted).await;
    let mut asked = Vec::new();
    for job_id in &submitted.job_ids {
        let job = house.job(job_id).await.job;
        asked.push((job.model, job.template, job.attempts));
    }
    let before = (
        "claude-sonnet-4-6".to_owned(),
        "pdf-summarize-v1".to_owned(),
        1,
    );
    let after = (
        "claude-haiku-4-5".to_owned(),
        "meeting-minutes-v1".to_owned(),
        1,
    );
    assert_eq!(asked.iter().filter(|one| **one == before).count(), 2);
    assert_eq!(asked.iter().filter(|one| **one == after).count(), 3);
}

#[tokio::test]
async fn what_can_not_be_asked_releases_nobody() {
    let house = House::working().await;
    let submitted = add(&house, 4, piloted(1)).await;
    until_ended(&house, &submitted).await;
    let release = |changes| {
        house
            .engine
            .release_pilot(submitted.batch_id.clone(), changes)
    };
    let unpriced = release(RetryChanges {
        model: Some("claude-unheard-of".to_owned()),
        ..RetryChanges::default()
    });
    let error = unpriced.await.unwrap_err();
    assert!(error.to_string().contains("claude-unheard-of"), "{error}");
    let offline = release(RetryChanges {
        provider: Some(Provider::Offline),
        template: Some("contract-key-terms-v1".to_owned()),
        ..RetryChanges::default()
    });
    assert!(
        offline.await.unwrap_err().to_string().contains("fields"),
        "fields are not for the offline summary"
    );
    let pilot = report(&house, &submitted.batch_id).await.batch.pilot;
    assert_eq!(pilot.unwrap().waiting, 3);
}

#[tokio::test]
async fn the_others_may_be_called_off_and_cost_nothing() {
    let house = House::working().await;
    let submitted = add(&house, 5, piloted(2)).await;
    until_ended(&house, &submitted).await;
    let affected = house
        .engine
        .cancel_behind_pilot(submitted.batch_id.clone())
        .await
        .unwrap();
    assert_eq!(affected.jobs, 3);
    assert_eq!(house.claude.requests().len(), 2);
    let told = report(&house, &submitted.batch_id).await;
    assert!(told.batch.pilot.unwrap().released);
    assert_eq!(told.batch.counts.cancelled, 3);
    assert_eq!(told.rest.jobs, 0);
}

#[tokio::test]
async fn a_pilot_of_all_files_holds_nobody_and_one_of_none_is_refused() {
    let house = House::working().await;
    let submitted = add(&house, 2, piloted(2)).await;
    house.until_completed(&submitted).await;
    let pilot = house
        .engine
        .pilot(submitted.batch_id.clone(), RetryChanges::default());
    let error = pilot.await.unwrap_err();
    assert!(error.to_string().contains("has no pilot"), "{error}");
    let paths = house.put_pdfs(&["x.pdf", "y.pdf"]);
    let scan = house.engine.scan(paths).await.unwrap();
    let none = house.engine.submit_scan(scan.scan_id, piloted(0)).await;
    assert!(
        matches!(none, Err(EngineError::BadInput { .. })),
        "{none:?}"
    );
    let again = house.engine.submit_scan(scan.scan_id, piloted(1)).await;
    assert_eq!(again.unwrap().job_ids.len(), 2, "the scan is still there");
    let unknown = house
        .engine
        .cancel_behind_pilot(BatchId("no-such-batch".to_owned()));
    assert!(matches!(unknown.await, Err(EngineError::NotFound { .. })));
}

#[tokio::test]
async fn a_pilot_may_be_released_before_it_has_ended() {
    let house = House::idle().await;
    let submitted = add(&house, 4, piloted(2)).await;
    let told = report(&house, &submitted.batch_id).await;
    let pilot = told.batch.pilot.unwrap();
    assert_eq!((pilot.left, pilot.waiting), (2, 2));
    assert_eq!(told.rest.output.answers, 0, "nothing was measured yet");
    house
        .engine
        .release_pilot(submitted.batch_id.clone(), RetryChanges::default())
        .await
        .unwrap();
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    house.start().await;
    house.until_completed(&submitted).await;
}
