//! The budget of a minute, case by case: large jobs, told limits, restarts, and clocks that go back.

use super::support::*;
use crate::model::{BulkAction, JobStatus, QueueName, Timestamp, ToldLimits, WaitingReason};
use crate::store::{NewBatch, Store};

/// Seed defect 23: what is no number leaves the budget as it was, and lets nothing more through.
#[tokio::test]
async fn a_setting_that_is_no_number_does_not_lift_the_budget() {
    for nonsense in ["\"abc\"", "-5", "null", "1e99"] {
        let shelf = shelf();
        shelf.set(|settings| settings.tokens_per_minute = 1).await;
        let stored = nonsense.to_owned();
        let write = move |connection: &rusqlite::Connection| {
            let sql = "UPDATE settings SET value = ?1 WHERE name = 'tokensPerMinute'";
            Ok(connection.execute(sql, [&stored])?)
        };
        assert_eq!(shelf.store.write(write).await.unwrap(), 1);
        let large = NewBatch {
            max_tokens: 128_000,
            ..batch(&["one", "two", "six", "ten"])
        };
        shelf.submit(large, NOW).await;
        assert_eq!(
            shelf.claim(9, NOW).await.len(),
            3,
            "{nonsense}: 400,000 tokens hold"
        );
    }
}

/// Seed defect 24: what is larger than a minute runs alone, and never loops.
#[tokio::test]
async fn an_oversized_job_runs_alone_and_blocks_nobody() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.tokens_per_minute = 5_000)
        .await;
    let small = shelf.add(&["one"]).await;
    assert_eq!(shelf.claim(9, NOW).await.len(), 1);
    let large = NewBatch {
        max_tokens: 50_000,
        ..batch(&["large", "larger"])
    };
    let large = shelf.submit(large, NOW).await;
    let more = shelf.add(&["two", "six"]).await;
    let claimed: Vec<_> = shelf
        .claim(9, seconds(1))
        .await
        .into_iter()
        .map(|job| job.lease.job_id)
        .collect();
    assert_eq!(claimed, more, "the small ones behind them go on");
    assert!(!claimed.contains(&small[0]));
    assert!(
        shelf.claim(9, seconds(60)).await.is_empty(),
        "the minute is in use"
    );
    let outlook = shelf.store.outlook(local(seconds(60))).await.unwrap();
    assert_eq!(
        outlook.lanes[0].obstacle,
        Some(WaitingReason::LargerThanBudget)
    );
    let free_at = tenths(611);
    assert_eq!(outlook.wake_at, Some(free_at));
    assert!(shelf.claim(9, Timestamp(free_at.0 - 1)).await.is_empty());
    let alone = shelf.claim(9, free_at).await;
    assert_eq!(alone.len(), 1, "alone");
    assert_eq!(alone[0].lease.job_id, large[0]);
    shelf.submit(batch(&["ten", "red"]), seconds(63)).await;
    assert!(shelf.claim(9, seconds(63)).await.is_empty());
    shelf
        .end(&alone[0].lease, retry_at(minutes(5)), seconds(64))
        .await;
    let job = shelf.look_at(&large[1], seconds(64)).await.job;
    assert_eq!((job.status, job.attempts), (JobStatus::Pending, 0));
}

#[tokio::test]
async fn many_oversized_jobs_hide_none_of_those_behind_them() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.tokens_per_minute = 5_000)
        .await;
    shelf.add(&["one"]).await;
    shelf.claim(1, NOW).await;
    let prompts = vec!["large"; 300];
    let large = NewBatch {
        max_tokens: 50_000,
        ..batch(&prompts)
    };
    shelf.submit(large, NOW).await;
    shelf.add(&["two", "six"]).await;
    assert_eq!(shelf.claim(9, seconds(1)).await.len(), 2);
}

