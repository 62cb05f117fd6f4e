//! The Claude provider against the fake server: what is sent, and what an answer becomes.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use gistmill_engine::model::{Cause, JobPhase};
use gistmill_engine::provider::claude::{ClaudeConfig, ClaudeProvider, MAX_BODY_BYTES, Timeouts};
use gistmill_engine::provider::{
    Answer, Billed, Deliver as _, DocumentContent, Failure, Progress, Request, RequestDocument,
    Shape,
};
use gistmill_testkit::fake_claude::{FakeClaude, Fault, Plan, Reply, Rule};
use secrecy::SecretString;
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) const KEY: &str = "sk-ant-test-0123456789";
pub(crate) const MODEL: &str = "claude-sonnet-4-6";

/// Remembers every step.
#[derive(Default)]
pub(crate) struct Steps(Mutex<Vec<(JobPhase, u64)>>);

impl Progress for Steps {
    fn advanced(&self, phase: JobPhase, output_tokens: u64) {
        self.0.lock().unwrap().push((phase, output_tokens));
    }
}

impl Steps {
    fn taken(&self) -> Vec<(JobPhase, u64)> {
        self.0.lock().unwrap().clone()
    }
}

/// Long enough for a busy machine, short enough for a test that fails.
pub(crate) fn patient() -> Timeouts {
    let limit = Duration::from_secs(30);
    Timeouts {
        connect: limit,
        first_byte: limit,
        idle: limit,
        total: limit,
    }
}

pub(crate) fn provider_at(url: &str, timeouts: Timeouts) -> ClaudeProvider {
    ClaudeProvider::new(&ClaudeConfig {
        base_url: url.to_owned(),
        timeouts,
        ..ClaudeConfig::new(SecretString::from(KEY))
    })
    .unwrap()
}

pub(crate) fn prompt(text: &str) -> Request {
    Request {
        document: None,
        prompt: text.to_owned(),
        model: MODEL.to_owned(),
        max_tokens: 1024,
        shape: Shape::Text,
    }
}

pub(crate) fn summarize(path: &Path, pages: u32) -> Request {
    Request {
        document: Some(RequestDocument {
            content: DocumentContent::File {
                path: path.to_owned(),
                bytes: fs::metadata(path).map_or(0, |metadata| metadata.len()),
            },
            pages: Some(pages),
            first_page: 1,
            name: path.file_name().unwrap().to_string_lossy().into_owned(),
        }),
        ..prompt("Summarize the document.")
    }
}

/// Writes `bytes` bytes that begin as a PDF does and repeat nowhere.
pub(crate) fn write_pdf(directory: &TempDir, name: &str, bytes: usize) -> PathBuf {
    let mut content = b"%PDF-1.7\n".to_vec();
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    while content.len() < bytes {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        content.extend_from_slice(&state.to_le_bytes());
    }
    content.truncate(bytes);
    let path = directory.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

pub(crate) async fn deliver(
    provider: &ClaudeProvider,
    request: &Request,
) -> Result<Answer, Failure> {
    let cancel = CancellationToken::new();
    provider.deliver(request, &Steps::default(), &cancel).await
}

/// Delivers to a server that follows one rule.
pub(crate) async fn deliver_to(reply: Reply, request: &Request) -> Result<Answer, Failure> {
    let server = FakeClaude::start().await;
    server.script(Rule::always(reply));
    deliver(&provider_at(&server.url(), patient()), request).await
}

#[tokio::test]
async fn every_byte_of_the_document_arrives_before_the_question() {
    let directory = TempDir::new().unwrap();
    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient());
    // Around the borders of base64 triples and of the chunks in which the file is read.
    let chunk = 3 * 64 * 1024;
    let sizes = [
        9,
        10,
        11,
        chunk - 1,
        chunk,
        chunk + 1,
        3 * chunk + 2,
        9_000_001,
    ];
    for (at, size) in sizes.into_iter().enumerate() {
        let path = write_pdf(&directory, &format!("paper {size}.pdf"), size);
        let answer = deliver(&provider, &summarize(&path, 1)).await.unwrap();
        assert!(answer.text.contains(&format!("paper {size}.pdf")));
        assert_eq!(answer.review, None);

        let request = server.requests()[at].clone();
        let document = &request.documents[0];
        assert_eq!(document.bytes, size);
        let sent = hex::encode(Sha256::digest(fs::read(&path).unwrap()));
        assert_eq!(document.sha256, sent);
        assert_eq!(
            document.title.as_deref(),
            Some(&*format!("paper {size}.pdf"))
        );
        assert!(request.documents_first);
        assert_eq!(request.prompt, "Summarize the document.");
        assert_eq!(
            request.headers["content-length"],
            request.body_bytes.to_string()
        );
        assert!(!request.headers.contains_key("transfer-encoding"));
    }
}

