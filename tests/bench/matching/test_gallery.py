"""The gallery measures each cell once, says what it did not measure, and prints no figure of engines that disagree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tamis.bench.matching import gallery
from tamis.bench.matching.gallery_page import ratio, slope
from tamis.native import Measurement, Table

_QUICK = ["--passes", "1", "--sizes", "20,60"]


@pytest.fixture(autouse=True)
def few_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.bench.matching.updates._TIMED", 10)
    monkeypatch.setattr("tamis.bench.matching.passes._REPEAT_S", 0)
    for name in ("alerts", "geo"):
        small = replace(gallery.workloads.WORKLOADS[name], messages_measured=(20, 10))
        monkeypatch.setitem(gallery.workloads.WORKLOADS, name, small)


def run(*options: str) -> Result:
    return CliRunner().invoke(gallery.main, [*_QUICK, *options])


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_a_cell_that_is_in_the_file_is_not_measured_again(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    options = ["--workload", "alerts", "--engine", "tamis,counting", "--json", str(file)]
    assert run(*options).exit_code == 0
    first = rows(file)
    assert [(row["filters"], row["contender"]) for row in first] == [
        *((20, "tamis"), (20, "counting")),
        *((60, "tamis"), (60, "counting")),
    ]
    again = run(*options)
    assert again.exit_code == 0
    assert rows(file) == first
    assert "building" not in again.stderr


def test_one_more_engine_is_measured_alone_and_held_to_the_answers_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    options = ["--workload", "alerts", "--json", str(file)]
    assert run(*options, "--engine", "tamis").exit_code == 0
    told = run(*options, "--engine", "tamis,counting")
    assert told.exit_code == 0
    assert [row["contender"] for row in rows(file)] == ["tamis", "tamis", "counting", "counting"]
    assert "~" in told.stdout

    wrong = [row | {"checksum": "1" * 16} for row in rows(file)]
    file.write_text("".join(json.dumps(row) + "\n" for row in wrong))
    told = run(*options, "--engine", "tamis,sff")
    assert told.exit_code == 1
    assert "engines disagree" in told.stderr
    assert rows(file) == wrong


def test_cells_of_another_build_are_measured_anew_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    options = ["--workload", "alerts", "--engine", "tamis", "--json", str(file)]
    assert run(*options).exit_code == 0
    other = [row | {"extension": "another"} for row in rows(file)]
    file.write_text("".join(json.dumps(row) + "\n" for row in other) + '{"cut short')
    assert run(*options).exit_code == 0
    lines = file.read_text().splitlines()
    assert [json.loads(line) for line in lines[:2]] == other
    assert ["another" in line for line in lines] == [True, True, False, False]


def test_what_takes_too_long_says_so_and_is_not_built_at_larger_sizes(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    bounds = gallery.Bounds(1e-6, 0, 1)
    cells = gallery.Cells(file)
    chosen = gallery.contenders(["tamis"])
    said: list[str] = []
    for setup in gallery.setups(["geo"], [20, 60], None, bounds, 1):
        gallery.measure(setup, chosen, cells, bounds, said.append)
    first, second = rows(file)
    assert "us a message: 3 passes take" in first["skipped"]
    assert second["skipped"].endswith("(at 20 filters)")
    assert sum("building" in words for words in said) == 1


def test_engines_that_disagree_leave_no_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Table.measure

    def measure(self: Table, *args: object, **options: object) -> Measurement:
        told = honest(self, *args, **options)  # type: ignore[arg-type]
        return replace(told, checksum=told.checksum ^ (self.engine == "tamis"))

    monkeypatch.setattr(Table, "measure", measure)
    told = run("--workload", "alerts", "--engine", "tamis,counting", "--json", str(tmp_path / "cells.jsonl"))
    assert told.exit_code == 1
    assert told.stdout == ""
    assert not (tmp_path / "cells.jsonl").exists()


def test_an_engine_that_loses_a_filter_in_churn_leaves_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Table.measure_remove

    def measure_remove(self: Table, handles: Any) -> Any:
        if self.engine == "counting":
            return honest(self, handles)
        self.add_many(gallery.workloads.make("alerts", 20, 1, 1, 2003).filters, type(handles)("I", [5] * 20))
        return honest(self, handles)

    monkeypatch.setattr(Table, "measure_remove", measure_remove)
    told = run("--workload", "alerts", "--engine", "tamis,counting", "--json", str(tmp_path / "cells.jsonl"))
    assert told.exit_code == 1
    assert "engines disagree" in told.stderr or "answers differently" in told.stderr
    assert not (tmp_path / "cells.jsonl").exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--workload", "lottery"], "no workload 'lottery'"),
        (["--engine", "quantum"], "no engine 'quantum'"),
        (["--sizes", "ten"], "'ten' is no list of numbers"),
        (["--interfaces", "0"], "'0' is neither F nor a number"),
    ],
)
def test_misuse_is_refused(options: list[str], told: str) -> None:
    answer = run(*options)
    assert answer.exit_code == 2
    assert told in answer.stderr


def test_every_workload_says_who_writes_such_filters() -> None:
    lines = run("--list").stdout.splitlines()
    assert len(lines) == len(gallery.workloads.WORKLOADS)
    assert all(": " in line and " A message hits " in line for line in lines)


def test_a_slope_is_that_of_a_power() -> None:
    assert slope([(10, 5.0), (100, 50.0), (1_000, 500.0)]) == pytest.approx(1)
    assert slope([(1, 3.0), (4, 6.0)]) == pytest.approx(0.5)
    assert slope([(10, 5.0)]) is None


def test_a_ratio_is_to_the_fastest_other_that_took_all_filters() -> None:
    times = {"tamis": 6.0, "sff": 4.0, "counting": 3.0}
    group: list[dict[str, Any]] = [{"contender": name, "mean_us": us, "run": "1"} for name, us in times.items()]
    group += [{"contender": "library:zen", "mean_us": 1.0, "share": 0.5, "run": "1"}, {"contender": "x", "skipped": ""}]
    assert ratio(group, "tamis") == (2.0, True)
    assert ratio([row | {"run": row["contender"]} for row in group], "tamis") == (2.0, False)
    assert ratio(group[:1], "tamis") is None
