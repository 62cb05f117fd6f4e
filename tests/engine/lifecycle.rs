//! Opening, closing, and other programs on the same data.

use std::sync::Arc;
use std::time::Duration;

use gistmill_engine::model::{
    ConsumerPlace, EngineEvent, JobStatus, KeySource, Provider, QueueName, WaitingReason,
};
use gistmill_engine::secrets::{SecretError, SecretStore};
use gistmill_engine::{Engine, EngineError};
use gistmill_testkit::fake_claude::{Reply, Rule};
use secrecy::SecretString;

use crate::support::{House, submission};

/// Seed defect 28: what was promised could not be asked for.
#[tokio::test]
async fn everything_is_still_there_after_a_restart() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let before = house.job(&submitted.job_ids[0]).await;
    house.engine.shutdown().await;
    let again = house.reopen().await.unwrap();
    assert_eq!(
        again.job(submitted.job_ids[0].clone()).await.unwrap(),
        before
    );
    assert_eq!(again.overview().await.unwrap().counts.done, 2);
}

#[tokio::test]
async fn only_one_consumer_works_a_data_directory_and_the_other_program_only_watches() {
    let house = House::working().await;
    let other = house.reopen().await.unwrap();
    assert_eq!(
        other.start_consumer(false).await.unwrap(),
        ConsumerPlace::Elsewhere
    );
    let mut seen = house.engine.subscribe();
    let paths = house.put_pdfs(&["a.pdf", "b.pdf"]);
    let report = other.scan(paths).await.unwrap();
    let added = other
        .submit_scan(
            report.scan_id,
            submission(QueueName::High, Provider::Claude),
        )
        .await
        .unwrap();
    // The consuming program hears of jobs that another one added.
    let heard = tokio::time::timeout(std::time::Duration::from_secs(10), async {
        loop {
            if let Ok(EngineEvent::JobsChanged { .. }) = seen.recv().await {
                break;
            }
        }
    });
    heard
        .await
        .expect("jobs added by another program must be noticed");
    for job_id in &added.job_ids {
        house.until_status(job_id, JobStatus::Completed).await;
    }
    house.engine.shutdown().await;
    assert_eq!(
        other.start_consumer(false).await.unwrap(),
        ConsumerPlace::Here,
        "the lock is free once the first has ended"
    );
}

#[tokio::test]
async fn an_address_and_a_key_that_another_program_sets_are_used() {
    let house = House::idle().await;
    house
        .set(|settings| settings.base_url = Some("http://127.0.0.1:9".to_owned()))
        .await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.start().await;
    house.until_answer("Check the network").await;
    let other = house.reopen().await.unwrap();
    other
        .save_key("sk-ant-test-9876543210".to_owned(), false)
        .await
        .unwrap();
    let mut settings = other.settings().await.unwrap();
    settings.base_url = Some(house.claude.url());
    other.save_settings(settings).await.unwrap();
    house.until_completed(&submitted).await;
    assert_eq!(house.engine.key_status().ending.unwrap(), "3210");
}

#[tokio::test]
async fn without_a_consumer_a_waiting_job_says_so() {
    let house = House::idle().await;
    let submitted = house
        .submit(house.put_pdfs(&["a.pdf", "b.pdf"]), Provider::Offline)
        .await;
    house.engine.look_for_consumer();
    let waiting = house.job(&submitted.job_ids[0]).await.job.waiting;
    assert_eq!(waiting, Some(WaitingReason::NoConsumer));
    assert!(
        house
            .engine
            .overview()
            .await
            .unwrap()
            .answer
            .unwrap()
            .contains("gistmill run")
    );
}

