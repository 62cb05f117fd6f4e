"""Puts the official SDK through the scenarios of tests/support/scenarios and words what became of it.

An outcome says of one call: its class as Gistmill's queue means it (success, review, retry, item, queue), and what the
SDK told of it. The SDK knows no queue: its own typed errors and its own word on retrying are read as follows.

- what it would retry is `retry`, and so is a broken connection;
- a refused key, payment, permission or model would meet every job: `queue`, as do the wordings of credit and limits;
- any other refusal is of the `item`;
- an error within a stream is by its type: the server's own trouble is `retry`.
"""

import hashlib
import json
import urllib.request

import anthropic

OURS = {"overloaded_error", "api_error", "rate_limit_error", "timeout_error"}
MOST_WAIT = 4_294_967.0


def document_bytes(document):
    """The same bytes as `AskDocument::bytes` makes."""
    content, pages = document.get("content", "pdf"), document.get("pages", 1)
    if content == "html":
        return b"<html>no</html>"
    password = b"/Encrypt 5 0 R\n" if content == "encrypted" else b""
    return b"%PDF-1.4\n" + b"<< /Type /Page >>\n" * pages + password + b"%%EOF\n"


def message(asked, document, source=None):
    import base64

    content = []
    if document is not None:
        source = source or {
            "type": "base64",
            "media_type": "application/pdf",
            "data": base64.b64encode(document_bytes(document)).decode(),
        }
        block = {"type": "document", "source": source, "title": "paper.pdf"}
        if asked.get("cited"):
            block["citations"] = {"enabled": True}
        content.append(block)
    prompt = asked.get("prompt", "Summarize the document.") * asked.get("repeated", 1)
    content.append({"type": "text", "text": prompt})
    return {
        "model": asked.get("model", "claude-sonnet-4-6"),
        "messages": [{"role": "user", "content": content}],
    }


def digest(text):
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def answered(answer):
    """The outcome of a message that came whole."""
    text = "".join(block.text for block in answer.content if block.type == "text")
    whole = answer.stop_reason in ("end_turn", "stop_sequence") and text.strip()
    usage = answer.usage
    return {
        "class": "success" if whole else "review",
        "stop_reason": answer.stop_reason,
        "input_tokens": usage.input_tokens,
        "cache_write": usage.cache_creation_input_tokens or None,
        "cache_read": usage.cache_read_input_tokens or None,
        "output_tokens": usage.output_tokens,
        "text": digest(text),
    }


def class_of(client, error):
    if not isinstance(error, anthropic.APIStatusError):
        return "retry"
    if error.status_code == 200:
        return "retry" if error.type in OURS else "item"
    if client._should_retry(error.response):
        return "retry"
    refused = (
        anthropic.AuthenticationError,
        anthropic.PaymentRequiredError,
        anthropic.PermissionDeniedError,
    )
    of_all = (
        isinstance(error, refused)
        or (isinstance(error, anthropic.NotFoundError) and "model: " in error.message)
        or error.error_code == "organization_on_hold"
        or "credit balance" in error.message
        or "You have reached your specified" in error.message
    )
    return "queue" if of_all else "item"


def failed(client, error):
    """The outcome of a call that failed."""
    if isinstance(error, anthropic.AnthropicError) and not isinstance(error, anthropic.APIError):
        # The SDK sees by itself that it can't work.
        return {"class": "item", "type": type(error).__name__}
    if not isinstance(error, anthropic.APIStatusError):
        return {"class": "retry"}
    wait = client._parse_retry_after_header(error.response.headers)
    return {
        "class": class_of(client, error),
        "status": error.status_code,
        "type": error.type,
        "code": error.error_code,
        "retry_after": min(wait, MOST_WAIT) if wait is not None and wait > 0 else None,
    }


