//! The order within a lane.

use super::support::*;
use crate::model::{BulkAction, JobId, Place, QueueName};
use crate::store::NewBatch;

impl Shelf {
    async fn shift(&self, job_id: &JobId, place: Place) -> bool {
        self.shift_all(&[job_id], place).await == 1
    }

    async fn shift_all(&self, job_ids: &[&JobId], place: Place) -> u64 {
        let job_ids = job_ids.iter().map(|job_id| (*job_id).clone()).collect();
        self.store.move_jobs(job_ids, place).await.unwrap()
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
        shelf.shift(&added[which], place.clone()).await;
        assert_eq!(shelf.line(NOW).await, expected, "{which} to {place:?}");
    }
}

#[tokio::test]
async fn several_jobs_move_as_one_and_keep_their_order() {
    let before = |at: usize| (at, true);
    let behind = |at: usize| (at, false);
    let cases = [
        (vec![4, 1], before(0), "b e a c d f", 2),
        (vec![0, 2], behind(4), "b d e a c f", 2),
        (vec![0, 5], before(3), "b c a f d e", 2),
        (vec![1, 2], behind(5), "a d e f b c", 2),
        (vec![3], behind(0), "a d b c e f", 1),
        (vec![2, 3], before(3), "a b c d e f", 0),
    ];
    for (which, (at, is_before), expected, count) in cases {
        let shelf = shelf();
        let added = shelf.add(&["a", "b", "c", "d", "e", "f"]).await;
        let job_id = added[at].clone();
        let place = if is_before {
            Place::Before { job_id }
        } else {
            Place::After { job_id }
        };
        let chosen: Vec<_> = which.iter().map(|job| &added[*job]).collect();
        let moved = shelf.shift_all(&chosen, place.clone()).await;
        assert_eq!(moved, count, "jobs moved: {which:?} to {place:?}");
        let line = shelf.line(NOW).await.join(" ");
        assert_eq!(line, expected, "{which:?} to {place:?}");
    }
}

#[tokio::test]
async fn several_jobs_go_to_an_end_or_a_step_further_together() {
    let cases = [
        (Place::Top, "b d a c e"),
        (Place::Up, "b d a c e"),
        (Place::Down, "a c e b d"),
        (Place::Bottom, "a c e b d"),
    ];
    for (place, expected) in cases {
        let shelf = shelf();
        let added = shelf.add(&["a", "b", "c", "d", "e"]).await;
        let moved = shelf
            .shift_all(&[&added[3], &added[1]], place.clone())
            .await;
        assert_eq!(moved, 2, "jobs moved to {place:?}");
        assert_eq!(shelf.line(NOW).await.join(" "), expected, "to {place:?}");
    }
}

#[tokio::test]
async fn beside_a_job_only_those_move_that_wait_in_its_lane() {
    let shelf = shelf();
    let bulk = NewBatch {
        queue: QueueName::Bulk,
        ..batch(&["x", "y"])
    };
    let other = shelf.submit(bulk, NOW).await;
    let added = shelf.add(&["a", "b", "c", "d"]).await;
    assert_eq!(shelf.claim(1, NOW).await[0].title, "a", "a runs");
    let place = Place::Before {
        job_id: added[1].clone(),
    };
    let chosen = [&other[1], &added[0], &added[3]];
    assert_eq!(
        shelf.shift_all(&chosen, place).await,
        1,
        "neither what runs nor what waits elsewhere moves"
    );
    let gone = Place::After {
        job_id: JobId("nobody".to_owned()),
    };
    assert_eq!(
        shelf.shift_all(&[&added[1]], gone).await,
        0,
        "nothing moves beside a job that is not there"
    );
    let behind_what_runs = Place::After {
        job_id: added[0].clone(),
    };
    assert_eq!(
        shelf.shift_all(&[&added[2]], behind_what_runs).await,
        0,
        "what runs has no place in line"
    );
    assert_eq!(shelf.line(NOW).await, ["d", "b", "c"]);
}

/// What is added after a person arranged the line stands behind what was there.
#[tokio::test]
async fn after_a_move_to_the_middle_new_jobs_stand_at_the_end() {
    let shelf = shelf();
    let added = shelf.add(&["a", "b", "c", "d"]).await;
    let place = Place::After {
        job_id: added[1].clone(),
    };
    assert!(shelf.shift(&added[3], place).await);
    shelf.add(&["e"]).await;
    assert_eq!(shelf.line(NOW).await, ["a", "b", "d", "c", "e"]);
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
