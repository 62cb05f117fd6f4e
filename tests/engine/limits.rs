//! Budget, caps, prices and pauses as a person meets them: nothing starts that must not, and the reason
//! is always said.

use std::time::Duration;

use gistmill_engine::model::{
    BulkAction, CapScope, Cause, JobStatus, ModelPrice, Place, Provider, QueueName, QuietHours,
    Selection, WaitingReason,
};
use gistmill_testkit::fake_claude::{Fault, Reply, Rule};

use crate::support::{House, submission};

/// What one page of the tests' PDFs is reserved at most with the model of the settings, in micro-dollars:
/// 1,600 tokens of the page's picture, a token for each of its few letters, the prompt and the wrapping,
/// 4,096 of the answer.
const ONE_JOB: std::ops::Range<i64> = 66_000..70_000;

#[tokio::test]
async fn a_minute_that_is_used_up_says_so_and_goes_on_by_itself() {
    let house = House::working().await;
    // Room for one answer of 4,096 tokens with its page, not for two.
    house
        .set(|settings| settings.tokens_per_minute = 10_000)
        .await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    let first = house
        .until_status(&submitted.job_ids[0], JobStatus::Completed)
        .await;
    assert!(first.job.input_tokens > 0);
    // What the first did not use is free again: the second may start at once or in a minute.
    house.clock.advance(Duration::from_secs(61));
    let second = house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
    assert_eq!(second.job.attempts, 1, "waiting for budget is no attempt");
}

/// Seed defect 25: waiting for budget used up an attempt.
#[tokio::test]
async fn waiting_for_budget_uses_up_no_attempt() {
    let house = House::working().await;
    house
        .set(|settings| settings.requests_per_minute = Some(1))
        .await;
    let submitted = house.add(&["a.pdf", "b.pdf", "c.pdf"]).await;
    house
        .until_status(&submitted.job_ids[0], JobStatus::Completed)
        .await;
    let waiting = house
        .until(&submitted.job_ids[1], "the budget", |detail| {
            matches!(
                detail.job.waiting,
                Some(WaitingReason::RequestsBudget { .. })
            )
        })
        .await;
    assert_eq!(waiting.job.attempts, 0);
    house
        .until_answer("requests for this minute are used up")
        .await;
    for job_id in &submitted.job_ids[1..] {
        house.clock.advance(Duration::from_secs(61));
        house.until_status(job_id, JobStatus::Completed).await;
    }
    assert_eq!(house.claude.requests().len(), 3);
}

#[tokio::test]
async fn a_day_cap_stops_before_it_is_passed_and_opens_at_midnight() {
    let house = House::working().await;
    house
        .set(|settings| settings.day_cap_micros = Some(100_000))
        .await;
    // The fake answers with few tokens, so that each costs much less than it might have.
    let submitted = house
        .add(&["a.pdf", "b.pdf", "c.pdf", "d.pdf", "e.pdf", "f.pdf"])
        .await;
    let answer = house.until_answer("Today’s cap of $0.10 is reached").await;
    assert!(
        answer.contains("It begins anew in 12 h 0 min"),
        "a cap says when it opens again: {answer}"
    );
    let overview = house.engine.overview().await.unwrap();
    let day = overview.budget.day;
    assert!(
        day.committed_micros() <= 100_000,
        "what is spent and promised stays under the cap: {day:?}"
    );
    let Some(WaitingReason::SpendCap {
        scope: CapScope::Day,
        needed_micros,
        ..
    }) = overview.lanes[0].obstacle
    else {
        panic!("the lane must name the cap: {:?}", overview.lanes[0]);
    };
    assert!(ONE_JOB.contains(&(needed_micros - day.committed_micros())));
    house.clock.advance(Duration::from_secs(12 * 3600));
    house
        .until_status(&submitted.job_ids[3], JobStatus::Completed)
        .await;
}

#[tokio::test]
async fn a_raised_cap_lets_the_next_job_start_at_once() {
    let house = House::working().await;
    house
        .set(|settings| settings.month_cap_micros = Some(1))
        .await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house
        .until_answer("This month’s cap of $0.00 is reached")
        .await;
    assert!(house.claude.requests().is_empty(), "nothing may be sent");
    house.set(|settings| settings.month_cap_micros = None).await;
    house.until_completed(&submitted).await;
}

#[tokio::test]
async fn the_cap_of_a_batch_holds_that_batch_and_no_other() {
    let house = House::working().await;
    let mut capped = submission(QueueName::High, Provider::Claude);
    capped.cap_micros = Some(50_000);
    let dear = house.add_as(&["dear-1.pdf", "dear-2.pdf"], capped).await;
    let other = house.add(&["other/a.pdf", "other/b.pdf"]).await;
    house.until_completed(&other).await;
    let held = house.job(&dear.job_ids[0]).await.job;
    assert!(
        matches!(
            held.waiting,
            Some(WaitingReason::SpendCap {
                scope: CapScope::Batch,
                cap_micros: 50_000,
                ..
            })
        ),
        "{:?}",
        held.waiting
    );
    house
        .until_answer("The batch’s cap of $0.05 is reached")
        .await;
    house
        .engine
        .set_batch_cap(dear.batch_id.clone(), Some(1_000_000))
        .await
        .unwrap();
    house.until_completed(&dear).await;
}

