"""The official SDK as judge of the fake Claude server.

Gistmill's tests trust the fake server; here a client that nobody of Gistmill wrote checks that the
server behaves as the real API.
"""

import base64

import anthropic
import pytest

from conftest import KEY

MODEL = "claude-sonnet-4-6"
PDF = b"%PDF-1.4\n1 0 obj << /Type /Page >> endobj\n" + bytes(range(256)) * 400 + b"\n%%EOF\n"


def fault(name, **conditions):
    return {**conditions, "reply": {"kind": "fault", "fault": name}}


def ask(client, content="What is a gist?", **changes):
    arguments = {
        "model": MODEL,
        "max_tokens": 512,
        "messages": [{"role": "user", "content": content}],
        **changes,
    }
    return client.messages.create(**arguments)


def with_document(data=PDF, title="paper.pdf"):
    return [
        {
            "type": "document",
            "source": {
                "type": "base64",
                "media_type": "application/pdf",
                "data": base64.b64encode(data).decode(),
            },
            "title": title,
        },
        {"type": "text", "text": "Summarize the document."},
    ]


def test_a_message_is_answered(server):
    message = ask(server())
    assert message.type == "message"
    assert message.role == "assistant"
    assert message.model == MODEL
    assert message.stop_reason == "end_turn"
    assert [block.type for block in message.content] == ["text"]
    assert "What is a gist?" in message.content[0].text
    assert message.usage.input_tokens > 0
    assert message.usage.output_tokens > 0
    assert message._request_id.startswith("req_")


def test_a_key_in_either_header_is_taken(server):
    client = server()
    plain = client.with_options(default_headers={"x-api-key": KEY, "authorization": ""})
    assert ask(plain).stop_reason == "end_turn"
    older = client.with_options(default_headers={"anthropic-version": "2023-06-01"})
    assert ask(older).stop_reason == "end_turn"


def test_a_document_arrives_whole(server):
    import hashlib

    message = ask(server(), with_document())
    text = message.content[0].text
    assert text.startswith("# paper.pdf")
    assert f"{len(PDF)} bytes" in text
    assert hashlib.sha256(PDF).hexdigest() in text
    assert message.usage.input_tokens > 2_000


def test_a_stream_adds_up(server):
    with server().messages.stream(
        model=MODEL,
        max_tokens=512,
        messages=[{"role": "user", "content": with_document()}],
    ) as stream:
        events = [event.type for event in stream]
        message = stream.get_final_message()
    assert events[0] == "message_start"
    assert events[-1] == "message_stop"
    assert "content_block_start" in events and "content_block_stop" in events
    assert message.content[0].text.startswith("# paper.pdf")
    assert message.stop_reason == "end_turn"
    assert message.usage.output_tokens > 10


def test_thinking_comes_as_a_block_of_its_own(server):
    rule = {"reply": {"kind": "answer", "thinking": "Let me see.", "text": "Done."}}
    client = server(rule)
    assert [block.type for block in ask(client).content] == ["thinking", "text"]
    with client.messages.stream(
        model=MODEL, max_tokens=512, messages=[{"role": "user", "content": "Hello"}]
    ) as stream:
        message = stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text"]
    assert message.content[0].thinking == "Let me see."
    assert message.content[1].text == "Done."


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded", "refusal"])
def test_stop_reasons_are_told(server, reason):
    rule = {
        "reply": {
            "kind": "answer",
            "no_content": reason == "refusal",
            "stop_reason": reason,
            "stop_details": {"type": "refusal", "category": "bio", "explanation": "No."}
            if reason == "refusal"
            else None,
        }
    }
    client = server(rule)
    whole = ask(client)
    with client.messages.stream(
        model=MODEL, max_tokens=512, messages=[{"role": "user", "content": "Hello"}]
    ) as stream:
        streamed = stream.get_final_message()
    for message in (whole, streamed):
        assert message.stop_reason == reason
        if reason == "refusal":
            assert message.content == []
            assert message.stop_details.category == "bio"


@pytest.mark.parametrize(
    ("name", "status", "error", "kind"),
    [
        ("invalid-request", 400, anthropic.BadRequestError, "invalid_request_error"),
        ("credit-too-low", 400, anthropic.BadRequestError, "invalid_request_error"),
        ("pdf-not-valid", 400, anthropic.BadRequestError, "invalid_request_error"),
        ("authentication", 401, anthropic.AuthenticationError, "authentication_error"),
        ("billing", 402, anthropic.APIStatusError, "billing_error"),
        ("permission", 403, anthropic.PermissionDeniedError, "permission_error"),
        ("model-not-found", 404, anthropic.NotFoundError, "not_found_error"),
        ("conflict", 409, anthropic.ConflictError, "conflict_error"),
        ("rate-limited", 429, anthropic.RateLimitError, "rate_limit_error"),
        ("internal", 500, anthropic.InternalServerError, "api_error"),
        ("overloaded", 529, anthropic.APIStatusError, "overloaded_error"),
    ],
)
def test_errors_are_of_the_right_type(server, name, status, error, kind):
    with pytest.raises(error) as caught:
        ask(server(fault(name)))
    assert caught.value.status_code == status
    assert caught.value.type == kind
    assert caught.value.request_id.startswith("req_")
    assert caught.value.body["request_id"] == caught.value.request_id


