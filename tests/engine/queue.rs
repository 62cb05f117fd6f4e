//! The queue as a person meets it: nothing lost, nothing done twice, and a reason for everything.

use std::time::Duration;

use gistmill_engine::model::{
    AttemptOutcome, BulkAction, Cause, JobFilter, JobStatus, JobsShown, Provider, QueueName,
    RetryChanges, Selection, WaitingReason,
};
use gistmill_testkit::fake_claude::{Fault, Reply, Rule};

use crate::support::{House, submission};

/// Seed defect 29: every PDF was lost without a word.
#[tokio::test]
async fn pdfs_come_out_as_stored_summaries() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    for job_id in &submitted.job_ids {
        let detail = house.until_status(job_id, JobStatus::Completed).await;
        let result = detail.result.expect("a completed job has a result");
        let on_disk = std::fs::read_to_string(&result.path).unwrap();
        assert!(
            on_disk.starts_with(&result.markdown),
            "the window shows what is stored"
        );
        assert_eq!(detail.attempts.len(), 1);
        assert_eq!(detail.attempts[0].outcome, AttemptOutcome::Completed);
        assert!(detail.job.input_tokens > 0 && detail.job.cost_micros.unwrap() > 0);
    }
    let sent: Vec<_> = house
        .claude
        .requests()
        .iter()
        .map(|request| request.documents[0].sha256.clone())
        .collect();
    for job_id in &submitted.job_ids {
        let sha256 = house.job(job_id).await.document.unwrap().sha256;
        assert!(
            sent.contains(&sha256.0),
            "the bytes of each PDF must arrive whole"
        );
    }
}

#[tokio::test]
async fn a_retry_waits_as_long_as_it_was_told_and_then_succeeds() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("slow.pdf", Reply::fault(Fault::RateLimited)).times(1));
    let submitted = house.add(&["slow.pdf", "quick.pdf"]).await;
    let [slow, quick] = [&submitted.job_ids[0], &submitted.job_ids[1]];
    house.until_status(quick, JobStatus::Completed).await;
    let waiting = house.until_retrying(slow, 1).await;
    assert!(
        matches!(
            waiting.job.waiting,
            Some(WaitingReason::Retrying {
                cause: Some(Cause::RateLimited),
                ..
            })
        ),
        "the person must see why and until when it waits: {:?}",
        waiting.job.waiting
    );
    let attempt = &waiting.attempts[0];
    assert_eq!(
        (attempt.outcome, attempt.http_status),
        (AttemptOutcome::Retryable, Some(429))
    );
    assert_eq!(attempt.told_to_wait_ms, Some(7_000));
    house.clock.advance(Duration::from_secs(73));
    let done = house.until_status(slow, JobStatus::Completed).await;
    assert_eq!(
        done.attempts.len(),
        2,
        "history is kept: one retryable, one completed"
    );
}

#[tokio::test]
async fn run_now_skips_the_countdown() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("a.pdf", Reply::fault(Fault::Overloaded)).times(1));
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    let job_id = submitted.job_ids[0].clone();
    house.until_retrying(&job_id, 1).await;
    assert!(house.act(&job_id, BulkAction::RunNow).await);
    house.until_status(&job_id, JobStatus::Completed).await;
}

/// Seed defect 3 and 8: each delivery called up to three times; what failed for good was told to nobody.
#[tokio::test]
async fn retries_that_are_used_up_dead_letter_with_the_last_real_error_and_one_notification() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("bad", Reply::fault(Fault::Overloaded)));
    let submitted = house.add(&["bad-1.pdf", "bad-2.pdf", "good.pdf"]).await;
    house
        .until_status(&submitted.job_ids[2], JobStatus::Completed)
        .await;
    for attempts in 1..=5 {
        for job_id in &submitted.job_ids[..2] {
            house.until_retrying(job_id, attempts).await;
        }
        house.clock.advance(Duration::from_secs(721));
    }
    for job_id in &submitted.job_ids[..2] {
        let dead = house.until_status(job_id, JobStatus::DeadLettered).await;
        assert_eq!(
            dead.attempts.len(),
            6,
            "one delivery and five retries on the high queue"
        );
        assert_eq!(
            dead.job.cause,
            Some(Cause::Overloaded),
            "the last real error must be kept"
        );
    }
    // The deliverer looks again at the latest after its own interval.
    house.clock.advance(Duration::from_secs(61));
    house.engine.shutdown().await;
    let told = house.person.0.lock().unwrap();
    let about_failures: usize = told
        .iter()
        .filter(|notification| format!("{notification:?}").contains("failed"))
        .count();
    assert!(
        (1..=2).contains(&about_failures),
        "failures are told together, not one by one: {told:?}"
    );
}

