//! Bulk by the batch API when something goes wrong on the way: nothing is sent twice, nothing is lost.

use std::time::Duration;

use gistmill_engine::model::{Cause, JobStatus, WaitingReason};
use gistmill_testkit::fake_claude::{BatchSettings, Call, Fault, Reply, Rule, Scenario};

use crate::batch_lane::{
    billed, by_batch, claude_with, house_with, pass, spent, to_bulk, until_all_handed,
};
use crate::support::House;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 3600);

fn calls(house: &House, path: &str) -> usize {
    house
        .claude
        .all_requests()
        .iter()
        .filter(|request| request.method == "GET" && request.path.ends_with(path))
        .count()
}

/// Waits for so many looks at the list of batches.
async fn until_listed(house: &House, job_id: &gistmill_engine::model::JobId, times: usize) {
    house
        .until(job_id, "a look at the list", |_| {
            calls(house, "/v1/messages/batches") >= times
        })
        .await;
}

/// Waits until the sending is known to have broken off, and that it is looked for is said.
async fn until_broken_off(house: &House, job_id: &gistmill_engine::model::JobId) {
    house
        .until(job_id, "the end of the sending", |detail| {
            let trouble = (detail.remote.as_ref()).and_then(|remote| remote.trouble.as_ref());
            trouble.is_some_and(|trouble| trouble.contains("is being found out"))
        })
        .await;
}

