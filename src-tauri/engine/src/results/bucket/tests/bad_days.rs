//! Uploads when the server, the network or the key does not do as it should.

use std::time::{Duration, Instant};

use gistmill_testkit::fault_proxy::Fault;
use object_store::ObjectStoreExt as _;
use secrecy::SecretString;

use super::super::trouble::Step;
use super::super::{Client, Put, timeout};
use super::{World, cause, open, result};
use crate::model::UploadCause;

#[tokio::test]
async fn what_passes_is_tried_again_and_a_lost_reply_is_no_failure() {
    let world = World::new().await;
    let (bucket, proxy) = (&world.bucket, &world.proxy);
    for (name, fault) in [
        ("too-many", Fault::error(429, "TooManyRequests")),
        ("trouble", Fault::error(503, "ServiceUnavailable")),
        ("cut", Fault::CutBody),
    ] {
        let puts = proxy.came("PUT");
        let since = Instant::now();
        proxy.next("PUT", [fault]);
        let text = "of some length".repeat(50_000);
        assert_eq!(
            bucket.put(result(name, text)).await,
            Ok(Put::Created),
            "{name}"
        );
        assert_eq!(proxy.came("PUT") - puts, 2, "{name}");
        // R2 takes one write a second for each name.
        assert!(since.elapsed() >= Duration::from_secs(1), "{name}");
    }
    for (name, fault) in [("lost", Fault::LoseReply), ("half", Fault::CutReply)] {
        proxy.next("PUT", [fault]);
        assert_eq!(
            bucket.put(result(name, name)).await,
            Ok(Put::WasThere),
            "{name}"
        );
    }
    // Another's reply was lost, so to speak: ours does not pass for it.
    world
        .there
        .put("team/gists/results/theirs.md", b"theirs")
        .await;
    proxy.next("PUT", [Fault::error(503, "ServiceUnavailable")]);
    assert_eq!(
        cause(bucket.put(result("theirs", "ours!!")).await),
        UploadCause::Taken
    );
    // It was removed before it could be compared.
    proxy.next("HEAD", [Fault::error(404, "NoSuchKey")]);
    assert_eq!(
        cause(bucket.put(result("theirs", "ours!!")).await),
        UploadCause::Interrupted
    );
}

#[tokio::test]
async fn what_does_not_pass_is_given_up_soon_and_named() {
    let mut world = World::new().await;
    let bucket = world.bucket.clone();
    for (fault, expected, tries) in [
        (
            Fault::error(503, "ServiceUnavailable"),
            UploadCause::ServerTrouble,
            3,
        ),
        (
            Fault::error(429, "TooManyRequests"),
            UploadCause::TooMany,
            3,
        ),
        (
            Fault::error(403, "RequestTimeTooSkewed"),
            UploadCause::ClockWrong,
            1,
        ),
        (
            Fault::error(400, "IncompleteBody"),
            UploadCause::Interrupted,
            2,
        ),
        (
            Fault::error(400, "EntityTooLarge"),
            UploadCause::TooLarge,
            1,
        ),
        (
            Fault::error(403, "NotEntitled"),
            UploadCause::NotSubscribed,
            1,
        ),
        (
            Fault::error(401, "Unauthorized"),
            UploadCause::KeyUnknown,
            1,
        ),
        (Fault::LoseReply, UploadCause::Interrupted, 3),
    ] {
        let puts = world.proxy.came("PUT");
        let since = Instant::now();
        // The last of them is stored although no reply tells of it.
        world.proxy.always("PUT", fault);
        world.proxy.always("HEAD", Fault::LoseReply);
        assert_eq!(cause(bucket.put(result("bad", "bad day")).await), expected);
        assert_eq!(world.proxy.came("PUT") - puts, tries, "{expected:?}");
        assert!(since.elapsed() < Duration::from_secs(20), "{expected:?}");
    }
    world.proxy.clear();
    assert_eq!(
        bucket.put(result("bad", "bad day")).await,
        Ok(Put::WasThere)
    );

    world.proxy.hang_up().await;
    let since = Instant::now();
    let trouble = bucket.put(result("later", "later")).await.unwrap_err();
    assert_eq!(trouble.cause, UploadCause::Unreachable);
    assert!(
        trouble.message.contains("nothing listens there"),
        "{trouble:?}"
    );
    assert!(since.elapsed() < Duration::from_secs(10));
    world.proxy.pick_up().await;
    assert_eq!(bucket.put(result("later", "later")).await, Ok(Put::Created));
    for endpoint in [
        // A name that nobody has, and a server that does not encrypt.
        "https://gistmill.invalid".to_owned(),
        world.server.url.replace("http:", "https:"),
    ] {
        world.settings.endpoint = Some(endpoint);
        let nowhere = open(&world.settings, world.server.secret);
        let trouble = nowhere.put(result("no", "no")).await.unwrap_err();
        assert_eq!(trouble.cause, UploadCause::Unreachable, "{trouble:?}");
        // Why depends on the network that the tests run in.
        assert!(
            trouble.message.contains("can't be reached: "),
            "{trouble:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_waited_for_as_long_as_the_object_needs() {
    let world = World::new().await;
    let hasty = Client {
        max_retries: 0,
        timeout: Duration::from_millis(200),
    };
    let secret = SecretString::from(world.server.secret);
    let store = hasty
        .open(
            &world.proxy.url(),
            &world.there.name,
            world.server.access_key_id,
            &secret,
        )
        .unwrap();
    world
        .proxy
        .next("GET", [Fault::Delay(Duration::from_secs(30))]);
    let error = store.get(&"absent".into()).await.unwrap_err();
    let trouble = world.bucket.trouble(&error, Step::Read);
    assert_eq!(trouble.cause, UploadCause::Interrupted);
    assert!(trouble.message.contains("in time"), "{trouble:?}");

    world
        .proxy
        .next("PUT", [Fault::Delay(Duration::from_millis(500))]);
    assert_eq!(
        world.bucket.put(result("slow", "slow")).await,
        Ok(Put::Created)
    );
    assert_eq!(world.proxy.came("PUT"), 1);
    assert_eq!(timeout(1_000), Duration::from_secs(60));
    // 32 MB over half a megabit a second.
    assert_eq!(timeout(32_000_000), Duration::from_secs(60 + 640));
}
