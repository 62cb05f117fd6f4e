//! What a call asks and shows, by model and by endpoint.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use gistmill_engine::model::{AuthScheme, Cause, EndpointKind, ModelProfile, ProfileSource};
use gistmill_engine::profiles::{self, Profiles};
use gistmill_engine::provider::claude::{
    Access, ClaudeConfig, ClaudeProvider, TextAs, read_headers,
};
use gistmill_engine::provider::{DocumentContent, Request, RequestDocument, Shape};
use gistmill_testkit::fake_claude::{Canned, FakeClaude, Fault, Plan, Recorded, Reply, Rule};
use secrecy::SecretString;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::claude::{KEY, deliver, patient, prompt, provider_at, summarize, write_pdf};

/// The fields that a request may have; none of them chooses words by chance.
const FIELDS: [&str; 5] = ["max_tokens", "messages", "model", "output_config", "stream"];

fn endpoint(server: &FakeClaude, kind: EndpointKind, text_as: TextAs) -> ClaudeProvider {
    ClaudeProvider::new(&ClaudeConfig {
        base_url: server.url(),
        timeouts: patient(),
        kind,
        text_as,
        ..ClaudeConfig::new(SecretString::from(KEY))
    })
    .unwrap()
}

fn to_model(model: &str) -> Request {
    Request {
        model: model.to_owned(),
        ..prompt("Hello")
    }
}

fn fields() -> Shape {
    Shape::Json(serde_json::json!({
        "type": "object", "additionalProperties": false,
        "properties": {"total": {"type": "number"}}, "required": ["total"],
    }))
}

fn header(request: &Recorded, name: &str) -> Option<String> {
    Some(request.headers.get(name)?.to_str().unwrap().to_owned())
}

#[tokio::test]
async fn no_sampling_parameter_is_ever_sent() {
    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient());
    for model in ["claude-sonnet-4-6", "claude-sonnet-5-5", "claude-haiku-4-5"] {
        for shape in [Shape::Text, fields()] {
            let request = Request {
                shape,
                ..to_model(model)
            };
            deliver(&provider, &request).await.unwrap();
        }
    }
    assert_eq!(server.requests().len(), 6);
    for request in server.requests() {
        for field in &request.fields {
            assert!(FIELDS.contains(&field.as_str()), "{field} was sent");
        }
    }
}

#[tokio::test]
async fn models_that_think_by_themselves_get_room_for_it_and_are_told_to_think_little() {
    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient());
    for (model, most, effort) in [
        ("claude-sonnet-4-6", 1_024, None),
        ("claude-haiku-4-5", 1_024, None),
        ("claude-sonnet-5-5", 1_024 + 4_096, Some("low")),
        ("claude-haiku-5-5", 1_024 + 4_096, Some("low")),
        // Nothing is known of it: it has room, and is told nothing that it might not take.
        ("claude-preview-6", 1_024 + 4_096, None),
    ] {
        deliver(&provider, &to_model(model)).await.unwrap();
        let asked = server.requests().pop().unwrap();
        assert_eq!(asked.max_tokens, Some(most), "{model}");
        assert_eq!(asked.effort.as_deref(), effort, "{model}");
        assert_eq!(
            profiles::most_output(model, 1_024),
            u32::try_from(most).unwrap(),
            "what is asked for is what a cap reserves: {model}"
        );
    }
}

#[tokio::test]
async fn a_model_that_thought_until_the_limit_is_said_to_have_done_so() {
    let server = FakeClaude::start().await;
    server.script(Rule::always(Reply::Answer(Plan {
        no_content: true,
        stop_reason: Some("max_tokens".to_owned()),
        ..Plan::default()
    })));
    let provider = provider_at(&server.url(), patient());
    let answer = deliver(&provider, &to_model("claude-sonnet-5-5"))
        .await
        .unwrap();
    let (cause, message) = answer.review.unwrap();
    assert_eq!(cause, Cause::CutOff);
    assert_eq!(
        message,
        "The model was still thinking at the limit of 5120 output tokens, thinking included."
    );
}