class Played:
    """A scenario that the SDK is put through."""

    def __init__(self, scenario, address):
        self.asked = scenario.get("ask", {})
        self.address = address
        retries = 2 if self.asked.get("retried") else 0
        self.client = anthropic.Anthropic(
            base_url=address, api_key="sk-ant-test-sdk", max_retries=retries, timeout=20.0
        )

    def outcomes(self):
        play = getattr(self, self.asked.get("kind", "message"))
        return [{key: value for key, value in outcome.items() if value is not None} for outcome in play()]

    def advance(self):
        seconds = self.asked.get("advance_seconds", 0)
        body = json.dumps({"seconds": seconds}).encode()
        urllib.request.urlopen(urllib.request.Request(self.address + "/__fake/advance", body), timeout=20)

    def attempt(self, call):
        try:
            return call()
        except Exception as error:  # whatever the SDK lets out is an outcome
            return failed(self.client, error)

    def message(self):
        def call():
            asked = message(self.asked, self.asked.get("document"))
            with self.client.messages.stream(
                max_tokens=self.asked.get("max_tokens", 1024), **asked
            ) as stream:
                return answered(stream.get_final_message())

        calls = 1 if self.asked.get("retried") else self.asked.get("calls", 1)
        for _ in range(calls):
            yield self.attempt(call)
            self.advance()

    def count(self):
        def call():
            asked = message(self.asked, self.asked.get("document"))
            return {
                "class": "success",
                "input_tokens": self.client.messages.count_tokens(**asked).input_tokens,
            }

        for _ in range(self.asked.get("calls", 1)):
            yield self.attempt(call)
            self.advance()

    def models(self):
        def call():
            ids = sorted(model.id for model in self.client.models.list())
            return {"class": "success", "models": len(ids), "text": digest("\n".join(ids))}

        yield self.attempt(call)

    def batch(self):
        batches = self.client.messages.batches
        requests = [
            {
                "custom_id": request["custom_id"],
                "params": {"max_tokens": 1024, **message(self.asked, request.get("document"))},
            }
            for request in self.asked["requests"]
        ]

        def create():
            return batches.create(requests=requests)

        created = self.attempt(create)
        if isinstance(created, dict):
            yield created
            # Where the answer was lost the list knows whether the batch is there.
            listed = list(batches.list())
            if not listed:
                return
            created = listed[0]
        yield self.attempt(lambda: described(batches.retrieve(created.id)))
        self.advance()
        if self.asked.get("cancelled"):
            yield self.attempt(lambda: described(batches.cancel(created.id)))
        ended = self.attempt(lambda: described(batches.retrieve(created.id)))
        yield ended
        if ended.get("batch") == "ended":
            yield from self.results(created.id)

    def results(self, batch):
        lines = []
        try:
            for line in self.client.messages.batches.results(batch):
                lines.append(line)
        except Exception as error:
            yield failed(self.client, error)
        for line in sorted(lines, key=lambda line: line.custom_id):
            yield {"custom_id": line.custom_id, **of_batch(line.result)}

    def file(self):
        upload = (
            self.asked.get("filename", "paper.pdf"),
            document_bytes(self.asked["document"]),
            "application/pdf",
        )
        extra = {}
        if "expires_in_seconds" in self.asked:
            extra["expires_in_seconds"] = self.asked["expires_in_seconds"]
        file = self.attempt(lambda: self.client.files.upload(file=upload, **extra))
        if isinstance(file, dict):
            yield file
            return
        yield {"file": file.filename, "bytes": file.size_bytes, "expires": file.expires_at is not None}
        self.advance()

        def call():
            source = {"type": "file", "file_id": file.id}
            asked = message(self.asked, self.asked["document"], source)
            with self.client.messages.stream(max_tokens=1024, **asked) as stream:
                return answered(stream.get_final_message())

        yield self.attempt(call)
        yield self.attempt(lambda: {"deleted": self.client.files.delete(file.id).id == file.id})
        yield self.attempt(lambda: {"file": self.client.files.retrieve_metadata(file.id).filename})


def described(batch):
    counts = {key: value for key, value in batch.request_counts.to_dict().items() if value}
    return {"batch": batch.processing_status, "counts": counts}


def of_batch(result):
    if result.type == "succeeded":
        return answered(result.message)
    if result.type == "errored":
        kind = result.error.error.type
        return {"class": "retry" if kind in OURS else "item", "type": kind}
    return {"class": "retry", "type": result.type}
