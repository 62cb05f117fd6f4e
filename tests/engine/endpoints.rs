//! Endpoints and models as a person meets them: presets, what is learned of models, ends that are near.

use std::time::Duration;

use gistmill_engine::model::{
    AuthScheme, Cause, EndpointKind, Fix, JobStatus, KeySource, Lifecycle, ProfileSource, Provider,
    QueueName, RetryChanges, Selection, Settings, WaitingReason,
};
use gistmill_engine::provider::claude::ANTHROPIC_BASE_URL;
use gistmill_engine::{Engine, EngineConfig};
use gistmill_testkit::fake_claude::{FakeClaude, Fault, Options, Reply, Rule};

use crate::support::{House, submission};

fn jobs(job_ids: &[gistmill_engine::model::JobId]) -> Selection {
    Selection::Jobs {
        job_ids: job_ids.to_vec(),
    }
}

#[tokio::test]
async fn a_key_test_tells_models_limits_price_and_ends() {
    let house = House::working().await;
    let test = house.engine.test_key().await.unwrap();
    assert!(test.model_available && test.price_known && !test.free);
    assert_eq!(test.model.model, "claude-sonnet-4-6");
    assert_eq!(test.model.source, ProfileSource::Told);
    assert_eq!(test.notice, None);
    assert_eq!(test.requests_per_minute, Some(1_000));
    assert_eq!(test.input_tokens_per_minute, Some(2_000_000));
    assert_eq!(test.output_tokens_per_minute, Some(400_000));
    assert_eq!(test.profiles.len(), test.models.len());

    house
        .set(|settings| settings.model = "claude-opus-4-5".to_owned())
        .await;
    let test = house.engine.test_key().await.unwrap();
    assert!(
        test.model_available,
        "it is listed with the day of its snapshot"
    );
    let notice = test.notice.unwrap();
    assert_eq!(notice.lifecycle, Lifecycle::Deprecated);
    assert!(notice.message.contains("2027-01-22"), "{}", notice.message);

    house
        .set(|settings| settings.model = "claude-preview-6".to_owned())
        .await;
    assert!(!house.engine.test_key().await.unwrap().price_known);
}

#[tokio::test]
async fn what_was_learned_of_models_outlives_the_program() {
    let house = House::working().await;
    house.engine.test_key().await.unwrap();
    // The list of the program takes what it does not know for a small model; the address knows better.
    assert_eq!(
        house
            .engine
            .model_profile("claude-preview-6")
            .context_tokens,
        1_000_000
    );
    let again = house.reopen().await.unwrap();
    let profile = again.model_profile("claude-preview-6");
    assert_eq!(profile.source, ProfileSource::Told);
    assert_eq!(profile.pdf_pages, 600);
    // Elsewhere nothing was told.
    let elsewhere = FakeClaude::start().await;
    again
        .save_settings(Settings {
            base_url: Some(elsewhere.url()),
            ..again.settings().await.unwrap()
        })
        .await
        .unwrap();
    let profile = again.model_profile("claude-preview-6");
    assert_eq!(profile.source, ProfileSource::Assumed);
    assert_eq!(profile.pdf_pages, 100);
}

#[tokio::test]
async fn models_are_learned_without_being_asked_for_while_the_queue_is_worked() {
    let house = House::working().await;
    house
        .until_true("the models are known", || {
            !house.engine.models_told().is_empty()
        })
        .await;
    let asked = || {
        let all = house.claude.all_requests();
        all.iter().filter(|one| one.path == "/v1/models").count()
    };
    assert_eq!(asked(), 1);
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    assert_eq!(asked(), 1, "once a day is enough");
}

#[tokio::test]
async fn the_end_of_a_model_is_told_before_anything_is_sent() {
    let house = House::working().await;
    house
        .set(|settings| settings.model = "claude-opus-4-5-20251101".to_owned())
        .await;
    let overview = house.engine.overview().await.unwrap();
    assert_eq!(
        overview.model_notice.unwrap().successor.as_deref(),
        Some("claude-opus-5-5")
    );
    let report = house
        .engine
        .scan(house.put_pdfs(&["a.pdf", "b.pdf"]))
        .await
        .unwrap();
    let plan = house
        .engine
        .plan_submission(
            report.scan_id,
            submission(QueueName::High, Provider::Claude),
        )
        .await
        .unwrap();
    let notice = plan.model_notice.unwrap();
    assert_eq!(notice.retires_on.as_deref(), Some("2027-01-22"));
    let offline = house
        .engine
        .plan_submission(
            report.scan_id,
            submission(QueueName::High, Provider::Offline),
        )
        .await
        .unwrap();
    assert_eq!(offline.model_notice, None);
}

