//! Copies of results outside the library: mirrored folders, names that are taken, drives that vanish.

use std::path::PathBuf;
use std::time::Duration;

use gistmill_engine::model::{
    BatchReport, CopiesTo, JobDetail, JobId, NameTaken, Provider, RetryChanges, Selection,
    Submitted,
};

use crate::support::House;

/// A house whose copies go to a folder.
async fn mirroring(name_taken: NameTaken) -> (House, PathBuf) {
    let house = House::working().await;
    let output = house.folder.path().join("out");
    let folder = output.to_string_lossy().into_owned();
    house
        .set(|settings| {
            settings.copies_to = CopiesTo::Folder;
            settings.output_folder = Some(folder);
            settings.name_taken = name_taken;
            settings.batch_csv = false;
            settings.batch_jsonl = false;
            settings.batch_markdown = false;
        })
        .await;
    (house, output)
}

async fn add_folder(house: &House, names: &[&str]) -> Submitted {
    house.put_pdfs(names);
    let folder = house.folder.path().join("drop");
    house.submit(vec![folder], Provider::Claude).await
}

/// Waits for the copy of a job's newest run, turning the clock.
async fn until_copied(house: &House, job_id: &JobId, generation: u32) -> JobDetail {
    let look = async || {
        Some(house.job(job_id).await).filter(|detail| {
            detail.result.as_ref().is_some_and(|result| {
                result.generation == generation
                    && (result.copy_path.is_some() || result.copy_error.is_some())
            })
        })
    };
    match house.turning_until(Duration::from_secs(30), look).await {
        Some(detail) => detail,
        None => panic!("no copy came of {:#?}", house.job(job_id).await),
    }
}

fn copy_of(detail: &JobDetail) -> String {
    let result = detail.result.as_ref().unwrap();
    result
        .copy_path
        .clone()
        .unwrap_or_else(|| panic!("no copy was made: {:?}", result.copy_error))
}

#[tokio::test]
async fn copies_are_mirrored_and_names_of_any_kind_and_length_survive() {
    let (house, output) = mirroring(NameTaken::Number).await;
    let long = format!("{}.pdf", "長".repeat(66));
    let names = [
        "2026/q1/報告 – März.pdf",
        long.as_str(),
        "deep/er/a+b%20c.pdf",
    ];
    let submitted = add_folder(&house, &names).await;
    let mut found = Vec::new();
    for job_id in &submitted.job_ids {
        let detail = until_copied(&house, job_id, 1).await;
        let copy = PathBuf::from(copy_of(&detail));
        assert_eq!(
            std::fs::read(&copy).unwrap(),
            std::fs::read(detail.result.unwrap().path).unwrap()
        );
        let within = copy.strip_prefix(output.join("drop")).unwrap();
        found.push(within.to_string_lossy().into_owned());
    }
    found.sort();
    assert_eq!(
        found,
        [
            "2026/q1/報告 – März.summary.md".to_owned(),
            "deep/er/a+b%20c.summary.md".to_owned(),
            format!("{}.summary.md", "長".repeat(66)),
        ]
    );
    let report = house
        .engine
        .scan(vec![house.folder.path().to_owned()])
        .await;
    assert_eq!(
        report.unwrap().files.len(),
        3,
        "the output folder is never taken as input"
    );
}

#[tokio::test]
async fn an_edited_copy_is_kept_and_an_unedited_one_is_replaced() {
    let (house, _) = mirroring(NameTaken::Overwrite).await;
    let submitted = add_folder(&house, &["a.pdf", "b.pdf"]).await;
    let [a, b] = &submitted.job_ids[..] else {
        panic!("two jobs were added");
    };
    let (copy_a, copy_b) = (
        copy_of(&until_copied(&house, a, 1).await),
        copy_of(&until_copied(&house, b, 1).await),
    );
    std::fs::write(&copy_b, "my own words").unwrap();
    let again = RetryChanges {
        completed: true,
        ..RetryChanges::default()
    };
    let selection = Selection::Jobs {
        job_ids: submitted.job_ids.clone(),
    };
    assert_eq!(house.engine.retry(selection, again).await.unwrap().jobs, 2);
    let (second_a, second_b) = (
        until_copied(&house, a, 2).await,
        until_copied(&house, b, 2).await,
    );
    assert_eq!(copy_of(&second_a), copy_a, "nobody edited it");
    assert_eq!(
        std::fs::read_to_string(&copy_b).unwrap(),
        "my own words",
        "an edited file is never overwritten"
    );
    assert!(
        copy_of(&second_b).ends_with("b.summary 2.md"),
        "{}",
        copy_of(&second_b)
    );
    let note = second_b.result.unwrap().copy_error.unwrap();
    assert!(note.contains("was kept"), "{note}");
}

