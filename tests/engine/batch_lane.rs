//! Bulk by the batch API: half the price, one by one settled, and why nothing moves is said.

use std::time::Duration;

use gistmill_engine::model::{
    BulkAction, Cause, Delivery, JobDetail, JobId, JobStatus, LaneSettings, LeftOutReason,
    Provider, QueueName, RetryChanges, Selection, Submission, Submitted, WaitingReason,
};
use gistmill_testkit::fake_claude::{
    BatchSettings, ClockSettings, FakeClaude, Fault, Options, Reply, Rule, Scenario,
};
use gistmill_testkit::pdf::numbered_pdf;

use crate::support::{House, submission};

/// How long the batches of these tests take.
pub(crate) const WORK: Duration = Duration::from_secs(600);
/// The key of these tests.
const KEY: &str = "sk-ant-test-0123456789";

/// Returns a house that consumes, whose bulk goes by the batch API of a Claude that behaves so.
pub(crate) async fn house_with(batches: BatchSettings) -> House {
    let claude = claude_with(Scenario {
        batches,
        ..Scenario::default()
    })
    .await;
    let house = House::asking(claude).await;
    house.engine.save_key(KEY.to_owned(), false).await.unwrap();
    by_batch(&house, |_| {}).await;
    house.start().await;
    house
}

/// Starts a Claude whose clock stands still at the moment at which the houses' clocks begin.
pub(crate) async fn claude_with(scenario: Scenario) -> FakeClaude {
    let clock = ClockSettings {
        start: Some("2026-11-29T12:00:00Z".parse().unwrap()),
        stands_still: true,
    };
    FakeClaude::start_with(Options {
        scenario: Scenario { clock, ..scenario },
        ..Options::default()
    })
    .await
    .unwrap()
}

/// Has bulk delivered by the batch API, at once.
pub(crate) async fn by_batch(house: &House, change: impl FnOnce(&mut LaneSettings)) {
    let mut settings = lane(house).await.settings;
    settings.delivery = Delivery::Batch;
    settings.remote_wait_ms = 0;
    settings.delivery_delay_ms = 0;
    change(&mut settings);
    house
        .engine
        .save_lane(QueueName::Bulk, settings)
        .await
        .unwrap();
}

async fn lane(house: &House) -> gistmill_engine::model::LaneView {
    let lanes = house.engine.overview().await.unwrap().lanes;
    lanes
        .into_iter()
        .find(|lane| lane.queue == QueueName::Bulk)
        .unwrap()
}

pub(crate) fn to_bulk() -> Submission {
    submission(QueueName::Bulk, Provider::Claude)
}

/// Turns both clocks forward: Claude's first, so that who looks then sees what has become.
pub(crate) fn pass(house: &House, by: Duration) {
    house.claude.advance(by);
    house.clock.advance(by);
}

/// Waits until the provider has a job and its id for that is known.
pub(crate) async fn until_handed(house: &House, job_id: &JobId) -> JobDetail {
    house
        .until(job_id, "the id of its batch", |detail| {
            detail
                .remote
                .as_ref()
                .is_some_and(|remote| remote.remote_id.is_some())
        })
        .await
}

/// Waits until all jobs are with the provider.
pub(crate) async fn until_all_handed(house: &House, submitted: &Submitted) {
    for job_id in &submitted.job_ids {
        until_handed(house, job_id).await;
    }
}

/// Returns what the ledger says was spent, and what is still promised or not known.
pub(crate) async fn spent(house: &House) -> (i64, i64, i64) {
    let month = house.engine.overview().await.unwrap().budget.month;
    (
        month.settled_micros,
        month.reserved_micros,
        month.unknown_micros,
    )
}

pub(crate) fn billed(house: &House) -> i64 {
    i64::try_from(house.claude.billed()).unwrap()
}

