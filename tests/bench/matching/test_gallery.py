"""The gallery measures each cell once, says what it did not measure, and prints no figure of engines that disagree."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import contenders
from tamis.bench.matching.gallery.__main__ import main
from tamis.bench.matching.gallery.cells import Cells
from tamis.bench.matching.gallery.measure import Bounds, measure, setups
from tamis.bench.matching.gallery.page import pages, ratio, slope
from tamis.native import Measurement, Table

_QUICK = ["--passes", "1", "--sizes", "20,60"]


@pytest.fixture(autouse=True)
def few_updates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.bench.matching.updates._TIMED", 10)
    monkeypatch.setattr("tamis.bench.matching.passes._REPEAT_S", 0)
    for name in ("alerts", "geo"):
        small = replace(workloads.WORKLOADS[name], messages_measured=(20, 10))
        monkeypatch.setitem(workloads.WORKLOADS, name, small)


def run(*options: str) -> Result:
    return CliRunner().invoke(main, [*_QUICK, *options])


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
    bounds = Bounds(1e-6, 0, 1)
    cells = Cells(file)
    chosen = contenders(["tamis"])
    said: list[str] = []
    for setup in setups(["geo"], [20, 60], [], bounds, 1):
        measure(setup, chosen, cells, bounds, said.append)
    first, second = rows(file)
    assert first["cell_s"] == 1e-6
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
        self.add_many(workloads.make("alerts", 20, 1, 1, 2003).filters, type(handles)("I", [5] * 20))
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
        (["--sizes", "ten"], "'ten' is not a comma-separated list of numbers"),
        (["--interfaces", "0"], "'0' is neither F nor a positive number"),
    ],
)
def test_misuse_is_refused(options: list[str], told: str) -> None:
    answer = run(*options)
    assert answer.exit_code == 2
    assert told in answer.stderr


def test_every_workload_says_who_writes_such_filters() -> None:
    lines = run("--list").stdout.splitlines()
    assert len(lines) == len(workloads.WORKLOADS)
    assert all(": " in line and " A message matches " in line for line in lines)


def test_another_build_stands_beside_this_one_if_the_processor_is_the_same(tmp_path: Path) -> None:
    file, other = tmp_path / "cells.jsonl", tmp_path / "other.jsonl"
    options = ["--workload", "alerts", "--engine", "tamis", "--json", str(file)]
    assert run(*options).exit_code == 0
    was = [row | {"extension": "another", "steps": 3 * row["steps"]} for row in rows(file)]
    was[1]["processor"] = "another"
    other.write_text("".join(json.dumps(row) + "\n" for row in was))
    lines = (
        run(*options, "--beside", str(other))
        .stdout.partition("Time of the other build divided by this one:")[2]
        .splitlines()
    )
    assert len(lines) == 5
    assert lines[-1].split("|")[8].strip() == "3.00"


def test_twins_are_compared_for_the_first_contender() -> None:
    told = run("--workload", "alerts,alerts-turned", "--engine", "counting", "--sizes", "30")
    lines = told.stdout.partition("Twins, counting, the slower divided by the faster one:")[2].strip().splitlines()
    assert lines[2].split("|")[1].strip() == "alerts-turned, alerts"
    assert lines[2].split("|")[5].strip() == "1.00"


@pytest.mark.slow
def test_a_library_is_measured_up_to_its_size_and_says_what_it_cannot(tmp_path: Path) -> None:
    cells = Cells(tmp_path / "cells.jsonl")
    chosen = contenders(["tamis", "library:sqlite"])
    bounds = Bounds(30, 0, 1)
    for name, sizes in (("alerts", [20, 20_001]), ("lists", [20])):
        for setup in setups([name], sizes, [], bounds, 1):
            measure(replace(setup, message_count=5), chosen, cells, bounds, lambda _words: None)
    told = {row["key"]: row for row in rows(tmp_path / "cells.jsonl") if row["contender"] != "tamis"}
    assert told["alerts 20 x F seed 1: library:sqlite"]["share"] == 1
    assert "up to 20,000" in told["alerts 20001 x F seed 1: library:sqlite"]["skipped"]
    assert told["lists 20 x F seed 1: library:sqlite"]["skipped"] == "it can express none of these filters"


def test_groups_in_which_the_first_is_slower_beyond_the_spread_are_named() -> None:
    def cell(name: str, *repeats_us: float) -> dict[str, Any]:
        asked = {"key": f"x: {name}", "group": "x", "workload": "geo", "filters": 1, "interfaces": None, "run": "1"}
        return asked | {"contender": name, "mean_us": min(repeats_us), "repeats_us": list(repeats_us), "build_s": 1.0}

    assert "- x: 1.20 times sff" in pages([cell("tamis", 12, 13), cell("sff", 10, 11)], ["tamis"], with_updates=False)
    for sff in (cell("sff", 10, 12.5), cell("sff", 11, 11), cell("sff", 13, 14)):
        assert "Slower" not in pages([cell("tamis", 12, 13), sff], ["tamis"], with_updates=False)


def test_a_cell_that_was_left_out_is_measured_when_there_is_more_time(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    chosen = contenders(["tamis"])
    said: list[str] = []
    for cell_s in (1e-6, 1e-7, 30):
        bounds = Bounds(cell_s, 0, 1)
        cells = Cells(file)
        (setup,) = setups(["geo"], [20], [], bounds, 1)
        measure(setup, chosen, cells, bounds, said.append)
    assert ["skipped" in row for row in rows(file)] == [True, False]
    assert [row["key"] for row in Cells(file).rows()] == [rows(file)[0]["key"]]


@pytest.mark.slow
def test_a_cell_without_a_figure_that_is_asked_for_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tamis.bench.matching.churn._DURATION_S", 0.02)
    file = tmp_path / "cells.jsonl"
    options = ["--workload", "alerts", "--engine", "tamis", "--sizes", "30", "--json", str(file)]
    for more in ([], ["--churn"], [], ["--churn"]):
        assert run(*options, *more).exit_code == 0
    assert ["churn" in row for row in rows(file)] == [False, True]


@pytest.mark.slow
def test_updates_and_churn_have_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tamis.bench.matching.churn._DURATION_S", 0.02)
    told = run("--workload", "alerts", "--engine", "tamis", "--sizes", "30", "--churn").stdout
    lines = told.partition("Microseconds of single updates of the full table:")[2].strip().splitlines()
    cells = [cell.strip() for cell in lines[2].strip("| ").split("|")]
    assert cells[:4] == ["alerts", "30", "F", "tamis"]
    assert all(float(cell.replace(",", "")) >= 0 for cell in cells[4:14])
    assert cells[14].endswith("%")


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
