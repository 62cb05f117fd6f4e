//! Which way a job goes: by a call of its own, or by the batch API with others.

use super::support::*;
use crate::model::{BulkAction, Delivery, JobId, Provider, QueueName, WaitingReason};
use crate::store::{Changes, TakenIn};

impl Shelf {
    /// Adds a job for each prompt to bulk, to go one way.
    async fn add_to_go(&self, prompts: &[&str], delivery: Option<Delivery>) -> Vec<JobId> {
        let mut new = batch(prompts);
        new.queue = QueueName::Bulk;
        new.delivery = delivery;
        self.submit(new, NOW).await
    }

    /// Bulk asks call by call and holds nothing back.
    async fn by_call(&self) {
        self.by_batch(|lane| lane.delivery = Delivery::Each).await;
    }

    async fn deliveries(&self, job_ids: &[JobId]) -> Vec<Delivery> {
        let mut found = Vec::new();
        for job_id in job_ids {
            found.push(self.look(job_id).await.job.delivery);
        }
        found
    }

    async fn claimed(&self) -> Vec<JobId> {
        let claimed = self.claim(9, NOW).await;
        assert!(claimed.iter().all(|job| job.delivery == Delivery::Each));
        claimed.into_iter().map(|job| job.lease.job_id).collect()
    }
}

#[tokio::test]
async fn one_lane_has_jobs_that_go_either_way() {
    let shelf = shelf();
    shelf.by_call().await;
    let half = shelf
        .add_to_go(&["one", "two"], Some(Delivery::Batch))
        .await;
    let whole = shelf.add_to_go(&["three", "four"], None).await;
    assert_eq!(
        shelf.claimed().await,
        whole,
        "those at half price stand in nobody’s way"
    );
    let gathered = shelf.gather(NOW).await.unwrap();
    let ids: Vec<_> = gathered.jobs.iter().map(|job| &job.lease.job_id).collect();
    assert_eq!(ids, [&half[0], &half[1]]);
}

#[tokio::test]
async fn each_job_says_what_it_waits_for_on_its_own_way() {
    let shelf = shelf();
    shelf
        .by_batch(|lane| {
            lane.delivery = Delivery::Each;
            lane.remote_wait_ms = 60_000;
        })
        .await;
    shelf.set(|settings| settings.tokens_per_minute = 1).await;
    let half = shelf
        .add_to_go(&["one", "two"], Some(Delivery::Batch))
        .await;
    let whole = shelf.add_to_go(&["three", "four"], None).await;
    for job_id in &half {
        assert_eq!(
            shelf.look(job_id).await.job.waiting,
            Some(WaitingReason::FillingBatch { until: minutes(1) }),
            "the budget of a minute is not theirs"
        );
    }
    for job_id in &whole {
        assert!(
            matches!(
                shelf.look(job_id).await.job.waiting,
                Some(WaitingReason::LargerThanBudget)
            ),
            "{:?} is about the batch API",
            shelf.look(job_id).await.job.waiting
        );
    }
}

#[tokio::test]
async fn setting_the_lane_changes_all_that_wait_in_it() {
    let shelf = shelf();
    shelf.by_call().await;
    let bulk = shelf
        .add_to_go(&["one", "two"], Some(Delivery::Batch))
        .await;
    let mut new = batch(&["three", "four"]);
    new.queue = QueueName::Bulk;
    new.provider = Provider::Offline;
    let offline = shelf.submit(new, NOW).await;
    let high = shelf.add(&["five", "six"]).await;
    shelf.by_batch(|_| {}).await;
    assert_eq!(shelf.deliveries(&bulk).await, [Delivery::Batch; 2]);
    for others in [&offline, &high] {
        assert_eq!(
            shelf.deliveries(others).await,
            [Delivery::Each; 2],
            "only what asks Claude from bulk can be handed over"
        );
    }
    shelf.by_call().await;
    assert_eq!(shelf.deliveries(&bulk).await, [Delivery::Each; 2]);
}

#[tokio::test]
async fn moved_to_another_lane_a_job_goes_as_that_one_is_set() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let jobs = shelf.add(&["one", "two"]).await;
    let both = [&jobs[0], &jobs[1]];
    let to = |queue| BulkAction::MoveTo { queue };
    shelf.act(&both, to(QueueName::Bulk), NOW).await;
    assert_eq!(shelf.deliveries(&jobs).await, [Delivery::Batch; 2]);
    shelf.act(&both, to(QueueName::High), NOW).await;
    assert_eq!(shelf.deliveries(&jobs).await, [Delivery::Each; 2]);
}

#[tokio::test]
async fn put_back_it_goes_as_is_said_or_as_it_went() {
    let shelf = shelf();
    shelf.by_call().await;
    let jobs = shelf.add_to_go(&["one", "two"], None).await;
    for (changes, goes) in [
        (Changes::default(), Delivery::Each),
        (
            Changes {
                delivery: Some(Delivery::Batch),
                ..Changes::default()
            },
            Delivery::Batch,
        ),
        (Changes::default(), Delivery::Batch),
        (
            Changes {
                queue: Some(QueueName::High),
                ..Changes::default()
            },
            Delivery::Each,
        ),
    ] {
        shelf
            .act(&[&jobs[0], &jobs[1]], BulkAction::Cancel, NOW)
            .await;
        assert_eq!(shelf.put_back(&[1, 2], changes.clone()).await, 2);
        assert_eq!(
            shelf.deliveries(&jobs).await,
            [goes; 2],
            "after {changes:?}"
        );
    }
}

/// Its answer is there and paid, so it is published, but not in spite of the person.
#[tokio::test]
async fn an_answer_to_what_was_called_off_is_held_where_its_batch_is_paused() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let jobs = shelf.add_to_bulk(&["one", "two"]).await;
    let handed = shelf.hand_over().await;
    shelf.act(&[&jobs[0]], BulkAction::Cancel, NOW).await;
    let batch_id = shelf.look(&jobs[0]).await.job.batch_id;
    shelf.store.pause_batch(batch_id, true).await.unwrap();
    for (_, custom_id) in &handed {
        assert!(matches!(
            shelf.take_in(custom_id, true).await,
            TakenIn::Job(..)
        ));
    }
    let held: i64 = shelf
        .ask("SELECT count(*) FROM jobs WHERE held & 2 <> 0")
        .await;
    assert_eq!(held, 2);
}
