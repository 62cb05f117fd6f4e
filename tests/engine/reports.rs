//! What became of a batch: figures that add up, and what to do next.

use std::time::{Duration, Instant};

use gistmill_engine::EngineError;
use gistmill_engine::model::{
    Cause, CopiesTo, JobFilter, JobStatus, JobsShown, Provider, QueueName, RetryChanges, Selection,
};
use gistmill_testkit::fake_claude::{Fault, Reply, Rule};

use crate::support::{House, submission};

#[tokio::test]
async fn a_report_says_what_it_cost_what_was_for_nothing_and_what_to_do() {
    let house = House::working().await;
    for (title, reply) in [
        ("cut", Reply::stopped("max_tokens")),
        ("locked", Reply::fault(Fault::PdfPasswordProtected)),
        ("locked2", Reply::fault(Fault::PdfPasswordProtected)),
    ] {
        house.claude.script(Rule::titled(title, reply));
    }
    house
        .claude
        .script(Rule::titled("slow", Reply::fault(Fault::Internal)).times(1));
    let submitted = house
        .add(&[
            "good.pdf",
            "cut.pdf",
            "locked.pdf",
            "locked2.pdf",
            "slow.pdf",
        ])
        .await;
    house.until_retrying(&submitted.job_ids[4], 1).await;
    let report = house
        .engine
        .batch_report(submitted.batch_id.clone())
        .await
        .unwrap();
    assert_eq!(report.ended_at, None, "one job is left");
    house.clock.advance(Duration::from_secs(600));
    house
        .until_status(&submitted.job_ids[4], JobStatus::Completed)
        .await;
    house
        .until_status(&submitted.job_ids[1], JobStatus::NeedsReview)
        .await;
    for locked in &submitted.job_ids[2..4] {
        house.until_status(locked, JobStatus::Failed).await;
    }
    let report = house
        .engine
        .batch_report(submitted.batch_id.clone())
        .await
        .unwrap();
    assert_eq!(report.batch.batch_id, submitted.batch_id);
    assert_eq!(report.batch.counts.total, 5);
    assert_eq!(report.batch.counts.dead_letters, 2);
    assert_eq!(report.template.as_deref(), Some("pdf-summarize-v1"));
    assert_eq!(report.model, "claude-sonnet-4-6");
    assert_eq!(report.pages, 5);
    assert_eq!((report.attempts, report.retries), (6, 1));
    assert_eq!(report.reused, 0);
    let ended_at = report.ended_at.unwrap();
    assert!(report.started_at.unwrap() < ended_at);
    let mut sums = (0, 0, 0);
    for job_id in &submitted.job_ids {
        let job = house.job(job_id).await.job;
        sums.0 += job.input_tokens;
        sums.1 += job.output_tokens;
        sums.2 += job.cost_micros.unwrap();
        assert!(job.completed_at.unwrap() <= ended_at);
    }
    assert_eq!(
        (report.input_tokens, report.output_tokens),
        (sums.0, sums.1)
    );
    assert_eq!(report.batch.money.settled_micros, sums.2);
    assert_eq!(
        report.wasted_micros, 0,
        "what was refused costs nothing, and a cut-off answer is kept"
    );
    assert_eq!(report.without_result, 0);
    let paid: Vec<i64> = report.dearest.iter().map(|job| job.cost_micros).collect();
    assert_eq!(paid.len(), 3, "jobs that cost nothing are not dear");
    assert!(paid.is_sorted_by(|one, other| one >= other), "{paid:?}");

    let steps: Vec<_> = report
        .next_steps
        .iter()
        .map(|step| (step.cause, step.review, step.jobs))
        .collect();
    assert_eq!(
        steps,
        [(Cause::PdfEncrypted, false, 2), (Cause::CutOff, true, 1)],
        "most jobs first"
    );
    for step in &report.next_steps {
        assert_eq!(step.hint, step.cause.hint());
        assert_eq!(step.fix, step.cause.fix());
        let filter = JobFilter {
            shown: if step.review {
                JobsShown::NeedsReview
            } else {
                JobsShown::DeadLetters
            },
            batch_id: Some(submitted.batch_id.clone()),
            cause: Some(step.cause),
            ..JobFilter::default()
        };
        let plan = house
            .engine
            .plan_retry(Selection::Matching { filter }, RetryChanges::default())
            .await
            .unwrap();
        assert_eq!(plan.would_run, step.jobs);
        assert_eq!(
            step.at_worst_micros, plan.at_worst_micros,
            "the report and the plan must name one price"
        );
        assert!(plan.at_worst_micros.unwrap() > 0);
    }
}

#[tokio::test]
async fn what_an_attempt_of_unknown_outcome_counts_for_is_for_nothing() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::titled("broken", Reply::Cut { after_deltas: 1 }));
    let submitted = house.add(&["broken.pdf", "good.pdf"]).await;
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
    house.until_retrying(&submitted.job_ids[0], 1).await;
    let report = house
        .engine
        .batch_report(submitted.batch_id.clone())
        .await
        .unwrap();
    assert!(report.batch.money.unknown_micros > 0);
    assert_eq!(report.wasted_micros, report.batch.money.unknown_micros);
    assert_eq!(report.without_result, 1);
}