#[tokio::test]
async fn a_model_without_a_price_is_refused_until_there_is_one_or_it_is_free() {
    let house = House::working().await;
    let prompt = |model: &str| {
        let mut wanted = submission(QueueName::High, Provider::Claude);
        wanted.model = Some(model.to_owned());
        house.engine.submit_prompt("Hello".to_owned(), wanted)
    };
    let refused = prompt("claude-preview-6").await.unwrap_err().problem();
    assert!(refused.message.contains("claude-preview-6") && refused.hint.contains("free"));
    let free = ModelPrice {
        model: "claude-preview-6".to_owned(),
        input: 0,
        output: 0,
        cache_write: 0,
        cache_read: 0,
        batch_percent: 100,
        long_prompt: None,
    };
    house.engine.save_price(free).await.unwrap();
    let submitted = prompt("claude-preview-6").await.unwrap();
    let other = prompt("claude-sonnet-4-6").await.unwrap();
    house.until_completed(&submitted).await;
    house.until_completed(&other).await;
    assert_eq!(
        house.job(&submitted.job_ids[0]).await.job.cost_micros,
        Some(0)
    );
    // Queued with a price that is taken away again: held, with the reason, while others go on.
    house
        .engine
        .pause_lane(QueueName::High, true)
        .await
        .unwrap();
    let queued = prompt("claude-preview-6").await.unwrap();
    let behind = prompt("claude-sonnet-4-6").await.unwrap();
    house
        .engine
        .remove_price("claude-preview-6".to_owned())
        .await
        .unwrap();
    house
        .engine
        .pause_lane(QueueName::High, false)
        .await
        .unwrap();
    house.until_completed(&behind).await;
    house
        .until_answer("Nobody knows what claude-preview-6 costs")
        .await;
    assert_eq!(
        house.job(&queued.job_ids[0]).await.job.waiting,
        Some(WaitingReason::PriceUnknown {
            model: "claude-preview-6".to_owned()
        })
    );
}

#[tokio::test]
async fn a_call_whose_end_is_not_known_counts_in_full() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("cut.pdf", Reply::Cut { after_deltas: 1 }).times(1));
    house
        .claude
        .script(Rule::titled("refused.pdf", Reply::fault(Fault::Overloaded)).times(1));
    let submitted = house.add(&["cut.pdf", "refused.pdf"]).await;
    for job_id in &submitted.job_ids {
        house.until_retrying(job_id, 1).await;
    }
    let day = house.engine.overview().await.unwrap().budget.day;
    assert!(
        ONE_JOB.contains(&day.unknown_micros),
        "the one that may have run counts at its worst, the one that was refused not at all: {day:?}"
    );
    assert_eq!((day.settled_micros, day.reserved_micros), (0, 0));
}

#[tokio::test]
async fn bulk_waits_for_its_hours_while_high_goes_on() {
    let house = House::working().await;
    // It is noon.
    let night = QuietHours {
        from_minute: 22 * 60,
        to_minute: 7 * 60,
    };
    house
        .set(|settings| settings.quiet_hours = Some(night))
        .await;
    let bulk = house
        .add_as(
            &["bulk-1.pdf", "bulk-2.pdf"],
            submission(QueueName::Bulk, Provider::Claude),
        )
        .await;
    let high = house.add(&["high/a.pdf", "high/b.pdf"]).await;
    house.until_completed(&high).await;
    house.clock.advance(Duration::from_secs(10));
    let answer = house.until_answer("own hours").await;
    assert!(answer.contains("9 h 59 min"), "{answer}");
    house.clock.advance(Duration::from_secs(10 * 3600));
    house.until_completed(&bulk).await;
}

#[tokio::test]
async fn a_paused_batch_and_a_paused_job_hold_only_themselves() {
    let house = House::working().await;
    let mut wanted = submission(QueueName::High, Provider::Claude);
    wanted.paused = true;
    let batch = house.add_as(&["a.pdf", "b.pdf", "c.pdf"], wanted).await;
    let other = house.add(&["other/a.pdf", "other/b.pdf"]).await;
    house.until_completed(&other).await;
    assert_eq!(
        house.job(&batch.job_ids[0]).await.job.waiting,
        Some(WaitingReason::BatchPaused)
    );
    house.until_answer("batch of the next job is paused").await;
    assert!(house.act(&batch.job_ids[1], BulkAction::Pause).await);
    house
        .engine
        .pause_batch(batch.batch_id.clone(), false)
        .await
        .unwrap();
    for job_id in [&batch.job_ids[0], &batch.job_ids[2]] {
        house.until_status(job_id, JobStatus::Completed).await;
    }
    let held = house.job(&batch.job_ids[1]).await.job;
    assert!(held.paused);
    assert_eq!(held.waiting, Some(WaitingReason::JobPaused));
    assert!(house.act(&batch.job_ids[1], BulkAction::Resume).await);
    house.until_completed(&batch).await;
}