#[tokio::test]
async fn nothing_is_sent_that_newer_models_refuse() {
    let server = FakeClaude::start().await;
    let request = prompt("What is a gist?");
    let provider = provider_at(&format!("{}/v1/", server.url()), patient());
    deliver(&provider, &request).await.unwrap();

    let sent = &server.requests()[0];
    assert_eq!(sent.fields, ["max_tokens", "messages", "model", "stream"]);
    assert_eq!(sent.model.as_deref(), Some(MODEL));
    assert_eq!(sent.max_tokens, Some(1024));
    assert!(sent.stream);
    assert_eq!(sent.headers["anthropic-version"], "2026-10-21");
    assert_eq!(sent.headers["content-type"], "application/json");
    assert_eq!(sent.headers["x-api-key"], KEY);
    assert!(!sent.headers.contains_key("authorization"));
}

#[tokio::test]
async fn many_documents_go_at_once() {
    let directory = TempDir::new().unwrap();
    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient());
    let calls: Vec<_> = (0..10)
        .map(|at| {
            let path = write_pdf(&directory, &format!("{at}.pdf"), 1_000_000 + at);
            let provider = provider.clone();
            tokio::spawn(async move { deliver(&provider, &summarize(&path, 1)).await })
        })
        .collect();
    for (at, call) in calls.into_iter().enumerate() {
        let answer = call.await.unwrap().unwrap();
        assert!(answer.text.contains(&format!("# {at}.pdf")));
    }
    assert_eq!(server.requests().len(), 10);
}

/// Seed defect 37: tokens from the cache were not counted, and nothing had a cost.
#[tokio::test]
async fn an_answer_tells_usage_and_progress() {
    let directory = TempDir::new().unwrap();
    let path = write_pdf(&directory, "paper.pdf", 5_000);
    let server = FakeClaude::start().await;
    server.script(Rule::always(Reply::Answer(Plan {
        thinking: Some("Let me read this.".to_owned()),
        text: Some("Twelve letters of text, and 日本語 too.".to_owned()),
        input_tokens: Some(2_345),
        output_tokens: Some(77),
        ..Plan::default()
    })));
    let provider = provider_at(&server.url(), patient());
    let steps = Steps::default();
    let cancel = CancellationToken::new();
    let answer = provider
        .deliver(&summarize(&path, 1), &steps, &cancel)
        .await
        .unwrap();

    assert_eq!(answer.text, "Twelve letters of text, and 日本語 too.");
    assert_eq!(answer.model, MODEL);
    assert_eq!(answer.stop_reason.as_deref(), Some("end_turn"));
    assert_eq!(answer.usage.input_tokens, 2_345);
    assert_eq!(answer.usage.output_tokens, 77);
    assert!(answer.request_id.unwrap().starts_with("req_"));
    assert_eq!(answer.review, None);

    let steps = steps.taken();
    assert_eq!(steps.first(), Some(&(JobPhase::Reading, 0)));
    assert_eq!(steps.last(), Some(&(JobPhase::Writing, 77)));
    let reading = |step: &(JobPhase, u64)| step.0 == JobPhase::Reading;
    assert!(!steps.iter().skip_while(|step| reading(step)).any(reading));
    let estimates: Vec<u64> = steps[1..steps.len() - 1]
        .iter()
        .map(|step| step.1)
        .collect();
    assert!(estimates.is_sorted() && estimates[0] > 0);
}

