"""A network at rest: what its links carry, and what one changed filter adds."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Final, Literal

import tamis
from tamis.bench.router.shapes.clients import of_links
from tamis.testing import NetworkPlan, RouterNetwork, link_name, running

SECONDS: Final = 10.0
CHANGES: Final = 5
_RING: Final = (("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "a", 1), ("a", "c", 1))
_KNOWN_S: Final = 1.0
_NARROWED_S: Final = 5.0
"""Longer than routers ask for what nobody wants any more."""


async def quiet(folder: Path) -> dict[str, object]:
    async with running(folder, NetworkPlan(tuple("abcd"), _RING)) as network:
        await network.until_linked()
        async with tamis.connect(network.routers["a"].address) as client, client.subscribe("x > 1", wait="network"):
            await network.until_quiet(2, 30)
            carried = await _over(network, SECONDS)
            silent = [await _changed(network, client, number, "home") for number in range(CHANGES)]
            told = [await _changed(network, client, number, "network") for number in range(CHANGES)]
    return {
        "bytes_per_link_and_s": {name: round(amount / SECONDS, 1) for name, amount in carried.items()},
        "frames_each_way_for_a_new_filter": [most for most, _ in silent],
        "and_with_wait_network": [most for most, _ in told],
        "frames_each_way_for_one_taken_back": [most for _, most in silent + told],
    }


async def _over(network: RouterNetwork, seconds: float) -> dict[str, int]:
    """Bytes on each link, both ways."""
    before, start_s = await _sums(network, "bytes_out"), time.monotonic()
    await asyncio.sleep(seconds - (time.monotonic() - start_s))
    after = await _sums(network, "bytes_out")
    return {name: after[name] - before[name] for name in after}


async def _changed(
    network: RouterNetwork, client: tamis.Client, number: int, wait: Literal["home", "network"]
) -> tuple[int, int]:
    """The most control frames that one end of a link sent for a filter that comes, and that goes."""
    before = await of_links(network, "control_frames_out")
    async with client.subscribe(f"y = {number}", wait=wait):
        await asyncio.sleep(_KNOWN_S)
        between = await of_links(network, "control_frames_out")
    await asyncio.sleep(_NARROWED_S)
    after = await of_links(network, "control_frames_out")
    return max(between[way] - before[way] for way in before), max(after[way] - between[way] for way in before)


async def _sums(network: RouterNetwork, figure: str) -> dict[str, int]:
    """Of both ways of each link."""
    sums: dict[str, int] = {}
    for (end, other), amount in (await of_links(network, figure)).items():
        sums[link_name(end, other)] = sums.get(link_name(end, other), 0) + amount
    return sums
