//! What a person does to jobs: what was counted before is what happens.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use rusqlite::Connection;

use super::support::*;
use crate::model::{
    Affected, AttemptOutcome, BatchId, BulkAction, Cause, JobFilter, JobId, JobStatus, JobsShown,
    Provider, QueueName, Selection, WaitingReason,
};
use crate::store::actions::{self, Purge};
use crate::store::{AfterAttempt, NewBatch, answers, complete, finish, open, submit, turns};

/// Stores jobs in every state that a person can meet.
fn furnish(connection: &Connection) {
    for (number, queue) in [QueueName::High, QueueName::Bulk, QueueName::High]
        .into_iter()
        .enumerate()
    {
        let mut batch = NewBatch {
            batch_id: BatchId(format!("batch-{number}")),
            queue,
            ..batch(&[
                "report one",
                "lease two",
                "report 2026",
                "letter",
                "lease 100%",
            ])
        };
        for (place, job) in batch.jobs.iter_mut().enumerate() {
            job.job_id = JobId(format!("job-{number}-{place}"));
        }
        submit::insert(connection, &batch, NOW).unwrap();
    }
    let claimed = turns::claim(connection, &request(8, minutes(1))).unwrap();
    let ends = [
        (AfterAttempt::Failed, Cause::InvalidRequest),
        (AfterAttempt::DeadLettered, Cause::Overloaded),
        (AfterAttempt::RetryAt(minutes(5)), Cause::TimedOut),
        (AfterAttempt::Cancelled, Cause::Interrupted),
    ];
    for (job, (next, cause)) in claimed.iter().zip(ends) {
        let end = refused(AttemptOutcome::Retryable, cause, next);
        let provider = Provider::Claude;
        assert!(finish::end_attempt(connection, &job.lease, provider, &end, minutes(2)).unwrap());
    }
    let done = &claimed[4].lease;
    answers::keep_answer(connection, done, &answer(), settled(), minutes(2)).unwrap();
    complete::complete(connection, done, &result(&done.job_id), minutes(2)).unwrap();
}

fn selection() -> impl Strategy<Value = Selection> {
    let shown = select(
        &[
            JobsShown::All,
            JobsShown::Running,
            JobsShown::Waiting,
            JobsShown::DeadLetters,
            JobsShown::Done,
            JobsShown::Cancelled,
        ][..],
    );
    let text = select(
        &[
            None,
            None,
            Some("report"),
            Some("lea"),
            Some("2026"),
            Some("%"),
            Some("met"),
            Some("\"'"),
        ][..],
    );
    let filter = (
        shown,
        select(&[None, None, Some(QueueName::High), Some(QueueName::Bulk)][..]),
        select(&[None, None, Some("batch-0"), Some("batch-1"), Some("gone")][..]),
        select(&[None, None, Some(Cause::Overloaded), Some(Cause::TimedOut)][..]),
        text,
    )
        .prop_map(|(shown, queue, batch, cause, text)| Selection::Matching {
            filter: JobFilter {
                shown,
                queue,
                batch_id: batch.map(|batch| BatchId(batch.to_owned())),
                cause,
                text: text.map(str::to_owned),
                ..JobFilter::default()
            },
        });
    let jobs =
        proptest::collection::vec((0..4_u8, 0..6_u8), 0..6).prop_map(|picked| Selection::Jobs {
            job_ids: picked
                .iter()
                .map(|(batch, place)| JobId(format!("job-{batch}-{place}")))
                .collect(),
        });
    prop_oneof![3 => filter, 1 => jobs]
}

fn action() -> impl Strategy<Value = BulkAction> {
    prop_oneof![
        Just(BulkAction::RunNow),
        Just(BulkAction::Cancel),
        Just(BulkAction::Pause),
        Just(BulkAction::Resume),
        select(&QueueName::ALL[..]).prop_map(|queue| BulkAction::MoveTo { queue }),
        Just(BulkAction::MarkReviewed),
        Just(BulkAction::UnmarkReviewed),
        Just(BulkAction::Purge),
    ]
}

/// Returns every job as it is, so that what changed can be counted.
fn snapshot(connection: &Connection) -> Vec<(String, String)> {
    let mut statement = connection
        .prepare_cached(
            "SELECT job_id, status || queue || available_at || held || cancel_requested FROM jobs",
        )
        .unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.unwrap().collect::<rusqlite::Result<_>>().unwrap()
}

