from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tamis.simulate import ledger
from tamis.simulate.faults.topologies import KINDS


def test_seeds_spread_over_shapes_and_sizes() -> None:
    scenarios = [ledger.scenario_of(seed, 10) for seed in range(400)]
    shapes = {scenario.topology.partition(":")[0] for scenario in scenarios}
    sizes = {int(scenario.topology.partition(":")[2]) for scenario in scenarios}
    assert shapes == set(KINDS)
    assert (min(sizes), max(sizes)) == (2, 64)
    assert {scenario.broadcast for scenario in scenarios} == {"source-trees", "shared-tree", "reverse-path"}
    assert scenarios[7] == ledger.scenario_of(7, 10)


def test_lies_begin_after_the_seeds_that_are_there() -> None:
    assert [ledger.scenario_of(seed, 10).faults for seed in (1, 5_040, 5_041)] == ["all", "all", "worst"]


@pytest.mark.slow
def test_a_run_is_a_line_that_repeats_it() -> None:
    seed = next(seed for seed in range(100) if ledger.scenario_of(seed, 5).topology.endswith(":3"))
    line = ledger.line_of(seed, 5)
    assert (line["seed"], line["ops"], line["violations"]) == (seed, 5, 0)
    assert line["digest"] == ledger.line_of(seed, 5)["digest"]


def test_totals_are_sums() -> None:
    line = {"ops": 5, "delivered": 7, "required_at_rest": 1, "required_in_motion": 2, "violations": 0, "cpu_s": 0.5}
    assert ledger.totals([line, line]) == {key: 2 * value for key, value in line.items()} | {"runs": 2}


def test_no_time_no_runs(tmp_path: Path) -> None:
    into = tmp_path / "ledger.jsonl"
    line = {
        "seed": 3,
        "ops": 5,
        "delivered": 7,
        "required_at_rest": 1,
        "required_in_motion": 2,
        "violations": 0,
        "cpu_s": 1,
    }
    into.write_text(json.dumps(line) + "\n")
    done = CliRunner().invoke(ledger.main, ["--minutes", "0", "--into", str(into)], standalone_mode=False)
    assert done.exception is None
    assert "1 runs, 5 ops, 7 delivered" in done.stdout
    assert ledger.read(into) == [line]