#[tokio::test]
async fn answers_to_look_at_say_why() {
    let directory = TempDir::new().unwrap();
    let path = write_pdf(&directory, "paper.pdf", 5_000);
    let empty = Plan {
        text: Some(" \n".to_owned()),
        ..Plan::default()
    };
    let only_thinking = Plan {
        thinking: Some("Hm.".to_owned()),
        no_content: true,
        ..Plan::default()
    };
    let refused_half_way = Plan {
        text: Some("The paper".to_owned()),
        stop_reason: Some("refusal".to_owned()),
        ..Plan::default()
    };
    let cases = [
        (Reply::stopped("max_tokens"), Cause::CutOff, "1024"),
        (Reply::refusal(), Cause::Declined, "restricted subject"),
        (Reply::Answer(refused_half_way), Cause::Declined, "declined"),
        (
            Reply::stopped("model_context_window_exceeded"),
            Cause::ContextFilled,
            "window",
        ),
        (Reply::stopped("tired"), Cause::UnknownStopReason, "`tired`"),
        (
            Reply::stopped("pause_turn"),
            Cause::UnknownStopReason,
            "`pause_turn`",
        ),
        (Reply::Answer(empty), Cause::EmptyAnswer, "without writing"),
        (
            Reply::Answer(only_thinking),
            Cause::EmptyAnswer,
            "without writing",
        ),
        (
            Reply::document_dropped(),
            Cause::DocumentNotRead,
            "23 input tokens",
        ),
    ];
    for (reply, cause, words) in cases {
        let answer = deliver_to(reply.clone(), &summarize(&path, 1))
            .await
            .unwrap();
        let (found, sentence) = answer.review.unwrap();
        assert_eq!(found, cause, "{reply:?}");
        assert!(sentence.contains(words), "{sentence}");
    }
}

#[tokio::test]
async fn a_document_of_many_pages_needs_many_tokens() {
    let directory = TempDir::new().unwrap();
    let path = write_pdf(&directory, "paper.pdf", 5_000);
    let counted = |input_tokens| {
        Reply::Answer(Plan {
            input_tokens: Some(input_tokens),
            ..Plan::default()
        })
    };
    let read = deliver_to(counted(20_100), &summarize(&path, 200))
        .await
        .unwrap();
    assert_eq!(read.review, None);
    let dropped = deliver_to(counted(2_300), &summarize(&path, 200))
        .await
        .unwrap();
    assert_eq!(dropped.review.unwrap().0, Cause::DocumentNotRead);
    let alone = deliver_to(counted(12), &prompt("What is a gist?"))
        .await
        .unwrap();
    assert_eq!(alone.review, None);
}

#[tokio::test]
async fn files_that_are_not_what_was_added_are_never_sent() {
    let directory = TempDir::new().unwrap();
    let server = FakeClaude::start().await;
    let provider = provider_at(&server.url(), patient());
    let path = write_pdf(&directory, "paper.pdf", 5_000);
    let content_of = |path: &Path, bytes| {
        let mut request = summarize(path, 1);
        request.document.as_mut().unwrap().content = DocumentContent::File {
            path: path.to_owned(),
            bytes,
        };
        request
    };
    let shorter = content_of(&path, 4_999);
    let empty = directory.path().join("empty.pdf");
    fs::write(&empty, "").unwrap();
    let folder = content_of(directory.path(), 5_000);
    let large = directory.path().join("large.pdf");
    let file = fs::File::create(&large).unwrap();
    file.set_len(MAX_BODY_BYTES / 4 * 3).unwrap();

    let cases = [
        (
            summarize(&directory.path().join("gone.pdf"), 1),
            Cause::FileMissing,
        ),
        (shorter, Cause::FileChanged),
        (summarize(&empty, 1), Cause::FileEmpty),
        (folder, Cause::FileUnreadable),
        (summarize(&large, 1), Cause::TooLarge),
        (prompt(&"x".repeat(33 * 1024 * 1024)), Cause::TooLarge),
    ];
    for (request, cause) in cases {
        let failure = deliver(&provider, &request).await.unwrap_err();
        assert_eq!(failure.cause, cause, "{failure}");
        assert_eq!(failure.billed, Billed::No);
        assert_eq!(failure.http_status, None);
    }
    assert!(server.all_requests().is_empty());
}

#[tokio::test]
async fn rules_of_the_fake_server_are_followed_in_turn() {
    let directory = TempDir::new().unwrap();
    let good = write_pdf(&directory, "good.pdf", 500);
    let bad = write_pdf(&directory, "bad.pdf", 500);
    let server = FakeClaude::start().await;
    server.script(Rule::nth(1, Reply::fault(Fault::Overloaded)));
    server.script(Rule::titled("bad", Reply::fault(Fault::PdfNotProcessed)).times(1));
    let provider = provider_at(&server.url(), patient());
    let mut causes = Vec::new();
    for path in [&good, &bad, &good, &bad] {
        let end = deliver(&provider, &summarize(path, 1)).await;
        causes.push(end.err().map(|failure| failure.cause));
    }
    assert_eq!(
        causes,
        [
            Some(Cause::Overloaded),
            Some(Cause::PdfNotProcessed),
            None,
            None
        ]
    );
}