def test_errors_that_are_no_json_keep_their_status(server):
    with pytest.raises(anthropic.APIStatusError) as caught:
        ask(server(fault("too-large")))
    assert caught.value.status_code == 413
    assert "<html>" in caught.value.response.text


def test_limits_tell_when_to_come_back(server):
    client = server(fault("rate-limited", request=1), fault("ramp-limited", request=2), fault("spend-limit"))
    waits, codes = [], []
    for _ in range(3):
        with pytest.raises(anthropic.RateLimitError) as caught:
            ask(client)
        waits.append(caught.value.response.headers.get("retry-after"))
        codes.append(caught.value.body["error"].get("details", {}).get("error_code"))
    assert waits == ["7", "12", None]
    assert codes == [None, "ramp_limit_exceeded", "enforced_spend_limit_reached"]


def test_the_sdk_retries_an_overload_by_itself(server):
    client = server(fault("overloaded", request=1), max_retries=1)
    assert ask(client).stop_reason == "end_turn"


def test_a_wrong_key_is_refused_and_a_right_one_is_not(server):
    with pytest.raises(anthropic.AuthenticationError) as caught:
        ask(server(key="sk-ant-other"))
    assert "invalid x-api-key" in caught.value.message


def test_an_error_within_a_stream_is_raised(server):
    rule = {
        "reply": {
            "kind": "error-event",
            "after_deltas": 2,
            "error": {"type": "overloaded_error", "message": "Overloaded"},
        }
    }
    received = ""
    with pytest.raises(anthropic.APIStatusError) as caught:
        with server(rule).messages.stream(
            model=MODEL, max_tokens=512, messages=[{"role": "user", "content": "Hello"}]
        ) as stream:
            for text in stream.text_stream:
                received += text
    assert received
    assert caught.value.status_code == 200
    assert caught.value.type == "overloaded_error"


def test_a_cut_stream_is_noticed(server):
    rule = {"reply": {"kind": "cut", "after_deltas": 2}}
    with pytest.raises(Exception) as caught:
        with server(rule).messages.stream(
            model=MODEL, max_tokens=512, messages=[{"role": "user", "content": "Hello"}]
        ) as stream:
            stream.get_final_message()
    assert "incomplete" in str(caught.value) or "peer closed" in str(caught.value)


def test_bad_requests_are_refused_as_by_the_api(server):
    client = server()
    for changes, words in [
        ({"messages": []}, "at least one message"),
        ({"content": with_document(b"<html>no</html>")}, "The PDF specified was not valid"),
        ({"content": with_document(PDF + b"/Encrypt 5 0 R")}, "password protected"),
        ({"content": with_document(PDF + b"/Type /Page " * 600)}, "maximum of 600 PDF pages"),
        ({"extra_body": {"temperature": 1.0}}, "temperature"),
    ]:
        with pytest.raises(anthropic.BadRequestError) as caught:
            ask(client, **changes)
        assert words in caught.value.message
    with pytest.raises(anthropic.NotFoundError):
        ask(client, model="claude-2.1")


def test_tokens_are_counted(server):
    client = server()
    arguments = {"model": MODEL, "messages": [{"role": "user", "content": with_document()}]}
    counted = client.messages.count_tokens(**arguments)
    assert counted.input_tokens == ask(client, with_document()).usage.input_tokens


def test_models_are_listed(server):
    client = server()
    listed = list(client.models.list())
    assert MODEL in [model.id for model in listed]
    one = client.models.retrieve(MODEL)
    assert one.display_name == "Claude Sonnet 4.6"
    assert one.max_input_tokens == 1_000_000
    with pytest.raises(anthropic.NotFoundError):
        client.models.retrieve("claude-2.1")


def test_answers_tell_their_limits(server):
    response = server().messages.with_raw_response.create(
        model=MODEL, max_tokens=16, messages=[{"role": "user", "content": "Hello"}]
    )
    headers = response.headers
    for what in ("requests", "input-tokens", "output-tokens", "tokens"):
        assert int(headers[f"anthropic-ratelimit-{what}-limit"]) > 0
        assert int(headers[f"anthropic-ratelimit-{what}-remaining"]) > 0
        assert headers[f"anthropic-ratelimit-{what}-reset"].endswith("Z")


