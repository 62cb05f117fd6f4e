//! What is kept of estimates beside what was counted.

use super::support::{NOW, SONNET, shelf};
use crate::model::{EstimateCheck, Sends};

#[tokio::test]
async fn comparisons_are_summed_up_for_each_model_and_for_what_is_sent() {
    let shelf = shelf();
    let of = |model: &str, sends| shelf.store.estimates_of(model.to_owned(), sends);
    assert_eq!(
        of(SONNET, Sends::Pdf).await.unwrap(),
        None,
        "nothing counted says nothing"
    );
    for (sends, pairs) in [
        (
            Sends::Pdf,
            vec![(1_000, 1_100), (2_000, 2_000), (1_000, 1_500)],
        ),
        (Sends::Text, vec![(100, 50)]),
    ] {
        let kept = shelf
            .store
            .record_estimates(SONNET.to_owned(), sends, pairs, NOW);
        kept.await.unwrap();
    }
    assert_eq!(
        of(SONNET, Sends::Pdf).await.unwrap(),
        Some(EstimateCheck {
            calls: 3,
            counted_percent: 115,
            // Off by 9, 0 and 33 percent.
            usually_off_percent: 9,
        })
    );
    assert_eq!(
        of(SONNET, Sends::Text).await.unwrap(),
        Some(EstimateCheck {
            calls: 1,
            counted_percent: 50,
            usually_off_percent: 100,
        })
    );
    assert_eq!(of("llama", Sends::Pdf).await.unwrap(), None);
}

#[tokio::test]
async fn only_the_newest_two_hundred_comparisons_count() {
    let shelf = shelf();
    let record = |model: &str, pairs| {
        shelf
            .store
            .record_estimates(model.to_owned(), Sends::Pdf, pairs, NOW)
    };
    record(SONNET, vec![(100, 300); 150]).await.unwrap();
    record("llama", vec![(100, 300)]).await.unwrap();
    record(SONNET, vec![(100, 110); 200]).await.unwrap();
    let of = |model: &str| shelf.store.estimates_of(model.to_owned(), Sends::Pdf);
    let check = of(SONNET).await.unwrap().unwrap();
    assert_eq!((check.calls, check.counted_percent), (200, 110));
    assert_eq!(
        of("llama").await.unwrap().unwrap().calls,
        1,
        "another model's comparisons are nobody else's"
    );
}

#[tokio::test]
async fn what_was_not_counted_is_no_comparison() {
    let shelf = shelf();
    shelf
        .store
        .record_estimates(SONNET.to_owned(), Sends::Pdf, vec![(0, 10), (10, 0)], NOW)
        .await
        .unwrap();
    let check = shelf.store.estimates_of(SONNET.to_owned(), Sends::Pdf);
    assert_eq!(check.await.unwrap(), None);
}
