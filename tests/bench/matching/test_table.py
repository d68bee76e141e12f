"""The table of all engines has a line for each, goes on where it was, and says what it left out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tamis.bench.matching import table
from tamis.native import ENGINES


@pytest.fixture(autouse=True)
def few_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.bench.matching.updates._TIMED", 10)
    monkeypatch.setattr("tamis.bench.matching.passes._REPEAT_S", 0)


def run(into: Path, *options: str) -> Result:
    return CliRunner().invoke(
        table.main, ["--sizes", "20,60", "--messages", "10", "--passes", "1", "--into", str(into), *options]
    )


@pytest.mark.slow
def test_every_engine_has_a_line_and_a_second_run_measures_nothing(tmp_path: Path) -> None:
    assert run(tmp_path, "--workload", "gryphon").exit_code == 0
    cells = [json.loads(line) for line in (tmp_path / "engines.jsonl").read_text().splitlines()]
    labels = [cell["contender"] for cell in cells if cell["filters"] == 60]
    assert len(labels) == len(ENGINES) + len(table.VARIANTS)
    assert {label.split()[0] for label in labels} == set(ENGINES)
    assert all(
        {"build_s", "mean_us", "p99_us", "steps", "bytes_per_constraint", "add_us"} <= cell.keys() for cell in cells
    )
    page = (tmp_path / "engines.md").read_text()
    for label in labels:
        assert f" {label} |" in page
    assert run(tmp_path, "--workload", "gryphon").exit_code == 0
    assert len((tmp_path / "engines.jsonl").read_text().splitlines()) == len(cells)


def test_a_row_without_time_is_named_and_measured_the_next_time(tmp_path: Path) -> None:
    options = ["--workload", "alerts", "--engine", "tamis,pst:delay=8,order=names"]
    told = run(tmp_path, *options, "--minutes", "0")
    assert told.exit_code == 0
    assert "2 rows are not measured" in told.stderr
    assert "- alerts 20 x F seed 2003: not measured" in (tmp_path / "engines.md").read_text()
    assert run(tmp_path, *options).exit_code == 0
    assert "not measured" not in (tmp_path / "engines.md").read_text()


def test_the_workloads_of_the_papers_come_first() -> None:
    bounds = table.Bounds(1.0, 0, 1)
    rows = list(table._rows(["alerts", "das", "sigcomm03"], [50, 20], 10, bounds))
    assert [(row.workload, row.filter_count) for row in rows] == [
        *(("sigcomm03", 20), ("sigcomm03", 50)),
        *(("das", 20), ("das", 50)),
        *(("alerts", 20), ("alerts", 50)),
    ]
    assert {row.message_count for row in rows} == {10}


@pytest.mark.parametrize("options", [["--engine", "quantum"], ["--workload", "lottery"], ["--sizes", "many"]])
def test_misuse_is_refused(options: list[str], tmp_path: Path) -> None:
    told = run(tmp_path, *options)
    assert told.exit_code == 2
    assert options[1] in told.stderr
