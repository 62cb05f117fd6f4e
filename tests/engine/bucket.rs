//! Trying a bucket before its settings are stored, on a real S3 server.

use gistmill_engine::model::{BucketSettings, UploadCause};
use gistmill_testkit::seaweed::Seaweed;

use crate::support::House;

#[tokio::test]
async fn a_test_says_what_is_wrong_with_settings_that_are_not_stored() {
    let house = House::idle().await;
    let server = Seaweed::start().await;
    let there = server.bucket().await;
    let right = BucketSettings {
        endpoint: Some(server.url.clone()),
        bucket: there.name.clone(),
        folder: "gists".to_owned(),
        access_key_id: server.access_key_id.to_owned(),
        ..BucketSettings::default()
    };
    let of_reader = BucketSettings {
        access_key_id: server.reader_key_id.to_owned(),
        ..right.clone()
    };
    let nowhere = BucketSettings {
        bucket: "no-such-bucket".to_owned(),
        ..right.clone()
    };
    let up = BucketSettings {
        folder: "../up".to_owned(),
        ..right.clone()
    };
    let wrong = "f".repeat(64);
    for (settings, secret, expected) in [
        (&right, None, Some(UploadCause::SecretMissing)),
        (&right, Some(server.secret), None),
        (&right, Some(&*wrong), Some(UploadCause::SecretWrong)),
        (
            &of_reader,
            Some(server.reader_secret),
            Some(UploadCause::NotAllowed),
        ),
        (
            &nowhere,
            Some(server.secret),
            Some(UploadCause::BucketMissing),
        ),
    ] {
        let given = secret.map(str::to_owned);
        let tested = house.engine.test_bucket(settings.clone(), given).await;
        let trouble = tested.unwrap().trouble;
        assert_eq!(trouble.as_ref().map(|it| it.cause), expected, "{trouble:?}");
        if let (Some(trouble), Some(secret)) = (trouble, secret) {
            assert!(!trouble.hint.is_empty() && !trouble.message.contains(secret));
        }
    }
    let given = Some(server.secret.to_owned());
    let refused = house.engine.test_bucket(up, given).await.unwrap_err();
    assert!(refused.to_string().contains("folder"), "{refused}");
    assert_eq!(there.list("").await, [] as [&str; 0], "nothing is left");
    let kept = house.engine.bucket_status().await.unwrap();
    assert!(!kept.secret_set, "a secret that is tried is not kept");
}
