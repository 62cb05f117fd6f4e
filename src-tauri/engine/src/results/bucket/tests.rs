//! Uploads to a real S3 server, on good days; bad ones are in a room of their own.

mod bad_days;

use bytes::Bytes;
use gistmill_testkit::fault_proxy::{Fault, FaultProxy};
use gistmill_testkit::seaweed::{Seaweed, TestBucket};
use object_store::{Attribute, ObjectStoreExt as _};
use secrecy::SecretString;

use super::{Bucket, NewObject, Put, checked, read_address};
use crate::model::{BucketSettings, UploadCause};

/// A bucket of the real server, seen through a proxy, and as the engine sees it.
struct World {
    server: Seaweed,
    there: TestBucket,
    proxy: FaultProxy,
    settings: BucketSettings,
    bucket: Bucket,
}

impl World {
    async fn new() -> Self {
        let server = Seaweed::start().await;
        let there = server.bucket().await;
        let proxy = FaultProxy::before(&server.url).await;
        let settings = BucketSettings {
            enabled: true,
            endpoint: Some(proxy.url()),
            bucket: there.name.clone(),
            folder: "team/gists".to_owned(),
            access_key_id: server.access_key_id.to_owned(),
            ..BucketSettings::default()
        };
        assert_eq!(checked(&settings), Ok(()));
        // What a person copies from the settings can be pasted into them.
        let address = Bucket::address(&settings).unwrap();
        assert_eq!(
            address,
            format!("{}/{}/team/gists", proxy.url(), there.name)
        );
        let pasted = read_address(&address).unwrap();
        assert_eq!(pasted.endpoint, settings.endpoint);
        assert_eq!(pasted.bucket.as_ref(), Some(&settings.bucket));
        assert_eq!(pasted.folder.as_ref(), Some(&settings.folder));
        let bucket = open(&settings, server.secret);
        Self {
            server,
            there,
            proxy,
            settings,
            bucket,
        }
    }

    /// Tries the bucket as somebody with other settings would.
    async fn tried(&self, secret: &str, change: impl FnOnce(&mut BucketSettings)) -> UploadCause {
        let mut settings = self.settings.clone();
        change(&mut settings);
        let trouble = open(&settings, secret).test().await.expect("trouble");
        assert!(!trouble.message.contains(secret), "{trouble:?}");
        assert!(!trouble.message.contains("Signature="), "{trouble:?}");
        trouble.cause
    }
}

fn open(settings: &BucketSettings, secret: &str) -> Bucket {
    Bucket::open(settings, &SecretString::from(secret)).unwrap()
}

fn result(name: &str, text: impl Into<Bytes>) -> NewObject {
    NewObject {
        key: format!("results/{name}.md"),
        bytes: text.into(),
        content_type: "text/markdown; charset=utf-8",
        metadata: vec![("job", name.to_owned())],
    }
}

fn cause(put: Result<Put, crate::model::UploadTrouble>) -> UploadCause {
    put.unwrap_err().cause
}

#[tokio::test]
async fn an_object_arrives_whole_with_its_type_and_metadata_and_is_never_overwritten() {
    let world = World::new().await;
    let mut one = result("one", "# Gist\n");
    one.metadata
        .push(("title", "Bericht für März 100%.pdf".to_owned()));
    one.metadata.push(("empty", String::new()));
    one.metadata.push(("long", "ü".repeat(3_000)));
    assert_eq!(world.bucket.put(one.clone()).await, Ok(Put::Created));
    let found = world.there.described("team/gists/results/one.md").await;
    let attribute = |name: &'static str| {
        let value = found.attributes.get(&Attribute::Metadata(name.into()));
        value.map(|value| value.as_ref().to_owned())
    };
    assert_eq!(
        found
            .attributes
            .get(&Attribute::ContentType)
            .unwrap()
            .as_ref(),
        "text/markdown; charset=utf-8"
    );
    assert_eq!(attribute("job").unwrap(), "one");
    assert_eq!(
        attribute("title").unwrap(),
        "Bericht%20f%C3%BCr%20M%C3%A4rz%20100%25.pdf"
    );
    assert_eq!(attribute("empty"), None);
    let long = attribute("long").unwrap();
    assert!(long.len() <= 1_000 && long.ends_with("%C3%BC"), "{long}");
    assert_eq!(found.bytes().await.unwrap(), "# Gist\n");

    assert_eq!(world.bucket.put(one).await, Ok(Put::WasThere));
    assert_eq!(
        cause(world.bucket.put(result("one", "# Tsig\n")).await),
        UploadCause::Taken
    );
    assert_eq!(
        cause(world.bucket.put(result("one", "longer")).await),
        UploadCause::Taken
    );
    let kept = world.there.object("team/gists/results/one.md").await;
    assert_eq!(kept.unwrap(), b"# Gist\n");

    // As large as PDFs are; the server's tag of it is no plain digest.
    let large: Bytes = (0..11 * 1024 * 1024_u32)
        .map(|at| (at % 251) as u8)
        .collect();
    let two = result("two", large.clone());
    assert_eq!(world.bucket.put(two.clone()).await, Ok(Put::Created));
    assert_eq!(world.bucket.put(two).await, Ok(Put::WasThere));
    let mut other = large.to_vec();
    other[5_000_000] ^= 1;
    assert_eq!(
        cause(world.bucket.put(result("two", other)).await),
        UploadCause::Taken
    );
    assert_eq!(
        world
            .there
            .object("team/gists/results/two.md")
            .await
            .unwrap(),
        large
    );
    // No part of a multipart upload, which R2 counts dearly.
    assert_eq!(world.proxy.came("POST"), 0);
    assert_eq!(
        world.there.list("").await,
        ["team/gists/results/one.md", "team/gists/results/two.md"]
    );
}