#[tokio::test]
async fn jobs_are_delivered_in_the_order_that_a_person_gives_them() {
    let house = House::working().await;
    house
        .engine
        .pause_lane(QueueName::High, true)
        .await
        .unwrap();
    let submitted = house.add(&["1.pdf", "2.pdf", "3.pdf", "4.pdf"]).await;
    let [one, two, three, four] = &submitted.job_ids[..] else {
        panic!("four jobs were added");
    };
    // 4, 1, 3, 2
    for (job_id, place) in [
        (four, Place::Top),
        (two, Place::Down),
        (one, Place::Up),
        (one, Place::Down),
    ] {
        assert_eq!(
            house
                .engine
                .move_jobs(vec![job_id.clone()], place)
                .await
                .unwrap(),
            1
        );
    }
    house
        .set(|settings| settings.requests_per_minute = Some(1))
        .await;
    house
        .engine
        .pause_lane(QueueName::High, false)
        .await
        .unwrap();
    for (count, job_id) in [four, one, three, two].into_iter().enumerate() {
        house.until_status(job_id, JobStatus::Completed).await;
        assert_eq!(house.claude.requests().len(), count + 1);
        house.clock.advance(Duration::from_secs(61));
    }
}

#[tokio::test]
async fn a_job_moves_to_the_other_lane_and_a_removed_one_is_gone_with_its_result() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let result = house.job(&submitted.job_ids[0]).await.result.unwrap();
    let gone = Selection::one(submitted.job_ids[0].clone());
    let plan = house
        .engine
        .plan_action(gone.clone(), BulkAction::Purge)
        .await
        .unwrap();
    let done = house
        .engine
        .apply_action(gone, BulkAction::Purge)
        .await
        .unwrap();
    assert_eq!((plan.jobs, done), (1, plan));
    assert!(
        house
            .engine
            .job(submitted.job_ids[0].clone())
            .await
            .is_err()
    );
    assert!(
        !std::path::Path::new(&result.path).exists(),
        "a removed job leaves no stored result behind"
    );
    let spent = house
        .engine
        .overview()
        .await
        .unwrap()
        .budget
        .day
        .settled_micros;
    assert!(spent > 0, "what it cost stays spent");

    house
        .engine
        .pause_lane(QueueName::High, true)
        .await
        .unwrap();
    let moved = house.add(&["c/c.pdf", "c/d.pdf"]).await;
    let to_bulk = BulkAction::MoveTo {
        queue: QueueName::Bulk,
    };
    assert!(house.act(&moved.job_ids[0], to_bulk).await);
    house
        .until_status(&moved.job_ids[0], JobStatus::Completed)
        .await;
    assert_eq!(
        house.job(&moved.job_ids[1]).await.job.waiting,
        Some(WaitingReason::QueuePaused)
    );
}

#[tokio::test]
async fn a_told_limit_holds_all_jobs_of_the_model_not_one_after_the_other() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("a.pdf", Reply::fault(Fault::RateLimited)).times(1));
    let first = house.add(&["a.pdf"]).await;
    house.until_retrying(&first.job_ids[0], 1).await;
    let later = house.add(&["b/b.pdf", "b/c.pdf"]).await;
    for job_id in &later.job_ids {
        house
            .until(job_id, "the limit that was told", |detail| {
                matches!(detail.job.waiting, Some(WaitingReason::TokenBudget { .. }))
            })
            .await;
    }
    assert_eq!(
        house.claude.requests().len(),
        1,
        "who comes next would only be refused, too"
    );
    house.clock.advance(Duration::from_secs(8));
    house.until_completed(&later).await;
}

#[tokio::test]
async fn a_circuit_that_can_heal_sends_one_job_to_see() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::always(Reply::fault(Fault::CreditTooLow)).times(2));
    let submitted = house.add(&["a.pdf", "b.pdf", "c.pdf"]).await;
    for job_id in &submitted.job_ids {
        house
            .until(job_id, "an open circuit", |detail| {
                detail.job.waiting
                    == Some(WaitingReason::CircuitOpen {
                        cause: Cause::CreditExhausted,
                    })
            })
            .await;
    }
    let sent = house.claude.all_requests().len();
    house
        .claude
        .script(Rule::always(Reply::fault(Fault::CreditTooLow)).times(1));
    house.clock.advance(Duration::from_secs(15 * 60 + 1));
    house
        .until(&submitted.job_ids[0], "a second refusal", |detail| {
            detail.attempts.len() == 2 && detail.job.status == JobStatus::Pending
        })
        .await;
    house.clock.advance(Duration::from_secs(60));
    assert_eq!(
        house.claude.all_requests().len(),
        sent + 1,
        "one job sees whether there is credit again, not all of them"
    );
    house.clock.advance(Duration::from_secs(30 * 60));
    house.until_completed(&submitted).await;
    for job_id in &submitted.job_ids {
        assert_eq!(
            house.job(job_id).await.job.attempts,
            1,
            "an empty account uses up no attempts"
        );
    }
}
