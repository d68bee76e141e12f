"""Mutated frames against a live router: some in `make test`, a million under sanitizers in `make long`.

`.ci/run` sends 100,000 under sanitizers. At commit da1168e 4.9 million gave no report.
"""

from __future__ import annotations

import os

import pytest

from tests.fuzz.live import is_clean, reaches_durables, run
from tests.fuzz.live_frames import mutated
from tests.stranger.chance import Chance
from tests.trees import sanitized


@pytest.mark.slow
def test_three_thousand_mutated_frames(tmp_path):
    found = run(3_000, int.from_bytes(os.urandom(4), "little"), tmp_path, None, print)
    assert is_clean(found), found
    assert found["frames"] >= 3_000
    assert min(found["ways"].values()) > 50


@pytest.mark.long
def test_a_million_mutated_frames_under_sanitizers(tmp_path):
    found = run(1_000_000, 1, tmp_path, sanitized(), print)
    print(found)
    assert is_clean(found), found
    assert reaches_durables(found), found["durable"]
    assert found["sanitized"]


def test_a_mutation_changes_what_it_is_given():
    chance, data = Chance(1), bytes(range(64))
    changed = [mutated(chance, data, [data[::-1]]) for _ in range(200)]
    assert sum(each != data for each in changed) > 180
    assert all(len(each) >= 9 for each in changed)


def test_a_run_with_a_loss_or_a_report_is_not_clean():
    good = {
        "alive": True,
        "ready": True,
        "storing": True,
        "honest": [5, 5],
        "reports": 0,
        "tracebacks": 0,
        "missing": [],
    }
    assert is_clean(good)
    for wrong in (
        {"honest": [4, 5]},
        {"reports": 1},
        {"tracebacks": 1},
        {"alive": False},
        {"storing": False},
        {"missing": ["x"]},
    ):
        assert not is_clean(good | wrong)
