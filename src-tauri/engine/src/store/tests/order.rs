//! The order within a lane.

use super::support::*;
use crate::model::{BulkAction, JobId, Place, QueueName};
use crate::store::NewBatch;

impl Shelf {
    async fn shift(&self, job_id: &JobId, place: Place) -> bool {
        self.store.move_job(job_id.clone(), place).await.unwrap()
    }

    /// Claims one job after the other, and returns their titles.
    async fn line(&self, now: crate::model::Timestamp) -> Vec<String> {
        let mut titles = Vec::new();
        while let Some(job) = self.claim(1, now).await.pop() {
            titles.push(job.title);
        }
        titles
    }
}

#[tokio::test]
async fn a_person_arranges_the_line() {
    let cases: [(usize, Place, [&str; 4]); 8] = [
        (2, Place::Top, ["c", "a", "b", "d"]),
        (0, Place::Top, ["a", "b", "c", "d"]),
        (1, Place::Bottom, ["a", "c", "d", "b"]),
        (2, Place::Up, ["a", "c", "b", "d"]),
        (0, Place::Up, ["a", "b", "c", "d"]),
        (1, Place::Down, ["a", "c", "b", "d"]),
        (3, Place::Down, ["a", "b", "c", "d"]),
        (3, Place::Up, ["a", "b", "d", "c"]),
    ];
    for (which, place, expected) in cases {
        let shelf = shelf();
        let added = shelf.add(&["a", "b", "c", "d"]).await;
        shelf.shift(&added[which], place).await;
        assert_eq!(shelf.line(NOW).await, expected, "{which} to {place:?}");
    }
}

#[tokio::test]
async fn moves_follow_each_other() {
    let shelf = shelf();
    let added = shelf.add(&["a", "b", "c", "d", "e"]).await;
    shelf.shift(&added[4], Place::Top).await; // e a b c d
    shelf.shift(&added[0], Place::Down).await; // e b a c d
    shelf.shift(&added[3], Place::Up).await; // e b a d c
    shelf.shift(&added[4], Place::Bottom).await; // b a d c e
    shelf.shift(&added[2], Place::Top).await; // c b a d e
    let more = shelf.add(&["f", "g"]).await;
    assert!(!shelf.shift(&JobId("nobody".to_owned()), Place::Top).await);
    let line = shelf.line(NOW).await;
    let places: Vec<_> = ["c", "b", "a", "d", "e"]
        .iter()
        .map(|title| line.iter().position(|other| other == title).unwrap())
        .collect();
    assert!(places.is_sorted(), "{line:?}");
    assert_eq!(line.len(), 5 + more.len());
}

#[tokio::test]
async fn a_job_that_runs_can_not_be_moved() {
    let shelf = shelf();
    let added = shelf.add(&["a", "b", "c"]).await;
    shelf.claim(1, NOW).await;
    assert!(!shelf.shift(&added[0], Place::Bottom).await);
    assert_eq!(shelf.line(NOW).await, ["b", "c"]);
}

/// Seed defect 9: the queue of a job is the one that it was put in.
#[tokio::test]
async fn a_job_put_in_another_queue_stands_at_its_end() {
    let shelf = shelf();
    let bulk = NewBatch {
        queue: QueueName::Bulk,
        ..batch(&["old", "older"])
    };
    let moved = shelf.submit(bulk, NOW).await;
    let high = shelf.submit(batch(&["a", "b"]), minutes(1)).await;
    shelf.shift(&high[0], Place::Bottom).await;
    let action = BulkAction::MoveTo {
        queue: QueueName::High,
    };
    shelf.act(&[&moved[0], &moved[1]], action, minutes(2)).await;
    let job = shelf.look(&moved[0]).await.job;
    assert_eq!(job.queue, QueueName::High);
    assert_eq!(
        shelf.line(minutes(2)).await,
        ["b", "a", "old", "older"],
        "those that wait there go first, however old the others are"
    );
}

#[tokio::test]
async fn what_may_run_now_comes_by_its_new_time() {
    let shelf = shelf();
    let bulk = NewBatch {
        queue: QueueName::Bulk,
        ..batch(&["a", "b"])
    };
    let added = shelf.submit(bulk, NOW).await;
    assert!(
        shelf.claim(9, seconds(4)).await.is_empty(),
        "bulk is held back"
    );
    let acted = shelf
        .act(&[&added[1]], BulkAction::RunNow, seconds(4))
        .await;
    assert_eq!(acted.jobs, 1);
    assert_eq!(shelf.line(seconds(4)).await, ["b"]);
    assert_eq!(shelf.line(seconds(5)).await, ["a"]);
}

/// Seed defect 27: a lone job does not wait for others.
#[tokio::test]
async fn a_lone_job_is_claimed_at_once_unless_a_person_wants_claims_filled() {
    let shelf = shelf();
    shelf.add(&["a"]).await;
    assert_eq!(shelf.line(NOW).await, ["a"]);
    let lanes = shelf.store.overview(local(NOW)).await.unwrap().lanes;
    let patient = crate::model::LaneSettings {
        max_batch_timeout_ms: 2_000,
        max_batch_size: 2,
        ..lanes[0].settings
    };
    let high = QueueName::High;
    shelf.store.save_lane(high, patient).await.unwrap();
    shelf.submit(batch(&["b"]), seconds(10)).await;
    assert!(shelf.claim(9, seconds(11)).await.is_empty());
    assert_eq!(shelf.claim(9, seconds(12)).await.len(), 1);
    shelf.submit(batch(&["c", "d"]), seconds(20)).await;
    assert_eq!(shelf.claim(9, seconds(20)).await.len(), 2, "it is full");
}
