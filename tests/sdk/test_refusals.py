"""What the fake server refuses as the API does: by model, by version of the API, by field."""

import anthropic
import pytest

from test_fake_claude import ask, with_document

OLDER = {"anthropic-version": "2023-06-01"}


def refused(client, **changes):
    with pytest.raises(anthropic.BadRequestError) as caught:
        ask(client, **changes)
    return caught.value.message


def test_sampling_parameters_are_refused_by_the_newest_version_and_by_newer_models(server):
    client = server()
    older = client.with_options(default_headers=OLDER)
    usual, other = {"temperature": 1.0}, {"temperature": 0.2}
    assert "temperature" in refused(client, extra_body=usual)
    assert "temperature" in refused(older, model="claude-sonnet-5-5", extra_body=other)
    assert ask(older, model="claude-sonnet-5-5", extra_body=usual).stop_reason == "end_turn"
    assert ask(older, model="claude-sonnet-4-6", extra_body=other).stop_reason == "end_turn"


def test_thinking_is_asked_for_as_each_model_takes_it(server):
    client = server()

    def thinking(model, kind):
        return {"model": model, "extra_body": {"thinking": {"type": kind}}}

    assert "adaptive thinking is not supported" in refused(client, **thinking("claude-haiku-4-5", "adaptive"))
    assert '"thinking.type.enabled" is not supported' in refused(client, **thinking("claude-opus-5", "enabled"))
    assert "disabled" in refused(client, **thinking("claude-sonnet-5-5", "disabled"))
    assert "disabled" in refused(client, **thinking("claude-opus-5-5", "disabled"))
    for model, kind, blocks in [
        ("claude-sonnet-5-5", "between_tools", ["text"]),
        ("claude-sonnet-5", "disabled", ["text"]),
        ("claude-sonnet-4-6", "adaptive", ["thinking", "text"]),
    ]:
        assert [block.type for block in ask(client, **thinking(model, kind)).content] == blocks


def test_thinking_is_usual_where_the_model_does_it_and_counts_as_output(server):
    client = server()
    thought = ask(client, model="claude-sonnet-5-5")
    assert [block.type for block in thought.content] == ["thinking", "text"]
    assert 0 < thought.usage.output_tokens_details.thinking_tokens < thought.usage.output_tokens
    little = ask(client, model="claude-sonnet-5-5", extra_body={"output_config": {"effort": "low"}})
    assert little.usage.output_tokens < thought.usage.output_tokens
    plain = ask(client)
    assert [block.type for block in plain.content] == ["text"]
    assert plain.usage.output_tokens_details.thinking_tokens == 0


def test_the_limit_of_the_output_holds_and_has_a_limit_itself(server):
    client = server()
    cut = ask(client, max_tokens=20)
    assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 20)
    silent = ask(client, model="claude-opus-5-5", max_tokens=20)
    assert [block.type for block in silent.content] == ["thinking"]
    with client.messages.stream(
        model="claude-opus-5-5", max_tokens=20, messages=[{"role": "user", "content": "Hello"}]
    ) as stream:
        assert [block.type for block in stream.get_final_message().content] == ["thinking"]
    assert "max_tokens: 70000 > 64000" in refused(
        client, model="claude-haiku-4-5", max_tokens=70_000, timeout=30.0
    )


def test_a_beginning_of_the_answer_is_refused_by_models_since_4_6(server):
    client = server()
    begun = [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "Well"}]
    assert "prefill" in refused(client, messages=begun)
    assert ask(client, model="claude-haiku-4-5", messages=begun).stop_reason == "end_turn"


def test_the_newest_version_takes_no_documents_from_the_assistant(server):
    client = server()
    answered = [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": with_document()[:1]},
        {"role": "user", "content": "Go on"},
    ]
    assert "document blocks are not permitted" in refused(client, messages=answered)
    cited = [{"type": "text", "text": "Hello", "citations": [{"type": "page_location"}]}]
    assert "citations are not permitted" in refused(client, content=cited)
    older = client.with_options(default_headers=OLDER)
    assert ask(older, content=cited).stop_reason == "end_turn"


def test_a_page_in_a_browser_is_refused(server):
    client = server()
    with pytest.raises(anthropic.AuthenticationError) as caught:
        ask(client.with_options(default_headers={"origin": "http://localhost"}))
    assert "CORS" in caught.value.message