#[tokio::test]
async fn a_redrive_runs_again_with_the_original_input_and_keeps_the_history() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("a.pdf", Reply::fault(Fault::PdfPasswordProtected)).times(1));
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    let job_id = submitted.job_ids[0].clone();
    let failed = house.until_status(&job_id, JobStatus::Failed).await;
    assert_eq!(failed.job.cause, Some(Cause::PdfEncrypted));
    let dead = JobFilter {
        shown: JobsShown::DeadLetters,
        ..JobFilter::default()
    };
    let dead = Selection::Matching { filter: dead };
    let changes = RetryChanges::default();
    let plan = house
        .engine
        .plan_retry(dead.clone(), changes.clone())
        .await
        .unwrap();
    assert_eq!(plan.would_run, 1, "the dry run counts what is done then");
    assert_eq!(house.engine.retry(dead, changes).await.unwrap().jobs, 1);
    let done = house.until_status(&job_id, JobStatus::Completed).await;
    assert_eq!(done.job.attempts, 1, "attempts restart");
    assert_eq!(
        done.attempts
            .iter()
            .map(|attempt| attempt.generation)
            .collect::<Vec<_>>(),
        [2, 1],
        "history stays"
    );
    assert_eq!(
        house.retry(vec![job_id]).await,
        0,
        "a completed job is not bought again"
    );
}

#[tokio::test]
async fn a_wrong_key_holds_all_jobs_without_using_up_attempts_until_a_right_one_comes() {
    let house = House::idle().await;
    house
        .engine
        .save_key("sk-ant-wrong-0123456789".to_owned(), false)
        .await
        .unwrap();
    house
        .claude
        .script(Rule::always(Reply::fault(Fault::Authentication)).times(2));
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.start().await;
    for job_id in &submitted.job_ids {
        let held = house
            .until(job_id, "an open circuit", |detail| {
                matches!(
                    detail.job.waiting,
                    Some(WaitingReason::CircuitOpen {
                        cause: Cause::KeyRefused
                    })
                )
            })
            .await;
        assert_eq!(
            held.job.attempts, 0,
            "a bad key must not use up a job's attempts"
        );
    }
    let overview = house.engine.overview().await.unwrap();
    assert!(
        overview.answer.unwrap().contains("key"),
        "the reason must be said in a sentence"
    );
    house
        .engine
        .save_key("sk-ant-right-0123456789".to_owned(), false)
        .await
        .unwrap();
    house.until_completed(&submitted).await;
}

#[tokio::test]
async fn a_missing_key_is_said_before_anything_is_sent_and_offline_jobs_go_on() {
    let house = House::idle().await;
    let anthropic = "https://api.anthropic.com".to_owned();
    let settings = house.engine.settings().await.unwrap();
    house
        .engine
        .save_settings(gistmill_engine::model::Settings {
            base_url: Some(anthropic),
            ..settings
        })
        .await
        .unwrap();
    let claude = house.add(&["a.pdf"]).await;
    let offline = house
        .submit(house.put_pdfs(&["b.pdf"]), Provider::Offline)
        .await;
    house.start().await;
    house
        .until_status(&offline.job_ids[0], JobStatus::Completed)
        .await;
    let held = house
        .until(&claude.job_ids[0], "an open circuit", |detail| {
            matches!(
                detail.job.waiting,
                Some(WaitingReason::CircuitOpen {
                    cause: Cause::KeyMissing
                })
            )
        })
        .await;
    assert_eq!(held.job.attempts, 0);
    assert!(
        house.claude.all_requests().is_empty(),
        "nothing may be sent without a key"
    );
}