#[tokio::test]
async fn no_more_is_asked_for_than_a_model_gives() {
    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient());
    let greedy = |model| Request {
        max_tokens: 128_000,
        ..to_model(model)
    };
    for (model, most) in [
        ("claude-haiku-4-5", 64_000),
        ("claude-sonnet-4-6", 128_000),
        ("claude-sonnet-5-5", 128_000),
    ] {
        deliver(&provider, &greedy(model)).await.unwrap();
        assert_eq!(server.requests().pop().unwrap().max_tokens, Some(most));
    }
    // What the address told lowers it, and never raises what was reserved.
    for (told, most) in [(20_000, 20_000), (500_000, 128_000)] {
        let profile = ModelProfile {
            max_output_tokens: told,
            source: ProfileSource::Told,
            ..profiles::shipped("claude-sonnet-4-6")
        };
        let told = provider
            .clone()
            .with_profiles(Arc::new(Profiles::new([profile])));
        deliver(&told, &greedy("claude-sonnet-4-6")).await.unwrap();
        assert_eq!(server.requests().pop().unwrap().max_tokens, Some(most));
    }
}

#[tokio::test]
async fn a_model_that_has_ended_is_said_to_have_ended_and_what_to_use_instead() {
    let server = FakeClaude::start().await;
    server.script(Rule::always(Reply::fault(Fault::ModelNotFound)));
    // 2026-12-24
    let christmas = UNIX_EPOCH + Duration::from_secs(1_798_070_400);
    let provider = provider_at(&server.url(), patient()).with_now(Arc::new(move || christmas));
    let failure = deliver(&provider, &to_model("claude-sonnet-4-5"))
        .await
        .unwrap_err();
    assert_eq!(failure.cause, Cause::ModelRetired);
    assert_eq!(
        failure.message,
        "claude-sonnet-4-5 was retired on 2026-11-30 and answers no more. Use claude-sonnet-5-5 instead."
    );
    assert_eq!(failure.http_status, Some(404));
    let failure = deliver(&provider, &to_model("claude-sonnet-4-6"))
        .await
        .unwrap_err();
    assert_eq!(
        failure.cause,
        Cause::ModelNotFound,
        "nobody said that this one has ended"
    );
}

#[tokio::test]
async fn each_endpoint_is_asked_in_the_version_that_it_knows() {
    let server = FakeClaude::start().await;
    for (kind, version) in [
        (EndpointKind::Anthropic, "2026-10-21"),
        (EndpointKind::Litellm, "2023-06-01"),
        (EndpointKind::Openrouter, "2023-06-01"),
        (EndpointKind::Ollama, "2023-06-01"),
        (EndpointKind::Other, "2023-06-01"),
    ] {
        let provider = endpoint(&server, kind, TextAs::Document);
        deliver(&provider, &prompt("Hello")).await.unwrap();
        let asked = server.requests().pop().unwrap();
        assert_eq!(header(&asked, "anthropic-version").unwrap(), version);
    }
}

#[tokio::test]
async fn the_key_goes_out_in_one_way_and_extra_headers_win() {
    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient());
    let access = |auth, headers: &str| Access {
        key: SecretString::from(KEY),
        auth,
        headers: read_headers(headers).unwrap(),
    };
    let asked = async |access: Access| {
        let provider = provider.with_access(access).unwrap();
        deliver(&provider, &prompt("Hello")).await.unwrap();
        server.requests().pop().unwrap()
    };
    let by_key = asked(access(AuthScheme::ApiKey, "")).await;
    assert_eq!(header(&by_key, "x-api-key").unwrap(), KEY);
    assert_eq!(header(&by_key, "authorization"), None);

    let by_bearer = asked(access(AuthScheme::Bearer, "")).await;
    assert_eq!(
        header(&by_bearer, "authorization").unwrap(),
        format!("Bearer {KEY}")
    );
    assert_eq!(header(&by_bearer, "x-api-key"), None);

    let with_more = asked(access(
        AuthScheme::ApiKey,
        "X-Team: research\nanthropic-version: 2023-06-01\nx-api-key: sk-other",
    ))
    .await;
    assert_eq!(header(&with_more, "x-team").unwrap(), "research");
    assert_eq!(
        header(&with_more, "anthropic-version").unwrap(),
        "2023-06-01"
    );
    assert_eq!(header(&with_more, "x-api-key").unwrap(), "sk-other");
}

#[tokio::test]
async fn an_extra_header_that_is_echoed_shows_nowhere() {
    let server = FakeClaude::start().await;
    server.script(Rule::always(Reply::Status(
        Canned::error(403, "permission_error", "bad gate token gate-12345678")
            .with_header("request-id", "gate-12345678"),
    )));
    let provider = provider_at(&server.url(), patient())
        .with_access(Access {
            key: SecretString::from(KEY),
            auth: AuthScheme::ApiKey,
            headers: read_headers("X-Gate: gate-12345678").unwrap(),
        })
        .unwrap();
    let failure = deliver(&provider, &prompt("Hello")).await.unwrap_err();
    assert_eq!(failure.message, "bad gate token [header]");
    assert!(!format!("{failure:?} {provider:?}").contains("gate-12345678"));
}

