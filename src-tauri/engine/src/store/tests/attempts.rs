//! Claims and the ends of attempts, by many at once.

use std::sync::Arc;

use super::support::*;
use crate::error::EngineError;
use crate::model::{AttemptOutcome, BulkAction, JobStatus, Provider};
use crate::store::Store;

#[tokio::test]
async fn sixteen_claimers_get_each_job_once_and_in_order() {
    let shelf = Arc::new(shelf());
    let prompts: Vec<String> = (0..40).map(|number| format!("prompt {number}")).collect();
    let prompts: Vec<&str> = prompts.iter().map(String::as_str).collect();
    let added = shelf.add(&prompts).await;
    let claimers: Vec<_> = (0..16)
        .map(|_| {
            let shelf = Arc::clone(&shelf);
            tokio::spawn(async move { shelf.claim(3, NOW).await })
        })
        .collect();
    let mut claimed = Vec::new();
    for claimer in claimers {
        let batch = claimer.await.unwrap();
        let places: Vec<_> = batch
            .iter()
            .map(|job| added.iter().position(|id| *id == job.lease.job_id).unwrap())
            .collect();
        assert!(
            places.is_sorted(),
            "a claim is in the order of the line: {places:?}"
        );
        claimed.extend(places);
    }
    claimed.sort_unstable();
    assert_eq!(
        claimed,
        (0..40).collect::<Vec<_>>(),
        "no job is claimed twice, none is left"
    );
}

/// Seed defect 15: only who holds the lease, in the state that is expected, may end an attempt.
#[tokio::test]
async fn a_late_finisher_changes_nothing_but_the_record_of_what_it_cost() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    let late = shelf.claim(1, NOW).await.remove(0).lease;
    // The lease is lost: recovered, and claimed by another.
    assert_eq!(
        shelf.store.recover_interrupted(minutes(1)).await.unwrap(),
        1
    );
    let other = shelf.claim(1, minutes(2)).await.remove(0).lease;
    assert_eq!(
        late.job_id, other.job_id,
        "the recovered job is the first in line again"
    );

    assert!(
        !shelf
            .store
            .keep_answer(late.clone(), answer(), settled(), minutes(3))
            .await
            .unwrap()
    );
    assert!(
        !shelf
            .store
            .complete(late.clone(), result(&late.job_id), minutes(3))
            .await
            .unwrap()
    );
    let ended = shelf.store.end_attempt(
        late.clone(),
        Provider::Claude,
        retry_at(minutes(9)),
        minutes(3),
    );
    assert!(!ended.await.unwrap());
    let record = shelf.look(&added[0]).await;
    assert_eq!(
        record.job.status,
        JobStatus::Running,
        "the other's attempt goes on"
    );
    assert_eq!(record.attempts[1].outcome, AttemptOutcome::Interrupted);
    assert_eq!(
        record.attempts[1].cost_micros,
        Some(600),
        "what the late call cost is known now"
    );
    assert!(
        shelf
            .store
            .kept_answer(other.clone())
            .await
            .unwrap()
            .is_none()
    );

    assert!(
        shelf
            .store
            .complete(other.clone(), result(&other.job_id), minutes(4))
            .await
            .unwrap()
    );
    assert!(
        !shelf
            .store
            .complete(other.clone(), result(&other.job_id), minutes(5))
            .await
            .unwrap(),
        "a job is completed once"
    );
    let untouched = shelf.look(&added[1]).await.job;
    assert_eq!(
        (untouched.status, untouched.attempts),
        (JobStatus::Pending, 0)
    );
}

/// Seed defect 9: the claim itself says that a job runs, and how often it was delivered.
#[tokio::test]
async fn one_retry_changes_one_job() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two", "three"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf
        .store
        .end_attempt(
            claimed[0].lease.clone(),
            Provider::Claude,
            retry_at(minutes(5)),
            minutes(1),
        )
        .await
        .unwrap();
    let states: Vec<_> = {
        let mut states = Vec::new();
        for job_id in &added {
            let job = shelf.look(job_id).await.job;
            states.push((job.status, job.attempts));
        }
        states
    };
    assert_eq!(
        states,
        [
            (JobStatus::Pending, 1),
            (JobStatus::Running, 1),
            (JobStatus::Pending, 0)
        ]
    );
    assert!(
        shelf
            .claim(5, minutes(4))
            .await
            .iter()
            .all(|job| job.lease.job_id != added[0])
    );
    assert_eq!(shelf.claim(5, minutes(5)).await[0].lease.job_id, added[0]);
}

