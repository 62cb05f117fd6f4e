//! What a call is promised of the minute once those like it are known: less than at its worst, never less than
//! they took, and all that it takes beyond it counts.

use super::support::*;
use crate::model::{Timestamp, WaitingReason};
use crate::store::{ClaimedJob, NewBatch, Settlement};

/// Calls after which the next ones are promised what is usual.
const ENOUGH: usize = 20;
/// What [`NewBatch::max_tokens`] of these tests allows.
const MOST_OUTPUT: i64 = 4_000;

/// Jobs of a template: 400 letters each, of which 110 input tokens are expected, and 334 at most.
fn of_template(jobs: usize) -> NewBatch {
    let prompt = "a ".repeat(200);
    NewBatch {
        template: Some(("pdf-summarize".to_owned(), 1)),
        max_tokens: 4_000,
        ..batch(&vec![prompt.as_str(); jobs])
    }
}

impl Shelf {
    /// Keeps an answer that took so much, and completes.
    async fn finish_with(&self, job: &ClaimedJob, input: u64, output: u64, now: Timestamp) {
        let settlement = Settlement::Known {
            input_tokens: input,
            output_tokens: output,
            micros: Some(600),
        };
        let store = &self.store;
        let lease = &job.lease;
        let kept = store.keep_answer(lease.clone(), answer(), settlement, now);
        assert!(kept.await.unwrap(), "the lease holds");
        let completed = store.complete(lease.clone(), result(&lease.job_id), now);
        assert!(completed.await.unwrap(), "the lease holds");
    }

    /// Works jobs one after another, each of which takes so much.
    async fn work_through(&self, jobs: usize, input: u64, output: u64, now: Timestamp) {
        for _ in 0..jobs {
            let job = self.claim(1, now).await.remove(0);
            self.finish_with(&job, input, output, now).await;
        }
    }

    /// Returns what the call of a job is promised: input, output, micro-dollars.
    async fn promised(&self, job: &ClaimedJob) -> [i64; 3] {
        let key = (job.lease.job_id.to_string(), job.lease.lease_id.clone());
        let promised = self.store.read(move |connection| {
            Ok(connection.query_row(
                "SELECT input_tokens, output_tokens, micros FROM ledger
                 WHERE job_id = ?1 AND lease_id = ?2",
                key,
                |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?]),
            )?)
        });
        promised.await.unwrap()
    }

    async fn promised_next(&self, now: Timestamp) -> [i64; 3] {
        let job = self.claim(1, now).await.remove(0);
        self.promised(&job).await
    }
}

#[tokio::test]
async fn a_call_is_promised_its_worst_until_enough_like_it_are_known() {
    let shelf = shelf();
    shelf.submit(of_template(ENOUGH + 2), NOW).await;
    let first = shelf.claim(1, NOW).await.remove(0);
    let worst = shelf.promised(&first).await;
    assert_eq!(worst[1], MOST_OUTPUT, "nothing is known yet");
    shelf.finish_with(&first, 110, 300, NOW).await;
    shelf.work_through(ENOUGH - 2, 99, 400, NOW).await;
    let next = shelf.claim(1, NOW).await.remove(0);
    assert_eq!(shelf.promised(&next).await, worst, "one is missing");
    shelf.finish_with(&next, 121, 350, NOW).await;
    let [input, output, micros] = shelf.promised_next(NOW).await;
    assert_eq!(output, 400, "the longest answer");
    assert_eq!(input, 121, "a tenth more than expected was the most");
    assert_eq!(micros, worst[2], "money is promised at its worst");
}

#[tokio::test]
async fn it_is_never_promised_more_than_its_worst_nor_next_to_nothing() {
    let shelf = shelf();
    shelf.submit(of_template(2 * ENOUGH + 2), NOW).await;
    let job = shelf.claim(1, NOW).await.remove(0);
    let worst = shelf.promised(&job).await;
    shelf.finish_with(&job, 9_999, 4_000, NOW).await;
    shelf.work_through(ENOUGH, 9_999, 4_000, NOW).await;
    assert_eq!(shelf.promised_next(NOW).await, worst);
    let other = NewBatch {
        model: "claude-haiku-4-5".to_owned(),
        ..of_template(ENOUGH + 1)
    };
    let little = self::shelf();
    little.submit(other, NOW).await;
    little.work_through(ENOUGH, 1, 0, NOW).await;
    let [input, output, _] = little.promised_next(NOW).await;
    assert_eq!(
        (input, output),
        (55, 0),
        "an address that counts no documents does not make them free"
    );
}

#[tokio::test]
async fn what_is_usual_is_so_for_one_model_and_one_template_only() {
    let shelf = shelf();
    shelf.submit(of_template(ENOUGH), NOW).await;
    shelf.work_through(ENOUGH, 110, 300, NOW).await;
    for other in [
        NewBatch {
            model: "claude-haiku-4-5".to_owned(),
            ..of_template(1)
        },
        NewBatch {
            template: Some(("meeting-minutes".to_owned(), 1)),
            ..of_template(1)
        },
        NewBatch {
            template: None,
            ..of_template(1)
        },
    ] {
        shelf.submit(other, NOW).await;
        assert_eq!(shelf.promised_next(NOW).await[1], MOST_OUTPUT);
    }
    shelf.submit(of_template(1), NOW).await;
    assert_eq!(shelf.promised_next(NOW).await[1], 300);
}

#[tokio::test]
async fn what_was_long_ago_is_not_usual() {
    let shelf = shelf();
    shelf.hurry().await;
    shelf
        .set(|settings| settings.tokens_per_minute = 1_000_000)
        .await;
    shelf.submit(of_template(302), NOW).await;
    shelf.work_through(100, 110, 2_000, NOW).await;
    shelf.work_through(100, 110, 400, NOW).await;
    assert_eq!(shelf.promised_next(NOW).await[1], 2_000, "it still counts");
    shelf.work_through(100, 110, 400, NOW).await;
    assert_eq!(shelf.promised_next(NOW).await[1], 400);
}

#[tokio::test]
async fn what_takes_more_than_was_usual_counts_and_holds_the_next_ones_up() {
    let shelf = shelf();
    shelf.submit(of_template(60), NOW).await;
    shelf.work_through(ENOUGH, 110, 300, NOW).await;
    shelf
        .set(|settings| settings.tokens_per_minute = 6_000)
        .await;
    // Each is promised 110 and 300.
    let later = minutes(2);
    let claimed = shelf.claim(3, later).await;
    assert_eq!(claimed.len(), 3);
    // Longer than any answer before.
    shelf
        .finish_with(&claimed[0], 110, 3_900, seconds(130))
        .await;
    let used = shelf
        .store
        .overview(local(seconds(130)))
        .await
        .unwrap()
        .budget
        .tokens
        .used;
    assert_eq!(used, 110 + 3_900 + 2 * (110 + 300), "all of it counts");
    assert!(
        shelf.claim(9, seconds(130)).await.is_empty(),
        "another one may take as long, for which there is no room"
    );
    let outlook = shelf.store.outlook(local(seconds(130))).await.unwrap();
    assert!(matches!(
        outlook.lanes[0].obstacle,
        Some(WaitingReason::TokenBudget { .. })
    ));
    // What it took beyond its promise is of the moment in which that became known.
    let free_at = outlook.wake_at.unwrap();
    assert!(free_at >= seconds(180), "{free_at:?}");
    assert!(!shelf.claim(9, free_at).await.is_empty());
}