#[tokio::test]
async fn who_takes_no_pdfs_is_sent_none() {
    let directory = TempDir::new().unwrap();
    let path = write_pdf(&directory, "paper.pdf", 1_000);
    let server = FakeClaude::start().await;
    let provider = endpoint(&server, EndpointKind::Ollama, TextAs::Prompt);
    let failure = deliver(&provider, &summarize(&path, 1)).await.unwrap_err();
    assert_eq!(failure.cause, Cause::PdfNotTaken);
    assert!(server.all_requests().is_empty(), "nothing leaves");
}

#[tokio::test]
async fn who_knows_no_schemas_is_told_of_the_fields_in_words() {
    let server = FakeClaude::start().await;
    let provider = endpoint(&server, EndpointKind::Ollama, TextAs::Prompt);
    let request = Request {
        shape: fields(),
        document: Some(RequestDocument {
            content: DocumentContent::Text(vec!["A bill of 7 euros.".to_owned()]),
            pages: Some(1),
            first_page: 1,
            name: "bill.pdf".to_owned(),
        }),
        ..to_model("claude-sonnet-5-5")
    };
    deliver(&provider, &request).await.unwrap();
    let asked = server.requests().pop().unwrap();
    assert!(asked.schema.is_none() && asked.effort.is_none());
    assert!(asked.prompt.contains("JSON Schema"), "{}", asked.prompt);
    assert!(asked.prompt.contains("\"total\""), "{}", asked.prompt);
}

/// Answers each connection with one page of a list of models, and returns what was asked for.
async fn pages(listener: TcpListener, pages: Vec<String>) -> Vec<String> {
    let mut asked = Vec::new();
    for page in pages {
        let (mut connection, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            connection.read_buf(&mut request).await.unwrap();
        }
        let first = String::from_utf8_lossy(&request);
        asked.push(first.lines().next().unwrap().to_owned());
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{page}",
            page.len()
        );
        connection.write_all(answer.as_bytes()).await.unwrap();
    }
    asked
}

#[tokio::test]
async fn every_page_of_the_list_of_models_is_read_and_odd_lines_are_passed_over() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let first = r#"{"data":[{"id":"claude-a-1","max_tokens":5000},{"name":"no id"},7],
        "has_more":true,"first_id":"claude-a-1","last_id":"claude a/1"}"#;
    let second =
        r#"{"data":[{"id":"claude-b-1","future":{}}],"has_more":true,"last_id":"claude-b-1"}"#;
    // A server that always has more, and never anything new.
    let third = r#"{"data":[],"has_more":true,"last_id":"claude-b-1"}"#;
    let sent = [first, second, third].map(str::to_owned).to_vec();
    let provider = provider_at(&url, patient());
    let (listed, asked) = tokio::join!(provider.models(), pages(listener, sent));
    let (models, limits) = listed.unwrap();
    let names: Vec<&str> = models.iter().map(|model| model.model.as_str()).collect();
    assert_eq!(names, ["claude-a-1", "claude-b-1"]);
    assert_eq!(models[0].max_output_tokens, 5_000);
    assert_eq!(limits.requests, None);
    assert!(asked[0].contains("/v1/models?limit=1000 "), "{asked:?}");
    assert!(asked[1].contains("after_id=claude+a%2F1"), "{asked:?}");
}

#[test]
fn what_can_not_be_used_of_an_address_is_told_without_showing_secrets() {
    let with = |base_url: &str, certificates: Option<&str>| {
        ClaudeProvider::new(&ClaudeConfig {
            base_url: base_url.to_owned(),
            certificates: certificates.map(|pem| pem.as_bytes().to_vec()),
            ..ClaudeConfig::new(SecretString::from(KEY))
        })
    };
    let error = with("https://ada:hunter22@gateway.example.com", None).unwrap_err();
    assert!(
        !format!("{error:?} {error}").contains("hunter22"),
        "{error}"
    );
    for nonsense in ["", "no certificate", "-----BEGIN CERTIFICATE-----\n"] {
        assert!(
            with("https://gateway.example.com", Some(nonsense)).is_err(),
            "{nonsense:?} is no certificate"
        );
    }
}