/// Seed defect 25: waiting for budget uses up no attempt.
#[tokio::test]
async fn waiting_uses_no_attempts_and_says_how_long_in_whole_seconds() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(1))
        .await;
    let added = shelf.add(&["one", "two"]).await;
    assert_eq!(shelf.claim(9, Timestamp(NOW.0 + 123)).await.len(), 1);
    for second in 1..60 {
        assert!(
            shelf
                .claim(9, Timestamp(seconds(second).0 + 457))
                .await
                .is_empty()
        );
    }
    let job = shelf.look_at(&added[1], seconds(30)).await.job;
    assert_eq!((job.status, job.attempts), (JobStatus::Pending, 0));
    let Some(WaitingReason::RequestsBudget { until }) = job.waiting else {
        panic!("{:?}", job.waiting);
    };
    assert_eq!(until.0 % 1_000, 0, "whole seconds");
    let outlook = shelf.store.outlook(local(seconds(30))).await.unwrap();
    let free_at = outlook.wake_at.unwrap();
    assert!(
        (until.0 - 1_000..=until.0).contains(&free_at.0),
        "it goes on at {free_at:?}, within the second that is said: {until:?}"
    );
    assert!(shelf.claim(9, Timestamp(free_at.0 - 1)).await.is_empty());
    assert_eq!(shelf.claim(9, free_at).await.len(), 1);
}

#[tokio::test]
async fn told_limits_tighten_and_never_loosen() {
    for (told, expected) in [(1_600, 1), (1_000_000, 3)] {
        let shelf = shelf();
        shelf
            .set(|settings| settings.input_tokens_per_minute = Some(5_000))
            .await;
        let long = "a ".repeat(2_000);
        shelf.add(&[long.as_str(); 5]).await;
        let limits = ToldLimits {
            input_tokens: Some(told),
            ..ToldLimits::default()
        };
        let noted = shelf
            .store
            .note_limits(SONNET.to_owned(), Some(limits), None, NOW);
        noted.await.unwrap();
        assert_eq!(shelf.claim(9, NOW).await.len(), expected, "told {told}");
        let limit = shelf
            .store
            .overview(local(NOW))
            .await
            .unwrap()
            .budget
            .input_tokens
            .limit;
        assert_eq!(limit, Some(told.min(5_000)));
    }
}

#[tokio::test]
async fn a_model_that_wants_no_more_holds_up_no_other_lane() {
    for (held_lane, free_lane) in [
        (QueueName::High, QueueName::Bulk),
        (QueueName::Bulk, QueueName::High),
    ] {
        let shelf = shelf();
        shelf.set(|settings| settings.bulk_floor = 1).await;
        let held = NewBatch {
            queue: held_lane,
            ..batch(&["one", "two"])
        };
        shelf.submit(held, NOW).await;
        let free = NewBatch {
            queue: free_lane,
            model: "claude-haiku-5-5".to_owned(),
            ..batch(&["six", "ten"])
        };
        let free = shelf.submit(free, NOW).await;
        let noted = shelf
            .store
            .note_limits(SONNET.to_owned(), None, Some(minutes(9)), NOW);
        noted.await.unwrap();
        let claimed = shelf.claim(9, seconds(5)).await;
        assert_eq!(claimed.len(), 2, "{free_lane:?} goes on");
        assert!(claimed.iter().all(|job| free.contains(&job.lease.job_id)));
    }
}

#[tokio::test]
async fn what_needs_no_budget_does_not_wait_behind_what_does() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(1))
        .await;
    shelf.add(&["one", "two", "six", "ten", "red", "sea"]).await;
    let free = NewBatch {
        provider: crate::model::Provider::Offline,
        ..batch(&["free", "freer"])
    };
    shelf.submit(free, NOW).await;
    let claimed = shelf.claim(9, NOW).await;
    let titles: Vec<_> = claimed.iter().map(|job| job.title.as_str()).collect();
    assert_eq!(titles, ["one", "free", "freer"]);
}

