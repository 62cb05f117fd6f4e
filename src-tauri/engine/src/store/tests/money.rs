//! Money: the worst case is promised with the claim, under every cap.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::support::*;
use crate::calendar::LocalTime;
use crate::model::{
    AttemptOutcome, BulkAction, CapScope, Cause, ModelPrice, Money, Timestamp, WaitingReason,
};
use crate::store::{AfterAttempt, ClaimRequest, NewBatch, Settlement};

/// What a job of [`batch`] costs at worst: 201 tokens of input and 1,000 of output.
const WORST: i64 = 201 * 3 + 1_000 * 15;

fn capped(prompts: &[&str], cap_micros: i64) -> NewBatch {
    NewBatch {
        cap_micros: Some(cap_micros),
        ..batch(prompts)
    }
}

fn of_model(model: &str, prompts: &[&str]) -> NewBatch {
    NewBatch {
        model: model.to_owned(),
        ..batch(prompts)
    }
}

fn price(model: &str, rate: i64) -> ModelPrice {
    ModelPrice {
        model: model.to_owned(),
        input: rate,
        output: rate,
        cache_write: rate,
        cache_read: rate,
        batch_percent: 50,
        long_prompt: None,
    }
}

impl Shelf {
    async fn day(&self, now: Timestamp) -> Money {
        self.store.overview(local(now)).await.unwrap().budget.day
    }
}

/// Has sixteen claim at once, and returns how many jobs they got.
async fn race(shelf: &Arc<Shelf>) -> usize {
    let claimers: Vec<_> = (0..16)
        .map(|_| {
            let shelf = Arc::clone(shelf);
            tokio::spawn(async move { shelf.claim(3, NOW).await.len() })
        })
        .collect();
    let mut claimed = 0;
    for claimer in claimers {
        claimed += claimer.await.unwrap();
    }
    claimed
}

/// Seed defect 22: the budget is asked with every claim, by whoever claims.
#[tokio::test]
async fn sixteen_claimers_never_exceed_a_cap_that_fits_three_jobs() {
    let five = ["one", "two", "six", "ten", "red"];
    for cap in ["day", "month", "batch"] {
        let shelf = Arc::new(shelf());
        // Just too little for a fourth.
        let most = Some(4 * WORST - 1);
        shelf
            .set(|settings| match cap {
                "day" => settings.day_cap_micros = most,
                "month" => settings.month_cap_micros = most,
                _ => settings.batch_cap_micros = most,
            })
            .await;
        shelf.add(&five).await;
        assert_eq!(race(&shelf).await, 3, "the cap of a {cap} fits three");
        let day = shelf.day(NOW).await;
        assert_eq!(
            day.reserved_micros,
            3 * WORST,
            "{cap}: the worst case is promised"
        );
        assert_eq!(race(&shelf).await, 0, "{cap}: nothing is settled yet");
    }
}

#[tokio::test]
async fn a_cap_says_what_would_let_the_next_job_start() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.day_cap_micros = Some(WORST))
        .await;
    let added = shelf.add(&["one", "two"]).await;
    assert_eq!(shelf.claim(5, NOW).await.len(), 1);
    let (claimed, next) = (
        shelf.look(&added[0]).await.job,
        shelf.look(&added[1]).await.job,
    );
    assert_eq!(
        (claimed.reserved_micros, next.reserved_micros),
        (WORST, 0),
        "a job under way says what is held for it, and one that waits that nothing is"
    );
    let reason = next.waiting;
    assert_eq!(
        reason,
        Some(WaitingReason::SpendCap {
            scope: CapScope::Day,
            cap_micros: WORST,
            needed_micros: 2 * WORST,
            until: Some(minutes(12 * 60)),
        })
    );
    shelf
        .set(|settings| settings.day_cap_micros = Some(2 * WORST))
        .await;
    assert_eq!(
        shelf.claim(5, NOW).await.len(),
        1,
        "raised to what was said, the cap lets it start"
    );
}

#[tokio::test]
async fn what_a_call_came_to_corrects_what_was_promised() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.day_cap_micros = Some(2 * WORST))
        .await;
    shelf.add(&["one", "two", "six", "ten"]).await;
    let claimed = shelf.claim(5, NOW).await;
    assert_eq!(claimed.len(), 2);
    shelf.finish(&claimed[0].lease, NOW).await;
    let day = shelf.day(NOW).await;
    assert_eq!((day.settled_micros, day.reserved_micros), (600, WORST));
    assert!(shelf.claim(5, NOW).await.is_empty(), "600 are spent");
    // Refused before it was worked on: all of it comes back.
    shelf
        .end(&claimed[1].lease, retry_at(minutes(9)), NOW)
        .await;
    assert_eq!(
        shelf.claim(5, NOW).await.len(),
        1,
        "there is room for one again"
    );
}

