"""An interrupted benchmark goes on where it was, and never with rows of something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tamis.bench.matching.journal import Journal
from tamis.bench.matching.runner import Runner
from tamis.native import OutOfMemory


def quiet(_words: str) -> None:
    """Progress that nobody reads."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rows.jsonl"


def test_rows_outlive_the_run(path: Path) -> None:
    Journal(path, {"build": "1"}).put("a", [1, {"b": None}])
    again = Journal(path, {"build": "1"})
    assert "a" in again
    assert again["a"] == [1, {"b": None}]
    again.end()
    assert not path.exists()


def test_rows_of_another_build_are_not_taken_over(path: Path) -> None:
    Journal(path, {"build": "1"}).put("a", 1)
    assert len(Journal(path, {"build": "2"})) == 0
    assert len(Journal(path, {"build": "1"})) == 0


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_row_cut_short_is_measured_again(path: Path, cut: int) -> None:
    kept = Journal(path, {"build": "1"})
    kept.put("a", 1)
    kept.put("b", {"c": {"d": 2}})
    path.write_text(path.read_text()[:-cut])
    again = Journal(path, {"build": "1"})
    assert "a" in again
    assert "b" not in again
    again.put("b", 3)
    assert Journal(path, {"build": "1"})["b"] == 3


def test_a_row_is_measured_once(path: Path) -> None:
    calls = []
    for _ in range(2):
        runner = Runner(quiet, Journal(path, {}), 60)
        assert runner.row("a", lambda: calls.append(1) or 7) == 7  # type: ignore[func-returns-value]
    assert calls == [1]


def test_no_row_begins_when_time_is_up(path: Path) -> None:
    runner = Runner(quiet, Journal(path, {}), -1)
    assert runner.row("a", lambda: 1) is None
    assert runner.out_of_time
    assert runner.skipped == {"a": "time was up"}


def test_a_row_that_wants_too_much_memory_is_left_out(path: Path) -> None:
    def measure() -> None:
        raise OutOfMemory("out of memory in the native table")

    runner = Runner(quiet, Journal(path, {}), 60)
    assert runner.row("a", measure) is None
    assert runner.skipped == {"a": "more memory than allowed"}
    assert not runner.out_of_time