#[tokio::test]
async fn a_batch_whose_creation_was_not_answered_is_found_and_not_sent_again() {
    let house = house_with(BatchSettings {
        // The list trails behind.
        listed_after_seconds: 300,
        ..BatchSettings::default()
    })
    .await;
    house
        .claude
        .script(Rule::on(Call::CreateBatch, Reply::Lost).times(1));
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    for job_id in &submitted.job_ids {
        house.until_status(job_id, JobStatus::Submitted).await;
    }
    until_broken_off(&house, &submitted.job_ids[0]).await;
    for look in 1..=3 {
        pass(&house, MINUTE);
        until_listed(&house, &submitted.job_ids[0], look).await;
    }
    assert_eq!(
        house.job(&submitted.job_ids[0]).await.job.status,
        JobStatus::Submitted,
        "that it is on no list yet says nothing"
    );
    // It is there, and has ended.
    pass(&house, MINUTE * 8);
    house.until_completed(&submitted).await;
    assert_eq!(house.claude.batches().len(), 1, "nothing was sent twice");
    assert_eq!(house.job(&submitted.job_ids[0]).await.job.attempts, 1);
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn a_batch_that_still_runs_is_waited_for_though_its_id_is_not_known() {
    let house = house_with(BatchSettings {
        seconds: 5 * 3600,
        ..BatchSettings::default()
    })
    .await;
    house
        .claude
        .script(Rule::on(Call::CreateBatch, Reply::Lost).times(1));
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    for job_id in &submitted.job_ids {
        house.until_status(job_id, JobStatus::Submitted).await;
    }
    until_broken_off(&house, &submitted.job_ids[0]).await;
    for look in 1..=4 {
        pass(&house, MINUTE * 30);
        until_listed(&house, &submitted.job_ids[0], look).await;
    }
    assert_eq!(house.claude.batches().len(), 1);
    pass(&house, MINUTE * 200);
    house.until_completed(&submitted).await;
    assert_eq!(house.claude.batches().len(), 1, "nothing was sent twice");
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn what_did_not_arrive_is_handed_over_again_after_a_while_and_costs_no_attempt() {
    let house = house_with(BatchSettings::default()).await;
    house
        .claude
        .script(Rule::on(Call::CreateBatch, Reply::fault(Fault::Internal)).times(1));
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    for job_id in &submitted.job_ids {
        house.until_status(job_id, JobStatus::Submitted).await;
    }
    until_broken_off(&house, &submitted.job_ids[0]).await;
    let (_, reserved, _) = spent(&house).await;
    assert!(reserved > 0, "until it is certain, it is promised");
    for look in 1..=2 {
        pass(&house, MINUTE);
        until_listed(&house, &submitted.job_ids[0], look).await;
    }
    assert_eq!(house.claude.batches().len(), 0);
    pass(&house, MINUTE * 9);
    until_all_handed(&house, &submitted).await;
    assert_eq!(house.claude.batches().len(), 1);
    let detail = house.job(&submitted.job_ids[0]).await;
    assert_eq!(
        detail.job.attempts, 1,
        "the one that did not arrive does not count"
    );
    pass(&house, MINUTE * 10);
    house.until_completed(&submitted).await;
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn what_would_hit_every_job_opens_the_circuit_and_uses_up_no_attempt() {
    let house = house_with(BatchSettings::default()).await;
    house
        .claude
        .script(Rule::on(Call::CreateBatch, Reply::fault(Fault::Authentication)).times(1));
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    for job_id in &submitted.job_ids {
        let held = house
            .until(job_id, "the circuit", |detail| {
                matches!(detail.job.waiting, Some(WaitingReason::CircuitOpen { .. }))
            })
            .await;
        assert_eq!(held.job.attempts, 0);
    }
    assert_eq!(spent(&house).await, (0, 0, 0));
    house
        .engine
        .save_key("sk-ant-test-another-key".to_owned(), false)
        .await
        .unwrap();
    until_all_handed(&house, &submitted).await;
}

#[tokio::test]
async fn passing_trouble_of_the_batch_api_delays_bulk_alone_and_says_so() {
    let house = house_with(BatchSettings::default()).await;
    house
        .claude
        .script(Rule::on(Call::CreateBatch, Reply::fault(Fault::Overloaded)).times(1));
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    house.until_answer("The batch API took nothing").await;
    let job = house.job(&submitted.job_ids[0]).await.job;
    assert_eq!((job.status, job.attempts), (JobStatus::Pending, 0));
    let high = house.add(&["c.pdf", "d.pdf"]).await;
    house.until_completed(&high).await;
    pass(&house, MINUTE);
    until_all_handed(&house, &submitted).await;
}

#[tokio::test]
async fn an_address_without_a_batch_api_is_said_to_be_one() {
    let house = house_with(BatchSettings::default()).await;
    house.claude.script(Rule::on(
        Call::CreateBatch,
        Reply::fault(Fault::ModelNotFound),
    ));
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    house.until_answer("has no batch API").await;
    assert_eq!(house.job(&submitted.job_ids[0]).await.job.attempts, 0);
    by_batch(&house, |lane| {
        lane.delivery = gistmill_engine::model::Delivery::Each;
    })
    .await;
    house.until_completed(&submitted).await;
    assert_eq!(house.claude.requests().len(), 2);
}

#[tokio::test]
async fn a_batch_that_is_refused_as_a_whole_goes_in_halves() {
    let house = house_with(BatchSettings {
        most_requests: 2,
        ..BatchSettings::default()
    })
    .await;
    let names = ["a.pdf", "b.pdf", "c.pdf", "d.pdf", "e.pdf"];
    let submitted = house.add_as(&names, to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    pass(&house, MINUTE * 10);
    house.until_completed(&submitted).await;
    for job_id in &submitted.job_ids {
        assert_eq!(house.job(job_id).await.job.attempts, 1);
    }
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn a_new_batch_that_is_not_known_everywhere_yet_is_waited_for() {
    let house = house_with(BatchSettings {
        found_after_seconds: 900,
        results_after_seconds: 900,
        ..BatchSettings::default()
    })
    .await;
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    let remote_id = house.claude.batches()[0].id.clone();
    for look in 1..=6 {
        pass(&house, MINUTE * 5);
        house
            .until(&submitted.job_ids[0], "a look", |detail| {
                calls(&house, &remote_id) >= look || detail.job.status.is_final()
            })
            .await;
    }
    pass(&house, MINUTE * 30);
    house.until_completed(&submitted).await;
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn results_are_fetched_when_the_program_was_closed_for_days() {
    let house = house_with(BatchSettings::default()).await;
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    house.engine.shutdown().await;
    pass(&house, DAY * 20);
    let again = house.reopen().await.unwrap();
    again.start_consumer(false).await.unwrap();
    let house = House {
        engine: again,
        ..house
    };
    house.until_completed(&submitted).await;
    assert_eq!(house.claude.batches().len(), 1);
    // It is another month.
    assert_eq!(spent_in_all(&house).await, (billed(&house), 0, 0));
}

#[tokio::test]
async fn results_that_can_not_be_fetched_any_more_count_in_full() {
    let house = house_with(BatchSettings::default()).await;
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    let (_, reserved, _) = spent(&house).await;
    house.engine.shutdown().await;
    pass(&house, DAY * 30);
    let again = house.reopen().await.unwrap();
    let house = House {
        engine: again,
        ..house
    };
    by_batch(&house, |lane| {
        lane.delivery = gistmill_engine::model::Delivery::Each;
    })
    .await;
    house.start().await;
    let job_id = &submitted.job_ids[0];
    house
        .until(job_id, "a look", |_| calls(&house, "/results") == 1)
        .await;
    // One that is not found may be found somewhere else; for an hour.
    pass(&house, MINUTE * 61);
    house
        .until(job_id, "to be given up", |detail| {
            detail
                .attempts
                .iter()
                .any(|attempt| attempt.cause == Some(Cause::BatchLost))
        })
        .await;
    house
        .until(&submitted.job_ids[1], "to be given up", |detail| {
            detail.remote.is_none()
        })
        .await;
    let (_, _, unknown) = spent_in_all(&house).await;
    assert_eq!(unknown, reserved, "each may have been answered and billed");
}

/// Returns what was spent of both jobs' batch, whenever that was.
async fn spent_in_all(house: &House) -> (i64, i64, i64) {
    let batches = house.engine.overview().await.unwrap().batches;
    let money = batches[0].money;
    (
        money.settled_micros,
        money.reserved_micros,
        money.unknown_micros,
    )
}

#[tokio::test]
async fn with_another_key_nothing_is_sent_again_and_the_person_is_told() {
    let claude = claude_with(Scenario {
        key_is_workspace: true,
        ..Scenario::default()
    })
    .await;
    let house = House::asking(claude).await;
    let (first, second) = ("sk-ant-test-0123456789", "sk-ant-test-of-another-workspace");
    house
        .engine
        .save_key(first.to_owned(), false)
        .await
        .unwrap();
    by_batch(&house, |_| {}).await;
    house.start().await;
    let submitted = house.add_as(&["a.pdf", "b.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    house
        .engine
        .save_key(second.to_owned(), false)
        .await
        .unwrap();
    pass(&house, DAY);
    house.until_answer("with another key").await;
    assert_eq!(
        house.job(&submitted.job_ids[0]).await.job.status,
        JobStatus::Submitted
    );
    house
        .engine
        .save_key(first.to_owned(), false)
        .await
        .unwrap();
    house.until_completed(&submitted).await;
    assert_eq!(house.claude.batches().len(), 1);
    assert_eq!(spent(&house).await.1, 0);
}

#[tokio::test]
async fn results_that_break_off_are_read_again_and_nothing_is_dealt_with_twice() {
    let house = house_with(BatchSettings::default()).await;
    house
        .claude
        .script(Rule::on(Call::BatchResults, Reply::Lost).times(1));
    let submitted = house.add_as(&["a.pdf", "b.pdf", "c.pdf"], to_bulk()).await;
    until_all_handed(&house, &submitted).await;
    pass(&house, MINUTE * 10);
    house
        .until(&submitted.job_ids[0], "the first reading", |_| {
            calls(&house, "/results") >= 1
        })
        .await;
    pass(&house, MINUTE);
    house.until_completed(&submitted).await;
    for job_id in &submitted.job_ids {
        assert_eq!(house.job(job_id).await.attempts.len(), 1);
    }
    until_settled(&house).await;
    assert_eq!(spent(&house).await, (billed(&house), 0, 0));
}

async fn until_settled(house: &House) {
    let jobs = house.jobs().await;
    for job in jobs {
        house
            .until(&job.job_id, "its end", |detail| detail.remote.is_none())
            .await;
    }
}
