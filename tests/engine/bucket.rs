//! The bucket that results are uploaded to, on a real S3 server behind a proxy that fails as told.

use gistmill_engine::model::{
    BucketSettings, BucketTest, JobStatus, Provider, ResultFormat, UploadCause, UploadView,
};
use gistmill_testkit::fault_proxy::{Fault, FaultProxy};
use gistmill_testkit::seaweed::{Seaweed, TestBucket};
use object_store::{Attribute, GetResult};

use crate::support::House;

/// An engine whose results go to a bucket.
struct Cloud {
    house: House,
    server: Seaweed,
    there: TestBucket,
    proxy: FaultProxy,
    settings: BucketSettings,
}

impl Cloud {
    async fn over(house: House) -> Self {
        let server = Seaweed::start().await;
        let there = server.bucket().await;
        let proxy = FaultProxy::before(&server.url).await;
        let settings = BucketSettings {
            enabled: true,
            endpoint: Some(proxy.url()),
            bucket: there.name.clone(),
            folder: "gists".to_owned(),
            access_key_id: server.access_key_id.to_owned(),
            upload_documents: true,
            ..BucketSettings::default()
        };
        let cloud = Self {
            house,
            server,
            there,
            proxy,
            settings,
        };
        let secret = cloud.server.secret.to_owned();
        cloud
            .house
            .engine
            .save_bucket_secret(Some(secret), false)
            .await
            .unwrap();
        cloud.use_bucket(|_| {}).await;
        cloud
    }

    async fn use_bucket(&self, change: impl FnOnce(&mut BucketSettings)) {
        let mut settings = self.settings.clone();
        change(&mut settings);
        self.house
            .set(|all| all.bucket = Some(settings.clone()))
            .await;
    }

    async fn test(
        &self,
        secret: Option<&str>,
        change: impl FnOnce(&mut BucketSettings),
    ) -> BucketTest {
        let mut settings = self.settings.clone();
        change(&mut settings);
        let secret = secret.map(str::to_owned);
        self.house
            .engine
            .test_bucket(settings, secret)
            .await
            .unwrap()
    }

    /// Waits until the upload of a job's result stands as wanted.
    async fn until(&self, job_id: &gistmill_engine::model::JobId, fits: fn(&UploadView) -> bool) {
        let upload = |detail: &gistmill_engine::model::JobDetail| {
            let result = detail.result.as_ref()?;
            result.upload.clone()
        };
        self.house
            .until(job_id, "its upload", |detail| {
                upload(detail).as_ref().is_some_and(fits)
            })
            .await;
    }
}

const fn is_uploaded(upload: &UploadView) -> bool {
    matches!(upload, UploadView::Uploaded { .. })
}

fn metadata(object: &GetResult, name: &'static str) -> String {
    let value = object.attributes.get(&Attribute::Metadata(name.into()));
    value.unwrap().as_ref().to_owned()
}

#[tokio::test]
async fn a_test_says_what_is_wrong_with_settings_that_are_not_stored() {
    let cloud = Cloud::over(House::idle().await).await;
    assert_eq!(cloud.test(None, |_| {}).await.trouble, None);
    let wrong = "f".repeat(64);
    let trouble = cloud.test(Some(&wrong), |_| {}).await.trouble.unwrap();
    assert_eq!(trouble.cause, UploadCause::SecretWrong);
    assert!(!trouble.message.contains(&wrong) && !trouble.hint.is_empty());
    let reader = cloud.test(Some(cloud.server.reader_secret), |it| {
        it.access_key_id = cloud.server.reader_key_id.to_owned();
    });
    assert_eq!(reader.await.trouble.unwrap().cause, UploadCause::NotAllowed);
    let elsewhere = cloud.test(None, |it| it.bucket = "no-such-bucket".to_owned());
    assert_eq!(
        elsewhere.await.trouble.unwrap().cause,
        UploadCause::BucketMissing
    );
    let mut settings = cloud.settings.clone();
    settings.folder = "../up".to_owned();
    let refused = cloud.house.engine.test_bucket(settings, None).await;
    assert!(refused.unwrap_err().to_string().contains("folder"));
    assert_eq!(cloud.there.list("").await, [] as [&str; 0]);
}