#[tokio::test]
async fn passing_troubles_of_the_connection_are_retried_and_the_other_jobs_go_on() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("cut", Reply::Cut { after_deltas: 2 }).times(1));
    house.claude.script(
        Rule::titled(
            "event",
            Reply::ErrorEvent {
                after_deltas: 1,
                error: serde_json::json!({ "type": "overloaded_error", "message": "Overloaded" }),
            },
        )
        .times(1),
    );
    let submitted = house.add(&["cut.pdf", "event.pdf", "fine.pdf"]).await;
    house
        .until_status(&submitted.job_ids[2], JobStatus::Completed)
        .await;
    let cut = house.until_retrying(&submitted.job_ids[0], 1).await;
    assert_eq!(cut.job.cause, Some(Cause::StreamCut));
    assert_eq!(
        cut.job.cost_micros, None,
        "a call that was cut off may be billed: its cost is unknown"
    );
    let event = house.until_retrying(&submitted.job_ids[1], 1).await;
    assert_eq!(event.job.cause, Some(Cause::Overloaded));
    house.clock.advance(Duration::from_secs(73));
    house.until_completed(&submitted).await;
}

#[tokio::test]
async fn without_a_network_jobs_wait_uncounted_and_go_on_by_themselves() {
    let house = House::working().await;
    let settings = house.engine.settings().await.unwrap();
    // Nothing listens on the discard port of this machine.
    house
        .set(|settings| settings.base_url = Some("http://127.0.0.1:9".to_owned()))
        .await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    for job_id in &submitted.job_ids {
        let waiting = house
            .until(job_id, "an offline circuit", |detail| {
                matches!(detail.job.waiting, Some(WaitingReason::Offline { .. }))
            })
            .await;
        assert_eq!(
            waiting.job.attempts, 0,
            "a network that is gone must not use up attempts"
        );
        assert_eq!(
            waiting.job.cost_micros,
            Some(0),
            "what never arrived costs nothing"
        );
    }
    assert!(
        house
            .until_answer("Check the network")
            .await
            .contains("tried again in")
    );
    // A probe that fails keeps the circuit open, for longer.
    house.clock.advance(Duration::from_secs(16));
    house
        .until(&submitted.job_ids[0], "a second try", |detail| {
            detail.attempts.len() == 2 && detail.job.status == JobStatus::Pending
        })
        .await;
    assert_eq!(
        house.job(&submitted.job_ids[1]).await.attempts.len(),
        1,
        "one job sees whether the network is back, the others wait"
    );
    house.engine.save_settings(settings).await.unwrap();
    house.until_completed(&submitted).await;
}

/// Seed defect 35: cut-off and declined answers counted as completed.
#[tokio::test]
async fn cut_off_and_refused_answers_need_a_review_and_are_kept() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("long", Reply::stopped("max_tokens")));
    house
        .claude
        .script(Rule::titled("refused", Reply::refusal()));
    let submitted = house.add(&["long.pdf", "refused.pdf"]).await;
    let long = house
        .until_status(&submitted.job_ids[0], JobStatus::NeedsReview)
        .await;
    assert_eq!(long.job.cause, Some(Cause::CutOff));
    assert!(
        !long.result.unwrap().markdown.is_empty(),
        "what came is kept"
    );
    let refused = house
        .until_status(&submitted.job_ids[1], JobStatus::NeedsReview)
        .await;
    assert_eq!(refused.job.cause, Some(Cause::Declined));
}

#[tokio::test]
async fn a_paid_answer_whose_result_could_not_be_stored_is_published_later_not_bought_again() {
    let house = House::working().await;
    // A file where the library's folder should be: works for root too, unlike permissions.
    let library = house.folder.path().join("data/results");
    std::fs::remove_dir_all(&library).unwrap();
    std::fs::write(&library, "in the way").unwrap();
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    for job_id in &submitted.job_ids {
        let waiting = house
            .until(job_id, "a storage circuit", |detail| {
                matches!(
                    detail.job.waiting,
                    Some(WaitingReason::CircuitOpen {
                        cause: Cause::StorageFailed
                    })
                )
            })
            .await;
        assert_eq!(waiting.job.attempts, 0, "a full disk uses up no attempt");
    }
    house.until_answer("Free disk space").await;
    std::fs::remove_file(&library).unwrap();
    std::fs::create_dir(&library).unwrap();
    let spent: Vec<_> = house
        .jobs()
        .await
        .iter()
        .map(|job| job.cost_micros)
        .collect();
    house.clock.advance(Duration::from_secs(73));
    house.until_completed(&submitted).await;
    assert_eq!(
        house.claude.requests().len(),
        2,
        "each answer is bought once"
    );
    let after: Vec<_> = house
        .jobs()
        .await
        .iter()
        .map(|job| job.cost_micros)
        .collect();
    assert_eq!(after, spent, "publishing costs nothing");
}