/// Seed defect 19: an answer is kept before its result is published, and is never bought twice.
#[tokio::test]
async fn a_kept_answer_survives_a_crash_and_needs_no_new_call() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    let lease = shelf.claim(1, NOW).await.remove(0).lease;
    assert!(
        shelf
            .store
            .keep_answer(lease, answer(), settled(), minutes(1))
            .await
            .unwrap()
    );
    // The crash: another program opens the same file.
    let path = shelf.folder.path().join("gistmill.db");
    let again = Shelf {
        store: Store::open(&path).unwrap(),
        folder: shelf.folder,
    };
    again.store.recover_interrupted(minutes(2)).await.unwrap();
    let lease = again.claim(1, minutes(3)).await.remove(0).lease;
    assert_eq!(lease.job_id, added[0]);
    let kept = again
        .store
        .kept_answer(lease.clone())
        .await
        .unwrap()
        .expect("it was paid for");
    assert_eq!(kept.body, "An answer.");
    again
        .store
        .complete(lease, result(&added[0]), minutes(4))
        .await
        .unwrap();
    let job = again.look(&added[0]).await.job;
    assert_eq!(job.cost_micros, Some(600), "known, and counted once");
    assert_eq!((job.input_tokens, job.output_tokens), (100, 20));
}

#[tokio::test]
async fn counters_always_say_what_counting_would() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two", "three", "four"]).await;
    let claimed = shelf.claim(3, NOW).await;
    shelf
        .store
        .complete(claimed[0].lease.clone(), result(&added[0]), minutes(1))
        .await
        .unwrap();
    shelf
        .store
        .end_attempt(
            claimed[1].lease.clone(),
            Provider::Claude,
            retry_at(minutes(5)),
            minutes(1),
        )
        .await
        .unwrap();
    shelf
        .act(&[&added[3]], BulkAction::Cancel, minutes(1))
        .await;
    let counts = shelf
        .store
        .overview(local(minutes(2)))
        .await
        .unwrap()
        .counts;
    assert_eq!(
        (
            counts.total,
            counts.done,
            counts.running,
            counts.waiting,
            counts.cancelled
        ),
        (4, 1, 1, 1, 1)
    );
    let batch = shelf
        .store
        .overview(local(minutes(2)))
        .await
        .unwrap()
        .batches
        .remove(0);
    assert_eq!(batch.counts, counts, "one batch holds them all");
}

#[tokio::test]
async fn a_state_that_makes_no_sense_is_refused_by_the_database_itself() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    for nonsense in [
        "UPDATE jobs SET status = 'running'",
        "UPDATE jobs SET status = 'completed'",
        "UPDATE jobs SET status = 'failed', completed_at = 1",
        "UPDATE jobs SET lease_id = 'x'",
        "UPDATE jobs SET completed_at = 1",
        "UPDATE jobs SET status = 'lost'",
    ] {
        let refused = shelf
            .store
            .write(move |connection| Ok(connection.execute(nonsense, [])?))
            .await;
        assert!(refused.is_err(), "{nonsense} must be refused");
    }
    assert_eq!(
        shelf.claim(5, NOW).await.len(),
        2,
        "a refused change leaves everything as it was"
    );
}

/// Seed defect 18: one that fails takes no other with it.
#[tokio::test]
async fn an_error_undoes_its_own_request_and_no_other_of_the_group() {
    let shelf = Arc::new(shelf());
    let writes: Vec<_> = (0..20)
        .map(|number| {
            let shelf = Arc::clone(&shelf);
            tokio::spawn(async move {
                let name = format!("name {number}");
                shelf
                    .store
                    .write(move |connection| {
                        connection.execute("INSERT INTO settings VALUES (?1, '1')", [&name])?;
                        if number % 2 == 0 {
                            return Err(EngineError::bad_input("No.", "No."));
                        }
                        Ok(())
                    })
                    .await
                    .is_ok()
            })
        })
        .collect();
    for (number, write) in writes.into_iter().enumerate() {
        assert_eq!(write.await.unwrap(), number % 2 == 1);
    }
    let stored: i64 = shelf
        .store
        .read(|connection| {
            Ok(connection.query_row("SELECT count(*) FROM settings", [], |row| row.get(0))?)
        })
        .await
        .unwrap();
    assert_eq!(stored, 10);
}
