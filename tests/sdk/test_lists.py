"""Lists of batches, files and models as the official SDK reads them: pages, filters, what is gone."""

import anthropic
import pytest

from conftest import KEY
from test_fake_claude import MODEL, PDF, fault

STILL = {"start": "2026-12-01T12:00:00Z", "stands_still": True}


def create(client, *ids):
    return client.messages.batches.create(
        requests=[
            {
                "custom_id": custom_id,
                "params": {
                    "model": MODEL,
                    "max_tokens": 64,
                    "messages": [{"role": "user", "content": "Hello"}],
                },
            }
            for custom_id in ids
        ]
    )


def test_batches_are_listed_the_newest_first_in_pages(server):
    client = server(settings={"clock": STILL})
    made = [create(client, f"job-{number}").id for number in range(5)]
    assert [batch.id for batch in client.messages.batches.list(limit=2)] == made[::-1]
    page = client.messages.batches.list(limit=2)
    assert page.has_more and [batch.id for batch in page.data] == made[:2:-1]
    before = client.messages.batches.list(limit=1, before_id=made[1])
    assert [batch.id for batch in before.data] == [made[2]] and before.has_more


def test_a_batch_is_deleted_once_it_has_ended(server):
    client = server(settings={"clock": STILL, "batches": {"seconds": 0}})
    batch = create(client, "job-1", "job-2")
    assert client.messages.batches.delete(batch.id).id == batch.id
    with pytest.raises(anthropic.NotFoundError):
        client.messages.batches.retrieve(batch.id)
    slow = server(settings={"clock": STILL})
    batch = create(slow, "job-1")
    for call in (slow.messages.batches.delete, lambda id: next(iter(slow.messages.batches.results(id)))):
        with pytest.raises(anthropic.AnthropicError):
            call(batch.id)


def test_a_key_of_another_workspace_sees_nothing(launch, tmp_path):
    scenario = tmp_path / "scenario.json"
    scenario.write_text('{"key_is_workspace": true, "batches": {"seconds": 0}}')
    address = launch("--scenario", str(scenario))
    one, other = (anthropic.Anthropic(base_url=address, api_key=key, max_retries=0) for key in (KEY, "sk-ant-other"))
    batch = create(one, "job-1")
    file = one.files.upload(file=("paper.pdf", PDF, "application/pdf"))
    assert [found.id for found in one.messages.batches.list()] == [batch.id]
    assert not list(other.messages.batches.list())
    assert not list(other.files.list())
    with pytest.raises(anthropic.NotFoundError):
        other.messages.batches.retrieve(batch.id)
    with pytest.raises(anthropic.NotFoundError):
        other.files.retrieve_metadata(file.id)


def test_files_are_listed_in_pages_and_by_id(server):
    client = server()
    made = [client.files.upload(file=(f"{number}.pdf", PDF, "application/pdf")).id for number in range(5)]
    assert [file.id for file in client.files.list(limit=2)] == made[::-1]
    assert {file.id for file in client.files.list(ids=[made[0], made[3], "file_unknown"])} == {made[0], made[3]}
    client.files.delete(made[0])
    assert made[0] not in [file.id for file in client.files.list()]
    with pytest.raises(anthropic.NotFoundError):
        client.files.delete(made[0])


def test_a_name_is_the_last_part_of_its_path(server):
    client = server()
    assert client.files.upload(file=("folder/paper.pdf", PDF, "application/pdf")).filename == "paper.pdf"
    with pytest.raises(anthropic.BadRequestError):
        client.files.upload(file=("x" * 256, PDF, "application/pdf"))


def test_uploads_can_be_scripted_to_fail(server):
    client = server(fault("overloaded", call="upload-file", times=1))
    with pytest.raises(anthropic.APIStatusError) as caught:
        client.files.upload(file=("paper.pdf", PDF, "application/pdf"))
    assert caught.value.status_code == 529
    assert client.files.upload(file=("paper.pdf", PDF, "application/pdf")).size_bytes == len(PDF)


def test_models_are_filtered_by_where_they_are_in_life(server):
    client = server(settings={"clock": {"start": "2026-11-29T00:00:00Z", "stands_still": True}})
    listed = {model.id: model for model in client.models.list(limit=3)}
    assert listed["claude-sonnet-4-6"].lifecycle == "active"
    assert listed["claude-sonnet-4-6"].retires_at is None
    leaving = listed["claude-sonnet-4-5-20250929"]
    assert leaving.lifecycle == "deprecated"
    assert leaving.retires_at.isoformat().startswith("2026-11-30")
    assert "claude-3-opus-20240229" not in listed and "claude-mythos-5" not in listed
    retired = [model.id for model in client.models.list(lifecycle=["retired"])]
    assert "claude-3-opus-20240229" in retired and MODEL not in retired
    assert len(list(client.models.list(lifecycle=["active", "deprecated"]))) == len(listed)
    assert client.models.retrieve("claude-3-opus-20240229").lifecycle == "retired"


def test_models_say_what_they_can(server):
    client = server()
    small, large = client.models.retrieve("claude-haiku-4-5"), client.models.retrieve("claude-sonnet-5-5")
    assert (small.max_input_tokens, small.max_tokens) == (200_000, 64_000)
    assert (large.max_input_tokens, large.max_tokens) == (1_000_000, 128_000)
    assert not small.capabilities.effort.supported and large.capabilities.effort.low.supported
    assert not small.capabilities.thinking.types.adaptive.supported
    assert not large.capabilities.thinking.types.disabled.supported
    assert large.capabilities.thinking.types.between_tools.supported
    assert large.capabilities.pdf_input.supported and large.line == "sonnet"
