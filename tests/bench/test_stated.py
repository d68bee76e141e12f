"""The cost of knowing durable subscriptions of others, in a small network: all are known and stored everywhere."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tamis.bench.custody.stated import chorded_ring, main


@pytest.mark.slow
def test_a_small_network_is_measured() -> None:
    told = CliRunner().invoke(main, ["--homes", "3", "--durables", "20", "--rounds", "2", "--json"])
    assert told.exit_code == 0, told.output
    row = json.loads(told.stdout.splitlines()[-1])
    assert (row["homes"], row["durables"]) == (3, 20)
    assert 0 < row["one_more_ms_min"] <= row["one_more_ms"] <= row["one_more_ms_max"]
    assert 0 < row["ready_s"] <= row["in_step_s"]


@pytest.mark.parametrize(("homes", "links"), [(3, 3), (4, 6), (8, 12)])
def test_each_router_has_two_neighbours_and_the_one_opposite(homes: int, links: int) -> None:
    plan = chorded_ring(homes, 10)
    assert len({frozenset(link[:2]) for link in plan.links}) == len(plan.links) == links
