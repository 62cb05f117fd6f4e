//! What answers look like: fields as a table, prose with its pages, prompts with their values.

use gistmill_engine::model::{
    Cause, JobStatus, LeftOutReason, Provider, QueueName, ResultFormat, RetryChanges, Selection,
    Submission,
};
use gistmill_testkit::fake_claude::{Reply, Rule};

use crate::support::{House, submission};

fn asked_with(template: &str) -> Submission {
    Submission {
        template: template.to_owned(),
        ..submission(QueueName::High, Provider::Claude)
    }
}

#[tokio::test]
async fn fields_are_asked_for_by_a_schema_and_stored_in_the_order_of_the_template() {
    let house = House::working().await;
    let mut wanted = asked_with("contract-key-terms-v1");
    wanted
        .variables
        .insert("language".to_owned(), "German".to_owned());
    let submitted = house.add_as(&["lease.pdf", "Vertrag.pdf"], wanted).await;
    house.until_completed(&submitted).await;
    let detail = house.job(&submitted.job_ids[0]).await;
    assert!(detail.job.has_fields);
    let result = detail.result.unwrap();
    assert_eq!(result.format, ResultFormat::Json);
    assert!(result.path.ends_with(".json"), "{}", result.path);
    let stored = std::fs::read_to_string(&result.path).unwrap();
    let read: serde_json::Value = serde_json::from_str(&stored).unwrap();
    assert_eq!(read["notice_period_days"], 30);
    let places: Vec<_> = ["parties", "subject", "effective_date", "amount"]
        .map(|name| stored.find(&format!("\"{name}\"")).unwrap())
        .to_vec();
    assert!(
        places.is_sorted(),
        "the fields must come in the order of the template: {stored}"
    );
    assert!(
        result.markdown.contains("| notice_period_days | 30 |"),
        "a person reads a table: {}",
        result.markdown
    );
    for request in house.claude.requests() {
        let schema = request.schema.unwrap();
        assert_eq!(schema["required"][0], "parties");
        assert!(request.prompt.contains("German"), "{}", request.prompt);
        assert!(!request.prompt.contains("{language}"));
    }
}

#[tokio::test]
async fn an_answer_that_is_no_set_of_fields_needs_review_and_is_kept_as_it_came() {
    let house = House::working().await;
    house.claude.script(Rule::titled(
        "odd",
        Reply::text("I could not find any terms."),
    ));
    let submitted = house
        .add_as(
            &["odd.pdf", "even.pdf"],
            asked_with("contract-key-terms-v1"),
        )
        .await;
    let odd = house
        .until_status(&submitted.job_ids[0], JobStatus::NeedsReview)
        .await;
    assert_eq!(odd.job.cause, Some(Cause::FieldsInvalid));
    let result = odd.result.unwrap();
    assert_eq!(result.markdown, "I could not find any terms.");
    house
        .until_status(&submitted.job_ids[1], JobStatus::Completed)
        .await;
}

#[tokio::test]
async fn cited_prose_names_the_pages_that_the_provider_tells() {
    let house = House::working().await;
    let submitted = house
        .add_as(&["a.pdf", "b.pdf"], asked_with("research-paper-brief-v1"))
        .await;
    house.until_completed(&submitted).await;
    let result = house.job(&submitted.job_ids[0]).await.result.unwrap();
    assert!(
        result
            .markdown
            .contains("- The first page says what it is about. (p. 1)\n- The beginning"),
        "pieces of one flow are joined, with their pages: {}",
        result.markdown
    );
    assert!(house.claude.requests().iter().all(|request| request.cited));
}

#[tokio::test]
async fn fields_are_never_asked_of_the_offline_summary() {
    let house = House::working().await;
    let report = house
        .engine
        .scan(house.put_pdfs(&["a.pdf", "b.pdf"]))
        .await
        .unwrap();
    let wanted = Submission {
        provider: Provider::Offline,
        ..asked_with("contract-key-terms-v1")
    };
    let error = house
        .engine
        .submit_scan(report.scan_id, wanted)
        .await
        .unwrap_err();
    assert!(error.problem().hint.contains("Use Claude"), "{error}");
    let submitted = house
        .engine
        .submit_scan(report.scan_id, asked_with("contract-key-terms-v1"))
        .await
        .unwrap();
    house.until_completed(&submitted).await;
    let plan = house
        .engine
        .plan_retry(
            Selection::Jobs {
                job_ids: submitted.job_ids,
            },
            RetryChanges {
                provider: Some(Provider::Offline),
                completed: true,
                ..RetryChanges::default()
            },
        )
        .await
        .unwrap();
    assert_eq!(plan.would_run, 0);
    assert_eq!(plan.would_not[0].reason, LeftOutReason::FieldsNeedClaude);
}
