//! Killed between a result's completion here and its upload, or between the upload and its record, every
//! result is in the bucket once, as it is here.

use std::os::unix::process::ExitStatusExt as _;

use gistmill_testkit::fault_proxy::FaultProxy;
use gistmill_testkit::seaweed::Seaweed;

use crate::support::Desk;

const JOBS: usize = 6;

/// Signal 9, which no program can catch.
const KILL: i32 = 9;

#[tokio::test(flavor = "multi_thread")]
async fn killed_around_an_upload_each_result_is_there_once_after_the_restart() {
    let server = Seaweed::start().await;
    for (point, wait) in [
        ("completed", "off"),
        ("uploaded", "off"),
        ("completed", "on"),
        ("uploaded", "on"),
    ] {
        let there = server.bucket().await;
        let proxy = FaultProxy::before(&server.url).await;
        let url = proxy.url();
        let desk = Desk::new().with("GISTMILL_R2_SECRET", server.secret);
        desk.text(&[
            "bucket",
            "set",
            "--endpoint",
            &url,
            "--bucket",
            &there.name,
            "--key-id",
            server.access_key_id,
            "--wait",
            wait,
            "--enable",
        ]);
        desk.put_pdfs(JOBS);
        desk.text(&["add", "pdfs", "--provider", "offline", "--queue", "high"]);
        for time in [1, 2] {
            let killed = desk
                .gistmill(&["run"])
                .env("GISTMILL_KILL_AT", format!("{point}:{time}"))
                .output()
                .unwrap();
            assert_eq!(
                killed.status.signal(),
                Some(KILL),
                "{point}:{time} must end the program: {killed:?}"
            );
        }
        desk.text(&["run"]);
        let status = desk.json(&["status"]);
        assert_eq!(status["counts"]["done"], JOBS, "{point}, {wait}: {status}");
        let bucket = desk.json(&["bucket"]);
        assert_eq!(bucket["uploads"]["waiting"], 0, "{point}, {wait}: {bucket}");
        assert_eq!(bucket["uploads"]["failed"], 0, "{point}, {wait}: {bucket}");
        let objects = there.list("results").await;
        assert_eq!(objects.len(), JOBS, "{point}, {wait}: {objects:?}");
        for key in objects {
            let here = std::fs::read(desk.path("data").join(&key)).unwrap();
            let object = there.object(&key).await.unwrap();
            assert!(
                object == here,
                "{point}, {wait}: {key} is not as it is here"
            );
        }
        // Each of two kills can cut off four uploads that are under way together.
        let puts = proxy.came("PUT");
        assert!(
            (JOBS..=JOBS + 2 * 4).contains(&puts),
            "{point}, {wait}: what is known to be there is not sent again: {puts}"
        );
    }
}
