//! Long documents: asked part by part, each part paid once, and put together to one answer.
//!
//! What is divided and how the answers are put together is in `parts_divided`.

use std::time::Duration;

use gistmill_engine::model::{
    AttemptOutcome, AttemptStep, BulkAction, CapScope, JobDetail, JobId, JobStatus, PartState,
    PartsDone, Provider, QueueName, RetryChanges, Selection, Submission, SubmissionPlan, Submitted,
    WaitingReason,
};
use gistmill_testkit::fake_claude::{Fault, Recorded, Reply, Rule};
use gistmill_testkit::pdf::numbered_pdf;

use crate::support::{House, submission};

/// A model that takes 100 pages a call.
const SMALL: &str = "claude-haiku-4-5";
/// Tokens of a minute where nobody chose otherwise.
const USUAL_MINUTE: u32 = 400_000;
/// Longer than any wait before a retry.
const LONG: Duration = Duration::from_secs(1_000);

pub(crate) fn asking_small() -> Submission {
    Submission {
        model: Some(SMALL.to_owned()),
        ..submission(QueueName::High, Provider::Claude)
    }
}

/// Adds numbered PDFs with so many pages, and returns what that was said to come to.
pub(crate) async fn add(
    house: &House,
    files: &[(&str, usize)],
    wanted: Submission,
) -> (SubmissionPlan, Submitted) {
    if house.engine.settings().await.unwrap().tokens_per_minute == USUAL_MINUTE {
        // The minute is the subject of one test only.
        house
            .set(|settings| settings.tokens_per_minute = 10 * USUAL_MINUTE)
            .await;
    }
    let paths = files
        .iter()
        .map(|(name, pages)| house.put(name, &numbered_pdf(*pages)))
        .collect();
    let report = house.engine.scan(paths).await.unwrap();
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
    (plan, submitted)
}

/// Returns the first and the last page that a request was about, by the words on them, and how many it was.
fn pages_of(request: &Recorded) -> Option<(String, String, u64)> {
    let document = request.documents.first()?;
    let (first, last) = (document.page_texts.first()?, document.page_texts.last()?);
    Some((
        first.trim().to_owned(),
        last.trim().to_owned(),
        document.pages,
    ))
}

pub(crate) fn parts_done(detail: &JobDetail) -> Option<(u32, u32)> {
    detail
        .job
        .parts
        .map(|PartsDone { done, total }| (done, total))
}

pub(crate) async fn retry_with(house: &House, job_id: &JobId, changes: RetryChanges) {
    let affected = house
        .engine
        .retry(Selection::one(job_id.clone()), changes)
        .await
        .unwrap();
    assert_eq!(affected.jobs, 1, "the job is put back");
}

