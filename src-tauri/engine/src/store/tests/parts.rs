//! Parts of long documents: each answer kept once, each step with retries of its own.

use super::support::*;
use crate::model::{
    AttemptOutcome, AttemptStep, BulkAction, Cause, DocumentFacts, DocumentView, Encryption, JobId,
    JobStatus, PageRange, Provider, Selection, Sends, Sha256, Timestamp,
};
use crate::parts::Part;
use crate::store::{AfterAttempt, Changes, ClaimedJob, NewAnswer, NewBatch, NewInput, NewJob};

/// Returns a batch of long documents, each of 90 pages in three parts.
fn long(names: &[&str]) -> NewBatch {
    let parts = [1, 31, 61].map(|first| Part {
        pages: PageRange {
            first,
            last: first + 29,
        },
        text: None,
    });
    NewBatch {
        template: Some(("pdf-summarize".to_owned(), 1)),
        jobs: names
            .iter()
            .map(|name| NewJob {
                job_id: JobId::generate(),
                title: (*name).to_owned(),
                input: NewInput::Pdf {
                    path: format!("/there/{name}"),
                    relative_path: (*name).to_owned(),
                    modified_ms: 0,
                    document: Some(DocumentView {
                        sha256: Sha256::of(name.as_bytes()),
                        bytes: 1_000,
                        pages: Some(90),
                        encryption: Encryption::None,
                        has_text: None,
                        facts: DocumentFacts::default(),
                        finding: None,
                    }),
                    measures: None,
                },
                finding: None,
                reused: None,
                parts: parts.to_vec(),
            })
            .collect(),
        ..batch(&[])
    }
}

impl Shelf {
    async fn keep_part(&self, job: &ClaimedJob, now: Timestamp) -> bool {
        let AttemptStep::Part { pages } = job.step else {
            panic!("a part was expected, not {:?}", job.step)
        };
        self.store
            .keep_part(job.lease.clone(), pages, answer(), settled(), now)
            .await
            .unwrap()
    }
}

fn first_page(job: &ClaimedJob) -> Option<u32> {
    match job.step {
        AttemptStep::Part { pages } => Some(pages.first),
        AttemptStep::Whole | AttemptStep::Combine => None,
    }
}

#[tokio::test]
async fn a_document_under_way_stays_before_those_that_came_after_it() {
    let shelf = shelf();
    shelf.submit(long(&["a", "b"]), NOW).await;
    let mut order = Vec::new();
    for second in 0..7 {
        let job = shelf.claim(1, seconds(second)).await.remove(0);
        order.push((job.title.clone(), first_page(&job)));
        match job.step {
            AttemptStep::Part { .. } => assert!(shelf.keep_part(&job, seconds(second)).await),
            AttemptStep::Whole | AttemptStep::Combine => {
                shelf.finish(&job.lease, seconds(second)).await;
            }
        }
    }
    let order: Vec<(&str, Option<u32>)> = order
        .iter()
        .map(|(title, first)| (title.as_str(), *first))
        .collect();
    assert_eq!(
        order,
        [
            ("a", Some(1)),
            ("a", Some(31)),
            ("a", Some(61)),
            ("a", None),
            ("b", Some(1)),
            ("b", Some(31)),
            ("b", Some(61)),
        ]
    );
}

#[tokio::test]
async fn interruptions_count_for_their_step_and_what_is_kept_is_not_asked_again() {
    let shelf = shelf();
    let added = shelf.submit(long(&["a", "b"]), NOW).await;
    shelf
        .change("UPDATE queues SET max_retries = 1")
        .await
        .unwrap();
    for job in shelf.claim(9, NOW).await {
        assert!(shelf.keep_part(&job, NOW).await);
    }
    for time in [1, 2] {
        let jobs = shelf.claim(9, minutes(time)).await;
        assert_eq!(jobs.len(), 2);
        for job in &jobs {
            assert_eq!(
                (first_page(job), job.try_number()),
                (Some(31), u32::try_from(time).unwrap())
            );
            assert_eq!(job.max_tries(), 2, "the first part took none of them");
        }
        shelf
            .store
            .recover_interrupted(minutes(time))
            .await
            .unwrap();
    }
    let record = shelf.look_at(&added[0], minutes(9)).await;
    assert_eq!(record.job.status, JobStatus::DeadLettered);
    assert_eq!((record.job.attempts, record.job.max_attempts), (3, 3));
    let put_back = shelf
        .store
        .redrive(vec![1, 2], Changes::default(), minutes(9))
        .await
        .unwrap();
    assert_eq!(put_back.len(), 2);
    let again = shelf.claim(9, minutes(9)).await;
    assert!(
        again
            .iter()
            .all(|job| first_page(job) == Some(31) && job.try_number() == 1),
        "the new run goes on where the old one ended"
    );
    let anew = Changes {
        model: Some("claude-sonnet-5-5".to_owned()),
        ..Changes::default()
    };
    for job in &again {
        assert!(shelf.keep_part(job, minutes(9)).await);
    }
    let ids: Vec<&JobId> = added.iter().collect();
    shelf.act(&ids, BulkAction::Cancel, minutes(9)).await;
    shelf
        .store
        .redrive(vec![1, 2], anew, minutes(9))
        .await
        .unwrap();
    let record = shelf.look_at(&added[0], minutes(9)).await;
    assert!(
        record.parts.is_empty() && record.job.parts.is_none(),
        "a model that takes it all is asked for it all: {:?}",
        record.parts
    );
}