/// Seed defect 19: a call whose end is unknown may have been paid for.
#[tokio::test]
async fn an_unknown_outcome_counts_in_full_until_somebody_knows() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(5, NOW).await;
    let mut end = retry_at(minutes(5));
    (end.settlement, end.cost_micros) = (Settlement::Unknown, None);
    shelf.end(&claimed[0].lease, end, NOW).await;
    shelf.store.recover_interrupted(minutes(1)).await.unwrap();
    let day = shelf.day(NOW).await;
    assert_eq!((day.unknown_micros, day.reserved_micros), (2 * WORST, 0));
    // The dead program's call comes to its end after all.
    let late = claimed[1].lease.clone();
    let kept = shelf
        .store
        .keep_answer(late, answer(), settled(), minutes(2));
    assert!(!kept.await.unwrap());
    let day = shelf.day(NOW).await;
    assert_eq!((day.unknown_micros, day.settled_micros), (WORST, 600));
}

#[tokio::test]
async fn an_answer_of_unknown_price_is_not_given_back_when_its_job_completes() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(5, NOW).await;
    let mut unpriced = answer();
    unpriced.cost_micros = None;
    let settlement = Settlement::Known {
        input_tokens: 100,
        output_tokens: 20,
        micros: None,
    };
    for job in &claimed {
        let lease = job.lease.clone();
        let kept = shelf
            .store
            .keep_answer(lease, unpriced.clone(), settlement, NOW);
        assert!(kept.await.unwrap());
    }
    let lease = claimed[0].lease.clone();
    let completed = shelf
        .store
        .complete(lease.clone(), result(&lease.job_id), NOW);
    assert!(completed.await.unwrap());
    let mut unstored = tripped(Cause::StorageFailed);
    unstored.settlement = Settlement::Nothing { asked: false };
    shelf.end(&claimed[1].lease, unstored, NOW).await;
    assert_eq!(
        shelf.day(NOW).await.unknown_micros,
        2 * WORST,
        "both were answered, and may be billed for what they could cost at most"
    );
}

#[tokio::test]
async fn a_model_without_a_price_waits_until_it_has_one_or_is_free() {
    for rate in [0, 1_000_000] {
        let shelf = shelf();
        let added = shelf
            .submit(of_model("mystery", &["one", "two"]), NOW)
            .await;
        let others = shelf.add(&["six", "ten"]).await;
        let claimed = shelf.claim(5, NOW).await;
        assert_eq!(claimed.len(), 2, "those behind it go on");
        assert!(claimed.iter().all(|job| others.contains(&job.lease.job_id)));
        assert!(matches!(
            shelf.look(&added[1]).await.job.waiting,
            Some(WaitingReason::PriceUnknown { model }) if model == "mystery"
        ));
        shelf
            .store
            .save_price(price("mystery", rate))
            .await
            .unwrap();
        assert_eq!(shelf.claim(5, NOW).await.len(), 2);
        let of_it: i64 = shelf
            .ask("SELECT sum(micros) FROM ledger WHERE model = 'mystery'")
            .await;
        assert_eq!(of_it > 0, rate > 0, "{rate}: {of_it} are promised");
    }
}

#[tokio::test]
async fn what_is_free_runs_when_a_cap_is_reached() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.day_cap_micros = Some(0))
        .await;
    shelf.store.save_price(price("own", 0)).await.unwrap();
    shelf.submit(of_model("own", &["one", "two"]), NOW).await;
    assert_eq!(shelf.claim(5, NOW).await.len(), 2);
}

#[tokio::test]
async fn the_batch_price_is_for_the_batch_api_alone() {
    let shelf = shelf();
    let half = ModelPrice {
        batch_percent: 50,
        ..price("own", 1_000_000)
    };
    shelf.store.save_price(half).await.unwrap();
    shelf.submit(of_model("own", &["one", "two"]), NOW).await;
    shelf.claim(5, NOW).await;
    let promised: i64 = shelf.ask("SELECT max(micros) FROM ledger").await;
    assert_eq!(promised, 1_202, "a direct call costs the whole price");
}

