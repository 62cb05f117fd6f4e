"""The official SDK goes through every scenario; what became of it is written down beside them.

Gistmill's own client goes through the same ones in tests/engine/scenarios.rs, which compares the two. After a change that is
meant, `UPDATE_OUTCOMES=1 pytest tests/sdk/test_scenarios.py` writes the outcomes anew.
"""

import json
import os
from pathlib import Path

import pytest

from conftest import TABLE
from scenarios import Played

FOLDER = Path(__file__).resolve().parent.parent / "support" / "scenarios"
OUTCOMES = FOLDER / "outcomes" / "sdk.json"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
UPDATES = os.environ.get("UPDATE_OUTCOMES") == "1"


def known():
    return json.loads(OUTCOMES.read_text()) if OUTCOMES.exists() else {}


def in_short(outcomes):
    words = []
    for outcome in outcomes:
        what = ("class", "status", "code", "retry_after", "stop_reason", "batch", "file", "deleted")
        words.append(" ".join(str(outcome[key]) for key in what if key in outcome))
    return " · ".join(words)


@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_ends_as_written_down(launch, name):
    path = FOLDER / f"{name}.json"
    outcomes = Played(json.loads(path.read_text()), launch("--scenario", str(path))).outcomes()
    TABLE.append((name, in_short(outcomes)))
    if UPDATES:
        OUTCOMES.parent.mkdir(exist_ok=True)
        every = {**known(), name: outcomes}
        OUTCOMES.write_text(json.dumps(dict(sorted(every.items())), indent=1) + "\n")
    assert outcomes == known().get(name), "not what is written in outcomes/sdk.json"


def test_nothing_is_written_down_of_scenarios_that_are_gone():
    assert sorted(known()) == NAMES
    assert len(NAMES) >= 40
