//! Estimates beside what the provider counts: before a submission, and after calls.

use gistmill_engine::model::{Provider, QueueName, Sends, Submission, TemplateDraft, TemplateKind};
use gistmill_testkit::fake_claude::{FakeClaude, Options};
use gistmill_testkit::pdf;

use crate::support::{House, submission};

fn asked() -> Submission {
    submission(QueueName::High, Provider::Claude)
}

#[tokio::test]
async fn files_are_counted_once_and_the_plan_tells_how_far_off_estimates_are() {
    let house = House::working().await;
    let paths = (1..=5)
        .map(|pages| house.put(&format!("{pages}.pdf"), &pdf::numbered_pdf(pages)))
        .chain([house.put("locked.pdf", &pdf::encrypted_pdf(&["Secret."], "open"))])
        .chain([house.put("web.pdf", &pdf::html_page())])
        .collect();
    let report = house.engine.scan(paths).await.unwrap();
    let plan = async || {
        let plan = house.engine.plan_submission(report.scan_id, asked()).await;
        plan.unwrap()
    };
    let before = plan().await;
    assert_eq!(before.estimates, None, "nothing was counted yet");

    let counting = house
        .engine
        .count_tokens(report.scan_id, asked())
        .await
        .unwrap();
    assert_eq!((counting.counted, counting.countable), (5, 5));
    let mut pages: Vec<_> = house
        .claude
        .counts()
        .iter()
        .map(|request| request.documents[0].pages)
        .collect();
    pages.sort_unstable();
    assert_eq!(pages, [1, 2, 3, 4, 5], "whole files that are not locked");
    let check = plan().await.estimates.unwrap();
    assert_eq!(check.calls, 5);
    assert!(
        (80..=120).contains(&check.counted_percent) && check.usually_off_percent <= 20,
        "an ordinary document is not far off: {check:?}"
    );
    house
        .engine
        .count_tokens(report.scan_id, asked())
        .await
        .unwrap();
    assert_eq!(house.claude.counts().len(), 5, "no file is counted twice");
    assert!(house.claude.requests().is_empty(), "nothing was paid");

    let after = plan().await;
    assert_eq!(after.counted, 5, "what was counted is used");
    let followed = before.input_tokens * u64::from(check.counted_percent) / 100;
    assert!(
        after.input_tokens.abs_diff(followed) * 100 <= followed,
        "and comes to what the comparison says: {} became {} by {check:?}",
        before.input_tokens,
        after.input_tokens
    );
    assert!(
        after.at_worst_micros >= before.at_worst_micros,
        "the most that it can cost is not lowered by what others counted"
    );
}

#[tokio::test]
async fn text_has_comparisons_of_its_own() {
    let house = House::working().await;
    let template = house
        .engine
        .create_template(TemplateDraft {
            name: "From the text".to_owned(),
            kind: TemplateKind::Prose,
            body: "Summarize it.".to_owned(),
            sends: Sends::Text,
            ..TemplateDraft::default()
        })
        .await
        .unwrap();
    let long = "The tenant pays the rent on the first day of every month. ".repeat(40);
    let paths = vec![
        house.put("a.pdf", &pdf::text_pdf(&[&long, &long])),
        house.put("b.pdf", &pdf::text_pdf(&[&long])),
        house.put("scan.pdf", &pdf::scanned_pdf()),
    ];
    let report = house.engine.scan(paths).await.unwrap();
    let as_text = Submission {
        template: template.template,
        ..asked()
    };
    house
        .engine
        .count_tokens(report.scan_id, as_text.clone())
        .await
        .unwrap();
    for request in house.claude.counts() {
        assert!(request.documents[0].text.is_some());
    }
    let plan = |submission| house.engine.plan_submission(report.scan_id, submission);
    let check = plan(as_text).await.unwrap().estimates.unwrap();
    assert_eq!(check.calls, 2, "what has no text is no example");
    assert_eq!(
        plan(asked()).await.unwrap().estimates,
        None,
        "PDFs are counted otherwise"
    );
}

#[tokio::test]
async fn what_can_not_be_counted_is_a_problem_and_changes_no_plan() {
    let house = House::idle().await;
    let report = house
        .engine
        .scan(house.put_pdfs(&["a.pdf", "b.pdf"]))
        .await
        .unwrap();
    let check = |submission| house.engine.count_tokens(report.scan_id, submission);
    let offline = submission(QueueName::High, Provider::Offline);
    assert!(
        check(offline)
            .await
            .unwrap_err()
            .to_string()
            .contains("counts no tokens")
    );
    let deaf = FakeClaude::start_with(Options {
        drops_documents: true,
        ..Options::default()
    })
    .await
    .unwrap();
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    house
        .set(|settings| settings.base_url = Some(deaf.url()))
        .await;
    let error = check(asked()).await.unwrap_err();
    assert!(!error.problem().hint.is_empty(), "{error}");
    house.set(|settings| settings.base_url = None).await;
    let counted = check(asked()).await.unwrap();
    assert_eq!(
        counted.counted, 2,
        "a failure is no reason not to count later"
    );
}

#[tokio::test]
async fn calls_that_were_made_are_compared_with_their_estimates() {
    let house = House::working().await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    for job_id in &submitted.job_ids {
        let attempt = &house.job(job_id).await.attempts[0];
        let estimated = attempt.estimated_input_tokens.unwrap();
        assert!(estimated > 1_500, "a page has a picture: {estimated}");
    }
    let report = house.engine.scan(house.put_pdfs(&["c.pdf"])).await.unwrap();
    let plan = house.engine.plan_submission(report.scan_id, asked()).await;
    let check = plan.unwrap().estimates.unwrap();
    assert_eq!(check.calls, 2);
    assert!((80..=120).contains(&check.counted_percent), "{check:?}");
}