#[tokio::test]
async fn while_it_is_bulks_turn_high_says_what_it_waits_for() {
    let shelf = shelf();
    shelf
        .set(|settings| {
            settings.bulk_floor = 1;
            settings.tokens_per_minute = 10_000;
        })
        .await;
    let added = shelf.add(&["one", "two"]).await;
    shelf.claim(1, NOW).await;
    let large = NewBatch {
        queue: QueueName::Bulk,
        max_tokens: 9_500,
        ..batch(&["large", "larger"])
    };
    shelf.submit(large, NOW).await;
    assert!(
        shelf.claim(9, seconds(5)).await.is_empty(),
        "it is bulk's turn"
    );
    let outlook = shelf.store.outlook(local(seconds(5))).await.unwrap();
    let until = seconds(61);
    for lane in &outlook.lanes {
        assert_eq!(lane.obstacle, Some(WaitingReason::TokenBudget { until }));
    }
    assert_eq!(
        outlook.wake_at,
        Some(tenths(601)),
        "nothing waits for the end of a second"
    );
    let job = shelf.look_at(&added[1], seconds(5)).await.job;
    assert_eq!(job.waiting, Some(WaitingReason::TokenBudget { until }));
    assert_eq!(shelf.claim(9, until).await[0].queue, QueueName::Bulk);
}

/// Seed defect 38: the windows outlive the program.
#[tokio::test]
async fn a_restart_keeps_the_window() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(2))
        .await;
    shelf.add(&["one", "two", "six", "ten"]).await;
    assert_eq!(shelf.claim(9, NOW).await.len(), 2);
    let again = Shelf {
        store: Store::open(&shelf.folder.path().join("gistmill.db")).unwrap(),
        folder: shelf.folder,
    };
    again.store.recover_interrupted(seconds(1)).await.unwrap();
    assert!(again.claim(9, seconds(60)).await.is_empty());
    assert_eq!(again.claim(9, tenths(601)).await.len(), 2);
}

#[tokio::test]
async fn a_clock_that_goes_back_an_hour_lets_no_more_through_and_stalls_nothing() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.requests_per_minute = Some(2))
        .await;
    shelf.add(&["one", "two", "six", "ten", "red"]).await;
    let claimed = shelf.claim(2, NOW).await;
    shelf
        .end(&claimed[0].lease, retry_at(seconds(30)), NOW)
        .await;
    let noted = shelf
        .store
        .note_limits(SONNET.to_owned(), None, Some(seconds(20)), NOW);
    noted.await.unwrap();
    let back = |count| Timestamp(seconds(count).0 - 3_600_000);
    for second in 0..61 {
        assert!(
            shelf.claim(9, back(second)).await.is_empty(),
            "{second} s after it went back, two calls are not a minute ago"
        );
    }
    let claimed_later = shelf.claim(9, back(61)).await;
    assert_eq!(claimed_later.len(), 2, "and a minute later there is room");
    shelf.act(&[], BulkAction::RunNow, back(62)).await;
    let rest = shelf.claim(9, back(122)).await;
    assert_eq!(rest.len(), 2, "the retry waits as long as it would have");
    // What is settled now is of no second that is to come.
    shelf.finish(&claimed[1].lease, back(122)).await;
}

#[tokio::test]
async fn a_call_from_before_the_clock_went_back_takes_nothing_from_another_ones_second() {
    let shelf = shelf();
    shelf.add(&["one", "two", "six"]).await;
    let late = shelf.claim(1, NOW).await.remove(0).lease;
    shelf.store.recover_interrupted(NOW).await.unwrap();
    let back = Timestamp(NOW.0 - 3_600_000);
    assert_eq!(shelf.work(1, back).await[0], late.job_id);
    // The clock comes to the second of the first call once more.
    assert_eq!(shelf.claim(1, NOW).await.len(), 1);
    let kept = shelf
        .store
        .keep_answer(late, answer(), settled(), seconds(1));
    assert!(!kept.await.unwrap());
    let promised: i64 = shelf
        .ask("SELECT input_tokens + output_tokens FROM usage_tenths WHERE tenth = 17959536000")
        .await;
    assert_eq!(
        promised, 1_201,
        "what the second call was promised is still in use"
    );
}