#[tokio::test]
async fn two_long_documents_are_read_part_by_part_and_put_together() {
    let house = House::working().await;
    let (plan, submitted) = add(&house, &[("a.pdf", 150), ("b.pdf", 250)], asking_small()).await;
    assert_eq!(
        (plan.to_run, plan.in_parts, plan.calls),
        (2, 2, 7),
        "two and three parts, and a call for each document to put them together"
    );
    assert!(plan.input_tokens > 400 * 1_500, "{plan:?}");
    house.until_completed(&submitted).await;
    let requests = house.claude.requests();
    assert_eq!(requests.len(), 7);
    let of = |name: &str| -> Vec<(String, String, u64)> {
        requests
            .iter()
            .filter(|request| {
                request
                    .documents
                    .first()
                    .is_some_and(|document| document.title.as_deref() == Some(name))
            })
            .filter_map(pages_of)
            .collect()
    };
    let page = |page: u32, pages: u32| format!("This is page {page} of {pages}.");
    assert_eq!(
        of("a.pdf"),
        [
            (page(1, 150), page(75, 150), 75),
            (page(76, 150), page(150, 150), 75)
        ]
    );
    let of_b = of("b.pdf");
    assert_eq!(of_b.len(), 3);
    assert_eq!(of_b.iter().map(|part| part.2).sum::<u64>(), 250);
    assert!(of_b.iter().all(|part| part.2 <= 100), "{of_b:?}");
    assert!(
        requests.iter().any(|request| request
            .prompt
            .starts_with("These are pages 76 to 150 of a document with 150 pages")),
        "a part is told which pages it has"
    );
    let detail = house.job(&submitted.job_ids[0]).await;
    assert_eq!(parts_done(&detail), Some((2, 2)));
    assert!(
        detail
            .parts
            .iter()
            .all(|part| part.state == PartState::Answered && part.cost_micros.unwrap() > 0)
    );
    let steps: Vec<AttemptStep> = detail
        .attempts
        .iter()
        .rev()
        .map(|attempt| attempt.step)
        .collect();
    assert!(
        matches!(
            steps[..],
            [
                AttemptStep::Part { .. },
                AttemptStep::Part { .. },
                AttemptStep::Combine
            ]
        ),
        "{steps:?}"
    );
    assert!(
        detail
            .attempts
            .iter()
            .all(|attempt| attempt.outcome == AttemptOutcome::Completed
                && attempt.estimated_input_tokens.is_some()),
        "{:?}",
        detail.attempts
    );
    let combine = requests
        .iter()
        .find(|request| request.documents.is_empty() && request.prompt.contains("a.pdf"))
        .unwrap();
    assert!(
        combine.prompt.contains("pages 1 to 75") && combine.prompt.contains("pages 76 to 150"),
        "{}",
        combine.prompt
    );
    let sum: u64 = detail
        .attempts
        .iter()
        .filter_map(|attempt| attempt.input_tokens)
        .sum();
    assert_eq!(
        detail.job.input_tokens, sum,
        "the job's tokens are those of all its calls"
    );
    let results = std::fs::read_dir(house.folder.path().join("data/results"))
        .unwrap()
        .count();
    assert_eq!(results, 2, "parts leave no files");
}

#[tokio::test]
async fn each_part_has_the_retries_of_a_job_and_none_is_paid_twice() {
    let house = House::working().await;
    let mut lanes = house.engine.overview().await.unwrap().lanes;
    let mut high = lanes.remove(0).settings;
    high.max_retries = 1;
    house.engine.save_lane(QueueName::High, high).await.unwrap();
    for number in [1, 3, 5] {
        house
            .claude
            .script(Rule::nth(number, Reply::fault(Fault::Overloaded)));
    }
    let (_, submitted) = add(&house, &[("a.pdf", 150)], asking_small()).await;
    let offline = house.put_pdfs(&["other.pdf"]);
    house.submit(offline, Provider::Offline).await;
    let job_id = &submitted.job_ids[0];
    for attempts in [1, 3, 5] {
        let detail = house.until_retrying(job_id, attempts).await;
        assert_eq!(
            detail.job.max_attempts,
            attempts + 1,
            "one retry is left of this step: {:?}",
            detail.job
        );
        house.clock.advance(LONG);
    }
    let detail = house.until_status(job_id, JobStatus::Completed).await;
    assert_eq!(detail.job.attempts, 6);
    let answered: Vec<String> = house
        .claude
        .requests()
        .iter()
        .filter_map(pages_of)
        .map(|(first, ..)| first)
        .collect();
    assert_eq!(
        answered.len(),
        4,
        "each of the two parts was asked twice, once refused: {answered:?}"
    );
}

#[tokio::test]
async fn out_of_retries_the_paid_parts_are_kept_for_the_next_run() {
    let house = House::working().await;
    let mut lanes = house.engine.overview().await.unwrap().lanes;
    let mut high = lanes.remove(0).settings;
    high.max_retries = 0;
    house.engine.save_lane(QueueName::High, high).await.unwrap();
    house
        .claude
        .script(Rule::nth(2, Reply::fault(Fault::Overloaded)));
    let (_, submitted) = add(&house, &[("a.pdf", 150)], asking_small()).await;
    let offline = house.put_pdfs(&["other.pdf"]);
    house.submit(offline, Provider::Offline).await;
    let job_id = &submitted.job_ids[0];
    let dead = house.until_status(job_id, JobStatus::DeadLettered).await;
    assert_eq!(parts_done(&dead), Some((1, 2)));
    let selection = Selection::one(job_id.clone());
    let again = house
        .engine
        .plan_retry(selection.clone(), RetryChanges::default())
        .await
        .unwrap();
    let anew = house
        .engine
        .plan_retry(
            selection,
            RetryChanges {
                template: Some("meeting-minutes-v1".to_owned()),
                ..RetryChanges::default()
            },
        )
        .await
        .unwrap();
    assert!(
        again.at_worst_micros.unwrap() < anew.at_worst_micros.unwrap(),
        "what is kept is not priced again: {again:?}, {anew:?}"
    );
    retry_with(&house, job_id, RetryChanges::default()).await;
    let done = house.until_status(job_id, JobStatus::Completed).await;
    assert_eq!(
        house.claude.requests().len(),
        4,
        "the second part and the whole, not the first part"
    );
    assert_eq!(done.job.attempts, 2, "of this run");
}

