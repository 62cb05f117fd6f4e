//! A summary beside its PDF: quotes that are checked, the document in pieces, and reviews.

use gistmill_engine::model::{
    BulkAction, Cause, JobId, JobStatus, ProblemCode, Provider, QueueName, QuoteVerdict, Selection,
    Submission, Unchecked,
};
use gistmill_testkit::fake_claude::{BatchSettings, Reply, Rule};
use gistmill_testkit::pdf;

use crate::batch_lane::{WORK, house_with, pass, until_handed};
use crate::support::{House, submission};

const PASSWORD: &str = "open sesame";

#[tokio::test]
async fn quotes_are_checked_against_the_pages_and_what_can_not_be_checked_says_why() {
    let house = House::working().await;
    let summary = "It says \u{201c}the mill grinds what the stream brings\u{201d} (p. 2), and \
        \u{201c}the mill grinds what the river brings\u{201d} (p. 2). Also (pp. 1\u{2013}2).";
    house.claude.script(Rule::always(Reply::text(summary)));
    let pages = ["A first page.", "The mill grinds what the stream brings."];
    house.put("a.pdf", &pdf::text_pdf(&pages));
    house.put("b.pdf", &pdf::text_pdf(&["Its file will be another one."]));
    house.put("c.pdf", &pdf::text_pdf(&["Its file will be gone."]));
    let submitted = house.submit(vec![house.path("")], Provider::Claude).await;
    house.until_completed(&submitted).await;
    let reading = async |index: usize| {
        let job_id = submitted.job_ids[index].clone();
        house.engine.reading(job_id).await.unwrap()
    };
    let first = reading(0).await;
    assert_eq!(first.unchecked, None);
    assert_eq!(first.cited_pages, [1, 2]);
    let verdicts: Vec<_> = first.quotes.iter().map(|quote| &quote.verdict).collect();
    assert_eq!(verdicts[0], &QuoteVerdict::Found { page: 2 });
    assert_eq!(
        verdicts[1],
        &QuoteVerdict::Differs {
            page: 2,
            words: "The mill grinds what the stream brings".to_owned()
        }
    );
    house.put(
        "b.pdf",
        &pdf::text_pdf(&["It is another one by now, and longer."]),
    );
    assert_eq!(reading(1).await.unchecked, Some(Unchecked::FileChanged));
    std::fs::remove_file(house.path("c.pdf")).unwrap();
    let gone = reading(2).await;
    assert_eq!(gone.unchecked, Some(Unchecked::FileMissing));
    assert_eq!(
        gone.quotes[0].verdict,
        QuoteVerdict::Unchecked,
        "nobody is accused without a look"
    );
}

#[tokio::test]
async fn a_pdf_is_handed_out_in_pieces_and_never_another_file() {
    let house = House::idle().await;
    let bytes = pdf::text_pdf(&["One page.", "Another page."]);
    house.put("a.pdf", &bytes);
    house.put("b.pdf", &pdf::text_pdf(&["It is not opened."]));
    let submitted = house.submit(vec![house.path("")], Provider::Claude).await;
    let (job_id, other) = (&submitted.job_ids[0], &submitted.job_ids[1]);
    let file = house.engine.open_document(job_id.clone()).await.unwrap();
    assert_eq!((file.bytes, file.pages), (bytes.len() as u64, Some(2)));
    let piece = async |offset, length| {
        let job_id = job_id.clone();
        house.engine.document_bytes(job_id, offset, length).await
    };
    assert_eq!(piece(0, u32::MAX).await.unwrap(), bytes);
    assert_eq!(piece(5, 10).await.unwrap(), bytes[5..15]);
    assert!(piece(file.bytes, 10).await.unwrap().is_empty());
    let unopened = house.engine.document_bytes(other.clone(), 0, 10).await;
    assert_eq!(unopened.unwrap_err().problem().code, ProblemCode::Conflict);
    house.put("a.pdf", &pdf::text_pdf(&["A secret of somebody else."]));
    let changed = piece(0, 10).await.unwrap_err().problem();
    assert_eq!(changed.code, ProblemCode::Conflict, "{changed:?}");
    house.engine.close_document(job_id);
    std::fs::remove_file(house.path("a.pdf")).unwrap();
    let gone = house.engine.open_document(job_id.clone()).await;
    assert_eq!(gone.unwrap_err().problem().code, ProblemCode::NotFound);
}

