//! What a program that died has left, and what is run again.

use super::support::*;
use crate::model::{AttemptOutcome, BulkAction, Cause, JobStatus, Provider, QueueName, Selection};
use crate::store::{AfterAttempt, Changes, NewAnswer, Store};

impl Shelf {
    /// Ends the program and starts it again on the same file.
    fn restart(self) -> Self {
        let path = self.folder.path().join("gistmill.db");
        Self {
            store: Store::open(&path).unwrap(),
            folder: self.folder,
        }
    }

    pub(super) async fn put_back(&self, seqs: &[i64], changes: Changes) -> usize {
        let put_back = self.store.redrive(seqs.to_vec(), changes, minutes(5));
        put_back.await.unwrap().len()
    }

    async fn fail(&self, lease: &crate::store::Lease) {
        let next = AfterAttempt::Failed;
        let end = refused(AttemptOutcome::Failed, Cause::InvalidRequest, next);
        assert!(self.end(lease, end, minutes(1)).await);
    }
}

/// Seed defects 10 and 38: what was accepted, and a retry that is outstanding, outlive the program.
#[tokio::test]
async fn a_restart_finds_every_job_where_it_was() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two", "six"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf
        .end(&claimed[0].lease, retry_at(minutes(5)), NOW)
        .await;
    let shelf = shelf.restart();
    assert_eq!(
        shelf.store.recover_interrupted(minutes(1)).await.unwrap(),
        1
    );
    let job = shelf.look_at(&added[0], minutes(1)).await.job;
    assert_eq!((job.status, job.attempts), (JobStatus::Pending, 1));
    let now: Vec<_> = shelf.claim(9, minutes(1)).await;
    assert_eq!(now.len(), 2, "the interrupted one and the one that waited");
    assert_eq!(now[0].lease.job_id, added[1], "it kept its place");
    assert_eq!(now[0].lease.number, 2, "the interrupted attempt counts");
    assert_eq!(
        shelf.claim(9, minutes(5)).await[0].lease.job_id,
        added[0],
        "the retry comes at its time"
    );
}

/// Seed defects 14, 15 and 16: the last error is kept, and a job that ended is not touched.
#[tokio::test]
async fn out_of_retries_it_is_a_dead_letter_with_its_last_error() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    for number in 1..=6 {
        let job = shelf.claim(1, minutes(number)).await.remove(0);
        assert_eq!(job.lease.job_id, added[0]);
        assert_eq!((job.lease.number, job.max_attempts), (number as u32, 6));
        shelf
            .store
            .recover_interrupted(minutes(number))
            .await
            .unwrap();
    }
    let record = shelf.look(&added[0]).await;
    assert_eq!(record.job.status, JobStatus::DeadLettered);
    assert_eq!(record.job.cause, Some(Cause::Interrupted));
    assert_eq!(record.attempts.len(), 6);
    let told: i64 = shelf
        .ask("SELECT count(*) FROM outbox WHERE event = 'job.failed'")
        .await;
    assert_eq!(told, 1, "it is told in the same transaction");
    assert_eq!(
        shelf.store.recover_interrupted(minutes(9)).await.unwrap(),
        0,
        "what has ended is left alone"
    );
}

#[tokio::test]
async fn a_job_that_was_to_be_cancelled_is_unless_its_answer_is_paid_for() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(2, NOW).await;
    let lease = claimed[1].lease.clone();
    let kept = shelf.store.keep_answer(lease, answer(), settled(), NOW);
    assert!(kept.await.unwrap());
    shelf
        .act(&[&added[0], &added[1]], BulkAction::Cancel, NOW)
        .await;
    shelf.store.recover_interrupted(minutes(1)).await.unwrap();
    assert_eq!(shelf.look(&added[0]).await.job.status, JobStatus::Cancelled);
    assert_eq!(shelf.look(&added[1]).await.job.status, JobStatus::Pending);
}

/// Seed defect 13: the input is kept, so a dead letter is run again with it and no attempts used.
#[tokio::test]
async fn a_dead_letter_is_put_back_with_its_input_and_its_history() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf.fail(&claimed[0].lease).await;
    shelf.finish(&claimed[1].lease, minutes(1)).await;
    assert_eq!(
        shelf.put_back(&[1, 2], Changes::default()).await,
        1,
        "a completed job stays so"
    );
    let again = shelf.claim(9, minutes(5)).await;
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].prompt.as_deref(), Some("one"));
    assert_eq!((again[0].lease.generation, again[0].lease.number), (2, 1));
    assert_eq!(shelf.look(&added[0]).await.attempts.len(), 2);
}

#[tokio::test]
async fn changes_hold_for_the_new_run() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    for job in shelf.claim(2, NOW).await {
        shelf.fail(&job.lease).await;
    }
    let changes = Changes {
        provider: Some(Provider::Offline),
        model: Some("extractive".to_owned()),
        queue: Some(QueueName::Bulk),
        delivery: None,
        max_tokens: Some(77),
        template: None,
        sends: None,
        completed: false,
    };
    assert_eq!(shelf.put_back(&[1, 2], changes).await, 2);
    let again = shelf.claim(9, minutes(5)).await;
    assert_eq!(again.len(), 2);
    for job in again {
        assert_eq!(
            (job.provider, job.queue, job.max_tokens, job.model.as_str()),
            (Provider::Offline, QueueName::Bulk, 77, "extractive")
        );
    }
}

