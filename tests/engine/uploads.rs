//! Results on their way to a bucket of a real S3 server: local first, each once, whatever happens.

use std::time::Duration;

use gistmill_engine::model::{
    BucketSettings, BucketStatus, JobId, JobStatus, Sha256, UploadCause, UploadView, WaitingReason,
};
use gistmill_testkit::fault_proxy::{Fault, FaultProxy};
use gistmill_testkit::seaweed::{Seaweed, TestBucket};

use crate::support::House;

/// A house whose results go to a bucket, seen through a proxy with faults.
struct Port {
    house: House,
    server: Seaweed,
    there: TestBucket,
    proxy: FaultProxy,
}

impl Port {
    /// Sets a bucket, with its secret, before anything consumes.
    async fn new(change: impl FnOnce(&mut BucketSettings)) -> Self {
        let server = Seaweed::start().await;
        let there = server.bucket().await;
        let proxy = FaultProxy::before(&server.url).await;
        let house = House::working().await;
        let port = Self {
            house,
            server,
            there,
            proxy,
        };
        port.secret(port.server.secret).await;
        let mut bucket = port.bucket();
        change(&mut bucket);
        port.set(bucket).await;
        port
    }

    fn bucket(&self) -> BucketSettings {
        BucketSettings {
            enabled: true,
            endpoint: Some(self.proxy.url()),
            bucket: self.there.name.clone(),
            folder: "gists".to_owned(),
            access_key_id: self.server.access_key_id.to_owned(),
            ..BucketSettings::default()
        }
    }

    async fn set(&self, bucket: BucketSettings) {
        self.house
            .set(|settings| settings.bucket = Some(bucket))
            .await;
    }

    async fn secret(&self, secret: &str) {
        self.house
            .engine
            .save_bucket_secret(Some(secret.to_owned()), false)
            .await
            .unwrap();
    }

    async fn status(&self) -> BucketStatus {
        self.house.engine.bucket_status().await.unwrap()
    }

    /// Turns the clock, a look of the uploader at a time, until `fits`.
    async fn until(&self, what: &str, fits: impl Fn(&BucketStatus) -> bool) -> BucketStatus {
        let look = async || Some(self.status().await).filter(|status| fits(status));
        match self.house.turning_until(Duration::from_secs(5), look).await {
            Some(status) => status,
            None => panic!(
                "waited for {what}; the bucket is {:#?}",
                self.status().await
            ),
        }
    }

    /// Makes sure that a job's object is what lies in the library, byte for byte.
    async fn is_there(&self, job_id: &JobId) {
        let result = self.house.job(job_id).await.result.unwrap();
        let object = self
            .there
            .object(&format!("gists/results/{job_id}.md"))
            .await
            .unwrap_or_else(|| panic!("{job_id} is not in the bucket"));
        assert_eq!(
            Sha256::of(&object),
            result.sha256,
            "the object of {job_id} is not its result"
        );
    }
}

#[tokio::test]
async fn results_and_pdfs_reach_the_bucket_as_they_are_here() {
    let port = Port::new(|bucket| bucket.upload_documents = true).await;
    let submitted = port.house.add(&["a.pdf", "Bericht März 要約.pdf"]).await;
    port.house.until_completed(&submitted).await;
    let status = port
        .until("four uploads", |status| {
            status.uploads.waiting == 0 && status.uploaded == 2
        })
        .await;
    assert_eq!(status.not_uploaded, 0);
    for job_id in &submitted.job_ids {
        port.is_there(job_id).await;
        let detail = port.house.job(job_id).await;
        let Some(UploadView::Uploaded { address, .. }) = detail.result.unwrap().upload else {
            panic!("a job must say where its result was uploaded to");
        };
        assert_eq!(
            address,
            format!("{}/results/{job_id}.md", status.address.as_ref().unwrap())
        );
        let pdf = format!("gists/uploads/{}/{job_id}.pdf", submitted.batch_id);
        let pdf = port.there.object(&pdf).await.unwrap();
        let source = std::fs::read(detail.job.source_path.unwrap()).unwrap();
        assert!(pdf == source, "the PDF must arrive as it is");
    }
}

