"""The sweep finds where an engine does too much, and says so first."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tamis.bench.matching import workloads
from tamis.bench.matching.contenders import Contender, EnginesDisagree
from tamis.bench.matching.sweep.__main__ import main
from tamis.bench.matching.sweep.measure import Bounds, Cell, sweep
from tamis.bench.matching.sweep.page import falls, page
from tamis.native import Table

FEW = Bounds(messages=5, rounds=3, engine_s=60.0)


def cell(workload: str, filters: int, steps: float, us: float, other: float = 1.0) -> Cell:
    return Cell(workload, None, filters, steps, 1.0, {"tamis": us, "counting": 9.0, "linear": other})


def test_a_cell_is_judged_by_the_fastest_other_engine() -> None:
    judged = cell("flows", 10, 5.0, 3.0, 2.0)
    assert (judged.best, judged.times) == ("linear", 1.5)
    assert Cell("flows", None, 10, 5.0, 1.0, {"tamis": 3.0}).times == 0


def test_the_page_begins_with_the_worst_ten_cells_and_has_the_falls() -> None:
    cells = [cell("flows", size, 100.0, 1.0 + size / 100) for size in range(20)]
    cells += [cell("geo", 10, 100.0, 0.5), cell("geo", 20, 60.0, 0.5), cell("geo", 30, 50.0, 0.5)]
    text = page(cells)
    worst = [line.split("|")[2].strip() for line in text.splitlines() if line.startswith("| flows")][:10]
    assert worst == [str(size) for size in range(19, 9, -1)]
    assert "4 of 23 cells take over 1.15 times" in text
    assert [(before.filters, after.filters) for before, after in falls(cells)] == [(10, 20)]
    assert text.index("worst ten") < text.index("Falls") < text.index("## Steps") < text.index("## Time over")


def test_falls_are_of_one_workload_and_the_largest_is_first() -> None:
    cells = [cell("flows", 10, 90.0, 1.0), cell("geo", 10, 50.0, 1.0), cell("geo", 20, 30.0, 1.0)]
    cells += [cell("tenants", 10, 100.0, 1.0), cell("tenants", 20, 10.0, 1.0)]
    assert [before.workload for before, _ in falls(cells)] == ["tenants", "geo"]


def test_sizes_go_up_and_each_has_steps_and_times() -> None:
    engines = [Contender("tamis"), Contender("counting"), Contender("linear")]
    cells = list(sweep("links", [40, 20], engines, FEW))
    assert [(each.filters, each.interfaces) for each in cells] == [(20, 1_000), (40, 1_000)]
    assert all(each.steps > 0 and list(each.us) == ["tamis", "counting", "linear"] for each in cells)
    again = list(sweep("links", [20, 40], engines[:1], FEW))
    assert [each.steps for each in again] == [each.steps for each in cells]


def test_an_engine_that_takes_long_is_not_measured_at_larger_sizes() -> None:
    bounds = Bounds(messages=5, rounds=1, engine_s=0.0)
    cells = list(sweep("flows", [10, 20], [Contender("tamis"), Contender("linear")], bounds))
    assert [list(each.us) for each in cells] == [["tamis", "linear"], ["tamis"]]


def test_engines_that_disagree_end_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    add_many = Table.add_many

    def add_some(self: Table, filters, interfaces):
        if self.engine == "linear":
            extra = workloads.make("alerts", 20, 1, 1, 2003).filters
            add_many(self, extra, type(interfaces)("I", [5] * 20))
        return add_many(self, filters, interfaces)

    monkeypatch.setattr(Table, "add_many", add_some)
    with pytest.raises(EnginesDisagree):
        list(sweep("alerts", [20], [Contender("tamis"), Contender("linear")], Bounds(50, 1, 60.0)))


def test_the_command_prints_a_page_or_a_line_for_each_cell() -> None:
    asked = ["--workload", "flows,mixture-1", "--sizes", "10,20", "--messages", "5", "--rounds", "1"]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0, result.output
    assert "## The worst ten cells" in result.output
    result = CliRunner().invoke(main, [*asked, "--steps", "--json"])
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(row["workload"], row["filters"]) for row in rows] == [
        *(("flows", 10), ("flows", 20), ("mixture-1", 10), ("mixture-1", 20))
    ]
    assert all(list(row["us"]) == ["tamis"] for row in rows)


@pytest.mark.parametrize("words", [["--workload", "lottery"], ["--engine", "lottery"], ["--sizes", "many"]])
def test_what_is_not_known_is_refused(words: list[str]) -> None:
    assert CliRunner().invoke(main, words).exit_code == 2
