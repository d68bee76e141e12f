"""A ring of five processes by each strategy of the edges family, under traffic, while routers are killed, stopped and
started again and a link is cut, the root among them: each message comes once, and what is lost lies under a gap."""

from __future__ import annotations

import asyncio
import time

import pytest

from tamis.testing import ring, running
from tamis.testing.links import ProxyState
from tamis.testing.network import RouterNetwork, link_name
from tests.long.chaos import Traffic

NAMES = ("r0", "r1", "r2", "r3", "r4")
STOPPED_S = 2.5
CUT_S = 3.0
HOW_CUT: tuple[ProxyState, ...] = ("cut", "dark")
AWAY_S = 7.0
"""Clients that were cut wait up to 5 s between attempts, and their routers are told of what they want."""
BACK_S = 3.5
"""A hold of links of a second, in which a silent failure is noticed, the hold of old trees, and half a second."""
STRATEGIES = [
    {"name": "profile"},
    {"name": "profile", "storing": "preventive"},
    {"name": "rendezvous"},
    {"name": "rendezvous", "others": ["r1", "r3"]},
    {
        "name": "rendezvous",
        "classes": {"even": "even = true"},
        "roots": {"even": ["r2", "r0"]},
        "storing": "preventive",
    },
]


@pytest.mark.long
@pytest.mark.parametrize("strategy", STRATEGIES, ids=["profile", "preventive", "by hash", "listed", "classes"])
async def test_a_ring_under_kills_stops_and_cuts(tmp_path, strategy):
    async with running(tmp_path, ring(*NAMES, is_proxied=True, strategy=strategy)) as network:
        await network.until_linked()
        load = Traffic({name: router.address for name, router in network.routers.items()}, 100)
        calm: list[tuple[float, float]] = []
        """Times in which nobody may miss anything, from when the page promises that messages come again."""
        async with load.running():
            await asyncio.sleep(1)
            for disturb in (_killed("r1"), _killed("r3"), _stopped("r0"), _stopped("r2"), _cut("r1", "r2")):
                await disturb(network)
                await network.until_linked()
                over_s = time.monotonic()
                await asyncio.sleep(AWAY_S + BACK_S)
                calm.append((over_s + AWAY_S, time.monotonic()))
            await load.settle(1)
        logs = {name: router.log.read_text() for name, router in network.routers.items()}
    verdict = load.judged()
    print(verdict, *map(load.beside, verdict.untold), sep="\n    ")
    assert verdict.delivered > verdict.published
    assert (verdict.doubled, verdict.misdelivered, verdict.out_of_order) == (0, 0, 0)
    assert not [each for each in verdict.lost if any(since_s <= each.at_s <= until_s for since_s, until_s in calm)]
    assert verdict.untold == []
    for name, log in logs.items():
        assert "Traceback" not in log, (name, log[-2_000:])


def _killed(name: str):
    async def disturb(network: RouterNetwork) -> None:
        await network[name].kill()
        await asyncio.sleep(1)
        await network[name].start()

    return disturb


def _stopped(name: str):
    async def disturb(network: RouterNetwork) -> None:
        network[name].pause()
        await asyncio.sleep(STOPPED_S)
        network[name].resume()

    return disturb


def _cut(one: str, other: str):
    async def disturb(network: RouterNetwork) -> None:
        for how in HOW_CUT:
            await network.links.set(link_name(one, other), how)
            await asyncio.sleep(CUT_S)
            await network.links.set(link_name(one, other), "open")
            await network.until_linked()

    return disturb