#[tokio::test]
async fn jobs_of_bulk_go_together_for_half_the_price_and_take_nothing_of_the_minute() {
    let house = house_with(BatchSettings::default()).await;
    let submitted = house.add_as(&["a.pdf", "b.pdf", "c.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    let overview = house.engine.overview().await.unwrap();
    let answer = overview.answer.unwrap_or_default();
    assert!(
        answer.contains("3 jobs are with Claude’s batch API")
            && answer.contains("usually done within an hour, at most within 24 h"),
        "why nothing moves is said: {answer:?}"
    );
    assert_eq!(
        overview.budget.tokens.used, 0,
        "the minute's tokens are not touched"
    );
    let (_, reserved, _) = spent(&house).await;
    assert!(reserved > 0, "the worst case is promised until it is known");
    let [batch] = &house.claude.batches()[..] else {
        panic!("one batch, not {:?}", house.claude.batches());
    };
    assert_eq!(batch.requests.len(), 3);
    pass(&house, WORK);
    house.until_completed(&submitted).await;
    assert!(house.claude.requests().is_empty(), "no call of its own");
    let mut sum = 0;
    for job_id in &submitted.job_ids {
        let detail = house
            .until(job_id, "that nothing of it is out", |detail| {
                detail.remote.is_none()
            })
            .await;
        assert_eq!(detail.job.attempts, 1);
        assert!(detail.result.is_some());
        sum += detail.job.cost_micros.unwrap();
    }
    assert_eq!(sum, billed(&house), "each costs what is billed for it");
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn each_outcome_ends_its_own_job() {
    let house = house_with(BatchSettings::default()).await;
    let claude = &house.claude;
    for (title, reply) in [
        ("a.pdf", Reply::stopped("max_tokens")),
        ("b.pdf", Reply::fault(Fault::PdfNotValid)),
        ("c.pdf", Reply::fault(Fault::Overloaded)),
    ] {
        claude.script(Rule::titled(title, reply).times(1));
    }
    let names = ["a.pdf", "b.pdf", "c.pdf", "d.pdf"];
    let submitted = house.add_as(&names, to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    pass(&house, WORK);
    let [cut, damaged, overloaded, fine] = &submitted.job_ids[..] else {
        panic!("four jobs");
    };
    house.until_status(fine, JobStatus::Completed).await;
    let cut = house.until_status(cut, JobStatus::NeedsReview).await;
    assert_eq!(cut.job.cause, Some(Cause::CutOff));
    let damaged = house.until_status(damaged, JobStatus::Failed).await;
    assert_eq!(damaged.job.cause, Some(Cause::PdfDamaged));
    assert_eq!(
        damaged.job.cost_micros,
        Some(0),
        "what was not answered is not billed"
    );
    house.until_retrying(overloaded, 1).await;
    // Its delay is a minute, give or take a fifth.
    pass(&house, Duration::from_secs(73));
    until_handed(&house, overloaded).await;
    assert_eq!(claude.batches().len(), 2, "it goes by another batch");
    pass(&house, WORK);
    let overloaded = house.until_status(overloaded, JobStatus::Completed).await;
    assert_eq!(overloaded.job.attempts, 2, "the failed one counts");
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn what_expires_goes_back_in_line_and_costs_no_attempt() {
    let house = house_with(BatchSettings::default()).await;
    house
        .claude
        .script(Rule::titled("a.pdf", Reply::Expired).times(1));
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    pass(&house, Duration::from_secs(24 * 3600));
    let (expired, fine) = (&submitted.job_ids[0], &submitted.job_ids[1]);
    house.until_status(fine, JobStatus::Completed).await;
    let again = house
        .until(expired, "another batch", |detail| {
            detail.job.status == JobStatus::Submitted && detail.attempts.len() == 2
        })
        .await;
    assert_eq!(again.job.attempts, 1, "the expired one does not count");
    until_handed(&house, expired).await;
    pass(&house, WORK);
    house.until_status(expired, JobStatus::Completed).await;
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn a_file_that_is_gone_fails_by_itself_and_holds_up_nobody() {
    let house = house_with(BatchSettings::default()).await;
    house
        .engine
        .pause_lane(QueueName::Bulk, true)
        .await
        .unwrap();
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    std::fs::remove_file(house.path("a.pdf")).unwrap();
    house
        .engine
        .pause_lane(QueueName::Bulk, false)
        .await
        .unwrap();
    let (gone, there) = (&submitted.job_ids[0], &submitted.job_ids[1]);
    let failed = house.until_status(gone, JobStatus::Failed).await;
    assert_eq!(failed.job.cause, Some(Cause::FileMissing));
    until_handed(&house, there).await;
    assert_eq!(house.claude.batches()[0].requests.len(), 1);
    pass(&house, WORK);
    house.until_status(there, JobStatus::Completed).await;
}

#[tokio::test]
async fn jobs_wait_for_others_as_long_as_a_person_wants_and_say_so() {
    let house = house_with(BatchSettings::default()).await;
    by_batch(&house, |lane| {
        lane.remote_wait_ms = 60_000;
        lane.remote_requests = 3;
    })
    .await;
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    let waiting = house
        .until(&submitted.job_ids[0], "others", |detail| {
            matches!(detail.job.waiting, Some(WaitingReason::FillingBatch { .. }))
        })
        .await;
    assert_eq!(waiting.job.status, JobStatus::Pending);
    house.until_answer("handed to the batch API together").await;
    let third = house.add_as(&["c.pdf"], to_bulk()).await;
    until_all_handed(&house, &third).await;
    assert_eq!(
        house.claude.batches()[0].requests.len(),
        3,
        "the third one fills it"
    );
    let alone = house.add_as(&["d.pdf"], to_bulk()).await;
    pass(&house, Duration::from_secs(60));
    until_all_handed(&house, &alone).await;
    assert_eq!(
        house.claude.batches().len(),
        2,
        "after a minute it goes alone"
    );
}

#[tokio::test]
async fn a_cap_holds_at_batch_prices() {
    let house = house_with(BatchSettings::default()).await;
    // What one is promised at most by a call of its own is between 66,000 and 70,000.
    house
        .set(|settings| settings.day_cap_micros = Some(70_000))
        .await;
    let submitted = house.add_as(&["a.pdf", "b.pdf", "c.pdf"], to_bulk()).await;
    for job_id in &submitted.job_ids[..2] {
        until_handed(&house, job_id).await;
    }
    let third = house
        .until(&submitted.job_ids[2], "the cap", |detail| {
            matches!(detail.job.waiting, Some(WaitingReason::SpendCap { .. }))
        })
        .await;
    assert_eq!(third.job.attempts, 0);
    assert_eq!(house.claude.batches()[0].requests.len(), 2);
    pass(&house, WORK);
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
    // What the others did not use is enough for the third.
    until_handed(&house, &submitted.job_ids[2]).await;
}

#[tokio::test]
async fn high_goes_on_by_calls_of_its_own_and_high_can_not_be_handed_over() {
    let house = house_with(BatchSettings::default()).await;
    let bulk = house.add_as(&["a.pdf"], to_bulk()).await;
    until_all_handed(&house, &bulk).await;
    let high = house.add(&["b.pdf", "c.pdf"]).await;
    house.until_completed(&high).await;
    assert_eq!(house.claude.requests().len(), 2);
    let mut settings = lane(&house).await.settings;
    settings.delivery = Delivery::Batch;
    let refused = house
        .engine
        .save_lane(QueueName::High, settings)
        .await
        .unwrap_err();
    assert!(
        refused.to_string().contains("may take a day"),
        "{refused} says why"
    );
}

#[tokio::test]
async fn a_long_document_goes_step_by_step_and_no_part_is_asked_twice() {
    let house = house_with(BatchSettings::default()).await;
    house
        .set(|settings| settings.model = "claude-haiku-4-5".to_owned())
        .await;
    house.put("long.pdf", &numbered_pdf(150));
    house.put("short.pdf", &numbered_pdf(2));
    let report = house
        .engine
        .scan(vec![house.path("long.pdf"), house.path("short.pdf")])
        .await
        .unwrap();
    let submitted = house
        .engine
        .submit_scan(report.scan_id, to_bulk())
        .await
        .unwrap();
    let mut seen = 0;
    // Two parts and the call that puts them together.
    for step in 1..=3 {
        house
            .until(&submitted.job_ids[0], "its next step", |detail| {
                house.claude.batches().len() == step
                    && detail
                        .remote
                        .as_ref()
                        .is_some_and(|remote| remote.remote_id.is_some())
            })
            .await;
        seen = step;
        pass(&house, WORK);
    }
    house.until_completed(&submitted).await;
    assert_eq!(seen, 3);
    let requests: usize = house
        .claude
        .batches()
        .iter()
        .map(|batch| batch.requests.len())
        .sum();
    assert_eq!(requests, 4);
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn a_cancelled_job_ends_at_once_and_what_is_paid_of_it_is_kept() {
    let house = house_with(BatchSettings::default()).await;
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    let cancelled = &submitted.job_ids[0];
    assert!(house.act(cancelled, BulkAction::Cancel).await);
    house.until_status(cancelled, JobStatus::Cancelled).await;
    let plan = house
        .engine
        .plan_retry(Selection::one(cancelled.clone()), RetryChanges::default())
        .await
        .unwrap();
    assert_eq!(
        plan.would_run, 0,
        "it may be answered: it is not asked again now"
    );
    assert!(
        plan.would_not
            .iter()
            .any(|left_out| left_out.reason == LeftOutReason::Live),
        "{:?}",
        plan.would_not
    );
    assert_eq!(house.retry(vec![cancelled.clone()]).await, 0);
    assert!(
        house.claude.batches()[0].cancelled_at.is_none(),
        "the other one is still wanted"
    );
    pass(&house, WORK);
    house.until_completed(&submitted).await;
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn a_batch_that_nobody_wants_any_more_is_called_off() {
    let house = house_with(BatchSettings::default()).await;
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    for job_id in &submitted.job_ids {
        assert!(house.act(job_id, BulkAction::Cancel).await);
    }
    house
        .until(&submitted.job_ids[0], "its end at the provider", |_| {
            house.claude.batches()[0].cancelled_at.is_some()
        })
        .await;
    pass(&house, Duration::from_secs(60));
    for job_id in &submitted.job_ids {
        let detail = house
            .until(job_id, "the outcome", |detail| detail.remote.is_none())
            .await;
        assert_eq!(detail.job.status, JobStatus::Cancelled);
    }
    assert_eq!(spent(&house).await, (0, 0, 0), "nothing was answered");
    assert_eq!(house.retry(submitted.job_ids.clone()).await, 2);
    until_all_handed(&house, &submitted).await;
}

#[tokio::test]
async fn the_same_question_is_not_bought_again_by_the_batch_api() {
    let house = house_with(BatchSettings::default()).await;
    let first = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &first).await;
    pass(&house, WORK);
    house.until_completed(&first).await;
    let before = house.claude.billed();
    // It is added as a copy with another name, so that the plan does not serve it at once.
    let bytes = std::fs::read(house.path("a.pdf")).unwrap();
    house.put("again/copy.pdf", &bytes);
    let report = house
        .engine
        .scan(vec![house.path("again/copy.pdf")])
        .await
        .unwrap();
    let again = house
        .engine
        .submit_scan(report.scan_id, to_bulk())
        .await
        .unwrap();
    house.until_completed(&again).await;
    assert_eq!(house.claude.billed(), before);
    assert_eq!(house.claude.batches().len(), 1);
}
