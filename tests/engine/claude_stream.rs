//! Streams as servers and gateways really send them, cut in every place.

use gistmill_engine::model::Cause;
use gistmill_engine::provider::{Answer, Billed, Failure};
use gistmill_testkit::fake_claude::Reply;

use crate::claude::{deliver_to, prompt};

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-6-proxy\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":25,\"cache_creation_input_tokens\":3,\"cache_read_input_tokens\":4,\"output_tokens\":1}}}\n\n";
const END: &str = "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":15}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

fn delta(text: &str) -> String {
    let data = serde_json::json!({
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": text},
    });
    format!("event: content_block_delta\ndata: {data}\n\n")
}

async fn read(chunks: Vec<String>) -> Result<Answer, Failure> {
    let reply = Reply::Raw {
        chunks,
        content_type: None,
    };
    deliver_to(reply, &prompt("Hello")).await
}

#[tokio::test]
async fn usage_is_cumulative_and_missing_counts_stay() {
    let answer = read(vec![
        START.to_owned(),
        delta("Hello"),
        "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":9,\"input_tokens\":null}}\n\n".to_owned(),
        END.to_owned(),
    ])
    .await
    .unwrap();
    assert_eq!(answer.text, "Hello");
    assert_eq!(answer.model, "claude-sonnet-4-6-proxy");
    assert_eq!(answer.usage.input_tokens, 25);
    assert_eq!(answer.usage.cache_creation_input_tokens, 3);
    assert_eq!(answer.usage.cache_read_input_tokens, 4);
    assert_eq!(answer.usage.output_tokens, 15);
    assert_eq!(answer.usage.total_input(), 32);
}

#[tokio::test]
async fn what_is_unknown_is_skipped() {
    let answer = read(vec![
        ": comment\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n".to_owned(),
        START.to_owned(),
        "event: brand_new\ndata: {\"type\":\"brand_new\",\"depth\":[1,{}]}\n\n".to_owned(),
        "event: not_json\ndata: hello\n\n".to_owned(),
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\",\"new\":1}}\n\n".to_owned(),
        delta("One"),
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"citations_delta\",\"citation\":{}}}\n\n".to_owned(),
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"hologram\"}}\n\n".to_owned(),
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"hologram_delta\",\"text\":\"no\"}}\n\n".to_owned(),
        "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":2,\"content_block\":{\"type\":\"text\",\"text\":\"Two\"}}\n\n".to_owned(),
        END.to_owned(),
        "data: [DONE]\n\n".to_owned(),
    ])
    .await
    .unwrap();
    assert_eq!(answer.text, "One\nTwo");
    assert_eq!(answer.review, None);
}

#[tokio::test]
async fn borders_of_chunks_and_kinds_of_line_ends_mean_nothing() {
    let text = "Zusammenfassung: größer, 日本語の要約。🎈";
    let whole = format!("{START}{}{END}", delta(text));
    for stream in [
        whole.clone(),
        whole.replace('\n', "\r\n"),
        whole.replace('\n', "\r"),
    ] {
        for size in [1, 7, 100] {
            // Pieces of strings can't be cut within a character; the decoder's own tests do that.
            let letters: Vec<char> = stream.chars().collect();
            let chunks = letters
                .chunks(size)
                .map(|piece| piece.iter().collect())
                .collect();
            let answer = read(chunks).await.unwrap();
            assert_eq!(answer.text, text);
            assert_eq!(answer.usage.output_tokens, 15);
        }
    }
}

#[tokio::test]
async fn data_over_several_lines_is_one_event() {
    let split = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\ndata: \"delta\":{\"type\":\"text_delta\",\ndata: \"text\":\"Hello\"}}\n\n";
    let answer = read(vec![START.to_owned(), split.to_owned(), END.to_owned()])
        .await
        .unwrap();
    assert_eq!(answer.text, "Hello");
}

#[tokio::test]
async fn a_stream_without_its_end_is_cut() {
    let stop = END.find("event: message_stop").unwrap();
    let without_stop = vec![START.to_owned(), delta("Hello"), END[..stop].to_owned()];
    let unterminated = vec![START.to_owned(), delta("Hello"), END.trim_end().to_owned()];
    for chunks in [
        without_stop,
        unterminated,
        vec![START.to_owned()],
        vec![String::new()],
    ] {
        let failure = read(chunks.clone()).await.unwrap_err();
        assert_eq!(failure.cause, Cause::StreamCut, "{chunks:?}");
        assert_eq!(failure.billed, Billed::Unknown);
    }
    let failure = deliver_to(Reply::Unfinished, &prompt("Hello"))
        .await
        .unwrap_err();
    assert_eq!(failure.cause, Cause::StreamCut);
    assert!(
        failure.usage.unwrap().output_tokens > 1,
        "the real count had come"
    );
}

#[tokio::test]
async fn a_dropped_connection_keeps_what_was_counted() {
    for after_deltas in [0, 2] {
        let reply = Reply::Cut { after_deltas };
        let failure = deliver_to(reply, &prompt("Hello")).await.unwrap_err();
        assert_eq!(failure.cause, Cause::StreamCut, "{failure}");
        assert_eq!(failure.billed, Billed::Unknown);
        assert!(failure.usage.unwrap().input_tokens > 0);
    }
}

#[tokio::test]
async fn a_piece_that_cannot_be_read_is_not_skipped() {
    let broken =
        "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\"\n\n";
    let failure = read(vec![START.to_owned(), broken.to_owned(), END.to_owned()])
        .await
        .unwrap_err();
    assert_eq!(
        failure.cause,
        Cause::StreamCut,
        "the text would lack a part"
    );
}

#[tokio::test]
async fn endings_without_a_reason_are_looked_at() {
    let stop = "data: {\"type\":\"message_stop\"}\n\n";
    let answer = read(vec![START.to_owned(), delta("Hello"), stop.to_owned()])
        .await
        .unwrap();
    assert_eq!(answer.review.unwrap().0, Cause::UnknownStopReason);
}

#[tokio::test]
async fn answers_that_are_no_streams_are_understood() {
    let json = |text: &str| Reply::Raw {
        chunks: vec![text.to_owned()],
        content_type: Some("application/json".to_owned()),
    };
    let message = "{\"type\":\"message\",\"model\":\"m\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"x\"},{\"type\":\"text\",\"text\":\"Whole.\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":3,\"output_tokens\":2}}";
    let answer = deliver_to(json(message), &prompt("Hello")).await.unwrap();
    assert_eq!(answer.text, "Whole.");
    assert_eq!(answer.usage.output_tokens, 2);

    let error =
        "{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}";
    let failure = deliver_to(json(error), &prompt("Hello")).await.unwrap_err();
    assert_eq!(failure.cause, Cause::Overloaded);

    for other in ["{\"choices\":[]}", "{\"type\":\"mess", "null"] {
        let failure = deliver_to(json(other), &prompt("Hello")).await.unwrap_err();
        assert_eq!(failure.cause, Cause::UnexpectedStatus, "{other}");
    }
    let page = Reply::Raw {
        chunks: vec!["<html>Please sign in to the network</html>".to_owned()],
        content_type: Some("text/html; charset=utf-8".to_owned()),
    };
    let failure = deliver_to(page, &prompt("Hello")).await.unwrap_err();
    assert_eq!(failure.cause, Cause::UnexpectedStatus);
    assert!(failure.message.contains("login page"), "{failure}");
}