#[tokio::test]
async fn jobs_of_a_model_that_has_ended_wait_and_go_on_with_another() {
    let house = House::working().await;
    house
        .set(|settings| settings.model = "claude-sonnet-4-5".to_owned())
        .await;
    // The day after it has ended.
    house.clock.advance(Duration::from_secs(48 * 3600));
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    let answer = house.until_answer("claude-sonnet-4-5 was retired").await;
    assert!(answer.contains("Use claude-sonnet-5-5"), "{answer}");
    let job = house.job(&submitted.job_ids[0]).await.job;
    assert_eq!(
        job.waiting,
        Some(WaitingReason::CircuitOpen {
            cause: Cause::ModelRetired
        })
    );
    assert_eq!(job.attempts, 0, "it uses up no attempt");
    house
        .set(|settings| settings.model = "claude-sonnet-5-5".to_owned())
        .await;
    house.until_completed(&submitted).await;
    let asked = house.claude.requests().pop().unwrap();
    assert_eq!(asked.model.as_deref(), Some("claude-sonnet-5-5"));
}

#[tokio::test]
async fn running_again_tells_of_the_ends_of_models() {
    let house = House::working().await;
    house
        .claude
        .script(Rule::always(Reply::fault(Fault::ContentFiltered)).times(2));
    house
        .set(|settings| settings.model = "claude-opus-4-5".to_owned())
        .await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    for job_id in &submitted.job_ids {
        house.until_status(job_id, JobStatus::Failed).await;
    }
    let plan = house
        .engine
        .plan_retry(jobs(&submitted.job_ids), RetryChanges::default())
        .await
        .unwrap();
    assert_eq!(plan.model_notices.len(), 1, "once for both jobs");
    assert_eq!(plan.model_notices[0].model, "claude-opus-4-5");
    let changed = RetryChanges {
        model: Some("claude-opus-5-5".to_owned()),
        ..RetryChanges::default()
    };
    let plan = house
        .engine
        .plan_retry(jobs(&submitted.job_ids), changed)
        .await
        .unwrap();
    assert!(plan.model_notices.is_empty());
}

#[tokio::test]
async fn a_local_endpoint_is_one_call_away() {
    let house = House::working().await;
    let ollama = FakeClaude::start_with(Options {
        drops_documents: true,
        ..Options::default()
    })
    .await
    .unwrap();
    let before = house.engine.endpoint().await.unwrap();
    let view = house
        .engine
        .use_endpoint(
            EndpointKind::Ollama,
            Some(ollama.url()),
            Some("claude-haiku-4-5".to_owned()),
        )
        .await
        .unwrap();
    assert_eq!(view.kind, EndpointKind::Ollama);
    assert_eq!(view.auth, AuthScheme::Bearer);
    assert!(view.text_only && view.local && !view.abilities.documents);
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house.until_completed(&submitted).await;
    for request in ollama.requests() {
        assert!(
            request.documents.is_empty(),
            "text goes as a part of the prompt"
        );
        assert!(request.prompt.contains("It says something of its own"));
        assert!(request.headers.contains_key("authorization"));
    }
    assert!(house.claude.requests().is_empty());

    // Back to Anthropic itself, also where the environment names another address, as it does in these tests.
    assert!(before.from_environment);
    let view = house
        .engine
        .use_endpoint(EndpointKind::Anthropic, None, None)
        .await
        .unwrap();
    assert_eq!(
        (view.kind, view.address.as_str(), view.from_environment),
        (EndpointKind::Anthropic, ANTHROPIC_BASE_URL, false)
    );
    assert!(!view.text_only);
    let settings = house.engine.settings().await.unwrap();
    assert_eq!(settings.endpoint, None, "its address says who it is");
}

#[tokio::test]
async fn a_model_on_this_computer_without_a_price_is_marked_as_free_and_others_are_not() {
    let house = House::working().await;
    let model = || Some("llama3.3".to_owned());
    let engine = &house.engine;
    engine
        .use_endpoint(
            EndpointKind::Ollama,
            Some("https://ollama.com".to_owned()),
            model(),
        )
        .await
        .unwrap();
    let free = async || {
        let table = engine.prices().await.unwrap();
        table
            .prices
            .iter()
            .any(|view| view.price.model == "llama3.3" && view.price.is_free())
    };
    assert!(!free().await, "a cloud may cost");
    engine
        .use_endpoint(EndpointKind::Ollama, None, model())
        .await
        .unwrap();
    assert!(free().await);
}