#[tokio::test]
async fn results_and_their_pdfs_lie_in_the_bucket_as_they_lie_here() {
    let cloud = Cloud::over(House::working().await).await;
    let submitted = cloud.house.add(&["Bericht März.pdf", "two.pdf"]).await;
    cloud.house.until_completed(&submitted).await;
    for job_id in &submitted.job_ids {
        cloud.until(job_id, is_uploaded).await;
        let result = cloud.house.job(job_id).await.result.unwrap();
        let Some(UploadView::Uploaded { address, .. }) = result.upload else {
            unreachable!("it was uploaded a moment ago");
        };
        let before = format!("{}/{}/", cloud.proxy.url(), cloud.there.name);
        let key = address.strip_prefix(&before).unwrap();
        assert_eq!(key, format!("gists/results/{job_id}.md"));
        let object = cloud.there.described(key).await;
        assert_eq!(metadata(&object, "sha256"), result.sha256.as_str());
        assert_eq!(metadata(&object, "model"), result.model);
        assert_eq!(result.format, ResultFormat::Markdown);
        let here = std::fs::read(&result.path).unwrap();
        assert_eq!(object.bytes().await.unwrap(), here);
    }
    let first = format!("gists/results/{}.md", submitted.job_ids[0]);
    let object = cloud.there.described(&first).await;
    assert_eq!(metadata(&object, "file-name"), "Bericht%20M%C3%A4rz.pdf");
    // PDFs have uploads of their own.
    let pdf = format!(
        "gists/uploads/{}/{}.pdf",
        submitted.batch_id, submitted.job_ids[0]
    );
    let mut uploaded = None;
    for _ in 0..600 {
        uploaded = cloud.there.object(&pdf).await;
        if uploaded.is_some() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let here = std::fs::read(cloud.house.path("Bericht März.pdf")).unwrap();
    assert_eq!(uploaded.unwrap(), here);
    let status = cloud.house.engine.bucket_status().await.unwrap();
    assert_eq!((status.uploaded, status.not_uploaded), (2, 0));
}

#[tokio::test]
async fn an_unreachable_bucket_holds_uploads_and_no_jobs_and_its_return_lets_them_go_on() {
    let mut cloud = Cloud::over(House::working().await).await;
    cloud.proxy.hang_up().await;
    let submitted = cloud.house.add(&["one.pdf", "two.pdf"]).await;
    cloud.house.until_completed(&submitted).await;
    let mut events = cloud.house.engine.subscribe();
    let trouble = loop {
        let uploads = cloud.house.engine.bucket_status().await.unwrap().uploads;
        if let Some(trouble) = uploads.trouble {
            break trouble;
        }
        drop(events.recv().await);
    };
    assert_eq!(trouble.cause, UploadCause::Unreachable);
    assert_eq!(cloud.there.list("").await, [] as [&str; 0]);
    cloud.proxy.pick_up().await;
    cloud.house.engine.retry_uploads().await.unwrap();
    for job_id in &submitted.job_ids {
        cloud.until(job_id, is_uploaded).await;
    }
    let status = cloud.house.engine.bucket_status().await.unwrap();
    assert_eq!((status.uploads.trouble, status.failures.len()), (None, 0));
}

#[tokio::test]
async fn another_object_of_the_same_name_stands_and_a_lost_reply_is_an_upload() {
    let cloud = Cloud::over(House::idle().await).await;
    let submitted = cloud
        .house
        .submit(
            cloud.house.put_pdfs(&["taken.pdf", "lost.pdf"]),
            Provider::Claude,
        )
        .await;
    let key = |at: usize| format!("gists/results/{}.md", submitted.job_ids[at]);
    cloud.there.put(&key(0), b"someone else's").await;
    cloud
        .proxy
        .next("PUT", [Fault::LoseReply, Fault::LoseReply]);
    cloud
        .house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    cloud.house.start().await;
    cloud.house.until_completed(&submitted).await;
    cloud
        .until(&submitted.job_ids[0], |upload| {
            matches!(upload, UploadView::Failed { .. })
        })
        .await;
    cloud.until(&submitted.job_ids[1], is_uploaded).await;
    let taken = cloud.there.object(&key(0)).await.unwrap();
    assert_eq!(taken, b"someone else's");
    let detail = cloud.house.job(&submitted.job_ids[0]).await;
    assert_eq!(detail.job.status, JobStatus::Completed, "it is stored here");
    let failures = cloud.house.engine.bucket_status().await.unwrap().failures;
    assert_eq!(failures.len(), 1);
    assert!(failures[0].message.contains("it stands"), "{failures:?}");
}
