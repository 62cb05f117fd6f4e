//! What is handed to the batch API: what it may cost, when it goes, and what a program that died has left.

use super::support::*;
use crate::model::{
    BulkAction, Cause, Delivery, JobId, JobStatus, LaneSettings, Provider, QueueName, WaitingReason,
};
use crate::pricing::{Prices, Work, estimate};
use crate::store::remote::Gathered;
use crate::store::{
    Changes, Created, GatherRequest, Lease, NewRequest, Refused, RemoteState, Sealing, Settlement,
    Store, TakenIn,
};

/// What a job of these tests can cost at most by the batch API.
fn worst(prompt: &str) -> i64 {
    let work = Work {
        document: None,
        prompt_bytes: prompt.len() as u64,
        prompt_characters: prompt.len() as u64,
        max_tokens: 1_000,
    };
    Prices::default()
        .batch_at_worst_micros(SONNET, &estimate(SONNET, &work))
        .unwrap()
}

impl Shelf {
    pub(super) async fn by_batch(&self, change: impl FnOnce(&mut LaneSettings)) {
        let lanes = self.store.overview(local(NOW)).await.unwrap().lanes;
        let bulk = lanes.iter().find(|lane| lane.queue == QueueName::Bulk);
        let mut settings = bulk.unwrap().settings;
        settings.delivery = Delivery::Batch;
        settings.remote_wait_ms = 0;
        settings.delivery_delay_ms = 0;
        change(&mut settings);
        self.store
            .save_lane(QueueName::Bulk, settings)
            .await
            .unwrap();
    }

    pub(super) async fn add_to_bulk(&self, prompts: &[&str]) -> Vec<JobId> {
        let mut new = batch(prompts);
        new.queue = QueueName::Bulk;
        self.submit(new, NOW).await
    }

    pub(super) async fn gather(&self, now: crate::model::Timestamp) -> Option<Gathered> {
        let request = GatherRequest {
            local: local(now),
            lease_expires_at: now,
        };
        self.store.gather(request).await.unwrap()
    }

    async fn seal(&self, gathered: &Gathered) -> Vec<(JobId, String)> {
        let sealing = Sealing {
            remote_no: gathered.remote_no,
            requests: gathered
                .jobs
                .iter()
                .map(|job| NewRequest {
                    lease: job.lease.clone(),
                    asked: "{}".to_owned(),
                })
                .collect(),
            address: "https://there".to_owned(),
            key_mark: "mark".to_owned(),
            look_at: seconds(30),
        };
        self.store.seal(sealing, NOW).await.unwrap()
    }

    /// Gathers, writes down and hands over. Returns the ids of the requests.
    pub(super) async fn hand_over(&self) -> Vec<(JobId, String)> {
        let gathered = self.gather(NOW).await.unwrap();
        let sealed = self.seal(&gathered).await;
        let created = Created {
            remote_id: format!("msgbatch_{}", gathered.remote_no),
            created_at: NOW,
        };
        self.store
            .handed(gathered.remote_no, created, seconds(30))
            .await
            .unwrap();
        sealed
    }

    pub(super) async fn take_in(&self, custom_id: &str, answered: bool) -> TakenIn {
        self.store
            .take_in(custom_id.to_owned(), answered, minutes(2), minutes(1))
            .await
            .unwrap()
    }

    pub(super) async fn lease_of(&self, custom_id: &str) -> Lease {
        match self.take_in(custom_id, true).await {
            TakenIn::Job(job, _) => job.lease,
            other => panic!("{custom_id} was taken in as {other:?}"),
        }
    }

    fn reopened(self) -> Self {
        let path = self.folder.path().join("gistmill.db");
        Self {
            store: Store::open(&path).unwrap(),
            folder: self.folder,
        }
    }

    pub(super) async fn status(&self, job_id: &JobId) -> JobStatus {
        self.look(job_id).await.job.status
    }
}