#[tokio::test]
async fn a_shutdown_in_the_middle_of_a_call_leaves_the_job_to_be_delivered_again() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("stuck.pdf", Reply::Stall { after_deltas: 1 }).times(1));
    let submitted = house.add(&["stuck.pdf", "fine.pdf"]).await;
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
    house.claude.arrived(2).await;
    house.engine.shutdown().await;
    let again = house.reopen().await.unwrap();
    let cut = again.job(submitted.job_ids[0].clone()).await.unwrap();
    assert_eq!(cut.job.status, JobStatus::Pending);
    assert_eq!(cut.job.attempts, 1, "a call that may have run counts");
    assert_eq!(cut.job.cost_micros, None, "what it cost is not known");
    assert_eq!(
        again.start_consumer(false).await.unwrap(),
        ConsumerPlace::Here
    );
    let mut events = again.subscribe();
    while again
        .job(submitted.job_ids[0].clone())
        .await
        .unwrap()
        .job
        .status
        != JobStatus::Completed
    {
        drop(
            tokio::time::timeout(std::time::Duration::from_secs(60), events.recv())
                .await
                .unwrap(),
        );
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused_and_left_as_it_is() {
    let house = House::idle().await;
    house.engine.shutdown().await;
    let path = house.folder.path().join("data/gistmill.db");
    let database = rusqlite::Connection::open(&path).unwrap();
    database.pragma_update(None, "user_version", 9_999).unwrap();
    drop(database);
    let refused = house.reopen().await;
    assert!(
        matches!(refused, Err(EngineError::NewerDatabase { .. })),
        "it must say: update Gistmill"
    );
}

#[tokio::test]
async fn a_damaged_database_is_reported_not_papered_over() {
    let house = House::idle().await;
    house.engine.shutdown().await;
    let path = house.folder.path().join("data/gistmill.db");
    std::fs::write(&path, vec![0x55; 8192]).unwrap();
    let refused: Result<Engine, _> = house.reopen().await;
    assert!(
        matches!(refused, Err(EngineError::DamagedDatabase { .. })),
        "got {:?}",
        refused.err()
    );
    assert_eq!(
        std::fs::read(&path).unwrap(),
        vec![0x55; 8192],
        "it must be left as it is"
    );
}

#[tokio::test]
async fn the_key_is_nowhere_in_the_data_directory() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    house.engine.shutdown().await;
    for entry in walkdir::WalkDir::new(house.folder.path().join("data")) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let bytes = std::fs::read(entry.path()).unwrap();
            let held = bytes.windows(11).any(|window| window == b"sk-ant-test");
            assert!(!held, "{} holds the key", entry.path().display());
        }
    }
}

/// A keychain that answers when it is unlocked.
struct Locked(std::sync::Mutex<std::sync::mpsc::Receiver<()>>);

impl SecretStore for Locked {
    fn get(&self, name: &str) -> Result<Option<SecretString>, SecretError> {
        // It is unlocked, for every question, as soon as the other end is dropped.
        self.0.lock().unwrap().recv().ok();
        Ok((name == "anthropic-api-key").then(|| SecretString::from("sk-ant-locked-0123456789")))
    }

    fn set(&self, _name: &str, _secret: &SecretString) -> Result<(), SecretError> {
        Ok(())
    }

    fn remove(&self, _name: &str) -> Result<(), SecretError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_keychain_that_waits_to_be_unlocked_holds_neither_the_start_nor_the_other_jobs() {
    let house = House::idle().await;
    let (unlock, locked) = std::sync::mpsc::channel::<()>();
    let mut config = crate::support::config(
        &house.folder.path().join("other"),
        &house.claude,
        &house.clock,
        &house.secrets,
        &house.person,
    );
    config.secrets = Arc::new(Locked(std::sync::Mutex::new(locked)));
    config.keychain_patience = Duration::from_millis(1);
    let engine = Engine::open(config).await.unwrap();
    let status = engine.key_status();
    assert_eq!(status.source, KeySource::None);
    assert!(status.keychain_problem.unwrap().contains("unlocked"));
    let mut events = engine.subscribe();
    drop(unlock);
    while engine.key_status().source != KeySource::Keychain {
        drop(
            tokio::time::timeout(Duration::from_secs(60), events.recv())
                .await
                .unwrap(),
        );
    }
    assert_eq!(engine.key_status().keychain_problem, None);
    engine.shutdown().await;
}