#[tokio::test]
async fn ten_thousand_jobs_are_reported_at_once_and_the_figures_in_the_middle_are_exact() {
    let house = House::idle().await;
    let titles: Vec<String> = (0..10_000).map(|number| format!("{number}.pdf")).collect();
    let large = house.seed(&titles, "text");
    let small = house.seed(&titles[..3], "text");
    let report = house.engine.batch_report(small).await.unwrap();
    assert_eq!(report.typical_ran_ms, Some(2));
    assert_eq!(report.slow_ran_ms, Some(3));
    assert_eq!(
        report.batch.counts.total, 3,
        "another batch is not this one"
    );

    let began = Instant::now();
    let report = house.engine.batch_report(large).await.unwrap();
    let took = began.elapsed();
    println!("a report of 10,000 jobs took {took:?}");
    assert!(took < Duration::from_secs(1), "it took {took:?}");
    // The jobs ran 1 ms, 2 ms and so on.
    assert_eq!(report.typical_ran_ms, Some(5_001));
    assert_eq!(report.slow_ran_ms, Some(9_500));
    assert_eq!(report.typical_waited_ms, Some(0));
    let slowest: Vec<u64> = report.slowest.iter().map(|job| job.ran_ms).collect();
    assert_eq!(slowest, [10_000, 9_999, 9_998, 9_997, 9_996]);
    assert_eq!(report.dearest, report.slowest, "they cost as they ran");
    assert_eq!(report.input_tokens, 1_000_000);
    assert!(report.next_steps.is_empty(), "all is well");
}

#[tokio::test]
async fn the_files_of_a_batch_and_their_folder_are_told_and_may_be_opened() {
    let house = House::idle().await;
    let batch_id = house.seed(&["a.pdf".to_owned(), "b.pdf".to_owned()], "text");
    let database = house.database();
    database
        .execute(
            "INSERT INTO batch_files (batch_id, format, path, sha256, error) VALUES
                 (?1, 'csv', '/drop/Seeded.csv', ?2, NULL), (?1, 'markdown', NULL, NULL, 'No room.')",
            [batch_id.as_str(), &"0".repeat(64)],
        )
        .unwrap();
    database
        .execute("UPDATE batches SET folder = '/drop'", [])
        .unwrap();
    let folder = async |copies_to| {
        house
            .set(|settings| {
                settings.copies_to = copies_to;
                settings.output_folder = Some("/out".to_owned());
            })
            .await;
        house
            .engine
            .batch_report(batch_id.clone())
            .await
            .unwrap()
            .folder
    };
    assert_eq!(folder(CopiesTo::Nowhere).await, None);
    assert_eq!(folder(CopiesTo::Folder).await.as_deref(), Some("/out"));
    assert_eq!(folder(CopiesTo::BesidePdf).await.as_deref(), Some("/drop"));
    let report = house.engine.batch_report(batch_id.clone()).await.unwrap();
    assert_eq!(report.files, ["/drop/Seeded.csv"]);
    assert_eq!(report.files_error.as_deref(), Some("No room."));
    for (path, known) in [
        ("/drop/Seeded.csv", true),
        ("/drop", true),
        ("/out", true),
        ("/etc/passwd", false),
    ] {
        assert_eq!(
            house.engine.knows_path(path.as_ref()).await.unwrap(),
            known,
            "{path}"
        );
    }
}

#[tokio::test]
async fn batches_are_listed_newest_first_and_found_by_id_or_name() {
    let house = House::idle().await;
    let mut added = Vec::new();
    for name in ["First", "Same", "Same"] {
        let mut wanted = submission(QueueName::High, Provider::Offline);
        wanted.name = name.to_owned();
        added.push(house.add_as(&["a.pdf", "b.pdf"], wanted).await.batch_id);
    }
    let page = house.engine.batches(None, 2).await.unwrap();
    let ids: Vec<_> = page.iter().map(|batch| batch.batch_id.clone()).collect();
    assert_eq!(ids, [added[2].clone(), added[1].clone()]);
    assert_eq!(page[0].counts.total, 2);
    let rest = house.engine.batches(Some(ids[1].clone()), 2).await.unwrap();
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].batch_id, added[0]);

    let named = async |part: &str| house.engine.batch_named(part).await;
    assert_eq!(named(added[1].as_str()).await.unwrap(), added[1]);
    let end = &added[1].as_str()[added[1].as_str().len() - 12..];
    assert_eq!(named(end).await.unwrap(), added[1]);
    assert_eq!(named("First").await.unwrap(), added[0]);
    assert!(
        matches!(named("Same").await, Err(EngineError::BadInput { .. })),
        "two batches have that name"
    );
    for nothing in ["", "first", "zzz"] {
        assert!(
            matches!(named(nothing).await, Err(EngineError::NotFound { .. })),
            "{nothing:?}"
        );
    }
    let unknown = house
        .engine
        .batch_report(gistmill_engine::model::BatchId::generate());
    assert!(matches!(unknown.await, Err(EngineError::NotFound { .. })));
}
