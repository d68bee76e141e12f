"""A ring of five processes by each strategy but the usual one, under traffic, while routers are killed and stopped:
each message comes once."""

from __future__ import annotations

import asyncio
import time

import pytest

from tamis.testing import ring, running
from tests.long.chaos import Traffic

NAMES = ("r0", "r1", "r2", "r3", "r4")
STOPPED_S = 2.5
AWAY_S = 7.0
"""Clients that were cut wait up to 5 s between attempts, and their routers are told of what they want."""


@pytest.mark.long
@pytest.mark.parametrize(
    "strategy",
    [
        {"name": "flood"},
        {"name": "flood", "prune": False},
        {"name": "link-matching"},
        {"name": "match-first"},
        {"name": "advertise", "reuse": "destinations"},
        {"name": "link-matching", "reuse": "destinations"},
    ],
    ids=["flood", "flood everywhere", "link matching", "match first", "sets", "link matching with sets"],
)
async def test_a_ring_under_kills_and_stops(tmp_path, strategy):
    async with running(tmp_path, ring(*NAMES, strategy=strategy)) as network:
        await network.until_linked()
        load = Traffic({name: router.address for name, router in network.routers.items()}, 100)
        async with load.running():
            await asyncio.sleep(1)
            for name in ("r1", "r3"):
                await network[name].kill()
                await asyncio.sleep(1)
                await network[name].start()
                await network.until_linked()
                await asyncio.sleep(AWAY_S)
            for name in ("r0", "r2"):
                network[name].pause()
                await asyncio.sleep(STOPPED_S)
                network[name].resume()
                await network.until_linked()
                await asyncio.sleep(AWAY_S)
            quiet_s = time.monotonic()
            await asyncio.sleep(2)
            await load.settle(1)
        logs = {name: router.log.read_text() for name, router in network.routers.items()}
    verdict = load.judged()
    print(verdict, *map(load.beside, verdict.untold), sep="\n    ")
    assert verdict.delivered > verdict.published
    assert (verdict.doubled, verdict.misdelivered, verdict.out_of_order) == (0, 0, 0)
    assert not [each for each in verdict.lost if each.at_s > quiet_s]
    assert verdict.untold == []
    for name, log in logs.items():
        assert "Traceback" not in log, (name, log[-2_000:])