#[tokio::test]
async fn a_cap_begins_anew_at_the_persons_midnight() {
    // Berlin's clock goes back an hour on the day that begins then, and forward on the other one.
    let nights = [
        ("Europe/Berlin", "2026-10-24T21:59:59Z"),
        ("Europe/Berlin", "2026-10-25T22:59:59Z"),
        ("Europe/Berlin", "2026-03-29T21:59:59Z"),
        ("Asia/Tokyo", "2026-11-29T14:59:59Z"),
        // Midnight itself is skipped.
        ("Africa/Cairo", "2026-04-23T21:59:59Z"),
    ];
    for (zone, last_second) in nights {
        let zone = TimeZone::get(zone).unwrap();
        let last_second: jiff::Timestamp = last_second.parse().unwrap();
        let last_second = Timestamp(last_second.as_millisecond());
        let shelf = shelf();
        shelf
            .set(|settings| settings.day_cap_micros = Some(WORST))
            .await;
        shelf
            .submit(batch(&["one", "two", "six"]), last_second)
            .await;
        let claim = async |now: i64| {
            let request = ClaimRequest {
                local: LocalTime::at(Timestamp(now), &zone),
                ..request(5, Timestamp(now))
            };
            shelf.store.claim(request).await.unwrap().len()
        };
        assert_eq!(claim(last_second.0).await, 1);
        assert_eq!(
            claim(last_second.0 + 999).await,
            0,
            "{zone:?}: it is the same day"
        );
        assert_eq!(
            claim(last_second.0 + 1_000).await,
            1,
            "{zone:?}: it is midnight"
        );
        assert_eq!(
            claim(last_second.0 + 3_600_000).await,
            0,
            "{zone:?}: an hour more or less does not make another day"
        );
    }
}

#[tokio::test]
async fn a_month_begins_anew_on_its_first_day_and_counts_all_its_days() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.month_cap_micros = Some(2 * WORST))
        .await;
    shelf.add(&["one", "two", "six", "ten"]).await;
    let day = 24 * 60;
    // November the 29th, noon.
    assert_eq!(shelf.claim(1, NOW).await.len(), 1);
    assert_eq!(shelf.claim(1, minutes(day)).await.len(), 1);
    assert_eq!(shelf.claim(1, minutes(day + 719)).await.len(), 0);
    assert_eq!(
        shelf.claim(1, minutes(day + 720)).await.len(),
        1,
        "it is December"
    );
}

#[tokio::test]
async fn removing_a_job_does_not_give_its_money_back() {
    let shelf = shelf();
    shelf
        .set(|settings| settings.day_cap_micros = Some(WORST))
        .await;
    shelf.add(&["one", "two"]).await;
    let done = shelf.work(1, NOW).await;
    let newest = shelf.store.newest_seq().await.unwrap();
    let purge = crate::store::Purge::Selected(crate::model::Selection::one(done[0].clone()));
    let purged = shelf.store.purge_some(purge, newest, 10).await.unwrap();
    assert_eq!(purged.jobs, 1);
    assert_eq!(shelf.day(NOW).await.settled_micros, 600);
    assert!(shelf.claim(5, NOW).await.is_empty());
}

#[tokio::test]
async fn a_batch_is_not_capped_twice_for_the_same_promise() {
    let shelf = shelf();
    // A job that is passed over makes the claim look a second time.
    shelf
        .submit(of_model("mystery", &["none", "nil"]), NOW)
        .await;
    shelf
        .submit(capped(&["one", "two", "six"], 3 * WORST), NOW)
        .await;
    assert_eq!(shelf.claim(4, NOW).await.len(), 3, "the cap fits all three");
}

#[tokio::test]
async fn a_batch_goes_on_when_the_job_that_was_too_dear_is_gone() {
    for action in [BulkAction::Cancel, BulkAction::Purge] {
        let shelf = shelf();
        let dear = "word ".repeat(20_000);
        let added = shelf
            .submit(capped(&[&dear, "one", "two"], 2 * WORST), NOW)
            .await;
        assert!(
            shelf.claim(5, NOW).await.is_empty(),
            "the cap holds the batch"
        );
        if action == BulkAction::Purge {
            let selection = crate::model::Selection::one(added[0].clone());
            let newest = shelf.store.newest_seq().await.unwrap();
            let purge = crate::store::Purge::Selected(selection);
            shelf.store.purge_some(purge, newest, 10).await.unwrap();
        } else {
            shelf.act(&[&added[0]], action, NOW).await;
        }
        assert_eq!(
            shelf.claim(5, NOW).await.len(),
            2,
            "{action:?}: what is left fits under the cap"
        );
    }
}

#[tokio::test]
async fn a_deferred_call_gives_back_what_it_was_promised() {
    let shelf = shelf();
    shelf.add(&["one", "two"]).await;
    let claimed = shelf.claim(5, NOW).await;
    let next = AfterAttempt::Deferred {
        open_circuit: false,
    };
    let mut end = refused(AttemptOutcome::Deferred, Cause::Interrupted, next);
    end.settlement = Settlement::Nothing { asked: false };
    for job in &claimed {
        shelf.end(&job.lease, end.clone(), NOW).await;
    }
    assert_eq!(shelf.day(NOW).await, Money::default());
    let used: i64 = shelf
        .ask("SELECT sum(requests + input_tokens + output_tokens) FROM usage_tenths")
        .await;
    assert_eq!(used, 0, "neither money nor the minute's budget was used");
}
