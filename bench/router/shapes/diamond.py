"""A diamond: a source, an end, two ways. The router in the shorter way is killed, or stopped."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Final, Literal

import tamis
from tamis.bench.router.shapes.clients import publish_at_rate, receiving
from tamis.testing import NetworkPlan, running

RATE: Final = 1_000
BEFORE_S: Final = 1.5
AFTER_S: Final = 4.0
_WAYS: Final = (("a", "b", 1), ("b", "d", 1), ("a", "c", 2), ("c", "d", 2))


async def diamond(folder: Path, fault: Literal["kill", "stop"]) -> dict[str, object]:
    """`b` is the transit router."""
    async with running(folder, NetworkPlan(tuple("abcd"), _WAYS)) as network:
        await network.until_linked()
        source, end, transit = (network.routers[name] for name in "adb")
        async with receiving(end.address) as arrivals, tamis.connect(source.address) as publisher:
            published: list[int] = []
            seconds = BEFORE_S + AFTER_S
            publishing = asyncio.create_task(publish_at_rate(publisher, RATE, seconds, published.append))
            await asyncio.sleep(BEFORE_S)
            fault_s = time.monotonic()
            if fault == "kill":
                await transit.kill()
            else:
                transit.pause()
            await publishing
            await arrivals.settled()
    return {
        "published": len(published),
        "missing": len(set(published) - arrivals.times.keys()),
        "duplicates": arrivals.duplicates,
        "longest_pause_s": round(arrivals.pause_s(fault_s), 3),
    }