#[tokio::test]
async fn of_many_that_race_for_one_name_one_wins_and_the_same_bytes_all_succeed() {
    let world = World::new().await;
    let race = |name: &'static str, text: fn(usize) -> String| {
        let racers = (0..20).map(|racer| {
            let bucket = world.bucket.clone();
            async move { (racer, bucket.put(result(name, text(racer))).await) }
        });
        futures_util::future::join_all(racers)
    };
    let (others, same) = tokio::join!(
        race("others", |racer| format!("racer {racer:02}").repeat(500)),
        race("same", |_| "one and the same".to_owned()),
    );
    let mut won = Vec::new();
    for (racer, put) in others {
        match put {
            Ok(Put::Created) => won.push(racer),
            Ok(Put::WasThere) => panic!("{racer} did not write this"),
            Err(trouble) => assert_eq!(trouble.cause, UploadCause::Taken),
        }
    }
    let [winner] = won[..] else {
        panic!("not one winner: {won:?}");
    };
    let kept = world.there.object("team/gists/results/others.md").await;
    assert_eq!(
        String::from_utf8(kept.unwrap()).unwrap(),
        format!("racer {winner:02}").repeat(500)
    );
    let created = same
        .into_iter()
        .filter(|(_, put)| *put.as_ref().unwrap() == Put::Created)
        .count();
    assert_eq!(created, 1);
    assert_eq!(world.there.list("").await.len(), 2);
}

#[tokio::test]
async fn a_test_of_the_bucket_names_what_is_wrong_and_leaves_nothing_behind() {
    let world = World::new().await;
    let (server, proxy) = (&world.server, &world.proxy);
    assert_eq!(world.bucket.test().await, None);

    let unchanged = |_: &mut BucketSettings| {};
    let secret = server.secret;
    let wrong = "0".repeat(64);
    assert_eq!(
        world.tried(&wrong, unchanged).await,
        UploadCause::SecretWrong
    );
    let unknown = world.tried(secret, |it| it.access_key_id = "unknown".to_owned());
    assert_eq!(unknown.await, UploadCause::KeyUnknown);
    let missing = world.tried(secret, |it| it.bucket = "no-such-bucket".to_owned());
    assert_eq!(missing.await, UploadCause::BucketMissing);
    let reader = world.tried(server.reader_secret, |it| {
        it.access_key_id = server.reader_key_id.to_owned();
    });
    assert_eq!(reader.await, UploadCause::NotAllowed);

    // A key that may write but not read, and one that may not delete, leave what can't be helped.
    proxy.next("GET", [Fault::error(403, "AccessDenied")]);
    let trouble = world.bucket.test().await.unwrap();
    assert!(trouble.message.contains("read from"), "{trouble:?}");
    assert_eq!(world.there.list("").await, [] as [&str; 0]);
    proxy.next("DELETE", [Fault::error(403, "AccessDenied")]);
    let trouble = world.bucket.test().await.unwrap();
    assert_eq!(trouble.cause, UploadCause::NotAllowed);
    assert!(trouble.message.contains("delete from"), "{trouble:?}");
    let left = world.there.list("").await;
    let [left] = &left[..] else {
        panic!("not one object: {left:?}");
    };
    assert!(
        left.starts_with("team/gists/gistmill-test-") && left.ends_with(".txt"),
        "{left}"
    );
    world
        .there
        .store
        .delete(&left.as_str().into())
        .await
        .unwrap();

    // A server that does as if it knew no condition, and one that gives back something else.
    let stored = Fault::Answer {
        status: 200,
        headers: vec![("etag".to_owned(), "\"0\"".to_owned())],
        body: "other bytes".to_owned(),
    };
    proxy.next("PUT", [Fault::None, stored.clone()]);
    assert_eq!(
        world.tried(secret, unchanged).await,
        UploadCause::Overwrites
    );
    proxy.next("GET", [stored]);
    assert_eq!(world.tried(secret, unchanged).await, UploadCause::Refused);

    // A write that was done, but whose replies were all lost.
    proxy.next(
        "PUT",
        [Fault::LoseReply, Fault::LoseReply, Fault::LoseReply],
    );
    assert_eq!(
        world.tried(secret, unchanged).await,
        UploadCause::Interrupted
    );
    assert_eq!(world.there.list("").await, [] as [&str; 0]);
}