fn counted_is_done(
    connection: &Connection,
    steps: &[(Selection, BulkAction)],
) -> Result<(), TestCaseError> {
    connection.execute_batch("BEGIN").unwrap();
    furnish(connection);
    for (selection, action) in steps {
        let before = snapshot(connection);
        let planned = actions::count(connection, selection, *action, minutes(3)).unwrap();
        let told = if *action == BulkAction::Purge {
            let purge = Purge::Selected(selection.clone());
            let mut removed = 0;
            loop {
                let part = actions::purge_some(connection, &purge, i64::MAX, 2).unwrap();
                removed += part.jobs;
                if part.jobs == 0 {
                    break removed;
                }
            }
        } else {
            let (_, ids) = actions::apply(connection, selection, *action, minutes(3)).unwrap();
            ids.len() as u64
        };
        let after = snapshot(connection);
        let changed = before.iter().filter(|job| !after.contains(job)).count() as u64;
        prop_assert_eq!(planned.jobs, told, "{:?} of {:?}", action, selection);
        prop_assert_eq!(planned.jobs, changed, "{:?} of {:?}", action, selection);
    }
    connection.execute_batch("ROLLBACK").unwrap();
    Ok(())
}

/// Seed defect 36: there is cancelling, pausing and removing, and each is counted before it is done.
#[test]
fn what_is_counted_first_is_what_changes() {
    let folder = tempfile::tempdir().unwrap();
    let connection = open::writer(&folder.path().join("gistmill.db")).unwrap();
    let config = Config {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..Config::default()
    };
    let steps = proptest::collection::vec((selection(), action()), 1..8);
    let connection = std::cell::RefCell::new(connection);
    let ran = TestRunner::new(config).run(&steps, |steps| {
        let connection = connection.borrow();
        let outcome = counted_is_done(&connection, &steps);
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK").unwrap();
        }
        outcome
    });
    if let Err(failure) = ran {
        panic!("{failure}");
    }
}

#[tokio::test]
async fn a_job_that_another_program_called_off_is_not_delivered_again() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two", "six"]).await;
    let claimed = shelf.claim(2, NOW).await;
    let affected = shelf
        .act(&[&added[0], &added[1], &added[2]], BulkAction::Cancel, NOW)
        .await;
    assert_eq!(affected.jobs, 3);
    // The attempts end before the consumer heard of it.
    shelf
        .end(&claimed[0].lease, retry_at(minutes(1)), NOW)
        .await;
    shelf
        .end(&claimed[1].lease, tripped(Cause::Offline), NOW)
        .await;
    for job_id in &added {
        assert_eq!(shelf.look(job_id).await.job.status, JobStatus::Cancelled);
    }
    assert!(shelf.claim(9, minutes(60)).await.is_empty());
}

#[tokio::test]
async fn cancelling_twice_changes_nothing_more() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    shelf.claim(1, NOW).await;
    let both = [&added[0], &added[1]];
    assert_eq!(shelf.act(&both, BulkAction::Cancel, NOW).await.jobs, 2);
    let again = shelf.act(&both, BulkAction::Cancel, NOW).await;
    assert_eq!(
        again,
        Affected {
            jobs: 0,
            unchanged: 2
        }
    );
}

#[tokio::test]
async fn a_paused_job_waits_also_after_its_attempt() {
    let shelf = shelf();
    let added = shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(1, NOW).await;
    shelf
        .act(&[&added[0], &added[1]], BulkAction::Pause, NOW)
        .await;
    shelf.end(&claimed[0].lease, retry_at(NOW), NOW).await;
    assert!(shelf.claim(9, minutes(1)).await.is_empty());
    for job_id in &added {
        let job = shelf.look(job_id).await.job;
        assert_eq!(job.waiting, Some(WaitingReason::JobPaused));
    }
    shelf.act(&[&added[1]], BulkAction::Resume, NOW).await;
    assert_eq!(shelf.claim(9, minutes(1)).await.len(), 1);
}

#[tokio::test]
async fn a_paused_batch_holds_what_runs_when_it_comes_back_and_what_is_redriven() {
    let shelf = shelf();
    let new = batch(&["one", "two", "six"]);
    let batch_id = new.batch_id.clone();
    let added = shelf.submit(new, NOW).await;
    let claimed = shelf.claim(2, NOW).await;
    assert!(
        shelf
            .store
            .pause_batch(batch_id.clone(), true)
            .await
            .unwrap()
    );
    shelf.end(&claimed[0].lease, retry_at(NOW), NOW).await;
    let failed = refused(
        AttemptOutcome::Failed,
        Cause::InvalidRequest,
        AfterAttempt::Failed,
    );
    shelf.end(&claimed[1].lease, failed, NOW).await;
    let put_back = shelf
        .store
        .redrive(vec![2], crate::store::Changes::default(), NOW);
    assert_eq!(put_back.await.unwrap(), [added[1].clone()]);
    assert!(shelf.claim(9, minutes(1)).await.is_empty());
    assert!(shelf.store.pause_batch(batch_id, false).await.unwrap());
    assert_eq!(shelf.claim(9, minutes(1)).await.len(), 3);
}
