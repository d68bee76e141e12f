"""The bench of filtering delivers what its filters ask for, as the linear engine counts it."""

from __future__ import annotations

import asyncio

import pytest

from tamis.bench.matching import workloads
from tamis.bench.router.filtering import KEYS, SEED, Contender, Load, measured, row_of, rows_of
from tamis.native import Table
from tamis.testing import NetworkPlan, running


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


@pytest.mark.slow
def test_a_router_that_stops_to_answer_has_a_row_that_says_so(tmp_path) -> None:
    load = Load.of("geo", 10, 2)

    async def told(pauses_at_once: bool) -> dict[str, object]:
        folder = tmp_path / str(pauses_at_once)
        folder.mkdir()
        async with running(folder, NetworkPlan(("this",), keys=KEYS)) as routers:
            contender = Contender("this", routers["this"], patience_s=1 if pauses_at_once else 20)
            if pauses_at_once:
                contender.router.pause()
            await contender.subscribe(load)
            if not pauses_at_once:
                contender.router.pause()
                contender.patience_s = 1
                await contender.probe(load, 0.1)
            assert not contender.router.is_running, "what does not answer is ended"
            for client in contender.clients:
                client.close()
            [row] = rows_of([contender])
            return row

    assert asyncio.run(told(pauses_at_once=True)).items() >= {"no_answer_s": 1, "while": "subscribing"}.items()
    assert asyncio.run(told(pauses_at_once=False)).items() >= {"no_answer_s": 1, "while": "filtering"}.items()