#[tokio::test]
async fn what_is_gathered_is_promised_at_batch_prices_and_takes_nothing_of_the_minute() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    // No minute has room for one of them, and no claim takes any.
    shelf.set(|settings| settings.tokens_per_minute = 1).await;
    shelf.add_to_bulk(&["one", "two"]).await;
    assert!(shelf.claim(9, NOW).await.is_empty());
    let gathered = shelf.gather(NOW).await.unwrap();
    assert_eq!(gathered.jobs.len(), 2);
    assert!(
        gathered
            .jobs
            .iter()
            .all(|job| job.delivery == Delivery::Batch)
    );
    let reserved: i64 = shelf.ask("SELECT sum(reserved) FROM day_money").await;
    assert_eq!(reserved, worst("one") + worst("two"));
    let used: i64 = shelf.ask("SELECT count(*) FROM usage_tenths").await;
    assert_eq!(used, 0);
    assert!(shelf.gather(NOW).await.is_none(), "nothing more is ready");
}

#[tokio::test]
async fn a_cap_leaves_out_what_does_not_fit_any_more() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let cap = worst("one") + worst("two");
    shelf
        .set(|settings| settings.day_cap_micros = Some(cap))
        .await;
    let added = shelf.add_to_bulk(&["one", "two", "six"]).await;
    let gathered = shelf.gather(NOW).await.unwrap();
    assert_eq!(gathered.jobs.len(), 2);
    let third = shelf.look(&added[2]).await.job;
    assert!(
        matches!(third.waiting, Some(WaitingReason::SpendCap { needed_micros, .. })
            if needed_micros == cap + worst("six")),
        "{third:?} says what it would take"
    );
}

#[tokio::test]
async fn a_paused_queue_a_hold_and_an_open_circuit_hand_nothing_over() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    shelf.add_to_bulk(&["one", "two"]).await;
    shelf.store.pause(QueueName::Bulk, true).await.unwrap();
    assert!(shelf.gather(NOW).await.is_none(), "it is paused");
    shelf.store.pause(QueueName::Bulk, false).await.unwrap();
    let held = shelf.store.hold_handing_over(
        Cause::Overloaded,
        "Overloaded.".to_owned(),
        seconds(60),
        None,
    );
    held.await.unwrap();
    assert!(shelf.gather(seconds(59)).await.is_none(), "it is held");
    let outlook = shelf.store.outlook(local(seconds(59))).await.unwrap();
    assert_eq!(outlook.wake_at, Some(seconds(60)), "somebody wakes for it");
    let gathered = shelf.gather(seconds(60)).await.unwrap();
    shelf.seal(&gathered).await;
    let refused = Refused {
        cause: Cause::Offline,
        message: "No connection.".to_owned(),
        http_status: None,
        told_to_wait_ms: None,
        open_circuit: true,
    };
    while shelf
        .store
        .put_back(gathered.remote_no, refused.clone(), seconds(61))
        .await
        .unwrap()
    {}
    assert!(
        shelf.gather(seconds(62)).await.is_none(),
        "the circuit is open"
    );
    let probe = shelf.gather(seconds(61 + 15)).await.unwrap();
    assert_eq!(probe.jobs.len(), 1, "one is sent to see");
    assert_eq!(probe.jobs[0].lease.number, 1, "nothing was counted");
    shelf.seal(&probe).await;
    let created = Created {
        remote_id: "msgbatch_1".to_owned(),
        created_at: NOW,
    };
    shelf
        .store
        .handed(probe.remote_no, created, minutes(3))
        .await
        .unwrap();
    assert!(
        shelf.gather(minutes(2)).await.is_some(),
        "it got through, so the circuit is closed"
    );
}

