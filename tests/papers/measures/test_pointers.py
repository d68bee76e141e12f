"""The bench of paper 003's sets: both forms cross at one filter in 32, in memory and in steps."""

from __future__ import annotations

import json

import pytest

from tamis.papers.measures.pointers import main, measure


def test_steps_cross_at_one_in_thirty_two() -> None:
    steps = {}
    for size in (120, 128, 136):
        pointers, bits = measure(4_096, size)
        assert (pointers.form, bits.form) == ("pointers", "bits")
        steps[size] = pointers.steps - bits.steps
    assert steps[120] < steps[128] == 0 < steps[136]


@pytest.mark.slow
def test_memory_crosses_at_one_in_thirty_two(capsys: pytest.CaptureFixture[str]) -> None:
    """Where blocks are large enough for the allocator's own share not to matter."""
    assert main(["--filters", "32768", "--totals", "10000", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["share"]
    taken = {(row["filters"] // row["size"], row["form"]): row["memory_bytes"] for row in rows}
    assert taken[64, "pointers"] < taken[64, "bits"]
    assert abs(taken[32, "pointers"] / taken[32, "bits"] - 1) < 0.01
    assert taken[16, "pointers"] > taken[16, "bits"]


def test_the_page_prints(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--filters", "512", "--totals"]) == 0
    assert "1/32" in capsys.readouterr().out