#[tokio::test]
async fn answers_of_an_endpoint_that_drops_pdfs_are_never_taken_for_done() {
    let house = House::working().await;
    let drops = FakeClaude::start_with(Options {
        drops_documents: true,
        ..Options::default()
    })
    .await
    .unwrap();
    house
        .set(|settings| settings.base_url = Some(drops.url()))
        .await;
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    for job_id in &submitted.job_ids {
        let job = house.until_status(job_id, JobStatus::NeedsReview).await.job;
        let cause = job.cause.unwrap();
        assert_eq!(cause, Cause::DocumentNotRead);
        assert_eq!(cause.fix(), Fix::SendText);
    }
    // The fix: text is sent, and the same jobs run again.
    house.set(|settings| settings.text_only = true).await;
    house
        .engine
        .retry(jobs(&submitted.job_ids), RetryChanges::default())
        .await
        .unwrap();
    house.until_completed(&submitted).await;
}

#[tokio::test]
async fn jobs_that_waited_with_a_pdf_fail_with_a_way_out_where_none_is_taken() {
    let house = House::idle().await;
    house
        .engine
        .save_key("sk-ant-test-0123456789".to_owned(), false)
        .await
        .unwrap();
    let submitted = house.add(&["a.pdf", "b.pdf"]).await;
    house
        .set(|settings| {
            settings.endpoint = Some(EndpointKind::LmStudio);
        })
        .await;
    house.start().await;
    for job_id in &submitted.job_ids {
        let job = house.until_status(job_id, JobStatus::Failed).await.job;
        assert_eq!(job.cause, Some(Cause::PdfNotTaken));
    }
    assert!(house.claude.requests().is_empty());
    house
        .engine
        .retry(jobs(&submitted.job_ids), RetryChanges::default())
        .await
        .unwrap();
    house.until_completed(&submitted).await;
}

#[tokio::test]
async fn the_environment_may_hold_a_bearer_token_and_headers() {
    let house = House::idle().await;
    let open = |key: Option<&str>| {
        let mut config = EngineConfig::new(
            house.folder.path(),
            gistmill_engine::pdf::PdfWorkerConfig::new("none"),
        );
        config.secrets = house.secrets.clone();
        config.environment_base_url = Some(house.claude.url());
        config.environment_key = key.map(Into::into);
        config.environment_token = Some("token-0123456789".into());
        config.environment_headers = Some("X-Team: research\nX-Gate: open".into());
        Engine::open(config)
    };
    let engine = open(None).await.unwrap();
    assert_eq!(engine.key_status().source, KeySource::EnvironmentToken);
    let view = engine.endpoint().await.unwrap();
    assert_eq!(view.auth, AuthScheme::Bearer);
    assert_eq!(view.header_names, ["x-team", "x-gate"]);
    engine.test_key().await.unwrap();
    let asked = house.claude.all_requests().pop().unwrap();
    assert_eq!(asked.headers["authorization"], "Bearer token-0123456789");
    assert_eq!(asked.headers["x-gate"], "open");
    engine.shutdown().await;

    let engine = open(Some("sk-ant-key-0123456789")).await.unwrap();
    engine.test_key().await.unwrap();
    let asked = house.claude.all_requests().pop().unwrap();
    assert_eq!(asked.headers["x-api-key"], "sk-ant-key-0123456789");
    assert!(!asked.headers.contains_key("authorization"), "a key wins");
}

#[tokio::test]
async fn headers_are_kept_as_secrets_and_their_names_are_shown() {
    let house = House::working().await;
    let engine = &house.engine;
    let view = engine
        .save_headers("X-Gate: gate-12345678".to_owned(), false)
        .await
        .unwrap();
    assert_eq!(view.header_names, ["x-gate"]);
    assert_eq!(view.header_source, KeySource::Keychain);
    engine.test_key().await.unwrap();
    let asked = house.claude.all_requests().pop().unwrap();
    assert_eq!(asked.headers["x-gate"], "gate-12345678");
    for name in ["gistmill.db", "gistmill.db-wal"] {
        let stored = std::fs::read(engine.data_directory().join(name)).unwrap();
        let holds = stored.windows(13).any(|bytes| bytes == b"gate-12345678");
        assert!(!holds, "{name} holds no secret");
    }

    let wrong = engine.save_headers("nonsense".to_owned(), false).await;
    assert!(wrong.is_err());
    let view = engine.save_headers(String::new(), false).await.unwrap();
    assert_eq!(view.header_source, KeySource::None);
}

#[tokio::test]
async fn an_address_with_a_password_in_it_is_refused() {
    let house = House::idle().await;
    let error = house
        .engine
        .save_settings(Settings {
            base_url: Some("https://ada:hunter22@gateway.example.com".to_owned()),
            ..Settings::default()
        })
        .await
        .unwrap_err();
    let problem = error.problem();
    assert!(!problem.message.contains("hunter22"), "{}", problem.message);
    assert!(problem.hint.contains("extra headers"), "{}", problem.hint);
}
