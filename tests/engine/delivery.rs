//! Half price for the jobs of one submission, while the rest of the lane is asked call by call.

use std::time::Duration;

use gistmill_engine::model::{Delivery, JobStatus, Submission, Submitted};
use gistmill_testkit::fake_claude::BatchSettings;

use crate::batch_lane::{billed, by_batch, house_with, pass, spent, to_bulk, until_all_handed};
#[tokio::test]
async fn what_is_added_at_half_price_goes_by_the_batch_api_and_the_rest_of_the_lane_does_not() {
    let house = house_with(BatchSettings::default()).await;
    by_batch(&house, |lane| lane.delivery = Delivery::Each).await;
    let half = Submission {
        delivery: Some(Delivery::Batch),
        ..to_bulk()
    };
    let half = house.add_as(&["a.pdf", "b.pdf"], half).await;
    let whole = house.add_as(&["c.pdf", "d.pdf"], to_bulk()).await;
    house.until_completed(&whole).await;
    until_all_handed(&house, &half).await;
    for job_id in &half.job_ids {
        assert_eq!(house.job(job_id).await.job.status, JobStatus::Submitted);
    }
    assert_eq!(
        house.claude.requests().len(),
        2,
        "a call each for the others only"
    );
    pass(&house, Duration::from_secs(600));
    house.until_completed(&half).await;
    let cost = async |submitted: &Submitted| {
        let mut sum = 0;
        for job_id in &submitted.job_ids {
            sum += house.job(job_id).await.job.cost_micros.unwrap();
        }
        sum
    };
    let (half, whole) = (cost(&half).await, cost(&whole).await);
    // Each is rounded up to a micro-dollar.
    assert!(
        (0..=2).contains(&(half * 2 - whole)),
        "the same files for half the price: {half} of {whole}"
    );
    assert_eq!(
        spent(&house).await,
        (billed(&house), 0, 0),
        "the ledger is the bill"
    );
}
