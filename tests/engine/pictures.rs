//! Pictures of pages, by the job that they belong to.

use gistmill_engine::model::{JobId, Provider, QueueName};
use gistmill_testkit::pdf;

use crate::support::{House, submission};

const PASSWORD: &str = "open sesame";

fn is_png(picture: Option<Vec<u8>>) -> bool {
    picture.is_some_and(|bytes| bytes.starts_with(b"\x89PNG\r\n\x1a\n"))
}

#[tokio::test]
async fn pages_of_jobs_are_shown_and_what_can_not_be_drawn_is_none() {
    let house = House::idle().await;
    house.put("a.pdf", &pdf::text_pdf(&["One page.", "Another page."]));
    house.put("b.pdf", &pdf::damaged_pdf());
    house.put("c.pdf", &pdf::text_pdf(&["It will be gone."]));
    house.put("d.pdf", &pdf::text_pdf(&["It will be another."]));
    let submitted = house.submit(vec![house.path("")], Provider::Claude).await;
    let picture = async |index: usize, page| {
        let job_id = submitted.job_ids[index].clone();
        house.engine.page_picture(job_id, page).await.unwrap()
    };
    let first = picture(0, 1).await;
    assert_ne!(first, picture(0, 2).await, "each page has its own");
    assert!(is_png(first.clone()));
    assert_eq!(picture(0, 3).await, None, "it has two pages");
    assert_eq!(picture(0, 0).await, None, "pages are counted from 1");
    assert_eq!(picture(1, 1).await, None, "nobody can read it");
    std::fs::remove_file(house.path("c.pdf")).unwrap();
    assert_eq!(picture(2, 1).await, None, "the file is gone");
    house.put(
        "d.pdf",
        &pdf::text_pdf(&["A longer text than that before."]),
    );
    assert_eq!(
        picture(3, 1).await,
        None,
        "the job is not about the file that lies there now"
    );
    assert_eq!(picture(0, 1).await, first);
    let unknown = house
        .engine
        .page_picture(JobId("no-such-job".to_owned()), 1)
        .await;
    assert!(unknown.is_err());
}

#[tokio::test]
async fn a_locked_file_is_shown_once_its_password_is_given() {
    let house = House::idle().await;
    house.put("a.pdf", &pdf::encrypted_pdf(&["A secret page."], PASSWORD));
    house.put("b.pdf", &pdf::text_pdf(&["An open page."]));
    let report = house.engine.scan(vec![house.path("")]).await.unwrap();
    let submitted = house
        .engine
        .submit_scan(
            report.scan_id,
            submission(QueueName::High, Provider::Claude),
        )
        .await
        .unwrap();
    let locked = submitted.job_ids[0].clone();
    let picture = async || house.engine.page_picture(locked.clone(), 1).await.unwrap();
    assert_eq!(picture().await, None);
    let selection = gistmill_engine::model::Selection::one(locked.clone());
    house
        .engine
        .unlock_jobs(selection, PASSWORD.into())
        .await
        .unwrap();
    assert!(is_png(picture().await), "what is unlocked can be shown");
}