#[tokio::test]
async fn a_locked_pdf_is_lent_without_its_password_until_it_is_closed() {
    let house = House::idle().await;
    house.put("a.pdf", &pdf::encrypted_pdf(&["A secret page."], PASSWORD));
    house.put("b.pdf", &pdf::text_pdf(&["An open page."]));
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    let wanted = submission(QueueName::High, Provider::Claude);
    let submitted = house
        .engine
        .submit_scan(report.scan_id, wanted)
        .await
        .unwrap();
    let locked = submitted.job_ids[0].clone();
    let refused = house.engine.open_document(locked.clone()).await;
    let refused = refused.unwrap_err().problem();
    assert!(refused.message.contains("locked"), "{refused:?}");
    let selection = Selection::one(locked.clone());
    house
        .engine
        .unlock_jobs(selection, PASSWORD.into())
        .await
        .unwrap();
    let file = house.engine.open_document(locked.clone()).await.unwrap();
    let bytes = house
        .engine
        .document_bytes(locked.clone(), 0, u32::MAX)
        .await
        .unwrap();
    assert_eq!(bytes.len() as u64, file.bytes);
    assert!(bytes.starts_with(b"%PDF"));
    assert!(
        !bytes.windows(8).any(|part| part == b"/Encrypt"),
        "a window needs no password for it"
    );
    house.engine.close_document(&locked);
    let left = house.engine.document_bytes(locked, 0, 10).await;
    assert!(left.is_err(), "what is closed is not handed out");
}

#[tokio::test]
async fn a_person_takes_a_result_for_good_and_may_undo_it() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("long", Reply::stopped("max_tokens")));
    let submitted = house.add(&["long.pdf", "short.pdf"]).await;
    let (long, short) = (&submitted.job_ids[0], &submitted.job_ids[1]);
    let before = house.until_status(long, JobStatus::NeedsReview).await;
    house.until_status(short, JobStatus::Completed).await;
    assert!(house.act(long, BulkAction::MarkReviewed).await);
    assert!(
        !house.act(short, BulkAction::MarkReviewed).await,
        "it never needed one"
    );
    assert!(
        !house.act(short, BulkAction::UnmarkReviewed).await,
        "it was completed by itself"
    );
    let reviewed = house.job(long).await;
    assert_eq!(reviewed.job.status, JobStatus::Completed);
    assert!(reviewed.job.reviewed);
    assert_eq!(reviewed.job.cause, None);
    assert_eq!(
        reviewed.result.map(|result| result.sha256),
        before.result.map(|result| result.sha256),
        "its result stays"
    );
    assert!(!house.job(short).await.job.reviewed);
    assert!(house.act(long, BulkAction::UnmarkReviewed).await);
    let undone = house.job(long).await.job;
    assert_eq!(undone.status, JobStatus::NeedsReview);
    assert_eq!(undone.cause, Some(Cause::CutOff));
    assert_eq!(undone.error, before.job.error);
    assert!(!undone.reviewed);
}

/// Asks for an answer that cites, about each file of the drop folder.
async fn add_cited(house: &House, queue: QueueName) -> Vec<JobId> {
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    let wanted = Submission {
        template: "research-paper-brief-v1".to_owned(),
        ..submission(queue, Provider::Claude)
    };
    let submitted = house.engine.submit_scan(report.scan_id, wanted).await;
    submitted.unwrap().job_ids
}

/// Asserts that a reader is shown what the provider cited for a job: its first page, and the first two.
async fn assert_cited(house: &House, job_id: &JobId) {
    house.until_status(job_id, JobStatus::Completed).await;
    let reading = house.engine.reading(job_id.clone()).await.unwrap();
    let cited: Vec<_> = reading
        .passages
        .iter()
        .map(|passage| (passage.first_page, passage.last_page, passage.text.as_str()))
        .collect();
    let words = "What the document says.";
    assert_eq!(
        cited,
        [(1, 1, words), (1, 2, words)],
        "the words are kept, each once"
    );
    assert_eq!(reading.cited_pages, [1, 2]);
}

#[tokio::test]
async fn what_was_cited_is_kept_with_the_result_also_where_that_serves_again() {
    let house = House::working().await;
    house.put("a.pdf", &pdf::numbered_pdf(3));
    house.put("b.pdf", &pdf::numbered_pdf(4));
    for job_id in add_cited(&house, QueueName::High).await {
        assert_cited(&house, &job_id).await;
    }
    for job_id in add_cited(&house, QueueName::High).await {
        assert_cited(&house, &job_id).await;
        assert!(house.job(&job_id).await.job.reused, "nobody was asked");
    }
}

#[tokio::test]
async fn what_was_cited_arrives_by_the_batch_api_too() {
    let house = house_with(BatchSettings::default()).await;
    house.put("a.pdf", &pdf::numbered_pdf(3));
    house.put("b.pdf", &pdf::numbered_pdf(4));
    let job_ids = add_cited(&house, QueueName::Bulk).await;
    for job_id in &job_ids {
        until_handed(&house, job_id).await;
    }
    pass(&house, WORK);
    for job_id in &job_ids {
        assert_cited(&house, job_id).await;
    }
}
