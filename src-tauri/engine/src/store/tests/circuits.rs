//! Circuits: what would hit every job holds them all, and one job sees whether it has passed.

use super::support::*;
use crate::model::{
    AttemptOutcome, BulkAction, Cause, JobStatus, Provider, Timestamp, WaitingReason,
};
use crate::store::{AfterAttempt, ClaimedJob, NewBatch, Settlement};

fn offline(prompts: &[&str]) -> NewBatch {
    NewBatch {
        provider: Provider::Offline,
        model: "extractive".to_owned(),
        ..batch(prompts)
    }
}

impl Shelf {
    /// Trips Claude's circuit with the first job in line.
    async fn trip(&self, cause: Cause, now: Timestamp) -> ClaimedJob {
        let job = self.claim(1, now).await.remove(0);
        assert!(self.end(&job.lease, tripped(cause), now).await);
        job
    }

    async fn circuits(&self) -> usize {
        self.store.open_circuits().await.unwrap().len()
    }
}

/// Seed defect 7: a refused key fails no job; it holds them, and is told once.
#[tokio::test]
async fn nothing_of_the_provider_is_claimed_and_the_other_goes_on() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two", "six"]).await;
    let claimed = shelf.claim(2, NOW).await;
    for job in &claimed {
        shelf.end(&job.lease, tripped(Cause::KeyRefused), NOW).await;
    }
    let free = shelf.submit(offline(&["ten", "red"]), NOW).await;
    let on: Vec<_> = shelf
        .claim(9, minutes(600))
        .await
        .into_iter()
        .map(|job| job.lease.job_id)
        .collect();
    assert_eq!(on, free, "only those of the other provider");
    for job_id in &added {
        let job = shelf.look(job_id).await.job;
        assert_eq!((job.status, job.attempts), (JobStatus::Pending, 0));
        assert_eq!(
            job.waiting,
            Some(WaitingReason::CircuitOpen {
                cause: Cause::KeyRefused
            })
        );
    }
    let told: i64 = shelf
        .ask("SELECT count(*) FROM outbox WHERE event = 'circuit.opened'")
        .await;
    assert_eq!(told, 1, "two jobs met it, and it is told once");
    assert!(shelf.store.close_circuit(Provider::Claude).await.unwrap());
    assert_eq!(shelf.claim(9, minutes(600)).await.len(), 3);
}

#[tokio::test]
async fn one_job_probes_and_closes_the_circuit_when_it_gets_through() {
    let shelf = shelf();
    shelf.add(&["one", "two", "six"]).await;
    shelf.trip(Cause::Offline, NOW).await;
    assert!(shelf.claim(9, seconds(14)).await.is_empty());
    let probe = shelf.claim(9, seconds(15)).await;
    assert_eq!(probe.len(), 1, "one job sees whether it has passed");
    assert!(
        shelf.claim(9, seconds(16)).await.is_empty(),
        "one at a time"
    );
    shelf.finish(&probe[0].lease, seconds(17)).await;
    assert_eq!(shelf.circuits().await, 0);
    assert_eq!(shelf.claim(9, seconds(17)).await.len(), 2);
}

#[tokio::test]
async fn probes_that_fail_come_less_and_less_often() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    shelf.trip(Cause::Offline, NOW).await;
    let mut now = NOW;
    let mut waits = Vec::new();
    for _ in 0..7 {
        let circuit = shelf.store.open_circuits().await.unwrap().remove(0);
        let probe_at = circuit.probe_at.expect("a network comes back by itself");
        waits.push((probe_at.0 - now.0) / 1_000);
        now = probe_at;
        shelf.trip(Cause::Offline, now).await;
    }
    assert_eq!(waits, [15, 30, 60, 120, 240, 300, 300]);
    let told: i64 = shelf.ask("SELECT count(*) FROM outbox").await;
    assert_eq!(told, 0, "a network that is gone is no news");
}