#[tokio::test]
async fn high_goes_before_bulk_and_a_paused_lane_holds_only_itself() {
    let house = House::idle().await;
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    let bulk = house
        .add_as(
            &["bulk-1.pdf", "bulk-2.pdf"],
            submission(QueueName::Bulk, Provider::Claude),
        )
        .await;
    let high = house.add(&["high.pdf"]).await;
    house
        .engine
        .pause_lane(QueueName::Bulk, true)
        .await
        .unwrap();
    house.start().await;
    house
        .until_status(&high.job_ids[0], JobStatus::Completed)
        .await;
    house.clock.advance(Duration::from_secs(6));
    let held = house.job(&bulk.job_ids[0]).await.job;
    assert_eq!(held.waiting, Some(WaitingReason::QueuePaused));
    let answer = house.engine.overview().await.unwrap().answer.unwrap();
    assert!(
        answer.contains("Bulk is paused"),
        "the person must be told which lane: {answer}"
    );
    house
        .engine
        .pause_lane(QueueName::Bulk, false)
        .await
        .unwrap();
    for job_id in &bulk.job_ids {
        house.until_status(job_id, JobStatus::Completed).await;
    }
}

#[tokio::test]
async fn a_bulk_job_is_delayed_and_says_until_when() {
    let house = House::working().await;
    let bulk = house
        .add_as(
            &["a.pdf", "b.pdf"],
            submission(QueueName::Bulk, Provider::Claude),
        )
        .await;
    for job_id in &bulk.job_ids {
        assert!(matches!(
            house.job(job_id).await.job.waiting,
            Some(WaitingReason::Delayed { .. })
        ));
    }
    house.clock.advance(Duration::from_secs(5));
    for job_id in &bulk.job_ids {
        house.until_status(job_id, JobStatus::Completed).await;
    }
}

#[tokio::test]
async fn a_cancelled_job_is_never_sent_and_can_be_put_back() {
    let house = House::idle().await;
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    let [unwanted, wanted] = [submitted.job_ids[0].clone(), submitted.job_ids[1].clone()];
    assert!(house.act(&unwanted, BulkAction::Cancel).await);
    house.start().await;
    house.until_status(&wanted, JobStatus::Completed).await;
    assert_eq!(house.job(&unwanted).await.job.status, JobStatus::Cancelled);
    assert_eq!(
        house.claude.requests().len(),
        1,
        "a cancelled job costs nothing"
    );
    assert_eq!(house.retry(vec![unwanted.clone()]).await, 1);
    house.until_status(&unwanted, JobStatus::Completed).await;
}

/// Seed defect 11 and 12: long and odd prompts ended in a 500 and an orphan.
#[tokio::test]
async fn prompts_are_checked_before_anything_is_stored() {
    let house = House::working().await;
    for bad in ["", "  \n ", &"x".repeat(200_001)] {
        let answer = house
            .engine
            .submit_prompt(
                bad.to_owned(),
                submission(QueueName::High, Provider::Claude),
            )
            .await;
        assert!(
            answer.is_err(),
            "a prompt of {} characters must be refused",
            bad.len()
        );
    }
    assert!(
        house.jobs().await.is_empty(),
        "a refused prompt leaves no trace"
    );
    let mut accepted = Vec::new();
    for prompt in ["Name three rivers.", &"あ".repeat(200_000)] {
        let submitted = house
            .engine
            .submit_prompt(
                prompt.to_owned(),
                submission(QueueName::High, Provider::Claude),
            )
            .await
            .unwrap();
        accepted.push(submitted.job_ids[0].clone());
    }
    for job_id in &accepted {
        house.until_status(job_id, JobStatus::Completed).await;
    }
}

#[tokio::test]
async fn a_clock_that_goes_backwards_loses_nothing() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("a.pdf", Reply::fault(Fault::Internal)).times(1));
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_retrying(&submitted.job_ids[0], 1).await;
    house.clock.turn_back(Duration::from_secs(3600));
    house.clock.advance(Duration::from_secs(3600 + 73));
    for job_id in &submitted.job_ids {
        let done = house.until_status(job_id, JobStatus::Completed).await;
        assert!(
            done.attempts
                .iter()
                .all(|attempt| attempt.waited_ms < 86_400_000)
        );
    }
}
