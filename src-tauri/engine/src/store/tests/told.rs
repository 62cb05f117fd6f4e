//! What the provider told: limits that are not mixed up, and what others of the same organization use.

use super::support::*;
use crate::model::{Left, Timestamp, ToldLeft, ToldLimits, WaitingReason};
use crate::store::{NewBatch, Settlement};

/// A prompt of about 1,500 tokens.
fn long() -> String {
    "a ".repeat(2_000)
}

/// What is left of a limit of input tokens that is full again a minute after `NOW`.
fn input_left(limit: u64, amount: u64, at: Timestamp) -> ToldLimits {
    ToldLimits {
        input_tokens: Some(limit),
        left: ToldLeft {
            at: Some(at),
            input_tokens: Some(Left {
                amount,
                full_at: seconds(57),
            }),
            ..ToldLeft::default()
        },
        ..ToldLimits::default()
    }
}

impl Shelf {
    async fn told(&self, model: &str, limits: ToldLimits, now: Timestamp) {
        let noted = self
            .store
            .note_limits(model.to_owned(), Some(limits), None, now);
        noted.await.unwrap();
    }
}

#[tokio::test]
async fn input_and_output_are_never_taken_for_each_other() {
    // Each job takes about 1,500 tokens of input and 1,000 of output: where the two were mixed up, other
    // numbers of jobs would run.
    for (input, output, expected) in [(3_500, 100_000, 2), (100_000, 3_500, 3)] {
        let shelf = shelf();
        shelf.add(&[long().as_str(); 6]).await;
        let limits = ToldLimits {
            input_tokens: Some(input),
            output_tokens: Some(output),
            ..ToldLimits::default()
        };
        shelf.told(SONNET, limits, NOW).await;
        assert_eq!(
            shelf.claim(9, NOW).await.len(),
            expected,
            "{input} tokens of input, {output} of output"
        );
        let budget = shelf.store.overview(local(NOW)).await.unwrap().budget;
        assert_eq!(budget.input_tokens.limit, Some(input));
        assert_eq!(budget.output_tokens.limit, Some(output));
    }
}

#[tokio::test]
async fn the_limit_of_tokens_together_and_of_requests_tighten_too() {
    for (limits, expected) in [
        (
            ToldLimits {
                tokens: Some(6_000),
                ..ToldLimits::default()
            },
            2,
        ),
        (
            ToldLimits {
                requests: Some(4),
                ..ToldLimits::default()
            },
            4,
        ),
    ] {
        let shelf = shelf();
        shelf.add(&[long().as_str(); 6]).await;
        shelf.told(SONNET, limits, NOW).await;
        assert_eq!(shelf.claim(9, NOW).await.len(), expected, "{limits:?}");
    }
}

#[tokio::test]
async fn models_of_one_class_share_what_was_told() {
    let shelf = shelf();
    let of = |model: &str| NewBatch {
        model: model.to_owned(),
        ..batch(&[long().as_str(); 2])
    };
    shelf.submit(of("claude-opus-4-8"), NOW).await;
    shelf.submit(of("claude-opus-4-6"), NOW).await;
    shelf.submit(of("claude-haiku-5-5"), NOW).await;
    let limits = ToldLimits {
        requests: Some(3),
        ..ToldLimits::default()
    };
    shelf.told("claude-opus-4-7", limits, NOW).await;
    let claimed = shelf.claim(9, NOW).await;
    let of_opus = claimed
        .iter()
        .filter(|job| job.model.starts_with("claude-opus"))
        .count();
    assert_eq!(of_opus, 3, "both models of Opus 4 share one limit");
}