#[tokio::test]
async fn an_attempt_that_was_under_way_does_not_put_the_probe_off() {
    let shelf = shelf();
    shelf.add(&["one", "two", "six"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf
        .end(&claimed[0].lease, tripped(Cause::Offline), NOW)
        .await;
    shelf
        .end(&claimed[1].lease, tripped(Cause::Offline), seconds(14))
        .await;
    assert_eq!(shelf.claim(9, seconds(15)).await.len(), 1);
}

#[tokio::test]
async fn a_probe_that_was_never_asked_closes_nothing() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two", "six"]).await;
    shelf.trip(Cause::CreditExhausted, NOW).await;
    let probe = shelf.claim(9, minutes(15)).await.remove(0);
    let next = AfterAttempt::Failed;
    let mut missing = refused(AttemptOutcome::Failed, Cause::FileMissing, next);
    missing.settlement = Settlement::Nothing { asked: false };
    shelf.end(&probe.lease, missing, minutes(15)).await;
    assert_eq!(
        shelf.circuits().await,
        1,
        "nobody knows whether it has passed"
    );
    let second = shelf.claim(9, minutes(15)).await;
    assert_eq!(second.len(), 1, "another job sees");
    assert_eq!(second[0].lease.job_id, added[1]);
    // A refusal by the provider itself shows that it answers.
    let refused = refused(AttemptOutcome::Failed, Cause::InvalidRequest, next);
    shelf.end(&second[0].lease, refused, minutes(16)).await;
    assert_eq!(shelf.circuits().await, 0);
}

#[tokio::test]
async fn the_end_of_another_providers_job_lets_no_second_probe_go() {
    let shelf = shelf();
    shelf.add(&["one", "two", "six"]).await;
    shelf.trip(Cause::Offline, NOW).await;
    let free = shelf.submit(offline(&["ten", "red"]), NOW).await;
    let claimed = shelf.claim(9, seconds(15)).await;
    assert_eq!(claimed.len(), 3, "a probe, and two that go on in any case");
    let other = claimed
        .iter()
        .find(|job| job.lease.job_id == free[0])
        .unwrap();
    let next = AfterAttempt::Cancelled;
    let end = refused(AttemptOutcome::Cancelled, Cause::Interrupted, next);
    let ended = shelf
        .store
        .end_attempt(other.lease.clone(), Provider::Offline, end, seconds(16));
    assert!(ended.await.unwrap());
    assert!(
        shelf.claim(9, seconds(17)).await.is_empty(),
        "the probe is still under way"
    );
}

#[tokio::test]
async fn a_probe_that_a_crash_or_a_person_ended_is_followed_by_another() {
    for crash in [true, false] {
        let shelf = shelf();
        shelf.add(&["one", "two"]).await;
        shelf.trip(Cause::Offline, NOW).await;
        let probe = shelf.claim(9, seconds(15)).await.remove(0);
        if crash {
            shelf.store.recover_interrupted(seconds(16)).await.unwrap();
        } else {
            let next = AfterAttempt::Cancelled;
            let end = refused(AttemptOutcome::Cancelled, Cause::Interrupted, next);
            shelf.end(&probe.lease, end, seconds(16)).await;
        }
        assert_eq!(shelf.claim(9, seconds(16)).await.len(), 1, "crash: {crash}");
    }
}

#[tokio::test]
async fn where_results_can_not_be_stored_a_paid_answer_is_tried_first() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two", "six"]).await;
    let claimed = shelf.claim(2, NOW).await;
    let paid = claimed[1].lease.clone();
    let kept = shelf
        .store
        .keep_answer(paid.clone(), answer(), settled(), NOW);
    assert!(kept.await.unwrap());
    let mut unstored = tripped(Cause::StorageFailed);
    unstored.settlement = Settlement::Nothing { asked: false };
    shelf.end(&paid, unstored.clone(), NOW).await;
    shelf.end(&claimed[0].lease, unstored, NOW).await;
    let probe = shelf.claim(9, seconds(10)).await;
    assert_eq!(probe.len(), 1);
    assert_eq!(
        probe[0].lease.job_id, added[1],
        "no new call is bought to see"
    );
    let promised: i64 = shelf
        .ask("SELECT count(*) FROM ledger WHERE state = 'reserved'")
        .await;
    assert_eq!(promised, 0);
}

#[tokio::test]
async fn a_lane_with_only_later_jobs_behind_an_open_circuit_says_so() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf
        .end(&claimed[1].lease, retry_at(minutes(5)), NOW)
        .await;
    shelf
        .end(&claimed[0].lease, tripped(Cause::KeyRefused), NOW)
        .await;
    shelf.act(&[&added[0]], BulkAction::Cancel, NOW).await;
    let outlook = shelf.store.outlook(local(NOW)).await.unwrap();
    assert_eq!(
        outlook.lanes[0].obstacle,
        Some(WaitingReason::CircuitOpen {
            cause: Cause::KeyRefused
        })
    );
}

#[tokio::test]
async fn jobs_of_a_model_that_does_not_exist_get_another_one() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    shelf.trip(Cause::ModelNotFound, NOW).await;
    let circuit = shelf.store.open_circuits().await.unwrap().remove(0);
    assert_eq!(circuit.model.as_deref(), Some(SONNET));
    assert_eq!((circuit.probe_at, circuit.waiting), (None, 2));
    let replaced = shelf
        .store
        .replace_model(SONNET.to_owned(), "claude-haiku-5-5".to_owned());
    assert_eq!(replaced.await.unwrap(), 2);
    shelf.store.close_circuit(Provider::Claude).await.unwrap();
    let claimed = shelf.claim(9, NOW).await;
    assert!(claimed.iter().all(|job| job.model == "claude-haiku-5-5"));
    assert_eq!(claimed.len(), 2);
}