#[tokio::test]
async fn a_restart_before_anything_was_sent_costs_nothing() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let added = shelf.add_to_bulk(&["one", "two"]).await;
    shelf.gather(NOW).await.unwrap();
    let shelf = shelf.reopened();
    assert_eq!(
        shelf.store.recover_interrupted(minutes(1)).await.unwrap(),
        2
    );
    for job_id in &added {
        let job = shelf.look_at(job_id, minutes(1)).await.job;
        assert_eq!((job.status, job.attempts), (JobStatus::Pending, 0));
        assert_eq!(job.cost_micros, Some(0));
    }
    let promised: i64 = shelf
        .ask("SELECT sum(reserved + unknown + settled) FROM day_money")
        .await;
    assert_eq!(promised, 0);
    assert!(shelf.gather(minutes(1)).await.is_some());
}

#[tokio::test]
async fn a_restart_leaves_alone_what_may_be_at_the_provider() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let added = shelf.add_to_bulk(&["one", "two"]).await;
    let gathered = shelf.gather(NOW).await.unwrap();
    shelf.seal(&gathered).await;
    let shelf = shelf.reopened();
    assert_eq!(
        shelf.store.recover_interrupted(minutes(1)).await.unwrap(),
        0
    );
    for job_id in &added {
        assert_eq!(shelf.status(job_id).await, JobStatus::Submitted);
    }
    let reserved: i64 = shelf.ask("SELECT sum(reserved) FROM day_money").await;
    assert_eq!(reserved, worst("one") + worst("two"), "it stays promised");
    let due = shelf.store.remote_due(minutes(1), 9).await.unwrap();
    assert_eq!(due.len(), 1);
    assert_eq!(
        (due[0].state, due[0].requests, due[0].remote_id.as_deref()),
        (RemoteState::Sending, 2, None)
    );
    assert!(
        shelf.gather(minutes(1)).await.is_none(),
        "it is not handed over again"
    );
}

#[tokio::test]
async fn a_restart_between_reading_a_result_and_keeping_it_reads_it_again() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let added = shelf.add_to_bulk(&["one", "two"]).await;
    let handed = shelf.hand_over().await;
    shelf.lease_of(&handed[0].1).await;
    // The other one was answered, and that is kept.
    let kept = shelf.lease_of(&handed[1].1).await;
    let keeping = shelf
        .store
        .keep_answer(kept, answer(), settled(), minutes(1));
    assert!(keeping.await.unwrap());
    let shelf = shelf.reopened();
    shelf.store.recover_interrupted(minutes(2)).await.unwrap();
    assert_eq!(shelf.status(&added[0]).await, JobStatus::Submitted);
    assert_eq!(
        shelf.status(&added[1]).await,
        JobStatus::Pending,
        "its answer is only to be published"
    );
    assert!(
        matches!(shelf.take_in(&handed[1].1, true).await, TakenIn::Done),
        "what is kept is not dealt with again"
    );
    let lease = shelf.lease_of(&handed[0].1).await;
    assert_eq!(lease.number, 1, "it is the same attempt");
    shelf.finish(&lease, minutes(3)).await;
    assert_eq!(shelf.status(&added[0]).await, JobStatus::Completed);
    // And the kept one is published by a claim, for which nobody is asked.
    let claimed = shelf.claim(9, minutes(3)).await;
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].lease.job_id, added[1]);
    let settled: i64 = shelf.ask("SELECT sum(settled) FROM day_money").await;
    assert_eq!(settled, 1_200, "each was paid once");
}