#[tokio::test]
async fn what_others_use_is_waited_for_until_the_bucket_has_filled_up() {
    let shelf = shelf();
    let added = shelf.add(&[long().as_str(); 2]).await;
    // Nothing of ours ran, and yet a tenth of the bucket is there.
    shelf
        .told(SONNET, input_left(10_000, 1_000, NOW), NOW)
        .await;
    assert!(shelf.claim(9, NOW).await.is_empty(), "others used it up");
    let job = shelf.look_at(&added[0], NOW).await.job;
    let Some(WaitingReason::TokenBudget { until }) = job.waiting else {
        panic!("it must wait for tokens: {:?}", job.waiting);
    };
    assert!(
        (seconds(1)..=seconds(4)).contains(&until),
        "as long as the missing tokens take, not a whole minute: {until:?}"
    );
    assert!(shelf.claim(9, Timestamp(until.0 - 1_000)).await.is_empty());
    assert_eq!(
        shelf.claim(9, until).await.len(),
        1,
        "the second is promised of the same bucket"
    );
    assert_eq!(
        shelf.claim(9, seconds(57)).await.len(),
        1,
        "a full bucket is none that others emptied"
    );
}

#[tokio::test]
async fn a_look_at_the_bucket_that_is_older_than_another_changes_nothing() {
    let shelf = shelf();
    shelf.add(&[long().as_str(); 2]).await;
    shelf
        .told(SONNET, input_left(10_000, 10_000, seconds(5)), seconds(6))
        .await;
    // This call began earlier and ended later.
    shelf
        .told(SONNET, input_left(10_000, 0, seconds(1)), seconds(7))
        .await;
    assert_eq!(shelf.claim(9, seconds(8)).await.len(), 2);
}

#[tokio::test]
async fn our_own_use_is_not_taken_for_that_of_others() {
    let shelf = shelf();
    shelf.add(&[long().as_str(); 8]).await;
    // Room for six jobs a minute.
    let limit = 10_000;
    shelf.told(SONNET, input_left(limit, limit, NOW), NOW).await;
    let mut claimed = 0;
    for second in 1..=6 {
        let now = seconds(second);
        for job in shelf.claim(1, now).await {
            claimed += 1;
            shelf.finish(&job.lease, now).await;
            // The bucket as the server sees it: what we used, and nothing else.
            let left = limit - 200 * claimed;
            shelf.told(SONNET, input_left(limit, left, now), now).await;
        }
    }
    assert_eq!(claimed, 6, "nothing but our own limit may stand in the way");
}

#[tokio::test]
async fn calls_under_way_count_though_nobody_told_of_them_yet() {
    let shelf = shelf();
    shelf.add(&[long().as_str(); 4]).await;
    shelf
        .told(SONNET, input_left(100_000, 3_000, NOW), NOW)
        .await;
    let first = shelf.claim(9, Timestamp(NOW.0 + 10)).await;
    assert_eq!(first.len(), 2, "room for two of 1,500 tokens");
    let settlement = Settlement::Nothing { asked: false };
    for job in &first {
        let end = crate::store::AttemptEnd {
            settlement,
            ..retry_at(minutes(5))
        };
        shelf.end(&job.lease, end, Timestamp(NOW.0 + 20)).await;
    }
    assert_eq!(
        shelf.claim(9, Timestamp(NOW.0 + 30)).await.len(),
        2,
        "what was never sent takes nothing"
    );
}

#[tokio::test]
async fn a_clock_that_went_back_makes_old_news_worthless() {
    let shelf = shelf();
    shelf.add(&[long().as_str(); 2]).await;
    shelf.told(SONNET, input_left(10_000, 0, NOW), NOW).await;
    let back = Timestamp(NOW.0 - 3_600_000);
    assert_eq!(shelf.claim(9, back).await.len(), 2);
    // And what is told then is news again.
    shelf
        .told(SONNET, input_left(10_000, 9_000, back), back)
        .await;
    let left: i64 = shelf.ask("SELECT input_left FROM told_limits").await;
    assert_eq!(left, 9_000);
}

#[tokio::test]
async fn another_address_has_other_limits() {
    let shelf = shelf();
    shelf.add(&[long().as_str(); 3]).await;
    let limits = ToldLimits {
        requests: Some(1),
        ..ToldLimits::default()
    };
    shelf.told(SONNET, limits, NOW).await;
    assert_eq!(shelf.claim(9, NOW).await.len(), 1);
    shelf.store.forget_limits().await.unwrap();
    assert_eq!(shelf.claim(9, NOW).await.len(), 2);
}