#[tokio::test]
async fn a_paid_answer_serves_the_next_run_and_never_another_question() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    for job in shelf.claim(2, NOW).await {
        let lease = job.lease.clone();
        let kept = shelf.store.keep_answer(lease, answer(), settled(), NOW);
        assert!(kept.await.unwrap());
        let next = AfterAttempt::Cancelled;
        let end = refused(AttemptOutcome::Cancelled, Cause::StorageFailed, next);
        shelf.end(&job.lease, end, NOW).await;
    }
    // The second one is asked of another model, which answers, and is called off again.
    let other = Changes {
        model: Some("claude-haiku-5-5".to_owned()),
        ..Changes::default()
    };
    assert_eq!(shelf.put_back(&[2], other).await, 1);
    let job = shelf.claim(9, minutes(5)).await.remove(0);
    assert!(
        shelf
            .store
            .kept_answer(job.lease.clone())
            .await
            .unwrap()
            .is_none()
    );
    let second = NewAnswer {
        body: "Another answer.".to_owned(),
        ..answer()
    };
    let lease = job.lease.clone();
    let kept = shelf
        .store
        .keep_answer(lease, second, settled(), minutes(5));
    assert!(kept.await.unwrap());
    let next = AfterAttempt::Cancelled;
    let end = refused(AttemptOutcome::Cancelled, Cause::StorageFailed, next);
    shelf.end(&job.lease, end, minutes(5)).await;
    // Both are run again as they are.
    assert_eq!(shelf.put_back(&[1, 2], Changes::default()).await, 2);
    let again = shelf.claim(9, minutes(5)).await;
    let mut bodies = Vec::new();
    for job_id in &added {
        let job = again
            .iter()
            .find(|job| job.lease.job_id == *job_id)
            .unwrap();
        let kept = shelf.store.kept_answer(job.lease.clone()).await.unwrap();
        bodies.push(kept.map(|answer| answer.body));
    }
    assert_eq!(
        bodies,
        [
            Some("An answer.".to_owned()),
            Some("Another answer.".to_owned())
        ]
    );
}

#[tokio::test]
async fn an_answer_to_an_older_question_is_not_taken_for_the_new_one() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    let job = shelf.claim(1, NOW).await.remove(0);
    let lease = job.lease.clone();
    let kept = shelf.store.keep_answer(lease, answer(), settled(), NOW);
    assert!(kept.await.unwrap());
    let next = AfterAttempt::Cancelled;
    let end = refused(AttemptOutcome::Cancelled, Cause::StorageFailed, next);
    shelf.end(&job.lease, end, NOW).await;
    let other = Changes {
        model: Some("claude-haiku-5-5".to_owned()),
        ..Changes::default()
    };
    shelf.put_back(&[1], other).await;
    let job = shelf.claim(9, minutes(5)).await;
    let job = job.iter().find(|job| job.lease.generation == 2).unwrap();
    shelf.fail(&job.lease).await;
    shelf.put_back(&[1], Changes::default()).await;
    let job = shelf.claim(9, minutes(6)).await.remove(0);
    assert_eq!(job.lease.generation, 3);
    assert!(
        shelf.store.kept_answer(job.lease).await.unwrap().is_none(),
        "the first model's answer is not the second one's"
    );
}

#[tokio::test]
async fn dead_letters_are_grouped_by_cause() {
    let shelf = shelf();
    shelf.add(&["one", "two", "six"]).await;
    let claimed = shelf.claim(3, NOW).await;
    for (job, cause) in claimed
        .iter()
        .zip([Cause::TooLarge, Cause::PromptTooLong, Cause::TooLarge])
    {
        let end = refused(AttemptOutcome::Failed, cause, AfterAttempt::Failed);
        shelf.end(&job.lease, end, NOW).await;
    }
    let groups = shelf.store.dead_letters().await.unwrap();
    let counted: Vec<_> = groups
        .iter()
        .map(|group| (group.cause, group.jobs))
        .collect();
    assert_eq!(counted, [(Cause::TooLarge, 2), (Cause::PromptTooLong, 1)]);
    let all = Selection::Matching {
        filter: crate::model::JobFilter {
            cause: Some(Cause::TooLarge),
            ..crate::model::JobFilter::default()
        },
    };
    assert_eq!(
        shelf
            .store
            .redrivable(all, Changes::default())
            .await
            .unwrap()
            .len(),
        2
    );
}

#[tokio::test]
async fn a_batch_is_told_finished_also_when_its_last_job_was_cancelled() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf.finish(&claimed[0].lease, NOW).await;
    let next = AfterAttempt::Cancelled;
    let end = refused(AttemptOutcome::Cancelled, Cause::Interrupted, next);
    shelf.end(&claimed[1].lease, end, NOW).await;
    let told = shelf.store.to_tell(NOW).await.unwrap().batches;
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].done, told[0].failed), (1, 0));
}