#[tokio::test]
async fn a_finisher_that_lost_its_lease_records_what_its_part_cost_and_changes_nothing_else() {
    let shelf = shelf();
    let added = shelf.submit(long(&["a", "b"]), NOW).await;
    let late = shelf.claim(1, NOW).await.remove(0);
    shelf.store.recover_interrupted(seconds(1)).await.unwrap();
    assert!(!shelf.keep_part(&late, seconds(2)).await);
    let record = shelf.look(&added[0]).await;
    assert_eq!(record.job.parts.unwrap().done, 0);
    assert_eq!(record.attempts[0].outcome, AttemptOutcome::Interrupted);
    let settled: i64 = shelf
        .ask("SELECT coalesce(sum(settled), 0) FROM day_money")
        .await;
    assert_eq!(settled, 600, "the money is known");
    let next = shelf.claim(9, seconds(3)).await;
    assert_eq!(next.len(), 2, "both are claimed");
    assert!(next.iter().all(|job| first_page(job) == Some(1)));
}

#[tokio::test]
async fn a_job_paused_while_a_part_is_asked_stops_after_it() {
    let shelf = shelf();
    let added = shelf.submit(long(&["a", "b"]), NOW).await;
    let jobs = shelf.claim(9, NOW).await;
    shelf.act(&[&added[0]], BulkAction::Pause, NOW).await;
    for job in &jobs {
        assert!(shelf.keep_part(job, seconds(1)).await);
    }
    let next = shelf.claim(9, seconds(2)).await;
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].lease.job_id, added[1]);
    shelf
        .act(&[&added[0]], BulkAction::Resume, seconds(3))
        .await;
    assert_eq!(
        first_page(&shelf.claim(9, seconds(3)).await[0]),
        Some(31),
        "it goes on with the second part"
    );
}

#[tokio::test]
async fn a_retry_that_names_the_question_as_it_is_keeps_what_is_paid() {
    let shelf = shelf();
    let added = shelf.submit(long(&["a", "b"]), NOW).await;
    for job in shelf.claim(9, NOW).await {
        assert!(shelf.keep_part(&job, NOW).await);
    }
    let ids: Vec<&JobId> = added.iter().collect();
    shelf.act(&ids, BulkAction::Cancel, NOW).await;
    let template = shelf
        .store
        .template("pdf-summarize".to_owned(), 1)
        .await
        .unwrap();
    let same = Changes {
        provider: Some(Provider::Claude),
        model: Some(SONNET.to_owned()),
        template,
        sends: Some(Sends::Pdf),
        ..Changes::default()
    };
    let all = Selection::Jobs {
        job_ids: added.clone(),
    };
    let redrivable = shelf.store.redrivable(all, same.clone()).await.unwrap();
    assert!(
        redrivable.iter().all(|job| job.calls.len() == 3),
        "two parts and the whole are left to pay: {redrivable:?}"
    );
    shelf.store.redrive(vec![1, 2], same, NOW).await.unwrap();
    let again = shelf.claim(9, seconds(1)).await;
    assert_eq!(again.len(), 2);
    assert!(
        again.iter().all(|job| first_page(job) == Some(31)),
        "the first parts are not asked again"
    );
}

#[tokio::test]
async fn an_answer_that_was_never_stored_keeps_the_parts_it_was_made_of() {
    let shelf = shelf();
    let added = shelf.submit(long(&["a", "b"]), NOW).await;
    for second in 0..3 {
        for job in shelf.claim(9, seconds(second)).await {
            let AttemptStep::Part { pages } = job.step else {
                panic!("a part was expected, not {:?}", job.step)
            };
            let cut_off = NewAnswer {
                review: Some((Cause::CutOff, "Cut off.".to_owned())),
                ..answer()
            };
            let lease = job.lease.clone();
            let kept = shelf
                .store
                .keep_part(lease, pages, cut_off, settled(), seconds(second));
            assert!(kept.await.unwrap());
        }
    }
    for job in shelf.claim(9, seconds(3)).await {
        let lease = job.lease.clone();
        let kept = shelf
            .store
            .keep_answer(lease, answer(), settled(), seconds(3));
        assert!(kept.await.unwrap());
        let end = refused(
            AttemptOutcome::Failed,
            Cause::StorageFailed,
            AfterAttempt::Failed,
        );
        assert!(shelf.end(&job.lease, end, seconds(3)).await);
    }
    shelf
        .store
        .redrive(vec![1, 2], Changes::default(), seconds(4))
        .await
        .unwrap();
    let again = shelf.claim(9, seconds(4)).await;
    assert!(
        again.iter().all(|job| job.step == AttemptStep::Combine),
        "nothing is asked again before the answer is published: {again:?}"
    );
    for job in &again {
        let lease = job.lease.clone();
        let completed = shelf
            .store
            .complete(lease, result(&job.lease.job_id), seconds(4));
        assert!(completed.await.unwrap());
    }
    for job_id in &added {
        let record = shelf.look(job_id).await;
        let parts = record.job.parts.unwrap();
        assert_eq!((parts.done, parts.total), (3, 3));
    }
}