#[tokio::test]
async fn another_question_or_another_run_asks_every_part_anew() {
    let house = House::working().await;
    let (_, submitted) = add(&house, &[("a.pdf", 150), ("b.pdf", 3)], asking_small()).await;
    house.until_completed(&submitted).await;
    assert_eq!(house.claude.requests().len(), 4);
    let job_id = &submitted.job_ids[0];
    let again = RetryChanges {
        completed: true,
        ..RetryChanges::default()
    };
    retry_with(&house, job_id, again).await;
    house
        .until(job_id, "a second result", |detail| {
            detail
                .result
                .as_ref()
                .is_some_and(|result| result.generation == 2)
        })
        .await;
    assert_eq!(house.claude.requests().len(), 7);
    let larger = RetryChanges {
        completed: true,
        model: Some("claude-sonnet-4-6".to_owned()),
        ..RetryChanges::default()
    };
    retry_with(&house, job_id, larger).await;
    let detail = house
        .until(job_id, "a third result", |detail| {
            detail
                .result
                .as_ref()
                .is_some_and(|result| result.generation == 3)
        })
        .await;
    assert_eq!(
        (parts_done(&detail), house.claude.requests().len()),
        (None, 8),
        "a model that takes it all is asked once"
    );
}

#[tokio::test]
async fn a_cap_holds_between_parts_and_what_is_paid_stays() {
    let house = House::idle().await;
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    let (plan, submitted) = add(&house, &[("a.pdf", 150)], asking_small()).await;
    house.add(&["other.pdf"]).await;
    // The first of two equal parts fits, and the second not beside what the first one cost.
    let cap = plan.at_worst_micros.unwrap() / 2 + 20_000;
    house
        .engine
        .set_batch_cap(submitted.batch_id.clone(), Some(cap))
        .await
        .unwrap();
    house.start().await;
    let job_id = &submitted.job_ids[0];
    let held = house
        .until(job_id, "the cap", |detail| {
            matches!(
                detail.job.waiting,
                Some(WaitingReason::SpendCap {
                    scope: CapScope::Batch,
                    ..
                })
            )
        })
        .await;
    assert_eq!(parts_done(&held), Some((1, 2)));
    house
        .engine
        .set_batch_cap(submitted.batch_id.clone(), Some(5_000_000))
        .await
        .unwrap();
    let detail = house.until_status(job_id, JobStatus::Completed).await;
    assert_eq!(detail.job.attempts, 3, "no call was made twice");
}

#[tokio::test]
async fn cancelled_in_the_middle_it_asks_no_further_part_and_keeps_the_one_that_came() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("a.pdf", Reply::slow(30)).times(1));
    let (_, submitted) = add(&house, &[("a.pdf", 150), ("b.pdf", 120)], asking_small()).await;
    let (cancelled, other) = (&submitted.job_ids[0], &submitted.job_ids[1]);
    house
        .until(cancelled, "a call under way", |detail| {
            detail.job.status == JobStatus::Running
        })
        .await;
    assert!(house.act(cancelled, BulkAction::Cancel).await);
    let detail = house.until_status(cancelled, JobStatus::Cancelled).await;
    assert_eq!(
        parts_done(&detail),
        Some((1, 2)),
        "the call that was under way is paid, and its answer kept"
    );
    house.until_status(other, JobStatus::Completed).await;
    assert_eq!(
        house.claude.requests().len(),
        1 + 3,
        "one part of the cancelled one, and all of the other"
    );
    retry_with(&house, cancelled, RetryChanges::default()).await;
    house.until_status(cancelled, JobStatus::Completed).await;
    assert_eq!(house.claude.requests().len(), 4 + 2);
}