#[tokio::test]
async fn a_taken_name_can_be_skipped_and_says_so() {
    let (house, output) = mirroring(NameTaken::Skip).await;
    std::fs::create_dir_all(output.join("drop")).unwrap();
    std::fs::write(output.join("drop/a.summary.md"), "there before").unwrap();
    let submitted = add_folder(&house, &["a.pdf", "b.pdf"]).await;
    let a = until_copied(&house, &submitted.job_ids[0], 1).await;
    let result = a.result.unwrap();
    assert_eq!(result.copy_path, None);
    let note = result.copy_error.unwrap();
    assert!(note.contains("a.summary.md was there already"), "{note}");
    assert_eq!(
        std::fs::read_to_string(output.join("drop/a.summary.md")).unwrap(),
        "there before"
    );
    copy_of(&until_copied(&house, &submitted.job_ids[1], 1).await);
}

#[tokio::test]
async fn a_drive_that_vanishes_is_told_and_its_copies_are_made_when_it_is_back() {
    let (house, output) = mirroring(NameTaken::Number).await;
    std::fs::remove_dir(&output).unwrap();
    let submitted = add_folder(&house, &["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    let waiting = until_copied(&house, &submitted.job_ids[0], 1).await;
    let result = waiting.result.unwrap();
    assert!(
        result.copy_error.unwrap().contains("not there any more"),
        "the person must hear what is wrong"
    );
    assert!(result.copy_retry_at.is_some(), "and that it is tried again");
    assert!(
        !output.exists(),
        "a vanished drive's folder is not made on what lies below"
    );
    std::fs::create_dir(&output).unwrap();
    for job_id in &submitted.job_ids {
        let copied = async || {
            let result = house.job(job_id).await.result.unwrap();
            (result.copy_path.is_some() && result.copy_error.is_none()).then_some(())
        };
        let copied = house.turning_until(Duration::from_secs(60), copied).await;
        assert!(copied.is_some(), "a copy must come after all");
    }
}

/// Waits for the files of a batch, turning the clock.
async fn until_files(house: &House, submitted: &Submitted, count: usize) -> BatchReport {
    let look = async || {
        let report = house.engine.batch_report(submitted.batch_id.clone()).await;
        Some(report.unwrap())
            .filter(|report| report.files.len() >= count || report.files_error.is_some())
    };
    match house.turning_until(Duration::from_secs(5), look).await {
        Some(report) => report,
        None => panic!("the batch never left its files"),
    }
}

#[tokio::test]
async fn a_finished_batch_leaves_one_table_and_one_document_and_keeps_edited_ones() {
    let (house, output) = mirroring(NameTaken::Number).await;
    house
        .set(|settings| {
            settings.batch_csv = true;
            settings.batch_markdown = true;
        })
        .await;
    let submitted = add_folder(&house, &["a.pdf", "b, \"the\" second.pdf"]).await;
    house.until_completed(&submitted).await;
    let report = until_files(&house, &submitted, 2).await;
    assert_eq!(report.files_error, None);
    let table = output.join("Test summaries.csv");
    let document = output.join("Test summaries.md");
    let text = std::fs::read_to_string(&table).unwrap();
    assert!(text.starts_with('\u{feff}'), "spreadsheets need the mark");
    assert!(text.contains("\"b, \"\"the\"\" second.pdf\""), "{text}");
    let whole = std::fs::read_to_string(&document).unwrap();
    assert!(whole.contains("second"), "{whole}");
    // It finishes again: what nobody edited is written anew, what somebody edited is kept.
    std::fs::write(&table, "edited by hand").unwrap();
    let again = RetryChanges {
        completed: true,
        ..RetryChanges::default()
    };
    let one = Selection::one(submitted.job_ids[0].clone());
    house.engine.retry(one, again).await.unwrap();
    until_copied(&house, &submitted.job_ids[0], 2).await;
    let second = output.join("Test summaries 2.csv");
    let written = async || second.exists().then_some(());
    let written = house.turning_until(Duration::from_secs(5), written).await;
    assert!(written.is_some(), "the edited table must be kept");
    assert_eq!(std::fs::read_to_string(&table).unwrap(), "edited by hand");
    assert!(
        !output.join("Test summaries 2.md").exists(),
        "a document that nobody edited is written anew"
    );
}
