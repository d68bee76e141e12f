from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

from pathlib import Path

from tamis.bench.logs import increments
from tamis.simulate.run import Scenario, run

STEPS = 3


@pytest.mark.slow
def test_steps_have_each_line_once_in_the_order_of_time(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    run(Scenario("ring:3", 4, "cut", 1), records=logs)
    counts = increments.cut(logs, tmp_path / "cut", STEPS)
    for step in range(STEPS):
        increments.grow(tmp_path / "grown", tmp_path / "cut" / str(step))
    whole, grown = (
        {path.relative_to(folder): sorted(path.read_bytes().splitlines()) for path in folder.rglob("*.jsonl")}
        for folder in (logs, tmp_path / "grown")
    )
    assert grown == {name: lines for name, lines in whole.items() if lines}
    assert sum(counts) == sum(len(lines) for name, lines in whole.items() if name.name.startswith("messages"))


@pytest.mark.long
def test_each_step_is_measured_beside_a_whole_run(tmp_path: Path) -> None:
    run(Scenario("ring:3", 4, "cut", 1), records=tmp_path / "logs")
    counts = increments.cut(tmp_path / "logs", tmp_path / "cut", STEPS)
    found = list(increments.measured(tmp_path, counts, every=STEPS))
    assert [(each.step, each.kind) for each in found] == [*((step, "increment") for step in (1, 2, 3)), (3, "whole")]
    assert [each.parsed for each in found] == [*counts, sum(counts)]
    assert all(each.java_s > 1 and each.asked >= each.parsed for each in found)
