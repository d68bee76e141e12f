"""A network at rest: what its links carry, and what one changed filter adds."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from statistics import mean
from typing import Any, Final

import tamis
from tamis.bench.loopback.routers import Network, Wanted, link_name, running

SECONDS: Final = 10.0
CHANGES: Final = 5
_RING: Final = (("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "a", 1), ("a", "c", 1))
_NARROWED_S: Final = 4.0
"""Longer than routers ask for what nobody wants any more."""


async def quiet(folder: Path) -> dict[str, object]:
    async with running(folder, Wanted(tuple("abcd"), _RING, is_proxied=False)) as network:
        await network.until_linked()
        async with tamis.connect(network.routers["a"].address) as client, client.subscribe("x > 1", wait="network"):
            await network.until_quiet(2, 30)
            carried = await _over(network, SECONDS)
            frames = [await _changed(network, client, number) for number in range(CHANGES)]
    return {
        "bytes_per_link_and_s": {name: round(amount / SECONDS, 1) for name, amount in carried.items()},
        "frames_per_link_and_new_filter": [max(added) for added, _ in frames],
        "frames_per_link_and_filter_taken_back": [max(removed) for _, removed in frames],
        "frames_per_link_mean": round(mean(count for pair in frames for each in pair for count in each), 2),
    }


async def _over(network: Network, seconds: float) -> dict[str, int]:
    """Bytes on each link, both ways."""
    before, start_s = await _sums(network, "bytes_out"), time.monotonic()
    await asyncio.sleep(seconds - (time.monotonic() - start_s))
    after = await _sums(network, "bytes_out")
    return {name: after[name] - before[name] for name in after}


async def _changed(network: Network, client: tamis.Client, number: int) -> tuple[list[int], list[int]]:
    """Control frames on each link, both ways, for a filter that comes, and that goes."""
    before = await _sums(network, "control_frames_out")
    async with client.subscribe(f"y = {number}", wait="network"):
        await network.until_quiet(0.5, 30)
        between = await _sums(network, "control_frames_out")
    await asyncio.sleep(_NARROWED_S)
    await network.until_quiet(1, 30)
    after = await _sums(network, "control_frames_out")
    return [between[name] - before[name] for name in before], [after[name] - between[name] for name in before]


async def _sums(network: Network, figure: str) -> dict[str, int]:
    sums: dict[str, int] = {}
    for name, status in (await network.status()).items():
        links: list[dict[str, Any]] = status["network"]["links"]
        for link in links:
            edge = link_name(name, link["neighbour"])
            sums[edge] = sums.get(edge, 0) + link[figure]
    return sums