#[tokio::test]
async fn every_third_reply_lost_for_two_hundred_results_leaves_two_hundred_objects_each_right() {
    let port = Port::new(|_| {}).await;
    let faults = [Fault::None, Fault::None, Fault::LoseReply];
    port.proxy.next("PUT", faults.into_iter().cycle().take(600));
    let names: Vec<String> = (0..200).map(|number| format!("{number:03}.pdf")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    port.house
        .set(|settings| settings.tokens_per_minute = 100_000_000)
        .await;
    let submitted = port.house.add(&names).await;
    let status = port
        .until("200 uploads", |status| status.uploaded == 200)
        .await;
    assert_eq!((status.uploads.waiting, status.uploads.failed), (0, 0));
    for job_id in &submitted.job_ids {
        port.is_there(job_id).await;
    }
    assert_eq!(port.there.list("gists/results").await.len(), 200);
    let puts = port.proxy.came("PUT");
    assert!(
        (240..=400).contains(&puts),
        "a lost reply must cost one more request, not many: {puts}"
    );
}

#[tokio::test]
async fn an_unreachable_bucket_holds_no_job_up_and_uploads_drain_when_it_is_back() {
    let mut port = Port::new(|_| {}).await;
    port.proxy.hang_up().await;
    let submitted = port.house.add(&["a.pdf", "b.pdf", "c.pdf"]).await;
    port.house.until_completed(&submitted).await;
    let status = port
        .until("a reason", |status| status.uploads.trouble.is_some())
        .await;
    let trouble = status.uploads.trouble.unwrap();
    assert_eq!(trouble.cause, UploadCause::Unreachable);
    assert_eq!(status.uploads.waiting, 3);
    assert!(status.uploads.retry_at.is_some());
    let result = port.house.job(&submitted.job_ids[0]).await.result.unwrap();
    let Some(UploadView::Waiting { .. }) = result.upload else {
        panic!("an upload that waits must say so: {:?}", result.upload);
    };
    port.proxy.pick_up().await;
    let status = port
        .until("the uploads", |status| status.uploaded == 3)
        .await;
    assert_eq!(status.uploads.trouble, None, "what has passed is not shown");
    for job_id in &submitted.job_ids {
        port.is_there(job_id).await;
    }
}

#[tokio::test]
async fn a_job_can_wait_for_its_upload_and_says_so() {
    let mut port = Port::new(|bucket| bucket.wait_for_upload = true).await;
    port.proxy.hang_up().await;
    let submitted = port.house.add(&["a.pdf", "b.pdf"]).await;
    port.until("a reason", |status| {
        status.uploads.waiting == 2 && status.uploads.trouble.is_some()
    })
    .await;
    let waits = port
        .house
        .until(&submitted.job_ids[0], "its upload", |detail| {
            matches!(
                detail.job.waiting,
                Some(WaitingReason::Uploading { message: Some(_) })
            )
        })
        .await;
    assert_eq!(waits.job.status, JobStatus::Pending);
    assert!(waits.result.is_some(), "its result can be read meanwhile");
    assert!(port.house.engine.has_live_jobs().await.unwrap());
    let answer = port.house.until_answer("bucket").await;
    assert!(answer.contains("answered and stored here"), "{answer}");
    let calls = port.house.claude.requests().len();
    port.proxy.pick_up().await;
    port.until("the uploads", |status| status.uploaded == 2)
        .await;
    port.house.until_completed(&submitted).await;
    assert_eq!(
        port.house.claude.requests().len(),
        calls,
        "waiting for an upload asks nobody"
    );
    // What waits when a person stops waiting is completed.
    port.proxy.hang_up().await;
    let more = port.house.add(&["c.pdf", "d.pdf"]).await;
    port.until("more uploads", |status| status.uploads.waiting == 2)
        .await;
    port.set(port.bucket()).await;
    port.house.until_completed(&more).await;
}

#[tokio::test]
async fn a_wrong_secret_holds_all_uploads_with_the_right_words_until_it_is_right() {
    let port = Port::new(|_| {}).await;
    let wrong = "0000000000000000000000000000000000000000000000000000000000000000";
    port.secret(wrong).await;
    let test = port
        .house
        .engine
        .test_bucket(port.bucket(), None)
        .await
        .unwrap();
    let trouble = test.trouble.unwrap();
    assert_eq!(trouble.cause, UploadCause::SecretWrong);
    assert!(trouble.message.contains("secret"), "{}", trouble.message);
    let submitted = port.house.add(&["a.pdf", "b.pdf"]).await;
    port.house.until_completed(&submitted).await;
    let status = port
        .until("a reason", |status| status.uploads.trouble.is_some())
        .await;
    assert_eq!(
        status.uploads.trouble.unwrap().cause,
        UploadCause::SecretWrong
    );
    let puts = port.proxy.came("PUT");
    assert!(puts < 10, "nothing is tried over and over: {puts}");
    port.secret(port.server.secret).await;
    port.until("the uploads", |status| status.uploaded == 2)
        .await;
    let test = port
        .house
        .engine
        .test_bucket(port.bucket(), None)
        .await
        .unwrap();
    assert_eq!(test.trouble, None);
    assert_eq!(
        port.there.list("gists").await.len(),
        2,
        "a test leaves nothing behind"
    );
}

#[tokio::test]
async fn another_object_under_the_name_stands_and_the_others_go_on() {
    let mut port = Port::new(|bucket| bucket.wait_for_upload = true).await;
    port.proxy.hang_up().await;
    let submitted = port.house.add(&["a.pdf", "b.pdf"]).await;
    let taken = format!("gists/results/{}.md", submitted.job_ids[0]);
    port.there.put(&taken, b"of somebody else").await;
    port.proxy.pick_up().await;
    let status = port
        .until("an end of both", |status| {
            status.uploads.failed == 1 && status.uploaded == 1
        })
        .await;
    assert!(
        status.failures[0].message.contains("it stands"),
        "{:?}",
        status.failures
    );
    port.house.until_completed(&submitted).await;
    assert_eq!(
        port.there.object(&taken).await.unwrap(),
        b"of somebody else"
    );
    port.is_there(&submitted.job_ids[1]).await;
    assert_eq!(port.house.engine.retry_uploads().await.unwrap(), 1);
    port.until("the same end", |status| status.uploads.failed == 1)
        .await;
}

#[tokio::test]
async fn results_from_before_are_copied_over_also_to_another_bucket_and_after_a_restart() {
    let mut port = Port::new(|bucket| bucket.enabled = false).await;
    let submitted = port.house.add(&["a.pdf", "b.pdf", "c.pdf"]).await;
    port.house.until_completed(&submitted).await;
    assert_eq!(
        port.there.list("gists").await.len(),
        0,
        "nothing leaves while uploads are off"
    );
    port.set(port.bucket()).await;
    assert_eq!(port.status().await.not_uploaded, 3);
    port.proxy.hang_up().await;
    assert_eq!(port.house.engine.upload_missing().await.unwrap(), 3);
    assert_eq!(
        port.house.engine.upload_missing().await.unwrap(),
        0,
        "what is on its way is not queued twice"
    );
    // The program ends before anything is there.
    port.house.engine.shutdown().await;
    port.house.engine = port.house.reopen().await.unwrap();
    port.house.start().await;
    port.proxy.pick_up().await;
    port.until("the uploads", |status| status.uploaded == 3)
        .await;
    let second = port.server.bucket().await;
    let mut bucket = port.bucket();
    bucket.bucket.clone_from(&second.name);
    port.set(bucket).await;
    assert_eq!(port.status().await.not_uploaded, 3);
    assert_eq!(port.house.engine.upload_missing().await.unwrap(), 3);
    port.until("the second bucket", |status| status.uploaded == 3)
        .await;
    assert_eq!(second.list("gists/results").await.len(), 3);
}

#[tokio::test]
async fn settings_of_a_bucket_that_cannot_be_right_are_refused_and_a_pasted_address_is_split() {
    let house = House::idle().await;
    let before = house.engine.settings().await.unwrap();
    let mut wrong = before.clone();
    wrong.bucket = Some(BucketSettings {
        enabled: true,
        account_id: "not an account".to_owned(),
        bucket: "gists".to_owned(),
        access_key_id: "key".to_owned(),
        ..BucketSettings::default()
    });
    let error = house.engine.save_settings(wrong).await.unwrap_err();
    assert!(
        error.problem().message.to_lowercase().contains("account"),
        "{error}"
    );
    assert_eq!(house.engine.settings().await.unwrap(), before);
    let account = "0123456789abcdef0123456789abcdef";
    let read = house
        .engine
        .read_bucket_address(&format!(
            " https://{account}.eu.r2.cloudflarestorage.com/gists/team "
        ))
        .unwrap();
    assert_eq!(read.account_id, account);
    assert_eq!(read.jurisdiction, gistmill_engine::model::Jurisdiction::Eu);
    assert_eq!(read.bucket.as_deref(), Some("gists"));
    assert_eq!(read.folder.as_deref(), Some("team"));
    assert!(house.engine.read_bucket_address("hello there").is_err());
}

#[tokio::test]
async fn jobs_that_are_kept_for_a_day_are_kept_until_they_are_uploaded() {
    let mut port = Port::new(|_| {}).await;
    port.proxy.hang_up().await;
    let submitted = port.house.add(&["a.pdf", "b.pdf"]).await;
    port.house.until_completed(&submitted).await;
    port.house
        .set(|settings| settings.retention_days = Some(1))
        .await;
    for _ in 0..3 {
        port.house.clock.advance(Duration::from_secs(30 * 3600));
        port.until("a try", |status| status.uploads.trouble.is_some())
            .await;
    }
    assert_eq!(
        port.house.jobs().await.len(),
        2,
        "what is not in the bucket yet must not be removed here"
    );
    port.proxy.pick_up().await;
    let all_gone = async || port.house.jobs().await.is_empty().then_some(());
    let minute = Duration::from_secs(60);
    assert!(
        port.house.turning_until(minute, all_gone).await.is_some(),
        "what is there is removed here when its time has come"
    );
    assert_eq!(port.there.list("gists/results").await.len(), 2);
}