def schema(**properties):
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def test_an_answer_follows_a_schema(server):
    import json

    wanted = schema(days={"type": "integer"}, names={"type": "array", "items": {"type": "string"}})
    message = ask(
        server(), with_document(), output_config={"format": {"type": "json_schema", "schema": wanted}}
    )
    read = json.loads(message.content[0].text)
    assert isinstance(read["days"], int)
    assert all(isinstance(name, str) for name in read["names"])


def test_a_schema_must_be_closed_and_excludes_citations(server):
    client = server()
    open_one = {"type": "object", "properties": {"days": {"type": "integer"}}}
    closed = schema(days={"type": "integer"})
    cited = with_document()
    cited[0]["citations"] = {"enabled": True}
    for content, wanted in [(with_document(), open_one), (cited, closed)]:
        with pytest.raises(anthropic.BadRequestError):
            ask(client, content, output_config={"format": {"type": "json_schema", "schema": wanted}})


def test_citations_name_pages(server):
    content = with_document()
    content[0]["citations"] = {"enabled": True}
    with server().messages.stream(
        model=MODEL, max_tokens=512, messages=[{"role": "user", "content": content}]
    ) as stream:
        streamed = stream.get_final_message()
    for message in (ask(server(), content), streamed):
        citations = [
            citation for block in message.content for citation in (block.citations or [])
        ]
        assert [citation.type for citation in citations] == ["page_location"] * 2
        assert citations[0].start_page_number == 1
        assert citations[0].end_page_number == 2, "the page after the last one"


def as_text(text="[Page 4]\nFirst things.\n\n[Page 5]\nLast things.\n\n", **changes):
    return [
        {
            "type": "document",
            "source": {"type": "text", "media_type": "text/plain", "data": text, **changes},
            "title": "paper.pdf",
        },
        {"type": "text", "text": "Summarize the document."},
    ]


def test_texts_are_documents_too(server):
    client = server()
    short, long = as_text("A few words."), as_text("Many more words. " * 1_000)
    assert ask(client, short).content[0].text.startswith("# paper.pdf")
    tokens = [ask(client, content).usage.input_tokens for content in (short, long)]
    assert tokens[0] < 50 and 4_000 < tokens[1] < 6_000
    for content, words in [
        (as_text(" "), "at least 1 character"),
        (as_text(media_type="application/pdf"), "text/plain"),
    ]:
        with pytest.raises(anthropic.BadRequestError) as caught:
            ask(client, content)
        assert words in caught.value.message


def test_citations_of_texts_name_characters(server):
    content = as_text()
    content[0]["citations"] = {"enabled": True}
    with server().messages.stream(
        model=MODEL, max_tokens=512, messages=[{"role": "user", "content": content}]
    ) as stream:
        streamed = stream.get_final_message()
    length = len(content[0]["source"]["data"])
    for message in (ask(server(), content), streamed):
        citations = [
            citation for block in message.content for citation in (block.citations or [])
        ]
        assert [citation.type for citation in citations] == ["char_location"] * 2
        assert (citations[0].start_char_index, citations[0].end_char_index) == (0, 20)
        assert citations[1].end_char_index == length, "the character after the last one"


def test_counting_refuses_what_asking_refuses(server):
    client = server()
    for content, words in [
        (with_document(PDF + b"/Encrypt 5 0 R"), "password protected"),
        (with_document(PDF + b"/Type /Page " * 600), "maximum of 600 PDF pages"),
        (as_text(" "), "at least 1 character"),
    ]:
        with pytest.raises(anthropic.BadRequestError) as caught:
            client.messages.count_tokens(
                model=MODEL, messages=[{"role": "user", "content": content}]
            )
        assert words in caught.value.message
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.count_tokens(
            model="claude-haiku-4-5",
            messages=[{"role": "user", "content": with_document(PDF + b"/Type /Page " * 100)}],
        )
    assert "maximum of 100 PDF pages" in caught.value.message


def test_a_text_is_counted_as_it_is_asked(server):
    client = server()
    counted = client.messages.count_tokens(
        model=MODEL, messages=[{"role": "user", "content": as_text()}]
    )
    assert counted.input_tokens == ask(client, as_text()).usage.input_tokens


def test_a_prompt_beyond_the_context_window_is_refused(server):
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(server(), as_text("word " * 200_000), model="claude-haiku-4-5")
    assert "prompt is too long" in caught.value.message
    assert "> 200000 maximum" in caught.value.message


def test_documents_are_dropped_as_by_ollama_if_told_so(server):
    client = server(arguments=["--drops-documents"])
    message = ask(client, with_document())
    assert message.usage.input_tokens < 50
    assert "paper.pdf" not in message.content[0].text
    with pytest.raises(anthropic.NotFoundError):
        client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "Hello"}])
