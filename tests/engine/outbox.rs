//! What leaves the program by itself: webhooks and notifications, once for an event, whatever happens to
//! their delivery.

use std::time::Duration;

use gistmill_engine::model::{Cause, JobStatus};
use gistmill_testkit::fake_claude::{Fault, Reply, Rule};
use gistmill_testkit::receiver::Receiver;
use standardwebhooks::Webhook;

use crate::support::House;

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

impl House {
    /// Lets the deliverer look again, until `fits`.
    async fn deliver_until(&self, what: &str, fits: impl AsyncFn() -> bool) {
        let look = async || fits().await.then_some(());
        // Each step is one look of the deliverer.
        let delivered = self.turning_until(Duration::from_secs(5), look).await;
        assert!(
            delivered.is_some(),
            "waited for {what}; the webhook is {:?}",
            self.engine.webhook_status().await
        );
    }
}

#[tokio::test]
async fn a_failure_is_told_with_the_seeds_fields_and_a_signature_that_others_accept() {
    let house = House::working().await;
    let receiver = Receiver::answering(&[]).await;
    house
        .set(|settings| settings.webhook_url = Some(receiver.url()))
        .await;
    house
        .engine
        .save_webhook_secret(Some(SECRET.to_owned()))
        .await
        .unwrap();
    house.claude.script(Rule::titled(
        "bad",
        Reply::fault(Fault::PdfPasswordProtected),
    ));
    let submitted = house.add(&["bad.pdf", "good.pdf"]).await;
    house
        .until_status(&submitted.job_ids[0], JobStatus::Failed)
        .await;
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
    let heard = receiver.until(1).await.remove(0);
    let told: serde_json::Value = serde_json::from_str(&heard.body).unwrap();
    let job = house.job(&submitted.job_ids[0]).await.job;
    assert_eq!(told["event"], "job.failed");
    assert_eq!(told["jobId"], job.job_id.as_str());
    assert_eq!(told["userId"], "local");
    assert_eq!(told["createdAt"], job.created_at.0);
    assert_eq!(told["cause"], Cause::PdfEncrypted.key());
    assert_eq!(told["title"], "bad.pdf");
    assert!(told["hint"].as_str().unwrap().contains("password"));
    // The clock of the test stands in another year, which the standard's own check would refuse.
    let seconds: i64 = heard.header("webhook-timestamp").parse().unwrap();
    let signature = Webhook::new(SECRET)
        .unwrap()
        .sign(heard.header("webhook-id"), seconds, heard.body.as_bytes())
        .unwrap();
    assert_eq!(heard.header("webhook-signature"), signature);
    house
        .deliver_until("the record of the delivery", async || {
            let status = house.engine.webhook_status().await.unwrap();
            status.last_at.is_some() && status.last_error.is_none() && status.waiting == 0
        })
        .await;
    assert_eq!(receiver.heard().len(), 1, "an event is told once");
}

/// Seed defect 17: a webhook that failed was forgotten, and had no time-out.
#[tokio::test]
async fn a_receiver_that_fails_is_tried_three_times_and_the_job_stays_as_it_is() {
    let house = House::working().await;
    let receiver = Receiver::answering(&[500, 503, 500, 500, 500]).await;
    house
        .set(|settings| settings.webhook_url = Some(receiver.url()))
        .await;
    house.claude.script(Rule::titled(
        "bad",
        Reply::fault(Fault::PdfPasswordProtected),
    ));
    let submitted = house.add(&["bad.pdf", "good.pdf"]).await;
    let before = house
        .until_status(&submitted.job_ids[0], JobStatus::Failed)
        .await;
    house
        .deliver_until("the end of the tries", async || {
            house
                .engine
                .webhook_status()
                .await
                .unwrap()
                .last_error
                .is_some()
        })
        .await;
    let heard = receiver.heard();
    assert_eq!(heard.len(), 3, "tries have a bound");
    let ids: Vec<_> = heard
        .iter()
        .map(|heard| heard.header("webhook-id"))
        .collect();
    assert!(
        ids.iter().all(|id| *id == ids[0] && !id.is_empty()),
        "the receiver can tell that it is the same event: {ids:?}"
    );
    let status = house.engine.webhook_status().await.unwrap();
    assert!(status.last_error.unwrap().contains("500"));
    let after = house.job(&submitted.job_ids[0]).await;
    assert_eq!(
        after, before,
        "whatever becomes of the message, the job stays"
    );
}

