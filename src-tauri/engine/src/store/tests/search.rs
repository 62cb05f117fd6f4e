//! Finding jobs by words, also before the index knows them.

use super::support::*;
use crate::model::{
    AttemptOutcome, Cause, ConsumerPlace, JobFilter, JobId, JobsShown, QueueName, Selection,
};
use crate::store::lists::ListContext;
use crate::store::{AfterAttempt, Changes, NewBatch, Purge};

impl Shelf {
    async fn find(&self, text: &str) -> Vec<String> {
        let filter = JobFilter {
            text: Some(text.to_owned()),
            ..JobFilter::default()
        };
        let context = ListContext {
            local: local(NOW),
            consumer: ConsumerPlace::Here,
        };
        let page = self.store.jobs(filter, None, 100, context).await.unwrap();
        assert_eq!(page.total, page.jobs.len() as u64);
        let mut titles: Vec<_> = page.jobs.into_iter().map(|job| job.title).collect();
        titles.sort();
        titles
    }

    /// Adds what is due to the index, as the janitor does; returns in how many rounds.
    async fn index(&self, at_once: u32) -> u32 {
        for round in 0..100 {
            let due = self.store.unindexed(at_once).await.unwrap();
            if due.is_empty() {
                return round;
            }
            let jobs = due
                .into_iter()
                .map(|job| {
                    let text = job.result_key.as_ref().map(|_| "The rent is 900 euros.");
                    (job, text.unwrap_or_default().to_owned())
                })
                .collect();
            self.store.index(jobs).await.unwrap();
        }
        panic!("indexing does not come to an end");
    }
}

#[tokio::test]
async fn a_job_is_found_before_and_after_it_is_indexed() {
    let shelf = shelf();
    shelf
        .add(&["Report2026Q3.pdf", "Lease.pdf", "東京の報告書.pdf"])
        .await;
    for indexed in [false, true] {
        assert_eq!(
            shelf.find("lease").await,
            ["Lease.pdf"],
            "indexed: {indexed}"
        );
        assert_eq!(shelf.find("2026").await, ["Report2026Q3.pdf"]);
        assert_eq!(shelf.find("報告").await, ["東京の報告書.pdf"]);
        assert_eq!(shelf.find("pdf").await.len(), 3);
        assert!(shelf.find("nothing").await.is_empty());
        shelf.index(2).await;
    }
}

#[tokio::test]
async fn a_job_that_changed_before_it_was_indexed_hides_no_other() {
    let shelf = shelf();
    let titles: Vec<String> = (0..30).map(|number| format!("paper {number:02}")).collect();
    let prompts: Vec<&str> = titles.iter().map(String::as_str).collect();
    let added = shelf.add(&prompts).await;
    // The last one fails at once, so that its words are due before those of the others.
    shelf
        .store
        .move_jobs(vec![added[29].clone()], crate::model::Place::Top)
        .await
        .unwrap();
    let job = shelf.claim(1, NOW).await.remove(0);
    let next = AfterAttempt::Failed;
    let end = refused(AttemptOutcome::Failed, Cause::InvalidRequest, next);
    shelf.end(&job.lease, end, NOW).await;
    shelf.index(4).await;
    assert_eq!(shelf.find("paper").await.len(), 30, "every job is found");
    assert_eq!(shelf.find("invalidrequest").await, ["paper 29"]);
}

#[tokio::test]
async fn errors_results_and_batches_are_found_and_old_words_are_not() {
    let shelf = shelf();
    let named = NewBatch {
        name: "Autumn leases".to_owned(),
        ..batch(&["one", "two"])
    };
    let added = shelf.submit(named, NOW).await;
    shelf.index(10).await;
    assert_eq!(shelf.find("autumn").await, ["one", "two"]);
    let claimed = shelf.claim(2, NOW).await;
    let next = AfterAttempt::Failed;
    let end = refused(AttemptOutcome::Failed, Cause::PromptTooLong, next);
    shelf.end(&claimed[0].lease, end, NOW).await;
    shelf.finish(&claimed[1].lease, NOW).await;
    shelf.index(10).await;
    assert_eq!(shelf.find("prompttoolong").await, ["one"]);
    assert_eq!(shelf.find("rent 900").await, ["two"]);
    let put_back = shelf.store.redrive(vec![1], Changes::default(), NOW);
    assert_eq!(put_back.await.unwrap(), [added[0].clone()]);
    shelf.index(10).await;
    assert!(shelf.find("prompttoolong").await.is_empty(), "that is over");
}

#[tokio::test]
async fn a_removed_job_is_not_found_and_its_place_is_not_taken() {
    let shelf = shelf();
    let added = shelf.add(&["lease one", "lease two"]).await;
    shelf.index(10).await;
    let newest = shelf.store.newest_seq().await.unwrap();
    let purge = Purge::Selected(Selection::one(added[0].clone()));
    shelf.store.purge_some(purge, newest, 10).await.unwrap();
    shelf.add(&["lease six", "lease ten"]).await;
    shelf.index(10).await;
    assert_eq!(
        shelf.find("lease").await,
        ["lease six", "lease ten", "lease two"]
    );
}

#[tokio::test]
async fn signs_are_words_of_nobody_and_harm_nothing() {
    let shelf = shelf();
    shelf.add(&["100% sure", "a_b", "O'Brien \"x\""]).await;
    for indexed in [false, true] {
        assert_eq!(shelf.find("%").await, ["100% sure"], "indexed: {indexed}");
        assert_eq!(shelf.find("_").await, ["a_b"]);
        assert_eq!(shelf.find("o'brien").await, ["O'Brien \"x\""]);
        for hostile in [
            "NEAR(",
            "\"",
            "title:x",
            "*",
            "a OR",
            "^x",
            "'; DROP TABLE jobs; --",
        ] {
            shelf.find(hostile).await;
        }
        shelf.index(10).await;
    }
}

#[tokio::test]
async fn pages_are_newest_first_without_gaps_and_counted() {
    let shelf = shelf();
    let added = shelf.add(&["a", "b", "c", "d", "e"]).await;
    let bulk = NewBatch {
        queue: QueueName::Bulk,
        ..batch(&["f", "g"])
    };
    shelf.submit(bulk, NOW).await;
    let filter = JobFilter {
        shown: JobsShown::Waiting,
        queue: Some(QueueName::High),
        ..JobFilter::default()
    };
    let mut seen: Vec<JobId> = Vec::new();
    let mut after = None;
    loop {
        let context = ListContext {
            local: local(NOW),
            consumer: ConsumerPlace::Here,
        };
        let page = shelf
            .store
            .jobs(filter.clone(), after, 2, context)
            .await
            .unwrap();
        assert_eq!(page.total, 5);
        seen.extend(page.jobs.into_iter().map(|job| job.job_id));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let newest_first: Vec<JobId> = added.into_iter().rev().collect();
    assert_eq!(seen, newest_first);
}
