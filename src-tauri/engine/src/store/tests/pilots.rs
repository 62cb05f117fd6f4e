//! Pilots: a few jobs first, the others when a person says so, through restarts and pauses.

use super::support::*;
use crate::model::{BatchId, BulkAction, JobId, JobStatus, PilotView, QueueName, WaitingReason};
use crate::store::{Changes, NewBatch, Store};

/// Stores five jobs of which the second and the fourth are the pilot.
async fn piloted(shelf: &Shelf) -> (BatchId, Vec<JobId>) {
    let mut new = batch(&["one", "two", "six", "ten", "red"]);
    new.pilot = vec![new.jobs[1].job_id.clone(), new.jobs[3].job_id.clone()];
    let batch_id = new.batch_id.clone();
    (batch_id, shelf.submit(new, NOW).await)
}

async fn view(store: &Store, batch_id: &BatchId) -> PilotView {
    let batch = store.batch(batch_id.clone()).await.unwrap().unwrap();
    batch.pilot.unwrap()
}

async fn waiting(shelf: &Shelf, job_id: &JobId) -> Option<WaitingReason> {
    shelf.look(job_id).await.job.waiting
}

#[tokio::test]
async fn only_the_pilot_runs_until_a_person_releases_the_others() {
    let shelf = shelf();
    let (batch_id, jobs) = piloted(&shelf).await;
    let other = shelf.add(&["of another batch"]).await;
    assert_eq!(
        waiting(&shelf, &jobs[0]).await,
        Some(WaitingReason::Pilot { left: 2 })
    );
    let ran = shelf.work(9, NOW).await;
    assert_eq!(
        ran,
        [jobs[1].clone(), jobs[3].clone(), other[0].clone()],
        "those of the pilot and of other batches"
    );
    assert_eq!(
        waiting(&shelf, &jobs[0]).await,
        Some(WaitingReason::Pilot { left: 0 }),
        "only a person's word is missing"
    );
    let outlook = shelf.store.outlook(local(NOW)).await.unwrap();
    assert_eq!(
        outlook.lanes[0].obstacle,
        Some(WaitingReason::Pilot { left: 0 })
    );
    assert!(
        !outlook.live,
        "nothing goes on without a person, so nobody need stay awake for it"
    );
    let expected = PilotView {
        jobs: 2,
        left: 0,
        waiting: 3,
        released: false,
    };
    assert_eq!(view(&shelf.store, &batch_id).await, expected);
    let again = Store::open(&shelf.folder.path().join("gistmill.db")).unwrap();
    assert_eq!(
        view(&again, &batch_id).await,
        expected,
        "a restart forgets no pilot"
    );
    let released = shelf
        .store
        .release_pilot(batch_id.clone(), Changes::default(), seconds(9))
        .await
        .unwrap()
        .unwrap();
    let rest = [jobs[0].clone(), jobs[2].clone(), jobs[4].clone()];
    assert_eq!(released, rest);
    assert_eq!(shelf.work(9, seconds(9)).await, rest);
    assert_eq!(
        view(&shelf.store, &batch_id).await,
        PilotView {
            waiting: 0,
            released: true,
            ..expected
        }
    );
}

#[tokio::test]
async fn resuming_a_paused_batch_releases_nobody() {
    let shelf = shelf();
    let (batch_id, jobs) = piloted(&shelf).await;
    for paused in [true, false] {
        shelf
            .store
            .pause_batch(batch_id.clone(), paused)
            .await
            .unwrap();
    }
    shelf
        .act(&[&jobs[0], &jobs[2]], BulkAction::RunNow, NOW)
        .await;
    let ran = shelf.work(9, NOW).await;
    assert_eq!(ran, [jobs[1].clone(), jobs[3].clone()]);
}

#[tokio::test]
async fn the_others_go_on_as_they_are_changed() {
    let shelf = shelf();
    let (batch_id, jobs) = piloted(&shelf).await;
    shelf.work(9, NOW).await;
    let changes = Changes {
        model: Some("claude-haiku-4-5".to_owned()),
        queue: Some(QueueName::Bulk),
        max_tokens: Some(2_000),
        ..Changes::default()
    };
    shelf
        .store
        .release_pilot(batch_id, changes, NOW)
        .await
        .unwrap()
        .unwrap();
    let mut claimed = shelf.claim(9, NOW).await;
    claimed.sort_by(|one, other| one.lease.job_id.cmp(&other.lease.job_id));
    assert_eq!(claimed.len(), 3);
    for job in &claimed {
        assert_eq!(
            (job.model.as_str(), job.queue, job.max_tokens),
            ("claude-haiku-4-5", QueueName::Bulk, 2_000)
        );
        assert_eq!(job.lease.generation, 1, "none of them ran before");
    }
    assert_eq!(
        shelf.look(&jobs[1]).await.job.model,
        SONNET,
        "the pilot stays as it was"
    );
}

#[tokio::test]
async fn the_others_can_be_called_off() {
    let shelf = shelf();
    let (batch_id, jobs) = piloted(&shelf).await;
    shelf.work(9, NOW).await;
    let (affected, changed) = shelf
        .store
        .cancel_behind_pilot(batch_id.clone(), NOW)
        .await
        .unwrap()
        .unwrap();
    assert_eq!((affected.jobs, changed.len()), (3, 3));
    assert_eq!(shelf.look(&jobs[0]).await.job.status, JobStatus::Cancelled);
    assert_eq!(shelf.look(&jobs[1]).await.job.status, JobStatus::Completed);
    assert!(view(&shelf.store, &batch_id).await.released);
    let plain = shelf.submit(batch(&["one", "two"]), NOW).await;
    let plain = shelf.look(&plain[0]).await.job.batch_id;
    let cancelled = shelf.store.cancel_behind_pilot(plain, NOW);
    assert!(
        cancelled.await.unwrap().is_none(),
        "a batch without a pilot has nobody behind it"
    );
}

#[tokio::test]
async fn what_a_pilot_came_to_is_told_of_its_jobs_alone() {
    let shelf = shelf();
    let (batch_id, _) = piloted(&shelf).await;
    shelf.add(&["of another batch"]).await;
    shelf.work(9, NOW).await;
    let pilot = shelf.store.pilot(batch_id).await.unwrap().unwrap();
    assert_eq!((pilot.done, pilot.needs_review, pilot.failed), (2, 0, 0));
    assert_eq!(pilot.cost_micros, Some(1_200));
    assert_eq!(pilot.rest.len(), 3);
    let calls: Vec<_> = pilot
        .calls
        .iter()
        .map(|call| (call.input_tokens, call.output_tokens))
        .collect();
    assert_eq!(calls, [(100, 20), (100, 20)]);
    assert!(pilot.calls.iter().all(|call| call.estimated_input > 0));
}

#[tokio::test]
async fn an_answer_that_is_there_waits_for_no_pilot() {
    let shelf = shelf();
    let mut new: NewBatch = batch(&["one", "two", "six"]);
    new.pilot = vec![new.jobs[0].job_id.clone()];
    new.jobs[2].reused = Some(answer());
    let jobs = shelf.submit(new, NOW).await;
    let claimed = shelf.claim(9, NOW).await;
    let mut claimed: Vec<_> = claimed.into_iter().map(|job| job.lease.job_id).collect();
    claimed.sort();
    assert_eq!(claimed, [jobs[0].clone(), jobs[2].clone()]);
}