#[tokio::test]
async fn what_was_called_off_is_kept_where_it_was_paid_and_recorded_where_it_was_not() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let added = shelf.add_to_bulk(&["one", "two", "six"]).await;
    let handed = shelf.hand_over().await;
    let all: Vec<&JobId> = added.iter().collect();
    assert_eq!(shelf.act(&all, BulkAction::Cancel, NOW).await.jobs, 3);
    let due = shelf.store.remote_due(NOW, 9).await.unwrap();
    assert!(
        due[0].is_to_be_called_off(),
        "nobody wants any of it: {due:?}"
    );
    assert_eq!(
        shelf.act(&[&added[2]], BulkAction::Purge, NOW).await.jobs,
        1
    );
    // Removing is done by parts elsewhere.
    let purge = crate::store::Purge::Selected(crate::model::Selection::one(added[2].clone()));
    shelf.store.purge_some(purge, i64::MAX, 9).await.unwrap();
    let paid = shelf.lease_of(&handed[0].1).await;
    shelf.finish(&paid, minutes(1)).await;
    assert_eq!(shelf.status(&added[0]).await, JobStatus::Completed);
    let nothing = Settlement::Nothing { asked: false };
    for (custom_id, settlement) in [(&handed[1].1, nothing), (&handed[2].1, settled())] {
        let TakenIn::Unwanted { lease, model } = shelf.take_in(custom_id, false).await else {
            panic!("{custom_id} is wanted by nobody");
        };
        assert_eq!(model, SONNET);
        shelf
            .store
            .settle_unwanted(custom_id.clone(), lease, settlement, minutes(1))
            .await
            .unwrap();
    }
    assert_eq!(shelf.status(&added[1]).await, JobStatus::Cancelled);
    let money: i64 = shelf.ask("SELECT sum(settled) FROM day_money").await;
    assert_eq!(money, 1_200, "also what a removed job cost is counted");
    let open: i64 = shelf
        .ask("SELECT sum(reserved + unknown) FROM day_money")
        .await;
    assert_eq!(open, 0);
}

#[tokio::test]
async fn with_calls_of_their_own_again_jobs_are_claimed_and_what_is_out_stays_out() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let out = shelf.add_to_bulk(&["one", "two"]).await;
    let handed = shelf.hand_over().await;
    shelf.by_batch(|lane| lane.delivery = Delivery::Each).await;
    let later = shelf.add_to_bulk(&["three", "four"]).await;
    let claimed = shelf.claim(9, NOW).await;
    let taken: Vec<&JobId> = claimed.iter().map(|job| &job.lease.job_id).collect();
    assert_eq!(taken, [&later[0], &later[1]]);
    assert!(claimed.iter().all(|job| job.delivery == Delivery::Each));
    let lease = shelf.lease_of(&handed[0].1).await;
    assert_eq!(lease.job_id, out[0]);
    assert_eq!(shelf.look(&out[0]).await.job.provider, Provider::Claude);
}

#[tokio::test]
async fn a_pilot_is_asked_call_by_call_and_the_others_are_handed_over_after_it() {
    let shelf = shelf();
    shelf.by_batch(|_| {}).await;
    let mut new = batch(&["one", "two", "six"]);
    new.queue = QueueName::Bulk;
    new.pilot = vec![new.jobs[1].job_id.clone()];
    let batch_id = new.batch_id.clone();
    let jobs = shelf.submit(new, NOW).await;
    assert!(
        shelf.gather(NOW).await.is_none(),
        "a pilot that takes a day shows nothing in time"
    );
    let outlook = shelf.store.outlook(local(NOW)).await.unwrap();
    assert!(
        outlook.lanes.iter().all(|lane| lane.obstacle.is_none()),
        "it can run at once"
    );
    let claimed = shelf.claim(9, NOW).await;
    assert_eq!(claimed.len(), 1, "the others wait for it");
    assert_eq!(claimed[0].lease.job_id, jobs[1]);
    assert_eq!(claimed[0].delivery, Delivery::Each);
    shelf.finish(&claimed[0].lease, NOW).await;
    let released = shelf
        .store
        .release_pilot(batch_id, Changes::default(), NOW)
        .await
        .unwrap();
    assert_eq!(released.map(|jobs| jobs.len()), Some(2));
    assert!(
        shelf.claim(9, NOW).await.is_empty(),
        "they are handed over, not asked one by one"
    );
    assert_eq!(shelf.gather(NOW).await.unwrap().jobs.len(), 2);
}