#[tokio::test]
async fn a_finished_batch_is_told_once_with_its_failures_and_again_after_it_ran_again() {
    let house = House::working().await;
    let receiver = Receiver::answering(&[]).await;
    house
        .set(|settings| {
            settings.webhook_url = Some(receiver.url());
            settings.webhook_batches = true;
        })
        .await;
    house
        .claude
        .script(Rule::titled("bad", Reply::fault(Fault::PdfPasswordProtected)).times(1));
    let submitted = house.add(&["bad.pdf", "good.pdf"]).await;
    house
        .until_status(&submitted.job_ids[0], JobStatus::Failed)
        .await;
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
    let of_batch = |receiver: &Receiver| {
        receiver
            .heard()
            .iter()
            .map(|heard| serde_json::from_str::<serde_json::Value>(&heard.body).unwrap())
            .filter(|told| told["event"] == "batch.completed")
            .collect::<Vec<_>>()
    };
    house
        .deliver_until("the batch", async || of_batch(&receiver).len() == 1)
        .await;
    let told = of_batch(&receiver).remove(0);
    assert_eq!(told["jobs"]["completed"], 1);
    assert_eq!(told["jobs"]["failed"], 1);
    house
        .deliver_until("the notification", async || {
            let told = house.person.0.lock().unwrap();
            told.iter().any(|told| told.body == "1 done, 1 failed.")
        })
        .await;
    let told = house.person.0.lock().unwrap().clone();
    assert_eq!(
        told.len(),
        1,
        "the failure is part of the batch's message: {told:?}"
    );
    assert_eq!(house.retry(vec![submitted.job_ids[0].clone()]).await, 1);
    house.until_completed(&submitted).await;
    house
        .deliver_until("the second end", async || of_batch(&receiver).len() == 2)
        .await;
}

#[tokio::test]
async fn a_circuit_that_wants_a_person_is_told_once_and_a_lost_network_is_not() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::always(Reply::fault(Fault::Authentication)));
    let submitted = house.add(&["a.pdf", "b.pdf", "c.pdf"]).await;
    for job_id in &submitted.job_ids {
        house
            .until(job_id, "an open circuit", |detail| {
                !detail.attempts.is_empty() || detail.job.waiting.is_some()
            })
            .await;
    }
    house
        .deliver_until("the notification", async || {
            !house.person.0.lock().unwrap().is_empty()
        })
        .await;
    house.clock.advance(Duration::from_secs(600));
    let told = house.person.0.lock().unwrap().clone();
    assert_eq!(told.len(), 1, "one message for a circuit: {told:?}");
    assert!(told[0].body.contains("Test the key"), "{told:?}");
}

#[tokio::test]
async fn what_is_no_secret_is_refused_and_an_address_must_be_one() {
    let house = House::working().await;
    for bad in ["", "whsec_", "hello", "whsec_dG9vIHNob3J0"] {
        let refused = house.engine.save_webhook_secret(Some(bad.to_owned())).await;
        assert!(refused.is_err(), "{bad:?} signs nothing");
    }
    for bad in ["example.com/hook", "ftp://example.com", "https://"] {
        let mut settings = house.engine.settings().await.unwrap();
        settings.webhook_url = Some(bad.to_owned());
        assert!(
            house.engine.save_settings(settings).await.is_err(),
            "{bad:?} can't be told anything"
        );
    }
}
