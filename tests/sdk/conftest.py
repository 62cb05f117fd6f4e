"""Starts the fake Claude server for the official SDK, and tells at the end what became of the scenarios.

`FAKE_CLAUDE_BIN` names the program (`cargo build --bin fake-claude`).
"""

import json
import os
import subprocess
from pathlib import Path

import anthropic
import pytest

KEY = "sk-ant-test-sdk"
# Written by tests/engine/scenarios.rs.
COMPARED = Path(__file__).resolve().parent.parent / "support/scenarios/outcomes/TABLE.md"

# Scenario and its outcome as a line, for the table at the end.
TABLE = []


@pytest.fixture
def launch():
    """Returns a function that starts a server and gives its address."""
    binary = os.environ.get("FAKE_CLAUDE_BIN")
    if not binary:
        pytest.fail("set FAKE_CLAUDE_BIN to the fake-claude program")
    running = []

    def start(*arguments):
        process = subprocess.Popen([binary, *arguments], stdout=subprocess.PIPE, text=True)
        running.append(process)
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        return address

    yield start
    for process in running:
        process.terminate()
        process.wait(timeout=10)
        process.stdout.close()


@pytest.fixture
def server(launch, tmp_path):
    """Returns a function that starts a server with some rules and gives a client of it."""
    started = []

    def start(*rules, key=KEY, arguments=(), settings=None, **options):
        scenario = tmp_path / f"scenario-{len(started)}.json"
        started.append(scenario)
        scenario.write_text(json.dumps({"rules": list(rules), **(settings or {})}))
        address = launch("--api-key", KEY, "--scenario", str(scenario), *arguments)
        options = {"max_retries": 0, "timeout": 20.0, **options}
        return anthropic.Anthropic(base_url=address, api_key=key, **options)

    return start


def pytest_terminal_summary(terminalreporter):
    if TABLE:
        terminalreporter.section("scenarios by the official SDK")
        for name, outcome in TABLE:
            terminalreporter.write_line(f"{name:<36} {outcome}")
        terminalreporter.section("scenarios by the official SDK and by Gistmill")
        terminalreporter.write(COMPARED.read_text())
