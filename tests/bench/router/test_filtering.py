"""The bench of filtering delivers what its filters ask for, as the linear engine counts it."""

from __future__ import annotations

import asyncio

import pytest

from tamis.bench.matching import workloads
from tamis.bench.router.filtering import SEED, Load, measured, row_of
from tamis.native import Table


@pytest.mark.slow
@pytest.mark.parametrize("workload", ["sigcomm03", "geo"])
def test_a_router_delivers_what_a_linear_table_finds(tmp_path, workload: str) -> None:
    filters, subscribers = 300, 5
    load = Load.of(workload, filters, subscribers)
    drawn = workloads.make(workload, filters, len(load.attributes), workloads.NAMES, SEED)
    table = Table(engine="linear")
    for number, subscriber in enumerate(workloads.deal(workload, filters, subscribers, SEED)):
        table.add(drawn.filters[number], subscriber)
    wanted = sum(len(table.match(drawn.messages[i])) for i in range(len(drawn.messages)))
    [this] = asyncio.run(measured(load, tmp_path, None, rounds=1, seconds=0.1))
    assert wanted > 0
    assert this.passes[0].deliveries * len(load.attributes) == wanted * this.passes[0].messages
    assert row_of(this)["build"] == "this"
